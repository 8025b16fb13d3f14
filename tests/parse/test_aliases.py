"""Copies that stand for other arrays: right, or refused, whatever the run does.

Each function has a name that is bound again on some paths only, so that it stands for
an array that has another name, or for a new one. All of them were silently wrong once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyrev
from tests.corpora.everything import named, on_targets
from tests.tools import aliases
from tests.turns import TURN

FUNCTIONS: list[Any] = []


def one(f: Any) -> Any:
    FUNCTIONS.append(f)
    return f


@one
def written_by_its_other_name_in_the_loop(x, w, n):
    u = x
    for t in range(n):
        x[0] = x[0] * 2.0
        if t == 3:
            u = u * 3.0
    return u[0] * w[0]


@one
def written_by_its_other_name_behind_a_branch(x, w, n):
    u = x
    if n > 2:
        u = u * 3.0
    x[0] = x[0] * 2.0
    return u[0] * w[0]


@one
def written_by_its_other_name_behind_a_loop(x, w, n):
    u = x
    for _ in range(n):
        u = u * 3.0
    x[0] = x[0] * 2.0
    return u[0] * w[0]


def relaxed(a, b, n):
    for t in range(n):
        b[0] = b[0] * 2.0
        if t == 3:
            a = a * 3.0
    return a[0] * 1.0


@one
def given_twice(x, w, n):
    return relaxed(x, x, n) * w[0]


def often(a, n):
    for t in range(n):
        if t == 3:
            a = a * 3.0
    return a


@one
def written_while_a_helper_s_result_may_be_it(x, w, n):
    y = often(x, n)
    x[0] = 7.0
    return y[0] * w[0]


@one
def written_in_the_call_beside(x, w, n):
    return mixed(often(x, n), bumped(x)) * w[0]


def mixed(a, s):
    return a[0] * s


def bumped(a):
    a[0] = a[0] * 2.0
    return a[0]


def picked(a, b, n):
    if n > 1:
        a, b = b, a
    return a


def one_or_the_other(a, b, n):
    if n > 1:
        return b
    return a


def written_behind(result):
    """Its result is written, and what that may be, in the loop that binds it."""

    @one
    def a_result_is_written(x, w, n):
        u = x * 1.0
        for _ in range(2):
            u = result(u, w, n)
            u[0] = 5.0 * u[0]
        return w[0] + u[0]

    @one
    def what_a_result_may_be_is_written(x, w, n):
        u = x * 1.0
        for _ in range(2):
            u = result(u, w, n)
            w[0] = w[0] * 3.0
        return w[0] + u[0]


written_behind(picked)
written_behind(one_or_the_other)


@one
def what_a_result_may_be_is_written_behind(x, w, n):
    u = x * 1.0
    for _ in range(2):
        u = picked(u, w, n)
    w[0] = w[0] * 3.0
    return w[0] + u[0]


@one
def what_a_result_in_a_branch_may_be_is_written(x, w, n):
    u = x * 1.0
    if n != 7:
        u = picked(u, w, n)
    w[0] = w[0] * 3.0
    return w[0] + u[0]


@one
def a_result_that_takes_the_name_of_a_parameter(x, w, n):
    for _ in range(2):
        x = picked(x, w, n)
        x[0] = x[0] * 3.0
    return w[0] + x[0]


def twice(b):
    u = 0.5 * b
    return u, u


@one
def one_array_takes_two_names(x, w, n):
    for _ in range(n):
        x[1] = 0.5 * x[0] + 3.0
        x, w = twice(x)
    x[0] *= 0.5
    return np.sum(x) + 2.0 * np.sum(w)


@one
def written_in_one_branch_bound_again_in_the_other(x, w, n):
    if n > 0:
        w = added(w, w)
        x += 0.25 * w
    else:
        w = added(x, w)
    return np.sum(w) + 2.0 * np.sum(x)


def added(a, b):
    b += 0.25 * a
    return a


@one
def one_gets_the_array_and_the_other_a_new_one(x, w, n):
    if n > 1:
        w, x = x, w
        x = w + 0.1 * w
    w[:] = 0.5 * x
    return np.sum(w * x)


@one
def what_a_result_may_be_is_written_by_the_next_iteration(x, w, n):
    u = x * 1.0
    for _ in range(n):
        w[0] = w[0] * 1.5
        x[0] = x[0] + u[0]
        u = picked(u, w, n)
    return u[0] + x[0]


def with_a_function(a, seen, n):
    s = 0.0
    for _ in range(n):
        a[0] = a[0] * 2.0
        s += seen() * a[1]
        a = a * 1.5
    return s


@one
def a_function_that_is_passed_reads_it(x, w, n):
    def seen():
        return x[0] * w[0]

    return with_a_function(x, seen, n)


def and_a_function(a, seen, n):
    if n > 1:
        a = a * 1.5
    a[0] = a[0] * 2.0
    return seen() + a[1]


@one
def a_lambda_that_is_passed_reads_it(x, w, n):
    return and_a_function(x, lambda: x[0] * w[0], n)


def written_before_it_is_seen(a, seen):
    a[0] = a[0] * 2.0
    return seen() * a


@one
def a_function_that_is_passed_reads_the_name_that_is_bound(x, w, n):
    u = x
    if n > 1:
        u = x * w

    def seen():
        return u[0]

    u = written_before_it_is_seen(x, seen)
    return np.sum(u)


@one
def a_part_that_changes_places_is_written(x, w, n):
    a = x[1:]
    u = a.copy()
    for t in range(3):
        u[:] = 0.5 * t
        a, u = u, a
    return x


@one
def parts_of_two_results(x, w, n):
    a = picked(x, w, n)[1:]
    a[0] = 0.5 * w[1]
    x[1:] = a[:-1].sum()
    return np.sum(a * x[1:] * w[1:])


@one
def its_old_storage_holds_a_new_array(x, w, n):
    u = 0.5 * x
    if n > 2:
        x = u
    for _ in range(2):
        u = 0.5 * w
    for _ in range(3):
        x[0] *= 0.5
    return np.sum(u) + 2.0 * np.sum(x)


@one
def its_old_storage_holds_a_new_array_in_the_next_iteration(x, w, n):
    last = w * 1.0
    for _ in range(n):
        u = 0.5 * x
        last[0] = last[0] * 3.0
        if last[0] > 2.0:
            last = u
    return np.sum(last * w)


def two_new(a, b):
    a = 0.5 * b
    b = 0.5 * a
    return a, b


@one
def it_is_another_array_two_iterations_later(x, w, n):
    x, v = two_new(w, w)
    for _ in range(n):
        w, x = x, w
        w, v = v, w
        _, w = two_new(v, w)
    v += 0.25 * v
    return np.sum(v) + 2.0 * np.sum(x)


def swapped_and_one_returned(a, b, n):
    if n > 1:
        a, b = b, a
    if n > 2:
        return a
    return b


@one
def what_is_returned_where_contents_changed_places_is_written(x, w, n):
    v = swapped_and_one_returned(x, w, n)
    v += 0.25 * w
    return np.sum(v * x) + 2.0 * np.sum(w)


@one
def what_may_have_been_returned_is_written(x, w, n):
    v = swapped_and_one_returned(x, w, n)
    x[0] *= 0.5
    return np.sum(v * w) + 2.0 * np.sum(x)


def swapped_around(a, b, n):
    if n > 1:
        a, b = b, a
    halved(a)
    return a[1] + b[0]


def halved(a):
    a[0] *= 0.5


@one
def a_helper_writes_what_its_caller_exchanged(x, w, n):
    u = x
    if n > 2:
        u = x * w
    s = swapped_around(x, w, n)
    return s + np.sum(u * x)


# What is written while it still is another array is written there, too.


def written_and_bound_again_in_a_loop(x, w, n):
    for _ in range(n):
        x[0] = x[0] * w[1]
        x = x[:] * 2.0
    return np.sum(x * x)


def written_behind_a_branch(x, w, n):
    if n > 1:
        x = x * w
    x[0] = x[0] * 2.0
    return np.sum(x * x)


def filled_and_returned(a, w):
    a[0] = a[1] * w[0]
    return 0.5 * a


def through_a_helper_in_a_loop(x, w, n):
    for _ in range(n):
        x = filled_and_returned(x, w)
    return np.sum(x * x)


def part_of_it_in_a_loop(x, w, n):
    u = x[1:]
    for t in range(n):
        u[0] = u[0] * w[t % 2]
        if t == 1:
            u = u * w[1:]
    return np.sum(u)


def exchanged_a_known_number_of_times(x, w, n):
    v = np.zeros_like(x)
    for t in range(3):
        v[0] = x[1] * w[0] + t
        x, v = v, x
    x[1] = n * 1.0
    return np.sum(x * w)


def relaxed_where_known(a, m, n):
    for t in range(n):
        if np.isnan(m[t % 3]):
            continue
        a[t % 3] = a[t % 3] * m[t % 3]
        if t == 1:
            a = a - 0.5
    return a, np.sum(a)


def missing_data_on_the_way(x, w, n):
    m = w.copy()
    if n > 2:
        m[1] = np.nan
    _, s = relaxed_where_known(x, m, n)
    return s + x[0] + 2.0 * x[2]


def turned_over(a, b, n):
    for t in range(n):
        if t == 1:
            a, b = b, a
    return a


def a_result_is_read_where_what_it_may_be_is_written(x, w, n):
    u = turned_over(x, w, n)
    for k in range(1, len(x)):
        x[k] = x[k] * u[k - 1]
        if u[k] > 1.5:
            w[k - 1] += 0.25 * u[0]
    return np.sum(u * x) + np.sum(u * w)


def a_result_is_written_where_what_it_may_be_is_read(x, w, n):
    u = turned_over(x, w, n)
    for k in range(1, len(x)):
        u[k] = w[k] * x[k - 1] + u[k - 1]
    u[1:] *= x[:-1]
    w += u
    return np.sum(u * x) + np.sum(u * w)


def clipped_or_new(a, b, n):
    if n > 2:
        return a
    if n == 1:
        b *= 2.0
        return b
    return a + b


def one_of_three_results_is_written(x, w, n):
    u = clipped_or_new(x, w, n)
    x[0] += u[1]
    u[1:] = u[:-1] * w[0]
    return np.sum(u * x * w)


def bound_in_a_loop_and_written_behind(x, w, n):
    u = w * 2.0
    for t in range(n):
        if t != 1:
            x = u
    u[0] = 3.0 * x[1] * u[1]
    x[2] = u[0] + w[0]
    return np.sum(x * u * w)


def bound_to_what_the_loop_around_makes(x, w, n):
    for _ in range(3):
        y = 0.5 * x + w
        for k in range(n):
            if k == 2:
                continue
            x = y
            x += 0.25 * x * w
    return np.sum(x * x)


def a_parameter_becomes_a_result(x, w, n):
    x = clipped_or_new(w, x, n)
    for _ in range(2):
        x += w + 0.5 * x
    return np.sum(x * w)


def replaced_in_a_branch(b, n):
    a = b
    if n > 1:
        b[:] = 0.5 * b
        a = 0.5 * b
    a[0] = 0.5 * b[1]
    a[:] = 0.5 * a


def written_before_the_other_name_is_bound_again(x, w, n):
    replaced_in_a_branch(w, n)
    return np.sum(w * w) + np.sum(2.0 * x)


def new_and_old(p, w, c):
    return p + c * w, p, 2.0 * c


def one_name_takes_the_array_of_another_that_is_bound_anew(x, w, n):
    c = 0.25
    for _ in range(n):
        w, x, c = new_and_old(w, w, c)
    return np.sum(x * x) * c + np.sum(w)


def put_back_with_what_was_written_since(x, w, n):
    a = x
    if n > 1:
        a[0] = 0.5 * a[1]
    x[1] = 5.0 * x[0]
    if n > 2:
        a = 0.5 * x
    else:
        a = 2.0 * x
    return np.sum(a * x * w)


def a_result_that_is_new_on_one_path(x, w, n):
    u = picked(x, w, n)
    if n == 2:
        u = u * 2.0
    x[0] = 3.0 * x[1]
    w[1] = 0.5 * w[0]
    return np.sum(u * x * w)


def a_copy_of_a_part_takes_its_name(x, w, n):
    part = x[1:]
    part = part.copy()
    x[1] *= 0.5
    if n > 1:
        part[0] = 3.0 * w[0]
    return np.sum(part * w[1:]) + np.sum(x)


def a_copy_of_what_is_turned_takes_another_name(x, w, n):
    u = 0.5 * x
    v = x[::-1]
    v, u = u, v
    u = u.copy()
    u += n * w
    return np.sum(u * v) + 2.0 * np.sum(x)


def own(a):
    a = np.array(a)
    a[0] *= 3.0
    return a


def a_helper_copies_a_part(x, w, n):
    s = 0.0
    for t in range(n):
        part = x[t % 2 :]
        part = own(part)
        part[1] *= w[t % 3]
        s += np.sum(part)
    return s + np.sum(x * w)


def halved_with_the_last(a):
    last = a
    a[0] *= 0.5
    return a, last


def made_equal_after_it_was_written(x, w, n):
    u = x + w
    if n > 2:
        _, x = halved_with_the_last(x)
    else:
        x = w
    u, w = halved_with_the_last(w)
    return np.sum(u) + 2.0 * np.sum(x)


def bound_to_the_other(a, b, n):
    if n > 1:
        a = b
    return a


def what_the_caller_made_is_returned_on_a_path(x, w, n):
    u = 0.5 * x
    v = bound_to_the_other(x, u, n)
    v[0] *= 0.5
    return np.sum(v * w) + 2.0 * np.sum(u)


def what_the_caller_made_is_written_when_it_was_returned(x, w, n):
    u = 0.5 * x
    v = bound_to_the_other(w, u, n)
    u[1] = 3.0 * w[0]
    return np.sum(v * x) + np.sum(u)


def filled_with_the_last_known(known, last, n):
    for t in range(n):
        if np.isnan(known[t % 3]):
            known = last
    return known


def what_the_caller_of_the_caller_made(x, w, n):
    u = 0.25 * w
    v = held_between(x, u, n)
    v[2] += w[1]
    return np.sum(u * w) + np.sum(v)


def held_between(a, b, n):
    return bound_to_the_other(a, b, n)


def missing_data_is_taken_from_the_caller_s(x, w, n):
    last = w * 2.0
    gaps = x.copy()
    if n > 1:
        gaps[1] = np.nan
    best = filled_with_the_last_known(gaps, last, n)
    best[0] = 0.5 * best[2]
    return np.sum(last * x) + best[0]


RIGHT = [
    a_copy_of_a_part_takes_its_name,
    a_copy_of_what_is_turned_takes_another_name,
    a_helper_copies_a_part,
    made_equal_after_it_was_written,
    what_the_caller_made_is_returned_on_a_path,
    what_the_caller_made_is_written_when_it_was_returned,
    what_the_caller_of_the_caller_made,
    missing_data_is_taken_from_the_caller_s,
    put_back_with_what_was_written_since,
    a_result_that_is_new_on_one_path,
    one_name_takes_the_array_of_another_that_is_bound_anew,
    written_before_the_other_name_is_bound_again,
    a_result_is_read_where_what_it_may_be_is_written,
    a_result_is_written_where_what_it_may_be_is_read,
    one_of_three_results_is_written,
    bound_in_a_loop_and_written_behind,
    bound_to_what_the_loop_around_makes,
    a_parameter_becomes_a_result,
    missing_data_on_the_way,
    written_and_bound_again_in_a_loop,
    written_behind_a_branch,
    through_a_helper_in_a_loop,
    part_of_it_in_a_loop,
    exchanged_a_known_number_of_times,
]


def checked(f: Any, plain: Any, n: int) -> None:
    """Values, arrays and gradient of a call, against CPython."""
    x, w = np.array([1.5, 2.0, 0.75]), np.array([0.5, 1.25, 2.5])
    a, b = x.copy(), w.copy()
    value = plain(a, b, n)
    mine = x.copy(), w.copy()
    assert f.primal(*mine, n) == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(mine[0], a, rtol=1e-12)
    np.testing.assert_allclose(mine[1], b, rtol=1e-12)
    found = pyrev.grad(f)(x.copy(), w.copy(), n)
    for k in range(2):
        for place in range(3):
            step = np.zeros(3)
            step[place] = 1e-6
            ends = [
                plain(
                    *[
                        e.copy() + (step * s if j == k else 0.0)
                        for j, e in enumerate((x, w))
                    ],
                    n,
                )
                for s in (1, -1)
            ]
            slope = (ends[0] - ends[1]) / 2e-6
            assert found["xw"[k]][place] == pytest.approx(slope, rel=1e-6, abs=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("plain", FUNCTIONS, ids=lambda f: f.__name__)
def test_what_may_be_another_array_is_right_or_refused(plain: Any) -> None:
    try:
        f = pyrev.differentiable(plain, target="python")
    except pyrev.UnsupportedError as refusal:
        assert "P206" in str(refusal)
        return
    for n in range(5):
        checked(f, plain, n)


@pytest.mark.slow
@pytest.mark.parametrize(("plain", "target"), on_targets(RIGHT, 4), ids=named)
def test_what_is_written_while_it_is_another_array_is_written_there(
    plain: Any, target: str
) -> None:
    f = pyrev.differentiable(plain, target=target)
    for n in range(4):
        checked(f, plain, n)


@pytest.mark.slow
@pytest.mark.parametrize("first", [160 * TURN + k for k in range(0, 160, 40)])
def test_names_of_arrays_stand_for_what_they_stand_for_in_python(first: int) -> None:
    found = [aliases.judged(seed) for seed in range(first, first + 40)]
    assert [(s, d) for s, verdict, d in found if verdict == "wrong"] == []
    assert sum(verdict == "right" for _, verdict, _ in found) >= 24
