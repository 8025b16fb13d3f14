from pyrev import custom_vjp


def first_vjp(a, result, d_result):
    return d_result


@custom_vjp(first_vjp)
def first(a):
    return a * a


def f(x):
    x[0] = 1.0
    return first(x)


# P117_array.py:15:12: P117 custom_vjp does not fit here
#   15 |     return first(x)
#      |            ^^^^^^^^ `first`, which has a derivative of its own, is given more than numbers
#   help: give its rule for numbers, or say result= for one of arrays
