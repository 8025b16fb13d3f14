from pyrev import custom_vjp


def both_vjp(a, b, result, d_result):
    return d_result


@custom_vjp(both_vjp)
def both(a, b):
    return a * b


def f(x):
    return both(x, x)


# P117_results.py:14:12: P117 custom_vjp does not fit here
#   14 |     return both(x, x)
#      |            ^^^^^^^^^^ `both`, which has a derivative of its own, needs of `both_vjp` 2 of them, for each argument one
#   help: give its rule for numbers, or say result= for one of arrays
