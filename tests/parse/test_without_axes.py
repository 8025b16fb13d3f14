# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Arrays without axes: ``y[..., 0]`` of vectors, and ``np.where`` of numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyrev
from tests.tools.oracle import check

X = np.array([0.3, 0.7, 1.1])


def first(y):
    return y[..., 0]


def first_two(y):
    return y[..., 0], y[..., 1]


def bump(u):
    u += 1.0
    return u * 1.0


def same(v):
    return v


def chosen(c, a, b):
    return np.where(c, a, b)


def doubled(c, a, b):
    v = np.where(c, a, b)
    v *= 2.0
    return v


def view_from_a_helper(x, t):
    a = first(x)
    x[0] = 5.0
    return a * t


def views_from_a_helper(x, t):
    a, b = first_two(x)
    x[1] = a * 2
    return a * t + b


def view_of_the_iteration_before(x, t):
    s = 0.0
    a = 1.0
    for _ in range(3):
        s += a
        x[0] = s
        a = x[..., 0]
    return s


def object_through_helpers(x, t):
    v = chosen(t > 0, t, 1.0)
    w = same(v)
    v += 1.0
    return w * 1.0


def object_of_the_iteration_before(x, t):
    v = 0.0
    w = 1.0
    for i in range(3):
        v += t
        w = v
        v = np.where(t > i, t, 1.0)
    return w


def object_of_the_function_around(x, t):
    v = np.where(t > 0, t, 1.0)

    def inner():
        return v

    w = inner()
    v += 1.0
    return w * 1.0


def views_in_a_list(x, t):
    parts = [x[..., 0], x[..., 1]]
    x[0] = 7.0
    return parts[0] * t


def view_put_into_a_list(x, t):
    parts = []
    parts.append(x[..., 0])
    x[0] = 7.0
    return parts[0] * t


def view_of_another_name(x, t):
    y = x
    a = y[..., 0]
    x[0] = 3.0
    return a * t


def view_of_one_or_another(x, t):
    y = x if t > 0 else x * 2.0
    a = y[..., 0]
    x[0] = 3.0
    return a * t


def view_in_a_tuple(x, t):
    p = (x[..., 0], t)
    x[0] = 2.0
    return p[0] * p[1]


def object_on_one_path(x, t):
    v = np.where(t > 0, t, 1.0) if t > 0.1 else 0.0
    w = v
    v += 1.0
    return w * 1.0


def object_of_two_targets(x, t):
    w = v = np.where(t > 0, t, 1.0)
    v += 1.0
    return w * 1.0


def object_that_max_gives(x, t):
    v = max(np.where(t > 0, t, 1.0), 0.0)
    w = v
    v += 1.0
    return w * 1.0


def view_of_a_local_array(x, t):
    z = x * 2.0
    a = z[..., 0]
    z[:] = 0.0
    return a * t


def view_that_a_helper_changes(x, t):
    a = x[..., 0]
    bump(a)
    return a * t


def view_around_a_lambda(x, t):
    a = x[..., 0]
    f = lambda: a * 2.0  # noqa: E731
    x[0] = 9.0
    return f() * t


def view_in_a_dict(x, t):
    d = {"v": x[..., 0]}
    x[0] = 3.0
    return d["v"] * t


def view_of_another_shape(x, t):
    z = x.reshape(1, 3)
    a = z[0, ..., 0]
    x[0] = 3.0
    return a * t


def object_taken_off_a_list(x, t):
    vs = [np.where(t > i, t, 1.0) for i in range(3)]
    w = vs[0]
    w += 1.0
    return vs[0] * t


def objects_of_a_loop(x, t):
    vs = [np.where(t > i, t, 1.0) for i in range(3)]
    s = 0.0
    for v in vs:
        v += 1.0
    for v in vs:
        s += v
    return s


def element_changed_in_place(x, t):
    v = np.where(t > 0, t, 1.0)
    vs = [v, v]
    vs[0] += 1.0
    return vs[1] * t


def object_put_into_a_list(x, t):
    v = np.where(t > 0, t, 1.0)
    vs = [0.0, 1.0]
    vs[0] = v
    v += 1.0
    return vs[0] * t


def whole_array_changed(x, t):
    a = x[..., 0]
    x += 1.0
    return a * t


def view_of_what_changed_places(x, t):
    a = x[..., 0]
    x, z = x * 2.0, x
    z[0] = 3.0
    return a * t


def argument_of_a_function_inside(x, t):
    def upd(q):
        x[0] = 5.0
        return q * 1.0

    return upd(x[..., 0]) * t


def argument_by_its_name(x, t):
    def upd(q, z):
        z[0] = 5.0
        return q * 1.0

    return upd(q=x[..., 0], z=x) * t


def its_name_is_bound_again(x, t):
    z = x * 2.0
    a = z[..., 0]
    z = z * 3.0
    return a * t + z[0]


