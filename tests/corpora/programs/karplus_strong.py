"""Audio: Karplus-Strong strings in a ring buffer, matched to a target by envelopes."""

import numpy as np


def pluck(excitation, out, decay, brightness):
    period = excitation.shape[0]
    buf = np.zeros(period)
    buf[:] = excitation
    pos = 0
    prev = 0.0
    for n in range(out.shape[0]):
        cur = buf[pos]
        out[n] += cur
        filtered = brightness * cur + (1.0 - brightness) * prev
        prev = cur
        buf[pos] = decay * filtered
        pos += 1
        if pos == period:
            pos = 0


def envelope(x, attack, release):
    env = np.zeros_like(x)
    level = 0.0
    for n in range(len(x)):
        mag = x[n] * x[n]
        coeff = attack if mag > level else release
        level = coeff * level + (1.0 - coeff) * mag
        env[n] = level
    return env


def program(exc1, exc2, decay, brightness, target, mix=0.5):
    n = target.shape[0]
    voice = np.zeros(n)
    pluck(exc1, voice, decay, brightness)
    other = np.zeros(n)
    pluck(exc2, other, decay, 1.0 - brightness)
    for i in range(n):
        voice[i] = mix * voice[i] + (1.0 - mix) * other[i]
    e = envelope(voice, 0.3, 0.9)
    loss = 0.0
    for i in range(n):
        loss += (np.log(e[i] + 1e-4) - np.log(target[i] + 1e-4)) ** 2
    return loss / n


def inputs(rng):
    return {
        "exc1": rng.uniform(-1, 1, 4),
        "exc2": rng.uniform(-1, 1, 5),
        "decay": 0.96,
        "brightness": 0.6,
        "target": rng.uniform(0.01, 0.5, 14),
    }
