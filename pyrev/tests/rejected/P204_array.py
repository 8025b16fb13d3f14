import numpy as np


def f(x, n):
    if n > 3:
        u = np.zeros(n)
    return u[0] * x


# P204_array.py:7:12: P204 this variable may not have a value yet
#    7 |     return u[0] * x
#      |            ^^^^ `u` is not assigned on every path to here
#   help: assign it before the `if` or the loop
