"""Structural health: the modes of a bridge that somebody watches, from a few channels.

A recorder object that is handed in keeps its place and its last value while it is
written to; the filters of a chain are named tuples in a tuple, chosen by their texts;
the response of each is complex, and so is the transfer function that comes in; the
filter gets longer with its order; what each stage gives is kept in a list of arrays
that are read again later; a list of peaks is made anew for each channel; and bad
settings raise with what was found.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np


class Stage(NamedTuple):
    kind: str
    corner: float
    gain: float


@dataclass
class Recorder:
    tape: np.ndarray
    place: int
    last: float


def kept(recorder, value):
    """Writes a value to the tape; gives what was there."""
    before = recorder.tape[recorder.place]
    recorder.tape[recorder.place] = value
    recorder.place = (recorder.place + 1) % len(recorder.tape)
    recorder.last = 0.5 * (recorder.last + value)
    return before


def response(stage, omega):
    """The complex response of one stage."""
    if stage.kind.lower() == "low":
        return stage.gain / (1.0 + 1j * omega / stage.corner)
    if stage.kind.lower() == "high":
        return stage.gain * 1j * omega / (stage.corner + 1j * omega)
    raise ValueError(f"there is no stage {stage.kind}")


def prediction(signal, order):
    """A filter that gets longer in each turn, and what is left of the energy."""
    filter_ = np.array([1.0])
    forward, backward = signal[1:], signal[:-1]
    energy = np.mean(signal**2)
    for _ in range(order):
        k = -2.0 * np.sum(forward * backward) / np.sum(forward**2 + backward**2)
        longer = np.append(filter_, 0.0)
        filter_ = longer + k * longer[::-1]
        old = forward
        forward = (forward + k * backward)[1:]
        backward = (backward + k * old)[:-1]
        energy *= 1.0 - k * k
    return filter_, energy


def program(signals, chain, transfer, recorder, dt, order=2):
    channels, n = signals.shape
    if n <= order + 1:
        raise ValueError(
            f"{n} samples are too few for order {order} of {signals.shape}"
        )
    if dt <= 0.0:
        raise ValueError(f"a step of {dt:.3f} s")
    total = 0.0
    stages = []
    for c in range(channels):
        shaped = signals[c].copy()
        for stage in chain:
            h = response(stage, 1.3) * transfer[c]
            shaped = shaped * h.real + np.roll(shaped, 1) * h.imag * dt
        stages.append(shaped)
        peaks = []
        for i in range(1, n - 1):
            if shaped[i] > shaped[i - 1] and shaped[i] > shaped[i + 1]:
                peaks.append(shaped[i])
        for p in peaks:
            total += kept(recorder, p * p)
        if len(peaks) == 0:
            total -= kept(recorder, shaped[0])
        filter_, energy = prediction(shaped, order)
        total += energy * len(filter_) + filter_[-1]
    for c in range(1, channels):
        total += stages[c] @ stages[c - 1] + stages[c][0] * recorder.last
    return total


def inputs(rng):
    return {
        "signals": rng.uniform(-1.0, 1.0, (3, 7)),
        "chain": (Stage("low", 2.0, 1.1), Stage("High", 0.7, 0.9)),
        "transfer": rng.uniform(0.5, 1.0, 3) + 1j * rng.uniform(-0.5, 0.5, 3),
        "recorder": Recorder(np.linspace(0.1, 0.5, 4), 1, 0.3),
        "dt": 0.2,
    }
