"""Heat transfer: melting by the enthalpy method."""

import numpy as np

CP = 1.0


def temperature(h, latent, t_melt):
    if h < CP * t_melt:
        return h / CP
    if h > CP * t_melt + latent:
        return (h - latent) / CP
    return t_melt


def liquid_fraction(h, latent, t_melt):
    return min(1.0, max(0.0, (h - CP * t_melt) / latent))


def conductivity(f, k_solid, k_liquid):
    return (1.0 - f) * k_solid + f * k_liquid


def step(h, latent, t_melt, ks, kl, t_wall, dx, dt):
    n = h.shape[0]
    T = np.zeros(n)
    k = np.zeros(n)
    for i in range(n):
        T[i] = temperature(h[i], latent, t_melt)
        k[i] = conductivity(liquid_fraction(h[i], latent, t_melt), ks, kl)
    new = h.copy()
    for i in range(n):
        if i == 0:
            west = 2.0 * k[0] * (t_wall - T[0]) / dx
        else:
            west = 2.0 * k[i] * k[i - 1] / (k[i] + k[i - 1]) * (T[i - 1] - T[i]) / dx
        if i == n - 1:
            east = 0.0
        else:
            east = 2.0 * k[i] * k[i + 1] / (k[i] + k[i + 1]) * (T[i] - T[i + 1]) / dx
        new[i] += dt / dx * (west - east)
    return new


def program(h0, latent, t_melt, ks, kl, t_wall, dx, dt, sensors, data):
    h = h0
    loss = 0.0
    for t in range(data.shape[0]):
        h = step(h, latent, t_melt, ks, kl, t_wall, dx, dt)
        for s in range(sensors.shape[0]):
            if np.isnan(data[t, s]):
                continue
            loss += (temperature(h[sensors[s]], latent, t_melt) - data[t, s]) ** 2
    front = 0.0
    for i in range(h.shape[0]):
        front += dx * liquid_fraction(h[i], latent, t_melt)
    return loss + front


def inputs(rng):
    data = rng.uniform(0.0, 1.0, (4, 2))
    data[2, 1] = np.nan
    return {
        "h0": np.array([1.31, 0.83, 0.71, -0.13, -0.42, -0.61]),
        "latent": 1.1,
        "t_melt": 0.47,
        "ks": 0.9,
        "kl": 0.6,
        "t_wall": 2.3,
        "dx": 0.3,
        "dt": 0.02,
        "sensors": np.array([1, 3]),
        "data": data,
    }
