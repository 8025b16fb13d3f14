import numpy as np


def f(x):
    return np.median(x, axis=(0, 1))


# P108_library.py:5:12: P108 the arguments do not fit the function
#    5 |     return np.median(x, axis=(0, 1))
#      |            ^^^^^^^^^^^^^^^^^^^^^^^^^ `np.median` does not take these arguments here
#   help: give it a (1 axis); or a (2 axes), axis=0; or a (2 axes), axis=1
