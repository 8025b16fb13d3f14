"""How much of a gradient is checked, against what, and what is said of the outcome."""

from __future__ import annotations

import copy
import functools
import inspect
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pyrev.adjoint.opaque_calls import without_tangent
from pyrev.api import differentiable
from pyrev.api.call import Call
from pyrev.driver.arguments import bind, spread
from pyrev.driver.units import Units
from pyrev.ir.diagnostics import ArgumentError
from pyrev.runtime.elsewhere import all_on_host
from pyrev.runtime.error_boundary import guarded
from pyrev.testing.decisions import Cause, Decisions
from pyrev.testing.differences import OUTSIDE, moved
from pyrev.testing.judge import TOLERANCE, Comparison, Nearby, Reason, comparisons
from pyrev.testing.locate import SMALLER, locate
from pyrev.testing.outcome import (
    Cotangents,
    Function,
    Outcome,
    Values,
    distance,
    draw_cotangents,
    is_float,
    outcome,
    run,
    terms,
    total,
    widen,
)
from pyrev.testing.report import GradientReport

SECONDS = 20.0
SLOW = 0.2
LONG = 2.0
#: How far away "close by" is: beyond a tie, and not yet another function.
CLOSE = 1e-3
NEIGHBOURS = 3
EVALUATIONS = 6


def _is_positive(tolerance: object) -> bool:
    return isinstance(tolerance, (float, int, np.floating)) and bool(tolerance > 0)


def _by_name(function: Function, signature: inspect.Signature) -> Function:
    """The function, all of whose arguments may be given by name."""
    kinds = {p.kind for p in signature.parameters.values()}
    if inspect.Parameter.POSITIONAL_ONLY not in kinds:
        return function

    @functools.wraps(function)
    def call(**values: Any) -> Any:
        by_position, by_keyword = spread(signature, values)
        return function(*by_position, **by_keyword)

    return call


@guarded
def check_grad(
    f: Any, /, *args: Any, tolerance: Any = None, wrt: object = None, **kw: Any
) -> GradientReport:
    """Compare the gradient of `f` with `f` itself, on copies of the arguments.

    Two independent tests together: derivatives of the undecorated function, for random
    directions (which no wrong entry escapes) and single entries, and the dot product
    `<J v, w> == <v, J^T w>` with the tangent. Derivatives are extrapolated central
    differences, sharpened by complex steps where the function takes complex numbers.
    A kink or a jump of the function is told from a wrong gradient, and named. Where
    the gradient is wrong, the report names the worst entry and the line at fault. A
    wrong gradient raises nothing: ask the report.

    `tolerance` is relative to the largest derivative of a parameter; by default 1e-6,
    and 2e-3 where a float32 takes part. `wrt` are the parameters to be looked at (names
    or indices; default: all that have a gradient). A parameter of `f` of one of these
    names comes first. Equal calls give equal reports. Where the undecorated function is
    too slow to be called often, the compiled one is differenced, after its values were
    compared with the plain ones, and the tangent left out; as where `custom_vjp` has no
    rule for it.
    """
    f = differentiable.as_differentiable(f)
    signature = f._signature
    kw, tolerance, wrt = _options(signature, kw, tolerance=tolerance, wrt=wrt)
    args, kw = f.completed(args, kw)
    fixed, f = f.fixed or {}, f.whole.quiet  # what it compares is no user's pullback
    plain: Function = _by_name(f.python, signature)
    given = all_on_host(bind(plain.__name__, signature, args, kw))
    if tolerance is not None and not _is_positive(tolerance):
        raise ArgumentError("tolerance: give a positive number")
    call = Call(f, args, kw).only_numbers("check_grad")
    call.check()
    if wrt is None and fixed:
        wrt = tuple(n for n in call.wrt(None) if n not in fixed) or None
    arguments: dict[str, Any] = copy.deepcopy(given)
    arrays = [n for n, v in arguments.items() if isinstance(v, np.ndarray)]
    # An integer array that the call wrote has neither a cotangent nor a derivative.
    outputs = [n for n in call.function.written if is_float(arguments[n])]
    rng = np.random.default_rng(0)

    own = copy.deepcopy(arguments)
    started = time.perf_counter()
    result = plain(**own)
    seconds = time.perf_counter() - started
    reference, everything = outcome(result, own, outputs), outcome(result, own, arrays)
    weights = draw_cotangents(reference, rng)

    own = copy.deepcopy(arguments)
    by_position, by_keyword = spread(signature, own)
    result, pullback = differentiable.vjp(f, *by_position, **{"wrt": wrt, **by_keyword})
    primal_error = distance(everything, outcome(result, own, arrays))
    pulled = pullback(weights.positional, cotangents=weights.written)
    # Nothing moves the local values that `wrt` may name.
    gradients = {n: g for n, g in pulled.items() if n in arguments}
    if tolerance is None:
        tolerance = _usual_tolerance((*gradients.values(), *reference.values()))

    effort = _affordable(f, plain, seconds, arguments, outputs, len(gradients))
    compared = _compared(
        f, effort, arguments, outputs, weights, gradients, rng, tolerance
    )
    line, slow = "", effort.compiled
    blind = slow or without_tangent(call.function.program)
    if any(not c.error <= tolerance for c in compared):
        line = SMALLER if slow else locate(f, arguments, gradients, weights, tolerance)
    moving = f, arguments, weights, gradients, rng
    report = GradientReport(
        function=plain.__name__,
        entries=compared,
        tolerance=tolerance,
        primal_error=primal_error,
        dot_product_error=None if blind else dot_product_error(*moving),
        compiled=slow,
        skipped=_left_out(arguments, gradients),
        line=line,
    )
    if blind or report.max_error <= tolerance:
        return report
    keeps = _tangent_right(f, arguments, weights, gradients, report.worst, tolerance)
    return replace(report, tangent_right=keeps)


