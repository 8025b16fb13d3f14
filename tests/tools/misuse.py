"""Every argument of every public call, of a type that it is not for: what is raised?

A call must end in a result or in an error that says what to do: one of pyrev's own, no
`InternalError`, or the `IndexError` of an index that leaves its array.

    python -m tests.tools.misuse [--target python|numba] [--only WORD]
"""

from __future__ import annotations

import argparse
import functools
import io
import math
import sys
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import pyrev
import pyrev.scipy

# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
# ruff: noqa: E731


def total(x, k):
    return np.sum(x * x) * k


def squares(x, out):
    for i in range(x.shape[0]):
        out[i] = x[i] * x[i]


def pair(x, y):
    return x * y, x + y


def nothing(x):
    pass


def empty():
    return 1.0


def integers(n):
    return n * 2


def by_keyword(x, *, k=2.0):
    return x * k


def by_position(x, /, k=2.0):
    return x * k


def π(ä):
    return ä * ä


def wrt(tangents, cotangent, into=2.0):
    return tangents * cotangent * into


def without_default(x, y=None):
    return x


def generator(x):
    yield x


async def coroutine(x):
    return x


class Model:
    def __call__(self, x):
        return x

    def step(self, x):
        return x


class Incomparable:
    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other):
        raise RuntimeError("it compares with nothing")


def _without_text():
    names: dict[str, Any] = {}
    exec("def hidden(x):\n    return x", names)
    return names["hidden"]


def objects() -> list[Any]:
    """What is taken for a function."""
    own = pyrev.differentiable(total)
    found = [total, squares, pair, nothing, empty, integers, by_keyword, by_position]
    found += [π, wrt, without_default, generator, coroutine, Model, Model()]
    found += [Model().step, Model.step, _without_text(), len, print, math.sin, np.sin]
    found += [functools.partial(total, k=2.0), 3, "f", [], object(), type, int]
    found += [lambda: 3, lambda *a: a, lambda **k: k, np.ndarray, pyrev.grad(total)]
    found += [staticmethod(total), classmethod(total), property(total)]
    found += [functools.lru_cache(total), own.adjoint, own.tangent, own.primal]
    return found


def values() -> list[Any]:
    """What is taken for an argument."""
    found = [None, 3, -1, -9, 2.5, "x", "nope", "", b"x", [], ["x"], [1, 2], ()]
    found += [("x", "x"), ("x", 3), {}, {"x": 1}, {"x": "s"}, {"nope": 1}, {3: 1}]
    found += [{0: 1.0}, {"x": None}, {"x": [1, 2]}]
    found += [np.ones(3), np.ones((2, 3)), np.array(1.0)]
    found += [np.array(["a"]), np.ones(3, complex), object(), len, lambda x: x, True]
    found += [math.nan, math.inf, 2**70, 1j, range(3), iter([1]), slice(3), type]
    found += [np.float32(1), np.int64(1), Ellipsis, Incomparable()]
    return found


def with_a_function(target: str) -> dict[str, Callable[[Any], Any]]:
    """Calls that take a function."""
    x, out = np.ones(3), np.zeros(3)
    made = lambda f: pyrev.differentiable(f, target=target)
    return {
        "differentiable": made,
        "vjp": lambda f: pyrev.vjp(f, 1.0),
        "vjp of two": lambda f: pyrev.vjp(f, x, 2.0)[1](1.0),
        "vjp of arrays": lambda f: pyrev.vjp(f, x, out)[1](out=1.0),
        "grad": lambda f: pyrev.grad(f)(1.0),
        "value_and_grad": lambda f: pyrev.value_and_grad(f)(1.0),
        "jvp": lambda f: pyrev.jvp(f, 1.0, tangents={"x": 1.0}),
        "hvp": lambda f: pyrev.hvp(f, 1.0, tangents={"x": 1.0}),
        "hessian": lambda f: pyrev.hessian(f)(1.0),
        "jacobian": lambda f: pyrev.jacobian(f)(1.0),
        "check_grad": lambda f: pyrev.check_grad(f, 1.0),
        "check_grad of two": lambda f: pyrev.check_grad(f, x, 2.0),
        "custom_vjp": lambda f: pyrev.custom_vjp(f),
        "custom_vjp of": lambda f: pyrev.custom_vjp(total)(f),
        "partials": lambda f: pyrev.partials(f, 1.0),
        "objective": lambda f: pyrev.scipy.objective(f, 1.0, wrt=0)(np.ones(1)),
        "residuals": lambda f: pyrev.scipy.residuals(f, 1.0, wrt=0)(np.ones(1)),
        "adjoint": lambda f: made(f).adjoint.source,
        "tangent": lambda f: made(f).tangent.source,
        "primal": lambda f: made(f).primal.source,
        "explain": lambda f: made(f).explain(),
        "graph": lambda f: str(made(f).graph("adjoint")),
    }


