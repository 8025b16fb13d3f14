import numpy as np


def f(x, n):
    order = np.arange(n)
    return np.sum(x[order])


# P211_index.py:6:19: P211 indexing by an array is outside the language
#    6 |     return np.sum(x[order])
#      |                   ^^^^^^^^ an array is the index here
#   help: write the loop over its elements: `x[k[i]]`, or `if` for a mask
