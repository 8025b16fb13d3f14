"""Derivatives of the plain function: differences, extrapolated, with their error.

Central differences at three step sizes are extrapolated twice (Romberg), in double
precision: the remainder is O(h**6). What the last extrapolation changed, plus the
rounding of the differences, is the reported error. One-sided differences extrapolate
the value, then the slope, towards the point: they see a jump and a kink for what it is.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pyrev.testing.outcome import (
    Cotangents,
    Function,
    Values,
    functional,
    is_float,
    run,
    terms,
    total,
    widen,
)

#: The value of the functional at a distance from the point, along one direction.
Along = Callable[[float], float]

STEP = 4e-3
#: Steps tried in turn while the differences are rough: smaller ones get away from a
#: kink close by, the larger one from rounding.
LADDER = (STEP, STEP / 16, STEP / 256, STEP / 4096, STEP * 16)
#: Steps for one side of the point, all of them taken.
BESIDE = (*LADDER[:4], STEP / 65536)
EPS = float(np.finfo(np.float64).eps)
TINY = 1e-30
#: What a function raises where a step has left its domain.
OUTSIDE = (ArithmeticError, ValueError, IndexError, AssertionError)


@dataclass(frozen=True)
class Estimate:
    """A derivative along a direction, and how far it may be off."""

    value: float
    error: float


NOTHING = Estimate(math.nan, math.inf)


@dataclass(frozen=True)
class Side:
    """The function on one side of the point: its slope, and how far its value jumps.

    `grows` says that there is no slope: it gets steeper the closer one looks.
    """

    slope: Estimate
    jump: float
    grows: bool


def moved(base: Values, direction: Values, t: Any) -> dict[str, Any]:
    """The arguments at `t` along a direction, a part of them."""
    there = dict(base)
    for name, d in direction.items():
        value = base[name] + t * np.asarray(d, np.float64)
        there[name] = value if isinstance(base[name], np.ndarray) else value.item()
    return there


def along(
    function: Function,
    arguments: Values,
    outputs: Sequence[str],
    weights: Cotangents,
    direction: Values,
) -> Along:
    """The functional along a direction, in double precision; NaN where it raises.

    A step may leave the domain of the function: that is no error of the gradient.
    """
    base = widen(arguments)

    def at(t: float) -> float:
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)
                found = run(function, moved(base, direction, t), outputs)
        except OUTSIDE:
            if t == 0.0:
                raise
            return math.nan
        return functional(found, weights)

    return at


def derivative(
    function: Function,
    arguments: Values,
    outputs: Sequence[str],
    weights: Cotangents,
    direction: Values,
    step: float = STEP,
) -> Estimate:
    """The derivative of the functional along `direction`, a part of the arguments."""
    return central(along(function, arguments, outputs, weights, direction), step)


def central(at: Along, step: float, scale: float = 1.0) -> Estimate:
    """Romberg's derivative; `scale` is the size of what the functional sums up."""
    steps = (step, step / 2, step / 4)
    values = [(at(h), at(-h)) for h in steps]
    rough = [(up - down) / (2 * h) for h, (up, down) in zip(steps, values, strict=True)]
    better = [(4 * b - a) / 3 for a, b in zip(rough, rough[1:], strict=False)]
    best = (16 * better[1] - better[0]) / 15
    largest = max(scale, *(abs(v) for pair in values for v in pair))
    return Estimate(best, abs(best - better[1]) + 16 * EPS * largest / steps[-1])