def with_a_value(target: str, folder: Path) -> dict[str, Callable[[Any], Any]]:
    """Calls that take another argument."""
    x, out = np.ones(3), np.zeros(3)
    made = lambda function, **options: pyrev.differentiable(
        function, target=target, **options
    )
    f, g, h = made(total), made(squares), made(pair)
    pull_f, pull_g = pyrev.vjp(f, x, 2.0)[1], pyrev.vjp(g, x, out)[1]
    pull_h = pyrev.vjp(h, 1.0, 2.0)[1]
    move = {"x": x}
    sc = pyrev.scipy
    objective = sc.objective(f, x, 2.0, wrt="x")
    residuals = sc.residuals(g, x, out, wrt="x")
    return {
        "call x": lambda b: f(b, 2.0),
        "call k": lambda b: f(x, b),
        "call in": lambda b: g(b, out),
        "call out": lambda b: g(x, b),
        "call less": lambda b: f(b),
        "call more": lambda b: f(x, 2.0, b),
        "call by name": lambda b: f(x, 2.0, nope=b),
        "vjp x": lambda b: pyrev.vjp(f, b, 2.0)[1](1.0),
        "vjp out": lambda b: pyrev.vjp(g, x, b)[1](out=1.0),
        "vjp wrt": lambda b: pyrev.vjp(f, x, 2.0, wrt=b)[1](1.0),
        "vjp copy": lambda b: pyrev.vjp(f, x, 2.0, copy=b)[1](1.0),
        "pullback": lambda b: pull_f(b),
        "pullback into": lambda b: pull_f(1.0, into=b),
        "pullback into x": lambda b: pull_f(1.0, into={"x": b}),
        "pullback cotangents": lambda b: pull_g(cotangents=b),
        "pullback out": lambda b: pull_g(out=b),
        "pullback nope": lambda b: pull_g(nope=b),
        "pullback tuple": lambda b: pull_h(b),
        "pullback pair": lambda b: pull_h((b, 1.0)),
        "grad wrt": lambda b: pyrev.grad(f, b)(x, 2.0),
        "grad x": lambda b: pyrev.grad(f)(b, 2.0),
        "value_and_grad wrt": lambda b: pyrev.value_and_grad(f, wrt=b)(x, 2.0),
        "jvp tangents": lambda b: pyrev.jvp(f, x, 2.0, tangents=b),
        "jvp x": lambda b: pyrev.jvp(f, x, 2.0, tangents={"x": b}),
        "jvp k": lambda b: pyrev.jvp(f, x, 2.0, tangents={"k": b}),
        "jvp out": lambda b: pyrev.jvp(g, x, out, tangents={"out": b}),
        "partials wrt": lambda b: pyrev.partials(g, x, out, wrt=b),
        "hvp tangents": lambda b: pyrev.hvp(f, x, 2.0, tangents=b),
        "hvp x": lambda b: pyrev.hvp(f, x, 2.0, tangents={"x": b}),
        "hvp wrt": lambda b: pyrev.hvp(f, x, 2.0, tangents=move, wrt=b),
        "hvp cotangent": lambda b: pyrev.hvp(f, x, 2.0, tangents=move, cotangent=b),
        "hvp cotangents": lambda b: pyrev.hvp(g, x, out, tangents=move, cotangents=b),
        "hvp out": lambda b: pyrev.hvp(g, x, out, tangents=move, cotangents={"out": b}),
        "hessian wrt": lambda b: pyrev.hessian(f, wrt=b)(x, 2.0),
        "hessian sparse": lambda b: pyrev.hessian(f, wrt="x", sparse=b)(x, 2.0),
        "hessian x": lambda b: pyrev.hessian(f)(b, 2.0),
        "jacobian wrt": lambda b: pyrev.jacobian(g, wrt=b)(x, out),
        "jacobian of": lambda b: pyrev.jacobian(g, of=b)(x, out),
        "jacobian sparse": lambda b: pyrev.jacobian(g, wrt="x", sparse=b)(x, out),
        "jacobian out": lambda b: pyrev.jacobian(g)(x, b),
        "check_grad x": lambda b: pyrev.check_grad(f, b, 2.0),
        "check_grad k": lambda b: pyrev.check_grad(f, x, b),
        "check_grad tolerance": lambda b: pyrev.check_grad(f, x, 2.0, tolerance=b),
        "check_grad out": lambda b: pyrev.check_grad(g, x, b),
        "option wrt": lambda b: made(total, wrt=b).adjoint.source,
        "option target": lambda b: pyrev.differentiable(total, target=b),
        "option memory": lambda b: made(total, memory=b)(x, 2.0),
        "option store": lambda b: made(total, store=b),
        "option recompute": lambda b: made(total, recompute=b),
        "option deterministic": lambda b: made(total, deterministic=b),
        "option preaccumulate": lambda b: made(total, preaccumulate=b),
        "tune": lambda b: f.tune(b, 2.0, progress=False),
        "explain": lambda b: f.explain(b),
        "explain x": lambda b: f.explain("python", b),
        "graph": lambda b: f.graph(b),
        "graph simplified": lambda b: f.graph(simplified=b),
        "source_for": lambda b: f.adjoint.source_for(b),
        "source_for x": lambda b: f.adjoint.source_for("python", b, 2.0),
        "source_for less": lambda b: f.primal.source_for("python", b),
        "source_for k": lambda b: f.tangent.source_for("python", x, b),
        "save": lambda b: f.adjoint.save(folder / "none" / f"{b}"),
        "save path": lambda b: isinstance(b, str) or f.adjoint.save(b),
        "save target": lambda b: f.adjoint.save(folder / "a.py", b),
        "save x": lambda b: f.adjoint.save(folder / "a.py", "python", b, 2.0),
        "show": lambda b: f.adjoint.show(object() if b is None else b),
        "show colour": lambda b: f.adjoint.show(io.StringIO(), b),
        "side_by_side": lambda b: f.adjoint.side_by_side(b),
        "diff": lambda b: f.adjoint.diff(b),
        "adjoint x": lambda b: f.adjoint(b, 2.0, 1.0),
        "adjoint result": lambda b: f.adjoint(x, 2.0, b),
        "adjoint less": lambda b: f.adjoint(b),
        "adjoint out": lambda b: g.adjoint(x, out, b),
        "primal": lambda b: f.primal(b, 2.0),
        "tangent less": lambda b: f.tangent(b),
        "report": lambda b: f.adjoint.report(b),
        "parallel_loops": lambda b: f.adjoint.parallel_loops(b),
        "custom_vjp check": lambda b: pyrev.custom_vjp(pair, check=b),
        "probe": lambda b: pyrev.probe(b, b),
        "objective wrt": lambda b: sc.objective(f, x, 2.0, wrt=b),
        "objective call": lambda b: objective(b),
        "objective hessp": lambda b: objective.hessp(x, b),
        "residuals of": lambda b: sc.residuals(g, x, out, wrt="x", of=b),
        "residuals call": lambda b: residuals(b),
        "residuals sparse": lambda b: sc.residuals(g, x, out, wrt="x", sparse=b),
    }


