import numpy as np


def f(x):
    y = np.empty(x.shape[0])
    for i in range(x.shape[0]):
        y[i] = 2.0 * x[i]
    return np.sum(np.einsum("ij->j", y))


arguments = (np.ones(3),)


# P202_einsum_letters.py:8:19: P202 the numbers of axes do not fit
#    8 |     return np.sum(np.einsum("ij->j", y))
#      |                   ^^^^^^^^^^^^^^^^^^^^^ `y` has 1 axis, and 2 here
#   help: use no more axes than it is made with
