import numpy as np


def f(x, n):
    s = u[0] * x
    u = np.zeros(n)
    return s + u[0]


# P204_array.py:5:9: P204 this variable may not have a value yet
#    5 |     s = u[0] * x
#      |         ^^^^ `u` is not assigned on every path to here
#   help: assign it before the `if` or the loop
