import numpy as np


def f(x):
    return np.arctan2(x)


# P108_too_few.py:5:12: P108 the arguments do not fit the function
#    5 |     return np.arctan2(x)
#      |            ^^^^^^^^^^^^^ `np.arctan2` takes x1, x2 here
#   help: give exactly these arguments
