"""The loops of `layers.py`: what each layer computes, in plain Python.

`bilinear` samples an image where an affine map says, as the layer of Jaderberg et al.
(Spatial Transformer Networks, 2015). All samplers after it are the same loops:
`bicubic` and `lanczos` weigh more pixels by another kernel, `trilinear` has one axis
more, `warp` has a place for every pixel instead of a map (Ilg et al., FlowNet 2.0,
2017), and `slice_grid` reads affine maps of colours from a grid instead of colours from
an image (Gharbi et al., Deep Bilateral Learning, 2017).

Arrays are [batch, channel, ..., rows, columns]. Along each axis an affine map sees the
first pixel at -1 and the last at 1. What falls outside the image counts as zero.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

# ------------------------------------------------------------------ the kernels


def tent(t):
    """The weight of a pixel at distance t in linear interpolation, -1 <= t <= 1.

    At the kinks the derivative is that to the right, for both pixels alike.
    """
    return 1.0 - t if t >= 0.0 else 1.0 + t


def cubic(t):
    """That in cubic convolution (Keys 1981), -2 <= t <= 2."""
    a = abs(t)
    if a < 1.0:
        return (1.5 * a - 2.5) * a * a + 1.0
    return ((-0.5 * a + 2.5) * a - 4.0) * a + 2.0


def windowed_sinc(t):
    """That in Lanczos's interpolation with three lobes, -3 <= t <= 3."""
    s = math.pi * t
    if abs(t) < 1e-3:  # two terms of the series, where the quotient would cancel
        return 1.0 - 5.0 / 27.0 * s * s
    return 3.0 * math.sin(s) * math.sin(s / 3.0) / (s * s)


# ------------------------------------------------------------------ the samplers


def scaled(x, size):
    """Pixel x of an axis on the scale from -1 to 1."""
    return 2.0 * x / (size - 1) - 1.0


def pixel(u, size):
    """The reverse of it."""
    return 0.5 * (u + 1.0) * (size - 1)


def bilinear(image, theta, out):
    height, width = image.shape[2], image.shape[3]
    for n in range(out.shape[0]):
        for c in range(out.shape[1]):
            for y in range(out.shape[2]):
                for x in range(out.shape[3]):
                    gx = scaled(x, out.shape[3])
                    gy = scaled(y, out.shape[2])
                    au = theta[n, 0, 0] * gx + theta[n, 0, 1] * gy + theta[n, 0, 2]
                    av = theta[n, 1, 0] * gx + theta[n, 1, 1] * gy + theta[n, 1, 2]
                    u = pixel(au, width)
                    v = pixel(av, height)
                    left = math.floor(u)
                    top = math.floor(v)
                    value = 0.0
                    for j in range(top, top + 2):
                        weight_y = tent(v - j)
                        for i in range(left, left + 2):
                            if 0 <= j < height and 0 <= i < width:
                                weight = weight_y * tent(u - i)
                                value += weight * image[n, c, j, i]
                    out[n, c, y, x] = value


def bicubic(image, theta, out):
    height, width = image.shape[2], image.shape[3]
    for n in range(out.shape[0]):
        for c in range(out.shape[1]):
            for y in range(out.shape[2]):
                for x in range(out.shape[3]):
                    gx = scaled(x, out.shape[3])
                    gy = scaled(y, out.shape[2])
                    au = theta[n, 0, 0] * gx + theta[n, 0, 1] * gy + theta[n, 0, 2]
                    av = theta[n, 1, 0] * gx + theta[n, 1, 1] * gy + theta[n, 1, 2]
                    u = pixel(au, width)
                    v = pixel(av, height)
                    left = math.floor(u)
                    top = math.floor(v)
                    value = 0.0
                    for j in range(top - 1, top + 3):
                        weight_y = cubic(v - j)
                        for i in range(left - 1, left + 3):
                            if 0 <= j < height and 0 <= i < width:
                                weight = weight_y * cubic(u - i)
                                value += weight * image[n, c, j, i]
                    out[n, c, y, x] = value


def lanczos(image, theta, out):
    """Its weights do not quite sum to one, so they are divided by their sum."""
    height, width = image.shape[2], image.shape[3]
    for n in range(out.shape[0]):
        for c in range(out.shape[1]):
            for y in range(out.shape[2]):
                for x in range(out.shape[3]):
                    gx = scaled(x, out.shape[3])
                    gy = scaled(y, out.shape[2])
                    au = theta[n, 0, 0] * gx + theta[n, 0, 1] * gy + theta[n, 0, 2]
                    av = theta[n, 1, 0] * gx + theta[n, 1, 1] * gy + theta[n, 1, 2]
                    u = pixel(au, width)
                    v = pixel(av, height)
                    left = math.floor(u)
                    top = math.floor(v)
                    value = 0.0
                    total = 0.0
                    for j in range(top - 2, top + 4):
                        weight_y = windowed_sinc(v - j)
                        for i in range(left - 2, left + 4):
                            weight = weight_y * windowed_sinc(u - i)
                            total += weight
                            if 0 <= j < height and 0 <= i < width:
                                value += weight * image[n, c, j, i]
                    out[n, c, y, x] = value / total


