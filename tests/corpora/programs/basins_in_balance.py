"""Basins that feed each other, in balance: levels are solutions, not steps, of helpers
that solve for arrays and for single numbers, from where the last solution was. Inflows
are missing as nan, codes are bytes, two scenarios change places where one is drier, and
the first and the last basin have rows of their own.
"""

from __future__ import annotations

import numpy as np

import pyrev


def known(inflow, code):
    """Inflows with what is missing or flagged taken from the basin before."""
    filled = np.zeros(len(inflow))
    for i in range(len(inflow)):
        if np.isnan(inflow[i]) or code[i] > 100:
            filled[i] = 0.5 * filled[i - 1] if i > 0 else 0.1
        else:
            filled[i] = inflow[i]
    return filled


def exchanged(level, inflow, leak):
    """Levels after one turn: what turns between neighbours draws in on a spiral."""
    n = len(level)
    new = inflow.copy()
    for i in range(n):
        if i == 0:
            new[i] += leak * level[n - 1]
        elif i == n - 1:
            new[i] -= 0.9 * leak * np.sin(level[0])
        else:
            new[i] += leak * np.tanh(level[i - 1]) - 0.3 * leak * level[i + 1]
    return new


def levels(inflow, leak, before):
    """The levels in balance; dry basins have none."""
    if np.sum(inflow) < 0.05:
        return np.zeros(len(inflow))
    return pyrev.fixed_point(exchanged, before, inflow, leak)


def spilled(depth, level, exponent):
    return depth + 0.2 * abs(depth) ** exponent - level


def depths(level, exponent, code):
    """Depths at the weirs, one by one, but for those that bytes shut."""
    depth = np.zeros(len(level))
    guess = 0.5
    for i in range(len(level)):
        if (code[i] + code[i]) % 4 == 2:
            continue
        guess = pyrev.root(spilled, guess, level[i], exponent)
        depth[i] = guess
    return depth


def program(wet, dry, code, leak, exponent, years):
    total = 0.0
    one = known(wet, code)
    other = known(dry, code)
    state = np.zeros(len(one))
    last = state
    for year in range(years):
        state = levels(one, leak, state)
        last = depths(state, exponent, code)
        lost = np.sum(last * one) / (1.0 + year)
        total += lost + np.sum(state**2)
        if lost > np.sum(other):
            one, other = other, one
        one = one * (1.0 - 0.1 * last / (1.0 + np.max(np.abs(last))))
    return total, last, other


def inputs(rng):
    wet = 0.3 + rng.permutation(np.linspace(0.0, 0.6, 6))
    dry = 0.1 + rng.permutation(np.linspace(0.0, 0.2, 6))
    wet[[2, 4]] = np.nan
    dry[0] = np.nan
    return {
        "wet": wet,
        "dry": dry,
        "code": np.array([0, 1, 2, 255, 129, 4], np.uint8),
        "leak": 0.7,
        "exponent": 1.6,
        "years": 4,
    }
