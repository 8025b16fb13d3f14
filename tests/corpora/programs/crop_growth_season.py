"""Agronomy: thermal time, leaf area and water stress of a season."""

import numpy as np


def thermal_time(tmin, tmax, base, opt):
    t = 0.5 * (tmin + tmax)
    if t <= base:
        return 0.0
    if t > opt:
        t = opt - 0.5 * (t - opt)
    return t - base


def penman_like(radiation, tmean, lai):
    cover = 1.0 - np.exp(-0.5 * lai)
    return 0.1 * radiation * (0.4 + 0.6 * cover) * (1.0 + 0.02 * tmean)


def water_balance(water, rain, demand, capacity, wilting):
    available = max(0.0, (water - wilting) / (capacity - wilting))
    stress = 1.0 - np.exp(-3.0 * available)
    used = demand * stress
    water = water + rain - used
    drained = 0.0
    if water > capacity:
        drained = water - capacity
        water = capacity
    return water, stress, drained


def partition(stage):
    """Leaves first, then grain."""
    leaf = 0.6 / (1.0 + np.exp(8.0 * (stage - 0.5)))
    grain = 1.0 / (1.0 + np.exp(-12.0 * (stage - 0.8)))
    return leaf, grain


def program(tmin, tmax, radiation, rain, rue, base, opt, tt_total, capacity, wilting):
    lai, tt, biomass, grain = 0.3, 0.0, 10.0, 0.0
    water = 0.7 * capacity
    leached = 0.0
    for day in range(len(tmin)):
        tt += thermal_time(tmin[day], tmax[day], base, opt)
        stage = tt / tt_total
        if tmin[day] < -2.0:
            lai *= 0.6  # frost
        demand = penman_like(radiation[day], 0.5 * (tmin[day] + tmax[day]), lai)
        water, stress, out = water_balance(water, rain[day], demand, capacity, wilting)
        leached += out
        gain = rue * radiation[day] * (1.0 - np.exp(-0.6 * lai)) * stress
        to_leaf, to_grain = partition(stage)
        lai += 0.02 * to_leaf * gain
        grain += to_grain * gain
        biomass += gain
        if stage >= 1.0:
            break
    return grain - 0.5 * leached + 0.01 * biomass


def inputs(rng):
    n = 10
    tmin = np.array([3.0, 5.0, -3.1, 4.4, 8.0, 9.1, 10.2, 12.0, 13.3, 12.7])
    return {
        "tmin": tmin,
        "tmax": tmin + rng.uniform(8.0, 12.0, n),
        "radiation": rng.uniform(10.0, 25.0, n),
        "rain": rng.uniform(0.0, 9.0, n),
        "rue": 1.6,
        "base": 4.3,
        "opt": 17.1,
        "tt_total": 60.0,
        "capacity": 31.7,
        "wilting": 8.3,
    }
