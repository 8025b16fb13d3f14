import numpy as np


def f(x, rng):
    rng.shuffle(np.sin(x))
    return x[0]


arguments = (np.ones(3), np.random.default_rng(0))


# P108_shuffle.py:5:5: P108 the arguments do not fit the function
#    5 |     rng.shuffle(np.sin(x))
#      |     ^^^^^^^^^^^^^^^^^^^^^^ `shuffle` changes an array in place, and this one has no name
#   help: give it one, or write `permutation(x)`
