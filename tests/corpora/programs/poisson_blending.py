"""Image editing: Poisson blending of a patch by SOR with a mask, seam energy."""

import numpy as np


def guidance(src, dst, y, x, dy, dx, mixed):
    s = src[y, x] - src[y + dy, x + dx]
    if not mixed:
        return s
    d = dst[y, x] - dst[y + dy, x + dx]
    if abs(d) > abs(s):
        return d
    return s


def sor_sweep(f, src, dst, mask, omega, mixed):
    h, w = f.shape
    for y in range(1, h - 1):
        for x in range(1, w - 1):
            if not mask[y, x]:
                continue
            total = 0.0
            for dy, dx in ((-1, 0), (1, 0), (0, -1), (0, 1)):
                total += f[y + dy, x + dx]
                total += guidance(src, dst, y, x, dy, dx, mixed)
            f[y, x] = (1 - omega) * f[y, x] + omega * 0.25 * total


def seam(f, mask):
    h, w = f.shape
    e = 0.0
    for y in range(h):
        for x in range(w - 1):
            if mask[y, x] != mask[y, x + 1]:
                e += (f[y, x + 1] - f[y, x]) ** 2
    return e


def program(src, dst, mask, omega, rounds=3, mixed=True):
    f = dst.copy()
    for _ in range(rounds):
        sor_sweep(f, src, dst, mask, omega, mixed)
    return seam(f, mask) + 0.1 * np.sum((f - dst) ** 2)


def inputs(rng):
    mask = np.zeros((5, 6), dtype=bool)
    mask[1:4, 2:5] = True
    mask[2, 1] = True
    return {
        "src": rng.uniform(0, 1, (5, 6)),
        "dst": rng.uniform(0, 1, (5, 6)),
        "mask": mask,
        "omega": 1.3,
    }
