"""Frames of a star field: stars in the order of their flux in two bands that change
places, sky that is taken off in place while residuals are collected, an order that gets
shorter, ranks in sixteen bits, gaps that sort last, and a search that gives up.
"""

from __future__ import annotations

import numpy as np


def brightest(flux, most):
    """Places of the brightest stars first; gaps are behind all of them."""
    order = np.argsort(-flux)
    while len(order) > most:
        order = order[:-1]
    return order


def levelled(band, steps, most):
    """Takes the sky off `band` in place; what is left of the mean after each turn."""
    left = [band[0]]
    k = 0
    while np.nanmax(band) > steps[0]:
        band -= steps[1] * (k + 1)
        if k % 2 == 1:
            band *= 0.97
        left.append(np.nanmean(band) ** 2)
        k += 1
        if k > most:
            raise RuntimeError("the sky does not settle")
    return np.array(left)


def ranks_of(flux, flags):
    """Ranks among the stars that are flagged as good, others stay behind."""
    rank = np.zeros(len(flux), dtype=np.int16)
    order = np.argsort(np.where(flags > 0, flux, 9.0), kind="stable")
    for k in range(len(order)):
        rank[order[k]] = k
    return rank, order


def stacked(frames, weights, kept):
    """Each frame sorted by its own pixels; a sum in single precision beside it."""
    out = np.zeros(frames.shape)
    for i in range(frames.shape[0]):
        order = np.argsort(frames[i])
        for j in range(frames.shape[1]):
            out[i, order[j]] = frames[i, order[j]] * (j + 1) + weights[i]
            kept[0] += out[i, order[j]] * weights[0]
    return out


def relaxed(x, turns):
    """Each turn sorts what the last one left, and mixes neighbours in that order."""
    for turn in range(turns):
        order = x.argsort()
        for k in range(1, len(x)):
            x[order[k]] += 0.2 * x[order[k - 1]] ** 2 / (turn + 1)
    return x


def program(red, blue, sky, flags, steps, kept, frames):
    one, other = red.copy(), blue.copy()
    total = 0.0
    for turn in range(3):
        order = brightest(one, 5 - turn)
        total += np.nansum(one[order] * other[order]) * (turn + 1)
        if one[order[0]] > other[order[0]]:
            one, other = other, one
        rank, by_flag = ranks_of(one, flags)
        for i in range(len(one)):
            if not np.isnan(one[i]):
                total += one[i] ** 2 * rank[i] * 0.1
        total += one[by_flag[0]] * one[by_flag[1]]
    left = levelled(sky, steps, 30)
    total += np.sum(left * np.arange(1.0, len(left) + 1.0))
    piled = stacked(frames, steps, kept)
    mixed = relaxed(piled[1] * 0.1, 3)
    return total + np.sum(piled * piled) * 0.01, mixed, np.median(frames, axis=0)


def inputs(rng):
    red = 0.3 + rng.permutation(np.linspace(0.0, 1.0, 7))
    blue = 0.35 + rng.permutation(np.linspace(0.0, 0.9, 7))
    red[3], blue[5] = np.nan, np.nan
    return {
        "red": red,
        "blue": blue,
        "sky": 0.6 + rng.permutation(np.linspace(0.0, 0.7, 5)),
        "flags": np.array([255, 1, 0, 0, 7, 0, 2], np.uint8),
        "steps": np.array([0.513, 0.11]),
        "kept": np.array([0.5], np.float32),
        "frames": 0.2 + rng.permutation(np.linspace(0.0, 1.0, 12)).reshape(2, 6),
    }
