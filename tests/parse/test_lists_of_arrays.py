# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Lists of arrays: which may be held as copies, and which are refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyrev
from tests.tools.oracle import check

U = np.array([0.3, 0.4, 0.5])


def rhs(u):
    return np.sin(u) * 0.3


def steps_of_a_helper(u, n):
    out = []
    for _ in range(n):
        u = u + 0.1 * rhs(u)
        out.append(u)
    return np.stack(out, axis=1), out[-1]


def written_in_place_after(u, n):
    out = [u]
    for _ in range(n):
        u += 0.1
        out.append(u)
    return np.array(out)


def a_view_of_what_changes(u, n):
    v = u * 2.0
    w = v[1:]
    out = []
    for _ in range(n):
        out.append(w)
        v[1] += 1.0
    return out[0] * 1.0


def traj(u, n):
    xs = [u]
    for _ in range(n):
        u = u * 1.1
        xs.append(u)
    return xs


def what_a_helper_was_given(u, n):
    v = u * 1.0
    xs = traj(v, n)
    v[0] = 7.0
    return xs[0][0] + xs[1][1]


def traj2(u, n):
    xs = []
    for _ in range(n):
        u = u * 1.1
        xs.append(u)
    return xs


def elements_of_a_helper_changed(u, n):
    xs = traj2(u, n)
    s = 0.0
    for r in xs:
        r[0] += 1.0
        s += r[0] * r[1]
    return s + xs[0][0]


def numbers_and_arrays(u, n):
    xs = [0.0]
    for k in range(n):
        xs.append(u * k)
    return np.sum(xs[1])


def made_anew_in_a_loop(u, n):
    s = 0.0
    for j in range(n):
        xs = []
        for k in range(j + 1):
            xs.append(u * (k + j))
        for a, b in zip(xs, xs[1:], strict=False):
            s += np.dot(a, b)
        s += xs[-1][0]
    return s


def products_from_the_end(u, n):
    ms = [np.outer(u, u)]
    for _ in range(n):
        ms.append(ms[-1] @ ms[0] + np.eye(3))
    t = np.zeros((3, 3))
    for i, m in enumerate(reversed(ms)):
        t += m * (i + 1)
    return t, ms[1][0, 2]


def elements_replaced(u, n):
    xs = [u * k for k in range(n)]
    xs[1] = u * u
    xs[2] += u
    return np.sum(np.array(xs) ** 2)


def an_element_with_a_name_replaced(u, n):
    xs = [u * k for k in range(n)]
    y = xs[1]
    xs[1] = u * u
    return np.sum(y) + xs[1][0]


def measured_and_summed(u, n):
    xs = []
    for k in range(n):
        xs.append(u * k)
    return len(xs), np.sum(np.array(xs))


def scale(v):
    v *= 2.0


def a_helper_writes_after(u, n):
    xs = []
    v = u * 1.0
    for _ in range(n):
        xs.append(v)
        scale(v)
    return np.array(xs)


def a_helper_writes_before(u, n):
    xs = []
    for k in range(n):
        v = u * k
        scale(v)
        xs.append(v)
    return np.array(xs)


def written_through_one_of_two_lists(u, n):
    xs = [u, u * 2.0]
    ys = [xs[0], xs[1]]
    ys[1][0] = 3.0
    return xs[1] + ys[0]


def one_array_twice(u, n):
    xs = [np.zeros(3)] * 2
    xs[0][0] = u[0]
    return xs[1] * 1.0 + xs[0]


def side_by_side(u, n):
    a, b = [], []
    for k in range(n):
        a.append(u * k)
        b.append(k * u[0])
    s = 0.0
    for r, c in zip(a, b, strict=False):
        s += r[1] * c
    return s, np.vstack(a), np.concatenate(a)


def columns_of_a_while(u, n):
    q = []
    while len(q) < n:
        q.append(u * len(q))
    return np.column_stack(q) @ np.ones(n)


def an_argument_written_through(u, n):
    q = []
    for _ in range(n):
        q.append(u)
    q[0][0] = 2.0
    return u * 1.0


def the_best_of(u, n):
    xs = []
    for k in range(n):
        xs.append(np.array([u[0] * k, u[1]]))
    best = xs[0]
    for x in xs[1:]:
        if x[0] > best[0]:
            best = x
    return best * 2.0


def states_of_a_run(u, n):
    xs = [u.copy()]
    for _ in range(n):
        u = u + 0.1 * np.sin(u)
        xs.append(u)
    return xs


def weights_written_out(fx):
    w = [0.5 * (1.5 - fx) ** 2, 0.75 - (fx - 1.0) ** 2, 0.5 * (fx - 0.5) ** 2]
    s = 0.0
    for i in range(3):
        for j in range(3):
            s += w[i][0] * w[j][1] * (i + 2 * j)
    return s


def filled_then_changed(u, n):
    xs = []
    for k in range(n):
        v = np.zeros(len(u))
        for i in range(len(u)):
            v[i] = u[i] * (k + i)
        xs.append(v)
    xs[1][0] = 5.0
    for r in xs:
        r[1] *= 2.0
    return np.array(xs)