def _options(
    signature: inspect.Signature, kw: dict[str, Any], **asked: Any
) -> tuple[Any, ...]:
    """The function's arguments by name and the options: a parameter of the function of
    an option's name comes first.
    """
    own = {n: v for n, v in asked.items() if n in signature.parameters}
    kw |= {n: v for n, v in own.items() if v is not None}
    return kw, *(None if n in own else v for n, v in asked.items())


def _left_out(arguments: dict[str, Any], gradients: dict[str, Any]) -> tuple[str, ...]:
    """The arguments that were not looked at, in words."""
    return tuple(
        f"`{n}` ({_kind(v)})" for n, v in arguments.items() if n not in gradients
    )


def _usual_tolerance(values: Sequence[Any]) -> float:
    """The tolerance where none is given: that of the least precise of `values`."""
    single = any(np.asarray(v).dtype == np.float32 for v in values)
    return TOLERANCE["float32" if single else "float64"]


@dataclass(frozen=True, slots=True)
class _Effort:
    """What is differenced, and how much of the gradient is compared with it."""

    probe: Function
    #: Is that the compiled function, since the plain one is slow?
    compiled: bool
    #: How many entries of each parameter, and how many random directions.
    entries: int
    directions: int
    #: What one derivative takes.
    seconds: float


