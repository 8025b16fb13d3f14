# Adjoint (reverse-mode derivative) of `logistic_map` in kernels.py.
import numpy as np


def logistic_map_adjoint(x, steps, d_x):
    x_2 = x.copy()
    p_2_tape = np.empty((max(steps, 0), x.shape[0]))
    # kernels.py:42: x[i] = 3.7 * x[i] * (1.0 - x[i])
    for t in range(steps):  # serial: an iteration of t overwrites what an earlier one reads in x_2
        for i in range(x.shape[0]):
            p_2_tape[t, i] = -3.7 * x_2[i] + 3.7 * (1.0 - x_2[i])
            x_2[i] = 3.7 * x_2[i] * (1.0 - x_2[i])
    d_x_2 = d_x.copy()
    # serial: an iteration of t overwrites what an earlier one reads in d_x_2
    for t in reversed(range(steps)):
        for i in range(x.shape[0]):
            d_x_2[i] *= p_2_tape[t, i]
    return (d_x_2,)
