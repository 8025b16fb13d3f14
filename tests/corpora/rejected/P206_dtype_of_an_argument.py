import numpy as np

arguments = (np.ones(3, dtype=np.int64), 3)


def f(x, n):
    for t in range(n):
        x = x * 0.5
    return x[0]


# P206_dtype_of_an_argument.py:8:9: P206 a name stands for one array or one function
#    8 |         x = x * 0.5
#      |         ^^^^^^^^^^^ this array held int64, and float64 from here on
#   help: give the new array a name of its own, or convert it
