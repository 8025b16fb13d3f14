import numpy as np

arguments = (1.0, 3)


def f(x, n):
    u = x * np.sum(np.arange(n), axis=1)
    return u


# P209_missing_axis.py:7:13: P209 this attribute or axis is outside the language
#    7 |     u = x * np.sum(np.arange(n), axis=1)
#      |             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^ an axis that an array of rank 1 does not have
#   help: count the axes from zero
