import numpy as np


def f(x, n):
    u = np.zeros(n, dtype=np.int64)
    u += 0.5
    return x * u[0]


# P210_in_place.py:6:5: P210 the kinds of numbers do not fit
#    6 |     u += 0.5
#      |     ^^^^^^^^ `u` holds integers, and NumPy does not round in place
#   help: convert the value with `.astype(...)`
