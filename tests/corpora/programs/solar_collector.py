"""Energy: a flat plate with a stratified tank and a thermostat, heat of a day."""

import math

import numpy as np

SIGMA = 5.67e-8


def incidence(hour, tilt, lat, day):
    decl = math.radians(23.45) * math.sin(2.0 * math.pi * (284 + day) / 365.0)
    w = math.radians(15.0 * (hour - 12.0))
    cosz = math.sin(lat - tilt) * math.sin(decl)
    cosz += math.cos(lat - tilt) * math.cos(decl) * math.cos(w)
    return max(cosz, 0.0)


def plate_losses(tp, ta, wind, emissivity):
    h = 2.8 + 3.0 * wind
    radiative = emissivity * SIGMA * ((tp + 273.15) ** 4 - (ta + 273.15) ** 4)
    return h * (tp - ta) * 0.3 + radiative


def mix(tank):
    """Convection: a warmer layer below a colder one is mixed with it."""
    n = len(tank)
    for i in range(n - 1):
        if tank[i] < tank[i + 1]:
            m = 0.5 * (tank[i] + tank[i + 1])
            tank[i] = m
            tank[i + 1] = m


def program(sun, air, tilt, lat, wind, emissivity, flow, draw, t0):
    n = 3
    tank = np.full(n, t0)
    delivered = 0.0
    for h in range(len(sun)):
        gain = 0.85 * sun[h] * incidence(8.0 + h, tilt, lat, 172)
        t_in = tank[n - 1]
        useful = gain - plate_losses(t_in + 8.0, air[h], wind, emissivity)
        if useful > 0.0:
            rise = useful / (flow * 4180.0)
            for i in range(n - 1, 0, -1):
                tank[i] += 0.3 * (tank[i - 1] - tank[i])
            tank[0] += 0.3 * (t_in + rise - tank[0])
        mix(tank)
        delivered += draw[h] * 4.18 * (tank[0] - 12.0)
        tank[n - 1] += draw[h] * (12.0 - tank[n - 1])
        mix(tank)
    return delivered


def inputs(rng):
    return {
        "sun": rng.uniform(500.0, 900.0, 6),
        "air": rng.uniform(15.0, 25.0, 6),
        "tilt": 0.7,
        "lat": 0.8,
        "wind": 1.5,
        "emissivity": 0.1,
        "flow": 0.02,
        "draw": rng.uniform(0.05, 0.2, 6),
        "t0": 31.7,
    }
