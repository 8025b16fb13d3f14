from pyrev import custom_vjp


def squared_vjp(a, result, d_result):
    slope = 2.0 * a
    if d_result > 0.0:
        slope = 0.5 * a
    return slope * d_result


@custom_vjp(squared_vjp)
def squared(a):
    return a * a


def f(x):
    return squared(x)


# P118_tested.py:6:5: P118 a rule is not linear
#    6 |     if d_result > 0.0:
#      |     ^^^^^^^^^^^^^^^^^^ `squared_vjp` is not linear in the cotangent here
#   help: return sums of the cotangent times what does not depend on it
