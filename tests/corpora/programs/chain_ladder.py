"""Insurance: a run-off triangle (nan below the diagonal), chain ladder and Mack."""

import numpy as np


def development_factors(tri):
    n = tri.shape[0]
    f = np.ones(n - 1)
    for j in range(n - 1):
        num = 0.0
        den = 0.0
        for i in range(n - 1 - j):
            num += tri[i, j + 1]
            den += tri[i, j]
        f[j] = num / den
    return f


def complete(tri, f):
    n = tri.shape[0]
    full = tri.copy()
    for i in range(n):
        for j in range(1, n):
            if np.isnan(full[i, j]):
                full[i, j] = full[i, j - 1] * f[j - 1]
    return full


def mack_sigma2(tri, f):
    n = tri.shape[0]
    s2 = np.zeros(n - 1)
    for j in range(n - 2):
        acc = 0.0
        for i in range(n - 1 - j):
            acc += tri[i, j] * (tri[i, j + 1] / tri[i, j] - f[j]) ** 2
        s2[j] = acc / (n - 2 - j)
    s2[n - 2] = min(s2[n - 3] ** 2 / s2[n - 4], min(s2[n - 4], s2[n - 3]))
    return s2


def program(tri, discount, risk_load):
    n = tri.shape[0]
    f = development_factors(tri)
    full = complete(tri, f)
    s2 = mack_sigma2(tri, f)
    reserve = 0.0
    mse = 0.0
    for i in range(1, n):
        latest = n - 1 - i
        for j in range(latest + 1, n):
            paid = full[i, j] - full[i, j - 1]
            reserve += paid / (1 + discount) ** (j - latest)
        for j in range(latest, n - 1):
            mse += s2[j] / f[j] ** 2 * full[i, n - 1] ** 2 / full[i, j]
    return reserve + risk_load * np.sqrt(mse)


def inputs(rng):
    n = 5
    tri = 100.0 * np.cumprod(
        np.array([1, 1.9, 1.3, 1.1, 1.03]) + np.zeros((n, n)), axis=1
    )
    tri *= rng.uniform(0.95, 1.05, (n, n))
    for i in range(n):
        tri[i, n - i :] = np.nan
    return {"tri": tri, "discount": 0.03, "risk_load": 0.5}
