import numpy as np


def f(x, n):
    order = np.zeros(n)
    for i in range(n):
        x[order[i]] = 0.0


# P210_floats_as_indices.py:7:11: P210 the kinds of numbers do not fit
#    7 |         x[order[i]] = 0.0
#      |           ^^^^^^^^ `order` holds floats
#   help: convert it with `int(...)`, or divide with `//`
