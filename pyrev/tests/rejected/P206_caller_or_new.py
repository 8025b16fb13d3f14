import numpy as np


def f(x, n):
    for t in range(n):
        if x[0] > 1.0:
            x = np.zeros(3)
        x[0] += 1.0


# P206_caller_or_new.py:8:9: P206 a name stands for one array or one function
#    8 |         x[0] += 1.0
#      |         ^^^^ this writes to the caller's array or to a new one
#   help: give the new array a name of its own
