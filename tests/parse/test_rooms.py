"""Arrays that are made in a branch or a loop and read behind it.

All were refused (P206) while room for them was not made in front. Right, or what
CPython raises: a name has no value where nothing was made.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyrev
from tests.corpora.everything import named, on_targets
from tests.parse.test_aliases import checked

ALWAYS: list[Any] = []
SOMETIMES: list[Any] = []


def always(f: Any) -> Any:
    ALWAYS.append(f)
    return f


def sometimes(f: Any) -> Any:
    SOMETIMES.append(f)
    return f


@always
def of_either_branch(x, w, n):
    if n > 1:
        u = x * w
    else:
        u = x / w
    return u[0] * u[1] + np.sum(u)


@always
def of_three_branches(x, w, n):
    if n == 0:
        u = x * w
    elif n == 1:
        u = np.zeros(3)
        u[1] = x[0] * w[2]
    else:
        u = w - x
    u[0] += 1.0
    return u[0] * u[1] * w[0]


@always
def of_branches_in_a_loop(x, w, n):
    s = 0.0
    for k in range(n):
        if k % 2 == 0:
            d = x * (k + 1)
        else:
            d = w * x[0]
        for i in range(3):
            x[i] += 0.1 * d[i]
        s += d[1]
    return s * x[2] + w[1]


@always
def one_of_them_is_another_array(x, w, n):
    if n > 1:
        u = x
    else:
        u = x * w
    return u[0] * u[2] + w[0]


@always
def both_of_them_are_other_arrays(x, w, n):
    if n > 1:
        u = x
    else:
        u = w
    return u[0] * u[2] * x[1]


@always
def they_are_parts_of_other_arrays(x, w, n):
    if n > 1:
        u = x[1:]
    else:
        u = w[:-1]
    return np.sum(u * u) * x[0]


@always
def read_in_the_branch_and_behind_it(x, w, n):
    s = 0.0
    if n > 1:
        u = x * w
        s += u[0] * u[1]
        u[2] = s * x[0]
    else:
        u = x.copy()
        u[1] = w[1] * u[0]
    v = u * u
    return s + v[1] + v[2]


@always
def of_a_loop_that_runs(x, w, n):
    for k in range(3):
        u = x * w[k]
    return u[0] * u[1]


@always
def of_two_axes(x, w, n):
    if n > 2:
        u = np.zeros((3, 2))
        u[0, 1] = x[0] * w[1]
    else:
        u = np.ones((3, 2))
        u[2, 0] = x[1] * w[0]
    return np.sum(u * u)


def scaled(a, b, n):
    if n > 1:
        u = a * b[0]
        c = 2.0
    else:
        u = b * a[0]
        c = 3.0
    return u, c


@always
def in_a_helper_that_returns_it(x, w, n):
    u, c = scaled(x, w, n)
    v, d = scaled(w, u, 3 - n)
    return u[0] * v[1] * c + d * v[2]


@always
def two_names_at_once(x, w, n):
    if n % 2 == 0:
        u, v = x * w, x + w
    else:
        v, u = x * 2.0, w * x[1]
    return u[0] * v[1] - v[0] * u[2]


@always
def of_an_iteration_before(x, w, n):
    s = 0.0
    for k in range(n + 1):
        if k % 2 == 0:
            u = x * (w[0] + k)
        s += u[0] * u[1]
    return s


@always
def of_an_iteration_before_and_written(x, w, n):
    s = 0.0
    for i in range(3):
        if i < n:
            u = np.zeros(3)
            u[0] = x[i] * w[0]
        if n > 0:
            u[1] += u[0] * x[1]
            s += u[1]
    return s + w[1]


@always
def the_first_of_several(x, w, n):
    for k in range(n + 1):
        row = x * (k + w[0])
        if k == 0:
            first = row
    return first[0] * row[1]


@always
def the_best_of_several(x, w, n):
    top = -1.0
    for k in range(n + 1):
        cand = x * (w[0] + (2 - k) * (2 - k))
        if cand[0] > top:
            best = cand
            top = cand[0]
    return best[0] * best[1] + top


@always
def they_change_places(x, w, n):
    if n > 1:
        a = x * 1.0
        b = w * x
    else:
        a = w * 1.0
        b = x + w
    for _ in range(n):
        a, b = b, a
        a[0] = a[0] * b[1]
    return a[0] * b[0] + a[2]


@always
def read_where_it_was_made_only(x, w, n):
    if n > 1:
        u = x * w
    y = u[0] if n > 1 else w[1]
    z = 0.0
    if n > 2 and u[1] > 0.0:
        z = u[2] * x[0]
    return y + z


@always
def a_part_that_is_written(x, w, n):
    for _ in range(n + 1):
        part = x[1:]
        part[0] = part[0] * w[0]
    return part[0] + x[1] * part[1]


@always
def made_once_in_a_loop_that_goes_on(x, w, n):
    s = 0.0
    for i in range(4):
        if i > n:
            continue
        if i == 0:
            acc = x * w
        acc = acc * 1.5
        s += acc[0]
    return s * acc[1]


@always
def what_was_made_before_has_another_name(x, w, n):
    keep = x * 1.0
    s = 0.0
    for i in range(n):
        if i % 2 == 0:
            u = x * (i + w[0])
        else:
            u = w * (i + x[0])
        s += keep[0] * u[1]
        keep = u
    return s + keep[2]


@always
def it_is_written_by_its_other_name(x, w, n):
    keep = x * 1.0
    s = 0.0
    for i in range(n):
        if i % 2 == 0:
            u = x * (i + w[0])
        else:
            u = w * (i + x[0])
        s += keep[0] * u[1]
        keep = u
        u[2] = u[2] + 1.0
    return s + keep[2]


@always
def of_narrow_integers(x, w, n):
    k = np.array([3, 100, 7], dtype=np.int8)
    if n > 1:
        q = k * 1
    else:
        q = k + k
    s = 0.0
    for i in range(3):
        s += q[i] * x[i]
    q = x * s
    return q[0] * w[0] + q[2]


def clipped(v, lo, m):
    if m > 2:
        r = v
    elif m > 1:
        r = v * lo
    else:
        r = np.zeros(v.shape[0])
        r[0] = v[1]
    return r


@always
def in_a_helper_with_three_paths(x, w, n):
    a = clipped(x, w[0], n)
    b = clipped(a, w[1], 3 - n)
    return a[0] * b[0] + b[1] * a[2]


@always
def in_a_function_inside_that_is_called_in_a_loop(x, w, n):
    def pick(a, b, m):
        if m % 2 == 0:
            c = a
            d = b * 2.0
        else:
            c = b
            d = a * 3.0
        return c, d

    s = 0.0
    for k in range(n + 1):
        c, d = pick(x, w, k)
        s += c[0] * d[1]
    return s * c[2] + d[0]


@sometimes
def of_a_loop(x, w, n):
    for k in range(n):
        u = x * (w[0] + k)
    return u[0] * u[1]


@sometimes
def of_one_branch(x, w, n):
    if n > 1:
        u = x * w
    s = x[0]
    if n > 0:
        s += u[1]
    return s


@sometimes
def of_a_while(x, w, n):
    k = 0
    while k < n:
        u = x + w * k
        k += 1
    v = u * w
    return v[0] + u[1]


@sometimes
def of_a_loop_in_a_branch(x, w, n):
    s = 0.0
    if n != 2:
        for k in range(n):
            u = x * w
            s += u[k % 3]
    return s + np.sum(u)


@sometimes
def of_a_loop_that_is_left(x, w, n):
    for k in range(4):
        if k >= n - 1:
            break
        u = x * (k + 1.0)
        if u[0] > 3.1:
            continue
        u = u * w
    return u[0] + u[2]


@pytest.mark.slow
@pytest.mark.parametrize(("plain", "target"), on_targets(ALWAYS, 4), ids=named)
def test_what_a_branch_or_a_loop_made_is_read_behind_it(
    plain: Any, target: str
) -> None:
    f = pyrev.differentiable(plain, target=target)
    for n in range(4):
        checked(f, plain, n)


@pytest.mark.parametrize(("plain", "target"), on_targets(SOMETIMES, 4), ids=named)
def test_what_was_not_made_has_no_value(plain: Any, target: str) -> None:
    f = pyrev.differentiable(plain, target=target)
    raised = 0
    for n in range(5):
        x, w = np.array([1.5, 2.0, 0.75]), np.array([0.5, 1.25, 2.5])
        try:
            plain(x.copy(), w.copy(), n)
        except UnboundLocalError:
            raised += 1
            with pytest.raises(UnboundLocalError, match="variable 'u'"):
                f(x.copy(), w.copy(), n)
            with pytest.raises(UnboundLocalError):
                pyrev.grad(f)(x, w, n)
        else:
            checked(f, plain, n)
    assert 0 < raised < 5


def read_in_the_iteration_behind(x, w, n):
    s = 0.0
    for k in range(n):
        if k > 0:
            s += u[1] * u[0]  # noqa: F821 (pyrev refuses it)
        u = x * (w + s)  # noqa: F841
    return s + x[0] * w[0]


def another_name_of_it_is_written(x, w, n):
    if n > 1:
        u = x
    else:
        u = x * w
    x[0] = x[0] * 3.0
    return u[0] * u[1]


def another_name_of_it_is_written_in_the_loop(x, w, n):
    for _ in range(n + 1):
        u = x
        x[1] = x[1] * 2.0
    x[0] = w[0] * 2.0
    return u[0] * u[1]


def the_best_is_written_by_its_first_name(x, w, n):
    top = -1.0
    for k in range(n + 1):
        cand = x * (w[0] + (2 - k) * (2 - k))
        if cand[0] > top:
            best = cand
            top = cand[0]
        cand[1] += 10.0
    return best[0] * best[1] + top


def what_a_helper_returned_is_written(x, w, n):
    a = clipped(x, w[0], n)
    a[1] = a[1] * w[2]
    return a[1] * x[1] + a[0]


def unlike_shapes(x, w, n):
    if n > 1:
        u = x * w
    else:
        u = np.zeros(n)
    return np.sum(u)


def unlike_dtypes(x, w, n):
    if n > 1:
        u = x * w
    else:
        u = np.zeros(3, dtype=np.int64)
    return u[0] + x[0] * w[0]


def unlike_ranks(x, w, n):
    if n > 1:
        u = x * w
    else:
        u = np.zeros((3, 3))
    return np.sum(u)


def written_behind_where_it_may_be_the_argument(x, w, n):
    if n > 1:
        u = x
    else:
        u = x * w
    u[0] = 2.0 * w[0]
    return u[0] * x[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    "plain",
    [
        read_in_the_iteration_behind,
        another_name_of_it_is_written,
        another_name_of_it_is_written_in_the_loop,
        the_best_is_written_by_its_first_name,
        what_a_helper_returned_is_written,
        unlike_shapes,
        unlike_dtypes,
        unlike_ranks,
        written_behind_where_it_may_be_the_argument,
    ],
    ids=lambda f: f.__name__,
)
def test_what_one_array_cannot_be_is_refused_or_right(plain: Any) -> None:
    x, w = np.array([1.5, 2.0, 0.75]), np.array([0.5, 1.25, 2.5])
    for n in range(4):
        try:
            f = pyrev.differentiable(plain, target="python")
            got = f.primal(x.copy(), w.copy(), n)
        except pyrev.UnsupportedError as refused:
            assert {e.code for e in refused.findings} <= {"P204", "P206"}
        except ValueError as error:
            assert "shape" in str(error)
        else:
            assert got == pytest.approx(plain(x.copy(), w.copy(), n))
            checked(f, plain, n)
