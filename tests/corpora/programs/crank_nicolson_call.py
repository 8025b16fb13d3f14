"""Finance: Black-Scholes by Crank-Nicolson with a Thomas solver in helpers."""

import numpy as np


def thomas(a, b, c, d):
    n = len(d)
    cp = np.zeros(n)
    dp = np.zeros(n)
    cp[0] = c[0] / b[0]
    dp[0] = d[0] / b[0]
    for i in range(1, n):
        m = b[i] - a[i] * cp[i - 1]
        cp[i] = c[i] / m
        dp[i] = (d[i] - a[i] * dp[i - 1]) / m
    x = np.zeros(n)
    x[-1] = dp[-1]
    for i in range(n - 2, -1, -1):
        x[i] = dp[i] - cp[i] * x[i + 1]
    return x


def coefficients(n, sigma, r, dt):
    j = np.arange(1, n)
    alpha = 0.25 * dt * (sigma**2 * j**2 - r * j)
    beta = -0.5 * dt * (sigma**2 * j**2 + r)
    gamma = 0.25 * dt * (sigma**2 * j**2 + r * j)
    return alpha, beta, gamma


def solve(V, sigma, r, dt, steps):
    n = len(V) - 1
    alpha, beta, gamma = coefficients(n, sigma, r, dt)
    for _ in range(steps):
        rhs = alpha * V[:-2] + (1 + beta) * V[1:-1] + gamma * V[2:]
        rhs[0] += alpha[0] * V[0]
        rhs[-1] += gamma[-1] * V[-1]
        inner = thomas(-alpha, 1 - beta, -gamma, rhs)
        V[1:-1] = inner
    return V


def interpolate(V, S, ds):
    k = int(S / ds)
    w = S / ds - k
    return (1 - w) * V[k] + w * V[k + 1]


def program(S0, K, sigma, r, T, Smax, n, steps):
    ds = Smax / n
    V = np.zeros(n + 1)
    for i in range(n + 1):
        V[i] = max(i * ds - K, 0.0)
    V = solve(V, sigma, r, T / steps, steps)
    return interpolate(V, S0, ds)


def inputs(rng):
    return {
        "S0": 103.3 + rng.uniform(0, 0.5),
        "K": 101.9,
        "sigma": 0.3,
        "r": 0.05,
        "T": 0.5,
        "Smax": 200.0,
        "n": 12,
        "steps": 4,
    }
