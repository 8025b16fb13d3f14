import numpy as np


def f(m):
    return np.sum(m[:, 1:].reshape(-1) ** 2)


# P209_part_in_another_shape.py:5:19: P209 this attribute or axis is outside the language
#    5 |     return np.sum(m[:, 1:].reshape(-1) ** 2)
#      |                   ^^^^^^^^^^^^^^^^^^^^ a part of an array is given another shape, and whether that is a copy depends on where its elements are
#   help: copy it first: `a[:, 1:].copy().reshape(...)`
