"""Embedded systems: a sensor linearised by an integer table, calibration error."""

import numpy as np

STEP = 16


def quantise(volts, vref):
    return int(volts / vref * 255.0)


def table_value(codes, table, code):
    """Linear interpolation between the entries of a uint8 index table."""
    k = code // STEP
    frac = (code % STEP) / STEP
    a = table[codes[k]]
    b = table[codes[k + 1]]
    return a + frac * (b - a)


def parity_weight(code):
    ones = 0
    c = code
    while c > 0:
        ones += c & 1
        c >>= 1
    return 1.0 if ones % 2 == 0 else 0.9


def smooth_fraction(volts, vref):
    x = volts / vref * 255.0
    return x - np.floor(x)


def program(volts, vref, codes, table, offset, gain, reference):
    error = 0.0
    for i in range(len(volts)):
        code = min(max(quantise(volts[i], vref), 0), 239)
        raw = table_value(codes, table, code)
        nxt = table_value(codes, table, code + 1)
        f = smooth_fraction(volts[i], vref)
        value = gain * ((1.0 - f) * raw + f * nxt) + offset
        error += parity_weight(code) * (value - reference[i]) ** 2
    return error


def inputs(rng):
    return {
        "volts": rng.uniform(0.2, 2.9, 6),
        "vref": 3.3,
        "codes": np.array(
            [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2], dtype=np.uint8
        ),
        "table": rng.normal(size=10),
        "offset": 0.1,
        "gain": 1.2,
        "reference": rng.normal(size=6),
    }
