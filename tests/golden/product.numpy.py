# Adjoint (reverse-mode derivative) of `product` in nests.py.
import numpy as np


def product_adjoint(a, b, d_result):
    d_a = np.zeros_like(a)
    d_b = np.zeros_like(b)
    d_c = np.zeros((a.shape[0], b.shape[1]))
    # nests.py:30: return c
    d_c += d_result
    # nests.py:29: c[i, j] += a[i, k] * b[k, j]
    d_a += d_c @ b[:a.shape[1]].T
    d_b[:a.shape[1]] += a.T @ d_c
    return d_a, d_b


_product_adjoint_unchecked = product_adjoint


def product_adjoint(a, b, d_result):
    if d_result.shape != (a.shape[0], b.shape[1]):
        raise ValueError('`d_result` must have the shape of what is returned')
    if a.shape[0] >= 1 and b.shape[1] >= 1 and a.shape[1] >= b.shape[0] + 1:
        raise IndexError('nests.py:29: in `b[k, j]`, subscript `k` leaves axis 0 of `b`')
    return _product_adjoint_unchecked(a, b, d_result)
