"""The judge of every gradient test: one call, checked from all sides.

`check` runs a differentiable function beside the undecorated one in CPython and asserts
what the contract promises: the same values and the same mutation, gradients that agree
with central differences of the plain function for every float parameter (the initial
values of written arrays included), arguments and cotangents left alone by the pullback,
and equal bits from equal calls. The numerics live in `pyrev.testing`; the error they
estimate is part of the comparison, so a tolerance never hides a rough oracle.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import pyrev
from pyrev.testing import (
    Function,
    Values,
    comparisons,
    distance,
    draw_cotangents,
    floats,
    outcome,
    run,
)
from tests.tools.structured import Flat, fields, is_structured, like

GRADIENT = {"float64": 1e-6, "float32": 2e-3}
PRIMAL = {"float64": 1e-12, "float32": 2e-5}


def precision(arguments: Values) -> str:
    """The coarsest float among the arguments decides the tolerance."""
    kinds = {str(v.dtype) for v in arguments.values() if isinstance(v, np.ndarray)}
    return "float32" if "float32" in kinds else "float64"


def check_recurrence(f: Any, arguments: Values, outputs: Sequence[str]) -> None:
    """A call like one before it runs less of pyrev, and gives the same.

    So do `value_and_grad` and `grad`, where the result is a number.
    """
    if not isinstance(f, pyrev.Differentiable) or f.target not in ("auto", "numba"):
        return
    parameters = inspect.signature(f).parameters.values()
    by_position = [p.name for p in parameters if p.kind is not p.KEYWORD_ONLY]
    if by_position != [*arguments]:  # the wrapper of a test gives others
        return
    ways = [f]
    if type(f(*copy.deepcopy([*arguments.values()]))) in (float, np.float64):
        if floats(arguments):
            ways += [pyrev.value_and_grad(f), pyrev.grad(f)]
    for way in ways:
        seen = []
        for _ in range(3):
            own = copy.deepcopy(dict(arguments))
            found = way(*own.values())
            seen.append((bits_of(found), [bits_of(own[n]) for n in outputs]))
        assert seen[0] == seen[1] == seen[2], f"a call like one before it: {seen}"


def bits_of(value: Any) -> Any:
    """What two results of equal calls have in common."""
    inside = value if isinstance(value, pyrev.Gradients) else fields(value)
    if inside is not None:
        return type(value), [(n, bits_of(v)) for n, v in inside.items()]
    if isinstance(value, list):
        return [bits_of(v) for v in value]
    if value is None:
        return None
    array = np.asarray(value)
    assert array.dtype != object, f"{value!r} has no bits to compare"
    return type(value), array.shape, array.dtype, array.tobytes()


def check(
    f: Any,
    plain: Function,
    arguments: Values,
    outputs: Sequence[str],
    rng: np.random.Generator,
    *,
    entries: int = 16,
    directions: int = 2,
    tolerance: float | None = None,
    vjp: Callable[..., Any] = pyrev.vjp,
) -> dict[str, Any]:
    """Check one call of `f` from all sides; the gradients, for further questions.

    Structures among the arguments are told apart: each number and each array in them
    is judged.
    """
    bound = inspect.signature(plain).bind(**arguments)
    bound.apply_defaults()
    several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    kinds = {n: p.kind for n, p in inspect.signature(plain).parameters.items()}
    arguments = {n: v for n, v in bound.arguments.items() if kinds[n] not in several}
    primal: Callable[..., Any] | None = None
    if getattr(f, "target", "") == "python":
        primal = f.primal
    if is_structured(arguments):
        flat = Flat(plain, arguments)
        plain, arguments, vjp = flat, flat.values, flat.vjp(vjp)
        outputs = [*flat.written(outputs)]
        primal = None
    kind = precision(arguments)
    expected = run(plain, arguments, outputs)

    own = copy.deepcopy(dict(arguments))
    result, pullback = vjp(f, **own)
    got = outcome(result, own, outputs)
    off = distance(expected, got)
    assert off <= PRIMAL[kind], f"the values differ by {off:.1e}: {got} for {expected}"
    for name, value in arguments.items():
        if name not in outputs:
            assert same_bits(own[name], value), f"the call changed `{name}`"
    for mine, theirs in zip(expected.values(), got.values(), strict=True):
        if isinstance(mine, np.ndarray):
            assert mine.dtype == theirs.dtype, f"{theirs.dtype} for {mine.dtype}"

    if primal is not None:
        # A call is one of the plain function: what the program does shows here.
        values = copy.deepcopy(dict(arguments))
        off = distance(expected, outcome(primal(**values), values, outputs))
        assert off <= PRIMAL[kind], f"the values of the program differ by {off:.1e}"
        for name, value in arguments.items():
            if name not in outputs:
                assert same_bits(values[name], value), f"the program changed `{name}`"

    check_recurrence(f, arguments, outputs)
    weights = draw_cotangents(expected, rng)
    given = copy.deepcopy(weights)
    after = copy.deepcopy(own)

    def pull() -> dict[str, Any]:
        written = {n: w for n, w in given.written.items() if w is not None}
        if given.structure is None:
            return dict(pullback(cotangents=written).items())
        cotangent = like(result, given.positional)
        return dict(pullback(cotangent, cotangents=written).items())

    gradients = pull()
    again = pull()
    assert tuple(gradients) == floats(arguments), f"gradients of {tuple(gradients)}"
    for name in arguments:
        assert same_bits(own[name], after[name]), f"the pullback changed `{name}`"
    for mine, theirs in zip(
        (*weights.returned, *weights.written.values()),
        (*given.returned, *given.written.values()),
        strict=True,
    ):
        assert same_bits(mine, theirs), "the pullback changed a cotangent"
    for name, gradient in gradients.items():
        assert same_bits(gradient, again[name]), f"the second call differs in `{name}`"
        value = arguments[name]
        if isinstance(value, np.ndarray):
            assert isinstance(gradient, np.ndarray), f"{type(gradient)} for `{name}`"
            assert gradient.shape == value.shape, f"shape of the gradient of `{name}`"
            assert gradient.dtype == value.dtype, f"dtype of the gradient of `{name}`"
        else:
            assert np.ndim(gradient) == 0, f"`{name}` is a scalar, its gradient is not"

    allowed = GRADIENT[kind] if tolerance is None else tolerance
    found = list(
        comparisons(
            plain,
            arguments,
            outputs,
            weights,
            gradients,
            rng,
            entries=entries,
            directions=directions,
            tolerance=allowed,
        )
    )
    wrong = [str(c) for c in found if not c.error <= allowed]
    assert not wrong, "\n".join(["wrong gradients:", *wrong[:8]])
    # Where values explode, differences say nothing, and no gradient would be wrong.
    told = [c for c in found if c.verdict != "rough"]
    assert told or not any(map(np.size, gradients.values())), "nothing was judged"
    return gradients


def same_bits(a: Any, b: Any) -> bool:
    """Equal type, shape and bits."""
    p, q = np.asarray(a), np.asarray(b)
    return p.dtype == q.dtype and p.shape == q.shape and p.tobytes() == q.tobytes()
