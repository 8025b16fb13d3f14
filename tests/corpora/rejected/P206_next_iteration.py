import numpy as np


def f(n):
    u = 0.0
    for i in range(n):
        u = u + np.zeros(n)
    return u


# P206_next_iteration.py:7:9: P206 a name stands for one array or one function
#    7 |         u = u + np.zeros(n)
#      |         ^^^^^^^^^^^^^^^^^^^ `u` is a number before this loop or branch
#   help: use another name, or assign the elements, as in `u[:] = ...`
