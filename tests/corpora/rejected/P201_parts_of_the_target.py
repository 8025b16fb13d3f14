import numpy as np


def f(x):
    a = np.zeros((2, 2))
    a[0:2] = [a[1], a[0]]
    return a[0, 0] * x


# P201_parts_of_the_target.py:6:5: P201 an array cannot stand here
#    6 |     a[0:2] = [a[1], a[0]]
#      |     ^^^^^^^^^^^^^^^^^^^^^ parts of an array are assigned to it one after the other, and a part may have changed by its turn
#   help: assign copies: `a[:2] = [a[1].copy(), a[0].copy()]`
