"""Decides whether a gradient agrees with the function it belongs to.

A function is a map from the initial values of its parameters to its returned values and
the final values of the arrays it writes. Everything here works on one number, the sum
of all outputs weighted at random, and on copies of the arguments.

Derivatives are central differences at three step sizes, extrapolated twice (Romberg),
in double precision: the remainder is O(h**6). What the last extrapolation changed, plus
the rounding of the differences, is the reported error of a derivative.
"""

from __future__ import annotations

import copy
import inspect
import math
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Function = Callable[..., Any]
Values = Mapping[str, Any]
Array = NDArray[Any]

STEP = 4e-3
TOLERANCE = {"float64": 1e-6, "float32": 2e-3}
SECONDS = 20.0
SLOW = 0.2


# ------------------------------------------------------------------ one number


@dataclass(frozen=True)
class Outcome:
    """What a call left behind: the returned values and the written arrays.

    `structure` is None for no result, `tuple` for a tuple, `object` for a single value.
    """

    returned: tuple[Any, ...]
    written: dict[str, Array]
    structure: type | None

    def values(self) -> tuple[Any, ...]:
        return (*self.returned, *self.written.values())


@dataclass(frozen=True)
class Cotangents:
    """One weight per element of every output, shaped like an `Outcome`."""

    returned: tuple[Any, ...]
    written: dict[str, Array]
    structure: type | None

    @property
    def positional(self) -> Any:
        """As a pullback takes it: nothing, one value, or a tuple."""
        if self.structure is None:
            return None
        return self.returned if self.structure is tuple else self.returned[0]


def outcome(result: Any, arguments: Values, outputs: Sequence[str]) -> Outcome:
    """Copies of what a call returned and of the arrays it wrote."""
    several = result if isinstance(result, tuple) else (result,)
    return Outcome(
        () if result is None else tuple(copy.deepcopy(v) for v in several),
        {name: np.array(arguments[name]) for name in outputs},
        None if result is None else (tuple if isinstance(result, tuple) else object),
    )


def run(function: Function, arguments: Values, outputs: Sequence[str]) -> Outcome:
    """Call a function on copies of its arguments."""
    own = copy.deepcopy(dict(arguments))
    return outcome(function(**own), own, outputs)


def changed(before: Values, after: Values) -> tuple[str, ...]:
    """The arrays that a call left different."""
    return tuple(
        name
        for name, value in before.items()
        if isinstance(value, np.ndarray) and value.tobytes() != after[name].tobytes()
    )


def is_float(value: Any) -> bool:
    """Is this an argument that has a gradient?"""
    if isinstance(value, np.ndarray):
        return bool(value.dtype.kind == "f")
    return isinstance(value, (float, np.floating))


def floats(arguments: Values, wrt: Sequence[str] | None = None) -> tuple[str, ...]:
    """The arguments that have a gradient, in order."""
    return tuple(
        name
        for name, value in arguments.items()
        if is_float(value) and (wrt is None or name in wrt)
    )


def widen(arguments: Values) -> dict[str, Any]:
    """The same arguments with every float in double precision."""

    def wide(value: Any) -> Any:
        if not is_float(value):
            return value
        return (
            value.astype(np.float64) if isinstance(value, np.ndarray) else float(value)
        )

    return {name: wide(value) for name, value in arguments.items()}


def draw_cotangents(result: Outcome, rng: np.random.Generator) -> Cotangents:
    """Random weights, none of them near zero, in the dtypes of the outputs."""

    def draw(value: Any) -> Any:
        shape = np.shape(value)
        weight = rng.uniform(0.5, 1.5, shape) * rng.choice([-1.0, 1.0], shape)
        if isinstance(value, np.ndarray):
            return weight.astype(value.dtype if value.dtype.kind == "f" else float)
        return float(weight)

    return Cotangents(
        tuple(draw(v) for v in result.returned),
        {name: draw(v) for name, v in result.written.items()},
        result.structure,
    )


def functional(result: Outcome, weights: Cotangents) -> float:
    """The weighted sum of all outputs, in double precision, rounded once."""
    terms: list[float] = []
    every = (*weights.returned, *weights.written.values())
    for value, weight in zip(result.values(), every, strict=True):
        product = np.asarray(value, np.float64) * np.asarray(weight, np.float64)
        terms.extend(product.ravel().tolist())
    return math.fsum(terms)


# ------------------------------------------------------------------ derivatives


@dataclass(frozen=True)
class Estimate:
    """A derivative along a direction, and how far it may be off."""

    value: float
    error: float


