from pyrev import custom_vjp


def twice_vjp(a, result, d_result):
    return 2 * d_result


@custom_vjp(twice_vjp, result=lambda a: (a, a))
def twice(a):
    return 2 * a


def f(x):
    y = twice(x)
    return y[0] * x[0]


# P117_like_nothing.py:14:9: P117 custom_vjp does not fit here
#   14 |     y = twice(x)
#      |         ^^^^^^^^ `twice`, which runs as it is, returns 2 by result=, and its rule is about 1
#   help: let result= return something like each result, given the same arguments
