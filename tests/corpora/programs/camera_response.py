"""Photography: a camera's response from counts of eight bits, with gaps."""

import numpy as np


def stretched(counts, black):
    """Levels between the median and the 90th percentile, from uint8 counts."""
    low = np.median(counts)
    span = np.ptp(counts) + black
    return (counts - low) / span, low


def response(levels, table):
    grid = np.array([0, 64, 128, 255], dtype=np.uint8)
    return np.interp(levels * 60.0 + 100.0, grid, table)


def exchanged(a, b, codes):
    """The two rows change places where a code wraps below zero."""
    for k in range(codes.shape[0]):
        codes_k = codes[k] + codes[k]
        if codes_k < 0:
            a, b = b, a
        else:
            a[k] *= 1.05
        b[k] = b[k] + 0.1 * a[k] * codes_k / 100.0
    return a, b


def weighted(x, seen, counts):
    good = ~np.isnan(seen) & (x > np.nanmin(seen) - 5.0)
    w = np.average(counts[good], weights=counts[good])
    y = x.copy()
    y[good] = x[good] * seen[good] + 0.001 * w
    y[~good] *= 0.5
    return y, np.flatnonzero(good)


def program(table, gain, seen, counts, codes):
    levels, low = stretched(counts, 0.5)
    r = response(levels * gain, table)
    a, b = exchanged(r.copy(), r[::-1].copy(), codes)
    y, where = weighted(a, seen, counts)
    m = np.zeros((2, y.shape[0]))
    m[0] = m[1] = y
    m[:, where] += b[where]
    pair = np.zeros((2, 2))
    pair[0] = [y[0], b[0]]
    pair[0] = pair[1] = [pair[0, 1] * gain, pair[0, 0]]
    level = m[1]
    total = 0.0
    while len(level) > 2:
        level = level[np.argsort(level)][1:]
        total += level[0] * len(level)
    slope = np.gradient(np.cumsum(m, axis=1)[0], 0.5)
    return total + np.sum(slope * m[0]) + np.sum(pair**3) + low * gain


def inputs(rng):
    seen = rng.uniform(0.4, 0.8, 6)
    seen[2] = np.nan
    return {
        "table": rng.uniform(0.5, 1.5, 4),
        "gain": 0.9,
        "seen": seen,
        "counts": np.array([200, 250, 31, 99, 180, 240], dtype=np.uint8),
        "codes": np.array([100, -100, 27, 64, 5, 90], dtype=np.int8),
    }
