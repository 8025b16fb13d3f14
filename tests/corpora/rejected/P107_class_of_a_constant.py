SCALE = 2.0


def f(x):
    return type(SCALE)(0.5) * x[1]


# P107_class_of_a_constant.py:5:12: P107 this function is not known here
#    5 |     return type(SCALE)(0.5) * x[1]
#      |            ^^^^^^^^^^^^^^^^ the class of `SCALE` is not known here
#   help: write `float(...)`, or ask a parameter
