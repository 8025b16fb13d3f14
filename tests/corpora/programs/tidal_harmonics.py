"""Oceanography: tidal constituents by normal equations with gaps."""

import numpy as np

SPEEDS = np.array([0.5059, 0.5236, 0.2625])  # rad per hour: M2, S2, K1


def design_row(t, row):
    row[0] = 1.0
    for k in range(SPEEDS.shape[0]):
        row[1 + 2 * k] = np.cos(SPEEDS[k] * t)
        row[2 + 2 * k] = np.sin(SPEEDS[k] * t)


def normal_equations(t, h, ridge):
    m = 1 + 2 * SPEEDS.shape[0]
    N = np.eye(m) * ridge
    b = np.zeros(m)
    row = np.zeros(m)
    for i in range(len(t)):
        if np.isnan(h[i]):
            continue
        design_row(t[i], row)
        for p in range(m):
            b[p] += row[p] * h[i]
            for q in range(m):
                N[p, q] += row[p] * row[q]
    return N, b


def cholesky_solve(N, b):
    m = len(b)
    L = np.zeros((m, m))
    for i in range(m):
        for j in range(i + 1):
            s = N[i, j] - np.dot(L[i, :j], L[j, :j])
            if i == j:
                L[i, i] = np.sqrt(s)
            else:
                L[i, j] = s / L[j, j]
    z = np.zeros(m)
    for i in range(m):
        z[i] = (b[i] - np.dot(L[i, :i], z[:i])) / L[i, i]
    for i in range(m - 1, -1, -1):
        z[i] = (z[i] - np.dot(L[i + 1 :, i], z[i + 1 :])) / L[i, i]
    return z


def program(t, h, t_new, h_new, ridge):
    N, b = normal_equations(t, h, ridge)
    coef = cholesky_solve(N, b)
    row = np.zeros(len(coef))
    score = 0.0
    for i in range(len(t_new)):
        design_row(t_new[i], row)
        score += (np.dot(row, coef) - h_new[i]) ** 2
    amplitude = np.sqrt(coef[1] ** 2 + coef[2] ** 2)
    return score + amplitude


def inputs(rng):
    t = np.arange(12) * 2.7
    h = np.cos(0.5059 * t + 0.3) + 0.4 * np.sin(0.2625 * t) + 0.1 * rng.normal(size=12)
    h[3] = np.nan
    h[8] = np.nan
    return {
        "t": t,
        "h": h,
        "t_new": np.array([33.0, 35.5, 37.1]),
        "h_new": rng.normal(size=3),
        "ridge": 0.1,
    }
