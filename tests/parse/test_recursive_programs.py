# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Programs that call themselves as one writes them: trees of children, halves of
arrays, arguments that are written to or change places.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import gast
import numpy as np
import pytest

import pyrev
from pyrev.parse.rewriting.recursion import Cycle
from tests.tools.oracle import check

X = np.array([0.3, -0.7, 1.1, -0.2])


def _swap(a, b, k):
    if k == 0:
        return a[0] * b[1]
    return _swap(b, a, k - 1)


def arrays_change_places(x, k):
    return _swap(x, x * 3.0, k)


def _march(u, k):
    if k == 0:
        return np.sum(u)
    u[k] += u[k - 1] * u[k - 1]
    return _march(u, k - 1)


def written_on_the_way(x, k):
    return _march(x, k)


def _both(a, b, k):
    if k == 0:
        return a[0]
    a[k] = a[k] * 2.0
    return b[k] * _both(a, b, k - 1)


def one_array_under_two_names(x, k):
    u = x * 1.0
    return _both(u, u, k)


def _folded(x):
    n = len(x)
    if n == 1:
        return x[0]
    return _folded(x[: n // 2]) * 0.5 + _folded(x[n // 2 :]) ** 2


def halves(x):
    return _folded(x)


def _between(x, low, high):
    if high - low == 1:
        return x[low] * x[low]
    mid = (low + high) // 2
    return _between(x, low, mid) + _between(x, mid, high) * 0.5


def by_places(x):
    return _between(x, 0, len(x))


def with_a_memory(x, n):
    memo = np.zeros(n + 1)

    def term(k):
        if k < 2:
            memo[k] = x[k]
            return memo[k]
        memo[k] = term(k - 1) * 0.5 + term(k - 2) * memo[k - 1]
        return memo[k]

    term(n)
    return np.sum(memo)


def _grown(x, n=3, *, f=1.0):
    x = x * f
    n = n - 1
    if n <= 0:
        return x
    return math.sin(_grown(x, f=f * 0.9, n=n)) + x


def names_bound_again(x):
    return _grown(x[0]) + _grown(x[1], 2) + _grown(x[2], n=4, f=1.1)


def _weighted(x, n, w=None):
    if w is None:
        w = 1.0
    if n == 0:
        return x * w
    return _weighted(x, n - 1, w * 0.5)


def none_at_first(x, n):
    return _weighted(x[0], n)


def _mode(x, n, mode):
    if n == 0:
        return x
    if mode == "a":
        return 2.0 * _mode(x, n - 1, "b")
    return x + _mode(x, n - 1, "a")


def texts_take_turns(x, n):
    return _mode(x[0], n, "a")


def _fields(p, n):
    if n == 0:
        return p["a"] * p["b"]
    return p["a"] + _fields({"a": p["b"], "b": p["a"] * 2.0}, n - 1)


def structures(x, n):
    return _fields({"a": x[0], "b": x[1]}, n)


def _started(k, s, x):
    if k == 0:
        return s
    return _started(k - 1, s + x, x)


def an_integer_at_first(x, n):
    return _started(n, 0, x[0]) * x[1]


def _nested(x, n):
    if n == 0:
        return x + 1.0
    return _nested(_nested(x, n - 1), n - 1)


def in_its_own_argument(x):
    return _nested(x[0] * x[0], 2)


def _depth(n):
    return 0 if n <= 1 else 1 + _depth(n // 2)


def gives_an_index(x, n):
    return x[_depth(n)] * x[0]


def _spread(x, d):
    if d == 0:
        return x
    return sum([_spread(x * (0.5 + 0.1 * q), d - 1) for q in range(3)])


def in_a_comprehension(x):
    return _spread(x[0], 2)


CASES: dict[Callable[..., Any], dict[str, Any]] = {
    arrays_change_places: {"k": 3},
    written_on_the_way: {"k": 3},
    one_array_under_two_names: {"k": 3},
    halves: {},
    by_places: {},
    with_a_memory: {"n": 3},
    names_bound_again: {},
    none_at_first: {"n": 3},
    texts_take_turns: {"n": 3},
    structures: {"n": 3},
    an_integer_at_first: {"n": 3},
    in_its_own_argument: {},
    gives_an_index: {"n": 9},
    in_a_comprehension: {},
}
COMPILED = (
    *(arrays_change_places, written_on_the_way, one_array_under_two_names),
    *(an_integer_at_first, in_its_own_argument),
)


@pytest.mark.parametrize(
    ("plain", "target"),
    [*((f, "python") for f in CASES), *((f, "numba") for f in COMPILED)],
    ids=lambda f: getattr(f, "__name__", f),
)
def test_a_program_that_calls_itself(
    plain: Callable[..., Any], target: str, rng: np.random.Generator
) -> None:
    f = pyrev.differentiable(plain, target=target)
    outputs = ["x"] if plain is written_on_the_way else []
    check(f, plain, {"x": X.copy(), **CASES[plain]}, outputs, rng)


def _collect(cell, first_child, sibling, weight, total):
    own = weight[cell]
    child = first_child[cell]
    while child != -1:
        own += 0.7 * _collect(child, first_child, sibling, weight, total) ** 2
        child = sibling[child]
    total[cell] = own
    return own


def of_a_tree(x, first_child, sibling):
    total = np.zeros(len(x))
    _collect(0, first_child, sibling, x, total)
    return total


def test_a_tree_of_children_has_six_levels(rng: np.random.Generator) -> None:
    f = pyrev.differentiable(of_a_tree, target="python")
    bush = {
        "first_child": np.array([1, 3, -1, -1]),
        "sibling": np.array([-1, 2, -1, -1]),
    }
    check(f, of_a_tree, {"x": X.copy(), **bush}, [], rng)
    for n in (6, 7):
        x = rng.uniform(0.1, 0.5, n)
        line = np.array([*range(1, n), -1]), np.full(n, -1)
        if n == 6:
            assert np.allclose(f(x, *line), of_a_tree(x, *line))
            continue
        for call in (f, f.adjoint.python, lambda *a: pyrev.vjp(f, *a)):
            given = (x, *line, np.ones(n)) if call is f.adjoint.python else (x, *line)
            with pytest.raises(RecursionError, match="more than 6 levels deep"):
                call(*given)


def test_levels_are_fewer_where_each_costs_more() -> None:
    def levels(text: str, calls: int, loops: int) -> int:
        node = gast.parse(text).body[0]
        return Cycle((text,), (node,), (calls,), None, loops).levels(False)

    plain = "def f(x, n):\n    return x if n == 0 else f(x, n - 1)"
    sliced = "def f(x):\n    return x[0] if len(x) == 1 else f(x[1:]) + f(x[:-1])"
    assert levels(plain, 1, 0) == 8
    assert levels(plain, 1, 1) == 6
    assert levels(plain, 1, 2) == 3
    assert levels(plain, 1, 9) == 2
    assert levels(plain, 2, 0) == 6
    assert levels(sliced, 2, 0) == 4