def trilinear(image, theta, out):
    depth, height, width = image.shape[2], image.shape[3], image.shape[4]
    for n in range(out.shape[0]):
        for c in range(out.shape[1]):
            for z in range(out.shape[2]):
                for y in range(out.shape[3]):
                    for x in range(out.shape[4]):
                        gx = scaled(x, out.shape[4])
                        gy = scaled(y, out.shape[3])
                        gz = scaled(z, out.shape[2])
                        au = theta[n, 0, 0] * gx + theta[n, 0, 1] * gy
                        av = theta[n, 1, 0] * gx + theta[n, 1, 1] * gy
                        aw = theta[n, 2, 0] * gx + theta[n, 2, 1] * gy
                        u = pixel(au + theta[n, 0, 2] * gz + theta[n, 0, 3], width)
                        v = pixel(av + theta[n, 1, 2] * gz + theta[n, 1, 3], height)
                        w = pixel(aw + theta[n, 2, 2] * gz + theta[n, 2, 3], depth)
                        left = math.floor(u)
                        top = math.floor(v)
                        front = math.floor(w)
                        value = 0.0
                        for k in range(front, front + 2):
                            for j in range(top, top + 2):
                                weight_zy = tent(w - k) * tent(v - j)
                                for i in range(left, left + 2):
                                    if (
                                        0 <= k < depth
                                        and 0 <= j < height
                                        and 0 <= i < width
                                    ):
                                        weight = weight_zy * tent(u - i)
                                        value += weight * image[n, c, k, j, i]
                        out[n, c, z, y, x] = value


def warp(image, flow, out):
    """The flow [batch, 2, rows, columns] is in pixels, first along the rows."""
    height, width = image.shape[2], image.shape[3]
    for n in range(out.shape[0]):
        for c in range(out.shape[1]):
            for y in range(out.shape[2]):
                for x in range(out.shape[3]):
                    u = x + flow[n, 0, y, x]
                    v = y + flow[n, 1, y, x]
                    left = math.floor(u)
                    top = math.floor(v)
                    value = 0.0
                    for j in range(top, top + 2):
                        weight_y = tent(v - j)
                        for i in range(left, left + 2):
                            if 0 <= j < height and 0 <= i < width:
                                weight = weight_y * tent(u - i)
                                value += weight * image[n, c, j, i]
                    out[n, c, y, x] = value


def slice_grid(image, guide, grid, out):
    """To each pixel the affine map of colours that the grid has at its place and guide.

    The grid is [batch, channel out, channel in and one, depth, rows, columns]; the
    guide [batch, rows, columns] goes through its depth from 0 to 1. Cells at the border
    go on outside.
    """
    channels = image.shape[1]
    depth, rows, columns = grid.shape[3], grid.shape[4], grid.shape[5]
    for n in range(out.shape[0]):
        for y in range(out.shape[2]):
            for x in range(out.shape[3]):
                u = (x + 0.5) * columns / out.shape[3] - 0.5
                v = (y + 0.5) * rows / out.shape[2] - 0.5
                w = guide[n, y, x] * depth - 0.5
                left = math.floor(u)
                top = math.floor(v)
                front = math.floor(w)
                for d in range(out.shape[1]):
                    value = 0.0
                    for c in range(channels + 1):
                        coefficient = 0.0
                        for k in range(front, front + 2):
                            for j in range(top, top + 2):
                                for i in range(left, left + 2):
                                    weight = tent(w - k) * tent(v - j) * tent(u - i)
                                    at_k = min(max(k, 0), depth - 1)
                                    at_j = min(max(j, 0), rows - 1)
                                    at_i = min(max(i, 0), columns - 1)
                                    coefficient += (
                                        weight * grid[n, d, c, at_k, at_j, at_i]
                                    )
                        value += coefficient * (
                            image[n, c, y, x] if c < channels else 1.0
                        )
                    out[n, d, y, x] = value


# ------------------------------------------------------------------ small arguments


def small_arguments() -> dict[str, tuple[Any, ...]]:
    """Those of each layer's loop for a few pixels, with places beyond all borders."""
    rng = np.random.default_rng(3)
    image, out = rng.random((2, 1, 3, 4)), np.zeros((2, 1, 3, 4))
    theta = np.eye(2, 3) + rng.normal(0, 0.3, (2, 2, 3))
    solid, into = rng.random((1, 1, 2, 3, 2)), np.zeros((1, 1, 2, 3, 2))
    motion = np.eye(3, 4) + rng.normal(0, 0.3, (1, 3, 4))
    guide, grid = rng.uniform(-0.1, 1.1, (1, 3, 4)), rng.random((1, 1, 3, 3, 2, 2))
    return {
        "bilinear": (image, theta, out),
        "bicubic": (image, theta, out),
        "lanczos": (image, theta, out),
        "trilinear": (solid, motion, into),
        "warp": (image, rng.uniform(-2, 2, (2, 2, 3, 4)), out),
        "slice_grid": (rng.random((1, 2, 3, 4)), guide, grid, np.zeros((1, 1, 3, 4))),
    }
