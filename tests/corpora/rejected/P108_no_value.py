def g(v):
    v[0] = 1.0


def f(x):
    return 2.0 * g(x)


# P108_no_value.py:6:18: P108 the arguments do not fit the function
#    6 |     return 2.0 * g(x)
#      |                  ^^^^ `g` returns nothing
#   help: end it with `return` and the value
