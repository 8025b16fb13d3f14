import numpy as np


def f(x):
    y = np.zeros(len(x) - 1)
    if x[0] > 0.0:
        return x[1:]
    return y


# P110_array_early.py:7:9: P110 this `return` is outside the language
#    7 |         return x[1:]
#      |         ^^^^^^^^^^^^ another path returns another array
#   help: return one array on every path: the paths may fill it
