import numpy as np


def f(x, v, n):
    u = np.zeros(n)
    m = v.shape[1]
    for t in range(n):
        x += u[0] * m
        u, v = v, u
    return x


# P202_changed_places.py:5:5: P202 the numbers of axes do not fit
#    5 |     u = np.zeros(n)
#      |     ^^^^^^^^^^^^^^^ `u` has 1 axis here, and 2 elsewhere
#   help: make it with as many axes as the arrays that it takes turns with