def derivative(
    function: Function,
    arguments: Values,
    outputs: Sequence[str],
    weights: Cotangents,
    direction: Values,
    step: float = STEP,
) -> Estimate:
    """The derivative of the functional along `direction`, a part of the arguments."""
    base = widen(arguments)

    def at(t: float) -> float:
        moved = dict(base)
        for name, d in direction.items():
            there = base[name] + t * np.asarray(d, np.float64)
            moved[name] = there if isinstance(base[name], np.ndarray) else float(there)
        return functional(run(function, moved, outputs), weights)

    steps = (step, step / 2, step / 4)
    values = [(at(h), at(-h)) for h in steps]
    rough = [(up - down) / (2 * h) for h, (up, down) in zip(steps, values, strict=True)]
    better = [(4 * b - a) / 3 for a, b in zip(rough, rough[1:], strict=False)]
    best = (16 * better[1] - better[0]) / 15
    largest = max(1.0, *(abs(v) for pair in values for v in pair))
    rounding = 16 * float(np.finfo(np.float64).eps) * largest / steps[-1]
    return Estimate(best, abs(best - better[1]) + rounding)


@dataclass(frozen=True)
class Comparison:
    """One derivative next to the gradient's answer; `error` is relative to the scale.

    The scale is the largest derivative of the parameter, or one if that is larger.
    """

    parameter: str
    index: tuple[int, ...] | None
    expected: float
    found: float
    error: float

    @property
    def where(self) -> str:
        if self.index is None:
            return self.parameter
        return f"{self.parameter}[{', '.join(map(str, self.index))}]"

    def __str__(self) -> str:
        return (
            f"{self.where}: the gradient says {self.found:.10g}, "
            f"central differences {self.expected:.10g}"
        )


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
) -> Iterator[Comparison]:
    """Random directions in all parameters, which no wrong entry escapes, then entries.

    Every entry of a small parameter is tried and `entries` random ones of a large one.
    What the oracle itself may be off by is taken from the error, ten times.
    """
    exact = {name: np.asarray(g, np.float64) for name, g in gradients.items()}

    def check(
        name: str,
        index: tuple[int, ...] | None,
        direction: Values,
        got: float,
        size: float,
    ) -> Comparison:
        want = derivative(function, arguments, outputs, weights, direction)
        off = max(0.0, abs(want.value - got) - 10 * want.error)
        if math.isnan(off) or math.isinf(want.value - got):
            off = math.inf
        return Comparison(name, index, want.value, got, off / size)

    for _ in range(directions if exact else 0):
        along: dict[str, Any] = {}
        got, size = 0.0, 1.0
        for name, gradient in exact.items():
            d = rng.uniform(-1.0, 1.0, gradient.shape) / math.sqrt(gradient.size + 1)
            along[name] = d
            got += float(np.sum(gradient * d))
            size += float(np.sum(np.abs(gradient * d)))
        yield check("a random direction", None, along, got, size)

    for name, gradient in exact.items():
        size = max([1.0, *np.abs(gradient).ravel().tolist()])
        size = size if math.isfinite(size) else 1.0
        if gradient.ndim == 0:
            yield check(name, None, {name: 1.0}, float(gradient), size)
            continue
        every = list(np.ndindex(gradient.shape))
        if len(every) > entries:
            picks = rng.choice(len(every), entries, replace=False)
            every = [every[k] for k in sorted(picks.tolist())]
        for index in every:
            unit = np.zeros(gradient.shape)
            unit[index] = 1.0
            yield check(name, index, {name: unit}, float(gradient[index]), size)


# ------------------------------------------------------------------ for users


@dataclass(frozen=True)
class GradientReport:
    """What `check_grad` found; true when everything agrees within the tolerance."""

    function: str
    compared: tuple[Comparison, ...]
    tolerance: float
    primal_error: float
    dot_product_error: float | None
    compiled: bool

    @property
    def worst(self) -> Comparison | None:
        """The derivative that is furthest off."""
        return max(self.compared, key=lambda c: c.error, default=None)

    @property
    def max_error(self) -> float:
        """The largest error of a derivative, relative to the scale of its parameter."""
        return self.worst.error if self.worst is not None else 0.0

    @property
    def ok(self) -> bool:
        """Every derivative, the primal and the dot product are within the tolerance."""
        errors = (self.max_error, self.primal_error, self.dot_product_error or 0.0)
        return all(e <= self.tolerance for e in errors)

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        verdict = "right" if self.ok else "WRONG"
        lines = [
            f"gradient of {self.function}: {verdict} "
            f"(largest error {self.max_error:.1e}, tolerance {self.tolerance:.0e})"
        ]
        source = "the compiled function" if self.compiled else "the plain function"
        lines.append(
            f"  {len(self.compared)} derivatives against differences of {source}"
        )
        if self.worst is not None and self.worst.error > self.tolerance:
            lines.append(f"  furthest off: {self.worst}")
        if self.primal_error > self.tolerance:
            lines.append(f"  the values themselves differ by {self.primal_error:.1e}")
        if self.dot_product_error is not None:
            off = self.dot_product_error
            lines.append(f"  dot product with the tangent: error {off:.1e}")
        return "\n".join(lines)


