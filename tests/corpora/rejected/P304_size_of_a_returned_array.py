import numpy as np

target = "cuda"


def f(x, count):
    out = np.zeros(count[0])
    for i in range(count[0]):
        out[i] = x[i] * x[i]
    return out


# P304_size_of_a_returned_array.py:7:5: P304 the target has no form for this
#    7 |     out = np.zeros(count[0])
#      |     ^^^^^^^^^^^^^^^^^^^^^^^^ data decides how large `out` is, which is returned
#   help: use target='numba' for it
