import numpy as np


def f(x):
    u = np.zeros(3)
    both = np.array([u, 2.0])
    return both[0, 0] * x


# P208_rows_and_numbers.py:6:21: P208 the shape or type of a new array is not understood
#    6 |     both = np.array([u, 2.0])
#      |                     ^^^^^^^^ a new array cannot be made from numbers and arrays, or arrays of different ranks, side by side
#   help: write the elements out
