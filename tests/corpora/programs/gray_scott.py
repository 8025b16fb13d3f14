"""Reaction and diffusion: a Gray-Scott pattern, its distance from a target image."""

import numpy as np

DU = 0.16
DV = 0.08


def laplacian(a):
    h, w = a.shape
    out = np.zeros_like(a)
    for i in range(h):
        for j in range(w):
            up = a[(i - 1) % h, j]
            down = a[(i + 1) % h, j]
            left = a[i, (j - 1) % w]
            right = a[i, (j + 1) % w]
            out[i, j] = up + down + left + right - 4.0 * a[i, j]
    return out


def step(u, v, feed, kill, dt=1.0):
    lu = laplacian(u)
    lv = laplacian(v)
    uvv = u * v * v
    u_new = u + dt * (DU * lu - uvv + feed * (1.0 - u))
    v_new = v + dt * (DV * lv + uvv - (feed + kill) * v)
    return u_new, v_new


def simulate(u, v, feed, kill, steps):
    for _ in range(steps):
        u, v = step(u, v, feed, kill)
    return u, v


def program(u0, v0, target, feed, kill, steps):
    """Mean squared distance of the final v from the target."""
    u, v = simulate(u0, v0, feed, kill, steps)
    loss = 0.0
    h, w = v.shape
    for i in range(h):
        for j in range(w):
            d = v[i, j] - target[i, j]
            loss += d * d
    return loss / (h * w)


def inputs(rng):
    shape = (5, 6)
    return {
        "u0": rng.uniform(0.6, 1.0, shape),
        "v0": rng.uniform(0.0, 0.4, shape),
        "target": rng.uniform(0.0, 0.5, shape),
        "feed": 0.037,
        "kill": 0.06,
        "steps": 4,
    }
