"""Structures: linear finite elements of a tapered bar, assembly and elimination."""

import numpy as np

GAUSS = np.array([-0.5773502691896257, 0.5773502691896257])


def element_stiffness(x0, x1, e, area0, taper):
    length = x1 - x0
    k = 0.0
    for g in range(2):
        x = x0 + 0.5 * (1.0 + GAUSS[g]) * length
        area = area0 * np.exp(-taper * x)
        k += 0.5 * e * area / length
    return k


def assemble(nodes, modulus, area0, taper, load):
    n = len(nodes)
    K = np.zeros((n, n))
    f = np.zeros(n)
    for el in range(n - 1):
        k = element_stiffness(nodes[el], nodes[el + 1], modulus[el], area0, taper)
        dof = np.array([el, el + 1])
        for a in range(2):
            for b in range(2):
                sign = 1.0 if a == b else -1.0
                K[dof[a], dof[b]] += sign * k
        h = nodes[el + 1] - nodes[el]
        f[el] += 0.5 * h * load[el]
        f[el + 1] += 0.5 * h * load[el]
    return K, f


def apply_dirichlet(K, f, node, value):
    for i in range(len(f)):
        if i != node:
            f[i] -= K[i, node] * value
            K[i, node] = 0.0
            K[node, i] = 0.0
    K[node, node] = 1.0
    f[node] = value


def gauss(K, f):
    n = len(f)
    for k in range(n - 1):
        for i in range(k + 1, n):
            m = K[i, k] / K[k, k]
            for j in range(k, n):
                K[i, j] -= m * K[k, j]
            f[i] -= m * f[k]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            f[i] -= K[i, j] * f[j]
        f[i] /= K[i, i]


def program(nodes, modulus, area0, taper, load):
    """Compliance: the work of the load."""
    K, f = assemble(nodes, modulus, area0, taper, load)
    f0 = f.copy()
    apply_dirichlet(K, f, 0, 0.0)
    gauss(K, f)
    return f0 @ f


def inputs(rng):
    n = 5
    return {
        "nodes": np.linspace(0.0, 2.0, n) + 0.02 * rng.random(n),
        "modulus": rng.uniform(1.0, 2.0, n - 1),
        "area0": 1.3,
        "taper": 0.4,
        "load": rng.uniform(0.5, 1.5, n - 1),
    }
