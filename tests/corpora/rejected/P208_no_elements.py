import numpy as np


def f(x):
    u = np.array([[], []])
    return x * len(u)


# P208_no_elements.py:5:18: P208 the shape or type of a new array is not understood
#    5 |     u = np.array([[], []])
#      |                  ^^^^^^^^ a new array cannot be made from no elements
#   help: write `np.zeros(0)`
