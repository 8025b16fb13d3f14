import numpy as np


def f(x, n):
    k = np.arange(n)
    return np.sum(x[k:])


# P211_end_of_a_slice.py:6:19: P211 indexing by an array is outside the language
#    6 |     return np.sum(x[k:])
#      |                   ^^^^^ an array is the end of a slice
#   help: use a number
