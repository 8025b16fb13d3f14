"""Is one derivative right? Or is there none, and the gradient keeps to the rules?

Central differences decide where the function is smooth. Where they and the gradient
part, both sides of the point are looked at by themselves:

right   the function has a derivative here and the gradient is it
kink    it has two slopes, and the gradient is one of them or lies between
jump    its value jumps, and the gradient is the slope on a side of the jump
pole    its slope grows without bound, and the gradient is not finite either
rough   no difference is good enough to tell: the value is not finite, or a slope grows
wrong   none of this explains the gradient

A kink or a jump excuses a gradient only with a reason: one-sided slopes that both
exist, or several decisions of the function (a test, a choice of `max`, a `floor`) that
change at this very point, each with its documented side, while gradients close by are
right. A single decision explains nothing but one of its two slopes.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pyrev.testing.decisions import Cause
from pyrev.testing.differences import (
    LADDER,
    Along,
    Estimate,
    Side,
    along,
    central,
    complex_step,
    magnitude,
    one_sided,
)
from pyrev.testing.outcome import Cotangents, Function, Values, run, widen

TOLERANCE = {"float64": 1e-6, "float32": 2e-3}
#: Differences that are good to this part of the scale are worth comparing with.
USEFUL = 1e-3
#: How far another derivation, confirmed by differences, is believed.
EXACT = 1e-12
#: Questions about a direction: is the gradient right close by; what changes here?
Nearby = Callable[[Values], str]
Reason = Callable[[Values], Cause | None]


@dataclass(frozen=True)
class Comparison:
    """One derivative next to the gradient's answer.

    `difference` and `uncertainty` (of `expected`) are relative to the scale: the
    largest derivative of the parameter. `error` is the part of the difference that
    counts: what ten times the uncertainty does not cover, and nothing at an excused
    kink or jump. `reason` says what was found there, with the line if it is known.
    """

    parameter: str
    index: tuple[int, ...] | None
    expected: float
    found: float
    difference: float
    uncertainty: float
    error: float
    verdict: str = "right"
    reason: str = ""

    @property
    def where(self) -> str:
        if self.index is None:
            return self.parameter
        return f"{self.parameter}[{', '.join(map(str, self.index))}]"

    def __str__(self) -> str:
        text = (
            f"{self.where}: the gradient says {self.found:.10g}, "
            f"differences {self.expected:.10g}"
        )
        return f"{text}; {self.reason}" if self.reason else text

    def to_dict(self) -> dict[str, object]:
        return {
            "parameter": self.parameter,
            "index": None if self.index is None else list(self.index),
            "expected": self.expected,
            "found": self.found,
            "difference": self.difference,
            "uncertainty": self.uncertainty,
            "error": self.error,
            "verdict": self.verdict,
            "reason": self.reason,
        }


@dataclass(frozen=True)
class Judgement:
    """The verdict on one number, and what it rests on."""

    verdict: str
    expected: Estimate
    reason: str = ""


def judge(
    at: Along,
    got: float,
    *,
    size: float,
    scale: float,
    tolerance: float,
    unit: float = 1.0,
    exact: Callable[[], float | None] = lambda: None,
    smooth: Callable[[], bool] = lambda: False,
) -> Judgement:
    """Compare `got` with the derivative at 0 of the function `at`.

    `size` is what the tolerance is relative to, `scale` what rounding is relative to;
    `exact` may give the derivative by other means, believed where differences confirm.
    `smooth` may know that nothing is decided at this point, which saves looking at both
    sides. A step of 1 is `unit` of the parameter, for which slopes are told.
    """

    def close(a: float, e: Estimate) -> bool:
        return abs(a - e.value) <= tolerance * size + 10 * e.error

    def useful(e: Estimate) -> bool:
        return 10 * e.error <= max(USEFUL, tolerance) * size

    best = Estimate(math.nan, math.inf)
    for step in LADDER:
        tried = central(at, step, scale)
        if tried.error < best.error:
            best = tried
        if 10 * best.error <= tolerance * size and (close(got, best) or smooth()):
            break
    other = exact() if useful(best) else None
    if other is not None and abs(other - best.value) <= 10 * best.error + EXACT * size:
        return Judgement(
            "right" if abs(got - other) <= tolerance * size else "wrong",
            Estimate(other, min(best.error, EXACT * size)),
        )
    if useful(best) and (close(got, best) or smooth()):
        return Judgement("right" if close(got, best) else "wrong", best)
    origin = at(0.0)
    if not math.isfinite(origin):
        return Judgement("rough", best, "the value of the function is not finite here")
    left, right = (one_sided(at, s, scale) for s in (-1, 1))
    return _beside(left, right, got, best, close, useful, unit)


def _beside(
    left: Side,
    right: Side,
    got: float,
    best: Estimate,
    close: Callable[[float, Estimate], bool],
    useful: Callable[[Estimate], bool],
    unit: float,
) -> Judgement:
    """The verdict from both sides of the point."""
    sides = (left, right)
    known = [s for s in sides if useful(s.slope)]
    torn = [s for s in sides if s.jump]
    if torn:
        height = max((s.jump for s in torn), key=abs)
        at_jump = f"its value jumps by {height:.3g}"
        # The side on which the value is continuous is the side that was computed.
        whole = [s for s in known if not s.jump]
        nearest = min(
            whole or known, key=lambda s: abs(s.slope.value - got), default=None
        )
        if nearest is None:
            return Judgement("rough", best, at_jump)
        verdict = "jump" if close(got, nearest.slope) else "wrong"
        return Judgement(verdict, nearest.slope, at_jump)
    if left.grows or right.grows:
        return Judgement(
            "rough" if math.isfinite(got) else "pole",
            best,
            "the slope grows without bound",
        )
    if len(known) < 2:
        if known and not math.isfinite(best.value):
            verdict = "right" if close(got, known[0].slope) else "wrong"
            return Judgement(verdict, known[0].slope, "the domain ends here")
        return Judgement("rough", best, "differences do not settle")
    low, high = sorted((left.slope, right.slope), key=lambda e: e.value)
    if close(low.value, Estimate(high.value, high.error + low.error)):
        slope = min(low, high, best, key=lambda e: e.error)
        return Judgement("right" if close(got, slope) else "wrong", slope)
    pair = [f"{s.slope.value / unit + 0.0:.6g}" for s in sides]
    two = f"the slopes are {pair[0]} and {pair[1]}"
    if close(got, low) or close(got, high) or low.value <= got <= high.value:
        nearest_slope = min(low, high, key=lambda e: abs(e.value - got))
        return Judgement("kink", nearest_slope, two)
    middle = Estimate((low.value + high.value) / 2, low.error + high.error)
    return Judgement("wrong", middle, two)


@dataclass(slots=True)
class _Point:
    """Where a function is compared with its gradient, and what may excuse that."""

    function: Function
    arguments: Values
    outputs: Sequence[str]
    weights: Cotangents
    #: How long a step of one is for each parameter; a direction has none.
    units: Values
    #: What rounding is relative to.
    scale: float
    tolerance: float
    nearby: Nearby
    reason: Reason
    #: Does the function take complex numbers, as far as was tried?
    analytic: bool = True

    def compare(
        self,
        name: str,
        index: tuple[int, ...] | None,
        direction: Values,
        got: float,
        size: float,
    ) -> Comparison:
        """The slope along `direction` next to `got`, that of the gradient.

        `index` is None for a direction in all parameters, and for a scalar; the
        tolerance is relative to `size`.
        """

        @functools.cache
        def cause() -> Cause | None:
            return self.reason(direction)

        def smooth() -> bool:
            known = cause()
            return known is not None and known.count == 0

        unit = self.units.get(name, 1.0)
        it = judge(
            along(self.function, self.arguments, self.outputs, self.weights, direction),
            got,
            size=size,
            scale=self.scale,
            tolerance=self.tolerance,
            unit=unit,
            exact=lambda: self._by_complex_step(direction),
            smooth=smooth,
        )
        if it.verdict != "right":
            it = self._explained(it, direction, got, index is not None, cause())
        expected = it.expected
        # Along a direction infinities of both signs may meet; an entry has one.
        infinite = index is None or math.isinf(got)
        return Comparison(
            name,
            index,
            expected.value / unit,
            got / unit,
            abs(expected.value - got) / size,
            expected.error / size,
            _counted(it, got, infinite, self.tolerance * size) / size,
            it.verdict,
            it.reason,
        )

    def _by_complex_step(self, direction: Values) -> float | None:
        """The slope to the last bit; None where the function is not analytic."""
        if not self.analytic:
            return None
        found = complex_step(
            self.function, self.arguments, self.outputs, self.weights, direction
        )
        self.analytic = found is not None
        return found

    def _explained(
        self,
        it: Judgement,
        direction: Values,
        got: float,
        entry: bool,
        cause: Cause | None,
    ) -> Judgement:
        """What is not right, after a look at what is decided here and at gradients
        close by: they may excuse an entry, and tell on a direction.
        """
        verdict, why = it.verdict, it.reason
        if verdict == "wrong":
            tied = cause is not None and cause.count > 1 and math.isfinite(got)
            if tied and self.nearby(direction) == "right":
                verdict = "jump" if "jumps" in why else "kink"
                why = why or "no derivative exists at this very point"
                why += ", and gradients close by are right"
        elif not entry and self.nearby(direction) == "wrong":
            verdict = "wrong"
            why = f"{why}, and gradients close by are wrong"
        if cause is not None and cause.text:
            why = f"{why} ({cause.text})" if why else cause.text
        return replace(it, verdict=verdict, reason=why)


def _counted(it: Judgement, got: float, infinite: bool, allowed: float) -> float:
    """The part of the difference that counts; more than `allowed` if it is wrong.

    A gradient that is not finite counts as well, but at a pole where it is `infinite`.
    """
    difference = abs(it.expected.value - got)
    if it.verdict in ("right", "wrong") and math.isfinite(difference):
        off = max(0.0, difference - 10 * it.expected.error)
        return max(off, 2 * allowed) if it.verdict == "wrong" else off
    if not math.isfinite(got) and (it.verdict != "pole" or not infinite):
        return math.inf
    return 0.0


def comparisons(
    function: Function,
    arguments: Values,
    outputs: Sequence[str],
    weights: Cotangents,
    gradients: Values,
    rng: np.random.Generator,
    *,
    entries: int,
    directions: int,
    tolerance: float = TOLERANCE["float64"],
    nearby: Nearby = lambda direction: "rough",
    reason: Reason = lambda direction: None,
) -> Iterator[Comparison]:
    """Random directions in all parameters, which no wrong entry escapes, then entries.

    Every entry of a small parameter is tried and `entries` random ones of a large one.
    `reason` names the decision of the function that changes at the point along a
    direction, None if it does not know; `nearby` is the verdict on gradients close by.
    """
    exact = {name: np.asarray(g, np.float64) for name, g in gradients.items()}
    base = widen(arguments)
    units = {name: unit_of(np.asarray(base[name])) for name in exact}
    scale = magnitude(run(function, base, outputs), weights)
    point = _Point(
        function,
        arguments,
        outputs,
        weights,
        units=units,
        scale=scale,
        tolerance=tolerance,
        nearby=nearby,
        reason=reason,
    )
    for _ in range(directions if exact else 0):
        chosen: dict[str, Any] = {}
        got, size = 0.0, 0.0
        for name, gradient in exact.items():
            d = rng.uniform(-1.0, 1.0, gradient.shape) / math.sqrt(gradient.size + 1)
            chosen[name] = d * units[name]
            got += float(np.sum(gradient * chosen[name]))
            size += float(np.sum(np.abs(gradient * chosen[name])))
        size = _size(size, scale)
        yield point.compare("a random direction", None, chosen, got, size)

    for name, gradient in exact.items():
        unit = units[name]
        largest = unit * float(np.max(np.abs(gradient), initial=0.0))
        size = _size(largest, scale)
        if gradient.ndim == 0:
            got = unit * float(gradient)
            yield point.compare(name, None, {name: unit}, got, size)
            continue
        every = list(np.ndindex(gradient.shape))
        if len(every) > entries:
            picks = rng.choice(len(every), entries, replace=False)
            every = [every[k] for k in sorted(picks.tolist())]
        for index in every:
            step = np.zeros(gradient.shape)
            step[index] = unit
            got = unit * float(gradient[index])
            yield point.compare(name, index, {name: step}, got, size)


def unit_of(value: Any) -> float:
    """How long a step of one is for a parameter: as its values, if these are small."""
    finite = np.abs(value[np.isfinite(value)])
    largest = float(np.max(finite, initial=0.0))
    return min(1.0, largest) if largest > 0.0 else 1.0


def _size(largest: float, scale: float) -> float:
    """What a tolerance is relative to: derivatives this small are noise."""
    floor = min(1.0, scale)
    return max(floor, largest) if math.isfinite(largest) else floor
