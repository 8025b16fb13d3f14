import numpy as np


def f(u, n):
    steps = []
    for _ in range(n):
        steps.append(u)
        u *= 0.5
    return np.array(steps)


only_called = True
arguments = (np.ones(3), 2)


# P206_list_written.py:7:9: P206 a name stands for one array or one function
#    7 |         steps.append(u)
#      |         ^^^^^^^^^^^^^^^ an array in a list is, or may be, written to afterwards
#   help: append arrays of one shape that nothing writes to any more: `xs.append(u.copy())`
