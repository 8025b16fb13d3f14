import numpy as np

STATIONS = np.zeros(3, dtype=[("height", "f8"), ("depth", "f8")])


def f(x):
    return x[0] * STATIONS.shape[0]


# P106_records_from_outside.py:7:19: P106 this kind of value is outside the language
#    7 |     return x[0] * STATIONS.shape[0]
#      |                   ^^^^^^^^ `STATIONS` is an array of [('height', '<f8'), ('depth', '<f8')], from outside of the function
#   help: pass it as an argument
