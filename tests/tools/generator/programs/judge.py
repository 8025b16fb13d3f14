"""Whether a program is right: one direction, exactly; the plain function decides.

The judge of `generator.judge`, made for many small programs: one direction in all
parameters at once, along which the pullback and the tangent both have to give the slope
of the plain function. What has no value of its own, nan that stands for what was not
measured, is moved like the rest and must not matter.
"""

from __future__ import annotations

import functools
import linecache
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import pyrev
from pyrev.api.differentiable import Call
from pyrev.testing.differences import along, central
from pyrev.testing.outcome import (
    Cotangents,
    Function,
    Outcome,
    Values,
    distance,
    draw_cotangents,
    floats,
    outcome,
    run,
    widen,
)
from tests.tools.generator.judge import (
    GRADIENT,
    ILLEGAL,
    NEAR,
    PLAIN_SECONDS,
    PRIMAL,
    PYREV_SECONDS,
    REFUSED,
    RIGHT,
    STEP,
    TOO_LARGE,
    Late,
    Verdict,
    _same,
    _where,
    copied,
    limit,
    numbers,
    precision,
    reject,
)
from tests.tools.generator.program import Generated, Sizes

#: How many elements may not be numbers in what is compared: those that were given.
OTHER = {0: 1, 1: 2, 2: -1}

#: What is expected of a program of these sizes; how a function compares with it.
Expecting = Callable[[Generated, Any, Sizes], Any]
Comparing = Callable[[Any, Any, bool], Verdict]


@dataclass(frozen=True)
class Expected:
    """What the plain function says of one call."""

    arguments: dict[str, Any]
    arrays: tuple[str, ...]
    values: Outcome
    weights: Cotangents
    direction: Values
    slope: float
    error: float
    precision: str


def tame(result: Outcome, given: set[str]) -> bool:
    """Are all values small, and numbers, but for those that were given as nan?"""
    every = [
        *result.returned,
        *(v for k, v in result.written.items() if k not in given),
    ]
    return all(
        bool(np.all(np.abs(np.asarray(v, np.float64)) < TOO_LARGE)) for v in every
    )


def expect(program: Generated, plain: Function, sizes: Sizes) -> Expected | Verdict:
    """The plain function's values and its slope, or why it has none here."""
    arguments = program.made(sizes)
    names = floats(arguments)
    if not names:
        return reject("no float argument")
    contents = dict(program.arguments)
    gaps = {k for k in names if contents[k].content == "missing"}
    arrays = tuple(k for k, v in arguments.items() if isinstance(v, np.ndarray))
    outputs = tuple(k for k in arrays if k in names and k not in gaps)
    double = program.double()
    raising = {} if loose(program) else {"over": "raise", "invalid": "raise"}
    try:
        with limit(PLAIN_SECONDS):
            # Where a value on the way overflows, zero times its slope is nan: in
            # double precision, and in that of the arguments.
            with np.errstate(**raising):  # type: ignore[arg-type]
                values = run(plain, arguments, arrays)
                exact = run(double, numbers(widen(arguments)), arrays)
    except FloatingPointError:
        return reject("not tame")
    except ILLEGAL as error:
        return reject(f"illegal: {type(error).__name__}")
    except Late:
        return reject("illegal: runs for ever")
    if not (tame(values, gaps) and tame(exact, gaps)):
        return reject("not tame")
    kind = precision(arguments)
    if distance(values, exact) > (2e-5 if kind == "float32" else 1e-12):
        return reject("not the same in double precision")
    rng = np.random.default_rng(program.seed)
    shown = Outcome(
        values.returned, {k: values.written[k] for k in outputs}, values.structure
    )
    weights = draw_cotangents(shown, rng)
    direction = {
        name: rng.uniform(0.3, 1.0, np.shape(arguments[name]))
        * rng.choice([-1.0, 1.0], np.shape(arguments[name]))
        for name in names
    }
    at = functools.cache(along(double, arguments, outputs, weights, direction))
    try:
        with limit(5 * PLAIN_SECONDS):
            found = central(at, STEP)
            bends = [abs(at(h) - 2 * at(0.0) + at(-h)) for h in NEAR]
    except (*ILLEGAL, Late):
        return reject("not differentiable: leaves its domain")
    noise = 1e-11 * max(1.0, abs(at(0.0)))
    if not found.error <= 1e-7 * max(1.0, abs(found.value)):
        return reject("not differentiable: differences do not converge")
    if not bends[1] <= 0.12 * bends[0] + noise:
        return reject("not differentiable: a kink")
    return Expected(
        arguments, arrays, values, weights, direction, found.value, found.error, kind
    )


def loose(program: Generated) -> bool:
    """May a value on the way be no number?"""
    return "isnan" in program.source or "discarded value" in program.productions


