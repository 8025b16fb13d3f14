# Adjoint (reverse-mode derivative) of `smooth_clamped` in kernels.py.
import numpy as np


def smooth_clamped_adjoint(a, b, d_b):
    d_a = np.zeros_like(a)
    # kernels.py:36: b[x] += a[min(max(x + r - 1, 0), n - 1)]
    for u in range(a.shape[0]):  # gather: u = min(max(x + r - 1, 0), a.shape[0] - 1)
        for r in range(max(0, u - a.shape[0] + 2), min(3, u + 2)):
            d_a[u] += d_b[u - r + 1]
        if u == 0:
            d_a[u] += d_b[0]
    if a.shape[0] >= 1:
        d_a[a.shape[0] - 1] += d_b[a.shape[0] - 1]
    return d_a, d_b.copy()
