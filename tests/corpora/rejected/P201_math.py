import math


def f(x):
    return math.sin(2.0 * x[1:])


# P201_math.py:5:12: P201 an array cannot stand here
#    5 |     return math.sin(2.0 * x[1:])
#      |            ^^^^^^^^^^^^^^^^^^^^^ `math.sin` takes numbers, and an array is given
#   help: use NumPy's function, or loop over the elements
