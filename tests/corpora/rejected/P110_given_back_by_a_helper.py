def same(u):
    return u


def f(x):
    if x[0] > 0.0:
        return same(x)
    return 2.0 * x


# P110_given_back_by_a_helper.py:7:9: P110 this `return` is outside the language
#    7 |         return same(x)
#      |         ^^^^^^^^^^^^^^ another path returns another array
#   help: return one array on every path: the paths may fill it
