import numpy as np


def f(n):
    u = np.zeros(n)
    for i in range(n):
        u[i, i] = 1.0
    return u


# P202_subscripts.py:7:9: P202 the numbers of axes do not fit
#    7 |         u[i, i] = 1.0
#      |         ^^^^^^^ `u` has 1 axis, and 2 here
#   help: use no more axes than it is made with
