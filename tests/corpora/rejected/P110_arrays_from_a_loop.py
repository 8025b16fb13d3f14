import numpy as np


def f(x):
    u = np.zeros(3)
    v = np.ones(3)
    for i in range(len(x)):
        if x[i] > 0.0:
            return u
    return v


# P110_arrays_from_a_loop.py:9:13: P110 this `return` is outside the language
#    9 |             return u
#      |             ^^^^^^^^ another path returns another array, or a number
#   help: return one array on every path: the paths may fill it
#
# P110_arrays_from_a_loop.py:10:5: P110 this `return` is outside the language
#   10 |     return v
#      |     ^^^^^^^^ another path returns another array, or a number
#   help: return one array on every path: the paths may fill it
