"""Glaciology: a snow pack that ages day by day; codes of a station in eight bits, gaps
as nan, layers and their copy that change places after a fall.
"""

import numpy as np


def aged(layers, rate):
    """The layers a day later, and how dense the top was before."""
    return layers * (1.0 - rate), layers[0]


def settled(layers, weight):
    """Down the pack in place: what lies above has settled already."""
    for i in range(1, layers.shape[0] - 1):
        layers[i] = layers[i] + weight * (layers[i - 1] - layers[i]) * layers[i + 1]
    return layers


def albedo(age, code):
    if code < 0:
        return 0.8 - 0.05 * age
    return 0.8 / (1.0 + age * age)


def program(layers0, falls, codes, rate, weight):
    layers = layers0.copy()
    spare = layers0 * 0.5
    age = rate
    melt = 0.0
    warm = 0.0
    for day in range(falls.shape[0]):
        before = age
        if np.isnan(falls[day]):
            age = age + rate
        else:
            age = age * (0.4 + 0.5 * falls[day])
            layers, spare = spare, layers
        layers, top = aged(layers, rate)
        layers = settled(layers, weight)
        light = albedo(age, codes[day])
        scale = codes[day] * codes[day]  # goes around in eight bits
        melt += (1.0 - light) * top * before * age
        warm -= -(weight * age) * scale * 0.01
        for i in range(layers.shape[0]):
            melt += layers[i] * layers[i] * age
        for i in range(layers.shape[0]):
            layers[i] = layers[i] + 0.1 * np.sin(spare[i]) * light
    return melt + warm + layers[1] * spare[2]


def inputs(rng):
    falls = rng.uniform(0.2, 1.4, 6)
    falls[1] = np.nan
    falls[4] = np.nan
    return {
        "layers0": rng.uniform(0.3, 0.9, 5),
        "falls": falls,
        "codes": np.array([100, -128, 17, 127, -3, 90], dtype=np.int8),
        "rate": 0.2,
        "weight": 0.3,
    }
