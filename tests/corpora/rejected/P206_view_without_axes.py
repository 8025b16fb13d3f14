import numpy as np


def f(y):
    a = y[..., 0]
    y[0] = 5.0
    return a * y[1]


only_called = True
arguments = (np.ones(3),)


# P206_view_without_axes.py:6:5: P206 a name stands for one array or one function
#    6 |     y[0] = 5.0
#      |     ^^^^ an element that a subscript with `...` gives is a view of its array, and one of the two is written to
#   help: leave the `...` out, or write `float(...)` around it
