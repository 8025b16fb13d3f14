import numpy as np


def f(x, n):
    u = np.zeros(n)
    v = np.zeros((n, n))
    for t in range(n):
        u[0] = v[0, 0] + x
        u, v = v, u
    return x


# P202_swapped.py:8:16: P202 the numbers of axes do not fit
#    8 |         u[0] = v[0, 0] + x
#      |                ^^^^^^^ `u` has 1 axis, and 2 here
#   help: use no more axes than it is made with
