import numpy as np

SCALE = np.array(2.0)


def f(x):
    return x * SCALE


# P113_no_axes.py:7:16: P113 this name does not stand for a number or an array
#    7 |     return x * SCALE
#      |                ^^^^^ `SCALE` is an array without axes
#   help: make it a number, with `float(...)`
