"""The functions whose generated text is reviewed: one golden file each."""

from __future__ import annotations


def conv2d(image, kernel, out):
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            for j in range(kernel.shape[0]):
                for i in range(kernel.shape[1]):
                    out[y, x] += image[y + j, x + i] * kernel[j, i]


def laplacian(u, out):
    for i in range(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            neighbours = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
            out[i, j] = neighbours - 4.0 * u[i, j]


def strided(signal, weights, out):
    for x in range(out.shape[0]):
        for k in range(weights.shape[0]):
            out[x] += signal[3 * x + 2 * k] * weights[k]


def upsample(coarse, fine):
    for x in range(fine.shape[0]):
        fine[x] = coarse[x // 4] ** 2


def smooth_clamped(a, b):
    n = a.shape[0]
    for x in range(n):
        for r in range(3):
            b[x] += a[min(max(x + r - 1, 0), n - 1)]


def logistic_map(x, steps):
    for t in range(steps):  # noqa: B007
        for i in range(x.shape[0]):
            x[i] = 3.7 * x[i] * (1.0 - x[i])


def masked(a, g):
    for i in range(g.shape[0]):
        g[i] = a[i] * a[i]
    g[1] = 2.0


KERNELS = (conv2d, laplacian, strided, upsample, smooth_clamped, logistic_map, masked)
