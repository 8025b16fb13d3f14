"""Seismology: first arrivals by fast sweeping (Gauss-Seidel in four orders), misfit."""

import math

import numpy as np

BIG = 1e5


def local_update(t, i, j, s, h):
    nz, nx = t.shape
    a = BIG
    b = BIG
    if i > 0:
        a = min(a, t[i - 1, j])
    if i < nz - 1:
        a = min(a, t[i + 1, j])
    if j > 0:
        b = min(b, t[i, j - 1])
    if j < nx - 1:
        b = min(b, t[i, j + 1])
    f = s * h
    if abs(a - b) >= f:
        new = min(a, b) + f
    else:
        new = 0.5 * (a + b + math.sqrt(2.0 * f * f - (a - b) ** 2))
    return min(new, t[i, j])


def sweep(t, slow, h, down, right):
    nz, nx = t.shape
    for ii in range(nz):
        i = ii if down else nz - 1 - ii
        for jj in range(nx):
            j = jj if right else nx - 1 - jj
            t[i, j] = local_update(t, i, j, slow[i, j], h)


def first_arrivals(slow, si, sj, h, rounds):
    t = np.full(slow.shape, BIG)
    t[si, sj] = 0.0
    for _ in range(rounds):
        sweep(t, slow, h, True, True)
        sweep(t, slow, h, True, False)
        sweep(t, slow, h, False, False)
        sweep(t, slow, h, False, True)
    return t


def program(slow, picks, si, sj, h):
    t = first_arrivals(slow, si, sj, h, 2)
    misfit = 0.0
    for j in range(t.shape[1]):
        if np.isnan(picks[j]):
            continue
        misfit += (t[0, j] - picks[j]) ** 2
    return misfit


def inputs(rng):
    picks = rng.uniform(0.5, 3.0, 5)
    picks[1] = np.nan
    return {
        "slow": rng.uniform(0.5, 1.0, (4, 5)),
        "picks": picks,
        "si": 2,
        "sj": 1,
        "h": 0.7,
    }
