import numpy as np


def f(x):
    u = np.zeros(())
    return x


# P208_no_axes.py:5:18: P208 the shape or type of a new array is not understood
#    5 |     u = np.zeros(())
#      |                  ^^ a new array cannot be made from a shape without axes
#   help: use a number in its place
