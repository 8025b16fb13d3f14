from pyrev import custom_vjp


def pair_vjp(a, result, d_result):
    return d_result


@custom_vjp(pair_vjp)
def pair(a):
    return a, a


def f(x):
    y, z = pair(x)
    return y * z


# P117_parameters.py:14:12: P117 custom_vjp does not fit here
#   14 |     y, z = pair(x)
#      |            ^^^^^^^ `pair`, which has a derivative of its own, takes 1 and returns 2, and its rule `pair_vjp` has 3 parameters
#   help: give its rule for numbers, or say result= for one of arrays
