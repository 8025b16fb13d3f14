from pyrev import custom_vjp


def filtered_vjp(a, mode, result, d_result):
    return d_result, None


@custom_vjp(filtered_vjp, result=lambda a, mode: a)
def filtered(a, mode="same"):
    return a + 0.0


def f(x):
    y = filtered(x)
    return y[0] * x[0]


# P108_runs_with_a_text.py:14:9: P108 the arguments do not fit the function
#   14 |     y = filtered(x)
#      |         ^^^^^^^^^^^ `filtered` needs `mode`, and a default is a number
#   help: give `mode` in the call
