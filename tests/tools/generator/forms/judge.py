"""Whether a program of these forms is right: values, types, exceptions, one direction.

Each number and each array in the structures among the arguments is judged, by central
differences: what draws begins anew in each evaluation. Where CPython raises what the
program says (`raise`, `assert`, a subscript outside), pyrev has to raise it, too.
"""

from __future__ import annotations

import functools
import math
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import pyrev
from pyrev.api.differentiable import Call
from pyrev.testing.differences import along, central
from pyrev.testing.outcome import (
    Cotangents,
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
    RIGHT,
    STEP,
    Late,
    Verdict,
    limit,
    numbers,
    precision,
    reject,
    tame,
)
from tests.tools.generator.program import Generated, Sizes
from tests.tools.generator.programs.judge import judged
from tests.tools.structured import Flat, fields, leaves, like, name

#: What pyrev promises to raise where CPython raises it.
TOLD = (*ILLEGAL, RuntimeError, KeyError)


@dataclass(frozen=True)
class Expected:
    """What the plain function says of one call: a result, or what it raised."""

    given: dict[str, Any]
    flat: Flat
    values: Outcome
    result: Any
    left: dict[str, Any]
    weights: Cotangents
    direction: Values
    slope: float
    error: float
    raised: Exception | None = None
    #: Does it return in several places?
    paths: bool = False
    #: May it give float64 where pyrev gives float32?
    narrow: bool = False

    @property
    def precision(self) -> str:
        return precision(self.flat.values)


def made(program: Generated, sizes: Sizes) -> dict[str, Any]:
    return program.made(sizes)


def raised_by_the_text(error: Exception) -> bool:
    """Did a `raise`, an `assert` or a subscript of the program do it?"""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    told = (frame.line or "").lstrip().startswith(("raise", "assert"))
    return frame.filename.startswith("<generated") and (
        told or isinstance(error, IndexError)
    )


def expect(program: Generated, plain: Any, sizes: Sizes) -> Expected | Verdict:
    """The plain function's values and its slope, or why it has none here."""
    given = made(program, sizes)
    flat = Flat(plain, given)
    values = flat.values
    names = floats(values)
    if not names:
        return reject("no float argument")
    arrays = tuple(k for k, v in values.items() if isinstance(v, np.ndarray))
    outputs = tuple(k for k in arrays if k in names)
    double = Flat(program.double(), given)
    own = made(program, sizes)
    try:
        with limit(PLAIN_SECONDS):
            result = plain(**own)
    except TOLD as error:
        if not raised_by_the_text(error):
            return reject(f"illegal: {type(error).__name__}")
        nothing = Outcome((), {}, None)
        none = Cotangents((), {}, None)
        return Expected(given, flat, nothing, None, own, none, {}, 0.0, 0.0, error)
    except Late:
        return reject("illegal: runs for ever")
    try:
        with limit(PLAIN_SECONDS):
            with np.errstate(over="raise", invalid="raise"):
                found = run(flat, values, arrays)
                exact = run(double, numbers(widen(values)), arrays)
    except FloatingPointError:
        return reject("not tame")
    except TOLD as error:
        return reject(f"illegal: {type(error).__name__}")
    if not (tame(found) and tame(exact)):
        return reject("not tame")
    kind = precision(values)
    if distance(found, exact) > (2e-5 if kind == "float32" else 1e-12):
        return reject("not the same in double precision")
    rng = np.random.default_rng(program.seed)
    shown = Outcome(
        found.returned, {k: found.written[k] for k in outputs}, found.structure
    )
    weights = draw_cotangents(shown, rng)
    direction = {
        n: rng.uniform(0.3, 1.0, np.shape(values[n]))
        * rng.choice([-1.0, 1.0], np.shape(values[n]))
        for n in names
    }
    at = functools.cache(along(double, values, outputs, weights, direction))
    try:
        with limit(5 * PLAIN_SECONDS):
            slope = central(at, STEP)
            bends = [abs(at(h) - 2 * at(0.0) + at(-h)) for h in NEAR]
    except (*TOLD, Late):
        return reject("not differentiable: leaves its domain")
    noise = 1e-11 * max(1.0, abs(at(0.0)))
    if not slope.error <= 1e-7 * max(1.0, abs(slope.value)):
        return reject("not differentiable: differences do not converge")
    if not bends[1] <= 0.12 * bends[0] + noise:
        return reject("not differentiable: a kink")
    text = program.source.rpartition("\ndef f(")[2]
    paths = text.count("return ") > 1 or any(w in text for w in _BRANCHES)
    narrow = kind == "float32" and any(w in program.source for w in _NARROW)
    return Expected(
        given,
        flat,
        found,
        result,
        own,
        weights,
        direction,
        slope.value,
        slope.error,
        paths=paths,
        narrow=narrow,
    )


