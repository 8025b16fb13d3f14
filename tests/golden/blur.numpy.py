# Adjoint (reverse-mode derivative) of `blur` in nests.py.
import numpy as np


def blur_adjoint(u, out, d_out):
    d_out_2 = d_out.copy()
    d_u = np.zeros_like(u)
    # nests.py:12: out[i, j] = 0.5 * u[i, j] + 0.125 * around
    d_out_part = d_out_2[1:max(u.shape[0] - 1, 0), 1:max(u.shape[1] - 1, 0)]
    d_u[1:-1, 1:-1] += 0.5 * d_out_part
    d_around = 0.125 * d_out_part
    # nests.py:11: around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
    d_u[:-2, 1:-1] += d_around
    d_u[2:, 1:-1] += d_around
    d_u[1:-1, :-2] += d_around
    d_u[1:-1, 2:] += d_around
    # nests.py:12: out[i, j] = 0.5 * u[i, j] + 0.125 * around
    d_out_part[:] = 0.0
    return d_u, d_out_2


_blur_adjoint_unchecked = blur_adjoint


def blur_adjoint(u, out, d_out):
    if d_out.shape != out.shape:
        raise ValueError('`d_out` must have the shape of `out`')
    if u.shape[0] >= 3 and u.shape[1] >= 3 and u.shape[0] >= out.shape[0] + 2:
        raise IndexError('nests.py:12: in `out[i, j]`, subscript `i` leaves axis 0 of `out`')
    if u.shape[0] >= 3 and u.shape[1] >= 3 and u.shape[1] >= out.shape[1] + 2:
        raise IndexError('nests.py:12: in `out[i, j]`, subscript `j` leaves axis 1 of `out`')
    return _blur_adjoint_unchecked(u, out, d_out)
