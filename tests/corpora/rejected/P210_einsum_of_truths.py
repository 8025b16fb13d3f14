import numpy as np


def f(x, y):
    out = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        out[i] = x[i, 0]
    return np.sum(out * np.einsum("ij,ij->i", x > 0.0, y > 0.0))


arguments = (np.ones((2, 3)), np.ones((2, 3)))


# P210_einsum_of_truths.py:8:25: P210 the kinds of numbers do not fit
#    8 |     return np.sum(out * np.einsum("ij,ij->i", x > 0.0, y > 0.0))
#      |                         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ `np.einsum` of truth values does not count them, as `np.sum` does
#   help: write `np.any`, or count with `np.sum`
