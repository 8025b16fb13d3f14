"""Climate: a zonal energy balance model with ice-albedo feedback and two oceans."""

import numpy as np

S0 = 1361.0


def insolation(lat):
    s = np.sin(lat)
    return 0.25 * S0 * (1.0 - 0.477 * 0.5 * (3.0 * s * s - 1.0))


def albedo(T, lo, hi):
    return lo + (hi - lo) / (1.0 + np.exp(0.5 * (T + 10.0)))


def transport(T, lat, D):
    n = T.shape[0]
    flux = np.zeros(n + 1)
    for i in range(1, n):
        edge = 0.5 * (lat[i] + lat[i - 1])
        flux[i] = -D * np.cos(edge) * (T[i] - T[i - 1]) / (lat[i] - lat[i - 1])
    out = np.zeros(n)
    for i in range(n):
        width = np.pi / n
        out[i] = -(flux[i + 1] - flux[i]) / (width * np.cos(lat[i]))
    return out


def year(T, deep, lat, forcing, A, B, D, lo, hi, C, exchange):
    q = insolation(lat) * (1.0 - albedo(T, lo, hi))
    out = A + B * T - forcing
    heat = exchange * (T - deep)
    T_new = T + (q - out + transport(T, lat, D) - heat) / C
    deep_new = deep + heat / (20.0 * C)
    return T_new, deep_new


def program(T0, lat, forcing, observed, A, B, D, lo, hi, C, exchange):
    T = T0.copy()
    deep = np.full(T0.shape[0], np.mean(T0))
    weights = np.cos(lat) / np.sum(np.cos(lat))
    loss = 0.0
    for y in range(forcing.shape[0]):
        T, deep = year(T, deep, lat, forcing[y], A, B, D, lo, hi, C, exchange)
        if np.isnan(observed[y]):
            continue
        loss += (np.sum(weights * T) - observed[y]) ** 2
    return loss


def inputs(rng):
    n = 6
    lat = (np.arange(n) + 0.5) * np.pi / n - np.pi / 2
    observed = rng.normal(14.0, 0.5, 5)
    observed[2] = np.nan
    return {
        "T0": 25.0 - 45.0 * np.sin(lat) ** 2,
        "lat": lat,
        "forcing": np.linspace(0.0, 2.0, 5),
        "observed": observed,
        "A": 203.3,
        "B": 2.09,
        "D": 0.5,
        "lo": 0.3,
        "hi": 0.62,
        "C": 40.0,
        "exchange": 0.7,
    }
