"""Power grids: Newton load flow of a small network, losses of the solution."""

import numpy as np


def injections(vm, va, G, B):
    n = len(vm)
    P = np.zeros(n)
    Q = np.zeros(n)
    for i in range(n):
        for j in range(n):
            d = va[i] - va[j]
            P[i] += vm[i] * vm[j] * (G[i, j] * np.cos(d) + B[i, j] * np.sin(d))
            Q[i] += vm[i] * vm[j] * (G[i, j] * np.sin(d) - B[i, j] * np.cos(d))
    return P, Q


def admittance(frm, to, r, x, n):
    G = np.zeros((n, n))
    B = np.zeros((n, n))
    for k in range(len(frm)):
        z2 = r[k] ** 2 + x[k] ** 2
        g = r[k] / z2
        b = -x[k] / z2
        i, j = frm[k], to[k]
        G[i, i] += g
        G[j, j] += g
        B[i, i] += b
        B[j, j] += b
        G[i, j] -= g
        G[j, i] -= g
        B[i, j] -= b
        B[j, i] -= b
    return G, B


def relax(vm, va, G, B, p_spec, q_spec, iterations):
    """Fast decoupled iteration with the diagonal of B alone; bus 0 is the slack."""
    for _ in range(iterations):
        P, Q = injections(vm, va, G, B)
        for i in range(1, len(vm)):
            va[i] -= 0.5 * (P[i] - p_spec[i]) / (-B[i, i] * vm[i])
            vm[i] -= 0.5 * (Q[i] - q_spec[i]) / (-B[i, i] * vm[i])


def program(p_spec, q_spec, r, x, frm, to, slack_voltage, iterations):
    n = len(p_spec)
    G, B = admittance(frm, to, r, x, n)
    vm = np.ones(n)
    va = np.zeros(n)
    vm[0] = slack_voltage
    relax(vm, va, G, B, p_spec, q_spec, iterations)
    P, Q = injections(vm, va, G, B)
    losses = 0.0
    for i in range(n):
        losses += P[i]
    penalty = 0.0
    for i in range(n):
        low = 0.95 - vm[i]
        if low > 0:
            penalty += low * low
    return losses + 10 * penalty


def inputs(rng):
    return {
        "p_spec": np.array([0.0, -0.3, -0.4, 0.2]),
        "q_spec": np.array([0.0, -0.1, -0.2, 0.05]),
        "r": rng.uniform(0.02, 0.05, 4),
        "x": rng.uniform(0.1, 0.2, 4),
        "frm": np.array([0, 0, 1, 2]),
        "to": np.array([1, 2, 3, 3]),
        "slack_voltage": 1.03,
        "iterations": 4,
    }
