"""Oceanography: Green's law and rays over a bathymetry grid, bilinear depths."""

import math

import numpy as np

GRAV = 9.81


def depth_at(bathy, x, y):
    j = int(x)
    i = int(y)
    a = x - j
    b = y - i
    return (
        bathy[i, j] * (1 - a) * (1 - b)
        + bathy[i, j + 1] * a * (1 - b)
        + bathy[i + 1, j] * (1 - a) * b
        + bathy[i + 1, j + 1] * a * b
    )


def slope_at(bathy, x, y):
    j = int(x)
    i = int(y)
    a = x - j
    b = y - i
    gx = (bathy[i, j + 1] - bathy[i, j]) * (1 - b)
    gx += (bathy[i + 1, j + 1] - bathy[i + 1, j]) * b
    gy = (bathy[i + 1, j] - bathy[i, j]) * (1 - a)
    gy += (bathy[i + 1, j + 1] - bathy[i, j + 1]) * a
    return gx, gy


def inside(bathy, x, y):
    h, w = bathy.shape
    return 0.0 <= x < w - 1.0 and 0.0 <= y < h - 1.0


def trace(bathy, x, y, angle, dt, max_steps):
    time = 0.0
    for _ in range(max_steps):
        if not inside(bathy, x, y):
            break
        c = math.sqrt(GRAV * depth_at(bathy, x, y))
        gx, gy = slope_at(bathy, x, y)
        dc = 0.5 * GRAV / c
        turn = dc * (gx * math.sin(angle) - gy * math.cos(angle))
        angle += dt * turn
        x += dt * c * math.cos(angle)
        y += dt * c * math.sin(angle)
        time += dt
    return x, y, time


def program(bathy, x0, y0, angles, dt):
    n = len(angles)
    xs = np.zeros(n)
    ys = np.zeros(n)
    for r in range(n):
        xs[r], ys[r], _ = trace(bathy, x0, y0, angles[r], dt, 4)
    spreading = 0.0
    for r in range(n - 1):
        width = math.hypot(xs[r + 1] - xs[r], ys[r + 1] - ys[r])
        spreading += math.log(width / abs(angles[r + 1] - angles[r]))
    return spreading


def inputs(rng):
    return {
        "bathy": rng.uniform(0.5, 1.5, (6, 6)),
        "x0": 1.37,
        "y0": 2.21,
        "angles": np.array([-0.41, -0.07, 0.33]),
        "dt": 0.2,
    }
