"""A rule of the user's for the derivative of a helper, and its check at first use."""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import FrameType, FunctionType
from typing import Any, TypeVar

import numpy as np

from pyrev.ir.diagnostics import ArgumentError
from pyrev.parse.array_rules import ARRAY_RULE, ArrayRule
from pyrev.runtime.options import flag

F = TypeVar("F", bound=Callable[..., Any])

_RULE = "__pyrev_rule__"
SAMPLES = 4  # calls whose arguments are looked at
LINES = 400_000  # lines of CPython that are run to find them: less than a second
TRIES = 3  # calls in which a helper may not be reached before it is left alone
AGREE = 1e-3  # relative, as good as differences of an iteration that ends early are


@dataclass(eq=False, slots=True)
class Rule:
    """What `custom_vjp` was given for one function."""

    function: FunctionType
    vjp: FunctionType
    check: bool
    #: In how many calls it may still be looked for.
    tries: int = TRIES

    @property
    def waits(self) -> bool:
        """Is it to be compared with differences still?"""
        return self.check and self.tries > 0

    def again(self) -> None:
        """What the function or the rule does has changed: compare them once more."""
        self.tries = TRIES


def custom_vjp(
    rule: Callable[..., Any],
    *,
    result: Callable[..., Any] | None = None,
    jvp: Callable[..., Any] | None = None,
    check: bool = True,
) -> Callable[[F], F]:
    """Give a helper of numbers a derivative of its own: a decorator.

    ``rule(*arguments, *results, *cotangents)`` returns the cotangent of each argument,
    a tuple if there are several; `results` are what the helper returned (one number, or
    each of a tuple), `cotangents` belong to them. It is a plain function of the same
    language, linear in the cotangents. The helper runs as it is written, in CPython and
    in compiled code; only its derivative, in every mode, is the rule. Its second
    derivative is that of the rule, and is refused where that needs a result.

    With `result` it is a function of arrays and numbers that is never read: an FFT, a
    sparse solver, compiled code. It runs as it is, in CPython, gets C-contiguous arrays
    that it cannot write to, at least one, and returns a new array or a number, or a
    tuple of these; what it returns depends on its arguments alone.
    ``result(*arguments)`` is a function of the language that returns something of the
    same shapes and dtypes: ``lambda a, b: b``, ``lambda x, n: (np.empty(n), 0.0)``. The
    rule runs as it is, too, and returns for each argument an array of its shape, or a
    number; None for an integer, or where there is no derivative.
    ``jvp(*arguments, *results, *tangents)`` returns the tangents of the results, for
    forward mode; there is a tangent for each argument, zeros where it does not move.

    At its first use the rule is compared with differences of the helper, at arguments
    that the function called it with. ``check=False`` leaves that out: for a rule that
    is meant to be another derivative (a straight-through estimate).

    Raises `ArgumentError` for what is no plain function or has other parameters, and,
    at the first use, if the rule is not the derivative.

    >>> def root_vjp(a, result, d_result):
    ...     return d_result / (2 * result)
    >>> @custom_vjp(root_vjp)
    ... def root(a):
    ...     x = 1.0
    ...     while abs(x * x - a) > 1e-14 * a:
    ...         x = 0.5 * (x + a / x)
    ...     return x
    >>> round(root(4.0), 12)
    2.0
    """
    _check_options(result, jvp, check)
    if not isinstance(rule, FunctionType):
        raise ArgumentError(
            f"custom_vjp({rule!r}): give the rule, a plain function of the arguments,"
            " the results and their cotangents: @pyrev.custom_vjp(rule)"
        )

    def decorate(function: F) -> F:
        made = _copied(function)
        own, others = _count(made), _count(rule)
        if own is None or others is None or others < own + 2 or (others - own) % 2:
            raise ArgumentError(
                f"custom_vjp: `{rule.__name__}` takes the {own} arguments of"
                f" `{made.__name__}`, what it returned, and the cotangents of that,"
                " each by position"
            )
        if not isinstance(result, FunctionType):
            made.__dict__[_RULE] = Rule(made, rule, check)
        else:
            forward = jvp if isinstance(jvp, FunctionType) else None
            of_arrays = ArrayRule(
                made, rule, result, forward, (others - own) // 2, check
            )
            made.__dict__[ARRAY_RULE] = of_arrays
        return made  # type: ignore[return-value]

    return decorate


def _check_options(result: object, jvp: object, check: object) -> None:
    """Raise `ArgumentError` for options that mean nothing."""
    flag("check", check)
    for option, given in (("result", result), ("jvp", jvp)):
        if given is not None and not isinstance(given, FunctionType):
            raise ArgumentError(
                f"custom_vjp({option}={given!r}): give a plain function of the"
                " arguments"
            )
    if result is None and jvp is not None:
        raise ArgumentError(
            "custom_vjp(jvp=...): the rule of a helper of numbers serves forward mode,"
            " too: leave `jvp` out, or give `result`"
        )


def _copied(function: object) -> FunctionType:
    """A function like this one, which may get a rule."""
    if not isinstance(function, FunctionType):
        raise ArgumentError(
            f"custom_vjp: {function!r} is no plain function; decorate a `def`"
        )
    made = FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    made.__kwdefaults__ = function.__kwdefaults__
    made.__doc__, made.__module__ = function.__doc__, function.__module__
    made.__qualname__ = function.__qualname__
    made.__dict__.update(function.__dict__)
    return made


