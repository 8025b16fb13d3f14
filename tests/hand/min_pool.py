"""The least value of each tile of an image."""

import numpy as np


def min_pool(image, size, out):
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            least = image[size * y, size * x]
            for j in range(size):
                for i in range(size):
                    if image[size * y + j, size * x + i] < least:
                        least = image[size * y + j, size * x + i]
            out[y, x] = least


def min_pool_adjoint(image, size, out, d_out):
    d_image = np.zeros_like(image)
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            v, u = size * y, size * x
            for j in range(size):
                for i in range(size):
                    if image[size * y + j, size * x + i] < image[v, u]:
                        v, u = size * y + j, size * x + i
            # out[y, x] = least
            d_image[v, u] += d_out[y, x]
    return d_image, np.zeros_like(out)


def min_pool_tangent(image, size, out, dot_image, dot_out):
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            least = image[size * y, size * x]
            dot_least = dot_image[size * y, size * x]
            for j in range(size):
                for i in range(size):
                    if image[size * y + j, size * x + i] < least:
                        least = image[size * y + j, size * x + i]
                        dot_least = dot_image[size * y + j, size * x + i]
            out[y, x], dot_out[y, x] = least, dot_least


def arguments(n, rng):
    image = rng.permutation(4 * n * (n + 1)).reshape(2 * n, 2 * (n + 1)) * 0.1
    return {"image": image, "size": 2, "out": rng.normal(size=(n, n + 1))}
