"""Spectral peaks: where they are data decides, gaps are nan, and what is cut out around
one is as long as the place allows; spectra change places while lines are removed.
"""

from __future__ import annotations

import numpy as np


def highest(spectrum, flags):
    """Where the highest point is that has no flag, and how far the line reaches."""
    best = 0
    reach = 1
    top = -1.0
    for k in range(spectrum.shape[0]):
        if np.isnan(spectrum[k]) or flags[k] != 0:
            continue
        if spectrum[k] > top:
            best = k
            top = spectrum[k]
            reach = 2 if k > 2 else 1
    return best, reach


def around(spectrum, best, reach):
    """The points around a peak; fewer of them near the ends."""
    first = max(best - reach, 0)
    last = min(best + reach, spectrum.shape[0] - 1)
    return spectrum[first : last + 1], first, last


def without_line(spectrum, kernel, best, first, last):
    """The spectrum with a line taken out, from the top down to where it ends."""
    rest = spectrum.copy()
    stop = last
    for k in range(first, last + 1):
        tail = spectrum[k:] * kernel[abs(k - best)]
        for j in range(tail.shape[0]):
            if j == 0 and not np.isnan(tail[j]):
                rest[k] -= tail[j]
        if rest[k] < 0.05:
            stop = k
            break
    rest[stop] = rest[stop] + 0.5 * kernel[0]
    return rest


def shrunk(spectrum, level):
    """Shrinks what stands out, in place."""
    high = spectrum > level
    spectrum[high] *= 0.5 * spectrum[high]
    return spectrum


def program(spectrum, other, kernel, flags, lines):
    a, b = spectrum.copy(), other.copy()
    total = 0.0
    found = np.zeros(lines)
    last = -1
    for n in range(lines):
        best, reach = highest(a, flags)
        near, first, last = around(a, best, reach)
        weight = np.nansum(near)
        found[n] = a[best] * weight
        rest = without_line(a, kernel, best, first, last)
        if weight > 1.2:
            a, b = b, rest
        else:
            a = shrunk(rest, 0.6)
        total += (n + 1) * np.nansum(a * b)
        if not np.isnan(a[last]):
            total += a[last] * a[last]
    return found, total + found[lines - 1] ** 2


def inputs(rng):
    spectrum = 0.2 + 0.8 * rng.permutation(np.linspace(0.0, 1.0, 9))
    other = 0.3 + 0.6 * rng.permutation(np.linspace(0.0, 1.0, 9))
    spectrum[8] = other[0] = np.nan
    flags = np.zeros(9, np.int8)
    flags[5] = -128
    return {
        "spectrum": spectrum,
        "other": other,
        "kernel": np.array([0.6, 0.3, 0.15, 0.05]),
        "flags": flags,
        "lines": 3,
    }
