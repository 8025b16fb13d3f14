import numpy as np

arguments = (1.0, 3)


def f(x, n):
    u = np.ones((n, n))
    v = u @ 2.0
    return x * v[0, 0]


# P201_matmul_of_a_number.py:8:9: P201 an array cannot stand here
#    8 |     v = u @ 2.0
#      |         ^^^^^^^ a number is multiplied with `@`
#   help: multiply with `*`, or give two arrays
