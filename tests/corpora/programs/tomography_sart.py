"""Medical imaging: SART tomography with a ray-driven projector through a pixel grid."""

import numpy as np


def sample(img, y, x):
    n = img.shape[0]
    i = int(np.floor(y))
    j = int(np.floor(x))
    if i < 0 or j < 0 or i >= n - 1 or j >= n - 1:
        return 0.0
    a = y - i
    b = x - j
    return (
        (1 - a) * (1 - b) * img[i, j]
        + (1 - a) * b * img[i, j + 1]
        + a * (1 - b) * img[i + 1, j]
        + a * b * img[i + 1, j + 1]
    )


def spread(img, y, x, value):
    n = img.shape[0]
    i = int(np.floor(y))
    j = int(np.floor(x))
    if i < 0 or j < 0 or i >= n - 1 or j >= n - 1:
        return
    a = y - i
    b = x - j
    img[i, j] += (1 - a) * (1 - b) * value
    img[i, j + 1] += (1 - a) * b * value
    img[i + 1, j] += a * (1 - b) * value
    img[i + 1, j + 1] += a * b * value


def ray_point(theta, offset, s, n):
    c = 0.5 * (n - 1)
    return (
        c + offset * np.sin(theta) + s * np.cos(theta),
        c + offset * np.cos(theta) - s * np.sin(theta),
    )


def project(img, theta, offset, half):
    total = 0.0
    for k in range(-half, half + 1):
        y, x = ray_point(theta, offset, 0.7 * k, img.shape[0])
        total += sample(img, y, x)
    return 0.7 * total


def backproject(img, theta, offset, half, value):
    for k in range(-half, half + 1):
        y, x = ray_point(theta, offset, 0.7 * k, img.shape[0])
        spread(img, y, x, value)


def program(sino, angles, offsets, truth, relax, sweeps):
    n = truth.shape[0]
    img = np.zeros((n, n))
    for _ in range(sweeps):
        for a in range(len(angles)):
            correction = np.zeros((n, n))
            for d in range(len(offsets)):
                r = sino[a, d] - project(img, angles[a], offsets[d], n)
                backproject(correction, angles[a], offsets[d], n, r / n)
            img += relax * correction
    return np.sum((img - truth) ** 2)


def inputs(rng):
    return {
        "sino": rng.uniform(1.0, 3.0, (3, 3)),
        "angles": np.array([0.13, 1.17, 2.21]),
        "offsets": np.array([-1.03, 0.07, 0.98]),
        "truth": rng.uniform(0, 1, (5, 5)),
        "relax": 0.4,
        "sweeps": 2,
    }
