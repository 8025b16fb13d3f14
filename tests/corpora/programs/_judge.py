"""Decides of each program whether pyrev is right, refuses it, is wrong, or dies.

Right means that one call passes `oracle.check` (values, mutation, every gradient, no
argument changed) and `assert_derivatives`, which excuses nothing: a step of the
differences that meets a kink counts against the program. Refused means an error that
tells the user what to change, `UnsupportedError` or `ArgumentError`. Any other
exception is a death, and a wrong number, dtype or shape is wrong.
"""

from __future__ import annotations

import copy
import importlib
import inspect
import math
import pkgutil
import re
import time
import warnings
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import pyrev
from pyrev.testing import (
    Estimate,
    changed,
    derivative,
    draw_cotangents,
    floats,
    outcome,
    run,
)
from pyrev.testing.differences import LADDER
from pyrev.testing.outcome import terms, total
from tests.corpora import programs
from tests.tools.costs import differentiable
from tests.tools.oracle import check, precision
from tests.tools.structured import Flat, is_structured, written_structures

RIGHT, REFUSED, WRONG, DIED = "right", "refused", "wrong", "died"

#: How far differences may be off where they judge, as a part of the derivative's size.
#: They are good to about 1e-9 in float64; a program with arrays of float32 inside
#: rounds each value to 1e-7, and steps of a hundredth leave some 1e-4 of a slope.
SHARP = {"float64": 1e-6, "float32": 1e-2}
#: What is this good needs no other step.
ENOUGH = 1e-8
#: The gradient may differ by this part. Both are relative to the sum of the absolute
#: terms of the derivative, to which rounding is relative too.
ALLOWED = {"float64": 1e-6, "float32": 5e-3}


@dataclass(frozen=True)
class Program:
    """One program: its name, its entry, and the arguments of its call."""

    name: str
    function: Callable[..., Any]
    inputs: Callable[[np.random.Generator], dict[str, Any]]

    def arguments(self) -> dict[str, Any]:
        """The same in every run."""
        return self.inputs(self.generator())

    def generator(self) -> np.random.Generator:
        return np.random.default_rng(zlib.crc32(self.name.encode()))


@dataclass(frozen=True)
class Verdict:
    """What became of one program; `codes` are those of a refusal's findings."""

    name: str
    outcome: str
    message: str = ""
    codes: tuple[str, ...] = ()
    seconds: float = 0.0


def load(name: str) -> Program:
    module = importlib.import_module(f"{programs.__name__}.{name}")
    return Program(name, module.program, module.inputs)


#: The names of all programs, in the order of the alphabet.
NAMES = sorted(
    m.name for m in pkgutil.iter_modules(programs.__path__) if m.name[0] != "_"
)


def judge(name: str, target: str = "python") -> Verdict:
    """The verdict on one program on one target."""
    started = time.process_time()

    def found(outcome: str, message: str = "", codes: tuple[str, ...] = ()) -> Verdict:
        seconds = time.process_time() - started
        return Verdict(name, outcome, message, codes, seconds)

    program = load(name)
    try:
        with warnings.catch_warnings(), np.errstate(over="ignore"):
            warnings.simplefilter("error")
            f = differentiable(program.function, target=target)
            assert_right(f, program)
    except pyrev.UnsupportedError as refusal:
        codes = tuple(sorted({f.code for f in refusal.findings}))
        return found(REFUSED, brief(refusal), codes)
    except pyrev.ArgumentError as refusal:
        return found(REFUSED, brief(refusal))
    except AssertionError as difference:
        return found(WRONG, brief(difference))
    except Exception as failure:
        return found(DIED, brief(failure))
    return found(RIGHT)


