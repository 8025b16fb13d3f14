import numpy as np


def f(n):
    u = np.zeros(n)
    return np.sum(u, axis=1)


# P202_axis_of_a_sum.py:6:12: P202 the numbers of axes do not fit
#    6 |     return np.sum(u, axis=1)
#      |            ^^^^^^^^^^^^^^^^^ `u` has 1 axis, and 2 here
#   help: use no more axes than it is made with
