import numpy as np


def f(x):
    d = x
    u = np.zeros_like(x)
    for _ in range(3):
        d, u, x = u, x, d
    return np.sum(d)


# P206_not_back_to_the_first.py:7:5: P206 a name stands for one array or one function
#    7 |     for _ in range(3):
#      |     ^^^^^^^^^^^^^^^^^^ `u` stands for another array in each iteration of this loop, and does not come back to the first
#   help: give each array a name of its own
