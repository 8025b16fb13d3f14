import numpy as np


def f(x):
    x = np.zeros(3)
    return x


# P206_parameter.py:5:5: P206 the name of an array or a function is bound once
#    5 |     x = np.zeros(3)
#      |     ^ `x` already names an array
#   help: use another name; rebinding an array is not supported yet
