def cleared(u):
    if u[0] > 1.0:
        u[0] = 0.0
        return u
    return 2.0 * u


def f(x):
    return cleared(x)


# P110_given_back_by_a_helper.py:9:5: P110 this `return` is outside the language
#    9 |     return cleared(x)
#      |     ^^^^^^^^^^^^^^^^^ a helper returns what it is given, on some path
#   help: return one array on every path: the paths may fill it
