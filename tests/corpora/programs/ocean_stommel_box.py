"""Oceanography: Stommel's two boxes with a seasonal flux, overturning at the end."""

import numpy as np

ALPHA = 0.2
BETA = 0.8


def density_difference(T, S):
    return ALPHA * (T[0] - T[1]) - BETA * (S[0] - S[1])


def tendencies(T, S, t, air, fresh, k, relax):
    q = k * density_difference(T, S)
    aq = np.abs(q)
    dT = np.zeros(2)
    dS = np.zeros(2)
    season = 1.0 + 0.1 * np.cos(2.0 * np.pi * t)
    dT[0] = relax * (air[0] * season - T[0]) + aq * (T[1] - T[0])
    dT[1] = relax * (air[1] * season - T[1]) + aq * (T[0] - T[1])
    dS[0] = fresh + aq * (S[1] - S[0])
    dS[1] = -fresh + aq * (S[0] - S[1])
    return dT, dS, q


def ab2(T, S, air, fresh, k, relax, dt, n):
    """Adams-Bashforth of second order, Euler first."""
    pT = np.zeros(2)
    pS = np.zeros(2)
    mean = 0.0
    for i in range(n):
        dT, dS, q = tendencies(T, S, i * dt, air, fresh[i], k, relax)
        if i == 0:
            T = T + dt * dT
            S = S + dt * dS
        else:
            T = T + dt * (1.5 * dT - 0.5 * pT)
            S = S + dt * (1.5 * dS - 0.5 * pS)
        pT, pS = dT, dS
        mean += q / n
    return T, S, mean


def program(T0, S0, air, fresh, k, relax, dt):
    T, S, mean = ab2(T0, S0, air, fresh, k, relax, dt, len(fresh))
    final = k * density_difference(T, S)
    return (final - mean) ** 2 + 0.5 * final


def inputs(rng):
    return {
        "T0": np.array([20.0, 5.0]),
        "S0": np.array([36.0, 34.5]),
        "air": np.array([24.0, 2.0]),
        "fresh": rng.uniform(0.1, 0.3, 5),
        "k": 0.3,
        "relax": 0.5,
        "dt": 0.05,
    }
