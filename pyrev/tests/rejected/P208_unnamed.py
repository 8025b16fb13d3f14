import numpy as np


def f(x):
    return x + np.zeros(3)


# P208_unnamed.py:5:16: P208 the shape or type of a new array is not understood
#    5 |     return x + np.zeros(3)
#      |                ^^^^^^^^^^^ a new array must have a name of its own
#   help: assign it first, as the only target: `u = np.zeros(n)`
