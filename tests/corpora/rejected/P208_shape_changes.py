import numpy as np


def bump(n):
    n[0] += 1
    return 1.0


def f(n):
    u = np.full(n[0], bump(n))
    return u[0]


# P208_shape_changes.py:10:17: P208 the shape or type of a new array is not understood
#   10 |     u = np.full(n[0], bump(n))
#      |                 ^^^^ a new array cannot be made from a fill value that changes the shape
#   help: compute the fill value in a statement before
