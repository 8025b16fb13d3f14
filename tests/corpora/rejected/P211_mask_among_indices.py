import numpy as np


def f(m):
    return np.sum(m[m[:, 0] > 0.0, 1])


# P211_mask_among_indices.py:5:19: P211 indexing by an array is outside the language
#    5 |     return np.sum(m[m[:, 0] > 0.0, 1])
#      |                   ^^^^^^^^^^^^^^^^^^^ an array is the index here, and which elements are meant is not understood
#   help: write the loop over its elements: `x[k[i]]`, or `if` for a mask
