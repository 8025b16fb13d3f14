import numpy as np


def f(n):
    u = np.zeros(n)
    return u.shape[1]


# P202_extent.py:6:12: P202 the numbers of axes do not fit
#    6 |     return u.shape[1]
#      |            ^ `u` has 1 axis, and 2 here
#   help: use no more axes than it is made with
