"""Hydrology: Richards' equation with van Genuchten soil by Picard steps."""

import numpy as np


def retention(h, alpha, n, theta_r, theta_s):
    m = 1.0 - 1.0 / n
    se = (1.0 + (alpha * np.abs(h)) ** n) ** (-m)
    return theta_r + (theta_s - theta_r) * se


def conductivity(h, alpha, n, ks):
    m = 1.0 - 1.0 / n
    se = (1.0 + (alpha * np.abs(h)) ** n) ** (-m)
    return ks * np.sqrt(se) * (1.0 - (1.0 - se ** (1.0 / m)) ** m) ** 2


def capacity(h, alpha, n, theta_r, theta_s):
    m = 1.0 - 1.0 / n
    ah = alpha * np.abs(h)
    num = m * n * alpha * (theta_s - theta_r) * ah ** (n - 1.0)
    return num / (1.0 + ah**n) ** (m + 1.0)


def tdma(a, b, c, d):
    n = len(d)
    for i in range(1, n):
        w = a[i] / b[i - 1]
        b[i] -= w * c[i - 1]
        d[i] -= w * d[i - 1]
    x = np.zeros(n)
    x[n - 1] = d[n - 1] / b[n - 1]
    for i in range(n - 2, -1, -1):
        x[i] = (d[i] - c[i] * x[i + 1]) / b[i]
    return x


def picard_step(h, rain, alpha, n, ks, theta_r, theta_s, dz, dt):
    size = len(h)
    C = capacity(h, alpha, n, theta_r, theta_s)
    K = conductivity(h, alpha, n, ks)
    a, b, c, d = np.zeros(size), np.zeros(size), np.zeros(size), np.zeros(size)
    for i in range(size):
        b[i] = C[i] / dt
        d[i] = C[i] / dt * h[i]
        if i > 0:
            up = 0.5 * (K[i] + K[i - 1])
            a[i] = -up / dz**2
            b[i] += up / dz**2
            d[i] += up / dz
        else:
            d[i] += rain / dz
        if i < size - 1:
            down = 0.5 * (K[i] + K[i + 1])
            c[i] = -down / dz**2
            b[i] += down / dz**2
            d[i] -= down / dz
        else:
            d[i] -= K[i] / dz
    return tdma(a, b, c, d)


def program(h0, rain, observed, alpha, n, ks, theta_r, theta_s, dz, dt):
    h = h0.copy()
    loss = 0.0
    for t in range(len(rain)):
        h = picard_step(h, rain[t], alpha, n, ks, theta_r, theta_s, dz, dt)
        theta = retention(h, alpha, n, theta_r, theta_s)
        loss += np.sum((theta - observed[t]) ** 2)
    return loss


def inputs(rng):
    return {
        "h0": np.linspace(-80.0, -60.0, 5),
        "rain": np.array([0.2, 0.4, 0.1]),
        "observed": rng.uniform(0.2, 0.35, (3, 5)),
        "alpha": 0.03,
        "n": 1.8,
        "ks": 1.0,
        "theta_r": 0.06,
        "theta_s": 0.42,
        "dz": 5.0,
        "dt": 0.2,
    }
