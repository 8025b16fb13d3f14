import numpy as np


def f(n):
    u = np.ones((n, n))
    v = np.inner(u, u)
    return v[0, 0]


# P201_inner.py:6:9: P201 an array cannot stand here
#    6 |     v = np.inner(u, u)
#      |         ^^^^^^^^^^^^^^ `np.inner` of arrays with more than one axis
#   help: write the product with `@`
