import numpy as np


def f(a):
    u = np.outer(a, a[0, 0])
    return u[0, 0]


# P201_outer.py:5:9: P201 an array cannot stand here
#    5 |     u = np.outer(a, a[0, 0])
#      |         ^^^^^^^^^^^^^^^^^^^^ `np.outer` of these values
#   help: give it two vectors