def _affordable(
    f: Any,
    plain: Function,
    seconds: float,
    arguments: Values,
    outputs: list[str],
    parameters: int,
) -> _Effort:
    """What can be compared in `SECONDS`, if the plain function takes `seconds`."""
    slow = seconds > SLOW
    probe: Function = f if slow else plain
    if slow:
        run(probe, widen(arguments), outputs)
        started = time.perf_counter()
        run(probe, widen(arguments), outputs)
        seconds = time.perf_counter() - started
    affordable = int(SECONDS / (EVALUATIONS * max(seconds, 1e-6)))
    entries = max(1, min(64, affordable // max(1, parameters)))
    directions = 2 if affordable > 4 else 1
    return _Effort(probe, slow, entries, directions, EVALUATIONS * seconds)


def _compared(
    f: Any,
    effort: _Effort,
    arguments: Values,
    outputs: list[str],
    weights: Cotangents,
    gradients: Values,
    rng: np.random.Generator,
    tolerance: float,
) -> tuple[Comparison, ...]:
    """As many derivatives as is affordable, with what excuses some of them."""
    found = comparisons(
        effort.probe,
        arguments,
        outputs,
        weights,
        gradients,
        rng,
        entries=effort.entries,
        directions=effort.directions,
        tolerance=tolerance,
        nearby=_nearby(f, effort.probe, arguments, outputs, weights, tolerance),
        reason=_reason(f, arguments, effort.compiled),
    )
    entries = sum(min(effort.entries, np.size(g)) for g in gradients.values())
    count = effort.directions + entries
    return tuple(_with_progress(found, count, effort.seconds))


def _kind(value: Any) -> str:
    """Why an argument has no gradient, in words."""
    if is_float(value):
        return "not in wrt"
    if value is None:
        return "None"
    array = isinstance(value, np.ndarray)
    if not array and not isinstance(value, (bool, int, np.generic)):
        return f"a {'function' if callable(value) else type(value).__name__}"
    truth = value.dtype.kind == "b" if array else isinstance(value, (bool, np.bool_))
    kind = "truth value" if truth else "integer"
    if array:
        return f"{kind}s"
    return f"an {kind}" if kind == "integer" else f"a {kind}"


def _reason(f: Any, arguments: Values, slow: bool) -> Reason:
    """Which decision of `f` changes at the arguments; nothing where that takes long."""
    made: list[Decisions] = []

    def reason(direction: Values) -> Cause | None:
        if slow:
            return None
        call = Call(f, (), widen(arguments))
        if not made:
            made.append(Decisions(call.function.typed(call.kinds)))
        return made[0].change(call.values, direction)

    return reason


def _nearby(
    f: Any,
    probe: Function,
    arguments: Values,
    outputs: list[str],
    weights: Cotangents,
    tolerance: float,
) -> Nearby:
    """The verdict on the gradient at random points close by, along a direction."""

    def nearby(direction: Values) -> str:
        rng = np.random.default_rng(1)
        verdicts = []
        for _ in range(NEIGHBOURS):
            step = {
                name: CLOSE * rng.uniform(-1.0, 1.0, np.shape(value))
                for name, value in arguments.items()
                if is_float(value)
            }
            there = moved(arguments, step, 1.0)
            there = {
                name: _like(value, arguments[name]) for name, value in there.items()
            }
            own = copy.deepcopy(there)
            try:
                by_position, by_keyword = spread(f._signature, own)
                _, pullback = differentiable.vjp(f, *by_position, **by_keyword)
                found = pullback(weights.positional, cotangents=weights.written)
            except OUTSIDE:
                continue
            one = {name: found[name] for name in direction}
            verdicts += [
                c.verdict
                for c in comparisons(
                    probe,
                    there,
                    outputs,
                    weights,
                    one,
                    rng,
                    entries=0,
                    directions=1,
                    tolerance=tolerance,
                )
                if c.index is None
            ]
        if "wrong" in verdicts:
            return "wrong"
        return "right" if "right" in verdicts else "rough"

    return nearby


def _like(value: Any, like: Any) -> Any:
    """A moved argument in the type that it had."""
    if isinstance(like, np.ndarray):
        return value.astype(like.dtype)
    number = isinstance(like, (bool, int, float, np.generic))
    return type(like)(value) if number else value


def dot_product_error(
    f: Any,
    arguments: Values,
    weights: Cotangents,
    gradients: Values,
    rng: np.random.Generator,
) -> float:
    """How far `<J v, w>` is from `<v, J^T w>` for a random `v`, relatively."""
    v: dict[str, Any] = {}
    for name, gradient in gradients.items():
        like = np.asarray(arguments[name])
        moves = np.asarray(rng.uniform(-1.0, 1.0, like.shape), like.dtype)
        # at a pole there is nothing to compare
        v[name] = np.where(np.isfinite(np.asarray(gradient)), moves, 0.0 * moves)
    left = _pushed(f, arguments, weights, v)
    right: list[float] = []
    for name, gradient in gradients.items():
        finite = np.where(np.isfinite(gradient), gradient, 0.0)
        product = np.asarray(finite, np.float64) * np.asarray(v[name], np.float64)
        right.extend(np.ravel(product).tolist())
    size = total(list(map(abs, right)))
    off = abs(left - total(right))
    return off / max(1.0, size) if off == off else float("inf")


def _pushed(f: Any, arguments: Values, weights: Cotangents, v: Values) -> float:
    """`<J v, w>` by the tangent."""
    call = Call(f, *spread(f._signature, copy.deepcopy(dict(arguments))))
    unit = call.readable(Units.tangent, tuple(v))
    values = dict(call.values)
    dots: dict[str, str] = {}
    for dot, name in unit.cotangents:
        assert isinstance(name, str)
        like = np.asarray(values[name])
        moves = np.asarray(v.get(name, np.zeros_like(like)), like.dtype)
        values[dot] = moves.copy() if like.ndim else float(moves)
        dots[name] = dot
    found = unit.call([values[p] for p in unit.params])
    pushed = tuple(found)[len(weights.returned) :] if weights.returned else ()
    moved_arrays = {
        name: np.asarray(values[dots[name]] if name in dots else np.zeros_like(w))
        for name, w in weights.written.items()
    }
    return total(terms(Outcome(pushed, moved_arrays, weights.structure), weights))


def _tangent_right(
    f: Any,
    arguments: Values,
    weights: Cotangents,
    gradients: Values,
    worst: Comparison | None,
    tolerance: float,
) -> bool | None:
    """Does the tangent keep to the differences where the gradient is furthest off?"""
    if worst is None or worst.index is None:
        return None
    v = {n: np.zeros_like(np.asarray(arguments[n])) for n in gradients}
    v[worst.parameter][worst.index] = 1.0
    found = _pushed(f, arguments, weights, v)
    sizes = np.abs(np.asarray(gradients[worst.parameter], np.float64))
    scale = max([1.0, abs(worst.expected), *sizes[np.isfinite(sizes)].tolist()])
    return bool(
        abs(found - worst.expected) <= scale * (tolerance + 10.0 * worst.uncertainty)
    )


def _with_progress(
    items: Iterator[Comparison], count: int, seconds: float
) -> Iterator[Comparison]:
    """The same items; a counter on a terminal when they will take a while."""
    loud = sys.stderr.isatty() and count * seconds > LONG
    for done, item in enumerate(items, 1):
        if loud:
            print(f"\rchecking derivatives: {done}/{count}", end="", file=sys.stderr)
        yield item
    if loud:
        print(file=sys.stderr)
