"""Audio: a phase vocoder in loops: windowed DFT frames, phases scaled, overlap-add."""

import math

import numpy as np


def hann(n):
    w = np.zeros(n)
    for i in range(n):
        w[i] = 0.5 - 0.5 * math.cos(2.0 * math.pi * i / n)
    return w


def analyse(x, start, window, mag, phase):
    n = len(window)
    for k in range(n // 2 + 1):
        re = 0.0
        im = 0.0
        for i in range(n):
            angle = 2.0 * math.pi * k * i / n
            re += window[i] * x[start + i] * math.cos(angle)
            im -= window[i] * x[start + i] * math.sin(angle)
        mag[k] = math.sqrt(re * re + im * im + 1e-6)
        phase[k] = math.atan2(im, re)


def wrap(phi):
    return phi - 2.0 * math.pi * math.floor((phi + math.pi) / (2.0 * math.pi))


def synthesise(mag, phase, window, out, start):
    n = len(window)
    for i in range(n):
        s = 0.0
        for k in range(n // 2 + 1):
            gain = 1.0 if k == 0 or 2 * k == n else 2.0
            s += gain * mag[k] * math.cos(2.0 * math.pi * k * i / n + phase[k])
        out[start + i] += window[i] * s / n


def stretch(x, size, hop_in, hop_out):
    frames = (len(x) - size) // hop_in + 1
    out = np.zeros((frames - 1) * hop_out + size)
    window = hann(size)
    bins = size // 2 + 1
    mag = np.zeros(bins)
    phase = np.zeros(bins)
    last = np.zeros(bins)
    total = np.zeros(bins)
    for f in range(frames):
        analyse(x, f * hop_in, window, mag, phase)
        for k in range(bins):
            if f == 0:
                total[k] = phase[k]
            else:
                omega = 2.0 * math.pi * k * hop_in / size
                delta = wrap(phase[k] - last[k] - omega)
                total[k] += (omega + delta) * hop_out / hop_in
            last[k] = phase[k]
        synthesise(mag, total, window, out, f * hop_out)
    return out


def program(x, target):
    y = stretch(x, 6, 2, 3)
    n = min(len(y), len(target))
    loss = 0.0
    for i in range(n):
        loss += (y[i] - target[i]) ** 2
    return loss


def inputs(rng):
    return {"x": rng.normal(size=12), "target": rng.normal(size=15)}
