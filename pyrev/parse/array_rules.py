"""Functions of arrays that run as they are, with a rule of the user's for each."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

import numpy as np

from pyrev.ir.diagnostics import ArgumentError
from pyrev.runtime.opaque import Checked, Derivative, Handle, Missing

ARRAY_RULE = "__pyrev_array_rule__"
TRIES = 2  # calls of the rule that are compared with differences
AGREE = 1e-3  # relative, as good as differences of an iteration that ends early are
_SINGLE = 3e-2  # the same where float32 is among the numbers


@dataclass(eq=False, slots=True)
class ArrayRule:
    """What `custom_vjp` was given for a function of arrays with so many `results`."""

    function: FunctionType
    vjp: FunctionType
    result: FunctionType
    jvp: FunctionType | None
    results: int
    check: bool
    #: The three as generated code calls them.
    primal: Handle = field(init=False)
    reverse: Handle = field(init=False)
    forward: Handle | None = field(init=False, default=None)
    #: In how many calls the rule is still compared with differences.
    tries: int = TRIES

    def __post_init__(self) -> None:
        name = self.function.__name__
        says = f"result= of `{name}`"
        self.primal = Handle(Checked(self.function, self._expected, says))
        rule = _Rule(self.vjp, self._owed, f"the rule of `{name}`")
        rule.rule = self
        self.reverse = Handle(rule)
        if self.jvp is not None:
            moved = Derivative(self.jvp, self._moved, f"the jvp rule of `{name}`")
            self.forward = Handle(moved)

    def again(self) -> None:
        """What the function or the rule does has changed: compare them once more."""
        self.tries = TRIES

    def _expected(self, arguments: tuple[Any, ...]) -> Sequence[Any]:
        found = self.result(*arguments)
        return found if isinstance(found, tuple) else (found,)

    def _owed(self, arguments: tuple[Any, ...]) -> Sequence[Any]:
        """What the rule's results are like: the arguments themselves."""
        own = arguments[: len(arguments) - 2 * self.results]
        return [a if _is_float(a) else None for a in own]

    def _moved(self, arguments: tuple[Any, ...]) -> Sequence[Any]:
        """What the results of the jvp rule are like: the results."""
        own = (len(arguments) - self.results) // 2
        results = arguments[own : own + self.results]
        return [r if _is_float(r) else None for r in results]


def array_rule_of(function: object) -> ArrayRule | None:
    """The rule that a function of arrays was given, if any."""
    if isinstance(function, Handle):
        function = function.python
    found = getattr(function, "__dict__", {}).get(ARRAY_RULE)
    return found if isinstance(found, ArrayRule) else None


def _is_float(value: Any) -> bool:
    return bool(np.asarray(value).dtype.kind == "f")


# -------------------------------------------------------------------- first use


class _Rule(Derivative):
    """A rule, which is compared with differences when it is first called."""

    rule: ArrayRule

    def __call__(self, *arguments: Any) -> Any:
        """Call the rule.

        Raises `ArgumentError` if it is not the derivative of its function.
        """
        found = super().__call__(*arguments)
        if self.rule.check and self.rule.tries > 0:
            self.rule.tries -= 1
            owed = found if isinstance(found, tuple) else (found,)
            with np.errstate(all="ignore"):
                _compare(self.rule, arguments, owed)
        return found


def _compare(rule: ArrayRule, arguments: tuple[Any, ...], owed: Sequence[Any]) -> None:
    """Compare what the rule returned with differences, argument by argument."""
    count = len(owed)
    own = arguments[:count]
    cotangents = arguments[count + rule.results :]
    # The same directions in every process.
    rng = np.random.default_rng(0)
    for k, value in enumerate(own):
        if not _is_float(value) or isinstance(owed[k], Missing):
            continue
        way = rng.standard_normal(np.shape(value))
        terms = np.asarray(owed[k], np.float64) * way
        _agree(rule, own, cotangents, k, way, terms)


def _agree(
    rule: ArrayRule,
    own: tuple[Any, ...],
    cotangents: Sequence[Any],
    k: int,
    way: Any,
    terms: Any,
) -> None:
    """Raise `ArgumentError` if no difference along `way` is like the rule's."""
    given = float(np.sum(terms))
    if not math.isfinite(given):
        return
    single = any(np.asarray(a).dtype == np.float32 for a in (*own, *cotangents))
    within = _SINGLE if single else AGREE
    least = (1e-3 if single else 1e-6) * float(np.sum(np.abs(terms)))
    found: list[float] = []
    for step in _steps(own[k], single):
        sides = []
        for sign in (-1.0, 1.0):
            moved = list(own)
            there = np.asarray(own[k]) + sign * step * way
            moved[k] = there.astype(np.asarray(own[k]).dtype) if there.ndim else there
            sides.append(_weighted(rule, moved, cotangents))
        low, high = sides
        if low is None or high is None or not math.isfinite(high - low):
            continue
        middle = (high - low) / (2 * step)
        found.append(middle)
        if math.isclose(middle, given, rel_tol=within, abs_tol=least + 1e-12):
            return
    if not found:
        return  # at the edge of where it is defined
    best = min(found, key=lambda d: abs(d - given))
    name, names = rule.function.__name__, rule.function.__code__.co_varnames
    raise ArgumentError(
        f"`{rule.vjp.__name__}` is not the derivative of `{name}`: along a random"
        f" direction of `{names[k]}` differences give {best:.6g}, the rule {given:.6g};"
        " mend it, or say check=False if it is meant to differ"
    )


def _weighted(
    rule: ArrayRule, arguments: Sequence[Any], cotangents: Sequence[Any]
) -> float | None:
    """The sum of the results times their cotangents; None where it is not defined."""
    try:
        raw = rule.function(*arguments)
    except (ArithmeticError, ValueError):  # what `numpy.linalg` raises, too
        return None
    results = raw if isinstance(raw, tuple) else (raw,)
    pairs = zip(results, cotangents, strict=True)
    return float(sum(np.sum(np.asarray(r) * c) for r, c in pairs if _is_float(r)))


def _steps(value: Any, single: bool) -> Iterator[float]:
    scale = max(float(np.max(np.abs(value), initial=0.0)), 1e-3)
    powers = (-2, -1, -3) if single else (-4, -5, -6, -3, -7, -2)
    for power in powers:
        yield scale * 10.0**power
