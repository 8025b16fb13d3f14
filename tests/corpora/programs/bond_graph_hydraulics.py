"""Hydraulics: transient pipe flow by characteristics with a closing valve, surge."""

import numpy as np

G = 9.81


def friction(f, d, q, area):
    return f * q * np.abs(q) / (2.0 * G * d * area**2)


def valve_flow(cp, b, cv):
    """Q**2 = cv (H), with H = cp - b Q."""
    return -0.5 * b * cv + np.sqrt(0.25 * (b * cv) ** 2 + cv * cp)


def characteristics(H, Q, b, r, dx, h_res, cv):
    n = len(H)
    Hn = np.empty(n)
    Qn = np.empty(n)
    for i in range(1, n - 1):
        cp = H[i - 1] + b * Q[i - 1] - r * dx * Q[i - 1] * abs(Q[i - 1])
        cm = H[i + 1] - b * Q[i + 1] + r * dx * Q[i + 1] * abs(Q[i + 1])
        Hn[i] = 0.5 * (cp + cm)
        Qn[i] = 0.5 * (cp - cm) / b
    Hn[0] = h_res
    Qn[0] = Q[1] + (h_res - H[1]) / b - r * dx / b * Q[1] * abs(Q[1])
    cp = H[n - 2] + b * Q[n - 2] - r * dx * Q[n - 2] * abs(Q[n - 2])
    Qn[n - 1] = valve_flow(cp, b, cv)
    Hn[n - 1] = cp - b * Qn[n - 1]
    return Hn, Qn


def soft_max(x, k):
    m = np.max(x)
    return m + np.log(np.mean(np.exp(k * (x - m)))) / k


def program(h_res, q0, speed, diameter, f, dx, closing, cv0, gauge):
    area = 0.25 * np.pi * diameter**2
    b = speed / (G * area)
    r = f / (2.0 * G * diameter * area**2)
    n = 6
    H = np.zeros(n)
    Q = np.full(n, q0)
    for i in range(n):
        H[i] = h_res - i * dx * friction(f, diameter, q0, area)
    misfit = 0.0
    pressures = np.zeros(len(closing))
    for t in range(len(closing)):
        H, Q = characteristics(H, Q, b, r, dx, h_res, cv0 * closing[t] ** 2)
        pressures[t] = H[n - 1]
        misfit += (H[n // 2] - gauge[t]) ** 2
    return 1e-2 * misfit + soft_max(pressures, 0.1)


def inputs(rng):
    return {
        "h_res": 50.0,
        "q0": 0.05,
        "speed": 1000.0,
        "diameter": 0.3,
        "f": 0.02,
        "dx": 100.0,
        "closing": np.array([0.9, 0.7, 0.4, 0.2]),
        "cv0": 6e-5,
        "gauge": rng.uniform(45.0, 60.0, 4),
    }
