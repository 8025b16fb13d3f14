"""PyTorch #185509: interpolation, convolution, pooling and a mask had wrong gradients.

A mask chooses between a convolution of a stretched image and its running maximum.
"""

from __future__ import annotations

import numpy as np

from tests.corpora.entry import Entry


def stretch(image, big):
    for y in range(big.shape[0]):
        for x in range(big.shape[1]):
            v = max(0.0, (y + 0.5) / 1.5 - 0.5)
            u = max(0.0, (x + 0.5) / 1.25 - 0.5)
            i, j = int(v), int(u)
            below = min(i + 1, image.shape[0] - 1)
            right = min(j + 1, image.shape[1] - 1)
            p, q = v - i, u - j
            big[y, x] = (1 - p) * ((1 - q) * image[i, j] + q * image[i, right]) + p * (
                (1 - q) * image[below, j] + q * image[below, right]
            )


def convolve(big, weight, bias, conv):
    h, w = conv.shape
    for y in range(h):
        for x in range(w):
            acc = bias
            for j in range(3):
                for i in range(3):
                    if 0 <= y + j - 1 < h and 0 <= x + i - 1 < w:
                        acc += big[y + j - 1, x + i - 1] * weight[j, i]
            conv[y, x] = acc


def pooled(image, weight, bias, mask, out):
    h, w = out.shape
    big = np.empty((h, w))
    conv = np.empty((h, w))
    pool = np.empty((h, w))
    stretch(image, big)
    convolve(big, weight, bias, conv)
    for y in range(h):
        for x in range(w):
            highest = -np.inf
            for j in range(max(0, y - 1), min(h, y + 2)):
                for i in range(max(0, x - 1), min(w, x + 2)):
                    if conv[j, i] > highest:
                        highest = conv[j, i]
            pool[y, x] = highest
    out[:] = np.where(mask, conv, pool)


def arguments(n, m):
    h, w = 3 * n // 2, 5 * n // 4
    return dict(
        image=m(n, n),
        weight=m(3, 3),
        bias=m.scalar(),
        mask=m.indices(2, h, w).astype(bool),
        out=m(h, w),
    )


ENTRY = Entry("pooled", pooled, arguments, ("out",), least=2, real=5)
