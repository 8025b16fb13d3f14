import numpy as np


def f(x):
    y = np.zeros_like(x)
    if x[0] > 0.0:
        return x
    return y


# P110_array_early.py:7:9: P110 this `return` is not supported yet
#    7 |         return x
#      |         ^^^^^^^^ an early `return` of an array is not supported yet
#   help: return the array once, at the end
#
# P110_array_early.py:8:5: P110 this `return` is not supported yet
#    8 |     return y
#      |     ^^^^^^^^ an early `return` of an array is not supported yet
#   help: return the array once, at the end
