import numpy as np


def g(u):
    for i in range(len(u)):
        if u[i] > 0.0:
            return 2.0 * u
    return np.sum(u)


def f(x):
    return g(x) * x


# P110_in_a_helper.py:8:5: P110 this `return` is outside the language
#    8 |     return np.sum(u)
#      |     ^^^^^^^^^^^^^^^^ one path returns an array, and another a number
#   help: return one array on every path: the paths may fill it
