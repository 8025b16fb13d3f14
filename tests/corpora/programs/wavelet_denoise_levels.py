"""Signal processing: a lifted wavelet transform over levels, shrinkage and back."""

import numpy as np


def lift_forward(x, n):
    """The first n entries into n / 2 averages and n / 2 details (CDF 5/3)."""
    half = n // 2
    even = x[:n:2].copy()
    odd = x[1:n:2].copy()
    for i in range(half):
        right = even[i + 1] if i + 1 < half else even[i]
        odd[i] -= 0.5 * (even[i] + right)
    for i in range(half):
        left = odd[i - 1] if i > 0 else odd[i]
        even[i] += 0.25 * (left + odd[i])
    x[:half] = even
    x[half:n] = odd


def lift_backward(x, n):
    half = n // 2
    even = x[:half].copy()
    odd = x[half:n].copy()
    for i in range(half):
        left = odd[i - 1] if i > 0 else odd[i]
        even[i] -= 0.25 * (left + odd[i])
    for i in range(half):
        right = even[i + 1] if i + 1 < half else even[i]
        odd[i] += 0.5 * (even[i] + right)
    for i in range(half):
        x[2 * i] = even[i]
        x[2 * i + 1] = odd[i]


def garrote(d, t):
    if abs(d) <= t:
        return 0.0
    return d - t * t / d


def denoise(x, levels, thresholds):
    n = len(x)
    for k in range(levels):
        lift_forward(x, n >> k)
    for k in range(levels):
        size = n >> k
        for i in range(size // 2, size):
            x[i] = garrote(x[i], thresholds[k])
    for k in range(levels - 1, -1, -1):
        lift_backward(x, n >> k)


def program(noisy, clean, thresholds, levels=2):
    x = noisy.copy()
    denoise(x, levels, thresholds)
    return np.sqrt(np.mean((x - clean) ** 2))


def inputs(rng):
    clean = np.sin(np.arange(8) * 0.7)
    return {
        "noisy": clean + 0.2 * rng.normal(size=8),
        "clean": clean,
        "thresholds": np.array([0.11, 0.07]),
    }
