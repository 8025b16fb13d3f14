# Adjoint (reverse-mode derivative) of `shares` in nests.py.
import numpy as np


def shares_adjoint(x, out, d_out):
    d_out_2 = d_out.copy()
    d_x = np.zeros_like(x)
    # nests.py:37: total += np.exp(x[i, j])
    total = np.sum(np.exp(x), axis=1)
    # nests.py:39: out[i, j] = np.exp(x[i, j]) / total
    d_out_part = d_out_2[:x.shape[0], :x.shape[1]]
    mask = d_out_part != 0.0
    d_v = np.where(mask, d_out_part / np.where(mask, total[:, None], 1), 0.0)
    d_x += d_v * np.exp(x)
    d_total = np.sum(
        np.where(
            mask,
            -(d_out_part * np.exp(np.where(mask, x, 0.0)) / np.where(mask, total[:, None], 1)) / np.where(
                mask, total[:, None], 1
            ),
            0.0,
        ),
        axis=1,
    )
    d_out_part[:] = 0.0
    # nests.py:37: total += np.exp(x[i, j])
    d_x += d_total[:, None] * np.exp(x)
    return d_x, d_out_2


_shares_adjoint_unchecked = shares_adjoint


def shares_adjoint(x, out, d_out):
    if d_out.shape != out.shape:
        raise ValueError('`d_out` must have the shape of `out`')
    if x.shape[1] >= 1 and x.shape[0] >= out.shape[0] + 1:
        raise IndexError('nests.py:39: in `out[i, j]`, subscript `i` leaves axis 0 of `out`')
    if x.shape[0] >= 1 and x.shape[1] >= out.shape[1] + 1:
        raise IndexError('nests.py:39: in `out[i, j]`, subscript `j` leaves axis 1 of `out`')
    return _shares_adjoint_unchecked(x, out, d_out)
