import numpy as np


def f(x):
    return np.select([x > 1.0, x < 0.0], [x])


# P108_select.py:5:12: P108 the arguments do not fit the function
#    5 |     return np.select([x > 1.0, x < 0.0], [x])
#      |            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ `np.select` does not take these arguments here
#   help: write out both lists, which are of one length, and the default
