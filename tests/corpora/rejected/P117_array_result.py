import numpy as np

from pyrev import custom_vjp


def made_vjp(a, result, d_result):
    return d_result


@custom_vjp(made_vjp)
def made(a):
    return np.zeros(3)


def f(x):
    return np.sum(made(x))


# P117_array_result.py:16:19: P117 custom_vjp does not fit here
#   16 |     return np.sum(made(x))
#      |                   ^^^^^^^ `made`, which has a derivative of its own, returns more than numbers
#   help: give its rule for numbers, or say result= for one of arrays
