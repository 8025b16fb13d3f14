"""A pendulum by the leapfrog rule, which writes its trajectory."""

import math

import numpy as np


def leapfrog(x, v, k, dt, path):
    for t in range(path.shape[0]):
        v -= 0.5 * dt * k * math.sin(x)
        x += dt * v
        v -= 0.5 * dt * k * math.sin(x)
        path[t] = x
    return v


def leapfrog_adjoint(x, v, k, dt, path, d_path, d_result):
    steps = path.shape[0]
    position, speed = np.empty(steps + 1), np.empty(steps)
    position[0] = x
    for t in range(steps):
        v -= 0.5 * dt * k * math.sin(x)
        speed[t] = v
        x += dt * v
        v -= 0.5 * dt * k * math.sin(x)
        position[t + 1] = x
    d_x, d_v, d_k, d_dt = 0.0, d_result, 0.0, 0.0
    for t in range(steps - 1, -1, -1):
        # v -= 0.5 * dt * k * math.sin(x); path[t] = x
        x = position[t + 1]
        d_x += d_path[t] - 0.5 * dt * k * math.cos(x) * d_v
        d_k -= 0.5 * dt * math.sin(x) * d_v
        d_dt -= 0.5 * k * math.sin(x) * d_v
        # x += dt * v
        d_v += dt * d_x
        d_dt += speed[t] * d_x
        # v -= 0.5 * dt * k * math.sin(x)
        x = position[t]
        d_x -= 0.5 * dt * k * math.cos(x) * d_v
        d_k -= 0.5 * dt * math.sin(x) * d_v
        d_dt -= 0.5 * k * math.sin(x) * d_v
    return d_x, d_v, d_k, d_dt, np.zeros_like(path)


def leapfrog_tangent(x, v, k, dt, path, dot_x, dot_v, dot_k, dot_dt, dot_path):
    for t in range(path.shape[0]):
        # v -= 0.5 * dt * k * math.sin(x)
        dot_v -= 0.5 * (dot_dt * k + dt * dot_k) * math.sin(x)
        dot_v -= 0.5 * dt * k * math.cos(x) * dot_x
        v -= 0.5 * dt * k * math.sin(x)
        # x += dt * v
        dot_x += dot_dt * v + dt * dot_v
        x += dt * v
        # v -= 0.5 * dt * k * math.sin(x)
        dot_v -= 0.5 * (dot_dt * k + dt * dot_k) * math.sin(x)
        dot_v -= 0.5 * dt * k * math.cos(x) * dot_x
        v -= 0.5 * dt * k * math.sin(x)
        path[t], dot_path[t] = x, dot_x
    return v, dot_v


def arguments(n, rng):
    x, v, k, dt = rng.uniform(0.5, 1.0, 4)
    return {"x": x, "v": v, "k": 2.0 * k, "dt": 0.2 * dt, "path": rng.normal(size=n)}
