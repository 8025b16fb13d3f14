"""Agent models: boids with alignment, cohesion and separation, a dispersion score."""

import numpy as np


def neighbours_mean(i, pos, vel, radius):
    n = len(pos)
    centre = np.zeros(2)
    heading = np.zeros(2)
    push = np.zeros(2)
    count = 0
    for j in range(n):
        if j == i:
            continue
        d = pos[j] - pos[i]
        dist = np.sqrt(d[0] ** 2 + d[1] ** 2)
        if dist > radius:
            continue
        centre += pos[j]
        heading += vel[j]
        push -= d / (dist * dist + 0.01)
        count += 1
    if count > 0:
        centre = centre / count - pos[i]
        heading = heading / count - vel[i]
    return centre, heading, push


def limit_speed(v, vmax):
    speed = np.sqrt(np.sum(v**2))
    if speed > vmax:
        return v * (vmax / speed)
    return v


def tick(pos, vel, weights, radius, vmax, dt):
    new_pos = np.empty_like(pos)
    new_vel = np.empty_like(vel)
    for i in range(len(pos)):
        c, h, s = neighbours_mean(i, pos, vel, radius)
        v = vel[i] + dt * (weights[0] * c + weights[1] * h + weights[2] * s)
        v = limit_speed(v, vmax)
        new_vel[i] = v
        new_pos[i] = pos[i] + dt * v
    return new_pos, new_vel


def program(pos, vel, weights, radius, vmax, dt, ticks):
    for _ in range(ticks):
        pos, vel = tick(pos, vel, weights, radius, vmax, dt)
    centre = pos.mean(axis=0)
    return np.sum((pos - centre) ** 2)


def inputs(rng):
    return {
        "pos": rng.uniform(0, 3, (5, 2)),
        "vel": rng.normal(0, 0.5, (5, 2)),
        "weights": np.array([0.4, 0.3, 0.2]),
        "radius": 1.731,
        "vmax": 0.83,
        "dt": 0.1,
        "ticks": 3,
    }
