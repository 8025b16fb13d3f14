def g(v):
    return v


def f(x):
    return g(x, x)


# P108_too_many.py:6:12: P108 the arguments do not fit the function
#    6 |     return g(x, x)
#      |            ^^^^^^^ `g` takes 1 by position, and there are 2
#   help: leave out the others, or give them by name
