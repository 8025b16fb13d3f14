def scale(v, by=2.0):
    return v * by


def f(x):
    return scale(x, factor=3.0)


# P108_unknown_keyword.py:6:12: P108 the arguments do not fit the function
#    6 |     return scale(x, factor=3.0)
#      |            ^^^^^^^^^^^^^^^^^^^^ `scale` cannot take `factor` here
#   help: its parameters are v, by
