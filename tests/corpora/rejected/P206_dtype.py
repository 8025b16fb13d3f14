import numpy as np


def f(n):
    u = np.zeros(n, dtype=np.int64)
    for t in range(n):
        u = u * 0.5
    return u[0]


# P206_dtype.py:7:9: P206 a name stands for one array or one function
#    7 |         u = u * 0.5
#      |         ^^^^^^^^^^^ this array held int64, and float64 from here on
#   help: give the new array a name of its own, or convert it
