"""Chemistry: reactors in a row, stages of a step, gaps in readings, a hottest cell."""

import numpy as np


def rates(c, t, k, order):
    """Arrhenius rates; one exponential has two names, and one of them changes."""
    forward = np.empty_like(c)
    back = np.empty_like(c)
    for i in range(c.shape[0]):
        w = np.exp(-k / t[i])
        v = np.exp(-k / t[i])
        total = 0.0
        for _ in range(2):
            w = w * c[i] + 0.1
            total += w * v
        forward[i] = total * c[i] ** order
        back[i] = 0.1 * v * c[i] * c[i]
    return forward, back


def stage(c, t, k, order, dt):
    """One stage of a step; the caller's arrays stay."""
    forward, back = rates(c, t, k, order)
    new = c - dt * (forward - back)
    warm = t + 0.3 * dt * forward
    return new, warm


def mixed(c, share):
    """Neighbours are mixed in place, pair by pair."""
    i = 0
    while i + 1 < c.shape[0]:
        d = c[i + 1] - c[i]
        p = 1.0 / (1.0 + np.exp(-d / share))
        low = p * c[i] + (1.0 - p) * c[i + 1]
        high = (1.0 - p) * c[i] + p * c[i + 1]
        c[i], c[i + 1] = low, high
        i += 2
    return c


def hottest(t):
    most = t[0]
    for i in range(1, t.shape[0]):
        if t[i] > most:
            most = t[i]
    return most


def program(c0, t0, seen, slots, weights, k, steps, order):
    now, warm = c0.copy(), t0.copy()
    before = np.zeros_like(c0)
    binned = np.zeros(c0.shape[0])
    loss = 0.0
    for step in range(steps):
        half, between = stage(now, warm, k, order, 0.05)
        new, warm = stage(half, between, k, order, 0.05)
        if step % 2 == 1:
            new = mixed(new, 0.7)
        now, before = new, now
        top = hottest(warm)
        for i in range(now.shape[0]):
            misfit = (now[i] - seen[step, i]) ** 2
            scaled = misfit / top
            if not np.isnan(seen[step, i]):
                loss += scaled + 0.1 * (now[i] - before[i]) * now[i]
    for i in range(now.shape[0]):
        binned[slots[i]] += weights[i] * now[i] * now[i]
    for i in range(2):
        loss += binned[i]
    for i in range(now.shape[0]):
        w = np.sin(now[i])
        v = np.sin(now[i])
        for again in range(2):
            w = w * weights[i] + again
            loss += 0.01 * w * v
    return loss


def inputs(rng):
    seen = rng.uniform(0.2, 0.8, (4, 5))
    seen[1, 2] = seen[3, 0] = np.nan
    return {
        "c0": rng.uniform(0.4, 0.9, 5),
        "t0": rng.uniform(0.8, 1.2, 5),
        "seen": seen,
        "slots": np.array([1, 4, 0, 1, 3], np.int8),
        "weights": rng.uniform(0.5, 1.5, 5),
        "k": 0.6,
        "steps": 4,
        "order": np.int8(2),
    }
