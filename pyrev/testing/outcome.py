"""What a call computes, as one number: the sum of all its outputs, weighted at random.

A function is a map from the initial values of its parameters to its returned values and
the final values of the float arrays it writes. Everything works on copies.
"""

from __future__ import annotations

import copy
import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Function = Callable[..., Any]
Values = Mapping[str, Any]
Array = NDArray[Any]


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
    """One weight per element of every output, shaped like an `Outcome`.

    A returned integer or truth value weighs nothing, and an array of them has no
    cotangent at all: None.
    """

    returned: tuple[Any, ...]
    written: dict[str, Array | None]
    structure: type | None

    @property
    def positional(self) -> Any:
        """As a pullback takes it: nothing, one value, or a tuple."""
        if self.structure is None or all(w is None for w in self.returned):
            return None
        return self.returned if self.structure is tuple else self.returned[0]


def outcome(
    result: Any, arguments: Values, outputs: Sequence[str], apart: bool = True
) -> Outcome:
    """Copies of what a call returned and of the arrays it wrote; the parts of what is
    complex come `apart`.
    """
    one = not isinstance(result, tuple) and _fields(result, apart) is None
    several = [*_leaves(result, apart)]
    return Outcome(
        () if result is None else tuple(copy.deepcopy(v) for v in several),
        {name: np.array(arguments[name]) for name in outputs},
        None if result is None else (object if one else tuple),
    )


def _fields(value: Any, apart: bool) -> Iterable[Any] | None:
    """What is in a tuple, a dictionary or an object of a dataclass, and the parts of
    what is complex; None of others.
    """
    if isinstance(value, (complex, np.complexfloating, np.ndarray)):
        both = apart and np.iscomplexobj(value)
        return (value.real, value.imag) if both else None
    if isinstance(value, tuple):
        return value
    if isinstance(value, dict):
        return value.values()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, f.name) for f in dataclasses.fields(value)]
    return None


def _leaves(value: Any, apart: bool) -> Iterable[Any]:
    """The numbers and arrays in a result, in order."""
    inside = _fields(value, apart)
    if isinstance(value, list):
        several = bool(value) and isinstance(value[0], tuple)
        yield from map(np.array, zip(*value, strict=True) if several else [value])
    elif inside is None:
        yield value
    else:
        for part in inside:
            yield from _leaves(part, apart)


def run(
    function: Function, arguments: Values, outputs: Sequence[str], apart: bool = True
) -> Outcome:
    """Call a function on copies of its arguments; see `outcome`."""
    own = copy.deepcopy(dict(arguments))
    return outcome(function(**own), own, outputs, apart)


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

    def nothing(value: Any) -> float | None:
        return None if isinstance(value, np.ndarray) else 0.0

    return Cotangents(
        tuple(draw(v) if is_float(v) else nothing(v) for v in result.returned),
        {n: draw(v) if is_float(v) else None for n, v in result.written.items()},
        result.structure,
    )


def terms(result: Outcome, weights: Cotangents) -> list[float]:
    """Every output times its weight, in double precision."""
    found: list[float] = []
    every = (*weights.returned, *weights.written.values())
    for value, weight in zip(result.values(), every, strict=True):
        if np.shape(weight) not in ((), np.shape(value)):
            found.append(math.nan)  # an argument decides how many elements there are
        elif weight is not None:
            product = np.asarray(value, np.float64) * np.asarray(weight, np.float64)
            found.extend(product.ravel().tolist())
    return found


def total(found: Sequence[float]) -> float:
    """Their sum, rounded once; NaN where it does not exist."""
    try:
        return math.fsum(found)
    except (ValueError, OverflowError):  # inf - inf; a sum beyond the largest float
        return math.nan


def functional(result: Outcome, weights: Cotangents) -> float:
    """The weighted sum of all outputs, in double precision, rounded once."""
    return total(terms(result, weights))


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
