import numpy as np


def f(n):
    u = np.zeros((n, n))
    v = np.zeros(n)
    v[:] = u
    return v


# P202_copied.py:7:5: P202 the numbers of axes do not fit
#    7 |     v[:] = u
#      |     ^^^^^^^^ 2 axes do not fit into 1
#   help: make the two sides arrays of equally many axes
