"""Other ways to write what the language has: `np.shape`, `divmod` and their like."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy import shape

import pyrev
from tests.corpora.everything import on_targets
from tests.tools.oracle import check


def sizes(x, a):
    n, m = np.shape(a)
    s = 0.0
    for i in range(n):
        for j in range(m):
            s += a[i, j] * x[j]
    return s * np.size(a) / np.ndim(a)


def imported(x, a):
    rows = shape(a)[0]
    return x[0] * a[rows - 1, 0]


def pair(x, a):
    q, r = divmod(7 * a.shape[0], 4)
    return x[0] * q + r * a[0, 0] * x[1]


def of_floats(x, a):
    s = 0.0
    for i in range(len(x)):
        turns, rest = divmod(3.0 * x[i], 0.7)
        s += rest * rest * a[0, i] + turns
    return s


def _measured(v):
    k = np.size(v)
    return k * v[0]


def in_a_helper(x, a):
    return _measured(x) * _measured(a[0])


def places(x, a):
    (k,) = np.nonzero(x > 0.6)
    s = 0.0
    for i in np.where(x > 0.0)[0]:
        s += i * x[i] ** 2
    return s + len(k) * a[0, 0]


def all_indices(x, a):
    s = 0.0
    for (i, j), v in np.ndenumerate(a):
        if i == 1 and j == 1:
            continue
        s += i * v * v + j * v
    for i, j in np.ndindex(a.shape):
        s += a[i, j] * x[j]
    for i, j in np.ndindex(2, len(x)):
        s += i * a[i, j] ** 2
    for i, j in np.ndindex((2, 2)):
        s += j * a[i, j]
    return s


def lists_that_nobody_writes_to(x, a):
    c = [2.0, x[0] * 0.5, a[0, 0]]
    s = c[0] * x[1] + c[1] * x[2] + c[-1] * len(c)
    return s * max(c) + min([x[0], a[1, 1]]) + np.sum([x[0] ** 2, a[0, 1]])


def names_of_ranges(x, a):
    rows = range(a.shape[0])
    columns = range(a.shape[1] - 1, -1, -1)
    n = a.shape[1]
    late = range(1, n)
    n = 1 + len([x[i] for i in rows]) - len(rows)
    s = float(len(rows) + n)
    for i in rows:
        for j in columns:
            s += a[i, j] * x[j] * (i + 1)
        for k, j in enumerate(late):
            s += k * a[i, j] ** 2
    for j in reversed(late):
        s = s * x[j]
    late = range(2) if n > 2 else range(3)
    for j in late:
        s += x[j]
    return s


def one_range_or_another(x, a):
    over = range(1)
    s = 0.0
    for turn in range(3):
        for i in over:
            s += x[i] ** 2 * (turn + 1)
        if turn == 0:
            over = range(len(x))
        else:
            over = range(1, len(x))
    return s * a[0, 0]


KNOTS = (0, 2)


def among_numbers_with_a_name(x, a):
    odd = [1, 3, 5]
    ends = (0, -1)
    s = np.finfo(0.0).tiny
    for i in range(len(x)):
        if i in odd or i - 1 in ends:
            s += x[i] ** 2
        elif i not in ends:
            s += a[0, i] * x[i]
    return s


def among_numbers(x, a):
    s = 0.0
    kinds = np.array([0, 1, 2])
    for i in range(len(x)):
        if kinds[i] in (1, 2):
            s += x[i] ** 2
        if i not in [0, -1]:
            s += a[0, i] * x[i]
        if i in KNOTS and i % 2 in (0,):
            s *= a[1, i]
        if a[0, i] in kinds or i + 1 in kinds:
            s += x[i] ** 3
        if x[i] not in x[:i]:
            s += 1.0
    return s


def one_of_two_tuples(x, a):
    s = 0.0
    for i in range(len(x)):
        c, t = (1, 1.0) if i == 1 else (i, x[i])
        s += c * t + t * t
    low, high = (x[0], a[0, 0]) if x[0] < a[0, 0] else (a[0, 0], x[0])
    return s * high - low


def _both(v, c):
    return v * c, (v + c).sum(), c


def elements_of_what_is_returned(x, a):
    doubled = _both(x, 2.0)[0]
    s = _both(a[0], x[0])[1]
    for i in range(len(x)):
        s += doubled[i] * _both(x, a[0, i])[0][i] * _both(x, 3.0)[-1]
    return s


def _pair_and_number(v):
    return (v * 2.0, v[0]), v + 1.0


def _tuple_of_one(v):
    pair = (v * 2.0,)
    return pair, v


def elements_of_tuples_in_what_is_returned(x, a):
    s = _pair_and_number(x)[1][0] + _pair_and_number(x)[-1][1]
    s *= (_pair_and_number(x)[0][0] * _pair_and_number(x)[0][1]).sum()
    return s + _tuple_of_one(x)[0][0] + _tuple_of_one(a[0])[1]


def the_second_of_two_is_no_part_of_the_first(x, a):
    both = _pair_and_number(x)[0]
    return _pair_and_number(x)[1] + both[0] * both[1] * a[0, 0]


def flat(x, a):
    for v in a.flat:
        x = x * v
    s = 0.0
    for i in range(a.size):
        s += a.flat[i] ** 2 * (i + 1)
    return s * x.flat[1]


def taken(x, a):
    places = np.array([2, 0, 0, -1])
    y = x.take(places)
    z = np.take(a, places[1:3] + 1, axis=0)
    w = np.take(a, places[:2], axis=1)
    s = np.take(x, 1) * np.take(a, places[1:])[0]
    for k in range(len(y)):
        s += y[k] ** 2 * (k + 1)
    return s + z[0, 1] * w[1, 0]


def logical(x, a):
    m = np.logical_or(x > 0.9, np.logical_not(a[0] > 0.7))
    n = np.logical_xor(m, np.logical_and(x, np.array([1.0, 0.0, np.nan])))
    s = np.sum(n) * x[0]
    for i in range(len(x)):
        if m[i] and np.greater_equal(x[i], a[0, i]):
            s += x[i] ** 2
        s += x[i] * np.bitwise_and(i, 1) + np.left_shift(i, 1) * a[1, i]
        s += x[i] * (np.bitwise_or(i, 4) - np.bitwise_xor(i, 1) + np.invert(i))
        s += np.logaddexp(x[i], a[0, i]) + np.logaddexp(x[i], x[i])
        s += np.heaviside(x[i] - 0.75, 0.5) * a[0, i]
    return s


class Kind(enum.Enum):
    LINEAR = 1
    SQUARE = 2
    FACTOR = 0.25


class Place(enum.IntEnum):
    FIRST = 0
    LAST = 2


def members_of_enumerations(x, a):
    s = 0.0
    for k in range(3):
        if k == Kind.LINEAR.value:
            s += x[k]
        elif k == Kind.SQUARE.value:
            s += x[k] ** 2
        s *= 1.0 + Kind.FACTOR.value * a[0, k]
    return s + x[Place.LAST] * x[Place.FIRST] * Place.LAST


def shapes_put_together(x, a):
    n = a.shape[0]
    larger = (2 * n,) + a.shape[1:]
    out = np.zeros(larger)
    more = np.zeros((2,) + a.shape)
    for i in range(n):
        out[i] = a[i] * x
        out[n + i] = a[i] ** 2
        more[1, i] = a[i]
    return out.sum() * more[1, 0, 1] + np.ones(a.shape[1:])[1] * larger[0]


def masks_by_their_places(x, a):
    y = x.copy()
    y[np.where(y < 0.7)] = 0.7
    k = np.where((y > 0.72) & (x > 0.2))
    z = y[k] * 2.0
    y[k] = x[k] ** 2
    y[np.nonzero(np.logical_not(y > 0.0))] = 1.0
    return y * a[0, 0], z.sum()


def loops_over_a_list_of_steps(x, a):
    steps = [-1, 0, 1]
    s = 0.0
    for di in steps:
        for dj in steps:
            s += a[(di + 2) % 2, (dj + 3) % 3] * x[1 + di] * di
    return s


FORMS = [
    the_second_of_two_is_no_part_of_the_first,
    elements_of_tuples_in_what_is_returned,
    among_numbers_with_a_name,
    masks_by_their_places,
    loops_over_a_list_of_steps,
    names_of_ranges,
    one_range_or_another,
    among_numbers,
    one_of_two_tuples,
    elements_of_what_is_returned,
    flat,
    taken,
    logical,
    members_of_enumerations,
    shapes_put_together,
    places,
    all_indices,
    lists_that_nobody_writes_to,
    sizes,
    imported,
    pair,
    of_floats,
    in_a_helper,
]


@pytest.mark.parametrize(("plain", "target"), on_targets(FORMS, 3))
def test_derivatives(plain: Callable[..., Any], target: str) -> None:
    rng = np.random.default_rng(5)
    given = {"x": rng.uniform(0.5, 1.0, 3), "a": rng.uniform(0.5, 1.0, (2, 3))}
    check(pyrev.differentiable(plain, target=target), plain, given, [], rng)


def test_a_name_of_the_users_is_another_function() -> None:
    def divmod(a, b):
        return a * b, a + b

    def own(x):
        p, q = divmod(x[0], x[1])
        return p * q

    x = np.array([2.0, 3.0])
    found = pyrev.grad(pyrev.differentiable(own), wrt="x")(x)
    assert np.allclose(found, [3.0 * 5.0 + 6.0, 2.0 * 5.0 + 6.0])


def test_a_size_along_one_axis_is_refused() -> None:
    def own(x):
        return x[0] * np.size(x, 0)

    with pytest.raises(pyrev.UnsupportedError, match="P107"):
        pyrev.differentiable(own)


def zip_numbered(x, y):
    s = 0.0
    lines = zip(x, y)  # noqa: B905
    for i, (a, b) in enumerate(lines):
        s += a * b * i
    return s


def zip_written_in_between(x, y):
    lines = zip(x, y)  # noqa: B905
    s = 0.0
    y[1] = x[0]
    for a, b in lines:
        s += a * b
    return s


def zip_bound_again(x, y):
    lines = zip(x, y)  # noqa: B905
    y = y * 2
    s = 0.0
    for a, b in lines:
        s += a * b
    return s


def zip_in_another_loop(x, y):
    s = 0.0
    lines = zip(x, y)  # noqa: B905
    for _ in range(2):
        for a, b in lines:
            s += a * b
    return s


def zip_used_twice(x, y):
    s = 0.0
    lines = zip(x, y)  # noqa: B905
    for a, b in lines:
        s += a * b
    for a, b in lines:
        s += a * b
    return s


def zip_made_in_a_loop(x, y):
    s = 0.0
    for k in range(2):
        pairs = zip(x, y * k)  # noqa: B905
        for j, (a, b) in enumerate(pairs, 1):
            s += a * b * j
    return s


def _zips(x, y):
    s = 0.0
    pairs = zip(x, y)  # noqa: B905
    for a, b in pairs:
        s += a * b * b
    return s


def zip_in_a_helper(x, y):
    return _zips(x, y) * x[0]


def zip_two_zips(x, y):
    s = 0.0
    p = zip(x, y)  # noqa: B905
    q = zip(y, x)  # noqa: B905
    for a, b in p:
        s += a * b * b
    for a, b in q:
        s += a * b * b * 3
    return s


def zip_in_a_branch(x, y):
    s = 0.0
    p = zip(x, y)  # noqa: B905
    if x[0] > 0:
        for a, b in p:
            s += a * b * b
    return s


ZIPS = [zip_numbered, zip_written_in_between, zip_made_in_a_loop, zip_in_a_helper]


@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize("plain", [*ZIPS, zip_two_zips], ids=lambda f: f.__name__)
def test_a_zip_under_a_name_is_read_by_its_loop(plain: Any, target: str) -> None:
    f = pyrev.differentiable(plain, target=target)
    given = {"x": np.array([0.3, 0.7, 1.1]), "y": np.array([0.2, 0.5, 0.8])}
    written = ("y",) if plain is zip_written_in_between else ()
    check(f, plain, given, written, np.random.default_rng(1))


@pytest.mark.parametrize(
    "plain", [zip_bound_again, zip_in_another_loop, zip_used_twice, zip_in_a_branch]
)
def test_a_zip_that_may_be_empty_or_another_is_refused(plain: Any) -> None:
    with pytest.raises(pyrev.UnsupportedError, match="zip"):
        pyrev.differentiable(plain).adjoint.source  # noqa: B018
