import numpy as np


def f(x):
    return np.spacing(x)


# P107_numpy.py:5:12: P107 this function is not known here
#    5 |     return np.spacing(x)
#      |            ^^^^^^^^^^ `np.spacing` is a function that pyrev does not know
#   help: write it as loops, or with the functions that pyrev knows
