def f(x):
    return x.sum()


# P107_method.py:2:12: P107 this function is not known here
#    2 |     return x.sum()
#      |            ^^^^^ `x.sum` is not a function that is known here
#   help: methods are outside the language: write it as loops
