"""Medical physics: a polychromatic forward model with two materials."""

import numpy as np


def spectrum(energies, kvp, filtration):
    s = np.zeros_like(energies)
    for e in range(len(energies)):
        if energies[e] >= kvp:
            break
        s[e] = (kvp / energies[e] - 1.0) * np.exp(
            -filtration * (30.0 / energies[e]) ** 3
        )
    return s / np.sum(s)


def attenuation(energies, photo, compton):
    return photo * (30.0 / energies) ** 3 + compton / (1.0 + energies / 511.0)


def line_integrals(img, density, n_rays):
    """Rows of the image, as parallel rays."""
    out = np.zeros((n_rays, 2))
    for r in range(n_rays):
        for x in range(img.shape[1]):
            material = img[r, x]
            out[r, material] += density[r, x]
    return out


def transmit(s, mu_a, mu_b, a, b):
    t = 0.0
    for e in range(len(s)):
        if s[e] == 0.0:
            continue
        t += s[e] * np.exp(-a * mu_a[e] - b * mu_b[e])
    return -np.log(t)


def program(density, img, energies, low_kvp, high_kvp, filtration, coef, data):
    lines = line_integrals(img, density, img.shape[0])
    mu_a = attenuation(energies, coef[0, 0], coef[0, 1])
    mu_b = attenuation(energies, coef[1, 0], coef[1, 1])
    chi2 = 0.0
    for k, kvp in enumerate((low_kvp, high_kvp)):
        s = spectrum(energies, kvp, filtration)
        for r in range(lines.shape[0]):
            p = transmit(s, mu_a, mu_b, lines[r, 0], lines[r, 1])
            chi2 += (p - data[k, r]) ** 2
    return chi2


def inputs(rng):
    return {
        "density": rng.uniform(0.1, 0.6, (3, 4)),
        "img": rng.integers(0, 2, (3, 4)),
        "energies": np.array([25.0, 45.0, 65.0, 85.0, 105.0]),
        "low_kvp": 81.3,
        "high_kvp": 121.7,
        "filtration": 0.5,
        "coef": np.array([[0.3, 0.2], [1.1, 0.5]]),
        "data": rng.uniform(0.2, 0.8, (2, 3)),
    }
