"""Aerospace: a two-stage rocket with gravity turn and drag, the apogee of the coast."""

import math

MU = 398600.0
RE = 6378.0


def density(altitude):
    return 1.2 * math.exp(-altitude / 7.6)


def derivatives(h, v, gamma, m, thrust, mdot, cda):
    r = RE + h
    g = MU / (r * r)
    drag = 0.5 * density(h) * v * v * cda
    dv = (thrust - drag) / m - g * math.sin(gamma)
    dgamma = -(g / v - v / r) * math.cos(gamma)
    dh = v * math.sin(gamma)
    return dh, dv, dgamma, -mdot


def midpoint(h, v, gamma, m, thrust, mdot, cda, dt):
    a, b, c, d = derivatives(h, v, gamma, m, thrust, mdot, cda)
    k = 0.5 * dt
    a, b, c, d = derivatives(
        h + k * a, v + k * b, gamma + k * c, m + k * d, thrust, mdot, cda
    )
    return h + dt * a, v + dt * b, gamma + dt * c, m + dt * d


def burn(h, v, gamma, m, thrust, mdot, cda, duration, n):
    dt = duration / n
    for _ in range(n):
        h, v, gamma, m = midpoint(h, v, gamma, m, thrust, mdot, cda, dt)
    return h, v, gamma, m


def program(stage_mass, thrust, isp, burn_time, kick, payload, cda=2e-5):
    h, v, gamma = 0.5, 0.1, 0.5 * math.pi - kick
    n_stages = len(stage_mass)
    for s in range(n_stages):
        m = payload
        for above in range(s, n_stages):
            m += stage_mass[above]
        mdot = thrust[s] / (isp[s] * 9.81e-3)
        h, v, gamma, m = burn(h, v, gamma, m, thrust[s], mdot, cda, burn_time[s], 5)
    specific = 0.5 * v * v - MU / (RE + h)
    momentum = (RE + h) * v * math.cos(gamma)
    a = -MU / (2.0 * specific)
    e = math.sqrt(1.0 + 2.0 * specific * momentum**2 / MU**2)
    return a * (1.0 + e) - RE


def inputs(rng):
    import numpy as np

    return {
        "stage_mass": np.array([60.0, 15.0]),
        "thrust": np.array([1.4, 0.3]),
        "isp": np.array([290.0, 330.0]),
        "burn_time": np.array([80.0, 60.0]),
        "kick": 0.15,
        "payload": 2.0 + 0.1 * rng.random(),
    }
