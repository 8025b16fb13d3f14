"""Molecular biology: quantitative PCR, two dyes, cycles in bytes, lost wells."""

import numpy as np


def copies(start, efficiency, cycle):
    return start * efficiency**cycle


def amplified(wells, efficiency, cycles, signal):
    for w in range(wells.shape[0]):
        if np.isnan(wells[w]):
            continue
        for k in range(cycles.shape[0]):
            made = copies(wells[w], efficiency, cycles[k])
            signal[w, k] = made / (1.0 + made * 1e-9)
    return signal


def threshold_shift(base, dropped):
    base -= dropped
    base *= dropped
    return base * 0.01


def program(wells, controls, efficiency, plateau, cycles, swapped):
    dye = np.zeros((wells.shape[0], cycles.shape[0]))
    reference = np.zeros((controls.shape[0], cycles.shape[0]))
    dye = amplified(wells, efficiency, cycles, dye)
    reference = amplified(controls, efficiency * 0.97, cycles, reference)
    for k in range(swapped.shape[0]):
        if swapped[k] > 0:  # the plate was read with the filters the other way round
            dye, reference = reference, dye
    total = threshold_shift(plateau, cycles[0])
    for w in range(dye.shape[0]):
        for k in range(cycles.shape[0]):
            if dye[w, k] > 0.0 and reference[w, k] > 0.0:
                total += np.log(dye[w, k]) - 0.5 * np.log(reference[w, k])
                total += (dye[w, k] - plateau * reference[w, k]) * 1e-12
    return total


def inputs(rng):
    wells = rng.uniform(1.0, 3.0, 5)
    wells[2] = np.nan
    return {
        "wells": wells,
        "controls": rng.uniform(1.0, 3.0, 5),
        "efficiency": 1.93,
        "plateau": 0.8,
        "cycles": np.array([18, 27, 33, 41], dtype=np.int8),
        "swapped": np.array([0, 1, 0], dtype=np.int8),
    }
