import numpy as np


def f(x):
    u = np.array([[x, 1.0], [2.0]])
    return u[0, 0]


# P208_rows.py:5:18: P208 the shape or type of a new array is not understood
#    5 |     u = np.array([[x, 1.0], [2.0]])
#      |                  ^^^^^^^^^^^^^^^^^ a new array cannot be made from rows of different lengths
#   help: write equally many elements in each row
