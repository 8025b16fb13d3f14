import numpy as np


def f(x):
    some = x[0] > 0.0
    y = np.zeros(some)
    y[:] = x[0]
    return y


# P210_truth_as_size.py:6:18: P210 the kinds of numbers do not fit
#    6 |     y = np.zeros(some)
#      |                  ^^^^ a truth value is no size
#   help: convert it with `int(...)`, or divide with `//`
