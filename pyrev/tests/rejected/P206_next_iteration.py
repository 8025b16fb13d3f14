import numpy as np


def f(n):
    u = 0.0
    for i in range(n):
        u = u + np.zeros(n)
    return u


# P206_next_iteration.py:6:5: P206 a name stands for one array or one function
#    6 |     for i in range(n):
#      |     ^^^^^^^^^^^^^^^^^^ `u` stands for another array in the next iteration
#   help: swap whole names, as in `u, v = v, u`, or copy the elements
