# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
# ruff: noqa: B007, B905, E731, UP018
"""Forms that few programs write mean what CPython makes of them, gradients included."""

from __future__ import annotations

import enum
import linecache
import math
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyrev
from pyrev.ir.nodes import Call, Const, Return, Var
from pyrev.parse import parse_block
from tests.driver.test_agreement import cell
from tests.tools.oracle import check

CASES: dict[str, tuple[Any, Callable[..., dict[str, Any]], tuple[str, ...]]] = {}


def case(make, outputs=""):
    """The arguments of the function under it, and the arrays that it writes."""

    def keep(f):
        CASES[f.__name__] = (f, make, tuple(outputs.split()))
        return f

    return keep


# ------------------------------------------------------------------ arrays made


@case(lambda m: dict(a=m(4), x=1.3))
def as_arrays(a, x):
    v = np.asarray(a)
    w = np.asarray([x, x * x, 2.0])
    return np.sum(v * v) * w[0] * w[1] + w[2]


@case(lambda m: dict(a=m(4)), "a")
def as_array_is_the_same_array(a):
    v = np.asarray(a)
    v[1] = v[0] * v[2]
    return a[1] * a[3]


@case(lambda m: dict(x=1.3))
def numbered(x):
    k = np.arange(1, 9, 2)
    h = np.arange(4, dtype=np.float64)
    return np.sum(k * x * x) + np.sum(np.sin(h * x))


@case(lambda m: dict(x=1.3, n=7))
def numbered_to_a_size(x, n):
    s = 0.0
    down = np.arange(n, 0, -2)
    for i in range(down.shape[0]):
        s += math.sin(x * down[i])
    return s


@case(lambda m: dict(x=1.3))
def literal_of_a_dtype(x):
    v = np.array([1, 2, 3], dtype=np.float64)
    v[1] = x * x
    return v[0] * v[1] * v[2] * x


@case(lambda m: dict(a=m(4)))
def dtype_as_a_text(a):
    v = np.zeros(4, dtype="float64")
    for i in range(4):
        v[i] = a[i] * a[i]
    return v.sum() * v[0]


@case(lambda m: dict(a=m(4)))
def dtype_of_an_expression(a):
    v = np.zeros(4, dtype=np.result_type(a * 2.0, np.float64))
    for i in range(4):
        v[i] = a[i] * a[i]
    return v.sum() * v[0]


@case(lambda m: dict(a=m(4), b=m(4)))
def as_the_dtype_of_another(a, b):
    v = a.astype(b.dtype)
    v[0] = v[0] * b[1]
    return np.sum(v * b) * a[0]


@case(lambda m: dict(a=m(3, 4)))
def transposed_by_a_method(a):
    t = a.transpose()
    return np.sum(t[1] * t[0]) * t[3, 2]


@case(lambda m: dict(a=m(3, 4)))
def axes_by_position(a):
    s = a.sum(0)
    t = np.sum(a, -1)
    u = np.mean(a, axis=(-1,))
    v = np.max(a * a, axis=(-2, -1))
    return s[0] * s[3] + t[1] * t[2] * u[0] + v * v


@case(lambda m: dict(a=m(3, 4)))
def every_axis_by_number(a):
    v = np.max(a, axis=(-2, -1))
    w = np.sum(a, axis=(0, 1))
    return v * w


@case(lambda m: dict(a=m(4)))
def counts_summed(a):
    c = np.cumsum(np.array([1, 2, 3, 4]))
    d = np.cumsum(a * a)
    return np.sum(d * c)


@case(lambda m: dict(x=1.3))
def means_of_known_lengths(x):
    whole = np.mean(np.arange(5) * x) * np.mean(np.ones(3))
    return whole * np.mean(np.array([x, 2.0]))


@case(lambda m: dict(a=m(4)))
def joined_with_nothing(a):
    v = np.concatenate((a, np.zeros(0), a * a))
    return np.sum(v * v)


@case(lambda m: dict(a=m(4)))
def stops_that_are_sizes(a):
    v = a[: a.shape[0] - 1]
    w = a[: a.shape[0] + 6]
    u = a[: a.shape[0] - 6]
    return np.sum(v * v) * np.sum(w * w) + np.sum(u * a[0])


@case(lambda m: dict(a=m(4, 3)))
def returned_with_an_axis_more(a):
    return a[None, :, 1]


@case(lambda m: dict(a=m(4, 3)), "a")
def returned_in_steps_with_an_axis_more(a):
    a[0, 0] = a[1, 1] * a[0, 2]
    return a[::2, None, 1:]


@pytest.mark.parametrize(
    "f", [returned_with_an_axis_more, returned_in_steps_with_an_axis_more]
)
def test_a_part_that_is_returned_is_a_view_with_axes_of_length_one_too(f: Any) -> None:
    own, other = arguments(f.__name__)["a"], arguments(f.__name__)["a"]
    got, expected = pyrev.differentiable(f, target="python")(own), f(other)
    assert got.base is not None and np.shares_memory(got, own)
    assert (got.shape, got.strides) == (expected.shape, expected.strides)


WEIGHTS = np.array([1.0, 2.0, 3.0, 4.0])
MATRIX = np.arange(12.0).reshape(3, 4)
this = sys.modules[__name__]


@case(lambda m: dict(a=m(4)))
def arrays_of_a_module(a):
    s = this.MATRIX[1, 2] * a[0] + np.sum(this.WEIGHTS * a)
    for i in range(this.MATRIX.shape[1]):
        s += this.WEIGHTS[i] * a[i] * a[i]
    return s * len(this.MATRIX)


def length(row):
    return len(row) * 0.5


def width(row):
    return row.shape[0] * 0.5


def size(row):
    return row.size * 0.5


