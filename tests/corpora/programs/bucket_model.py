"""Hydrology: HBV-like buckets with snow and a unit hydrograph, Nash-Sutcliffe."""

import numpy as np


def snow_routine(precip, temp, snow, tt, ddf):
    if temp < tt:
        return snow + precip, 0.0
    melt = min(snow, ddf * (temp - tt))
    return snow - melt, precip + melt


def soil_routine(sm, water, pet, fc, beta, lp):
    recharge = water * (sm / fc) ** beta
    sm = sm + water - recharge
    if sm > fc:
        recharge += sm - fc
        sm = fc
    evap = pet * min(1.0, sm / (lp * fc))
    evap = min(evap, sm)
    return sm - evap, recharge


def triangular_weights(n):
    w = np.zeros(n)
    for i in range(n):
        w[i] = min(i + 1, n - i)
    return w / np.sum(w)


def route(q, weights):
    out = np.zeros_like(q)
    for t in range(len(q)):
        for k in range(len(weights)):
            if t - k < 0:
                break
            out[t] += weights[k] * q[t - k]
    return out


def simulate(precip, temp, pet, tt, ddf, fc, beta, k1, k2, perc):
    n = len(precip)
    snow, sm, upper, lower = 5.0, 0.6 * fc, 2.0, 10.0
    q = np.zeros(n)
    for t in range(n):
        snow, water = snow_routine(precip[t], temp[t], snow, tt, ddf)
        sm, recharge = soil_routine(sm, water, pet[t], fc, beta, 0.7)
        upper += recharge
        down = min(upper, perc)
        upper -= down
        lower += down
        q1 = k1 * upper
        q2 = k2 * lower
        upper -= q1
        lower -= q2
        q[t] = q1 + q2
    return route(q, triangular_weights(3))


def program(precip, temp, pet, qobs, tt, ddf, fc, beta, k1, k2, perc):
    q = simulate(precip, temp, pet, tt, ddf, fc, beta, k1, k2, perc)
    mean = np.mean(qobs)
    return np.sum((q - qobs) ** 2) / np.sum((qobs - mean) ** 2)


def inputs(rng):
    n = 10
    return {
        "precip": rng.uniform(0.5, 12.0, n),
        "temp": np.array([-3.0, -2.1, 1.4, 4.2, 6.0, 5.1, 3.3, -1.2, 2.4, 6.6]),
        "pet": rng.uniform(0.5, 3.0, n),
        "qobs": rng.uniform(0.5, 5.0, n),
        "tt": 0.21,
        "ddf": 1.83,
        "fc": 60.0,
        "beta": 2.1,
        "k1": 0.3,
        "k2": 0.05,
        "perc": 1.07,
    }
