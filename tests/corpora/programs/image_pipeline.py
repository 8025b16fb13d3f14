"""Photography: black level, white balance, box demosaic, colour matrix, gamma."""

import numpy as np


def black_level(raw, black, white):
    out = np.empty_like(raw)
    for y in range(raw.shape[0]):
        for x in range(raw.shape[1]):
            out[y, x] = (raw[y, x] - black) / (white - black)
    return out


def channel_of(y, x):
    # RGGB
    if y % 2 == 0:
        return 0 if x % 2 == 0 else 1
    return 1 if x % 2 == 0 else 2


def demosaic(mosaic, gains):
    h, w = mosaic.shape
    rgb = np.zeros((h, w, 3))
    for y in range(h):
        for x in range(w):
            for c in range(3):
                total = 0.0
                count = 0
                for dy in (-1, 0, 1):
                    for dx in (-1, 0, 1):
                        yy, xx = y + dy, x + dx
                        if 0 <= yy < h and 0 <= xx < w and channel_of(yy, xx) == c:
                            total += mosaic[yy, xx]
                            count += 1
                rgb[y, x, c] = gains[c] * total / count
    return rgb


def colour_matrix(rgb, m):
    h, w, _ = rgb.shape
    for y in range(h):
        for x in range(w):
            r, g, b = rgb[y, x, 0], rgb[y, x, 1], rgb[y, x, 2]
            for c in range(3):
                rgb[y, x, c] = m[c, 0] * r + m[c, 1] * g + m[c, 2] * b


def tone(v, gamma):
    if v <= 0.0031308:
        return 12.92 * v
    return 1.055 * v ** (1.0 / gamma) - 0.055


def program(raw, black, gains, m, gamma, target):
    rgb = demosaic(black_level(raw, black, 1.0), gains)
    colour_matrix(rgb, m)
    loss = 0.0
    for y in range(raw.shape[0]):
        for x in range(raw.shape[1]):
            for c in range(3):
                loss += (tone(rgb[y, x, c], gamma) - target[y, x, c]) ** 2
    return loss


def inputs(rng):
    return {
        "raw": rng.uniform(0.2, 0.8, (4, 4)),
        "black": 0.06,
        "gains": np.array([1.9, 1.0, 1.5]),
        "m": np.eye(3) + 0.1 * rng.uniform(-1, 1, (3, 3)),
        "gamma": 2.4,
        "target": rng.uniform(0, 1, (4, 4, 3)),
    }
