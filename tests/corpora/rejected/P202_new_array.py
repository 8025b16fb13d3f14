import numpy as np


def f(x, n):
    return x * np.arange(n)[0, 0]


# P202_new_array.py:5:16: P202 the numbers of axes do not fit
#    5 |     return x * np.arange(n)[0, 0]
#      |                ^^^^^^^^^^^^^^^^^^ 2 subscripts for an array of rank 1
#   help: subscript each axis once
