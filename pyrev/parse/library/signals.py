"""Signals: correlations, windows, angles without jumps, ends without zeros."""

from __future__ import annotations

import numpy as np

from pyrev.parse.library.entries import Count, Number, Vector, means


def _overlaps(a: Vector, v: Vector, first: Count, count: Count) -> Vector:
    """The sums over all elements that meet, from one place of the second on."""
    made = np.zeros(count, dtype=np.result_type(a, v))
    m = v.shape[0]
    for i in range(a.shape[0]):
        for k in range(m):
            if first <= i + m - 1 - k < first + count:
                made[i + m - 1 - k - first] += a[i] * v[k]
    return made


@means(np.correlate, mode="full")
def correlate(a: Vector, v: Vector) -> Vector:
    """All places at which the two meet."""
    if a.shape[0] == 0 or v.shape[0] == 0:
        raise ValueError("an array without elements cannot be correlated")
    return _overlaps(a, v, 0, a.shape[0] + v.shape[0] - 1)


@means(np.correlate)
def correlate_inside(a: Vector, v: Vector) -> Vector:
    """The places at which the shorter one lies inside the longer one."""
    n = a.shape[0]
    m = v.shape[0]
    if n == 0 or m == 0:
        raise ValueError("an array without elements cannot be correlated")
    return _overlaps(a, v, min(n, m) - 1, max(n, m) - min(n, m) + 1)


@means(np.correlate, mode="same")
def correlate_same(a: Vector, v: Vector) -> Vector:
    """As many places as the longer one has, from the middle, which is further on where
    that is the second one.
    """
    n = a.shape[0]
    m = v.shape[0]
    if n == 0 or m == 0:
        raise ValueError("an array without elements cannot be correlated")
    return _overlaps(a, v, (m - 1) // 2 if n >= m else n // 2, max(n, m))


@means(np.hanning)
def hanning(M: Count) -> Vector:
    """A raised cosine, from zero to zero."""
    made = np.ones(max(M, 0))
    if M > 1:
        for k in range(M):
            made[k] = 0.5 + 0.5 * np.cos(np.pi * (2 * k + 1 - M) / (M - 1))
    return made


@means(np.hamming)
def hamming(M: Count) -> Vector:
    """A raised cosine whose ends are not zero."""
    made = np.ones(max(M, 0))
    if M > 1:
        for k in range(M):
            made[k] = 0.54 + 0.46 * np.cos(np.pi * (2 * k + 1 - M) / (M - 1))
    return made


@means(np.blackman)
def blackman(M: Count) -> Vector:
    """Two cosines."""
    made = np.ones(max(M, 0))
    if M > 1:
        for k in range(M):
            t = np.pi * (2 * k + 1 - M) / (M - 1)
            made[k] = 0.42 + 0.5 * np.cos(t) + 0.08 * np.cos(2.0 * t)
    return made


@means(np.bartlett)
def bartlett(M: Count) -> Vector:
    """Up to one, and down again."""
    made = np.ones(max(M, 0))
    if M > 1:
        for k in range(M):
            made[k] = 1.0 - abs(2 * k + 1 - M) / (M - 1)
    return made


@means(np.unwrap)
def unwrap(p: Vector) -> Vector:
    """Angles without jumps: of a step, whole turns are taken away until it is half a
    turn at most. They are constant, so each element passes its own derivative.
    """
    made = np.empty(p.shape[0], dtype=np.result_type(p, 1.0))
    turn = 2.0 * np.pi
    half = 0.5 * turn
    added = np.zeros(p.shape[0], dtype=np.result_type(p, 1.0))
    for k in range(p.shape[0]):
        if k > 0:
            step = 1.0 * (p[k] - p[k - 1])
            rest = (step + half) % turn - half
            if rest == -half and step > 0.0:
                rest = half
            added[k] = added[k - 1] + (0.0 if abs(step) < half else rest - step)
        made[k] = p[k] + added[k]
    return made


@means(np.trim_zeros)
def trim_zeros(filt: Vector) -> Vector:
    """The elements from the first to the last that are not zero."""
    first = 0
    n = filt.shape[0]
    while first < n and filt[first] == 0:
        first += 1
    last = n
    while last > first and filt[last - 1] == 0:
        last -= 1
    return filt[first:last]


@means(np.trim_zeros, trim="f")
def trim_first_zeros(filt: Vector) -> Vector:
    """The elements from the first that is not zero on."""
    first = 0
    while first < filt.shape[0] and filt[first] == 0:
        first += 1
    return filt[first:]


@means(np.trim_zeros, trim="b")
def trim_last_zeros(filt: Vector) -> Vector:
    """The elements up to the last that is not zero."""
    last = filt.shape[0]
    while last > 0 and filt[last - 1] == 0:
        last -= 1
    return filt[:last]


@means(np.geomspace)
def geomspace(start: Number, stop: Number, num: Count = 50) -> Vector:
    """Numbers with equal quotients, from one to another of the same sign."""
    if start == 0 or stop == 0:
        raise ValueError("Geometric sequence cannot include zero")
    sign = np.sign(1.0 * start)
    made = sign * 10.0 ** np.linspace(
        np.log10(start * sign), np.log10(stop * sign), num
    )
    if num > 0:
        made[0] = start
    if num > 1:
        made[num - 1] = stop
    return made
