"""Masks and arrays of integers as subscripts, and lists as rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyrev
from tests.corpora.everything import on_targets
from tests.tools.oracle import check


def gathered(x, a, k):
    y = x[k]
    return np.sum(y * y * np.arange(len(k))) + np.sum(a[k] ** 2 * a[0])


def beside_other_indices(x, a, k):
    return (
        np.sum(a[k, 1] ** 3) + np.sum(a[:, k[:2] % 3] ** 2) * x[0] + np.sum(a[1, k % 3])
    )


def two_arrays(x, a, k):
    rows = np.array([0, 2])
    return np.sum(a[rows[:, None], rows] ** 3) + np.sum(a[rows, rows] * x[rows])


def from_the_end(x, a, k):
    return np.sum(x[np.array([-1, 1, -2])] ** 2 * a[0])


def scattered(x, a, k):
    y = np.zeros(4)
    y[k] = x[:3] * a[0]
    return np.sum(y * y)


def changed_once(x, a, k):
    y = x.copy()
    y[k] += y[k] * a[1]
    y[k] = y[k] * 2.0
    return np.sum(y**3)


def sorted_by_another(x, a, k):
    order = np.argsort(x)
    return np.sum(x[order] * x[order][::-1] * np.arange(4)) + a[0, 0]


def masked_sums(x, a, k):
    return np.sum(x[x > 0.0] ** 2) * np.mean(a[a > 0.0]) + np.sum(a[a[:, 0] > 0.0] ** 3)


def a_mask_with_a_name(x, a, k):
    good = (x > -0.5) & ~(x > 0.9)
    y = x[good]
    s = 0.0
    for i in range(len(y)):
        s += i * y[i] ** 2
    return s


def under_one_mask(x, a, k):
    y = x.copy()
    low = x < 0.3
    y[low] = x[low] ** 2 + np.exp(x[low])
    y[x > 0.0] *= 3.0
    y[~low] += x[~low] * 0.5
    return np.sum(y * y)


def other_values_under_a_mask(x, a, k):
    y = np.zeros(4)
    y[x > 0.0] = x[x > 0.0][::-1]
    b = a.copy()
    b[a > 0.0] = a[a > 0.0][::-1] * 2.0
    return np.sum(y * y * y) + np.sum(b * b)


def a_mask_of_what_it_changes(x, a, k):
    y = x.copy()
    y[y > 0.2] = y[y > 0.2] - 1.0
    y[y > 0.2] = y[::-1][y > 0.2]
    return np.sum(y**3)


def _pair(u, v):
    return u * v, u + v


def rows(x, a, k):
    out = np.zeros((3, 2))
    for i in range(3):
        out[i] = [x[i] * x[i + 1], a[i, 0]]
    out[1] = out[1, 1], out[1, 0]
    out[2] = _pair(x[0], out[2, 0])
    out[:, 1] = [x[2], 1.0, x[1]]
    return np.sum(out**3)


def one_list_for_two(x, a, k):
    out, other = np.zeros((2, 2)), np.zeros((2, 2))
    out[0] = [x[0], x[1]]
    out[0] = other[1] = [out[0, 1] * x[2], out[0, 0]]
    return np.sum(out**3) + np.sum(other * other) * a[0, 0]


def stacked_rows(x, a, k):
    out = np.zeros((2, 4))
    out[:] = [x, x * x[0]]
    m = np.zeros((2, 2))
    m[:] = [[x[0], x[1]], [x[2], 1.0]]
    m[np.array([1, 0]), 1] = [x[3], 2.0]
    return np.sum(out**3) + np.sum(m**2)


def rows_under_a_mask(x, a, k):
    b = a.copy()
    m = x > 0.5
    b[m] = 2.0 * a[m] + b[m]
    return np.sum(b**3)


FORMS = [
    rows_under_a_mask,
    gathered,
    beside_other_indices,
    two_arrays,
    from_the_end,
    scattered,
    changed_once,
    sorted_by_another,
    masked_sums,
    a_mask_with_a_name,
    under_one_mask,
    other_values_under_a_mask,
    a_mask_of_what_it_changes,
    rows,
    one_list_for_two,
    stacked_rows,
]


def given() -> dict[str, Any]:
    return {
        "x": np.array([0.7, -0.4, 0.25, 1.1]),
        "a": np.array(
            [[0.5, -0.3, 0.8], [-0.2, 0.9, 0.4], [0.6, 0.1, -0.7], [1, 2, 3]]
        ),
        "k": np.array([2, 0, 2]),
    }


@pytest.mark.parametrize(("plain", "target"), on_targets(FORMS, 3))
def test_derivatives(plain: Callable[..., Any], target: str) -> None:
    rng = np.random.default_rng(5)
    check(pyrev.differentiable(plain, target=target), plain, given(), [], rng)


@pytest.mark.parametrize("target", ["python", "numba"])
def test_an_index_outside_raises(target: str) -> None:
    def f(x, k):
        return np.sum(x[k])

    g = pyrev.differentiable(f, target=target)
    for k in ([0, 3], [-4, 0]):
        with pytest.raises(IndexError):
            g(np.ones(3), np.array(k))


@pytest.mark.parametrize("target", ["python", "numba"])
def test_an_argument_that_is_a_mask(target: str) -> None:
    def f(x, good):
        return np.sum(x[good] ** 2)

    x, good = np.array([1.0, 2.0, 3.0]), np.array([True, False, True])
    g = pyrev.differentiable(f, target=target)
    assert g(x, good) == 10.0
    np.testing.assert_array_equal(pyrev.grad(g, "x")(x, good), [2.0, 0.0, 6.0])


def test_a_row_of_another_length_raises() -> None:
    def f(out, x):
        out[0] = [x, 2.0]

    g = pyrev.differentiable(f, target="python")
    with pytest.raises(ValueError):
        g(np.zeros((2, 3)), 1.0)


def test_one_mask_is_one_nest() -> None:
    def f(x, y):
        y[x > 0.0] = 2.0 * x[x > 0.0]

    assert "selected" not in pyrev.differentiable(f, target="python").primal.source


def written_to_a_copy(x, k):
    x[k][0] = 0.0


def written_to_a_copy_that_is_made_for_it(x):
    x.copy()[0] = 0.0


def written_flat_to_a_copy(x):
    x.flatten()[0] = 0.0


def fewer_axes_under_one_mask(a, v, m):
    a[m] = v[m]


def exchanged_by_a_list(a):
    a[0:2] = [a[1], a[0]]


REFUSED: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (written_to_a_copy, (np.ones(3), np.array([0, 1]))),
    (written_to_a_copy_that_is_made_for_it, (np.ones(3),)),
    (written_flat_to_a_copy, (np.ones(3),)),
    (fewer_axes_under_one_mask, (np.ones((2, 2)), np.ones(2), np.array([True, False]))),
    (exchanged_by_a_list, (np.ones((2, 2)),)),
]


@pytest.mark.parametrize(("plain", "args"), REFUSED, ids=lambda p: "")
def test_what_numpy_does_otherwise_is_refused(
    plain: Callable[..., Any], args: tuple[Any, ...]
) -> None:
    with pytest.raises((pyrev.UnsupportedError, pyrev.ArgumentError)):
        pyrev.differentiable(plain, target="numba")(*args)


@pytest.mark.parametrize("target", ["python", "numba"])
def test_a_mask_of_another_length_raises(target: str) -> None:
    def f(x, m):
        return np.sum(x[m])

    with pytest.raises(IndexError):
        pyrev.differentiable(f, target=target).primal(np.ones(3), np.array([True]))
