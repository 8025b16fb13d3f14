import numpy as np


def f(x, n, rng):
    return x * rng.integers(0, 5, endpoint=n)


arguments = (1.0, 1, np.random.default_rng(0))


# P108_generator_endpoint.py:5:16: P108 the arguments do not fit the function
#    5 |     return x * rng.integers(0, 5, endpoint=n)
#      |                ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ `integers` does not take these arguments here
#   help: write `endpoint=True`, or leave it out
