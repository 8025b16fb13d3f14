"""Astronomy: a light curve with a gap and an outlier, clipped, folded and binned."""

import numpy as np


def without_outliers(flux, limit):
    """What is not far from the median, and where it was."""
    centre = np.nanmedian(flux)
    spread = np.nanmedian(np.abs(flux - centre))
    good = np.isfinite(flux) & (np.abs(flux - centre) < limit * 1.4826 * spread)
    return flux[good], np.flatnonzero(good)


def folded(times, period):
    phase = (times / period) % 1.0
    return np.argsort(phase), phase


def binned(phase, flux, n):
    """The mean of each bin."""
    edges = np.linspace(0.0, 1.0, n + 1)
    which = np.clip(np.digitize(phase, edges) - 1, 0, n - 1)
    total = np.bincount(which, weights=flux, minlength=n)
    count = np.bincount(which, minlength=n)
    return total / np.maximum(count, 1)


def coarse(x):
    """Pairs averaged until one or two are left."""
    while len(x) > 2:
        if len(x) % 2 == 1:
            x = x[:-1]
        x = 0.5 * (x[::2] + x[1::2])
    return x


def program(times, flux, period, limit):
    kept, where = without_outliers(flux, limit)
    t = times[where]
    order, phase = folded(t, period)
    model = binned(phase, kept, 4)
    table = np.column_stack((phase[order], kept[order]))
    smooth = np.interp(phase, np.linspace(0.0, 1.0, 4), model)
    kept[kept > 1.3] = 1.3 + 0.1 * kept[kept > 1.3]
    out = np.zeros((2, 2))
    out[0] = [np.sum((kept - smooth) ** 2), table[0, 1]]
    out[1] = coarse(kept)[0]
    return np.sum(out * out) + np.trapezoid(table[:, 1], table[:, 0])


def inputs(rng):
    flux = 1.0 + 0.05 * rng.permutation(14)
    flux[3] = np.nan
    flux[9] = 18.0
    return {
        "times": 0.7 * np.arange(14.0) + rng.uniform(0.05, 0.1, 14),
        "flux": flux,
        "period": 1.7,
        "limit": 4.0,
    }
