import numpy as np


def f(n):
    u = np.zeros(n, dtype=np.float16)
    return u


# P208_dtype.py:5:27: P208 the shape or type of a new array is not understood
#    5 |     u = np.zeros(n, dtype=np.float16)
#      |                           ^^^^^^^^^^ a new array cannot be made from this dtype
#   help: use a dtype of bools, ints or floats of up to 64 bits
