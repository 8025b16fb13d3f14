"""Plant physiology: water up a root hydraulic network."""

import numpy as np


def conductance_tree(parent, kx, kr):
    """The equivalent conductance below each segment, tips first."""
    n = len(parent)
    below = np.zeros(n)
    driven = np.zeros(n)
    for i in range(n - 1, -1, -1):
        local = kr[i] + below[i]
        eq = kx[i] * local / (kx[i] + local)
        driven[i] = eq
        if parent[i] >= 0:
            below[parent[i]] += eq
    return driven, below


def equivalent_potential(parent, kx, kr, soil, driven, below):
    n = len(parent)
    num = np.zeros(n)
    psi = np.zeros(n)
    for i in range(n - 1, -1, -1):
        psi[i] = (kr[i] * soil[i] + num[i]) / (kr[i] + below[i])
        if parent[i] >= 0:
            num[parent[i]] += driven[i] * psi[i]
    return psi


def distribute(parent, kx, kr, soil, driven, psi, collar, flux):
    """Potentials from the collar down; what each segment takes from the soil."""
    n = len(parent)
    inner = np.zeros(n)
    for i in range(n):
        above = collar if parent[i] < 0 else inner[parent[i]]
        q = driven[i] * (psi[i] - above)
        inner[i] = above + q / kx[i]
        flux[i] = kr[i] * (soil[i] - inner[i])


def program(kx, kr, soil, collar, parent, observed):
    driven, below = conductance_tree(parent, kx, kr)
    psi = equivalent_potential(parent, kx, kr, soil, driven, below)
    flux = np.zeros_like(soil)
    distribute(parent, kx, kr, soil, driven, psi, collar, flux)
    loss = 0.0
    for i, q in enumerate(flux):
        loss += (q - observed[i]) ** 2
    return loss + 0.1 * np.sum(flux)


def inputs(rng):
    return {
        "kx": rng.uniform(1.0, 3.0, 6),
        "kr": rng.uniform(0.1, 0.5, 6),
        "soil": rng.uniform(-0.5, -0.1, 6),
        "collar": -1.0,
        "parent": np.array([-1, 0, 0, 1, 1, 2]),
        "observed": rng.uniform(0.0, 0.3, 6),
    }
