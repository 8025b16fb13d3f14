import numpy as np

from pyrev import custom_vjp


def ramp_vjp(n, result, d_result):
    return None


@custom_vjp(ramp_vjp, result=lambda n: np.empty(n))
def ramp(n):
    return np.arange(1.0 * n)


def f(x):
    y = ramp(3)
    return y[0] * x[0]


# P203_runs_without_arrays.py:16:9: P203 a name is either a number or an array
#   16 |     y = ramp(3)
#      |         ^^^^^^^ `ramp`, which runs as it is, is given no array
#   help: give it an array that decides about its results
