def g(v, *more):
    return v


def f(x):
    return g(x, more=2.0)


# P104_arguments.py:1:11: P104 this kind of parameter is outside the language
#    1 | def g(v, *more):
#      |           ^^^^ `*more` collects arguments
#   help: name each parameter
#
# P104_arguments.py:6:12: P108 the arguments do not fit the function
#    6 |     return g(x, more=2.0)
#      |            ^^^^^^^^^^^^^^ `g` cannot take `more` here
#   help: its parameters are v
