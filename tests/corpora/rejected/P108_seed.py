import numpy as np


def f(x):
    state = np.random.seed(3)
    return x * x


# P108_seed.py:5:13: P108 the arguments do not fit the function
#    5 |     state = np.random.seed(3)
#      |             ^^^^^^^^^^^^^^^^^ `np.random.seed` gives nothing, and its value is used here
#   help: write the call as a line of its own
