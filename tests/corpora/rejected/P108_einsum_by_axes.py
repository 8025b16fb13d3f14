import numpy as np


def f(x, y):
    return np.sum(np.einsum(x, [0, 1], y, [1, 2], [0, 2]))


arguments = (np.ones((2, 3)), np.ones((3, 2)))


# P108_einsum_by_axes.py:5:19: P108 the arguments do not fit the function
#    5 |     return np.sum(np.einsum(x, [0, 1], y, [1, 2], [0, 2]))
#      |                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ `np.einsum` with these arguments
#   help: give it a text of letters, such as 'ij,jk->ik', and an array for each part
