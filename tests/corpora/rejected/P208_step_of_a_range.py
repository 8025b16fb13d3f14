import numpy as np


def f(x, n):
    t = np.arange(0, n, 0)
    return x * t[0]


# P208_step_of_a_range.py:5:25: P208 the shape or type of a new array is not understood
#    5 |     t = np.arange(0, n, 0)
#      |                         ^ a new array cannot be made from steps of zero
#   help: use `np.linspace`, or fill `np.empty(n)` in a loop
