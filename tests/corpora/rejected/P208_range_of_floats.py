import numpy as np


def f(x):
    t = np.arange(0.0, 9.5, 0.1, dtype=np.int64)
    return x * t[0]


# P208_range_of_floats.py:5:19: P208 the shape or type of a new array is not understood
#    5 |     t = np.arange(0.0, 9.5, 0.1, dtype=np.int64)
#      |                   ^^^ a new array cannot be made from a range of floats
#   help: leave the dtype out, and write `.astype(...)` behind it
