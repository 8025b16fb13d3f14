import numpy as np


def f(x):
    return np.sum(x)


# P107_numpy.py:5:12: P107 this function is not known here
#    5 |     return np.sum(x)
#      |            ^^^^^^ `np.sum` is a function that pyrev does not know
#   help: whole-array functions are not supported yet: write the loop