def rule_of(function: object) -> Rule | None:
    """The rule that a function was given, if any."""
    found = getattr(function, "__dict__", {}).get(_RULE)
    return found if isinstance(found, Rule) else None


def _count(function: FunctionType) -> int | None:
    """How many parameters a function takes by position; None if others too."""
    kinds = [p.kind for p in inspect.signature(function).parameters.values()]
    usual = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD
    return len(kinds) if all(k in usual for k in kinds) else None


# -------------------------------------------------------------------- first use


def verify(
    python: FunctionType, rules: Sequence[Rule], values: Mapping[str, Any]
) -> None:
    """Compare rules that are used for the first time with differences.

    `values` are the arguments of a call of `python`, which may be changed.

    Raises `ArgumentError` for a rule that is not the derivative.
    """
    called = _recorded(python, rules, values)
    for rule in rules:
        found = called[rule.function.__code__]
        for arguments in found:
            _compare(rule, arguments)
        rule.tries = 0 if found else rule.tries - 1


class _Enough(BaseException):
    """Enough was seen of a call."""


def _recorded(
    python: FunctionType, rules: Sequence[Rule], values: Mapping[str, Any]
) -> dict[Any, list[tuple[Any, ...]]]:
    """Arguments that `python` calls each helper with, in CPython."""
    found: dict[Any, list[tuple[Any, ...]]] = {r.function.__code__: [] for r in rules}
    left = LINES

    def lines(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            raise _Enough
        return lines

    def calls(frame: FrameType, event: str, _: Any) -> Any:
        code = frame.f_code
        if code in found and len(found[code]) < SAMPLES:
            names = code.co_varnames[: code.co_argcount]
            found[code].append(tuple(frame.f_locals[n] for n in names))
            if all(len(f) == SAMPLES for f in found.values()):
                raise _Enough
        return lines

    before = sys.gettrace()
    sys.settrace(calls)
    try:
        with np.errstate(all="ignore"):
            python(**values)
    except (_Enough, Exception):
        pass  # what the function raises, the call itself will raise
    finally:
        sys.settrace(before)
    return found


def _compare(rule: Rule, arguments: tuple[Any, ...]) -> None:
    """Compare the partial derivatives by each float argument with differences."""
    with np.errstate(all="ignore"):
        try:
            results = _numbers(rule.function(*arguments))
        except (ArithmeticError, ValueError):
            return  # outside of where it is defined
        for j in range(len(results)):
            seeds = [float(k == j) for k in range(len(results))]
            try:
                given = rule.vjp(*arguments, *results, *seeds)
            except (ArithmeticError, ValueError):
                continue  # a pole of the rule, which is inf in compiled code
            partials = _numbers(given)
            if len(partials) != len(arguments):
                raise ArgumentError(
                    f"`{rule.vjp.__name__}` returns {len(partials)} cotangents for the"
                    f" {len(arguments)} arguments of `{rule.function.__name__}`"
                )
            for k, value in enumerate(arguments):
                if isinstance(value, (float, np.floating)):
                    _agree(rule, arguments, j, k, float(partials[k]))


def _numbers(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _agree(
    rule: Rule, arguments: tuple[Any, ...], j: int, k: int, partial: float
) -> None:
    """Raise `ArgumentError` if no difference by argument `k` is like the rule's."""
    exact = [float(v) if isinstance(v, np.floating) else v for v in arguments]
    try:
        center = float(_numbers(rule.function(*exact))[j])
    except (ArithmeticError, ValueError):
        return  # NumPy's floats were not stopped there
    found: list[float] = []
    for step in _steps(exact[k]):
        sides: list[float] = []
        for way in (-step, step):
            moved = list(exact)
            moved[k] = exact[k] + way
            try:
                sides.append(float(_numbers(rule.function(*moved))[j]))
            except (ArithmeticError, ValueError):
                break
        if len(sides) < 2 or not all(map(math.isfinite, sides)):
            continue
        low, high = (center - sides[0]) / step, (sides[1] - center) / step
        middle = 0.5 * (low + high)
        found.append(middle)
        if math.isclose(middle, partial, rel_tol=AGREE, abs_tol=AGREE * 1e-3):
            return
        # At a kink the rule may take either side.
        for side in (low, high):
            if math.isclose(side, partial, rel_tol=1e-6, abs_tol=1e-9):
                return
    if not found or not math.isfinite(partial):
        return  # at the edge of where it is defined
    best = min(found, key=lambda d: abs(d - partial))
    names = rule.function.__code__.co_varnames
    where = ", ".join(f"{n}={v!r}" for n, v in zip(names, exact, strict=False))
    name = rule.function.__name__
    raise ArgumentError(
        f"`{rule.vjp.__name__}` is not the derivative of `{name}`: at {name}({where})"
        f" differences by `{names[k]}` give {best:.6g}, the rule {partial:.6g}; mend"
        " it, or say custom_vjp(rule, check=False) if it is meant to differ"
    )


def _steps(value: float) -> Iterator[float]:
    scale = max(abs(value), 1e-3)
    for power in (-4, -5, -3, -6, -2, -7):
        yield scale * 10.0**power
