import numpy as np


def f(x, b):
    return type(b)(0.5) * x[0]


arguments = (np.ones(3), 2)


# P107_class_of_an_argument.py:5:12: P107 this function is not known here
#    5 |     return type(b)(0.5) * x[0]
#      |            ^^^^^^^^^^^^ `b` is a number of dtype int64 here
#   help: pass one of Python's floats
