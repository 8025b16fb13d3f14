# Adjoint (reverse-mode derivative) of `masked` in kernels.py.
import numpy as np


def masked_adjoint(a, g, d_g):
    d_g_2 = d_g.copy()
    d_a = np.zeros_like(a)
    # kernels.py:48: g[1] = 2.0
    d_g_2[1] = 0.0
    # kernels.py:47: g[i] = a[i] * a[i]
    for i in range(g.shape[0]):
        d_a[i] += 2 * d_g_2[i] * a[i] if d_g_2[i] != 0.0 else 0.0
        d_g_2[i] = 0.0
    return d_a, d_g_2
