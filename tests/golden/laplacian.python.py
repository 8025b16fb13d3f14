# Adjoint (reverse-mode derivative) of `laplacian` in kernels.py.
import numpy as np


def laplacian_adjoint(u, out, d_out):
    d_out_2 = d_out.copy()
    d_u = np.zeros_like(u)
    for i in range(u.shape[0]):  # gather: i - 1, i + 1 renamed to i; j - 1, j + 1 renamed to j
        for j in range(u.shape[1]):
            # kernels.py:18: out[i, j] = neighbours - 4.0 * u[i, j]
            if i >= 1 and i < u.shape[0] - 1 and j >= 1 and j < u.shape[1] - 1:
                d_u[i, j] -= 4.0 * d_out_2[i, j]
            # kernels.py:17: neighbours = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i...
            if i < u.shape[0] - 2 and j >= 1 and j < u.shape[1] - 1:
                d_u[i, j] += d_out_2[i + 1, j]
            if i >= 2 and j >= 1 and j < u.shape[1] - 1:
                d_u[i, j] += d_out_2[i - 1, j]
            if i >= 1 and i < u.shape[0] - 1 and j < u.shape[1] - 2:
                d_u[i, j] += d_out_2[i, j + 1]
            if i >= 1 and i < u.shape[0] - 1 and j >= 2:
                d_u[i, j] += d_out_2[i, j - 1]
    # kernels.py:18: out[i, j] = neighbours - 4.0 * u[i, j]
    for i in range(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            d_out_2[i, j] = 0.0
    return d_u, d_out_2
