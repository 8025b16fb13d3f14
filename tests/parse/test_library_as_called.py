"""Functions of the library as users call them: derivatives against differences, dtypes,
what is raised, and arrays that are written.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyrev
from tests.corpora.everything import on_targets
from tests.tools.oracle import check


def signals(x, w):
    c = np.correlate(x, w[:3]) * np.hanning(5)
    s = np.sum(c**2) + np.sum(np.correlate(w[:4], x, mode="same") ** 2)
    s += np.sum(np.correlate(x, w, mode="full") ** 2 * np.hamming(13))
    s += np.sum(np.unwrap(9.0 * x) * w * np.blackman(7)) + np.sum(np.bartlett(7) * x**2)
    padded = np.concatenate((np.zeros(2), x, np.zeros(1)))
    return s + np.sum(np.trim_zeros(padded) ** 2 * w)


def without_gaps(x, w):
    y = x.copy()
    y[2] = np.nan
    s = np.nanprod(y) + np.sum(np.nancumsum(y) * w) + np.sum(np.nancumprod(y) * w)
    s += x[np.nanargmax(y)] * w[np.nanargmin(y)] + np.nanquantile(y, 0.3) ** 2
    return s + np.sum(np.nanpercentile(y, np.array([20.0, 70.0])) ** 2)


def as_sets(x, w):
    y = np.append(x[:3], w[:3])
    s = np.sum(np.union1d(x, y) ** 2) + np.sum(np.setdiff1d(x, y) ** 3)
    return s + np.sum(np.intersect1d(x, y) ** 3) + np.sum(np.setxor1d(y, w) ** 2)


def made_matrices(x, w):
    m = np.kron(x[:2].reshape(1, 2), w[:4].reshape(2, 2))
    s = np.sum(m**2) + np.sum(np.kron(x, w) ** 2) + np.sum(np.vander(x, 3)[:, 0] * w)
    s += np.sum(np.vander(w, 4, increasing=True) @ x[:4]) + np.sum(np.tri(7) @ x * w)
    a = np.diagflat(x[:3], 1) + np.rot90(np.diagflat(w[:4])) + np.eye(4)
    s += np.sum(np.linalg.matrix_power(a, 3) * a)
    s += np.sum(np.geomspace(2.0, 5.0 + x[0] ** 2, 7) * x)
    k = np.array([[1, 0, 1, 1], [0, 0, 3, 2]])
    s += np.sum(np.take_along_axis(m, k, axis=1) ** 3)
    s += np.sum(np.resize(x, 9)[2:] * w) + np.sum(np.repeat(a, 2, axis=0)[3] ** 2)
    return s + np.sum(np.append(a, a, axis=1)[0])


def in_parts(x, w):
    a, b, c = np.array_split(x, 3)
    d, e = np.split(w[1:], 2)
    upper, lower = np.vsplit(np.outer(x[:4], w), 2)
    left, right = np.hsplit(np.outer(w, x[:4]), 2)
    s = np.sum(a[:2] * b) + np.sum(d * e**2) + c[0] * np.sum(upper * lower)
    return s + np.sum(left * right**2)


def ordered(x, w):
    order = np.lexsort((x, np.round(w)))
    s = np.sum(x[order] * w * np.arange(7.0)) + np.sum(np.extract(w > 0.0, x) ** 2)
    return s + np.sum(np.ediff1d(x * w) ** 2) + np.sum(np.append(w[0], x)[:7] * w)


def of_numbers(x, w):
    s = 0.0
    for k in range(len(x)):
        part, whole = math.modf(3.0 * x[k] + 0.1)
        s += part * w[k] + whole * x[k] + math.log(1.0 + w[k] ** 2, 3.0)
        q, r = np.divmod(x[k], 0.7)
        s += q * r * np.logaddexp2(x[k], w[k]) * np.trunc(3.0 * w[k] + 0.1)
        if math.isclose(x[k], w[k], abs_tol=0.1) or np.signbit(x[k]):
            s += np.positive(x[k]) * math.isqrt(10 * k) * np.gcd(12, k) * np.lcm(4, k)
    parts, wholes = np.modf(2.0 * x + 0.3)
    near = np.isclose(x, w, atol=0.5)
    s += np.sum(parts * wholes * w) + np.sum(x[near] ** 2) + np.sum(x * np.isreal(w))
    s += math.dist(x, w) * math.prod(x[:3]) + math.dist((x[0], 1.0), (w[0], x[2]))
    if any([x[0] > w[0], x[1] > w[1]]) and not all(x > w):
        s += np.sum(np.isposinf(x) + 2.0 * np.isneginf(w) + np.iscomplex(x)) + x[3] ** 2
    return s


def written(x, w):
    y = x.copy()
    np.put(y, np.array([0, 2, -1]), w[:2] ** 2)
    np.put(y, 3, x[0] * w[0])
    a = np.outer(y, w)
    np.fill_diagonal(a, x[1])
    b = np.empty(7)
    np.copyto(b, x * w)
    np.copyto(b, w, where=x > 0.0)
    c = np.empty((2, 7))
    np.copyto(c, y)
    return np.sum(a**2) + np.sum(b**2 * y) + np.sum(c**2)


def chosen(x, w):
    y = np.select([x > 0.5, x < -0.5], [x * w, w**2], default=0.3)
    return np.sum(y * np.select([w > 0.0], [x])) + x.item(2) * np.outer(x, w).trace(1)


FORMS = [
    signals,
    without_gaps,
    as_sets,
    made_matrices,
    in_parts,
    ordered,
    of_numbers,
    written,
    chosen,
]


@pytest.mark.parametrize(("plain", "target"), on_targets(FORMS, 3))
def test_derivatives(plain: Callable[..., Any], target: str) -> None:
    rng = np.random.default_rng(3)
    order = rng.permutation(7)
    given = {"x": 0.4 * (order - 3.2), "w": 0.3 * (rng.permutation(7) - 2.7)}
    check(pyrev.differentiable(plain, target=target), plain, given, [], rng)


TIES = np.array([2.0, 1.0, 2.0, np.nan, 1.0, -0.0, 0.0])
SMALL = np.array([1.0, -2.0, 3.5, 0.0])
WHOLE = np.array([3, -1, 2, 2])

#: Calls whose dtypes are NumPy's.
OF_ONE = [
    lambda x: np.fix(x),
    lambda x: np.select([x > 1, x < 0], [x, 2 * x], default=7),
    lambda x: np.select([x > 1, x < 0], [x, 2.0], 1.0),
    lambda x: np.array([np.trace(np.diag(x), 1), np.diag(x).trace()]),
    lambda x: np.append(0, x),
    lambda x: np.append(0.5, x),
    lambda x: np.diff(np.append(x, x[0])),
    lambda x: np.repeat(2, 3),
    lambda x: np.kron(x, x),
    lambda x: np.correlate(x, x[:2]),
    lambda x: np.vander(x, 3),
    lambda x: np.resize(x, 9),
    lambda x: np.diagflat(x),
    lambda x: np.ediff1d(x),
    lambda x: np.unwrap(x),
    lambda x: np.union1d(x, x[:2]),
    lambda x: np.setdiff1d(x, x[:2]),
    lambda x: np.intersect1d(x, x[:2]),
    lambda x: np.setxor1d(x, x[:2]),
    lambda x: np.nancumsum(x),
    lambda x: np.nancumprod(x),
    lambda x: np.nanprod(x) * np.ones_like(x),
    lambda x: np.array([np.nanquantile(x, 0.3)]),
    lambda x: np.linalg.matrix_power(np.diag(x), 3),
    lambda x: np.extract(x > 0, x),
    lambda x: np.isclose(x, 2),
    lambda x: np.signbit(x),
    lambda x: np.isposinf(x) | np.isneginf(x) | np.iscomplex(x) | np.isreal(x),
    lambda x: np.positive(x),
    lambda x: np.logaddexp2(x, x[::-1]),
    lambda x: np.tri(3),
    lambda x: np.lexsort((x, WHOLE)),
    lambda x: np.lexsort((x, 2**62 + WHOLE, WHOLE[::-1])),
    lambda x: np.linalg.matrix_power(np.diag(x + 5), -2),
    lambda x: np.take_along_axis(np.diag(x), np.array([[0, 3, 1, -1]]), axis=0),
]


@pytest.mark.filterwarnings("ignore:numpy.fix")  # NumPy 2.5 has `trunc` for it
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
@pytest.mark.parametrize("of", OF_ONE)
def test_values_and_dtypes_are_those_of_numpy(
    of: Callable[..., Any], dtype: Any
) -> None:
    x = SMALL.astype(dtype)
    wanted, found = of(x), pyrev.differentiable(of, target="python").primal(x)
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
    assert found.dtype == wanted.dtype


@pytest.mark.parametrize(
    "of",
    [
        lambda x: np.nanargmax(x[3:4]),
        lambda x: np.nanargmin(x[:0]),
        lambda x: np.correlate(x, x[:0]),
        lambda x: np.split(x, 3)[0],
        lambda x: np.geomspace(0.0, x[0], 3),
        lambda x: np.nanquantile(x, 1.5),
        lambda x: math.isclose(x[0], 1.0, rel_tol=-1.0),
        lambda x: math.dist(x, x[1:]),
        lambda x: math.isqrt(-len(x)),
        lambda x: np.linalg.matrix_power(np.outer(x, x[1:]), 2),
        lambda x: np.take_along_axis(x, np.array([0, 9]), 0),
        lambda x: np.lexsort((x, x[1:])),
        lambda x: np.append(np.outer(x, x), np.outer(x[1:], x), axis=1),
    ],
)
def test_what_numpy_raises_is_raised(of: Callable[..., Any]) -> None:
    with pytest.raises(Exception) as wanted:  # noqa: PT011
        of(TIES)
    with pytest.raises(wanted.type):
        pyrev.differentiable(of, target="python").primal(TIES)


def stored(a, m, v):
    np.put(a, [1, -1, 1], v)
    np.put(a, np.array([0]), 9.0)
    np.fill_diagonal(m, v)
    np.fill_diagonal(m[1:], 0.5)
    np.copyto(a[2:4], 7)
    np.copyto(m[0], v[0], where=m[0] > 0.2)


@pytest.mark.parametrize("target", ["python", "numba"])
def test_what_is_given_is_written(target: str) -> None:
    def given() -> list[Any]:
        return [
            np.linspace(0.0, 1.0, 5),
            np.linspace(0.0, 1.0, 12).reshape(4, 3),
            SMALL[:2].copy(),
        ]

    mine, theirs = given(), given()
    f = pyrev.differentiable(stored, target=target)
    f(*mine)
    stored(*theirs)
    for found, wanted in zip(mine, theirs, strict=True):
        assert np.array_equal(found, wanted)


def floats_in_integers(k):
    y = k.copy()
    np.copyto(y, 1.5)
    return y


def divisor_of_a_float(x):
    return np.gcd(x[0], 2) * x


def root_of_a_float(x):
    return math.isqrt(x[0]) * x


def test_what_is_for_integers_only_takes_no_floats() -> None:
    with pytest.raises(TypeError):
        floats_in_integers(WHOLE)
    with pytest.raises(pyrev.UnsupportedError, match="holds integers"):
        pyrev.differentiable(floats_in_integers, target="python")(WHOLE)
    for f in (divisor_of_a_float, root_of_a_float):
        with pytest.raises(TypeError):
            f(SMALL)
        with pytest.raises(TypeError, match="pass integers"):
            pyrev.differentiable(f, target="python")(SMALL)


def parts(x):
    first, second = np.split(x, 2)
    first[0] = 5.0
    turned = np.rot90(x.reshape(2, 2))
    turned[0, 0] = second[1]
    y = np.positive(x)
    y[1] = 8.0
    kept = np.trim_zeros(x)
    kept[1] = 4.0
    return x + y


def test_parts_are_views_where_numpy_has_views() -> None:
    f = pyrev.differentiable(parts, target="python")
    mine, theirs = SMALL.copy(), SMALL.copy()
    assert np.array_equal(f.primal(mine), parts(theirs))
    assert np.array_equal(mine, theirs)


def test_nothing_is_left_without_nan() -> None:
    def f(x):
        return np.nanquantile(x[3:4], 0.5), np.nanpercentile(x[:0], 3.0)

    assert np.all(np.isnan(pyrev.differentiable(f, target="python").primal(TIES)))
