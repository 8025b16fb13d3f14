"""What both ends of a journey can import: functions, and how things are used there."""

from __future__ import annotations

from typing import Any

import numpy as np

import pyrev

X = np.linspace(0.5, 2.0, 5)


@pyrev.differentiable(target="python")
def energy(x):  # type: ignore[no-untyped-def]
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i] ** 3
    return total


def squares(x):  # type: ignore[no-untyped-def]
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i] * x[i]
    return total


#: The plain function keeps its name.
of_squares = pyrev.differentiable(squares, target="python", deterministic=True)


def scaled(factor: float) -> Any:
    """A function nested in another, which captures a number and a function."""

    def inner(x):  # type: ignore[no-untyped-def]
        total = 0.0
        for i in range(x.shape[0]):
            total += factor * squares(x[i : i + 1])
        return total

    return pyrev.differentiable(inner, target="python")


def cube_vjp(a, result, d_result):  # type: ignore[no-untyped-def]
    return 3.0 * a * a * d_result


def numbers(found: Any) -> list[float]:
    """What was computed, as plain numbers."""
    if isinstance(found, (tuple, list)):
        return [v for one in found for v in numbers(one)]
    if isinstance(found, pyrev.Gradients):
        return [v for one in found.values() for v in numbers(one)]
    return [float(v) for v in np.ravel(found)]


def used(kind: str, thing: Any) -> list[float] | str:
    """What somebody who gets a thing of this kind does with it."""
    match kind:
        case "function":
            value, gradient = pyrev.value_and_grad(thing)(X.copy())
            return numbers((value, gradient))
        case "written":
            out = np.zeros(5)
            _, pullback = pyrev.vjp(thing, X.copy(), out)
            return numbers((out, pullback(out=np.ones(5))))
        case "many":
            return numbers([pyrev.grad(f)(X.copy()) for f in thing])
        case "call":
            return numbers(thing(X.copy()))
        case "pullback":
            return numbers(thing(2.0))
        case "derivative":
            text = str(thing.source)
            return f"{text}{numbers(thing(X.copy(), 1.0))}"
        case "second":
            _, pullback = pyrev.vjp(thing, *(X, 1.0))
            return numbers(pullback((np.ones(5),)))
        case "tangent":
            return f"{thing.source}{numbers(thing(X.copy(), np.ones(5)))}"
        case "numbers":
            return numbers(thing)
        case "text":
            return f"{type(thing).__name__} {thing}"
    raise AssertionError(kind)


def answer(kind: str, thing: Any) -> list[float] | str:
    """The same, or what was raised."""
    try:
        return used(kind, thing)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
