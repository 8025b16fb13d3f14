import numpy as np


def f(x, n, k):
    t = np.arange(0, n, k)
    return x * t[0]


# P208_step_of_a_range.py:5:25: P208 the shape or type of a new array is not understood
#    5 |     t = np.arange(0, n, k)
#      |                         ^ a new array cannot be made from steps that are not an integer literal
#   help: use `np.linspace`, or fill `np.empty(n)` in a loop
