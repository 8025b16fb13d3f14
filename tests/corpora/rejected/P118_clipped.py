from pyrev import custom_vjp


def same_vjp(a, result, d_result):
    return min(max(d_result, -1.0), 1.0)


@custom_vjp(same_vjp)
def same(a):
    return a * 1.0


def f(x):
    return same(x)


# P118_clipped.py:5:12: P118 a rule is not linear
#    5 |     return min(max(d_result, -1.0), 1.0)
#      |            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ `same_vjp` is not linear in the cotangent here
#   help: return sums of the cotangent times what does not depend on it
