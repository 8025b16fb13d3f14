"""Embedded vision: uint8 images with differences that wrap."""

import numpy as np


def frame_difference(a, b):
    """Absolute difference of unsigned bytes, without wrapping."""
    h, w = a.shape
    out = np.zeros((h, w), dtype=np.uint8)
    for y in range(h):
        for x in range(w):
            if a[y, x] > b[y, x]:
                out[y, x] = a[y, x] - b[y, x]
            else:
                out[y, x] = b[y, x] - a[y, x]
    return out


def wrapped_sum(row):
    """An eight bit checksum."""
    s = np.zeros(1, dtype=np.uint8)
    for v in row:
        s[0] += v
    return s[0]


def background_step(model, frame, diff, rate, threshold):
    for y in range(model.shape[0]):
        for x in range(model.shape[1]):
            r = rate if diff[y, x] < threshold else 0.1 * rate
            model[y, x] = (1.0 - r) * model[y, x] + r * frame[y, x]


def program(frames, model0, rate, gain, threshold=40):
    model = model0.copy()
    score = 0.0
    for t in range(1, frames.shape[0]):
        diff = frame_difference(frames[t], frames[t - 1])
        background_step(model, frames[t], diff, rate, threshold)
        for y in range(diff.shape[0]):
            check = wrapped_sum(frames[t, y])
            weight = gain * check / 255.0
            for x in range(diff.shape[1]):
                score += weight * (frames[t, y, x] / 255.0 - model[y, x] / 255.0) ** 2
    return score


def inputs(rng):
    return {
        "frames": rng.integers(0, 256, (3, 3, 4)).astype(np.uint8),
        "model0": rng.uniform(0, 255, (3, 4)),
        "rate": 0.3,
        "gain": 1.7,
    }
