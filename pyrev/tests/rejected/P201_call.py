import numpy as np


def f(u, v):
    for i in range(len(u)):
        v[i] = np.exp(u)


# P201_call.py:6:23: P201 whole-array operations are not supported yet
#    6 |         v[i] = np.exp(u)
#      |                       ^ `u` is a whole array, and a number is needed here
#   help: write the loop over its elements; this comes in a later version
