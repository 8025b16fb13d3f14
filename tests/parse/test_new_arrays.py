# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Ranges of floats and of steps known at run time, unit matrices, searches among names,
and what NumPy's functions give taken apart.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import pytest

import pyrev
from tests.tools.oracle import check

X = np.array([0.3, 0.7, 1.1, 0.2])
SHORT = np.array([1, 9], np.int8)


def sampled(x, h):
    t = np.arange(0.0, 2.0, h)
    s = 0.0
    for i in range(len(t)):
        s += t[i] * x[i % 4]
    return s


def of_whole_expressions(x, end, h):
    t = np.arange(0, end, h)
    return np.sum(np.sin(t) * x[0])


def looped_over(x, h):
    y = x[0]
    for t in np.arange(0, 1 + h, h):
        y += h * (t - y)
    return y


def from_one_to_another(x, a, b, h):
    t = np.arange(a, b, h)
    out = np.zeros(len(t))
    for i in range(len(t)):
        out[i] = t[i] ** 2 * x[0]
    return out


def bounds_that_are_elements(x):
    t = np.arange(x[0], x[2], 0.05)
    return np.sum(t**2)


def indices_by_a_step(x, k):
    s = 0.0
    for i in np.arange(0, len(x), k):
        s += x[i] ** 2
    return s


def downwards(x, k):
    t = np.arange(8, 0, -k)
    return x[t[0] - 8] + np.sum(t) * x[1]


def a_literal_range(x):
    return np.arange(1.0, 0.0, -0.25) * x[0]


def the_length_leaves_it_out(x, a):
    t = np.arange(a, a + 3)
    return np.sum(t * x[0]), t


def a_window_in_a_loop(x):
    s = 0.0
    for i in range(len(x) - 2):
        s += np.sum(np.arange(i, i + 2) * x[i])
    return s


def a_step_by_its_name(x):
    return np.sum(np.arange(8, step=3) * x[:3])


def short_bounds(x, k):
    return np.arange(k[0], k[1]) * 100 * x[0]


def a_unit_matrix(x):
    return np.sum(np.eye(3, dtype=float) * x[0])


def above_the_diagonal(x):
    return np.eye(3, k=1) * x[0] + np.eye(3, 3, -1) * x[1] + np.eye(2, 3)[0, 0]


def of_integers(x):
    a = np.identity(3, int)
    return x[a[1, 1]] * np.sum(np.eye(3, dtype=np.int32) * x[0])


def among_names(x, a, b):
    s = 0.0
    for i in range(len(x)):
        s += x[i] if i in (a, b) else x[i] ** 2
    return s


def not_among_names(x, a):
    s = 0.0
    for i, v in enumerate(x):
        if i not in (a, len(x) - 1, 0):
            s += v
    return s


def among_floats(x, a, b):
    edges = 0
    for i in range(len(x)):
        v = x[i]
        if v in (a, b) or v not in (x[0], a, 0.55):
            edges += 1
    return np.sum(x**2) * edges


def one_of_several(x):
    counts = np.histogram(x, 3)[0]
    return np.sum(counts * x[:3]) * np.linalg.slogdet(np.outer(x, x) + np.eye(4))[1]


def quartiles(x):
    low, high = np.percentile(x, [25, 75])
    slope, offset = np.polyfit(np.arange(4), x, 1)
    return (high - low) * slope + offset * x.std(ddof=1)


def two_that_a_helper_gives(x):
    a, b = _pair(x)
    return a / b


def _pair(x):
    return np.array([x[0] * x[1], x[2]])


CASES: list[tuple[Callable[..., Any], dict[str, Any]]] = [
    (sampled, {"h": 0.3}),
    (of_whole_expressions, {"end": 2.0, "h": 0.3}),
    (of_whole_expressions, {"end": 5, "h": 2}),
    (looped_over, {"h": 0.11}),
    (from_one_to_another, {"a": 0.5, "b": 2.0, "h": 0.31}),
    (from_one_to_another, {"a": 1, "b": 8, "h": 3}),
    (bounds_that_are_elements, {}),
    (indices_by_a_step, {"k": 2}),
    (downwards, {"k": 3}),
    (a_literal_range, {}),
    (the_length_leaves_it_out, {"a": 2}),
    (a_window_in_a_loop, {}),
    (a_step_by_its_name, {}),
    (short_bounds, {"k": SHORT}),
    (a_unit_matrix, {}),
    (above_the_diagonal, {}),
    (of_integers, {}),
    (among_names, {"a": 1, "b": 2}),
    (among_floats, {"a": 1.5, "b": 2.5}),
    (one_of_several, {}),
    (quartiles, {}),
    (two_that_a_helper_gives, {}),
]


