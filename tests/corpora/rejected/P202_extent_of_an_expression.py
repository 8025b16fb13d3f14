import numpy as np


def f(x, n):
    return x * np.arange(n).shape[1]


# P202_extent_of_an_expression.py:5:16: P202 the numbers of axes do not fit
#    5 |     return x * np.arange(n).shape[1]
#      |                ^^^^^^^^^^^^^^^^^^^^^ this array is of rank 1
#   help: count the axes from zero