def assert_right(f: Any, program: Program) -> None:
    """The call of `inputs`, judged from all sides."""
    arguments = program.arguments()
    own = copy.deepcopy(arguments)
    result = program.function(**own)
    outputs = (*changed(arguments, own), *written_structures(arguments, own))

    mine = copy.deepcopy(arguments)
    computed = f(**mine)
    for expected, got in zip(several(result), several(computed), strict=True):
        assert np.shape(expected) == np.shape(got), f"shape {np.shape(got)}"
        kinds = np.asarray(expected).dtype, np.asarray(got).dtype
        assert kinds[0] == kinds[1], f"a result of {kinds[1]} for {kinds[0]}"

    rng = program.generator()
    bound = inspect.signature(program.function).bind(**arguments)
    bound.apply_defaults()
    check(f, program.function, bound.arguments, outputs, rng, entries=5)
    assert_derivatives(f, program.function, arguments, outputs, rng)


def assert_derivatives(
    f: Any,
    plain: Callable[..., Any],
    arguments: dict[str, Any],
    outputs: tuple[str, ...],
    rng: np.random.Generator,
) -> None:
    """The gradient and the tangent of one direction, beside sharp differences."""
    vjp, whole = pyrev.vjp, dict[str, Any]
    if is_structured(arguments):
        flat = Flat(plain, arguments)
        plain, outputs = flat, tuple(flat.written(outputs))
        arguments, vjp, whole = flat.values, flat.vjp(pyrev.vjp), flat.structured
    kind = precision(arguments)
    weights = draw_cotangents(run(plain, arguments, outputs), rng)
    _, pullback = vjp(f, **copy.deepcopy(arguments))
    given = () if weights.structure is None else (weights.positional,)
    gradients = pullback(*given, cotangents=weights.written)
    direction = {
        name: rng.uniform(0.5, 1.0, np.shape(arguments[name]))
        * rng.choice([-1.0, 1.0], np.shape(arguments[name]))
        * scale(arguments[name])
        for name in floats(arguments)
    }
    parts = [
        product
        for name, along in direction.items()
        for product in np.ravel(
            np.asarray(gradients[name], np.float64) * np.asarray(along)
        ).tolist()
    ]
    size = total([abs(p) for p in parts])
    assert math.isfinite(size), "the gradient is not finite"
    best = Estimate(math.nan, math.inf)
    for step in LADDER:
        tried = derivative(plain, arguments, outputs, weights, direction, step)
        if tried.error < best.error:
            best = tried
        if best.error <= ENOUGH * size:
            break
    assert best.error <= SHARP[kind] * size, f"differences do not settle: {best}"
    allowed = ALLOWED[kind] * size + 10 * best.error
    assert abs(total(parts) - best.value) <= allowed, (
        f"along a direction the gradient says {total(parts):.10g}, "
        f"differences {best.value:.10g}"
    )

    tangents = {
        name: np.asarray(along, np.asarray(arguments[name]).dtype)
        if isinstance(arguments[name], np.ndarray)
        else float(along)
        for name, along in direction.items()
    }
    own = whole(copy.deepcopy(arguments))
    result, pushed = pyrev.jvp(f, **own, tangents=tangents)
    # Integers that are written have no tangent: they do not move.
    still = {name: np.zeros(np.shape(arguments[name])) for name in outputs}
    moved = outcome(pushed.get("return"), still | {**pushed}, outputs)
    tangent = total(terms(moved, weights))
    assert abs(tangent - best.value) <= allowed, (
        f"along a direction the tangent says {tangent:.10g}, "
        f"differences {best.value:.10g}"
    )


def scale(value: Any) -> float:
    """A size for steps of this argument: a part of its own, not to leave its domain."""
    found = np.abs(np.asarray(value, np.float64))
    found = found[np.isfinite(found)]
    return min(1.0, float(found.mean())) if found.size and found.any() else 1.0


def several(result: Any) -> tuple[Any, ...]:
    if result is None:
        return ()
    return result if isinstance(result, tuple) else (result,)


def brief(failure: Exception) -> str:
    """The message of an error without folders and without the lines that it shows."""
    text = re.sub(r"\S*/(\w+\.py:\d)", r"\1", str(failure))
    lines = [line.strip() for line in text.splitlines()]
    shown = [line for line in lines if line and "|" not in line]
    return f"{type(failure).__name__}: {' / '.join(shown[:3])}"
