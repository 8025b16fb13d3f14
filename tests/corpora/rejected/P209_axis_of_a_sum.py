import numpy as np


def f(x, k):
    y = np.sum(x, axis=k)
    return y[0]


# P209_axis_of_a_sum.py:5:24: P209 this attribute or axis is outside the language
#    5 |     y = np.sum(x, axis=k)
#      |                        ^ which axis is meant is not known in the text
#   help: write the axis as a number: `axis=0`