@case(lambda m: dict(a=m(3, 4), x=0.3))
def rows_that_are_only_measured(a, x):
    return x * x * length(a[0]) * width(a[1]) * size(a[2])


@case(lambda m: dict(a=m(4).astype(np.float32)))
def like_an_array_of_its_own(a):
    u = a * a
    v = np.zeros_like(u)
    w = np.empty_like(v)
    for i in range(4):
        v[i] = u[i] * a[i]
        w[i] = v[i] * u[i]
    return np.sum(v * w)


@case(lambda m: dict(a=np.abs(m(4)) + 1.0))
def as_long_as_one_whose_size_is_data(a):
    u = np.zeros(int(a[0]) + 3)
    v = np.zeros(len(u))
    s = 0.0
    for i in range(len(v)):
        u[i] = a[i % 4] * a[1]
        if u[i] > 1.0:
            v[i] = u[i] * u[i]
        else:
            v[i] = math.sqrt(a[2])
    for i in range(len(u) - 1):
        s += v[i] * u[i + 1]
    return s


@case(lambda m: dict(a=np.abs(m(4)) + 1.0))
def elements_that_no_proof_tells_apart(a):
    u = np.zeros(20)
    s = 0.0
    for i in range(4):
        u[i * i] = math.sqrt(a[i])
        u[i * i] = u[i * i] * a[i]
    for i in range(4):
        s += u[i * i] * a[i]
    return s


@case(lambda m: dict(x=1.3, a=m(3)))
def unit_matrices(x, a):
    e = np.eye(3) * x
    i = np.identity(3)
    return np.sum(e @ a) * np.sum(i[0] * a) * i[1, 1] + np.sum(np.eye(3))


@case(lambda m: dict(a=m(3)))
def array_of_an_array(a):
    b = np.array(a)
    b[0] = a[1] * a[2]
    return np.sum(b * a)


@case(lambda m: dict(a=m(3).astype(np.float32), x=0.3))
def promoted_with_a_literal(a, x):
    b = np.zeros(3, dtype=np.result_type(a, 1.0))
    c = np.zeros(3, dtype=np.result_type(a, 1.0, x))
    for i in range(3):
        b[i] = a[i] * a[i]
        c[i] = b[i] * a[i]
    return np.sum(b * c)


def promoted_view(a, x):
    v = a[1:]
    s = np.zeros(2, dtype=np.result_type(v, 1.0))
    s[0] = x * v[0]
    return s[0] * s[0]


def test_a_view_is_promoted_with_the_dtype_of_its_array() -> None:
    text = pyrev.differentiable(promoted_view).adjoint.source
    assert "np.zeros(2, dtype=a.dtype)" in text


@case(lambda m: dict(x=np.float32(0.3), n=4))
def filled_with_a_number(x, n):
    v = np.full(n, x)
    for i in range(n):
        v[i] = v[i] * x * (i + 1)
    return np.sum(v * v)


def product_of_two(r):
    return r[0] * r[1]


@case(lambda m: dict(a=m(3, 4)))
def rows_given_to_a_helper(a):
    return product_of_two(a[0]) * product_of_two(a[1])


# ------------------------------------------------------------------ expressions


@case(lambda m: dict(a=m(4), x=1.3))
def with_a_plus(a, x):
    v = +a
    return np.sum(v * v) * +x


def scaled(v, k=-2.0):
    return k * v * v


@case(lambda m: dict(x=1.3))
def negative_default(x):
    return scaled(x) + scaled(x * x)


@case(lambda m: dict(x=1.3, y=0.4, n=0))
def one_or_the_other(x, y, n):
    a = n or y * y
    b = x and x * y
    return a * b + (x or y) * (y and 2.0)


@case(lambda m: dict(M=m(3, 3), u=m(3)))
def product_in_place(M, u):
    N = M * 1.0
    N @= M
    return np.sum(N @ u)


@case(lambda m: dict(a=m(5)), "a")
def slices_together(a):
    a[0:2], a[3] = a[2:4] * a[0], a[1] * a[4]


@case(lambda m: dict(a=m(5)), "a")
def a_slice_and_what_is_read_of_it(a):
    b = np.ones(2) * a[2]
    a[0:2], a[3] = b, a[1] * a[4]
    a[3:], (a[0], a[1]) = a[1:3] * a[4], a[3:] * a[4]


@case(lambda m: dict(a=m(6)), "a")
def slices_that_see_the_other(a):
    a[:3], a[3:] = a[3:], a[:3]
    return a[0] * a[4]


@case(lambda m: dict(a=m(6)), "a")
def slices_exchanged(a):
    t = a * a
    a[:3], a[3:] = t[3:] * a[0], t[:3] * a[5]


@case(lambda m: dict(a=m(5)), "a")
def mask_of_what_is_written(a):
    a[a > 0.0] *= 2.0
    a[a < 0.5] = 0.25 * a[0]
    return np.sum(a * a)


@case(lambda m: dict(a=m(6)), "a")
def masks_that_read_other_elements(a):
    a[a[::-1] > 0.2] = 0.5 * a[0]
    a[1:][a[:-1] > 0.1] *= 0.5
    a[a[::-1] < 0.3] += a[1] * a[2]
    return a[0] * a[1]


@case(lambda m: dict(a=m(3, 4)), "a")
def mask_of_the_rows_before(a):
    a[1:][a[:-1] > 0.2] *= a[0, 0]
    return a[0, 0] * a[1, 1]


@case(lambda m: dict(a=m(2, 3), b=m(3)), "a")
def more_axes_on_the_right(a, b):
    a[0] = (b * b)[None, :]
    return np.sum(a * a)


