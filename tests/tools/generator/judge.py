"""Whether a generated function and its gradient are right; the plain function decides.

Every float array is an output here, written or not: what `pyrev` takes for untouched
passes its cotangent on, so a write that it overlooks is a wrong gradient. A program
that is not legal, not tame, or has no derivative where it is called, is no evidence.
"""

from __future__ import annotations

import copy
import functools
import linecache
import re
import signal
import threading
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
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
from tests.targets.cuda import ondevice
from tests.tools.costs import differentiable, of_seed
from tests.tools.generator.program import Generated, Sizes

TOO_LARGE = 1e3
DIRECTIONS = 2
STEP = 2e-3
# Second differences fall by 16 from one to the other, and at a kink by 4.
NEAR = (4e-5, 1e-5)
GRADIENT = {"float64": 2e-6, "float32": 5e-3}
PRIMAL = {"float64": 1e-11, "float32": 1e-4}
ILLEGAL = (
    ArithmeticError,
    AssertionError,
    IndexError,
    NameError,
    RecursionError,
    TypeError,
    ValueError,
)
PLAIN_SECONDS, PYREV_SECONDS = 1.0, 300.0

#: The target whose text is the one for Numba, and which runs it in CPython.
TEXT = "text"
_NAMES = re.compile(r"<generated \w+>(:\d+)*|`[^`]*`|'[^']*'|\b\d[\d.e+-]*")

_CODE = re.compile(r"\bP\d{3}\b")
#: What a refusal says about a place, behind the carets.
_REASON = re.compile(r"^ *\| *\^+ (.*)$", re.MULTILINE)

RIGHT, REFUSED, WRONG = "right", "refused", "wrong"


@dataclass(frozen=True, slots=True)
class Verdict:
    """`kind` is right, refused, "wrong ...", or why the program says nothing.

    `zero` and `other` say that the function was also judged without elements and at
    sizes it was not written for.
    """

    kind: str
    detail: str = ""
    zero: bool = False
    other: bool = False

    @property
    def counts(self) -> bool:
        """Was the program legal and differentiable where it was called?"""
        return self.kind in (RIGHT, REFUSED) or self.wrong

    @property
    def wrong(self) -> bool:
        return self.kind.startswith(WRONG)

    @property
    def symptom(self) -> str:
        """Equal for failures that probably have one cause."""
        if self.kind == "wrong gradient":
            return self.kind
        first = (self.detail.splitlines() or [""])[0]
        first = re.sub(r"^.*?:\d+:\d+: ", "", first)
        # A refusal lists every finding: a reduced program must not add another.
        codes = "".join(f"{c} " for c in sorted(set(_CODE.findall(self.detail))))
        reasons = {re.sub(_NAMES, "_", r) for r in _REASON.findall(self.detail)}
        why = "".join(f"; {r}" for r in sorted(reasons))
        return f"{self.kind}: {codes}" + re.sub(_NAMES, "_", first)[:80] + why


class Late(BaseException):
    """The time is up; no `except Exception` on the way may stop it."""


@contextmanager
def limit(seconds: float) -> Iterator[None]:
    """Raise `Late` after so much processor time; in the main thread only."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def late(_: int, __: FrameType | None) -> None:
        raise Late

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


@dataclass(frozen=True)
class Expected:
    """What the plain function says of one call."""

    arguments: dict[str, Any]
    outputs: tuple[str, ...]
    values: Outcome
    weights: Cotangents
    slopes: tuple[tuple[Values, float, float], ...]
    precision: str


def reject(reason: str) -> Verdict:
    return Verdict(reason)


def tame(result: Outcome) -> bool:
    """Are all values small, and numbers?"""
    return all(
        bool(np.all(np.abs(np.asarray(v, np.float64)) < TOO_LARGE))
        for v in result.values()
    )


def numbers(arguments: Values) -> Values:
    """The same with NumPy's floats, which can tell of an overflow."""
    return {
        k: np.float64(v) if isinstance(v, float) else v for k, v in arguments.items()
    }


def precision(arguments: Values) -> str:
    single = any(getattr(v, "dtype", None) == np.float32 for v in arguments.values())
    return "float32" if single else "float64"


