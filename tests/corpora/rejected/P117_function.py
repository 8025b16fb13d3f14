from pyrev import custom_vjp


def f_vjp(a, result, d_result):
    return d_result


@custom_vjp(f_vjp)
def f(a):
    return a * a


# P117_function.py:9:1: P117 custom_vjp does not fit here
#    9 | def f(a):
#      | ^^^^^^^^^ `f` has a derivative of its own
#   help: differentiate a function that calls it