@case(lambda m: dict(a=m(2, 3), x=0.7), "a")
def extra_axes_of_one(a, x):
    v = a[0][None, :]
    a[1, :] = v * x
    return np.sum(a * a)


@case(lambda m: dict(a=m(5), i=2))
def selected_by_temporaries(a, i):
    b = np.where(a[i] > 0.0, a, a * a)
    return np.sum(b * b)


def first_and_rest(a):
    a[0] = a[0] * a[1]
    return a[0]


@case(lambda m: dict(a=m(4)), "a")
def held_before_a_call(a):
    return (np.sum(a[1:]) + a[0]) * first_and_rest(a)


@case(lambda m: dict(a=m(4)), "a")
def an_array_before_a_call_that_writes_it(a):
    b = a[1:] * first_and_rest(a)
    return np.sum(b * b)


@case(lambda m: dict(a=m(5)), "a")
def a_value_before_a_call_that_writes_what_it_is_made_of(a):
    b = (a[1:] * a[0]) * first_and_rest(a)
    c, d = a * a, first_and_rest(a)
    e = np.where(a > 0.0, a, a * a) + first_and_rest(a) * a
    return np.sum(b * b) * np.sum(c) * d * np.sum(e)


@case(lambda m: dict(a=m(4)))
def truths_of_sizes_count(a):
    t = a.shape[0] > 2
    u = a.shape[0] > 3
    return a[0] * (t + u)


def with_signs(v, k=+2.0, *, m=-+-3, n=-True):
    return k * v * v + m * v * n


@case(lambda m: dict(x=0.3))
def defaults_with_signs(x):
    def inside(v, k=+2.0, *, m=-+-3, n=-True):
        return k * v * v + m * v * n

    return with_signs(x) * inside(x)


DOUBLE, SINGLE, WHOLE = np.float64(2.5), np.float32(1.5), np.int64(2)


def strong(v, k=DOUBLE, m=SINGLE, n=WHOLE):
    return v * k * m * n


@case(lambda m: dict(a=m(4).astype(np.float32)))
def defaults_that_do_not_adapt(a):
    return strong(a) * strong(a[0])


@case(lambda m: dict(a=m(5), n=3))
def truth_of_a_size(a, n):
    s = 0.0
    if a.shape[0] and n:
        s = a[0] * a[1]
    k = 2 if a.shape[0] else 0
    return s * a[k] * (a.size and 2.0)


@case(lambda m: dict(a=m(4), x=0.3))
def one_array_or_another(a, x):
    y = a * x if x > 0.5 else a * a
    return y[0] * y[3]


@case(lambda m: dict(a=m(4), x=0.3))
def a_number_for_an_array(a, x):
    y = np.where(x > 0.0, a * x, 2.0)
    return y[0] * y[3]


@case(lambda m: dict(a=m(4), x=0.3), "a")
def written_through_a_transposed(a, x):
    a.T[0], x = x, a[1]
    return x * x


@case(lambda m: dict(a=m(4), n=-3))
def no_elements(a, n):
    v = np.zeros(max(n, 0))
    w = np.zeros(max(n + 6, 0))
    w[:] = a[0] * a[1]
    return np.sum(v) + np.sum(w * w)


@case(lambda m: dict(a=m(5), x=0.3), "a")
def a_number_into_a_slice_and_what_is_read_of_it(a, x):
    a[0:2], x, a[4] = x * x, a[1] * a[2], a[0] * x
    return x * a[3]


@case(lambda m: dict(a=m(4), x=0.3))
def default_of_a_helper_inside(a, x):
    def powered(v, k=-2.0, *, more=-1.0):
        return k * v * v + more * v

    return powered(a[0]) * powered(x, more=2.0)


def far_off(x, n):
    if x > 1.0:
        return not n > 2
    for k in range(n):
        if k > 2:
            return x > 0.0 and x < 3.0
    return n > 1 or not x < 0.0


@case(lambda m: dict(a=m(4), n=2))
def a_helper_that_returns_truths(a, n):
    s = 0.0
    for i in range(4):
        if far_off(a[i], n + i):
            s += a[i] * a[i]
    return s


@case(lambda m: dict(a=m(6), n=5))
def truths_that_are_constants(a, n):
    t = True and n > 3
    u = False or n > 7
    s = 0.0
    if t and not u:
        s = a[0] * a[1]
    return s * (t + True) + a[2] * (u or True)


@case(lambda m: dict(x=0.3, y=0.7, n=1))
def a_number_or_a_truth(x, y, n):
    t = x * y
    if n > 0:
        t = x > 0.0 and y > 0.0
    u = x * y
    if n > 0:
        u = x < 0.0 or y * y
    return t * x * u


# ------------------------------------------------------------------ loops


@case(lambda m: dict(a=m(4), i=1))
def a_parameter_counts(a, i):
    s = 0.0
    for i in range(3):
        s += a[i] * (s + 1.0)
    return s * i


@case(lambda m: dict(a=m(4), i=1, n=0))
def a_parameter_counts_nothing(a, i, n):
    s = a[0]
    for i in range(n):
        s += a[i] * (s + 1.0)
    return s * i


@case(lambda m: dict(a=m(4), b=m(4)))
def pairs_of_reversed(a, b):
    s = 0.0
    for k, (u, v) in enumerate(zip(reversed(a), reversed(range(9)))):
        s += u * v * k * (s + 1.0)
    for u in reversed((1.0, 2.0)):
        s += u * b[0] * (s + 1.0)
    return s


@case(lambda m: dict(a=m(4)), "a")
def leaves_by_break_or_return(a):
    while True:
        if a[0] > 0.0:
            return a[0] * a[1]
        a[1] *= a[2]
        break
    while True:
        a[2] *= 2.0
        if a[3] < a[2]:
            break
        if a[2] > 40.0:
            return a[2] * a[2]
        a[3] *= 0.5
    return a[1] * a[2]


