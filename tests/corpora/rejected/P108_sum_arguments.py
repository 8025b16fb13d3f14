import numpy as np


def f(x):
    return np.sum(x, where=x > 0.0)


# P108_sum_arguments.py:5:12: P108 the arguments do not fit the function
#    5 |     return np.sum(x, where=x > 0.0)
#      |            ^^^^^^^^^^^^^^^^^^^^^^^^ `np.sum` does not take these arguments here
#   help: give it an array, and `axis=` or `keepdims=` as literals
