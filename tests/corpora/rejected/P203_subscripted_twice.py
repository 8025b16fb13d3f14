import numpy as np


def f(x, n):
    return x * np.arange(n)[0][0]


# P203_subscripted_twice.py:5:16: P203 a name is either a number or an array
#    5 |     return x * np.arange(n)[0][0]
#      |                ^^^^^^^^^^^^^^^^^^ a number is subscripted here
#   help: leave the subscripts out
