"""Vision: grey-edge white balance, chromatic adaptation and the CIEDE-like distance."""

import numpy as np

BRADFORD = np.array(
    [[0.8951, 0.2664, -0.1614], [-0.7502, 1.7135, 0.0367], [0.0389, -0.0685, 1.0296]]
)


def grey_edge(img, p):
    h, w, _ = img.shape
    light = np.zeros(3)
    for c in range(3):
        s = 0.0
        for y in range(h - 1):
            for x in range(w - 1):
                gx = img[y, x + 1, c] - img[y, x, c]
                gy = img[y + 1, x, c] - img[y, x, c]
                s += (gx * gx + gy * gy + 1e-4) ** (0.5 * p)
        light[c] = (s / ((h - 1) * (w - 1))) ** (1.0 / p)
    return light / np.sqrt(np.sum(light**2))


def adapt(rgb, source, target):
    a = BRADFORD @ rgb
    s = BRADFORD @ source
    t = BRADFORD @ target
    return a * t / s


def lab_f(t):
    if t > 0.008856:
        return np.cbrt(t)
    return 7.787 * t + 16.0 / 116.0


def to_lab(v):
    fx, fy, fz = lab_f(v[0]), lab_f(v[1]), lab_f(v[2])
    return 116.0 * fy - 16.0, 500.0 * (fx - fy), 200.0 * (fy - fz)


def difference(v, w, kl=1.0):
    l1, a1, b1 = to_lab(v)
    l2, a2, b2 = to_lab(w)
    c1 = np.hypot(a1, b1)
    c2 = np.hypot(a2, b2)
    dl = (l1 - l2) / kl
    dc = (c1 - c2) / (1.0 + 0.045 * c1)
    dh2 = (a1 - a2) ** 2 + (b1 - b2) ** 2 - (c1 - c2) ** 2
    return np.sqrt(dl * dl + dc * dc + dh2 / (1.0 + 0.015 * c1) ** 2 + 1e-6)


def program(img, p, white, patches, reference):
    light = grey_edge(img, p)
    total = 0.0
    for k in range(patches.shape[0]):
        total += difference(adapt(patches[k], light, white), reference[k])
    return total / patches.shape[0]


def inputs(rng):
    return {
        "img": rng.uniform(0.1, 0.9, (4, 4, 3)),
        "p": 3.0,
        "white": np.array([0.6, 0.58, 0.55]),
        "patches": rng.uniform(0.2, 0.8, (3, 3)),
        "reference": rng.uniform(0.2, 0.8, (3, 3)),
    }
