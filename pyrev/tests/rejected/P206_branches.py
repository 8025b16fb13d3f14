import numpy as np


def f(x, y):
    u = np.zeros(3)
    if x[0] > 0.0:
        u = x
    else:
        u = y
    return u[0]


# P206_branches.py:10:12: P206 a name stands for one array or one function
#   10 |     return u[0]
#      |            ^ `u` may stand for different arrays here
#   help: give each array a name of its own, or write `.copy()`
