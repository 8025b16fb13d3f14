import numpy as np


def f(x):
    u = np.zeros_like(3.0)
    return u[0] * x


# P208_like_a_number.py:5:23: P208 the shape or type of a new array is not understood
#    5 |     u = np.zeros_like(3.0)
#      |                       ^^^ a new array cannot be made from a number
#   help: give it an array, or write `np.full(shape, value)`
