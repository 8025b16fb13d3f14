import numpy as np


def f(x, k):
    return np.sum(x * np.round(k.astype(np.int64), -1))


# P108_round.py:5:23: P108 the arguments do not fit the function
#    5 |     return np.sum(x * np.round(k.astype(np.int64), -1))
#      |                       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ `np.round` of integers to tens, or of truth values
#   help: divide, round and multiply by itself
