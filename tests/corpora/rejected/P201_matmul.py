import numpy as np


def f(n):
    u = np.ones((n, n, n))
    v = u @ u
    return v[0, 0, 0]


# P201_matmul.py:6:9: P201 an array cannot stand here
#    6 |     v = u @ u
#      |         ^^^^^ `@` of arrays with more than two axes
#   help: write the product as loops
