# Adjoint (reverse-mode derivative) of `diffuse` in nests.py.
import numpy as np


def diffuse_adjoint(u, k, steps, d_result):
    now = u.copy()
    new = u.copy()
    now_before = np.empty((max(steps, 0), now.shape[0]))
    for t in range(steps):
        # nests.py:18: for i in range(1, u.shape[0] - 1)
        now_before[t] = now
        # nests.py:19: new[i] = now[i] + k * (now[i - 1] - 2.0 * now[i] + now[i + 1])
        new[1:-1] = now[1:-1] + k * (now[:-2] - 2.0 * now[1:-1] + now[2:])
        # nests.py:17: for _ in range(steps)
        now, new = new, now
    d_u = np.zeros_like(u)
    d_k = 0.0
    d_now = np.zeros_like(u)
    d_new = np.zeros_like(u)
    # nests.py:21: return now
    d_now += d_result
    for t in reversed(range(steps)):
        # nests.py:17: for _ in range(steps)
        d_new, d_now = d_now, d_new
        # nests.py:19: new[i] = now[i] + k * (now[i - 1] - 2.0 * now[i] + now[i + 1])
        d_new_part = d_new[1:-1]
        d_now[1:-1] += d_new_part
        v = now_before[t, :-2] - 2.0 * now_before[t, 1:-1] + now_before[t, 2:]
        d_k += np.sum(np.where(d_new_part != 0.0, d_new_part * v, 0.0))
        d_now[:-2] += np.where(d_new_part != 0.0, d_new_part * k, 0.0)
        d_now[1:-1] += np.where(d_new_part != 0.0, 2.0 * -(d_new_part * k), 0.0)
        d_now[2:] += np.where(d_new_part != 0.0, d_new_part * k, 0.0)
        d_new_part[:] = 0.0
    # nests.py:16: now, new = u.copy(), u.copy()
    d_u += d_new
    d_u += d_now
    return d_u, d_k


_diffuse_adjoint_unchecked = diffuse_adjoint


def diffuse_adjoint(u, k, steps, d_result):
    if d_result.shape != (u.shape[0],):
        raise ValueError('`d_result` must have the shape of what is returned')
    return _diffuse_adjoint_unchecked(u, k, steps, d_result)
