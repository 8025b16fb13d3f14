# Adjoint (reverse-mode derivative) of `strided` in kernels.py.
import numpy as np


def strided_adjoint(signal, weights, out, d_out):
    d_signal = np.zeros_like(signal)
    d_weights = np.zeros_like(weights)
    # kernels.py:24: out[x] += signal[3 * x + 2 * k] * weights[k]
    for u in range(3 * out.shape[0] + 2 * weights.shape[0] - 4):  # gather: u = 3 * x + 2 * k
        for k in range(max(0, (u - 3 * out.shape[0]) // 2 + 2), min(weights.shape[0], u // 2 + 1)):
            if (u - 2 * k) % 3 == 0:
                d_signal[u] += d_out[(u - 2 * k) // 3] * weights[k]
    for k in range(weights.shape[0]):
        for x in range(out.shape[0]):
            d_weights[k] += d_out[x] * signal[3 * x + 2 * k]
    return d_signal, d_weights, d_out.copy()
