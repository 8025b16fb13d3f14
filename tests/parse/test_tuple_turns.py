# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Loops over tuples of structures, and names of tuples in what is returned."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import pyrev
from tests.tools.oracle import check

X = np.array([0.3, 0.7, 1.1])
Orbit = namedtuple("Orbit", "p k")


@dataclass
class Lens:
    p: float
    w: np.ndarray


def attributes(x, orbits):
    s = 0.0
    for o in orbits:
        s += o.p * x[0] ** o.k
    return s * o.p


def left_early(x, orbits):
    s = 0.0
    for o in orbits:
        if o.p > 2.5:
            break
        if o.k > 3:
            continue
        s += o.p * x[0] ** o.k
    return s * x[1]


def found(x, orbits):
    for o in orbits:
        if o.k > x[2]:
            return o.p * x[0] * o.k, o.p
    return x[1], 0.0


def the_best(x, orbits):
    best = orbits[0]
    for o in orbits:
        if o.k * x[0] > best.k:
            best = o
    return best.p * x[0] * x[1]


def counted(x, orbits):
    s = 0.0
    for i, (p, k) in enumerate(orbits):
        s += p * x[i] * k
    for i in range(len(orbits)):
        o = orbits[i]
        s *= o.p + x[i] * orbits[i].k
    return s


def backwards(x, orbits):
    s = x[0]
    for o in reversed(orbits):
        s = s * o.p + o.k
    return s


def the_shorter_one(x, orbits):
    s = 0.0
    for o, q in zip(orbits, orbits[1:]):  # noqa: B905, RUF007
        s += o.p * x[0] * q.k
    return s


def two_of_them(x, orbits, others):
    s = 0.0
    for o, q in zip(orbits, others):  # noqa: B905
        s += o.p * x[0] * q.k
    return s


def one_in_another(x, groups):
    s = sum(o.p * x[1] for o in groups[0])
    for g in groups:
        for o in g:
            s += o.p * o.k * x[0]
    return s


def _through(v, orbits):
    for o in orbits:
        o = o._replace(p=2.0 * o.p)
        v = v * o.p + o.k
    return v


def in_a_helper(x, orbits):
    return _through(x[0], orbits) * x[1]


def arrays_that_are_written(x, lenses):
    y = x.copy()
    for lens in lenses:
        y = y * lens.p + lens.w
        lens.w[:] = lens.w * x
    return y


def layers(x, layers):
    h = x
    for w, b in layers:
        h = np.tanh(w @ h + b)
    return h


def texts(x, elements):
    v = x[0]
    for kind, value in elements:
        if kind == "stop":
            break
        if kind == "a":
            v = v * value
        elif kind == "b":
            v = v + value
            continue
        else:
            raise ValueError("what is " + kind)
        v = v * v
    return v


def local(x):
    pairs = ((x[0], 1.0), (x[1], 2.0))
    s = 0.0
    for a, b in pairs:
        s += a * b * a
    return s


def nested_results(x, n):
    y = x * 2.0
    ok, k, s = False, 0, x[0]
    for k in range(n):  # noqa: B007
        s = s * x[1]
        if s < 0.1:
            ok = True
            break
    report = (ok, k, s * s)
    both = (report, y)
    y[0] = x[1] * x[2]
    y = y * s
    return y, both


def a_name_that_changes(x):
    best = (0, 0.0)
    for i in range(3):
        if x[i] * x[i] > best[1]:
            best = (i, x[i] * x[i])
    return x[0], best


ORBITS = (Orbit(2.0, 1.0), Orbit(1.5, 2.0), Orbit(3.0, 4.0))
LENSES = (Lens(2.0, X + 1), Lens(1.5, X + 2))
WEIGHTS = ((np.ones((2, 3)), X[:2].copy()), (np.ones((3, 2)), X.copy()))
STEPS = (("a", 1.5), ("b", 2.0), ("a", 0.7), ("stop", 0.0), ("a", 0.5))

CALLS: list[tuple[Callable[..., Any], dict[str, Any]]] = [
    (attributes, {"orbits": ORBITS}),
    (attributes, {"orbits": list(ORBITS)}),
    (attributes, {"orbits": ORBITS * 40}),
    (attributes, {"orbits": (Orbit(2, 1.0), Orbit(1.5, 2))}),
    (left_early, {"orbits": ORBITS}),
    (found, {"orbits": ORBITS}),
    (the_best, {"orbits": ORBITS}),
    (counted, {"orbits": ORBITS}),
    (counted, {"orbits": list(ORBITS)}),
    (backwards, {"orbits": ORBITS}),
    (backwards, {"orbits": ()}),
    (two_of_them, {"orbits": ORBITS, "others": ORBITS[:2]}),
    (one_in_another, {"groups": (ORBITS, ORBITS[:1])}),
    (in_a_helper, {"orbits": ORBITS}),
    (arrays_that_are_written, {"lenses": LENSES}),
    (layers, {"layers": WEIGHTS}),
    (layers, {"layers": list(WEIGHTS)}),
    (texts, {"elements": STEPS}),
    (texts, {"elements": list(STEPS)}),
    (local, {}),
    (nested_results, {"n": 5}),
    (a_name_that_changes, {}),
]


@pytest.mark.parametrize(
    "target", ["python", pytest.param("numba", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("number", range(len(CALLS)))
def test_each_element_has_its_turn(number: int, target: str) -> None:
    plain, given = CALLS[number]
    f = pyrev.differentiable(plain, target=target)
    written = ("lenses",) if plain is arrays_that_are_written else ()
    check(f, plain, {"x": X, **given}, written, np.random.default_rng(number))


def test_gradients_come_in_tuples_and_lists() -> None:
    found = pyrev.grad(attributes)(X, ORBITS).orbits
    assert type(found) is tuple and all(type(o) is Orbit for o in found)
    assert type(pyrev.grad(attributes)(X, list(ORBITS)).orbits) is list


def _of_a_list(x, weights):
    s = 0.0
    for w in weights:
        s += np.sum(w * x)
    return s


def test_a_list_of_arrays_is_looped_over() -> None:
    given = [X + 1, X + 2]
    for target in ("python", "numba"):
        f = pyrev.differentiable(_of_a_list, target=target)
        found = pyrev.grad(f)(X, given)
        np.testing.assert_allclose(found.x, given[0] + given[1])
        np.testing.assert_allclose(found.weights, [X, X])


@pytest.mark.parametrize("target", ["python", "numba"])
def test_what_a_text_decides_raises_as_in_cpython(target: str) -> None:
    f = pyrev.differentiable(texts, target=target)
    with pytest.raises(ValueError, match="what is z"):
        pyrev.vjp(f, X, (("a", 1.0), ("z", 2.0)))


def _grows(x, orbits):
    orbits.append(Orbit(1.0, 1.0))
    return orbits[0].p * x[0]


def _replaces(x, orbits):
    orbits[0] = Orbit(1.0, 1.0)
    return orbits[0].p * x[0]


def _returns(x, orbits):
    return x[0], orbits


def _at_a_place(x, orbits, i):
    return orbits[i].p * x[0]


@pytest.mark.parametrize(
    ("plain", "more"),
    [(_grows, ()), (_replaces, ()), (_returns, ()), (_at_a_place, (1,))],
)
def test_a_list_of_structures_is_only_read(plain: Any, more: Any) -> None:
    with pytest.raises(pyrev.UnsupportedError):
        pyrev.vjp(plain, X, list(ORBITS), *more)
