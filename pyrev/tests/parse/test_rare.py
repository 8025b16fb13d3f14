# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
# ruff: noqa: B007, B905, E731, UP018
"""Forms that few programs write mean what CPython makes of them, gradients included."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyrev
from pyrev.tests.oracle import check

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


@case(lambda m: dict(a=m(5), n=3))
def truth_of_a_size(a, n):
    s = 0.0
    if a.shape[0] and n:
        s = a[0] * a[1]
    k = 2 if a.shape[0] else 0
    return s * a[k] * (a.size and 2.0)


# ------------------------------------------------------------------ loops


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


def arguments(name):
    rng = np.random.default_rng(7)
    return CASES[name][1](lambda *shape: rng.standard_normal(shape) + 0.1)


@pytest.mark.parametrize("name", CASES)
def test_a_rare_form_is_what_it_is_in_cpython(
    name: str, rng: np.random.Generator
) -> None:
    plain, _, outputs = CASES[name]
    f = pyrev.differentiable(plain, target="python")
    check(f, plain, arguments(name), outputs, rng)
