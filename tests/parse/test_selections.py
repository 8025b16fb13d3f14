"""Masks and arrays of integers as subscripts, and lists as rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyrev
from pyrev.ir.text import program_text
from pyrev.parse import parse
from pyrev.schedule.places import places_by_loops
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


def two_with_one_mask(x, w):
    good = x > 0.0
    y = x[good] * w[good]
    return np.sum(y * y)


def a_mask_that_changes(x, w):
    good = x > 0.0
    s = np.sum(x[good] * w[good])
    for t in range(3):
        good[t] = not good[t]
        y = x[good] * w[good]
        s += np.sum(y * y) * (t + 1)
    return s


def places_of_the_turn_before(x, w):
    s = 0.0
    at = np.flatnonzero(x > 0.0)
    for t in range(3):
        later = x[t:] > 0.0
        s += np.sum(w[at] ** 2) * (t + 1)
        at = np.flatnonzero(later)
    return s


def what_is_written_behind_it(x, w):
    good = x > 0.0
    y = x[good]
    x *= w
    y[0] = 5.0 * y[1]
    return y * y, np.sum(x[good] * w[good])


def masks_of_what_masks_select(x, w):
    inner = x[x > 0.0]
    near = inner[inner < 1.0]
    return np.sum(near * near) * np.sum(inner) + np.sum(w[~(x > 0.0)] ** 2)


def rows_under_a_mask(x, w):
    a = np.outer(x, w)
    good = x > 0.0
    return a[good].sum(axis=0) * 2.0, a[:, 1][good] * a.T[0][good]


def nonzero_numbers(x, w):
    at = np.flatnonzero(x)
    (low,) = np.where(x < 0.0)
    return np.sum(x[at] ** 2) * np.sum(x[low] * w[low])


def joined_masks(x, w):
    k = np.arange(7)
    good = (k >= 2) & (x > 0.1 * w) & ~np.isnan(w) | (x == w)
    other = good ^ (k != 3)
    y = 2.0 * x[good] - w[good]
    z = x[k[other]] * 3.0
    return np.sum(y * y), z[::-1], x[k][2:]


def rows_of_gathered(x, w):
    a = np.outer(x, w)
    at = np.array([2, 0, 2])
    b = a[at]
    b[1] = 2.0 * b[2]
    c = w[at]
    c *= b[1, :3]
    return b, c


def loop_over_a_selection(x, w):
    good = x > 0.0
    total = 0.0
    for v in x[good]:
        total += v * v * x[0]
    return total


def indices_under_a_mask(x, w):
    k = np.arange(len(x))
    good = x > 0.0
    total = 0.0
    for j in k[good]:
        total += x[j] * w[j]
    part = k[good]
    low = x[good].copy()
    low.sort()
    return total * low[0], np.sum(x[part[::-1]] * w[good])


def masked_again_and_again(x, w):
    total = 0.0
    good = x > 0.0
    for t in range(2):
        x = x[good]
        w = w[good]
        good = x > 0.2 * (t + 1)
        total += np.sum(x * w)
    return total + np.sum(x[good])


def twice_some(x, w):
    at = np.flatnonzero(x > 0.2)
    y = x[at] * 2.0
    return np.sum(y * y)


def twice_others(x, w):
    at = np.flatnonzero(x > 0.2)
    at[1] = at[0]
    y = x[at] * 2.0
    return np.sum(y * y)


def found_twice_and_written(x, w):
    good = x > 0.0
    one = np.flatnonzero(good)
    two = np.flatnonzero(good)
    one[:] = one[::-1].copy()
    return x[one] * w[two]


def written_in_a_helper(x, w):
    good = x > 0.0
    one, two = _doubled(x, good), _doubled(w, good)
    one[0] = 1
    return np.sum(x[one] * w[two])


def _doubled(v, good):
    at = np.flatnonzero(good)
    v[at] *= 2.0
    return at


MASKED = [
    *(found_twice_and_written, written_in_a_helper),
    *(twice_some, twice_others),
    *(two_with_one_mask, a_mask_that_changes, places_of_the_turn_before),
    *(what_is_written_behind_it, masks_of_what_masks_select, rows_under_a_mask),
    *(nonzero_numbers, joined_masks, rows_of_gathered),
    *(loop_over_a_selection, indices_under_a_mask, masked_again_and_again),
]


@pytest.mark.parametrize("target", ["python", "numba", "numpy"])
@pytest.mark.parametrize("plain", MASKED)
def test_derivatives_of_what_masks_select(
    plain: Callable[..., Any], target: str
) -> None:
    x = np.array([0.31, -0.9, 0.15, 0.0, 1.4, -0.7, 0.83])
    x[3] = 0.5 if plain is not nonzero_numbers else 0.62
    w = np.linspace(0.95, 0.35, 7)
    f = pyrev.differentiable(plain, target=target)
    outputs = ["x"] if plain is what_is_written_behind_it else []
    outputs = ["x", "w"] if plain is written_in_a_helper else outputs
    try:
        check(f, plain, {"x": x, "w": w}, outputs, np.random.default_rng(3))
    except pyrev.UnsupportedError as why:
        # Whole arrays have no form for an array of each turn, nor for places to which
        # something else is written.
        assert target == "numpy", why
        assert plain in (
            *(a_mask_that_changes, places_of_the_turn_before),
            *(masked_again_and_again, written_in_a_helper),
        ), why


def test_the_places_are_found_once_and_nobody_counts_them() -> None:
    text = pyrev.differentiable(two_with_one_mask).adjoint.source
    assert text.count("np.flatnonzero(good)") == 1
    assert "count" not in text
    assert "good = x > 0.0\n" in text
    assert "y = x[places] * w[places]\n" in text
    assert "d_w[places[i]] += d_y[i] * x[places[i]]" in text
    text = pyrev.differentiable(twice_some).adjoint.source
    assert "d_x[at] += 2.0 * d_y\n" in text
    text = pyrev.differentiable(twice_others).adjoint.source
    assert "d_x[at[i]] += 2.0 * d_y[i]\n" in text
    text = pyrev.differentiable(joined_masks).primal.source
    assert "other = good ^ (k != 3)\n" in text


def test_second_derivatives_of_what_a_mask_selects() -> None:
    f = pyrev.differentiable(two_with_one_mask)
    x, w = np.array([0.4, -0.3, 0.9]), np.array([0.5, 0.8, 1.5])
    found = pyrev.hvp(f, x, w, tangents={"x": np.ones(3)})
    step = 1e-5
    ahead, back = (pyrev.grad(f, "x")(x + s, w) for s in (step, -step))
    wanted = (ahead - back) / (2 * step)
    np.testing.assert_allclose(found["x"], wanted, rtol=1e-7)


def places_that_change_between(x, w):
    good = x > 0.0
    at = np.flatnonzero(good)
    y = x[at]
    at[-1] = 0
    again = np.flatnonzero(good)
    return np.sum(y * w[again]) + np.sum(x[at] * w[again])


def test_second_derivatives_where_places_change_between() -> None:
    f = pyrev.differentiable(places_that_change_between)
    x, w = np.cos(np.arange(7.0)), np.sin(1.0 + np.arange(7.0))
    found = pyrev.hvp(f, x, w, tangents={"x": np.ones(7), "w": w})
    step = 1e-6
    for name in ("x", "w"):
        ahead, back = (pyrev.grad(f, name)(x + s, w + s * w) for s in (step, -step))
        wanted = (ahead - back) / (2 * step)
        np.testing.assert_allclose(found[name], wanted, rtol=1e-7, atol=1e-8)


def test_where_nothing_finds_places_loops_do() -> None:
    program = parse(two_with_one_mask).program
    text = program_text(places_by_loops(program))
    assert "flatnonzero" not in text
    space: dict[str, Any] = {"np": np}
    exec(text, space)
    x, w = np.array([0.4, -0.3, 0.9]), np.array([0.5, 0.8, 1.5])
    assert np.isclose(space["two_with_one_mask"](x, w), two_with_one_mask(x, w))
