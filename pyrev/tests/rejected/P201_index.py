import numpy as np


def f(x, n):
    order = np.arange(n)
    return np.sum(x[order])


# P201_index.py:6:19: P201 an array cannot stand here
#    6 |     return np.sum(x[order])
#      |                   ^^^^^^^^ an array is the index here
#   help: write the loop over its elements, with `if` for a mask
