"""Lists whose length is counted before they are made: on copies, or not at all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyrev
from tests.tools.oracle import check


def added_to_whole(a):
    out = [0.0]
    for _ in range(3):
        a += 1.0
        if a[0] > 2.0:
            out.append(a[0])
    return sum(out)


def scaled_before(a):
    out = [0.0]
    a *= 2.0
    for i in range(len(a)):
        if np.sum(a) > 2.0 + i:
            out.append(a[0])
    a += 1.0
    return sum(out)


def a_new_array_each_time(a):
    t = a
    out = [0.0]
    while np.max(t) < 5.0:
        t = t + 1.0
        out.append(t[0])
    return sum(out) + np.sum(a)


def a_copy_that_grows(a):
    t = a.copy()
    out = [0.0]
    while np.max(t) < 5.0:
        t += 1.0
        out.append(t[0])
    return sum(out) + np.sum(a)


def rows_written(m):
    out = [0.0]
    for _ in range(3):
        for r in m:
            r[0] += 1.0
            if r[0] > 4.0:
                break
            out.append(r[0])
    return sum(out) + m[0, 0]


def elements_decide(a):
    out = [0.0]
    k = 0
    while a[0] < 5.0:
        a[k % 3] += 1.0
        k += 1
        out.append(a[0])
    return sum(out) + a[0]


def all_elements_set(a):
    out = [0.0]
    while a[0] < 5.0:
        a[:] = a + 1.0
        out.append(a[0])
    return sum(out) + a[0]


def scaled_and_changed(a):
    out = [0.0]
    while np.max(a) < 9.0:
        a *= 1.5
        a[0] -= 0.1
        out.append(a[0])
    return sum(out) + a[0]


def as_long_as_the_list(a):
    out = [0.0]
    while len(out) < 4 and a[0] < 9:
        a += 0.5
        out.append(a[0])
    return sum(out)


def numbers_with_two_names(a):
    k = 0
    prev = k
    out = [0.0]
    while prev < 5:
        prev = k
        k += 2
        out.append(a[0] * prev)
    return sum(out)


def a_display_of_one_array(a):
    out = [0.0]
    for r in (a, a):
        r += 1.0
        if np.max(a) > 2.0:
            out.append(a[0])
    return sum(out)


def named_in_the_loop(a):
    out = [0.0]
    k = 0
    while k < 3:
        t = a
        t[0] += 1.0
        if t[0] > 1.0:
            out.append(t[0])
        k += 1
    return sum(out) + a[0]


def reshaped_in_the_loop(a):
    out = [0.0]
    k = 0
    while k < 3:
        t = a.reshape(3, 1)
        t[0, 0] += 1.0
        if t[0, 0] > 1.0:
            out.append(t[0, 0])
        k += 1
    return sum(out) + a[1]


def one_of_two_views(a):
    out = [0.0]
    k = 0
    while k < 3:
        t = a if k > 1 else a[::-1]
        t[0] += 1.0
        if t[0] > 1.0:
            out.append(t[0])
        k += 1
    return sum(out) + a[0]


def another_name(a):
    out = [0.0]
    t = a
    while t[0] < 5.0:
        t[0] += 1.0
        out.append(t[0])
    return sum(out) + a[0]


def a_part_changes_it(a):
    b = a[1:]
    out = [0.0]
    while np.max(a) < 9.0:
        b *= 1.5
        out.append(a[0])
    return sum(out) + a[0]


def drawn_from_a_display(a, t):
    out = [t, a[-1]]
    a += 0.5 * np.cos(a)
    for _, _ in ((a, t), (a, t)):
        out.append(np.max(a))
    return np.sum(a**2) + sum(out)


def an_element_of_a_row(m):
    out = [0.0]
    while m[0][0] < 3:
        m[0][0] += 1.0
        out.append(m[0, 0])
    return sum(out)


def a_row_under_a_name(m):
    out = [0.0]
    k = 0
    while k < 3:
        r = m[0]
        r[0] += 1.0
        if r[0] < 9.0:
            out.append(r[0])
        k += 1
    return sum(out) + m[0, 0]


def a_row_before(m):
    r = m[1]
    out = [0.0]
    while m[1, 0] < 5.0:
        r[0] += 1.0
        out.append(r[0])
    return sum(out) + m[1, 0]


def an_annotated_name(m):
    out = [0.0]
    k = 0
    while k < 3:
        t: Any = m
        t[0, 0] += 1.0
        if t[0, 0] < 9.0:
            out.append(t[0, 0])
        k += 1
    return sum(out)


def a_transposed_element(m):
    out = [0.0]
    for k in range(3):
        m.T[0, k] *= 2.0
        while m[k, 0] < 4.0:
            m[k, 0] += 1.0
            out.append(m[k, 0])
    return sum(out)


def a_closure_writes(m):
    out = [0.0]

    def up(i):
        m[i, 0] += 1.0

    while m[0, 0] < 4:
        up(0)
        out.append(m[0, 0])
    return sum(out)


def filled_before(a):
    out = [0.0]
    a.fill(4.0)
    while a[0] > 0.0:
        a[0] -= 1.5
        out.append(a[0])
    return sum(out)


def as_often_as_a_sum(a):
    out = []
    a[0] = 7.0
    for i in range(int(a.sum())):
        out.append(a[0] * i)
    return sum(out)


def no_convergence(a, most):
    out = [a[0]]
    k = 0
    while abs(out[-1]) > 1e-3:
        out.append(out[-1] * 0.5)
        k += 1
        if k > most:
            raise RuntimeError("no convergence")
    return sum(out)


def stops_in_an_inner_loop(a, most):
    out = [0.0]
    k = 0
    while True:
        for i in range(3):
            if k >= most:
                raise KeyError("too many")
            k += 1
            if a[i] * k > 3.0:
                break
            out.append(a[i])
        if k > 10:
            break
    return sum(out)


A, M = np.array([0.5, 0.7, 1.9]), np.arange(6.0).reshape(3, 2) * 0.5
RIGHT: list[tuple[Callable[..., Any], dict[str, Any]]] = [
    (added_to_whole, {"a": A}),
    (scaled_before, {"a": A}),
    (a_new_array_each_time, {"a": A}),
    (a_copy_that_grows, {"a": A}),
    (rows_written, {"m": M}),
    (elements_decide, {"a": A}),
    (all_elements_set, {"a": A}),
    (scaled_and_changed, {"a": A}),
    (as_long_as_the_list, {"a": A}),
    (numbers_with_two_names, {"a": A}),
    (drawn_from_a_display, {"a": A, "t": 0.3}),
    (no_convergence, {"a": A, "most": 30}),
    (stops_in_an_inner_loop, {"a": A, "most": 30}),
]
REFUSED = [
    a_display_of_one_array,
    named_in_the_loop,
    reshaped_in_the_loop,
    one_of_two_views,
    another_name,
    a_part_changes_it,
]


@pytest.mark.parametrize(
    "target", ["python", pytest.param("numba", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize(("plain", "given"), RIGHT)
def test_what_is_counted_writes_to_nothing(
    plain: Callable[..., Any], given: dict[str, Any], target: str
) -> None:
    given = {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in given.items()}
    f = pyrev.differentiable(plain, target=target)
    after = {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in given.items()}
    plain(*after.values())
    written = [
        k
        for k, v in given.items()
        if isinstance(v, np.ndarray) and not np.array_equal(v, after[k])
    ]
    check(f, plain, given, written, np.random.default_rng(0))


@pytest.mark.parametrize("plain", REFUSED)
def test_what_would_be_written_under_another_name_is_refused(
    plain: Callable[..., Any],
) -> None:
    with pytest.raises(pyrev.UnsupportedError):
        pyrev.differentiable(plain, target="python").primal(A.copy())


@pytest.mark.parametrize(
    "plain",
    [
        an_element_of_a_row,
        a_row_under_a_name,
        a_row_before,
        an_annotated_name,
        a_transposed_element,
        a_closure_writes,
        filled_before,
        as_often_as_a_sum,
    ],
)
def test_it_is_right_or_refused(plain: Callable[..., Any]) -> None:
    given = A if plain in (filled_before, as_often_as_a_sum) else M
    theirs, mine = given.copy(), given.copy()
    expected = plain(theirs)
    try:
        found = pyrev.differentiable(plain, target="python").primal(mine)
    except pyrev.UnsupportedError as why:
        pytest.skip(f"refused: {why.findings[0].code}")
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_allclose(mine, theirs, rtol=1e-12)


@pytest.mark.parametrize(
    ("plain", "error"),
    [(no_convergence, RuntimeError), (stops_in_an_inner_loop, KeyError)],
)
def test_a_loop_that_an_exception_ends_ends(
    plain: Callable[..., Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        plain(A.copy(), 4)
    with pytest.raises(error):
        pyrev.differentiable(plain, target="python").primal(A.copy(), 4)


def copy(x):
    y = x.copy()
    y[0] = 3.0 * x[1]
    return y


@pytest.mark.parametrize(
    "target", ["python", pytest.param("numba", marks=pytest.mark.slow)]
)
def test_a_function_may_be_called_as_what_makes_arrays(target: str) -> None:
    f = pyrev.differentiable(copy, target=target)
    check(f, copy, {"x": A.copy()}, [], np.random.default_rng(0))
