import numpy as np


def f(t):
    v = np.where(t > 0, t, 1.0)
    w = v
    v += 1.0
    return w * v


only_called = True
arguments = (0.5,)


# P206_where_of_numbers.py:7:5: P206 a name stands for one array or one function
#    7 |     v += 1.0
#      |     ^^^^^^^^ what `np.where` gives for numbers is an array, which is changed in place here: it keeps its dtype, and shows it under its other names
#   help: write `a = a + ...`, or `float(...)` around the call
