"""The wave equation in one dimension: three buffers that are rotated by name."""

import numpy as np


def wave(start, speed, steps):
    n = start.shape[0]
    old = start.copy()
    now = start.copy()
    new = np.zeros_like(start)
    for _ in range(steps):
        for i in range(1, n - 1):
            bend = now[i + 1] - 2.0 * now[i] + now[i - 1]
            new[i] = 2.0 * now[i] - old[i] + speed[i] * bend
        old, now, new = now, new, old
    return now


def wave_adjoint(start, speed, steps, d_result):
    n = start.shape[0]
    old = start.copy()
    now = start.copy()
    new = np.zeros_like(start)
    history = np.empty((steps, n))
    for t in range(steps):
        history[t] = now
        for i in range(1, n - 1):
            bend = now[i + 1] - 2.0 * now[i] + now[i - 1]
            new[i] = 2.0 * now[i] - old[i] + speed[i] * bend
        old, now, new = now, new, old
    d_speed = np.zeros_like(speed)
    d_old = np.zeros_like(start)
    d_now = d_result.copy()
    d_new = np.zeros_like(start)
    for t in range(steps - 1, -1, -1):
        # old, now, new = now, new, old
        d_now, d_new, d_old = d_old, d_now, d_new
        now = history[t]
        for i in range(1, n - 1):
            # new[i] = 2.0 * now[i] - old[i] + speed[i] * bend
            d_old[i] -= d_new[i]
            d_speed[i] += d_new[i] * (now[i + 1] - 2.0 * now[i] + now[i - 1])
            d_bend = d_new[i] * speed[i]
            d_now[i - 1] += d_bend
            d_now[i] += 2.0 * (d_new[i] - d_bend)
            d_now[i + 1] += d_bend
            d_new[i] = 0.0
    return d_old + d_now, d_speed


def wave_tangent(start, speed, steps, dot_start, dot_speed):
    n = start.shape[0]
    old, dot_old = start.copy(), dot_start.copy()
    now, dot_now = start.copy(), dot_start.copy()
    new, dot_new = np.zeros_like(start), np.zeros_like(start)
    for _ in range(steps):
        for i in range(1, n - 1):
            bend = now[i + 1] - 2.0 * now[i] + now[i - 1]
            dot_bend = dot_now[i + 1] - 2.0 * dot_now[i] + dot_now[i - 1]
            new[i] = 2.0 * now[i] - old[i] + speed[i] * bend
            dot_new[i] = 2.0 * dot_now[i] - dot_old[i]
            dot_new[i] += dot_speed[i] * bend + speed[i] * dot_bend
        old, now, new = now, new, old
        dot_old, dot_now, dot_new = dot_now, dot_new, dot_old
    return now, dot_now


def arguments(n, rng):
    return {
        "start": rng.normal(size=n),
        "speed": rng.uniform(0.2, 0.5, n),
        "steps": max(0, n - 1),
    }
