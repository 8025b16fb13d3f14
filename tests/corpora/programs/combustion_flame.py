"""Combustion: a premixed flame in one dimension, Arrhenius source, burning speed."""

import numpy as np


def arrhenius(Y, T, pre, beta, t_ref=1.0):
    return pre * Y * np.exp(-beta * (t_ref - T) / T)


def upwind(u, f, i, dx):
    if u > 0:
        return u * (f[i] - f[i - 1]) / dx
    return u * (f[i + 1] - f[i]) / dx


def march(T, Y, u, lewis, pre, beta, heat, dx, dt, steps):
    n = T.size
    for _ in range(steps):
        Tn, Yn = T.copy(), Y.copy()
        for i in range(1, n - 1):
            w = arrhenius(Yn[i], Tn[i], pre, beta)
            dT = (Tn[i + 1] - 2 * Tn[i] + Tn[i - 1]) / dx**2
            dY = (Yn[i + 1] - 2 * Yn[i] + Yn[i - 1]) / dx**2
            T[i] = Tn[i] + dt * (dT - upwind(u, Tn, i, dx) + heat * w)
            Y[i] = Yn[i] + dt * (dY / lewis - upwind(u, Yn, i, dx) - w)
        T[n - 1] = T[n - 2]
        Y[n - 1] = Y[n - 2]


def burning_rate(T, Y, pre, beta, dx):
    rate = 0.0
    for i in range(len(T)):
        rate += arrhenius(Y[i], T[i], pre, beta) * dx
    return rate


def program(T0, Y0, u, lewis, pre, beta, heat, dx, dt, steps):
    T = np.array(T0)
    Y = np.array(Y0)
    march(T, Y, u, lewis, pre, beta, heat, dx, dt, steps)
    return (burning_rate(T, Y, pre, beta, dx) - u) ** 2 + 1e-2 * np.max(T)


def inputs(rng):
    n = 9
    x = np.linspace(0, 1, n)
    return {
        "T0": 0.3 + 0.7 / (1 + np.exp(-10 * (x - 0.5))) + 0.01 * rng.random(n),
        "Y0": 1.0 - 0.8 / (1 + np.exp(-10 * (x - 0.5))),
        "u": 0.4,
        "lewis": 1.2,
        "pre": 20.0,
        "beta": 5.0,
        "heat": 0.7,
        "dx": 0.125,
        "dt": 0.003,
        "steps": 4,
    }
