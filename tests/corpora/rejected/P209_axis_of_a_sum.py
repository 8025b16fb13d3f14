import numpy as np


def f(x):
    k = len(x) // 4
    y = np.sum(x, axis=k)
    return y[0]


# P209_axis_of_a_sum.py:6:24: P209 this attribute or axis is outside the language
#    6 |     y = np.sum(x, axis=k)
#      |                        ^ which axis is meant is not known in the text
#   help: write the axis as a number: `axis=0`
