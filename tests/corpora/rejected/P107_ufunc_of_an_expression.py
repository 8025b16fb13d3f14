import numba
import numpy as np


@numba.vectorize
def product(a, b):
    return a * b


def f(x):
    return np.sum(product(x[1:] * 2.0, x[1:]))


# P107_ufunc_of_an_expression.py:11:19: P107 this function is not known here
#   11 |     return np.sum(product(x[1:] * 2.0, x[1:]))
#      |                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^ `product` is a ufunc of Numba's, and is given an array that is computed here
#   help: give that a name first: `y = x * 2.0`
