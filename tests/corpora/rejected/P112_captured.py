import numpy as np

TABLE = np.zeros(3)


def f(x):
    TABLE[0] = x


# P112_captured.py:7:5: P112 this is not something to assign to
#    7 |     TABLE[0] = x
#      |     ^^^^^^^^ `TABLE` is not a parameter
#   help: pass the array as a parameter to write to it
