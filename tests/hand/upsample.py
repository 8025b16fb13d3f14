"""An image at more points, linearly between its own."""

import numpy as np


def upsample(image, out):
    h, w = image.shape
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            v = y * (h - 1) / (out.shape[0] - 1)
            u = x * (w - 1) / (out.shape[1] - 1)
            j = min(int(v), h - 2)
            i = min(int(u), w - 2)
            a = v - j
            b = u - i
            top = (1.0 - b) * image[j, i] + b * image[j, i + 1]
            bottom = (1.0 - b) * image[j + 1, i] + b * image[j + 1, i + 1]
            out[y, x] = (1.0 - a) * top + a * bottom


def upsample_adjoint(image, out, d_out):
    h, w = image.shape
    d_image = np.zeros_like(image)
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            v = y * (h - 1) / (out.shape[0] - 1)
            u = x * (w - 1) / (out.shape[1] - 1)
            j = min(int(v), h - 2)
            i = min(int(u), w - 2)
            a = v - j
            b = u - i
            # out[y, x] = (1.0 - a) * top + a * bottom
            d_top = (1.0 - a) * d_out[y, x]
            d_bottom = a * d_out[y, x]
            d_image[j, i] += (1.0 - b) * d_top
            d_image[j, i + 1] += b * d_top
            d_image[j + 1, i] += (1.0 - b) * d_bottom
            d_image[j + 1, i + 1] += b * d_bottom
    return d_image, np.zeros_like(out)


def upsample_tangent(image, out, dot_image, dot_out):
    h, w = image.shape
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            v = y * (h - 1) / (out.shape[0] - 1)
            u = x * (w - 1) / (out.shape[1] - 1)
            j = min(int(v), h - 2)
            i = min(int(u), w - 2)
            a = v - j
            b = u - i
            top = (1.0 - b) * image[j, i] + b * image[j, i + 1]
            bottom = (1.0 - b) * image[j + 1, i] + b * image[j + 1, i + 1]
            out[y, x] = (1.0 - a) * top + a * bottom
            # linear in the image
            dot_top = (1.0 - b) * dot_image[j, i] + b * dot_image[j, i + 1]
            dot_bottom = (1.0 - b) * dot_image[j + 1, i] + b * dot_image[j + 1, i + 1]
            dot_out[y, x] = (1.0 - a) * dot_top + a * dot_bottom


def arguments(n, rng):
    return {
        "image": rng.normal(size=(n + 2, n + 3)),
        "out": rng.normal(size=(2 * n + 3, 2 * n + 2)),
    }