@dataclass(frozen=True)
class Misuse:
    """A call, what it was given, and an error that says nothing to its user."""

    call: str
    given: str
    error: str


def misuses(target: str, only: str = "") -> tuple[int, list[Misuse]]:
    """How many calls were made, and which of them ended badly."""
    with tempfile.TemporaryDirectory() as folder:
        pairs = [
            (name, call, given)
            for calls, every in (
                (with_a_function(target), objects()),
                (with_a_value(target, Path(folder)), values()),
            )
            for name, call in calls.items()
            if only in name
            for given in every
        ]
        found = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for name, call, given in pairs:
                error = _error(call, given)
                if error:
                    found.append(Misuse(name, _short(given), error))
    return len(pairs), found


def _error(call: Callable[[Any], Any], given: Any) -> str:
    try:
        call(given)
    except pyrev.InternalError as error:
        return str(error).partition("\n")[0]
    except (pyrev.PyrevError, IndexError):
        return ""
    except RuntimeError as error:  # of what compares with nothing
        return "" if isinstance(given, Incomparable) else repr(error)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def _short(value: Any) -> str:
    return repr(value)[:40]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--target", default="python", choices=("python", "numba"))
    parser.add_argument("--only", default="", help="a part of the names of calls")
    options = parser.parse_args()
    count, found = misuses(options.target, options.only)
    for one in found:
        print(f"{one.call}: given {one.given}: {one.error}")
    print(f"{count} calls, {len(found)} ended badly")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