def read_and_written_in_turn(x, t):
    s = 0.0
    for i in range(3):
        s += x[..., i]
        x[i] = s
    return s * t


def changed_before_it_is_returned(x, t):
    v = doubled(t > 0, t, 1.0)
    return v * x[0]


def changed_by_its_only_name(x, t):
    v = np.where(t > 0, t, 1.0)
    v += x[0]
    v *= 2.0
    return v


def stored_in_an_array(x, t):
    out = np.zeros(3)
    out[0] = x[..., 1]
    x[1] = 4.0
    return out[0] * t


def only_tested(x, t):
    if x[..., 0] > 0:
        x[0] = 2.0
    return x[0] * t


def made_a_number(x, t):
    a = float(x[..., 0])
    x[0] = 3.0
    a += 1.0
    return a * t


def operand_before_a_call_that_writes(x, t):
    return x[..., 0] * bump_first(x) * t


def compared_with_what_a_call_gives(x, t):
    return t if x[..., 0] < bump_first(x) else x[1]


def written_by_a_function_inside(x, t):
    def write():
        x[0] = 5.0
        return 1.0

    return x[..., 0] + write() * t


def an_object_that_keeps_its_dtype(x, t):
    v = np.where(t > 0, 1, 2)
    v += x[0]
    return v * t


def bump_first(u):
    u[0] = 5.0
    return 1.0


def swapped_by_elements(x, t):
    x[0], x[1] = x[..., 1], x[..., 0]
    return x[0] * t


def beside_a_call_in_a_list(x, t):
    r = np.array([x[..., 0], bump_first(x)])
    return r[0] * r[1] * t


def beside_a_call_as_an_argument(x, t):
    return np.hypot(x[..., 0], bump_first(x)) * t


def a_view_of_a_reshaped_array(x, t):
    z = x.reshape(1, 3)
    a = z[0, ..., 0]
    z[0, 0] = 5.0 * x[1]
    return a * t


SHARED = [
    swapped_by_elements,
    beside_a_call_in_a_list,
    beside_a_call_as_an_argument,
    a_view_of_a_reshaped_array,
    operand_before_a_call_that_writes,
    compared_with_what_a_call_gives,
    written_by_a_function_inside,
    an_object_that_keeps_its_dtype,
    changed_before_it_is_returned,
    changed_by_its_only_name,
    view_from_a_helper,
    views_from_a_helper,
    view_of_the_iteration_before,
    object_through_helpers,
    object_of_the_iteration_before,
    object_of_the_function_around,
    views_in_a_list,
    view_put_into_a_list,
    view_of_another_name,
    view_of_one_or_another,
    view_in_a_tuple,
    object_on_one_path,
    object_of_two_targets,
    object_that_max_gives,
    view_of_a_local_array,
    view_that_a_helper_changes,
    view_around_a_lambda,
    view_in_a_dict,
    view_of_another_shape,
    object_taken_off_a_list,
    objects_of_a_loop,
    element_changed_in_place,
    object_put_into_a_list,
    whole_array_changed,
    view_of_what_changed_places,
    argument_of_a_function_inside,
    argument_by_its_name,
]
RIGHT = [
    its_name_is_bound_again,
    read_and_written_in_turn,
    stored_in_an_array,
    only_tested,
    made_a_number,
]


@pytest.mark.parametrize("plain", SHARED, ids=lambda f: f.__name__)
def test_what_shows_in_another_name_is_refused(plain: Callable[..., Any]) -> None:
    with pytest.raises(pyrev.UnsupportedError) as refused:
        pyrev.vjp(pyrev.differentiable(plain, target="python"), X.copy(), 0.4)
    found = {f.code for f in refused.value.findings}
    assert found == {"P206"}
    assert "np.where" in str(refused.value) or "`...`" in str(refused.value)


@pytest.mark.parametrize("plain", RIGHT, ids=lambda f: f.__name__)
def test_what_does_not_is_right(
    plain: Callable[..., Any], rng: np.random.Generator
) -> None:
    f = pyrev.differentiable(plain, target="python")
    written = X.copy()
    plain(written, 0.4)
    outputs = [] if np.array_equal(written, X) else ["x"]
    check(f, plain, {"x": X.copy(), "t": 0.4}, outputs, rng)


def two_numbers_of_python(k, x):
    a = np.where(x[0] > 0, 1, 2)
    return (k[2] + a) * x[1] + (k[0] * (a + 1)) * np.where(x[0] > 0, 1.0, 2.0)


def test_what_it_makes_of_pythons_numbers_does_not_adapt() -> None:
    k, short = np.array([100, -3, 120], np.int8), X.astype(np.float32)
    f = pyrev.differentiable(two_numbers_of_python, target="numba")
    assert f(k, X) == two_numbers_of_python(k, X)
    g = pyrev.differentiable(lambda x: np.where(x[0] > 0, 1.0, 2.0) * x, target="numba")
    assert g(short).dtype == np.float64
