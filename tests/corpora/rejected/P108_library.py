import numpy as np


def f(x):
    return np.sum(np.sort(x, kind="stable", axis=0)) + np.median(x, axis=(0, 1))


# P108_library.py:5:19: P108 the arguments do not fit the function
#    5 |     return np.sum(np.sort(x, kind="stable", axis=0)) + np.median(x, axis=(0, 1))
#      |                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ `np.sort` does not take these arguments here
#   help: give it a (1 axis); or a (2 axes)
#
# P108_library.py:5:56: P108 the arguments do not fit the function
#    5 |     return np.sum(np.sort(x, kind="stable", axis=0)) + np.median(x, axis=(0, 1))
#      |                                                        ^^^^^^^^^^^^^^^^^^^^^^^^^ `np.median` does not take these arguments here
#   help: give it a (1 axis)