def filled_further(u, n):
    v = np.zeros(3)
    xs = []
    for k in range(n):
        v[0] += u[0] * k
        xs.append(v)
    return np.array(xs)


def rows_of_what_is_bound_again(A, n):
    xs = []
    for k in range(n):
        if A[0, 0] * k > 0.5:
            A = A @ A
            xs.append(A[1])
    return xs[-1] * 2 + sum(xs[0] * 3.0)


HELD = [
    steps_of_a_helper,
    elements_of_a_helper_changed,
    made_anew_in_a_loop,
    products_from_the_end,
    elements_replaced,
    measured_and_summed,
    a_helper_writes_before,
    written_through_one_of_two_lists,
    side_by_side,
    columns_of_a_while,
    the_best_of,
    states_of_a_run,
    filled_then_changed,
]
OF_MATRICES = [
    weights_written_out,
    rows_of_what_is_bound_again,
]


def an_element_is_written_and_its_array_read(x, n):
    rows = []
    u = x * 1.0
    rows.append(u)
    rows[0][0] = rows[0][0] + 1.0
    return rows[0] @ rows[0] + u[0]


def an_element_is_written_under_a_name(x, n):
    rows = []
    u = x * 1.0
    for i in range(3):
        u = u * x[i]
        rows.append(u)
        v = rows[0]
        v[0] = v[0] + 1.0
    return rows[-1] @ rows[0]


def the_elements_are_written_by_a_loop(x, n):
    rows = []
    u = x * 1.0
    for i in range(3):
        u = u * x[i]
        rows.append(u)
    for v in rows:
        v[0] = v[0] + 1.0
    return rows[-1] @ rows[0] + u[0]


def _set_first(v):
    v[0] = 4.0


def an_element_is_written_by_a_helper(x, n):
    rows = []
    u = x * 1.0
    for i in range(3):
        u = u * x[i]
        rows.append(u)
    _set_first(rows[-1])
    return rows[-1] @ rows[0] + u[0]


def an_array_is_returned_twice(x, n):
    rows = []
    u = x * 1.0
    rows.append(u)
    return rows, u


REFUSED = [
    an_element_is_written_and_its_array_read,
    an_element_is_written_under_a_name,
    the_elements_are_written_by_a_loop,
    an_element_is_written_by_a_helper,
    an_array_is_returned_twice,
    written_in_place_after,
    a_view_of_what_changes,
    what_a_helper_was_given,
    numbers_and_arrays,
    an_element_with_a_name_replaced,
    a_helper_writes_after,
    one_array_twice,
    an_argument_written_through,
    filled_further,
]


@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize("f", HELD, ids=lambda f: str(f.__name__))
def test_a_list_of_arrays(
    f: Callable[..., Any], target: str, rng: np.random.Generator
) -> None:
    check(pyrev.differentiable(f, target=target), f, {"u": U, "n": 3}, [], rng)


@pytest.mark.parametrize("target", ["python", "numba"])
def test_lists_of_weights_and_of_rows(target: str, rng: np.random.Generator) -> None:
    weights = pyrev.differentiable(weights_written_out, target=target)
    check(weights, weights_written_out, {"fx": U}, [], rng)
    rows = pyrev.differentiable(rows_of_what_is_bound_again, target=target)
    given = {"A": np.array([[0.3, 0.4], [0.5, 0.7]]), "n": 4}
    check(rows, rows_of_what_is_bound_again, given, [], rng)


@pytest.mark.parametrize("f", REFUSED, ids=lambda f: str(f.__name__))
def test_what_copies_would_not_show_is_refused(f: Callable[..., Any]) -> None:
    with pytest.raises(pyrev.UnsupportedError):
        pyrev.differentiable(f, target="python")(U.copy(), 3)


def test_no_arrays_are_no_array() -> None:
    f = pyrev.differentiable(measured_and_summed, target="python")
    with pytest.raises(ValueError, match="how many axes it has is not known"):
        pyrev.vjp(f, U, 0)


def test_a_list_of_arrays_is_returned_as_one() -> None:
    f = pyrev.differentiable(states_of_a_run, target="python")
    states, pullback = pyrev.vjp(f, U, 2)
    assert type(states) is list
    assert [s.shape for s in states] == [(3,)] * 3
    given = pullback([np.ones(3)] * 3)
    assert given["u"].shape == (3,)


def a_slice_of_what_grows(x, c, k):
    out = [c, k]
    half = sum(out[::2]) * 0.5
    out.append(c if k > 2.0 else half)
    return max(out) * x


def test_a_list_of_arrays_or_numbers_is_sliced() -> None:
    f = pyrev.differentiable(a_slice_of_what_grows, target="python")
    x = np.array([0.3, 0.1, 0.9])
    assert np.array_equal(f.primal(x, 0.2, 0.3), a_slice_of_what_grows(x, 0.2, 0.3))
    # Python has no largest of two arrays either.
    with pytest.raises(pyrev.ArgumentError):
        f.primal(x, x, 0.3)