def compare(f: Any, expected: Expected, forward: bool) -> Verdict:
    """One call, its pullback and its tangent beside the plain function."""
    arguments, arrays = expected.arguments, expected.arrays
    allowed = PRIMAL[expected.precision]
    if f._target == "python":
        # The call is the plain function itself there: ask for the primal's text too.
        own = copied(arguments)
        bad = unlike(expected, outcome(f.primal(**own), own, arrays), allowed)
        if bad:
            return Verdict("wrong values", f"the text: {bad}")
    own = copied(arguments)
    result, pullback = pyrev.vjp(f, **own)
    bad = unlike(expected, outcome(result, own, arrays), allowed)
    if bad:
        return Verdict("wrong values", bad)
    weights = expected.weights
    written = Call(f, (), copied(arguments)).function.written
    named = {k: w for k, w in weights.written.items() if k in written}
    if not named and weights.positional is None:
        gradients = {k: np.zeros(np.shape(arguments[k])) for k in floats(arguments)}
    else:
        gradients = dict(pullback(weights.positional, cotangents=named).items())
    if tuple(gradients) != floats(arguments):
        return Verdict("wrong: names", f"gradients of {tuple(gradients)}")
    terms: list[Any] = []
    for name, gradient in gradients.items():
        primal = arguments[name]
        if np.shape(gradient) != np.shape(primal):
            return Verdict("wrong: shape", f"the gradient of `{name}`")
        if isinstance(primal, np.ndarray) and (named or weights.positional is not None):
            if gradient.dtype != primal.dtype:
                return Verdict("wrong: dtype", f"the gradient of `{name}`")
        g = np.asarray(gradient, np.float64)
        if name in weights.written and name not in written:
            g = g + weights.written[name]
        terms.append(g * expected.direction[name])
    verdict = beside(terms, expected, "wrong gradient")
    if verdict.wrong or not forward:
        return verdict
    own = copied(arguments)
    moves = {
        k: np.asarray(d, np.asarray(arguments[k]).dtype)
        if isinstance(arguments[k], np.ndarray)
        else float(d)
        for k, d in expected.direction.items()
    }
    result, moved = pyrev.jvp(f, **own, tangents=moves)
    bad = unlike(expected, outcome(result, own, arrays), allowed)
    if bad:
        return Verdict("wrong values", f"of jvp: {bad}")
    terms = []
    if weights.structure is not None and weights.positional is not None:
        back = moved["return"]
        several = back if weights.structure is tuple else (back,)
        for weight, tangent in zip(weights.returned, several, strict=True):
            if weight is not None and tangent is not None:
                terms.append(np.asarray(weight) * np.asarray(tangent, np.float64))
    for name, weight in weights.written.items():
        tangent = moved[name] if name in moved else expected.direction[name]
        terms.append(weight * np.asarray(tangent, np.float64))
    return beside(terms, expected, "wrong tangent")


def unlike(expected: Expected, got: Outcome, allowed: float) -> str:
    """What differs between two outcomes."""
    want = expected.values
    off = distance(want, got)
    if not off <= allowed:
        return f"off by {off:.1e}"
    for a, b in zip(want.values(), got.values(), strict=True):
        p, q = np.asarray(a), np.asarray(b)
        if p.shape != q.shape:
            return f"shape {q.shape} for {p.shape}"
        if isinstance(a, np.ndarray) and (
            not isinstance(b, np.ndarray) or p.dtype != q.dtype
        ):
            return f"dtype {q.dtype} for {p.dtype}"
        if p.dtype.kind != q.dtype.kind:
            return f"{q.dtype} for {p.dtype}"
    for name, value in want.written.items():
        nans = np.isnan(value) if value.dtype.kind == "f" else np.zeros(value.shape)
        if np.any(nans) and not _same(value, got.written[name]):
            return f"`{name}` changed"
    return ""


def beside(terms: list[Any], expected: Expected, kind: str) -> Verdict:
    """A sum of terms beside the slope by differences."""
    got = float(sum(np.sum(t) for t in terms))
    want = expected.slope
    size = max(1.0, float(sum(np.sum(np.abs(t)) for t in terms)), abs(want))
    off = abs(got - want) - 10 * expected.error
    if not off <= GRADIENT[expected.precision] * size:
        return Verdict(kind, f"slope {got:.10g}, differences {want:.10g}")
    return Verdict(RIGHT)


def other_sizes(program: Generated) -> Sizes | None:
    """Sizes that the program was not written for, for some programs."""
    sizes = program.sizes
    match program.seed % 16:
        case 0:
            return {**sizes, "n": 0}
        case 1:
            return dict.fromkeys(sizes, 1)
        case 2 | 3:
            return {k: v + 1 for k, v in sizes.items()}
    return None


def judge(program: Generated, target: str = "python") -> Verdict:
    """Right, refused, wrong, or why nothing can be said."""
    return judged(program, target, expect, compare)


def judged(
    program: Generated, target: str, expect: Expecting, compare: Comparing
) -> Verdict:
    """The same by what is expected of a program, or says why nothing is, and by how a
    function is compared with that.
    """
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        function = program.function()
        try:
            return _judged(program, function, target, expect, compare)
        finally:
            linecache.cache.pop(function.__code__.co_filename, None)


def _judged(
    program: Generated,
    function: Any,
    target: str,
    expect: Expecting,
    compare: Comparing,
) -> Verdict:
    expected = expect(program, function, program.sizes)
    if isinstance(expected, Verdict):
        return expected
    forward = target == "python" or program.seed % 4 == 0
    sizes = other_sizes(program)
    other = False
    try:
        with limit(PYREV_SECONDS):
            f = pyrev.differentiable(function, target=target)
            verdict = compare(f, expected, forward)
            if verdict.kind == RIGHT and sizes is not None:
                again = expect(program, function, sizes)
                if not isinstance(again, Verdict):
                    other = True
                    verdict = compare(f, again, forward)
                    if verdict.wrong:
                        verdict = Verdict(verdict.kind, f"at {sizes}: {verdict.detail}")
    except (pyrev.UnsupportedError, pyrev.ArgumentError) as error:
        return Verdict(REFUSED, str(error))
    except Late:
        return Verdict("wrong: takes too long")
    except Exception as error:
        return Verdict(
            "wrong: crash", f"{type(error).__name__}{_where(error)}: {error}"
        )
    return Verdict(verdict.kind, verdict.detail, other=other)
