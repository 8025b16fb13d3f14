def g(u, v):
    for i in range(len(u)):
        if u[i] > 0.0:
            return u
    return v


def f(x, y):
    return g(x, y)[0]


# P110_in_a_helper.py:4:13: P110 this `return` is outside the language
#    4 |             return u
#      |             ^^^^^^^^ another path returns another array, or a number
#   help: return one array on every path: the paths may fill it
