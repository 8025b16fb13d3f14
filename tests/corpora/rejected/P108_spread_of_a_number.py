import numpy as np

arguments = (1.0,)


def f(x):
    return np.std(2.0 * x)


# P108_spread_of_a_number.py:7:12: P108 the arguments do not fit the function
#    7 |     return np.std(2.0 * x)
#      |            ^^^^^^^^^^^^^^^ `np.std` does not take these arguments here
#   help: give it an array, and `axis=` or `keepdims=` as literals
