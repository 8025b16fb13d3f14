import numpy as np

arguments = (np.ones(3), np.array([0, 2]))


def f(x, k):
    return np.sum(x[k])


# P211_indices_of_a_call.py:7:19: P211 indexing by an array is outside the language
#    7 |     return np.sum(x[k])
#      |                   ^^^^ an array is the index here
#   help: write the loop over its elements: `x[k[i]]`, or `if` for a mask
