"""Geophysics: a layered borehole log, fitted to travel times of which some are missing.

A nested function has a parameter with the name of an outer value, helpers return arrays
early on some paths, a pair of profiles changes places, weights are read from a tuple by
a narrow integer, and a starred tuple of settings is handed on and replaced.
"""

import numpy as np


def slowness(v, floor, gain):
    """Slowness of each layer; below the floor nothing more is corrected."""
    out = np.zeros(len(v))
    for i in range(len(v)):
        if v[i] < floor:
            return out + gain / floor
        out[i] = gain / v[i]
    return out


def filtered(profile, strength):
    """A running mean of three, or the profile where none is asked for."""
    if strength == 0.0:
        return profile.copy()
    out = profile.copy()
    for i in range(1, len(profile) - 1):
        for k, w in ((-1, strength), (0, 1.0 - 2.0 * strength), (1, strength)):
            out[i] += w * profile[i + k]
        out[i] -= profile[i]
    return out


def times(depth, s, layers, *settings):
    """Travel times to each geophone, by the layer in which it stands."""
    scale, shift = settings
    found = np.empty(len(depth))
    for g in range(len(depth)):
        t = 0.0
        for i in range(layers[g] + 1):
            t += s[i] * depth[g] / (layers[g] + 1)
        found[g] = scale * t + shift
    return found


def program(v, depth, picks, layers, kind, strength):
    scale = 1.1

    def misfit(predicted, scale):
        weights = (1.0, 0.5 * strength, strength * strength)
        total, last = 0.0, 0.0
        for g in range(len(predicted)):
            for r, share in ((predicted[g] - picks[g], scale), (last, 0.1)):
                if np.isnan(r):
                    continue
                total += weights[kind[g]] * share * r * r
                last = r
        return total

    settings = (scale, 0.05 * v[0])
    upper, lower = slowness(v, 0.3, 1.0), slowness(v, 1.3, scale)
    smooth = False
    for _ in range(2):
        upper, lower = lower, upper
        chosen = filtered(upper, 0.2) if smooth else lower * 1.0
        upper = filtered(chosen, strength if smooth else 0.0)
        settings = (settings[0] * 0.9, settings[1] + 0.01 * upper[0])
        smooth = not smooth
    return misfit(times(depth, upper, layers, *settings), 0.7) * scale


def inputs(rng):
    picks = rng.uniform(0.3, 1.4, 6)
    picks[2] = np.nan
    return {
        "v": rng.uniform(1.4, 2.4, 5),
        "depth": rng.uniform(0.5, 1.5, 6),
        "picks": picks,
        "layers": np.array([0, 1, 1, 2, 3, 4], np.int8),
        "kind": np.array([0, 1, 2, 0, 2, 1], np.int8),
        "strength": 0.3,
    }
