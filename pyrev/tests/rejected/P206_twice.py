import numpy as np


def f(x, n):
    u = np.zeros(n)
    u[0] = x
    u = np.ones(n)
    return u


# P206_twice.py:7:5: P206 the name of an array or a function is bound once
#    7 |     u = np.ones(n)
#      |     ^ `u` already names an array
#   help: use another name; rebinding an array is not supported yet
