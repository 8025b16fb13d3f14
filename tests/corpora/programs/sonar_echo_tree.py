"""Acoustics: echoes of a tree of reflectors, heard through noisy hydrophones.

A record keeps its place while its index moves on and a helper writes to its array, a
tree is walked by a helper that calls itself and writes, phases are complex, a queue of
two values shifts, drawn gains decide how many are drawn, two profiles change places on
some paths, and missing soundings are nan.
"""

import numpy as np


def damp(reflectors, at, factor):
    """Weakens one reflector, and gives what it was before."""
    one = reflectors[at]
    before = one["strength"]
    one["strength"] = before * factor
    return before


def travelled(node, child, sibling, legs, total):
    """The length of all paths below a node; each node keeps its own."""
    length = legs[node]
    below = child[node]
    while below >= 0:
        length += 0.5 * travelled(below, child, sibling, legs, total)
        below = sibling[below]
    total[node] = length
    return length


def response(strengths, lengths, wavenumber):
    """Two arrays: the real and the imaginary part of each echo so far."""
    z = np.zeros(len(strengths), dtype=np.complex128)
    for i in range(len(strengths)):
        phase = np.exp(1j * wavenumber * lengths[i])
        z[i] = strengths[i] * phase
        if i > 0:
            z[i] += 0.2 * z[i - 1] / (1.5 + 0.5j * strengths[i])
    return z.real, z.imag


def drawn_gain(rng, spread):
    """Draws until one is loud enough."""
    gain = 0.0
    while gain < 0.4:
        gain = rng.uniform(0.0, 1.0)
    return 1.0 + spread * rng.normal() * gain


def program(reflectors, child, sibling, legs, soundings, spread, seed):
    rng = np.random.default_rng(seed)
    legs = np.asarray(legs, dtype=np.float64)
    total = np.zeros(len(legs))
    travelled(0, child, sibling, legs, total)

    here = np.int8(1)
    held = reflectors[here]
    here = np.int8(2)
    damped = damp(reflectors, 1, 0.5 + 0.1 * legs[0]) + held["strength"]

    strengths = np.zeros(len(legs))
    for i in range(len(legs)):
        one = reflectors[i % len(reflectors)]
        strengths[i] = one["strength"] * (1.0 + one["depth"])

    near, far = response(strengths, total, 1.3)
    queue = [damped, held["depth"]]
    misfit = 0.0
    for k in range(len(soundings)):
        if k % 3 == here - 1:
            near, far = far, near
        oldest = queue.pop(0)
        queue.append(0.5 * (oldest + near[k % len(near)]))
        if np.isnan(soundings[k]):
            continue
        gap = drawn_gain(rng, spread) * far[k % len(far)] + oldest - soundings[k]
        misfit += gap * gap
    return misfit + queue[0] * queue[1]


def inputs(rng):
    reflectors = np.zeros(3, dtype=[("strength", np.float64), ("depth", np.float64)])
    reflectors["strength"] = rng.uniform(0.5, 1.5, 3)
    reflectors["depth"] = rng.uniform(0.1, 0.6, 3)
    soundings = rng.uniform(0.2, 1.2, 7)
    soundings[3] = np.nan
    return {
        "reflectors": reflectors,
        "child": np.array([1, 3, -1, -1, -1], np.int8),
        "sibling": np.array([-1, 2, -1, 4, -1], np.int8),
        "legs": rng.uniform(0.5, 1.5, 5),
        "soundings": soundings,
        "spread": 0.3,
        "seed": 5,
    }
