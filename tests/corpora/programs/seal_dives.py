"""Dives of seals by tags: records read through a place that a helper moves, depths of
eight bits, gaps, tracks that change places, dives gone through from the last one, and a
list of surfacings that a helper finds and marks.
"""

from __future__ import annotations

import numpy as np


def taken(tracks, place):
    """The next track, over and over."""
    place[0] = (place[0] + 1) % len(tracks)
    return tracks[place[0]]


def surfacing(track, bar, first, marks):
    for i in range(first, len(track)):
        if np.isnan(track[i]):
            marks[i] += 1
            continue
        if track[i] < bar:
            marks[i] -= 1
            return i
    return -1


def surfacings(track, bar, marks):
    found = []
    first = 0
    while True:
        i = surfacing(track, bar, first, marks)
        if i < 0:
            break
        found.append(track[i] * (i + 1))
        first = i + 1
    return found


def backwards(track, codes):
    """Later dives first: the turn counts up where the place goes down."""
    effort, turn = 0.0, 0
    for i in reversed(range(len(track))):
        if not np.isnan(track[i]):
            effort = 0.6 * effort + track[i] * codes[turn] / (1.0 + i)
        turn += 1
    for i in range(codes[0], len(track)):
        if not np.isnan(track[i]):
            effort += 0.1 * turn * track[i] ** 2
        turn -= 1
    return effort


def deep(track, other, bar):
    kept = ~np.isnan(track) & (track > bar)
    a, b = track[kept], other[kept]
    both = 0.0
    for i in range(len(a)):
        both += a[i] * (b[i] if not np.isnan(b[i]) else 0.5)
    return both, a


def program(tracks, place, codes, marks, bar):
    tracks = tracks.copy()
    spread = taken(tracks, place) - taken(tracks, place)
    tracks[place[0]] *= 1.0 + 0.1 * taken(tracks, place)[1]
    one, other = taken(tracks, place), taken(tracks, place).copy()
    total = np.nansum(spread * spread)
    for turn in range(3):
        both, a = deep(one, other, bar)
        total += both * (turn + 1)
        if both > 1.0:
            one, other = other, one * 0.7
        else:
            other = other + 0.1
        for value in surfacings(one, bar, marks):
            total += value * value
        total += backwards(one, codes) - backwards(other, codes) ** 2
    return total, np.where(np.isnan(one), 0.0, one)


def inputs(rng):
    tracks = 0.3 + 0.5 * rng.permutation(np.linspace(0.0, 1.0, 21)).reshape(3, 7)
    tracks[0, 3] = tracks[2, 5] = np.nan
    return {
        "tracks": tracks,
        "place": np.array([1]),
        "codes": np.array([2, 250, 7, 100, 255, 3, 90], np.uint8),
        "marks": np.full(7, 110, np.int8),
        "bar": 0.47,
    }