def expect(program: Generated, plain: Function, sizes: Sizes) -> Expected | Verdict:
    """The plain function's values and slopes, or why it has none here."""
    arguments = program.made(sizes)
    names = floats(arguments)
    if not names:
        return reject("no float argument")
    arrays = tuple(k for k, v in arguments.items() if isinstance(v, np.ndarray))
    double = program.double()
    try:
        with limit(PLAIN_SECONDS):
            values = run(plain, arguments, arrays)
            exact = run(double, widen(arguments), arrays)
            # Where a value on the way overflows, zero times its slope is nan.
            with np.errstate(over="raise"):
                run(double, numbers(widen(arguments)), arrays)
    except FloatingPointError:
        return reject("not tame")
    except ILLEGAL as error:
        return reject(f"illegal: {type(error).__name__}")
    except Late:
        return reject("illegal: runs for ever")
    if not (tame(values) and tame(exact)):
        return reject("not tame")
    kind = precision(arguments)
    if distance(values, exact) > (2e-5 if kind == "float32" else 1e-12):
        return reject("not the same in double precision")
    outputs = tuple(k for k in arrays if k in names)
    rng = np.random.default_rng(program.seed)
    values = run(plain, arguments, arrays)
    weights = draw_cotangents(outcome(_result(values), _final(values), outputs), rng)
    slopes = []
    for _ in range(DIRECTIONS):
        direction = {
            name: rng.uniform(0.3, 1.0, np.shape(arguments[name]))
            * rng.choice([-1.0, 1.0], np.shape(arguments[name]))
            for name in names
        }
        at = functools.cache(along(double, arguments, outputs, weights, direction))
        try:
            with limit(20 * PLAIN_SECONDS):
                found = central(at, STEP)
        except (*ILLEGAL, Late):
            return reject("not differentiable: leaves its domain")
        bends = [abs(at(h) - 2 * at(0.0) + at(-h)) for h in NEAR]
        noise = 1e-11 * max(1.0, abs(at(0.0)))
        if not found.error <= 1e-7 * max(1.0, abs(found.value)):
            return reject("not differentiable: differences do not converge")
        if not bends[1] <= 0.12 * bends[0] + noise:
            return reject("not differentiable: a kink")
        slopes.append((direction, found.value, found.error))
    return Expected(arguments, outputs, values, weights, tuple(slopes), kind)


def _result(values: Outcome) -> Any:
    if values.structure is None:
        return None
    return values.returned if values.structure is tuple else values.returned[0]


def _final(values: Outcome) -> dict[str, Any]:
    return dict(values.written)


def compare(f: Any, expected: Expected) -> Verdict:
    """One call and its pullback beside the plain function."""
    arguments, arrays = expected.arguments, tuple(expected.values.written)
    allowed = PRIMAL[expected.precision]
    if f._target == "python":
        # The call is the plain function itself there: ask for the primal's text too.
        own = copied(arguments)
        off = distance(expected.values, outcome(f.primal(**own), own, arrays))
        if not off <= allowed:
            return Verdict("wrong values", f"the text is off by {off:.1e}")
    own = copied(arguments)
    on_device = f._target == "cuda"
    result, pullback = (ondevice.vjp if on_device else pyrev.vjp)(f, **own)
    off = distance(expected.values, outcome(result, own, arrays))
    if not off <= allowed:
        return Verdict("wrong values", f"off by {off:.1e}")
    after = copy.deepcopy(own)
    weights = expected.weights
    here = pyrev.differentiable(f.python, target="numba") if on_device else f
    written = Call(here, (), copied(arguments)).function.written
    named = {k: w for k, w in weights.written.items() if k in written}
    found = []
    if not named and weights.positional is None:
        found = [{k: np.zeros(np.shape(arguments[k])) for k in floats(arguments)}] * 2
    else:
        for _ in range(2):
            found.append(dict(pullback(weights.positional, cotangents=named).items()))
    for name, value in own.items():
        if not _same(value, after[name]):
            return Verdict("wrong: changed arguments", f"the pullback changed `{name}`")
    gradients: dict[str, Any] = {}
    for name, gradient in found[0].items():
        if not _same(gradient, found[1][name]):
            return Verdict("wrong: other bits", f"the second call differs in `{name}`")
        if np.shape(gradient) != np.shape(arguments[name]):
            return Verdict("wrong: shape", f"the gradient of `{name}`")
        gradients[name] = np.asarray(gradient, np.float64)
        if name in weights.written and name not in written:
            gradients[name] = gradients[name] + weights.written[name]
    if tuple(gradients) != floats(arguments):
        return Verdict("wrong: names", f"gradients of {tuple(gradients)}")
    return slopes(gradients, expected)


