"""A blur along the rows, then along the columns."""

import numpy as np


def separable(image, kernel, out):
    taps = kernel.shape[0]
    rows = np.zeros((image.shape[0], out.shape[1]))
    for y in range(image.shape[0]):
        for x in range(out.shape[1]):
            for i in range(taps):
                rows[y, x] += image[y, x + i] * kernel[i]
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            total = 0.0
            for j in range(taps):
                total += rows[y + j, x] * kernel[j]
            out[y, x] = total


def separable_adjoint(image, kernel, out, d_out):
    taps = kernel.shape[0]
    rows = np.zeros((image.shape[0], out.shape[1]))
    for y in range(image.shape[0]):
        for x in range(out.shape[1]):
            for i in range(taps):
                rows[y, x] += image[y, x + i] * kernel[i]
    d_kernel = np.zeros_like(kernel)
    d_rows = np.zeros_like(rows)
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            for j in range(taps):
                # total += rows[y + j, x] * kernel[j]
                d_rows[y + j, x] += d_out[y, x] * kernel[j]
                d_kernel[j] += d_out[y, x] * rows[y + j, x]
    d_image = np.zeros_like(image)
    for y in range(image.shape[0]):
        for x in range(out.shape[1]):
            for i in range(taps):
                # rows[y, x] += image[y, x + i] * kernel[i]
                d_image[y, x + i] += d_rows[y, x] * kernel[i]
                d_kernel[i] += d_rows[y, x] * image[y, x + i]
    return d_image, d_kernel, np.zeros_like(out)


def separable_tangent(image, kernel, out, dot_image, dot_kernel, dot_out):
    taps = kernel.shape[0]
    rows = np.zeros((image.shape[0], out.shape[1]))
    dot_rows = np.zeros_like(rows)
    for y in range(image.shape[0]):
        for x in range(out.shape[1]):
            for i in range(taps):
                rows[y, x] += image[y, x + i] * kernel[i]
                dot_rows[y, x] += (
                    dot_image[y, x + i] * kernel[i] + image[y, x + i] * dot_kernel[i]
                )
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            total = dot_total = 0.0
            for j in range(taps):
                total += rows[y + j, x] * kernel[j]
                dot_total += (
                    dot_rows[y + j, x] * kernel[j] + rows[y + j, x] * dot_kernel[j]
                )
            out[y, x], dot_out[y, x] = total, dot_total


def arguments(n, rng):
    return {
        "image": rng.normal(size=(n + 2, n + 4)),
        "kernel": rng.normal(size=3),
        "out": rng.normal(size=(n, n + 2)),
    }