def check_grad(f: Any, /, *args: Any, **kw: Any) -> GradientReport:
    """Compare the gradient of `f` with `f` itself, on copies of the arguments.

    Two independent tests together: central differences of the undecorated function, for
    random directions and single entries, and the dot product `<J v, w> == <v, J^T w>`
    with the tangent. A wrong gradient raises nothing: ask the report. Where the
    undecorated function is too slow to be called often, the compiled one is
    differenced, after its values were compared with the plain ones, and the tangent,
    which runs in Python, is left out.
    """
    from pyrev import api

    f = api.as_differentiable(f)
    plain: Function = f.python
    bound = inspect.signature(plain).bind(*args, **kw)
    bound.apply_defaults()
    arguments: dict[str, Any] = copy.deepcopy(dict(bound.arguments))
    rng = np.random.default_rng(0)

    own = copy.deepcopy(arguments)
    started = time.perf_counter()
    result = plain(**own)
    seconds = time.perf_counter() - started
    # An integer array that the call wrote has neither a cotangent nor a derivative.
    outputs = [
        name
        for name in changed(arguments, own)
        if np.asarray(arguments[name]).dtype.kind == "f"
    ]
    reference = outcome(result, own, outputs)
    weights = draw_cotangents(reference, rng)

    own = copy.deepcopy(arguments)
    result, pullback = api.vjp(f, *own.values())
    primal_error = distance(reference, outcome(result, own, outputs))
    gradients = dict(pullback(weights.positional, cotangents=weights.written).items())
    values = (*gradients.values(), *reference.values())
    single = any(np.asarray(v).dtype == np.float32 for v in values)

    slow = seconds > SLOW
    probe: Function = f if slow else plain
    if slow:
        run(probe, widen(arguments), outputs)
        started = time.perf_counter()
        run(probe, widen(arguments), outputs)
        seconds = time.perf_counter() - started
    affordable = int(SECONDS / (6 * max(seconds, 1e-6)))
    found = comparisons(
        probe,
        arguments,
        outputs,
        weights,
        gradients,
        rng,
        entries=max(1, min(64, affordable // max(1, len(gradients)))),
        directions=2 if affordable > 4 else 1,
    )
    return GradientReport(
        function=plain.__name__,
        compared=tuple(_with_progress(found, 6 * seconds)),
        tolerance=TOLERANCE["float32" if single else "float64"],
        primal_error=primal_error,
        dot_product_error=(
            None if slow else dot_product_error(f, arguments, weights, gradients, rng)
        ),
        compiled=slow,
    )


def distance(a: Outcome, b: Outcome) -> float:
    """The largest difference of two outcomes, relative to the largest value."""
    if a.structure is not b.structure or len(a.values()) != len(b.values()):
        return math.inf
    worst = 0.0
    for x, y in zip(a.values(), b.values(), strict=True):
        p, q = np.asarray(x, np.float64), np.asarray(y, np.float64)
        if p.shape != q.shape or not np.array_equal(np.isfinite(p), np.isfinite(q)):
            return math.inf
        p, q = p[np.isfinite(p)], q[np.isfinite(q)]
        if p.size:
            scale = max(1.0, float(np.max(np.abs(p))))
            worst = max(worst, float(np.max(np.abs(p - q))) / scale)
    return worst


def dot_product_error(
    f: Any,
    arguments: Values,
    weights: Cotangents,
    gradients: Values,
    rng: np.random.Generator,
) -> float:
    """How far `<J v, w>` is from `<v, J^T w>` for a random `v`, relatively."""
    from pyrev.api import Call

    call = Call(f, (), copy.deepcopy(dict(arguments)))
    unit = f.tangent.unit(call.kinds, tuple(gradients))
    values = dict(call.values)
    v: dict[str, Any] = {}
    dots: dict[str, str] = {}
    for dot, name in unit.cotangents:
        like = np.asarray(values[name])
        moved = np.asarray(rng.uniform(-1.0, 1.0, like.shape), like.dtype)
        if name not in gradients:
            moved = np.zeros_like(like)
        v[name] = moved if like.ndim else float(moved)
        values[dot] = copy.deepcopy(v[name])
        dots[name] = dot
    found = unit.call([values[p] for p in unit.params])
    pushed = tuple(found)[len(weights.returned) :] if weights.returned else ()
    moved_arrays = {
        name: np.asarray(values[dots[name]] if name in dots else np.zeros_like(w))
        for name, w in weights.written.items()
    }
    left = functional(Outcome(pushed, moved_arrays, weights.structure), weights)
    terms: list[float] = []
    for name, gradient in gradients.items():
        product = np.asarray(gradient, np.float64) * np.asarray(v[name], np.float64)
        terms.extend(np.ravel(product).tolist())
    return abs(left - math.fsum(terms)) / max(1.0, math.fsum(map(abs, terms)))


def _with_progress(items: Iterator[Comparison], seconds: float) -> Iterator[Comparison]:
    """The same items; a counter on a terminal when they will take a while."""
    loud = sys.stderr.isatty() and seconds > 0.05
    count = 0
    for item in items:
        count += 1
        if loud:
            print(f"\rchecking derivatives: {count}", end="", file=sys.stderr)
        yield item
    if loud:
        print(file=sys.stderr)
