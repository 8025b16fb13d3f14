"""Hydrology: a Nash cascade as ODEs with losses and a timing penalty."""

import numpy as np


def effective_rain(rain, phi, wet0, recession):
    eff = np.zeros(len(rain))
    wet = wet0
    for t in range(len(rain)):
        wet = recession * wet + rain[t]
        runoff = wet / (wet + phi)
        eff[t] = runoff * rain[t]
    return eff


def cascade(inflow, storage, k, dt):
    """Advance all reservoirs, the outflow of one being the inflow of the next."""
    q = inflow
    for r in range(storage.shape[0]):
        out = storage[r] / k
        storage[r] += dt * (q - out)
        q = out
    return q


def centre_of_mass(q):
    num, den = 0.0, 0.0
    for t, value in enumerate(q):
        num += t * value
        den += value
    return num / den


def program(rain, observed, phi, wet0, recession, k, reservoirs, substeps):
    eff = effective_rain(rain, phi, wet0, recession)
    storage = np.zeros(reservoirs)
    sim = np.zeros_like(rain)
    for t in range(len(rain)):
        q = 0.0
        for _ in range(substeps):
            q += cascade(eff[t], storage, k, 1.0 / substeps)
        sim[t] = q / substeps
    shift = centre_of_mass(sim) - centre_of_mass(observed)
    logs = np.log(sim + 0.1) - np.log(observed + 0.1)
    return np.sum(logs * logs) + shift * shift


def inputs(rng):
    return {
        "rain": rng.uniform(0.5, 9.0, 7),
        "observed": rng.uniform(0.5, 3.0, 7),
        "phi": 12.0,
        "wet0": 3.0,
        "recession": 0.85,
        "k": 1.4,
        "reservoirs": 3,
        "substeps": 2,
    }