@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize(("plain", "more"), CASES)
def test_they_are_numpys(
    plain: Callable[..., Any],
    more: dict[str, Any],
    target: str,
    rng: np.random.Generator,
) -> None:
    f = pyrev.differentiable(plain, target=target)
    check(f, plain, {"x": X.copy(), **more}, [], rng)
    mine, theirs = f.primal(X.copy(), *more.values()), plain(X.copy(), *more.values())
    several = isinstance(theirs, tuple)
    for one, other in zip(
        mine if several else (mine,), theirs if several else (theirs,), strict=True
    ):
        assert np.asarray(one).dtype == np.asarray(other).dtype
        np.testing.assert_allclose(one, other, rtol=1e-14)


def test_what_is_computed_is_no_name_to_search() -> None:
    with pytest.raises(pyrev.UnsupportedError, match="`is` and `in` compare objects"):
        assert pyrev.differentiable(not_among_names, target="python").adjoint.source


@pytest.mark.parametrize("a", [2.72, 0.1, 2.5, 3, 1e9 + 0.3])
def test_a_range_is_as_long_as_numpys_sums_say(a: float) -> None:
    f = pyrev.differentiable(the_length_leaves_it_out, target="python")
    (_, mine), (_, theirs) = f.primal(X, a), the_length_leaves_it_out(X, a)
    assert mine.dtype == theirs.dtype
    np.testing.assert_array_equal(mine, theirs)


def converted_where_it_is_made(x, y):
    low = np.empty(len(x)).astype(y.dtype)
    high = np.zeros((len(x), 1)).astype(y.dtype)
    for i in range(len(x)):
        low[i] = 3.5 * x[i]
        high[i, 0] = low[i] + y[i]
    return np.sum(low * x + high[:, 0])


def converted_part(x, y):
    found = []
    for v in x:
        if v > 0.25:
            found.append(4.0 * v)
    kept = np.array(found, dtype=y.dtype)
    twice = (x[1:] * 2.0).astype(y.dtype)
    return np.sum(kept * y[:3]) + np.sum(twice)


@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64, np.int16])
@pytest.mark.parametrize("plain", [converted_where_it_is_made, converted_part])
def test_a_dtype_of_the_call_converts(
    plain: Callable[..., Any], kind: type, target: str, rng: np.random.Generator
) -> None:
    y = np.array([1, 2, 3, 1], kind)
    f = pyrev.differentiable(plain, target=target)
    with np.errstate(all="ignore"):  # what is in new memory is cast, too
        mine, theirs = f.primal(X, y), plain(X, y)
    np.testing.assert_allclose(mine, theirs, rtol=1e-6)
    assert np.asarray(mine).dtype == np.asarray(theirs).dtype
    if kind is np.float64:
        check(f, plain, {"x": X.copy(), "y": y}, [], rng)


def of_numbas_types(x, k):
    mask = np.ones_like(x, dtype=numba.boolean)
    mask[k] = False
    out = np.zeros(len(x), dtype=numba.float64)
    count = np.zeros(2, numba.types.int32)
    for i in range(len(x)):
        if mask[i]:
            out[i] = numba.float64(x[i]) ** 2
            count[i % 2] += 1
    return np.sum(out) * count[0]


def of_numpys_types(x, k):
    return np.sum(np.delete(x, k) ** 2) * (2 - (k % 2 == 0))


@pytest.mark.parametrize("k", [0, 3])
def test_types_of_numba_are_dtypes(k: int, rng: np.random.Generator) -> None:
    compiled = pyrev.differentiable(numba.njit(of_numbas_types), target="numba")
    check(compiled, of_numpys_types, {"x": X.copy(), "k": k}, [], rng)
