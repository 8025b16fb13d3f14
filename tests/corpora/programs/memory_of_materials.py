"""Mechanics: a viscoelastic bar with Prony history variables and plastic slip."""

import numpy as np


def prony_update(q, strain_step, moduli, times, dt):
    total = 0.0
    for k in range(len(q)):
        decay = np.exp(-dt / times[k])
        q[k] = decay * q[k] + moduli[k] * times[k] / dt * (1.0 - decay) * strain_step
        total += q[k]
    return total


def return_map(trial, yield_stress, hardening, modulus):
    """Radial return with linear isotropic hardening."""
    f = abs(trial) - yield_stress
    if f <= 0.0:
        return trial, 0.0
    slip = f / (modulus + hardening)
    if trial > 0:
        return trial - modulus * slip, slip
    return trial + modulus * slip, -slip


def drive(strains, e_inf, moduli, times, y0, hardening, dt):
    n = len(strains)
    q = np.zeros(len(moduli))
    stress = np.zeros(n)
    plastic = 0.0
    accumulated = 0.0
    last = 0.0
    for t in range(n):
        elastic = strains[t] - plastic
        over = prony_update(q, elastic - last, moduli, times, dt)
        trial = e_inf * elastic + over
        limit = y0 + hardening * accumulated
        stress[t], slip = return_map(trial, limit, hardening, e_inf)
        plastic += slip
        accumulated += abs(slip)
        last = strains[t] - plastic
    return stress, accumulated


def program(strains, measured, e_inf, moduli, times, y0, hardening, dt):
    stress, work = drive(strains, e_inf, moduli, times, y0, hardening, dt)
    return np.sum((stress - measured) ** 2) + 0.1 * work


def inputs(rng):
    return {
        "strains": np.array([0.11, 0.33, 0.62, 0.41, -0.12, -0.73, -0.21, 0.44]),
        "measured": rng.normal(0, 0.5, 8),
        "e_inf": 1.3,
        "moduli": np.array([0.6, 0.4]),
        "times": np.array([0.5, 2.0]),
        "y0": 0.43,
        "hardening": 0.3,
        "dt": 0.1,
    }