def slopes(gradients: Values, expected: Expected) -> Verdict:
    """The gradient along each direction beside the differences."""
    for direction, want, error in expected.slopes:
        parts = [gradients[k] * d for k, d in direction.items()]
        got = float(sum(np.sum(p) for p in parts))
        size = max(1.0, float(sum(np.sum(np.abs(p)) for p in parts)), abs(want))
        off = abs(got - want) - 10 * error
        if not off <= GRADIENT[expected.precision] * size:
            return Verdict(
                "wrong gradient", f"slope {got:.10g}, differences {want:.10g}"
            )
    return Verdict(RIGHT)


def _compare_text(f: Any, expected: Expected) -> Verdict:
    from tests.tools.generator.races import compare_text

    return compare_text(f, expected)


def copied(arguments: Values) -> dict[str, Any]:
    """Copies that keep the strides."""
    made = {}
    for name, value in arguments.items():
        if isinstance(value, np.ndarray):
            made[name] = _like(value)
        else:
            made[name] = value
    return made


def _like(value: Any) -> Any:
    """A copy with the same order and the same gaps between elements."""
    base = value if value.base is None else value.base
    if base is value or not value.size:
        return value.copy(order="K")
    own = base.copy(order="K")
    start = value.__array_interface__["data"][0] - base.__array_interface__["data"][0]
    return np.ndarray(value.shape, value.dtype, own, start, value.strides)


def _same(a: Any, b: Any) -> bool:
    p, q = np.asarray(a), np.asarray(b)
    return p.shape == q.shape and p.dtype == q.dtype and p.tobytes() == q.tobytes()


def _where(error: BaseException) -> str:
    """The function of pyrev that raised, in brackets; nothing for generated code."""
    frames = traceback.extract_tb(error.__traceback__)
    home = Path(pyrev.__file__).parent
    ours = [f for f in frames if home in Path(f.filename).parents]
    return f" in {Path(ours[-1].filename).stem}.{ours[-1].name}" if ours else ""


def other_sizes(program: Generated) -> Sizes | None:
    """Sizes that the program was not written for, for some programs."""
    n, m, z = (program.sizes[k] for k in "nmz")
    choices = {
        0: {"n": 0, "m": m, "z": 0},
        1: {"n": n + 2, "m": m + 1, "z": z + 2},
        2: {"n": 1, "m": 1, "z": 2},
        3: {"n": m, "m": 0, "z": z},
    }
    return choices.get(program.seed % 8)


def judge(program: Generated, target: str = "python") -> Verdict:
    """Right, refused, wrong, or why nothing can be said."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        function = program.function()
        try:
            device = ondevice.standing_in() if target == "cuda" else nullcontext()
            with device:
                return _judged(program, function, target)
        finally:
            code = getattr(function, "py_func", function).__code__
            linecache.cache.pop(code.co_filename, None)


def _judged(program: Generated, function: Any, target: str) -> Verdict:
    plain = getattr(function, "py_func", function)
    expected = expect(program, plain, program.sizes)
    if isinstance(expected, Verdict):
        return expected
    again: Expected | Verdict | None = None
    sizes = other_sizes(program)
    if sizes is not None:
        again = expect(program, plain, sizes)
    zero = other = False
    by = _compare_text if target == TEXT else compare
    try:
        with limit(PYREV_SECONDS):
            f = differentiable(
                function,
                of_seed(program.seed),
                target="numba" if target == TEXT else target,
            )
            verdict = by(f, expected)
            if verdict.kind == RIGHT and isinstance(again, Expected):
                other = True
                zero = any(
                    isinstance(v, np.ndarray) and not v.size
                    for v in again.arguments.values()
                )
                verdict = by(f, again)
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
    return Verdict(verdict.kind, verdict.detail, zero, other)
