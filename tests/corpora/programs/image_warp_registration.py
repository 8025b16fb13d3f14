"""Medical imaging: affine registration with bilinear samples and mutual smoothness."""

import math

import numpy as np


def bilinear(img, y, x):
    h, w = img.shape
    if y < 0.0 or x < 0.0 or y > h - 1.0 or x > w - 1.0:
        return 0.0
    y0 = int(math.floor(y))
    x0 = int(math.floor(x))
    y1 = min(y0 + 1, h - 1)
    x1 = min(x0 + 1, w - 1)
    fy = y - y0
    fx = x - x0
    top = img[y0, x0] * (1 - fx) + img[y0, x1] * fx
    bottom = img[y1, x0] * (1 - fx) + img[y1, x1] * fx
    return top * (1 - fy) + bottom * fy


def transform(params, y, x, cy, cx):
    c = math.cos(params[0])
    s = math.sin(params[0])
    scale = math.exp(params[1])
    dy = y - cy
    dx = x - cx
    return (
        cy + scale * (c * dy - s * dx) + params[2],
        cx + scale * (s * dy + c * dx) + params[3],
    )


def warp(img, params):
    h, w = img.shape
    out = np.zeros((h, w))
    for i in range(h):
        for j in range(w):
            y, x = transform(params, i, j, 0.5 * (h - 1), 0.5 * (w - 1))
            out[i, j] = bilinear(img, y, x)
    return out


def ncc(a, b):
    ma = a.mean()
    mb = b.mean()
    num = np.sum((a - ma) * (b - mb))
    den = np.sqrt(np.sum((a - ma) ** 2) * np.sum((b - mb) ** 2))
    return num / den


def program(moving, fixed, params):
    return 1.0 - ncc(warp(moving, params), fixed) + 1e-2 * np.sum(params**2)


def inputs(rng):
    return {
        "moving": rng.uniform(0, 1, (6, 6)),
        "fixed": rng.uniform(0, 1, (6, 6)),
        "params": np.array([0.11, -0.07, 0.23, -0.31]),
    }
