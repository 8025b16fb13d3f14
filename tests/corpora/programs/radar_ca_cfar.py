"""Radar: pulse compression, a range-Doppler map in loops and a soft CFAR detector."""

import numpy as np


def chirp(n, rate):
    re = np.zeros(n)
    im = np.zeros(n)
    for i in range(n):
        phase = np.pi * rate * i * i / n
        re[i] = np.cos(phase)
        im[i] = np.sin(phase)
    return re, im


def correlate(xr, xi, cr, ci, out_r, out_i):
    n = xr.shape[0]
    for lag in range(n):
        out_r[lag] = 0.0
        out_i[lag] = 0.0
        for k in range(cr.shape[0]):
            if lag + k >= n:
                break
            out_r[lag] += xr[lag + k] * cr[k] + xi[lag + k] * ci[k]
            out_i[lag] += xi[lag + k] * cr[k] - xr[lag + k] * ci[k]


def doppler_power(re, im):
    pulses, bins = re.shape
    power = np.zeros((pulses, bins))
    for d in range(pulses):
        for b in range(bins):
            sr = 0.0
            si = 0.0
            for p in range(pulses):
                a = -2.0 * np.pi * d * p / pulses
                sr += re[p, b] * np.cos(a) - im[p, b] * np.sin(a)
                si += re[p, b] * np.sin(a) + im[p, b] * np.cos(a)
            power[d, b] = sr * sr + si * si
    return power


def cfar(row, b, guard, train):
    total = 0.0
    count = 0
    for k in range(b - guard - train, b + guard + train + 1):
        if k < 0 or k >= len(row) or abs(k - b) <= guard:
            continue
        total += row[k]
        count += 1
    return total / count


def program(raw_re, raw_im, rate, steepness, target_d, target_b):
    cr, ci = chirp(3, rate)
    re = np.zeros_like(raw_re)
    im = np.zeros_like(raw_im)
    for p in range(raw_re.shape[0]):
        correlate(raw_re[p], raw_im[p], cr, ci, re[p], im[p])
    power = doppler_power(re, im)
    score = 0.0
    for d in range(power.shape[0]):
        for b in range(power.shape[1]):
            ratio = power[d, b] / cfar(power[d], b, 1, 2)
            hit = 1.0 / (1.0 + np.exp(-steepness * (ratio - 1.5)))
            if d == target_d and b == target_b:
                score += 1.0 - hit
            else:
                score += 0.1 * hit
    return score


def inputs(rng):
    return {
        "raw_re": rng.normal(size=(3, 7)),
        "raw_im": rng.normal(size=(3, 7)),
        "rate": 0.8,
        "steepness": 1.0,
        "target_d": 1,
        "target_b": 3,
    }
