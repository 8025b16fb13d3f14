import numpy as np


def f(x, n):
    u = x
    for t in range(n):
        if x[0] > 1.0:
            u = np.zeros(3)
        u[0], u[1] = u[1], u[0] + 1.0
    return u[0] + x[0]


# P206_caller_or_new.py:9:9: P206 a name stands for one array or one function
#    9 |         u[0], u[1] = u[1], u[0] + 1.0
#      |         ^^^^ this writes to the caller's array or to a new one
#   help: give the new array a name of its own
#
# P206_caller_or_new.py:9:15: P206 a name stands for one array or one function
#    9 |         u[0], u[1] = u[1], u[0] + 1.0
#      |               ^^^^ this writes to the caller's array or to a new one
#   help: give the new array a name of its own