def one_sided(at: Along, side: int, scale: float) -> Side:
    """The functional on the right (1) or the left (-1), from the best of all steps.

    A jump at the point stays as high when the step shrinks; the value of a root, which
    no polynomial extrapolates, comes closer.
    """
    origin = at(0.0)
    looks = [_look(at, side, step, scale) for step in BESIDE]
    gaps = [limit.value - origin for limit, _ in looks]
    torn = _jumps(looks[-1][0], origin, scale) and abs(gaps[-1]) > 0.7 * abs(gaps[-2])
    slopes: list[Estimate] = []
    for limit, values in looks:
        start = limit
        if not torn:
            if _jumps(limit, origin, scale):
                continue
            start = Estimate(origin, EPS * scale)
        noise = _noise([y for _, y in values], scale) + start.error
        nodes = [t for t, _ in values]
        rises = [(y - start.value) / t for t, y in values]
        slopes.append(extrapolate(nodes, rises, noise / abs(nodes[-1])))
    # Where the next smaller step gives another slope, no polynomial is followed yet.
    steady = [
        Estimate(e.value, e.error + max(0.0, abs(e.value - f.value) - 10 * f.error))
        for e, f in zip(slopes, [*slopes[1:], *slopes[-2:-1]], strict=False)
    ]
    best = min(steady, key=lambda e: _finite(e.error), default=NOTHING)
    steep = [abs((at(side * h) - origin) / h) for h in (1e-4, 1e-6, 1e-8)]
    grows = not torn and steep[0] * 1.2 < steep[1] and steep[1] * 1.2 < steep[2]
    return Side(best, gaps[-1] if torn else 0.0, grows)


def _finite(error: float) -> float:
    return error if math.isfinite(error) else math.inf


def _look(
    at: Along, side: int, step: float, scale: float
) -> tuple[Estimate, list[tuple[float, float]]]:
    """The limit of the values towards the point, and the values it comes from."""
    nodes = [side * step / 2**k for k in range(5)]
    values = [at(t) for t in nodes]
    limit = extrapolate(nodes, values, _noise(values, scale))
    return limit, list(zip(nodes, values, strict=True))


def _noise(values: Sequence[float], scale: float) -> float:
    return 16 * EPS * max(scale, *map(abs, values))


def _jumps(limit: Estimate, origin: float, scale: float) -> bool:
    """Is the limit of the values another one than the value at the point?"""
    return abs(limit.value - origin) > 10 * limit.error + 1e3 * EPS * scale


def extrapolate(
    nodes: Sequence[float], values: Sequence[float], noise: float
) -> Estimate:
    """Neville's polynomial at 0; the error is what the last node changed."""
    row = list(values)
    last = row[-1]
    for width in range(1, len(nodes)):
        last = row[-1]
        row = [
            (nodes[k] * row[k + 1] - nodes[k + width] * row[k])
            / (nodes[k] - nodes[k + width])
            for k in range(len(row) - 1)
        ]
    return Estimate(row[0], abs(row[0] - last) + 4 * noise)


def complex_step(
    function: Function,
    arguments: Values,
    outputs: Sequence[str],
    weights: Cotangents,
    direction: Values,
) -> float | None:
    """The derivative by an imaginary step: exact to rounding if `function` is analytic.

    None where the function does not take complex numbers. Whoever asks has to compare:
    `abs` and comparisons take them too, and are not analytic.
    """

    def wide(value: Any) -> Any:
        if not is_float(value):
            return value
        if isinstance(value, np.ndarray):
            return value.astype(np.complex128)
        return complex(value)

    base = {name: wide(value) for name, value in arguments.items()}
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("error")
            found = run(function, moved(base, direction, TINY * 1j), outputs, False)
            parts = [
                np.imag(value) * weight
                for value, weight in zip(
                    found.values(),
                    (*weights.returned, *weights.written.values()),
                    strict=True,
                )
                if weight is not None
            ]
    except Exception:  # whatever it is, the function takes no complex numbers
        return None
    slope = total([x for part in parts for x in np.ravel(part).tolist()]) / TINY
    return slope if math.isfinite(slope) else None


def magnitude(result: Any, weights: Cotangents) -> float:
    """The size of what the functional sums up: its rounding is relative to this."""
    size = math.fsum(abs(x) for x in terms(result, weights) if math.isfinite(x))
    return size if size > 0.0 else 1.0
