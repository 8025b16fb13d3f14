import numpy as np


def f(u, n):
    windows = []
    for k in range(n):
        windows.append(np.outer(u[: k + 1], u))
    return windows[-1][0, 0]


only_called = True
arguments = (np.ones(3), 2)


# P206_list_of_shapes.py:5:5: P206 a name stands for one array or one function
#    5 |     windows = []
#      |     ^^^^^^^^^^^^ the shape of the arrays in a list is not known where it begins
#   help: make an array in its place, `xs = np.zeros((n, m))`, and fill it
