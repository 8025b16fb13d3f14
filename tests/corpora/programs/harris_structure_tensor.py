"""Computer vision: the Harris response with Gaussian windows, soft corner count."""

import numpy as np


def gaussian_kernel(sigma, radius):
    k = np.zeros(2 * radius + 1)
    for i in range(-radius, radius + 1):
        k[i + radius] = np.exp(-0.5 * (i / sigma) ** 2)
    k /= k.sum()
    return k


def reflect(i, n):
    if i < 0:
        return -i - 1
    if i >= n:
        return 2 * n - i - 1
    return i


def blur(img, k):
    h, w = img.shape
    r = len(k) // 2
    tmp = np.zeros_like(img)
    out = np.zeros_like(img)
    for y in range(h):
        for x in range(w):
            for d in range(-r, r + 1):
                tmp[y, x] += k[d + r] * img[y, reflect(x + d, w)]
    for y in range(h):
        for x in range(w):
            for d in range(-r, r + 1):
                out[y, x] += k[d + r] * tmp[reflect(y + d, h), x]
    return out


def sobel(img):
    gx = np.zeros_like(img)
    gy = np.zeros_like(img)
    a = img[:-2, :-2]
    b = img[:-2, 1:-1]
    c = img[:-2, 2:]
    d = img[1:-1, :-2]
    f = img[1:-1, 2:]
    g = img[2:, :-2]
    h = img[2:, 1:-1]
    i = img[2:, 2:]
    gx[1:-1, 1:-1] = (c + 2 * f + i - a - 2 * d - g) / 8
    gy[1:-1, 1:-1] = (g + 2 * h + i - a - 2 * b - c) / 8
    return gx, gy


def program(img, sigma, kappa, threshold):
    gx, gy = sobel(img)
    k = gaussian_kernel(sigma, 1)
    sxx = blur(gx * gx, k)
    syy = blur(gy * gy, k)
    sxy = blur(gx * gy, k)
    r = sxx * syy - sxy**2 - kappa * (sxx + syy) ** 2
    return np.sum(1.0 / (1.0 + np.exp(-50.0 * (r - threshold))))


def inputs(rng):
    return {
        "img": rng.uniform(0, 1, (6, 6)),
        "sigma": 0.9,
        "kappa": 0.05,
        "threshold": 0.002,
    }
