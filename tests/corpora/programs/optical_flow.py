"""Computer vision: Horn-Schunck flow by Jacobi sweeps, endpoint error of the result."""

import numpy as np


def derivatives(a, b):
    h, w = a.shape
    ix = np.zeros((h, w))
    iy = np.zeros((h, w))
    it = np.zeros((h, w))
    for y in range(h - 1):
        for x in range(w - 1):
            ix[y, x] = 0.25 * (
                a[y, x + 1]
                - a[y, x]
                + a[y + 1, x + 1]
                - a[y + 1, x]
                + b[y, x + 1]
                - b[y, x]
                + b[y + 1, x + 1]
                - b[y + 1, x]
            )
            iy[y, x] = 0.25 * (
                a[y + 1, x]
                - a[y, x]
                + a[y + 1, x + 1]
                - a[y, x + 1]
                + b[y + 1, x]
                - b[y, x]
                + b[y + 1, x + 1]
                - b[y, x + 1]
            )
            it[y, x] = 0.25 * (
                b[y, x]
                - a[y, x]
                + b[y + 1, x]
                - a[y + 1, x]
                + b[y, x + 1]
                - a[y, x + 1]
                + b[y + 1, x + 1]
                - a[y + 1, x + 1]
            )
    return ix, iy, it


def neighbour_mean(u):
    p = np.zeros((u.shape[0] + 2, u.shape[1] + 2))
    p[1:-1, 1:-1] = u
    p[0, 1:-1] = u[0]
    p[-1, 1:-1] = u[-1]
    p[1:-1, 0] = u[:, 0]
    p[1:-1, -1] = u[:, -1]
    return 0.25 * (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:])


def horn_schunck(a, b, alpha, sweeps):
    ix, iy, it = derivatives(a, b)
    u = np.zeros_like(a)
    v = np.zeros_like(a)
    for _ in range(sweeps):
        ub = neighbour_mean(u)
        vb = neighbour_mean(v)
        common = (ix * ub + iy * vb + it) / (alpha**2 + ix**2 + iy**2)
        u = ub - ix * common
        v = vb - iy * common
    return u, v


def program(frame1, frame2, alpha, true_u, true_v):
    u, v = horn_schunck(frame1, frame2, alpha, 3)
    err = np.sqrt((u - true_u) ** 2 + (v - true_v) ** 2 + 1e-6)
    return err.mean()


def inputs(rng):
    shape = (5, 5)
    return {
        "frame1": rng.uniform(0, 1, shape),
        "frame2": rng.uniform(0, 1, shape),
        "alpha": 0.5,
        "true_u": rng.normal(size=shape),
        "true_v": rng.normal(size=shape),
    }
