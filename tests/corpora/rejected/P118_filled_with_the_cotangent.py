import numpy as np

from pyrev import custom_vjp


def same_vjp(a, result, d_result):
    parts = np.full(3, d_result)
    return parts[0]


@custom_vjp(same_vjp)
def same(a):
    return a * 1.0


def f(x):
    return same(x)


# P118_filled_with_the_cotangent.py:7:5: P118 a rule is not linear
#    7 |     parts = np.full(3, d_result)
#      |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^ `same_vjp` is not linear in the cotangent here
#   help: return sums of the cotangent times what does not depend on it
