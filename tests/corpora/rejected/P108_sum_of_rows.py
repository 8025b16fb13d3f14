import numpy as np


def f(n):
    u = np.ones((n, n))
    return sum(u)


# P108_sum_of_rows.py:6:12: P108 the arguments do not fit the function
#    6 |     return sum(u)
#      |            ^^^^^^ Python's `sum` adds rows up, from its second argument on
#   help: use `np.sum`, and add the start to it
