import numpy as np

from pyrev import custom_vjp


def squared_vjp(a, result, d_result):
    parts = np.zeros(2)
    for i in range(2):
        parts[i] = d_result * a
    return parts[0] + parts[1]


@custom_vjp(squared_vjp)
def squared(a):
    return a * a


def f(x):
    return squared(x)


# P118_stored_in_an_array.py:9:9: P118 a rule is not linear
#    9 |         parts[i] = d_result * a
#      |         ^^^^^^^^^^^^^^^^^^^^^^^ `squared_vjp` is not linear in the cotangent here
#   help: return sums of the cotangent times what does not depend on it