# ---------------------------------------------------------------- what is compared


#: Where a name may be bound on one path and not on another, and lists, which hold one
#: kind of number.
_BRANCHES = ("if ", "for ", "while ", ".append(")
#: What gives float64 of a float32 in CPython, and float32 here.
_NARROW = ("math.", "np.array([")


def unlike(
    want: Any,
    got: Any,
    allowed: float,
    where: str,
    paths: bool = False,
    narrow: bool = False,
) -> Iterator[str]:
    """What differs between two results, types included.

    An integer may be a float if there are several `paths`: it is one on all if it is
    one on any. A float64 may be a float32 if the program is `narrow`: `math` functions
    and lists keep the precision of what they are given (`docs/language.md`, both).
    """
    if isinstance(want, np.random.Generator):
        if want.bit_generator.state != got.bit_generator.state:
            yield f"{where}: another state of the generator"
        return
    inside = fields(want)
    if isinstance(want, list) or (inside is not None and not _records(want)):
        if type(want) is not type(got):
            yield f"{where}: {type(got).__name__} for {type(want).__name__}"
            return
        mine = dict(enumerate(want)) if inside is None else dict(inside)
        other = fields(got)
        theirs = dict(enumerate(got)) if other is None else dict(other)
        if [*mine] != [*theirs]:
            yield f"{where}: {[*theirs]} for {[*mine]}"
            return
        for k, part in mine.items():
            yield from unlike(part, theirs[k], allowed, f"{where}.{k}", paths, narrow)
        return
    if want is None or isinstance(want, str) or callable(want):
        if want is not got and want != got:
            yield f"{where}: {got!r} for {want!r}"
        return
    if inside is not None:
        for k, part in inside.items():
            yield from unlike(part, got[k], allowed, f"{where}.{k}", paths, narrow)
        return
    p, q = np.asarray(want), np.asarray(got)
    if p.shape != q.shape:
        yield f"{where}: shape {q.shape} for {p.shape}"
    elif isinstance(want, np.ndarray) != isinstance(got, np.ndarray):
        yield f"{where}: {type(got).__name__} for {type(want).__name__}"
    elif (p.dtype.kind != q.dtype.kind and not (paths and _counts(want, got))) or (
        isinstance(want, np.ndarray)
        and p.dtype != q.dtype
        and not (narrow and q.dtype == np.float32 and p.dtype == np.float64)
    ):
        yield f"{where}: {q.dtype} for {p.dtype}"
    elif p.size:
        scale = max(1.0, float(np.max(np.abs(p))))
        off = float(np.max(np.abs(p - q))) / scale
        if not off <= allowed:
            yield f"{where}: off by {off:.1e}"


def _counts(want: Any, got: Any) -> bool:
    return isinstance(want, (int, np.integer)) and isinstance(got, (float, np.floating))


def _records(value: Any) -> bool:
    return isinstance(value, (np.ndarray, np.void))


def same(result: Any, own: dict[str, Any], expected: Expected) -> str:
    """What differs between two calls: results, and what is left in the arguments."""
    allowed = PRIMAL[expected.precision]
    loose = expected.paths, expected.narrow
    differ = unlike(expected.result, result, allowed, "the result", *loose)
    first = next(differ, "")
    for n, value in expected.left.items():
        first = first or next(unlike(value, own[n], allowed, f"`{n}`"), "")
    return first or next(shared(result, own, expected), "")


def shared(result: Any, own: dict[str, Any], expected: Expected) -> Iterator[str]:
    """Which results are arrays of the caller, or overlap them, in one call only?"""

    def overlaps(result: Any, arguments: dict[str, Any]) -> set[tuple[str, str]]:
        return {
            (name(at), name((n, *path)))
            for at, a in leaves(result).items()
            for n, value in arguments.items()
            for path, b in leaves(value).items()
            if isinstance(a, np.ndarray) and isinstance(b, np.ndarray)
            if np.shares_memory(a, b)
        }

    want = overlaps(expected.result, expected.left)
    got = overlaps(result, own)
    if want != got:
        yield f"shared memory: {sorted(got)} for {sorted(want)}"


def compare_raising(f: Any, expected: Expected) -> Verdict:
    """What is raised, and how arrays are left, beside the plain function."""
    want = expected.raised
    for how in ("call", "vjp"):
        own = _again(expected)
        try:
            if how == "vjp":
                pyrev.vjp(f, **own)
            else:
                (f.primal if f._target == "python" else f)(**own)
        except TOLD as got:
            if isinstance(got, pyrev.ArgumentError) and isinstance(want, IndexError):
                continue
            if type(got) is not type(want):
                return Verdict(
                    "wrong exception", f"{how}: {type(got).__name__} for {want!r}"
                )
            told = not isinstance(want, (IndexError, AssertionError))
            if told and got.args != want.args:  # type: ignore[union-attr]
                return Verdict("wrong exception", f"{how}: {got!r} for {want!r}")
            if told:
                for n, value in expected.left.items():
                    for bad in unlike(value, own[n], 1e-11, f"`{n}`"):
                        if "generator" not in bad:
                            return Verdict("wrong: left behind", f"{how}: {bad}")
        else:
            return Verdict("wrong exception", f"{how}: none for {want!r}")
    return Verdict(RIGHT)


