def f(x):
    g = lambda v, w=[1.0, 2.0]: v
    return g(x)


# P108_lambda_default.py:3:12: P108 the arguments do not fit the function
#    3 |     return g(x)
#      |            ^^^^ `g` needs `w`, and a default is a number
#   help: give `w` in the call
