"""Neuroscience: a Hodgkin-Huxley cell by exponential Euler, misfit to a trace."""

import math

import numpy as np

E_NA, E_K, E_L = 50.0, -77.0, -54.4


def vtrap(x, y):
    # x / (exp(x / y) - 1) without the hole at x = 0
    if abs(x / y) < 1e-6:
        return y * (1.0 - 0.5 * x / y)
    return x / (math.exp(x / y) - 1.0)


def gate_rates(v):
    am = 0.1 * vtrap(-(v + 40.0), 10.0)
    bm = 4.0 * math.exp(-(v + 65.0) / 18.0)
    ah = 0.07 * math.exp(-(v + 65.0) / 20.0)
    bh = 1.0 / (1.0 + math.exp(-(v + 35.0) / 10.0))
    an = 0.01 * vtrap(-(v + 55.0), 10.0)
    bn = 0.125 * math.exp(-(v + 65.0) / 80.0)
    return am, bm, ah, bh, an, bn


def relax(gate, alpha, beta, dt):
    total = alpha + beta
    steady = alpha / total
    return steady + (gate - steady) * math.exp(-dt * total)


def simulate(current, g, dt, v0=-65.0):
    v = v0
    am, bm, ah, bh, an, bn = gate_rates(v)
    m, h, n = am / (am + bm), ah / (ah + bh), an / (an + bn)
    trace = np.empty(len(current))
    for t in range(len(current)):
        am, bm, ah, bh, an, bn = gate_rates(v)
        m = relax(m, am, bm, dt)
        h = relax(h, ah, bh, dt)
        n = relax(n, an, bn, dt)
        g_na = g[0] * m**3 * h
        g_k = g[1] * n**4
        total = g_na + g_k + g[2]
        v_inf = (g_na * E_NA + g_k * E_K + g[2] * E_L + current[t]) / total
        v = v_inf + (v - v_inf) * math.exp(-dt * total)
        trace[t] = v
    return trace


def program(current, conductances, recorded, dt):
    trace = simulate(current, conductances, dt)
    return np.mean((trace - recorded) ** 2)


def inputs(rng):
    return {
        "current": rng.uniform(5.0, 15.0, 8),
        "conductances": np.array([120.0, 36.0, 0.3]),
        "recorded": rng.uniform(-70.0, -50.0, 8),
        "dt": 0.05,
    }
