"""Image processing: a bilateral filter with clamped borders and its detail energy."""

import numpy as np


def clamp(v, lo, hi):
    return max(lo, min(v, hi))


def spatial_kernel(radius, sigma_s):
    size = 2 * radius + 1
    k = np.zeros((size, size))
    for dy in range(-radius, radius + 1):
        for dx in range(-radius, radius + 1):
            k[dy + radius, dx + radius] = np.exp(
                -(dx * dx + dy * dy) / (2 * sigma_s**2)
            )
    return k


def bilateral(img, radius, sigma_s, sigma_r):
    h, w = img.shape
    kernel = spatial_kernel(radius, sigma_s)
    out = np.empty_like(img)
    for y in range(h):
        for x in range(w):
            centre = img[y, x]
            acc = 0.0
            norm = 0.0
            for dy in range(-radius, radius + 1):
                yy = clamp(y + dy, 0, h - 1)
                for dx in range(-radius, radius + 1):
                    xx = clamp(x + dx, 0, w - 1)
                    diff = img[yy, xx] - centre
                    wgt = kernel[dy + radius, dx + radius]
                    wgt = wgt * np.exp(-diff * diff / (2 * sigma_r**2))
                    acc += wgt * img[yy, xx]
                    norm += wgt
            out[y, x] = acc / norm
    return out


def program(img, reference, sigma_s, sigma_r, radius=1):
    base = bilateral(img, radius, sigma_s, sigma_r)
    detail = img - base
    boosted = base + 1.5 * detail
    return np.mean((boosted - reference) ** 2)


def inputs(rng):
    return {
        "img": rng.uniform(0, 1, (5, 6)),
        "reference": rng.uniform(0, 1, (5, 6)),
        "sigma_s": 1.2,
        "sigma_r": 0.4,
    }
