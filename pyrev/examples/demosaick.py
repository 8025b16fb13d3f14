"""Demosaicking with learned filters: AHD's pipeline, its green filters trained.

python -m pyrev.examples.demosaick --output demosaick.png
"""

from __future__ import annotations

import numpy as np

# ------------------------------------------------------------------ the loops

# A mosaic [y, x] has red where y and x are even, blue where both are odd, green
# elsewhere; `sites` [3, y, x] is 1 where it sees that colour, else 0. Candidate k is
# the image that follows from the green of filter k.


def interpolate(mosaic, filters, count, green):
    """What each filter [k, 7, 7] makes of the mosaic."""
    for y in range(3, mosaic.shape[0] - 3):
        for k in range(count):
            for x in range(3, mosaic.shape[1] - 3):
                for j in range(7):
                    for i in range(7):
                        green[k, y, x] += (
                            filters[k, j, i] * mosaic[y + j - 3, x + i - 3]
                        )


def subtract(mosaic, sites, count, green, known):
    """Red and blue minus green, where the mosaic has them."""
    for y in range(3, mosaic.shape[0] - 3):
        for k in range(count):
            for c in range(2):
                for x in range(3, mosaic.shape[1] - 3):
                    known[k, c, y, x] = sites[2 * c, y, x] * (
                        mosaic[y, x] - green[k, y, x]
                    )


def spread(known, tent, count, colour):
    """These differences at all pixels: bilinear interpolation."""
    for y in range(4, known.shape[2] - 4):
        for k in range(count):
            for c in range(2):
                for x in range(4, known.shape[3] - 4):
                    for j in range(3):
                        for i in range(3):
                            colour[k, c, y, x] += (
                                tent[j, i] * known[k, c, y + j - 1, x + i - 1]
                            )


def judge(colour, choice, count, unrest):
    """How much the differences change along x and y, each as much as is chosen."""
    for y in range(5, colour.shape[2] - 5):
        for k in range(count):
            for x in range(5, colour.shape[3] - 5):
                for c in range(2):
                    right = colour[k, c, y, x + 1] - colour[k, c, y, x - 1]
                    down = colour[k, c, y + 1, x] - colour[k, c, y - 1, x]
                    unrest[k, y, x] += (choice[k, 0] * right) ** 2
                    unrest[k, y, x] += (choice[k, 1] * down) ** 2


def weigh(unrest, count, weight):
    """Weights of the candidates: homogeneous ones, over 3 x 3 pixels, count most."""
    for y in range(8, unrest.shape[1] - 8):
        for k in range(count):
            for x in range(8, unrest.shape[2] - 8):
                total = 1e-6
                for j in range(-1, 2):
                    for i in range(-1, 2):
                        total += unrest[k, y + j, x + i]
                weight[k, y, x] = 1.0 / total


def merge(mosaic, sites, green, colour, weight, count, image):
    """The weighted mean of the candidates."""
    for y in range(8, green.shape[1] - 8):
        for x in range(8, green.shape[2] - 8):
            whole = 0.0
            g = 0.0
            r = 0.0
            b = 0.0
            for k in range(count):
                whole += weight[k, y, x]
                g += weight[k, y, x] * green[k, y, x]
                r += weight[k, y, x] * colour[k, 0, y, x]
                b += weight[k, y, x] * colour[k, 1, y, x]
            g /= whole
            g += sites[1, y, x] * (mosaic[y, x] - g)
            image[0, y, x] = g + r / whole
            image[1, y, x] = g
            image[2, y, x] = g + b / whole


def demosaick(mosaic, sites, tent, filters, choice, count, image):
    green = np.zeros((count, mosaic.shape[0], mosaic.shape[1]), dtype=mosaic.dtype)
    unrest = np.zeros_like(green)
    weight = np.zeros_like(green)
    known = np.zeros((count, 2, mosaic.shape[0], mosaic.shape[1]), dtype=mosaic.dtype)
    colour = np.zeros_like(known)
    interpolate(mosaic, filters, count, green)
    subtract(mosaic, sites, count, green, known)
    spread(known, tent, count, colour)
    judge(colour, choice, count, unrest)
    weigh(unrest, count, weight)
    merge(mosaic, sites, green, colour, weight, count, image)


def loss(mosaic, truth, counted, sites, tent, filters, choice, count, image):
    """The squared error, of the pixels that count."""
    demosaick(mosaic, sites, tent, filters, choice, count, image)
    total = 0.0
    for y in range(truth.shape[1]):
        for c in range(3):
            for x in range(truth.shape[2]):
                error = image[c, y, x] - truth[c, y, x]
                total += counted[y, x] * error * error
    return total
