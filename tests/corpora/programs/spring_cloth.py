"""Computer graphics: a hanging cloth of springs by Verlet steps, damped and pinned."""

import numpy as np

GRAVITY = np.array([0.0, -9.81, 0.0])


def spring_force(a, b, rest, stiffness):
    d = b - a
    length = np.sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2])
    return stiffness * (length - rest) * d / length


def forces(x, rest, stiffness, mass):
    h, w, _ = x.shape
    f = np.zeros_like(x)
    for i in range(h):
        for j in range(w):
            f[i, j] += mass * GRAVITY
            if i + 1 < h:
                s = spring_force(x[i, j], x[i + 1, j], rest, stiffness)
                f[i, j] += s
                f[i + 1, j] -= s
            if j + 1 < w:
                s = spring_force(x[i, j], x[i, j + 1], rest, stiffness)
                f[i, j] += s
                f[i, j + 1] -= s
    return f


def verlet(x, x_old, f, mass, damping, dt):
    h, w, _ = x.shape
    for i in range(h):
        for j in range(w):
            if i == 0 and (j == 0 or j == w - 1):
                continue  # pinned corners
            for k in range(3):
                new = x[i, j, k] + damping * (x[i, j, k] - x_old[i, j, k])
                new += f[i, j, k] / mass * dt * dt
                x_old[i, j, k] = x[i, j, k]
                x[i, j, k] = new


def program(rest_shape, goal, rest, stiffness, mass, damping, dt, steps):
    x = rest_shape.copy()
    x_old = rest_shape.copy()
    for _ in range(steps):
        f = forces(x, rest, stiffness, mass)
        verlet(x, x_old, f, mass, damping, dt)
    return np.sum((x - goal) ** 2)


def inputs(rng):
    h, w = 3, 3
    shape = np.zeros((h, w, 3))
    for i in range(h):
        for j in range(w):
            shape[i, j] = (j * 0.5, 0.0, i * 0.5)
    return {
        "rest_shape": shape + 0.05 * rng.normal(size=shape.shape),
        "goal": rng.normal(size=shape.shape),
        "rest": 0.45,
        "stiffness": 30.0,
        "mass": 0.2,
        "damping": 0.97,
        "dt": 0.02,
        "steps": 4,
    }
