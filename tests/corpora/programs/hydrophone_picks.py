"""Underwater acoustics: arrivals at hydrophones, picked from traces with dropouts.

Helpers return tuples in tuples of which one is taken, the best pick is none at first,
channels are counted in eight bits, and what an argument is decides what is done.
"""

import numpy as np

DEAD = (3, -1)


def onset(trace, k, reach):
    """The contrast at a sample, and where: of nothing beside a gap or the ends."""
    if k < reach or k + reach >= len(trace):
        return 0.0, (np.zeros(reach), k)
    before = trace[k - reach : k]
    after = trace[k : k + reach]
    if np.isnan(before.sum() + after.sum()):
        return 0.0, (np.zeros(reach), k)
    return (after**2).sum() - (before**2).sum(), (after - before.mean(), k)


def picked(trace, reach):
    """The best contrast and its place; nothing at the beginning where there is none."""
    best, place = None, None
    samples = range(len(trace))
    for k in samples:
        contrast = onset(trace, k, reach)[0]
        where = onset(trace, k, reach)[1][1]
        if contrast != 0.0 and (best is None or contrast > best):
            best, place = contrast, where
    if best is None:
        return 0.0, 0
    return best, place


def program(traces, gain, codes, reach):
    several = reach and traces.ndim == 2  # a truth value, not the reach
    if np.isscalar(gain):
        gain = np.full(traces.shape[0], gain)
    heard = np.zeros(2, codes.dtype)
    earlier, later = 0.0, 0.0
    for c in range(traces.shape[0]):
        if codes[c] in DEAD:
            continue
        best, place = picked(traces[c], reach)
        if best == 0.0:
            continue
        heard[0] += codes[c] * 40
        low, high = (best, 0.5) if place < 5 else (0.5, best)
        earlier, later = later + low * gain[c], earlier + high * high
        earlier, later = (later, earlier) if place % 2 else (earlier, later)
        later += traces[c, place] * heard[0]
    return earlier - 2.0 * later + several * traces[0, 0]


def inputs(rng):
    traces = rng.uniform(-1.0, 1.0, (5, 12))
    traces[1, 6] = np.nan
    traces[3] = np.nan
    return {
        "traces": traces,
        "gain": rng.uniform(0.5, 1.5, 5),
        "codes": np.array([1, 2, 3, 1, 1], np.int8),
        "reach": 2,
    }
