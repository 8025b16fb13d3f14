def f(x, *more):
    return x


# P104_arguments.py:1:11: P104 this kind of parameter is outside the language
#    1 | def f(x, *more):
#      |           ^^^^ `*more` collects arguments
#   help: name each parameter
