"""Natural hazards: a sliding block with Voellmy friction on a profile."""

import numpy as np

G = 9.81


def slope_angle(profile, dx, s):
    k = int(s / dx)
    if k > len(profile) - 2:
        k = len(profile) - 2
    return np.arctan2(profile[k] - profile[k + 1], dx)


def acceleration(v, theta, mu, xi):
    return G * (np.sin(theta) - mu * np.cos(theta)) - G * v * v / xi


def run(profile, dx, mu, xi, v0, dt, t_max):
    s = 0.1 * dx
    v = v0
    t = 0.0
    top = v0
    while t < t_max:
        theta = slope_angle(profile, dx, s)
        a = acceleration(v, theta, mu, xi)
        v_new = v + dt * a
        if v_new <= 0.0:
            # stops within this step
            s += 0.5 * v * v / -a
            v = 0.0
            break
        s += 0.5 * dt * (v + v_new)
        v = v_new
        top = max(top, v)
        t += dt
    return s, top


def program(profile, dx, mu, xi, v0, observed_s, observed_v, dt=0.5):
    s, top = run(profile, dx, mu, xi, v0, dt, 30.0)
    return ((s - observed_s) / 10.0) ** 2 + (top - observed_v) ** 2


def inputs(rng):
    drop = np.array([30.0, 26.0, 20.0, 10.0, 4.0, 1.0, 0.0, 0.0])
    profile = 100.0 - np.cumsum(drop) + rng.random(8)
    return {
        "profile": profile,
        "dx": 40.0,
        "mu": 0.31,
        "xi": 800.0,
        "v0": 2.0,
        "observed_s": 180.0,
        "observed_v": 15.0,
    }
