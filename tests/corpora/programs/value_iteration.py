"""Economics: stochastic growth by value iteration with a smooth maximum."""

import math

import numpy as np


def utility(c, gamma):
    return (c ** (1.0 - gamma) - 1.0) / (1.0 - gamma)


def logsum(values, scale):
    top = values[0]
    for v in values[1:]:
        top = max(top, v)
    s = 0.0
    for v in values:
        s += math.exp((v - top) / scale)
    return top + scale * math.log(s)


def bellman(V, k_grid, z, Pz, alpha, delta, beta, gamma, scale):
    nz, nk = V.shape
    new = np.zeros((nz, nk))
    choice = np.zeros(nk)
    for iz in range(nz):
        for ik in range(nk):
            resources = z[iz] * k_grid[ik] ** alpha + (1 - delta) * k_grid[ik]
            for jk in range(nk):
                c = resources - k_grid[jk]
                if c <= 0.01:
                    choice[jk] = -50.0
                    continue
                expected = 0.0
                for jz in range(nz):
                    expected += Pz[iz, jz] * V[jz, jk]
                choice[jk] = utility(c, gamma) + beta * expected
            new[iz, ik] = logsum(choice, scale)
    return new


def program(k_grid, z, Pz, alpha, delta, beta, gamma, scale, sweeps):
    V = np.zeros((len(z), len(k_grid)))
    gap = 0.0
    for it in range(sweeps):
        V_new = bellman(V, k_grid, z, Pz, alpha, delta, beta, gamma, scale)
        gap = np.max(np.abs(V_new - V))
        V = V_new
    return V[0, 0] + V[-1, -1] + 0.1 * gap


def inputs(rng):
    return {
        "k_grid": np.array([0.2, 0.5, 0.9, 1.4]),
        "z": np.array([0.9, 1.1]),
        "Pz": np.array([[0.8, 0.2], [0.3, 0.7]]),
        "alpha": 0.36,
        "delta": 0.1,
        "beta": 0.9,
        "gamma": 2.0 + 0.1 * rng.random(),
        "scale": 0.1,
        "sweeps": 4,
    }
