from pyrev import custom_vjp


def twice_vjp(a, result, d_result):
    return 2 * d_result


@custom_vjp(twice_vjp, result=lambda a: a)
def twice(a):
    return 2 * a


def f(x):
    y = twice(x, factor=2.0)
    return y[0] * x[0]


# P108_runs_with_another.py:14:9: P108 the arguments do not fit the function
#   14 |     y = twice(x, factor=2.0)
#      |         ^^^^^^^^^^^^^^^^^^^^ `twice`: got an unexpected keyword argument 'factor'
#   help: its parameters are a
