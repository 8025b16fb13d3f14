def scale(v, by):
    return v * by


def f(x):
    return scale(x)


# P108_missing_argument.py:6:12: P108 the arguments do not fit the function
#    6 |     return scale(x)
#      |            ^^^^^^^^ `scale` needs `by`, and a default is a number
#   help: give `by` in the call
