"""Nuclear engineering: two-group diffusion in a slab, k-effective by iteration."""

import numpy as np


def tridiag_solve(lower, diag, upper, rhs):
    n = diag.shape[0]
    c = upper.copy()
    d = rhs.copy()
    b = diag[0]
    c[0] /= b
    d[0] /= b
    for i in range(1, n):
        b = diag[i] - lower[i] * c[i - 1]
        c[i] /= b
        d[i] = (d[i] - lower[i] * d[i - 1]) / b
    for i in range(n - 2, -1, -1):
        d[i] -= c[i] * d[i + 1]
    return d


def group_solve(D, removal, source, h):
    n = len(source)
    low = np.zeros(n)
    dia = np.zeros(n)
    upp = np.zeros(n)
    for i in range(n):
        if i > 0:
            t = 2.0 * D[i] * D[i - 1] / (D[i] + D[i - 1]) / h**2
            low[i] = -t
            dia[i] += t
        else:
            dia[i] += 2.0 * D[i] / (h**2 + 4.0 * h * D[i])
        if i < n - 1:
            t = 2.0 * D[i] * D[i + 1] / (D[i] + D[i + 1]) / h**2
            upp[i] = -t
            dia[i] += t
        else:
            dia[i] += 2.0 * D[i] / (h**2 + 4.0 * h * D[i])
        dia[i] += removal[i]
    return tridiag_solve(low, dia, upp, source)


def program(D1, D2, sr, sa, scatter, nuf1, nuf2, h, outer=5):
    n = len(D1)
    phi1 = np.ones(n)
    phi2 = np.ones(n)
    k = 1.0
    fission = nuf1 * phi1 + nuf2 * phi2
    for _ in range(outer):
        phi1 = group_solve(D1, sr + scatter, fission / k, h)
        phi2 = group_solve(D2, sa, scatter * phi1, h)
        new = nuf1 * phi1 + nuf2 * phi2
        k = k * np.sum(new) / np.sum(fission)
        fission = new
    return k


def inputs(rng):
    n = 6
    return {
        "D1": rng.uniform(1.2, 1.5, n),
        "D2": rng.uniform(0.3, 0.5, n),
        "sr": rng.uniform(0.01, 0.02, n),
        "sa": rng.uniform(0.08, 0.1, n),
        "scatter": rng.uniform(0.015, 0.02, n),
        "nuf1": rng.uniform(0.005, 0.008, n),
        "nuf2": rng.uniform(0.1, 0.14, n),
        "h": 5.0,
    }