def _again(expected: Expected) -> dict[str, Any]:
    """The arguments of the call, made anew."""
    flat = expected.flat
    copies = {
        n: v.copy() if isinstance(v, np.ndarray) else v for n, v in flat.values.items()
    }
    return flat.structured(copies)


def compare(f: Any, expected: Expected, forward: bool) -> Verdict:
    """One call, its pullback and its tangent beside the plain function."""
    if expected.raised is not None:
        return compare_raising(f, expected)
    flat = expected.flat

    if f._target == "python":
        # The call is the plain function itself there: ask for the primal's text too.
        own = _again(expected)
        bad = same(f.primal(**own), own, expected)
        if bad:
            return Verdict("wrong values", f"the text: {bad}")
    own = _again(expected)
    result, pullback = pyrev.vjp(f, **own)
    bad = same(result, own, expected)
    if bad:
        return Verdict("wrong values", bad)
    weights = expected.weights
    known = Call(f, (), _again(expected)).function.written
    named = {k: w for k, w in weights.written.items() if k.replace(".", "_") in known}
    cotangent = None
    if weights.structure is not None and weights.positional is not None:
        cotangent = like(result, weights.positional)
        if isinstance(result, list):
            cotangent = weights.positional
    if not named and cotangent is None:
        found = {k: np.zeros(np.shape(v)) for k, v in flat.values.items()}
    else:
        found = {
            name((n, *path)): v
            for n, g in pullback(cotangent, cotangents=named).items()
            for path, v in leaves(g).items()
        }
    terms: list[Any] = []
    for n, move in expected.direction.items():
        gradient, primal = found.get(n), flat.values[n]
        if gradient is None or np.shape(gradient) != np.shape(primal):
            return Verdict("wrong: shape", f"the gradient of `{n}`")
        if isinstance(primal, np.ndarray) and (named or cotangent is not None):
            if gradient.dtype != primal.dtype and not expected.narrow:
                return Verdict("wrong: dtype", f"the gradient of `{n}`")
        g = np.asarray(gradient, np.float64)
        if n in weights.written and n not in named:
            g = g + weights.written[n]
        terms.append(g * move)
    verdict = beside(terms, expected, "wrong gradient")
    if verdict.wrong or not forward:
        return verdict
    return compare_tangent(f, _again(expected), expected)


def compare_tangent(f: Any, own: dict[str, Any], expected: Expected) -> Verdict:
    """The tangent along the direction beside the differences."""
    weights = expected.weights
    # What is not read of a structure is no parameter.
    read = Call(f, (), _again(expected)).visible
    moves = {
        n: np.asarray(d, expected.flat.values[n].dtype) if np.ndim(d) else float(d)
        for n, d in expected.direction.items()
        if n.replace(".", "_") in read
    }
    result, moved = pyrev.jvp(f, **own, tangents=moves)
    bad = same(result, own, expected)
    if bad:
        return Verdict("wrong values", f"of jvp: {bad}")
    terms: list[Any] = []
    if weights.structure is not None and weights.positional is not None:
        back = outcome(moved["return"], {}, ()).returned
        for weight, tangent in zip(weights.returned, back, strict=True):
            if weight is not None and tangent is not None:
                terms.append(np.asarray(weight) * np.asarray(tangent, np.float64))
    for n, weight in weights.written.items():
        tangent = moved[n] if n in moved else expected.direction[n]
        terms.append(weight * np.asarray(tangent, np.float64))
    return beside(terms, expected, "wrong tangent")


def beside(terms: list[Any], expected: Expected, kind: str) -> Verdict:
    """A sum of terms beside the slope by differences."""
    got = math.fsum(float(np.sum(t)) for t in terms)
    want = expected.slope
    size = max(1.0, float(sum(np.sum(np.abs(t)) for t in terms)), abs(want))
    off = abs(got - want) - 10 * expected.error
    if not off <= GRADIENT[expected.precision] * size:
        return Verdict(kind, f"slope {got:.10g}, differences {want:.10g}")
    return Verdict(RIGHT)


def judge(program: Generated, target: str = "python") -> Verdict:
    """Right, refused, wrong, or why nothing can be said."""
    return judged(program, target, expect, compare)