@case(lambda m: dict(a=m(6), n=4))
def continues_from_an_else(a, n):
    s = 0.0
    for i in range(n):
        for j in range(n):
            if a[j] > 0.9:
                break
            s += a[i] * a[j]
        else:
            if s > 0.3:
                continue
            s *= 1.3
        s += a[i] * 3.0
    return s


def two_ways(x, n):
    if n > 0:
        if x > 0.0:
            x = x * x
        else:
            return x * 3.0
    return x * 2.0


@case(lambda m: dict(x=0.7, n=1))
def paths_that_join(x, n):
    return two_ways(x, n) * two_ways(-x, n) * two_ways(x, n - 1)


@case(lambda m: dict(a=m(4), b=m(4), c=m(4), n=3), "a b c")
def two_pairs_change_places(a, b, c, n):
    d = a * 1.0
    for _ in range(n):
        a[0] += b[1] * d[0]
        a, b = b, a
    for _ in range(n):
        c[0] += d[1] * a[0]
        c, d = d, c
    return np.sum(c * d * a)


def least(a, n):
    s = a[0]
    for i in range(n):
        s = min(s, a[i])
    return s


@case(lambda m: dict(a=m(6)), "a")
def a_test_of_statements_and_a_break(a):
    s = 0.0
    k = 0
    while least(a, 4) < 2.0:
        a[k % 6] += 0.7 + 0.1 * a[k % 6]
        s += a[k % 6] * a[(k + 1) % 6]
        k += 1
        if k > 11:
            break
        s *= 1.1
    return s


@case(lambda m: dict(a=m(6), n=4), "a")
def a_test_of_statements_and_a_return(a, n):
    s = 0.0
    k = 0
    while least(a, 4) < 2.0:
        a[k % 6] += 0.7 + 0.1 * a[k % 6]
        s += a[k % 6] * a[(k + 1) % 6]
        k += 1
        if k > n:
            return s * a[0]
        s *= 1.1
    return s


@case(lambda m: dict(a=m(4), n=1), "a")
def every_path_returns_nothing(a, n):
    if n > 0:
        a[0] *= 2.0
        return
    else:
        a[1] *= a[0]
        return


@case(lambda m: dict(a=m(4), n=1), "a")
def every_path_of_a_helper_returns_nothing(a, n):
    every_path_returns_nothing(a, n)
    every_path_returns_nothing(a, n - 1)
    a[2] *= a[1] * a[0]


@case(lambda m: dict(a=m(3), n=2, x=0.7))
def backwards_in_steps_that_are_data(a, n, x):
    s = 0.0
    for i in reversed(range(0, 3, n)):
        s += a[i] * x * (s + 1.0)
    return s


@case(lambda m: dict(a=m(6)))
def leaves_from_inside_a_branch(a):
    s = 0.0
    for i in range(6):
        if a[i] > 0.0:
            s += a[i]
            if s > 2.0:
                break
        s += a[i] * a[i]
        if s > 1.0:
            if a[i] > 0.5:
                break
            s += 1.0
        s *= 1.1
    return s


@case(lambda m: dict(a=m(6), n=3))
def truths_of_truths(a, n):
    s = 0.0
    i = 0
    while True:
        if i >= 6:
            break
        far = (i > n or not i < 5) and i != 4
        near = not far
        if near and not (far or i == 1):
            s += a[i] * a[i]
        elif far:
            s *= a[i]
        i += 1
    return s


@case(lambda m: dict(a=m(6)))
def a_bound_name_on_both_branches(a):
    s = 0.0
    for i in range(5):
        s += a[i] * a[i]
    if s > 1.0:
        i = 0
    else:
        i = 1
    return s * a[i]


@case(lambda m: dict(a=m(4)))
def turned_in_a_loop_without_iterations(a):
    u = a * 2.0
    v = a * a
    for k in range(3, 3):
        u, v = v, u * v
    for k in range(1):
        u, v = v, u
    return np.sum(u * u * v)


@case(lambda m: dict(a=m(5), n=2))
def counted_from_a_name(a, n):
    s = 0.0
    for i, x in enumerate(a, n * 2):
        s += i * x * x
    for i, x in enumerate(a, start=n):
        s += i * x * s
    return s


@case(lambda m: dict(a=m(6)))
def both_branches_leave(a):
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i] * a[i]
        if s > 1.5:
            break
        else:
            s *= 1.1
            continue
        s += 100.0
    return s


@case(lambda m: dict(a=m(6)))
def else_leaves(a):
    s = 0.0
    for i in range(a.shape[0]):
        if a[i] < 3.0:
            s += a[i] * s
        else:
            break
        s += a[i] * a[i]
        if s < 2.0:
            s += 0.1 * a[i]
        else:
            return s * a[0]
        s *= 1.01
    return s


@case(lambda m: dict(a=m(6)))
def else_returns(a):
    s = 1.0
    if a[0] < 10.0:
        s = s * a[1]
    else:
        return a[2] * a[3]
    for i in range(6):
        s += a[i] * a[i]
    return s


def steps_back(a, n):
    if n > 3:
        if a[0] > 0.0:
            return a[0] * a[1]
        else:
            return a[1] * a[1]
    while True:
        n += 1
        if n > 5:
            return a[n % 3] * n


@case(lambda m: dict(a=m(6), n=5, k=2))
def always_returns(a, n, k):
    return steps_back(a, n) * steps_back(a, k)


@case(lambda m: dict(a=m(6), n=4))
def while_with_a_break_and_names(a, n):
    u = a * 1.0
    v = a * 2.0
    t = 0
    while t < n and u[0] < 50.0:
        u, v = v, u * v
        t += 1
        if v[1] > 20.0:
            break
    return np.sum(u * v)


