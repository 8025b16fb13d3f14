"""Nests become statements about whole arrays, and only where they may."""

from __future__ import annotations

import importlib.util
import math
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyrev
from tests.corpora.nests import WHOLE, blur
from tests.emit.test_golden import GOLDEN
from tests.tools import oracle
from tests.tools.whole_arrays import alone


def load_file(path: Path) -> Any:
    """The module in a file."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def text(f: Callable[..., Any]) -> str:
    return pyrev.differentiable(f).primal.source_for("numpy")


def function(f: Callable[..., Any]) -> Callable[..., Any]:
    """The function of its text, without pyrev."""
    return alone(text(f), f.__name__)


def both(f: Callable[..., Any], *args: Any) -> None:
    """The text does what the function does, and warns of nothing."""
    one = [np.copy(a) if isinstance(a, np.ndarray) else a for a in args]
    two = [np.copy(a) if isinstance(a, np.ndarray) else a for a in args]
    with np.errstate(all="ignore"):
        expected = f(*one)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = function(f)(*two)
    if expected is not None:
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    for a, b in zip(one, two, strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-12)


# ------------------------------------------------------------------ what it says


def outer(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            c[j, i] = a[i] * b[j]


def turned_round(x, y):
    for i in range(x.shape[0]):
        y[i] = x[x.shape[0] - 1 - i]


def every_second(x, y):
    for i in range(y.shape[0]):
        y[i] = x[2 * i + 1]


def neighbours(x):
    for i in range(x.shape[0] - 1):
        x[i] = x[i] + x[i + 1]


def position(x, y):
    for i in range(x.shape[0]):
        y[i] = i * x[i]


def dot(x, y):
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i] * y[i]
    return s


def row_sums(a, y):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            y[i] += a[i, j]


def matrix_vector(a, x, y):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            y[i] += a[i, j] * x[j]


def transposed_vector(a, x, y):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            y[j] += a[i, j] * x[i]


def three_factors(a, b, c, y):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            for k in range(b.shape[1]):
                y[i, k] += a[i, j] * b[j, k] * c[i, j, k]


def batched(a, b, y):
    for n in range(a.shape[0]):
        for i in range(a.shape[1]):
            for k in range(b.shape[2]):
                for j in range(a.shape[2]):
                    y[n, i, k] += a[n, i, j] * b[n, j, k]


def counted(x):
    count = 0
    for i in range(x.shape[0]):
        if x[i] > 0.0:
            count += 1
    return count


def lookup(table, k, y):
    for i in range(k.shape[0]):
        y[i] = table[k[i]]


def votes(k, w, y):
    for i in range(k.shape[0]):
        y[k[i]] += w[i]


def below_the_diagonal(a, x, y):
    for i in range(a.shape[0]):
        for j in range(i):
            y[i] += a[i, j] * x[j]


def ends_apart(u, v):
    for i in range(u.shape[0]):
        v[i] = u[i - 1] if i > 0 else 0.0


def orbits(z, steps):
    for i in range(z.shape[0]):
        w = z[i]
        for _ in range(steps):
            w = 3.7 * w * (1.0 - w)
        z[i] = w


SAID = {
    outer: "c[:b.shape[0], :a.shape[0]] = a * b[:, None]",
    turned_round: "y[:x.shape[0]] = x[::-1]",
    every_second: "y[:] = x[1:2 * y.shape[0] + 1:2]",
    neighbours: "x[:-1] += x[1:]",
    position: "y[:x.shape[0]] = i * x",
    dot: "s = x @ y[:x.shape[0]]",
    row_sums: "y[:a.shape[0]] += a.sum(axis=1)",
    matrix_vector: "y[:a.shape[0]] += a @ x[:a.shape[1]]",
    transposed_vector: "y[:a.shape[1]] += x[:a.shape[0]] @ a",
    three_factors: '"ij,jk,ijk->ik", a, b',
    batched: '"nij,njk->nik", a, b',
    counted: "count += np.sum(np.where(mask, 1, 0))",
    lookup: "y[:k.shape[0]] = table[k]",
    votes: "np.add.at(y, k, w[:k.shape[0]])",
    below_the_diagonal: "y[i] += a[i, :i] @ x[:i]",
    ends_apart: "v[1:u.shape[0]] = u[:-1]",
    orbits: "w = 3.7 * w * (1.0 - w)",
}


@pytest.mark.parametrize("f", SAID, ids=lambda f: f.__name__)
def test_a_nest_is_said_of_whole_arrays(f: Callable[..., Any]) -> None:
    assert SAID[f].replace('"', "'") in text(f).replace('"', "'"), text(f)


CALLS = {
    outer: [((n,), (m,), (m, n)) for n in (0, 1, 3) for m in (0, 1, 2)],
    turned_round: [((n,), (n,)) for n in range(4)],
    every_second: [((2 * n,), (n,)) for n in range(4)],
    neighbours: [((n,),) for n in range(4)],
    position: [((n,), (n,)) for n in range(4)],
    dot: [((n,), (n + 1,)) for n in range(4)],
    row_sums: [((n, m), (n,)) for n in (0, 1, 3) for m in (0, 1, 2)],
    matrix_vector: [((n, m), (m,), (n,)) for n in (0, 1, 3) for m in (0, 1, 2)],
    transposed_vector: [((n, m), (n,), (m,)) for n in (0, 1, 3) for m in (0, 1, 2)],
    three_factors: [((n, 2), (2, 3), (n, 2, 3), (n, 3)) for n in (0, 1, 3)],
    batched: [((2, n, 3), (2, 3, 4), (2, n, 4)) for n in (0, 1, 3)],
    counted: [((n,),) for n in range(4)],
    below_the_diagonal: [((n, n), (n,), (n,)) for n in range(4)],
    ends_apart: [((n,), (n,)) for n in range(4)],
    orbits: [((n,), 3) for n in range(3)] + [((3,), 0)],
}


@pytest.mark.parametrize("f", CALLS, ids=lambda f: f.__name__)
def test_it_does_what_the_loops_do(
    f: Callable[..., Any], rng: np.random.Generator
) -> None:
    for shapes in CALLS[f]:
        both(f, *(rng.random(s) if isinstance(s, tuple) else s for s in shapes))


def test_what_meets_twice_counts_twice() -> None:
    k = np.array([1, 1, -1, 0])
    both(votes, k, np.arange(1.0, 5.0), np.zeros(3))
    both(lookup, np.arange(3.0), k, np.zeros(4))


# ------------------------------------------------------------------ tests


def roots(x, y):
    for i in range(x.shape[0]):
        if x[i] > 0.0:
            y[i] = math.log(x[i]) / math.sqrt(x[i])


def sigmoid(x, y):
    for i in range(x.shape[0]):
        if x[i] >= 0.0:
            y[i] = 1.0 / (1.0 + math.exp(-x[i]))
        else:
            e = math.exp(x[i])
            y[i] = e / (1.0 + e)


def inverse(x, y):
    for i in range(x.shape[0]):
        y[i] = 1.0 / x[i] if x[i] != 0.0 else 0.0


def chosen(k, x, y):
    for i in range(k.shape[0]):
        if k[i] >= 0:
            y[i] += x[k[i]]


def python_max(x, y, z):
    for i in range(x.shape[0]):
        z[i] = max(x[i], y[i]) + min(x[i], 0.5)


def changes_its_test(x, y):
    for i in range(x.shape[0]):
        if x[i] > 0.0:
            x[i] = -1.0
            y[i] += 2.0
        else:
            y[i] -= 1.0


@pytest.mark.parametrize("f", [roots, sigmoid, inverse, changes_its_test])
def test_what_is_not_taken_leaves_no_trace(f: Callable[..., Any]) -> None:
    x = np.array([1000.0, 0.0, -1000.0, 2.0, -0.5])
    both(f, x, np.ones(5))
    both(f, np.zeros(0), np.zeros(0))


def test_a_subscript_that_is_not_taken_points_nowhere() -> None:
    k = np.array([-7, 2, 0, -9])
    both(chosen, k, np.array([1.0, 2.0, 3.0]), np.zeros(4))


def test_the_larger_of_two_is_that_of_python() -> None:
    x, y = np.array([np.nan, 1.0, 2.0]), np.array([1.0, np.nan, 3.0])
    both(python_max, x, y, np.zeros(3))


def integer_first(x, y):
    for i in range(x.shape[0]):
        t = i
        if i > 0:
            t = 0.5 * x[i]
        y[i] = t
        t = i + 1
        t += x[i]
        y[i] += t


def test_a_number_that_begins_as_an_integer_keeps_its_fraction() -> None:
    both(integer_first, np.array([0.25, 1.5, 3.0]), np.zeros(3))


# ------------------------------------------------------------------ sizes


def up_to(n, x, y):
    for i in range(n):
        y[i] = x[i]


def last_one(x, y):
    for i in range(x.shape[0]):
        y[i] = x[i] + x[x.shape[0] - 1]


def sum_of_rest(x, y, s):
    for i in range(x.shape[0]):
        t = 0.0
        for j in range(y.shape[0]):
            t += s[0] * y[j]
        x[i] = t


@pytest.mark.parametrize("n", [-2, -1, 0, 1, 3])
def test_a_negative_size_is_none(n: int) -> None:
    both(up_to, n, np.arange(4.0), np.zeros(4))


def test_what_only_iterations_read_is_not_read_without() -> None:
    both(last_one, np.zeros(0), np.zeros(0))
    both(sum_of_rest, np.ones(2), np.zeros(0), np.zeros(0))


@pytest.mark.parametrize("short", [0, 1, 2])
def test_lengths_that_do_not_fit_raise(short: int) -> None:
    out = np.zeros(3)
    with pytest.raises(IndexError):
        function(up_to)(3, np.ones(short), out)
    with pytest.raises(IndexError):
        function(dot)(np.ones(3), np.ones(short))
    adjoint = pyrev.differentiable(dot).adjoint.source_for("numpy")
    with pytest.raises(IndexError):
        alone(adjoint, "dot_adjoint")(np.ones(3), np.ones(short), 1.0)
    adjoint = pyrev.differentiable(blur).adjoint.source_for("numpy")
    u = np.ones((4, 4))
    with pytest.raises(ValueError, match="`d_out` must have the shape of `out`"):
        alone(adjoint, "blur_adjoint")(u, u, np.ones((short, short)))


def guarded(m, x, y):
    for i in range(m.shape[0]):
        if m[i] > 0.0:
            y[i] = x[i]


def test_whole_arrays_need_what_a_test_leaves_out() -> None:
    with pytest.raises(IndexError, match="more of axis 0 of `x` than there is"):
        function(guarded)(np.array([1.0, -1.0]), np.ones(1), np.zeros(2))


def cells(n, w, y):
    for k in range(n):
        y[k // w] += 1.0


def test_integers_divide_by_zero_as_the_loop_does() -> None:
    both(cells, 6, 2, np.zeros(3))
    both(cells, 0, 0, np.zeros(3))
    with pytest.raises(ZeroDivisionError):
        function(cells)(2, 0, np.zeros(3))


# ------------------------------------------------------------------ refusals


def recurrence(x, s):
    for i in range(x.shape[0]):
        s = 0.5 * s + x[i]
    return s


def running(x):
    for i in range(1, x.shape[0]):
        x[i] += x[i - 1]


def until(x, s):
    k = 0
    while s > 0.0:
        s -= x[k]
        k += 1
    return s


def errors(x, y):
    for i in range(x.shape[0]):
        y[i] = math.erf(x[i])


def quotients(x, k, y):
    for i in range(x.shape[0]):
        y[i] = x[7 // k[i]]


REFUSED = {
    recurrence: "the loop over `i` is serial: it carries a value from one iteration to"
    " the next through `s`",
    running: "the loop over `i` is serial: it carries a value from one iteration to the"
    " next through `x`",
    until: "how often it runs depends on what it computes",
    errors: "NumPy has no `math.erf` of whole arrays",
    quotients: "whole arrays pass over integers that are divided by zero",
}


@pytest.mark.parametrize("f", REFUSED, ids=lambda f: f.__name__)
def test_what_is_more_is_refused_with_its_loop(f: Callable[..., Any]) -> None:
    with pytest.raises(pyrev.UnsupportedError) as refused:
        text(f)
    (finding,) = refused.value.findings
    assert (finding.code, finding.because) == ("P304", REFUSED[f])
    first = f.__code__.co_firstlineno
    assert first < finding.at.line <= first + 4
    assert "use target='python' or target='numba'" in str(refused.value)


def test_a_loop_of_numbers_stays_a_loop() -> None:
    def newton(a):
        x = a
        for _ in range(20):
            x = 0.5 * (x + a / x)
        return x

    assert "for _ in range(20):" in text(newton)
    both(newton, 2.0)


# ------------------------------------------------------------------ goldens


@pytest.mark.parametrize("f", WHOLE, ids=lambda f: f.__name__)
def test_the_adjoint_is_the_golden_one(
    f: Callable[..., Any], request: pytest.FixtureRequest
) -> None:
    found = pyrev.differentiable(f).adjoint.source_for("numpy")
    path = GOLDEN / f"{f.__name__}.numpy.py"
    if request.config.getoption("--update-golden"):
        path.write_text(found, encoding="utf-8")
    assert path.exists(), "make it with: pytest --update-golden"
    assert found == path.read_text(encoding="utf-8")


SHAPES: dict[str, dict[str, Any]] = {
    "blur": {"u": (5, 6), "out": (5, 6)},
    "diffuse": {"u": (6,), "k": 0.1, "steps": 3},
    "product": {"a": (3, 4), "b": (4, 2)},
    "shares": {"x": (3, 4), "out": (3, 4)},
    "mesh_forces": {
        "x": (5,),
        "start": np.array([0, 1, 1, 3]),
        "end": np.array([2, 2, 4, 0]),
        "stiffness": (4,),
        "force": (5,),
    },
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("f", WHOLE, ids=lambda f: f.__name__)
def test_gradients_are_those_of_the_plain_function(
    f: Callable[..., Any], dtype: type, rng: np.random.Generator
) -> None:
    given = {
        n: rng.uniform(0.2, 0.8, s).astype(dtype) if isinstance(s, tuple) else s
        for n, s in SHAPES[f.__name__].items()
    }
    outputs = [n for n in ("out", "force") if n in given]
    oracle.check(pyrev.differentiable(f, target="numpy"), f, given, outputs, rng)


def test_a_saved_module_runs_and_tests_its_sizes(tmp_path: Path) -> None:
    path = pyrev.differentiable(dot).adjoint.save(tmp_path / "dot.py", target="numpy")
    adjoint = load_file(path).dot_adjoint
    d_x, d_y = adjoint(np.arange(3.0), np.ones(4), 2.0)
    np.testing.assert_array_equal(d_x, [2.0, 2.0, 2.0])
    np.testing.assert_array_equal(d_y, [0.0, 2.0, 4.0, 0.0])
    with pytest.raises(IndexError, match="leaves axis 0 of `y`"):
        adjoint(np.arange(3.0), np.ones(1), 2.0)


def test_the_tangent_is_as_short() -> None:
    found = pyrev.differentiable(dot).tangent.source_for("numpy")
    assert "dot_s = dot_x @ y[:x.shape[0]] + dot_y[:x.shape[0]] @ x" in found


def test_nobody_gets_it_unasked() -> None:
    f = pyrev.differentiable(dot)
    value, pullback = pyrev.vjp(f, np.ones(3), np.ones(3))
    assert value == 3.0
    assert pullback._unit.target.name == "numba"
