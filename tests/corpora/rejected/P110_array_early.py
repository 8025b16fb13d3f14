import numpy as np


def f(x):
    y = np.zeros_like(x)
    if x[0] > 0.0:
        return x
    return y


# P110_array_early.py:7:9: P110 this `return` is outside the language
#    7 |         return x
#      |         ^^^^^^^^ another path returns another array
#   help: return one array on every path: the paths may fill it
