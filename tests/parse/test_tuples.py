"""Names of tuples: of sizes, of numbers, of arrays, as arguments and results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyrev
from tests.corpora.everything import on_targets
from tests.tools.oracle import check


def corner(x, shape):
    q = np.zeros(shape)
    q[1, 0] = x
    return q


def weighted(p, k):
    return p[0] * k + p[1] * p[1]


def both(x, y):
    pair = (x * y, x + y)
    return pair  # noqa: RET504


def first_of(shape, x, *, scale):
    return shape[0] * scale[0] * x + shape[-1] * scale[1]


def a_shape_to_a_helper(x, a):
    return np.sum(corner(x[0], a.shape) * a)


def a_tuple_to_a_helper(x, a):
    n, m = a.shape
    return np.sum(corner(x[0], (n, m)) * a)


def a_name_of_a_shape(x, a):
    shape = a.shape
    q = np.ones(shape)
    total = 0.0
    for i in range(shape[0]):
        for j in range(shape[-1]):
            total += q[i, j] * a[i, j] * x[0]
    return total * len(shape)


def a_shape_that_is_unpacked(x, a):
    shape = a.shape
    h, w = shape
    return x[0] * a[h - 1, w - 1]


def a_name_of_sizes(x, a):
    n, m = a.shape
    size = (n, m + 1)
    q = np.zeros(size)
    q[n - 1, m] = x[1]
    return q[n - 1, m] * a[0, 0] * size[1]


def numbers_that_change_later(x, a):
    u = x[0]
    pair = (u, a[0, 0])
    u = u * 3.0
    return pair[0] * pair[1] * u


def a_pair_in_a_loop(x, a):
    total = 0.0
    for i in range(a.shape[0]):
        pair = (a[i, 0] * x[0], a[i, 1])
        total += weighted(pair, float(i))
    return total


def arrays_in_a_pair(x, a):
    rows = (a[0], a[1])
    total = 0.0
    for j in range(a.shape[1]):
        total += rows[0][j] * rows[1][j] * x[0]
    return total


def an_array_that_is_written_through_it(x, a):
    copy = a[0].copy()
    pair = (copy, x)
    for j in range(copy.shape[0]):
        pair[0][j] *= pair[1][0]
    return np.sum(copy * copy)


def a_result_with_a_name(x, a):
    u, v = both(x[0], a[0, 1])
    return u * v


def by_name(x, a):
    return first_of(shape=a.shape, x=x[0], scale=(a[0, 0], x[1]))


def parts_of_shapes(x, a):
    (n,) = a.shape[:1]
    (m,) = a.shape[1:]
    (last,) = a.shape[-1:]
    p, q = a.shape[0:2]
    return x[0] * a[n - 1, m - 1] * a[p - 1, q - 1] * a[0, last - 1]


FUNCTIONS = (a_shape_to_a_helper, a_tuple_to_a_helper, a_name_of_a_shape)


def a_number_and_an_array(x, a):
    pair = (a[0, 0] * x[1], a[0])
    s, y = pair
    if s < x[0]:
        return np.sum(y) * s
    return s + y[1]


def of_parameters(c, y):
    pair = (c * c, y)
    s, w = pair
    return s + np.sum(w * w)


def names_on_both_sides(x, a):
    t = x[0] * x[0]
    s, row = t, a[1]
    u, v, s, t = row, a[0], t, s
    u, v = v, u
    return s * np.sum(u) + t * v[0] * v[0]


FUNCTIONS += (a_number_and_an_array, names_on_both_sides)
FUNCTIONS += (a_shape_that_is_unpacked, a_name_of_sizes, numbers_that_change_later)
FUNCTIONS += (a_pair_in_a_loop, arrays_in_a_pair, an_array_that_is_written_through_it)
FUNCTIONS += (a_result_with_a_name, by_name, parts_of_shapes)


@pytest.mark.parametrize(("plain", "target"), on_targets(FUNCTIONS, 6))
def test_its_elements_are_those_of_python(
    plain: Callable[..., Any], target: str
) -> None:
    f = pyrev.differentiable(plain, target=target)
    rng = np.random.default_rng(4)
    given = {"x": rng.uniform(0.5, 1.5, 2), "a": rng.uniform(0.5, 1.5, (3, 4))}
    check(f, plain, given, [], rng)


@pytest.mark.parametrize("target", ["python", "numba"])
def test_names_that_do_not_change_places_may_be_of_different_kinds(target: str) -> None:
    f = pyrev.differentiable(of_parameters, target=target)
    given = {"c": 0.7, "y": np.array([0.2, 0.5, -0.4])}
    check(f, of_parameters, given, [], np.random.default_rng(3))


def an_index_beyond_it(a):
    pair = (a[0], a[1])
    return pair[2]


def too_few_targets(a):
    triple = (a[0], a[1], a[2])
    u, v = triple
    return u * v


def read_by_a_function_inside(a):
    pair = (a[0], a[1])

    def inner(x):
        return x * pair[0]

    return inner(a[2])


def the_shape_of_what_is_another_array_later(a):
    shape = a.shape
    a = a[1:]
    return np.sum(a) * shape[0]


REFUSED = (an_index_beyond_it, too_few_targets)
REFUSED += (read_by_a_function_inside, the_shape_of_what_is_another_array_later)


@pytest.mark.parametrize("plain", REFUSED, ids=lambda f: f.__name__)
def test_others_are_refused(plain: Callable[..., Any]) -> None:
    with pytest.raises(pyrev.UnsupportedError) as refused:
        pyrev.differentiable(plain)
    assert {f.code for f in refused.value.findings} <= {"P106", "P112", "P209"}


def of_three_axes(a):
    h, w = a.shape[1:]
    return a[0, h - 1, w - 1] * h


def test_a_part_of_a_shape_has_as_many_extents_as_the_call_says() -> None:
    f = pyrev.differentiable(of_three_axes, target="python")
    assert f(np.ones((2, 3, 4))) == 3.0
    assert "def of_three_axes_adjoint(a, d_result)" in f.adjoint.source


def unpacked_too_short(a):
    h, w = a.shape[1:]
    return a.sum() * h * w


def test_a_part_of_a_shape_of_more_axes_is_refused() -> None:
    f = pyrev.differentiable(unpacked_too_short, target="python")
    assert f(np.ones((1, 2, 3))) == 36.0
    with pytest.raises((pyrev.UnsupportedError, pyrev.ArgumentError, ValueError)):
        pyrev.vjp(f, np.ones((1, 2, 3, 4)))
