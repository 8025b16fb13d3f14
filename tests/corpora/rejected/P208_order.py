import numpy as np


def f(x):
    u = np.zeros(3, order="F")
    return u[0] * x


# P208_order.py:5:9: P208 the shape or type of a new array is not understood
#    5 |     u = np.zeros(3, order="F")
#      |         ^^^^^^^^^^^^^^^^^^^^^^ a new array cannot be made from these arguments
#   help: give a shape of integers or `a.shape`, a fill value and a dtype, no more
