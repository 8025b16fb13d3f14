# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Plain functions that the emitters print; tests run text and function side by side."""

from __future__ import annotations

import math

import numpy as np


def blur(image, kernel, out):
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            for j in range(kernel.shape[0]):
                for i in range(kernel.shape[1]):
                    out[y, x] += image[y + j, x + i] * kernel[j, i]


def total(a, w):
    s = 0.0
    for i in range(a.shape[0]):
        d = a[i] - w[i]
        s += d * d
    return s


def prefix(a):
    for i in range(1, a.shape[0]):
        a[i] += a[i - 1]


def backwards(a, b):
    for i in reversed(range(1, a.shape[0])):
        b[i - 1] = b[i - 1] + 0.5 * a[i]
    for i in range(a.shape[0] - 1, -1, -2):
        b[i] -= a[i]
    for i in reversed(range(0, a.shape[0], 3)):
        b[i] = b[i] * 2.0 + i


def negative_index(a, b):
    for i in range(a.shape[0]):
        b[i] = a[i - 1] + a[-1]


def floors(k, m, out):
    for i in range(k.shape[0]):
        out[i, 0] = k[i] // m[i]
        out[i, 1] = k[i] % m[i]
        out[i, 2] = (k[i] + 0.5) // m[i]
        out[i, 3] = (k[i] + 0.5) % m[i]
        out[i, 4] = (-k[i]) // 3 + k[i] % -4


def guarded(a, table, out):
    n = a.shape[0]
    for i in range(table.shape[0]):
        k = table[i]
        if 0 <= k < n and a[k] > 0:
            out[i] = a[k]
        else:
            out[i] = a[k] if k < n and k >= 0 else -1.0


def histogram(table, weight, bins):
    for i in range(table.shape[0]):
        bins[table[i]] += weight[i]


def triangle(a, n):
    s = 0.0
    local = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            local[i, j] = a[i] * a[j]
    for i in range(n):
        for j in range(i, n):
            s += local[j, i]
    return s, local


def promoted(a, k, scale):
    s = 0.0
    t = 0
    for i in range(a.shape[0]):
        s += a[i] * scale + i * a[i] / 3
        t += k[i]
        a[i] = a[i] * k[i] + 0.1
    return s, t, s * 2


def elementary(a, out):
    for i in range(a.shape[0]):
        x = a[i]
        out[i, 0] = math.exp(-x * x) + np.sin(x) ** 2 - np.cbrt(x)
        out[i, 1] = math.erf(x) + math.atan2(x, 2.0) + np.hypot(x, 1.0)
        out[i, 2] = max(x, 0.0) - min(x, 1.0, 0.5) + abs(x)
        out[i, 3] = (1.0 + x * x) ** -2 + np.sign(x) + x**3
        out[i, 4] = math.floor(x) + round(x) + np.rint(x) + int(x)
        out[i, 5] = np.minimum(x, 0.25) + np.where(x > 0, x, -2 * x)
        out[i, 6] = 1.0 if x > 0.5 or not x > -0.5 else x % 0.3


def in_time(u, v, steps):
    n = u.shape[0]
    for _t in range(steps):
        for i in range(1, n - 1):
            v[i] = u[i] + 0.1 * (u[i - 1] - 2.0 * u[i] + u[i + 1])
        for i in range(1, n - 1):
            u[i] = v[i]


def chooses(a, flag, n):
    s = 0.0
    if flag:
        for i in range(n):
            s += a[i]
    else:
        s = a[0]
    return s, n


def divides(k, n):
    s = 0
    for i in range(k.shape[0]):
        s += n // k[i]
    return s
