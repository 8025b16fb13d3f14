"""Mechanics: a bouncing ball with restitution, events inside a step, final height."""

import math


def flight(y, v, g, drag, dt):
    a = -g - drag * v * abs(v)
    return y + dt * v + 0.5 * dt * dt * a, v + dt * a


def time_of_impact(y, v, g):
    disc = v * v + 2.0 * g * y
    return (v + math.sqrt(disc)) / g


def bounce(y, v, g, drag, e, dt):
    """A step that may hold several impacts."""
    left = dt
    count = 0
    while left > 1e-9:
        yn, vn = flight(y, v, g, drag, left)
        if yn > 0.0:
            return yn, vn, count
        t = min(time_of_impact(y, v, g), left)
        y, v = flight(y, v, g, drag, t)
        y = 0.0
        v = -e * v
        left -= t
        count += 1
        if count > 5:
            break
    return y, v, count


def program(y0, v0, g, drag, e, dt, heights):
    y, v = y0, v0
    misfit = 0.0
    impacts = 0
    for k in range(len(heights)):
        y, v, c = bounce(y, v, g, drag, e, dt)
        impacts += c
        misfit += (y - heights[k]) ** 2
    return misfit + 0.01 * impacts


def inputs(rng):
    return {
        "y0": 1.03,
        "v0": 0.4,
        "g": 9.81,
        "drag": 0.05,
        "e": 0.83,
        "dt": 0.13,
        "heights": rng.uniform(0.2, 1.0, 8),
    }