@case(lambda m: dict(a=m(6), k=3), "a")
def step_that_changes(a, k):
    s = 0.0
    for i in range(0, 6, k):
        k = k + 1
        a[i] = a[i] * a[i] * k
        s += a[i]
    return s


@case(lambda m: dict(a=m(6)))
def ellipsis_and_pass(a):
    ...
    s = 0.0
    for i in range(6):
        ...
        s += a[i] * a[i]
    return s


@case(lambda m: dict(a=m(6), n=2))
def logic_of_names(a, n):
    s = 0.0
    on = True
    off = not on
    for i in range(6):
        if not off and (on and i > n):
            s += a[i] * a[i]
        on = on and (s < 100.0)
    return s


def nothing(a):
    a[0] = a[0] * a[1]
    return None


@case(lambda m: dict(a=m(3)), "a")
def helper_returns_none(a):
    nothing(a)
    return a[0] * a[2]


@case(lambda m: dict(a=m(6)))
def quotients_as_subscripts(a):
    s = 0.0
    for i in range(12):
        s += a[i // 2] * a[i % 3] * (i + 1)
    return s


@case(lambda m: dict(a=m(6), step=-2))
def steps_of_either_sign(a, step):
    s = 0.0
    for i in range(5, 0, step):
        s += a[i] * a[i - 1]
    return s


@case(lambda m: dict(a=m(2, 3)))
def shape_unpacked_and_counted(a):
    n, m = a.shape
    s = 0.0
    for k in range(a.shape[-1]):
        s += a[n - 1, k] * a[0, k] * len(a.shape)
    return s * m


@case(lambda m: dict(x=0.3))
def infinity_as_a_text(x):
    least = float("inf")
    for k in range(3):
        least = min(least, (x - k) * (x - k))
    return least


def nested(count):
    """As many loops inside each other, each up to the index of the one around."""
    lines, stop = ["def nested(a):", "    v, s = a[1:], 0.0"], "v.shape[0]"
    for k in range(count):
        lines.append(" " * 4 * (k + 1) + f"for i{k} in range({stop}):")
        stop = f"i{k} + 1"
    lines.append(" " * 4 * (count + 1) + f"s += v[i{count - 1}] * v[i0]")
    return cell("\n".join([*lines, "    return s * s"]))["nested"]


case(lambda m: dict(a=m(3)))(nested(14))


# ------------------------------------------------------------------ deep ones


def deep(name, head, parameters="x, y"):
    """A function whose text is nested too deep for one statement."""
    names = cell(f"import math\ndef {name}({parameters}):\n{head}")
    return case(lambda m: dict.fromkeys(parameters.split(", "), 0.8))(names[name])


MANY = " + ".join(f"x * {k}.5" for k in range(40))
deep(
    "deep_and", f"    if x > 0.0 and {MANY} > 1.0:\n        return x * y\n    return y"
)
deep("deep_or", f"    if x < 0.0 or {MANY} > 1.0:\n        return x * y\n    return y")
deep("deep_truth", f"    t = x > 0.0 and {MANY} > 1.0\n    return x * y * t")
deep("deep_numbers", f"    t = x and {MANY}\n    return y * (t or {MANY})")
deep(
    "deep_test_of_numbers", f"    if x and {MANY}:\n        return x * y\n    return y"
)
deep("deep_beside", f"    return math.sin(x * y) * ({MANY}) + math.cos(y) * ({MANY})")


def arguments(name):
    rng = np.random.default_rng(7)
    return CASES[name][1](lambda *shape: rng.standard_normal(shape) + 0.1)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_rare_form_is_what_it_is_in_cpython(
    name: str, rng: np.random.Generator
) -> None:
    plain, _, outputs = CASES[name]
    f = pyrev.differentiable(plain, target="python")
    check(f, plain, arguments(name), outputs, rng)


# ------------------------------------------------------------------ nested deep


def _deep(text):
    """A function of `text`, in which ``{}`` is an expression of forty levels."""
    nested = "(0.2 + x[0] * " * 40 + "x[2]" + ")" * 40
    lines = ["def f(x):\n", *(f"    {t}\n" for t in text.format(nested).split("; "))]
    file = f"<deep {len(CASES)}>"
    linecache.cache[file] = (0, None, lines, file)
    space: dict[str, Any] = {"math": math}
    exec(compile("".join(lines), file, "exec"), space)
    return space["f"]


for k, text in enumerate(
    [
        "s = 0.0; if x[1] > 9.0 or {} > 0.1: s = x[3] * x[1]; return s",
        "s = x[1]; if x[1] < 9.0 and {} > 0.1: s = x[3] * x[1]; return s",
        "return math.sin(x[1]) * x[3] + {}",
    ]
):
    f = _deep(text)
    f.__name__ = f"nested_deep_{k}"
    case(lambda m: dict(x=np.array([0.4, 0.7, 1.1, 0.3])))(f)


# ------------------------------------------------------------------ names and rows


def length_of(row):
    return len(row)


@case(lambda m: dict(x=m(3, 2)))
def a_row_that_is_measured(x):
    s = 0.0
    for i in range(len(x)):
        s += x[i, 0] * length_of(x[i])
    return s


@case(lambda m: dict(x=np.array([0.4, 1.7, 0.2, 1.3])))
def elements_chosen_by_others(x):
    y = x * 1.0
    y[y[::-1] > 1.0] *= 2.0
    return y[0] + y[1] * y[3] - y[2]


TABLES = types.ModuleType("tables")
TABLES.weights = np.array([0.2, -0.4, 0.7])  # type: ignore[attr-defined]


@case(lambda m: dict(x=m(3)))
def an_array_of_a_module_is_measured(x):
    s = 0.0
    for i in range(len(TABLES.weights)):
        s += x[i] * TABLES.weights[i]
    return s


def bumped(x):
    x[0] += 1.0
    return x[1]


def product(a, b):
    return a[0] * b


@case(lambda m: dict(x=m(3)), "x")
def an_argument_is_evaluated_before_the_next_changes_it(x):
    return product(x * 2.0, bumped(x))


def square(y):
    s = 0.0
    for i in range(len(y)):
        s += y[i] ** 2
    return s


@case(lambda m: dict(x=np.array([0.5, 1.0, 2.0])))
def names_change_places_until_a_helper_says_so(x):
    a = x * 1.0
    b = x * 2.0
    k = 0
    while square(a) < 1e3:
        a, b = b, a
        b[0] *= 3.0
        k += 1
        if k > 5:
            break
    return a[0] + b[1] * k


def turned_five_times(y, z):
    for _ in range(5):
        y, z = z, y
        y[0] += z[1]
    return y[0]


@case(lambda m: dict(x=np.array([0.5, 1.0, 2.0])))
def names_change_places_until_a_helper_has_changed_its_own(x):
    a = x * 1.0
    b = x * 2.0
    k = 0
    while k < 9 and square(a) < turned_five_times(a, b) * 7.0:
        a, b = b, a
        b[0] *= 3.0
        k += 1
    return a[0] + b[1]


@case(lambda m: dict(x=m(3), y=m(4), n=5))
def pairs_of_two_lengths_change_places(x, y, n):
    a, b, c = x * 1.0, x * 2.0, x * 3.0
    p, q = y * 1.0, y * 2.0
    k = 0
    while k < n:
        a, b, c, p, q = b, c, a, q, p
        a[0] += 1.0
        q[1] *= a[0]
        k += 1
    return a[0] + b[1] * p[0] - 3.0 * q[1] + c[0] * p[3]


@case(lambda m: dict(x=m(2, 3), y=m(4), c=1.0))
def pairs_of_two_ranks_change_places(x, y, c):
    a, b = x * 1.0, x * 2.0
    p, q = y * 1.0, y * 2.0
    for _ in range(3):
        if c > 0.5:
            a, b = b, a
            break
        p, q = q, p
    return a[0, 0] * p[0] + b[1, 1] * q[3]


@case(lambda m: dict(x=m(4), y=m(4)))
def three_assignments_that_change_nothing_in_the_end(x, y):
    for _ in range(3):
        kept = y
        y = x
        x = kept
        y, x = x, y
    return x[0] * y[1]


@case(lambda m: dict(x=m(4), y=m(4)))
def a_name_gets_another_array_and_its_own_again(x, y):
    for _ in range(2):
        x, y = y, x
        y = x
    return y[0] * y[1]


@case(lambda m: dict(x=m(4)))
def what_a_loop_runs_over_changes_places(x):
    y = x * 2.0
    z = x * 3.0
    s = 0.0
    for r in y:
        y, z = z, y
        s += r * y[0]
        y[1] *= r
    return s


@case(lambda m: dict(x=m(4), n=3))
def two_names_get_one_array(x, n):
    a = x * 1.0
    b = a
    c = x * 2.0
    for _ in range(n):
        a, b, c = c, c, a
    return a[0] + b[1] * c[0]


@case(lambda m: dict(x=m(4), c=1.0))
def views_change_places_under_a_test(x, c):
    a = x * 1.0
    b = x * 2.0
    for k in range(3):
        if c > k:
            a, b = b[::-1], a[::-1]
    return a[0] + b[1] * 3.0


@case(lambda m: dict(x=m(4), c=1.5))
def bound_on_every_path_behind(x, c):
    a = x * 1.0
    b = x * 2.0
    for k in range(3):
        if c > k:
            a = b * 2.0
        if c > 1.0:
            a = x * 3.0
        else:
            a = x * 4.0
    return a[0]


@case(lambda m: dict(x=np.array([1.4, 0.7, 1.1]), c=1.5))
def read_by_the_head_of_a_loop_behind(x, c):
    a = x * 1.0
    b = x * 2.0
    s = 0.0
    for k in range(3):
        if c > k:
            a = b * 2.0
        for v in a:
            s += v * v
        if c > k + 1.0:
            a = b * 0.5
        while s < a[0]:
            s += 1.0
        a = x * 3.0
        if c > k - 1.0:
            a = b * 0.7
        for j in range(2):
            s += a[j]
        a = x * 2.0
    return s


# ------------------------------------------------------------------ what is refused


class Unhashable:
    """What `in` cannot look for in a table."""

    __hash__ = None  # type: ignore[assignment]

    def __call__(self, x: float) -> float:
        return x


class Dtypeless:
    """What NumPy asks for a dtype in vain."""

    dtype = "f8"


class Level(enum.IntEnum):
    LOW = 1


def leveled(v, k=Level.LOW):
    return v * k


UNHASHABLE = Unhashable()
NARROW = np.float16(1.0)


def helper(x):
    return x


REFUSED: dict[Callable[..., Any], str] = {
    lambda a, x: np.argmin(a, axis=2)[0, 0] + a[0, 0, 0]: "P108",
    lambda a, x: np.cumsum(a)[0] * a[0, 0]: "P108",
    lambda a, x: np.concatenate(a)[0]: "P108",
    lambda a, x: np.dot(a): "P108",
    lambda a, x: a.astype(UNHASHABLE)[0]: "P107",
    lambda a, x: UNHASHABLE(x): "P107",
    lambda a, x: undefined(x): "P107",  # type: ignore[name-defined]  # noqa: F821
    lambda a, x: (lambda v: v)(x): "P107",
    lambda a, x: x * float("abc"): "P106",
    lambda a, x: x + b"a": "P106",
    lambda a, x: x + (lambda v: v): "P106",
    lambda a, x: x + helper: "P113",
    lambda a, x: x + int: "P113",
    lambda a, x: x + NARROW: "P113",
    lambda a, x: np.full_like(a)[0]: "P208",
    lambda a, x: np.array(a, dtype=np.float16)[0]: "P208",
    lambda a, x: np.array([1.0, x], dtype=UNHASHABLE)[0]: "P208",
    lambda a, x: np.arange()[0]: "P208",
    lambda a, x: np.arange(3, dtype=UNHASHABLE)[0]: "P208",
    lambda a, x: np.arange(3, dtype=a.dtype)[1] * x: "P208",
    lambda a, x: np.linspace(0)[0] * x: "P208",
    lambda a, x: np.eye()[0, 0]: "P208",
    lambda a, x: np.copy(2.0) * x: "P208",
    lambda a, x: a[True]: "P210",
    lambda a, x: np.dtype(a.dtype) * x: "P107",
    lambda a, x: np.sum(a.shape): "P209",
    lambda a, x: x + ...: "P106",
    lambda a, x: np.zeros(3, dtype="no dtype")[0] * x: "P208",
    lambda a, x: np.zeros(3, dtype="f8, (")[0] * x: "P208",
    lambda a, x: np.zeros(3, dtype="2,,f8")[0] * x: "P208",
    lambda a, x: np.zeros(3, dtype=">f8")[0] * x: "P208",
    lambda a, x: np.zeros(3, dtype=Dtypeless)[0] * x: "P208",
    lambda a, x: leveled(x): "P108",
}


def indexed_by_a_bool(a, on: bool):
    return a[on]


def shape_of_a_number(a, x: float):
    return (x * 2.0).shape[0] * a[0]  # type: ignore[attr-defined]


def numbered_twice(a, x):
    for i, v in enumerate(a, 1, 2):
        x += v
    return x


def a_pair_of_three(a, x):
    for p, v in zip(a, a, a):
        x += p * v
    return x


def a_range_in_steps_of_nothing(a, x):
    for i, k in enumerate(range(0, 3, 0)):
        x += k
    return x


def product_that_is_written_beside(a, x):
    (a * 2)[0], x = 1.0, 2.0
    return x * a[1]


def values_into_two_targets_at_once(a, x):
    a[0] = (a[1], a[2]) = x


def product_that_is_written(a, x):
    (a * 2)[0] = x
    return a[1]


def part_of_a_product_that_is_written(a, x):
    (a * 2)[0:2] = x
    return a[1]


def two_of_what_is_not_known(a, x):
    x, y = undefined(x)  # type: ignore[name-defined]  # noqa: F821
    return x


def product_that_is_masked(a, x):
    (a * 2)[a > 0.0] = x
    return a[1]


def rows_of_unlike_lengths(a, x):
    for u, v in ((1.0, 2.0), (3.0,)):
        x += u * v
    return x


def a_number_backwards(a, x):
    for u in reversed(3.0):
        x += u
    return x


def numbers_of_two_kinds_beside(a, x):
    for u, v in zip(a, (1.0, 2)):
        x += u * v
    return x


def pairs_backwards(a, x):
    for u, v in reversed(zip(a, a)):  # type: ignore[call-overload]
        x += u * v
    return x


def numbered_backwards(a, x):
    for k, v in reversed(enumerate(a)):  # type: ignore[call-overload]
        x += k * v
    return x


def backwards_twice(a, x):
    for v in reversed(reversed(a)):
        x += v
    return x


def counted_backwards_twice(a, x):
    for k in reversed(reversed(range(3))):  # type: ignore[call-overload]
        x += a[k]
    return x


def spread_over_names(a, x):
    *u, v = a * x
    return u[0] * v


def in_a_set(a, x):
    for k in range(4):
        if k in {1, 2}:
            x += a[k]
    return x


def named_on_the_way(a, x):
    return (g := leveled)(x) * g(x)


def imported_inside(a, x):
    from math import pi

    return pi * x


def default_that_is_no_number(a, x):
    def inside(v, k=-"a"):  # type: ignore[operator]
        return v * k

    return inside(x)


def default_that_is_complex(a, x):
    def inside(v, k=-2j):
        return v * k

    return inside(x)


def either(x):
    if x > 0.0:
        k = int(x) + 1
        return np.ones(k) * x
    j = int(-x) + 2
    return np.zeros(j) + x


def lengths_that_no_path_knows_before(a, x):
    return np.sum(either(x))


def crossing(u, v, n):
    for _ in range(n):
        u[0] += v[1]
        u, v = v, u
    return u


def a_name_of_what_may_be_another(a, x):
    u, v, w = a * 1.0, a * 2.0, a * 3.0
    if x > 1.0:
        t = crossing(u, v, int(x))
        w = t
        x += t[0]
    return np.sum(w * u * v) + x


def turned(p, q, seen, n):
    for _ in range(n):
        p[0] += seen() * q[1]
        p, q = q, p
    return p[0]


def seen_by_a_function_that_is_passed(a, x):
    u, v = a * 1.0, a * 2.0

    def seen():
        return u[0]

    return turned(u, v, seen, int(x))


def turned_while_a_loop_runs_over_it(a, x):
    u, v = a * 1.0, a * 2.0
    for e in u:
        x += e
        if x > 0.1:
            u, v = v, u
    return x


def calls_itself(a, x):
    return calls_itself(a, x - 1.0)


REFUSED |= {
    indexed_by_a_bool: "P210",
    shape_of_a_number: "P209",
    numbered_twice: "P111",
    a_pair_of_three: "P112",
    a_range_in_steps_of_nothing: "P111",
    values_into_two_targets_at_once: "P112",
    product_that_is_written: "P112",
    product_that_is_written_beside: "P112",
    part_of_a_product_that_is_written: "P112",
    two_of_what_is_not_known: "P107",
    product_that_is_masked: "P112",
    rows_of_unlike_lengths: "P208",
    a_number_backwards: "P111",
    numbers_of_two_kinds_beside: "P111",
    pairs_backwards: "P111",
    numbered_backwards: "P111",
    backwards_twice: "P111",
    counted_backwards_twice: "P111",
    spread_over_names: "P106",
    in_a_set: "P106",
    named_on_the_way: "P106",
    imported_inside: "P102",
    default_that_is_no_number: "P108",
    default_that_is_complex: "P106",
    turned_while_a_loop_runs_over_it: "P206",
    calls_itself: "P109",
}


#: What a helper has that does not go with how it is called.
REFUSED_IN_HELPERS: dict[Callable[..., Any], tuple[str, Callable[..., Any]]] = {
    lengths_that_no_path_knows_before: ("P110", either),
    seen_by_a_function_that_is_passed: ("P206", turned),
}


@pytest.mark.parametrize("plain", REFUSED_IN_HELPERS, ids=lambda f: f.__name__)
def test_what_a_helper_does_is_refused_where_it_does_it(
    plain: Callable[..., Any],
) -> None:
    with pytest.raises(pyrev.UnsupportedError) as caught:
        pyrev.differentiable(plain, target="python")
    code, helper = REFUSED_IN_HELPERS[plain]
    first = helper.__code__.co_firstlineno
    lines = [n for *_, n in helper.__code__.co_lines() if n is not None]
    found = [f for f in caught.value.findings if f.code == code]
    assert found and all(first <= f.at.line <= max(lines) for f in found)


@pytest.mark.parametrize("plain", REFUSED, ids=[f"{k}" for k in range(len(REFUSED))])
def test_a_form_outside_the_language_is_refused_where_it_stands(
    plain: Callable[..., Any],
) -> None:
    with pytest.raises(pyrev.UnsupportedError) as caught:
        pyrev.differentiable(plain, target="python")
    codes = {finding.code for finding in caught.value.findings}
    assert REFUSED[plain] in codes
    first = plain.__code__.co_firstlineno
    last = max(n for *_, n in plain.__code__.co_lines() if n is not None)
    assert all(first <= f.at.line <= last for f in caught.value.findings)


def test_a_function_that_calls_itself_while_it_is_made_is_refused() -> None:
    with pytest.raises(pyrev.UnsupportedError) as caught:

        @pyrev.differentiable
        def inside(a):
            return a[0] * inside(a)

    assert [finding.code for finding in caught.value.findings] == ["P109"]


def test_a_number_has_no_shape() -> None:
    f = pyrev.differentiable(lambda a, x: (x * 2.0).shape[0] * a[0], target="python")
    with pytest.raises(pyrev.ArgumentError, match="but `x` has 0 axes"):
        f(np.ones(3), 0.5)


def test_bare_statements_may_return_and_know_no_functions_around_them() -> None:
    assert parse_block("b = a[i]\nreturn b, 2 * b")[-1] == Return(
        (Var("b"), Call("*", (Const(2), Var("b")))), single=False
    )
    with pytest.raises(pyrev.UnsupportedError) as caught:
        parse_block("b = a.sorted(c)")
    assert [finding.code for finding in caught.value.findings] == ["P107"]
    assert parse_block("return None") == ()


def first_row_times(v, p, alpha=0.2):
    acc = p[0]
    return alpha * acc


def a_row_or_a_number(u, alpha):
    prev = first_row_times(0.5, u * 1.0, alpha)
    return np.sum(prev)


def test_ranks_that_the_text_leaves_open_are_those_of_the_call() -> None:
    u = np.arange(6.0).reshape(2, 3)
    found = pyrev.grad(a_row_or_a_number)(u, 0.5)
    np.testing.assert_allclose(found["u"], [[0.5] * 3, [0.0] * 3])
    assert found["alpha"] == pytest.approx(3.0)


def test_what_is_refused_with_arrays_is_said_as_such() -> None:
    def f(x, p, flag):
        if flag == 0:
            return x[1:]
        x = 1.0 * p
        return x

    with pytest.raises(pyrev.UnsupportedError, match="another path returns another"):
        pyrev.vjp(f, np.ones((2, 3)), np.ones((2, 3)), 1)


def corner(w, t=0.2):
    return w[0, 0, 1] * t


def of_a_multiple(x):
    return corner(0.5 * x, t=0.3)


def copied_or_tested(w, c):
    b = np.where(w > 0.5, c, w)
    s = np.sum(b)
    if c > 0.5:
        s = s * c
    return s


def rows_of_one(a, p):
    u = np.zeros(2)
    for i in range(2):
        u[i] = a[i]
    if a[0] + p[0] < 9.0:
        u[0] = p[1]
    return u[0] * u[1]


@pytest.mark.parametrize(
    ("plain", "given"),
    [
        (of_a_multiple, dict(x=np.arange(12.0).reshape(2, 2, 3))),
        (copied_or_tested, dict(w=np.array([0.2, 0.9]), c=1.5)),
        (copied_or_tested, dict(w=np.array([0.2, 0.9]), c=0.3)),
        (rows_of_one, dict(a=np.array([0.2, 0.9]), p=np.array([0.4, 2.0]))),
    ],
)
def test_where_the_text_shows_too_few_axes_or_too_many_a_call_says_how_many(
    plain: Callable[..., Any], given: dict[str, Any], rng: np.random.Generator
) -> None:
    check(pyrev.differentiable(plain, target="python"), plain, given, (), rng)
