# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Lists that grow, and comprehensions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyrev
from tests.tools.oracle import check

X = np.array([0.3, 0.7, 1.1, 0.2, 0.9, 0.4])


def where_it_rises(x):
    out = []
    for i in range(1, len(x)):
        if x[i] > x[i - 1]:
            out.append(x[i] * x[i])
    return np.array(out)


def returned(x):
    out = []
    for i in range(len(x)):
        out.append(x[i] * 2)
    return out


def returned_beside(x):
    out = []
    for v in x:
        out.append(v * v)
    return out, x[0] * x[1]


def pairs_of_a_triangle(x):
    pairs = []
    for i in range(len(x)):
        for j in range(i):
            pairs.append((x[i] * x[j], i))
    s = 0.0
    for d, k in pairs:
        s += d * k
    return s


def steps_of_a_while(x):
    ts = [0.0]
    t = 0.0
    k = 0
    while t < 3.0:
        t += 0.5 + x[k % len(x)]
        k += 1
        ts.append(t * x[0])
    return np.array(ts), len(ts)


def its_last_element_decides(x):
    ts = [0.1]
    while ts[-1] < 3.0:
        ts.append(ts[-1] + 0.5 + x[0])
    return np.sum(np.array(ts))


def its_length_decides(x):
    found = []
    i = 0
    while len(found) < 3 and i < len(x):
        if x[i] > 0.25:
            found.append(x[i] ** 2)
        i += 1
    return found[0] * found[-1] + len(found)


def an_array_decides_that_changes(x):
    left = np.ones(len(x))
    taken = []
    while np.sum(left) > 2.0:
        k = len(taken)
        left[k] = 0.0
        taken.append(x[k] * x[k + 1])
    s = 0.0
    for v in taken:
        s += v
    return s


def places(x):
    ix = []
    for i in range(len(x)):
        if x[i] > 0.5:
            ix.append(i)
    s = 0.0
    for i in ix:
        s += x[i]
    return s * len(ix)


def comprehension(x):
    v = [a * 2 for a in x]
    return v[0] + v[1]


def comprehension_with_a_test(x):
    return np.array([math.sin(a) for a in x if a > 0.5])


def two_loops_in_a_comprehension(x):
    a = 2.0
    d = [a * b for a in x for b in x if a > b]
    return sum(d) * a


def a_generator(x):
    return sum(a * a for a in x) + max(abs(a) for a in x)


def zeros_that_are_filled(x):
    q = [0.0] * 4
    for i in range(4):
        q[i] = x[i % 2] * i
    return q[3] + q[1]


def rows_of_zeros(x):
    q = [[0.0] * 3 for _ in range(2)]
    for i in range(3):
        q[1][i] = x[i]
    return q[1][2] * q[1][0]


def _squares(x):
    out = []
    for v in x:
        out.append(v * v)
    return out


def from_a_helper(x):
    h = _squares(x)
    return h[0] + h[-1] * len(h)


def made_in_a_loop(x):
    s = 0.0
    for k in range(3):
        near = []
        for i in range(len(x)):
            if i != k:
                near.append(x[i] * x[k])
        s += near[0] * len(near)
    return s


def rows(x):
    out = []
    for i in range(3):
        out.append([x[i], x[i] * 2])
    return np.array(out)


def two_lists(x):
    a, b = [], []
    for v in x:
        a.append(v)
        if v > 0.5:
            b.append(v * 3)
    return np.array(a), np.array(b)


def peaks(x):
    found = []
    i = 1
    n = len(x)
    while i < n - 1:
        if x[i] > x[i - 1] and x[i] > x[i + 1]:
            found.append(i)
            i += 2
        else:
            i += 1
    s = 0.0
    for p in found:
        s += x[p]
    return s


def taken_off(x):
    stack = []
    s = 0.0
    for i in range(len(x)):
        stack.append(x[i])
        if x[i] > 0.5:
            v = stack.pop()
            s += v * stack[-1]
    return s * len(stack)


def integers_that_become_floats(x):
    c = [0] * 3
    for i in range(len(x)):
        c[i % 3] += x[i]
    c[0] = c[0] / 2
    return c


def in_the_else_of_a_loop(x):
    out = []
    for v in x:
        out.append(v)
        if len(out) > 2:
            break
    else:
        out.append(9.0)
    return out


def its_room_is_in_an_array(x):
    m = np.array([2, 1])
    out = []
    m[0] = 5
    for i in range(m[0]):
        out.append(x[i] * x[i])
    return np.array(out)


ALL: list[Callable[..., Any]] = [
    f
    for n, f in list(globals().items())
    if not n.startswith("_") and getattr(f, "__module__", "") == __name__
]


@pytest.mark.parametrize(
    "target", ["python", pytest.param("numba", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("plain", ALL, ids=lambda f: f.__name__)
def test_lists_are_what_they_are_in_python(plain: Any, target: str) -> None:
    f = pyrev.differentiable(plain, target=target)
    check(f, plain, {"x": X}, (), np.random.default_rng(1))


def test_what_is_returned_is_a_list() -> None:
    for target in ("python", "numba"):
        f = pyrev.differentiable(returned, target=target)
        assert f(X) == returned(X)
        assert isinstance(f(X), list)
        _, pullback = pyrev.vjp(f, X)
        np.testing.assert_array_equal(pullback([1.0] * 6).x, np.full(6, 2.0))


def third(x, n):
    out = []
    for i in range(n):
        out.append(x[i])
    return out[2]


@pytest.mark.parametrize("target", ["python", "numba"])
def test_an_element_behind_the_end_raises(target: str) -> None:
    f = pyrev.differentiable(third, target=target)
    assert pyrev.grad(f)(X, 3).x[2] == 1.0
    with pytest.raises(IndexError):
        f(X, 2)


def taken_off_too_often(x, n):
    out = []
    for i in range(2):
        out.append(x[i])
    s = 0.0
    for _ in range(n):
        v = out.pop()
        s += v * v
    return s


@pytest.mark.parametrize("target", ["python", "numba"])
def test_an_empty_list_has_no_last_element(target: str) -> None:
    f = pyrev.differentiable(taken_off_too_often, target=target)
    assert pyrev.grad(f)(X, 2).x[1] == 2.0 * X[1]
    with pytest.raises(IndexError, match="pop from empty list"):
        f(X, 3)


def numbers_of_both_kinds(x):
    out = [1]
    for i in range(len(x)):
        out.append(i)
    return np.array(out)


def test_dtypes_are_those_of_the_elements() -> None:
    for target in ("python", "numba"):
        f = pyrev.differentiable(numbers_of_both_kinds, target=target)
        assert f(X).dtype == np.int64
        g = pyrev.differentiable(where_it_rises, target=target)
        assert g(X.astype(np.float32)).dtype == np.float32


def under_two_names(x):
    a = []
    b = a
    for v in x:
        b.append(v)
    return len(a)


def _adds(out, v):
    out.append(v)


def in_a_helper(x):
    out = []
    for v in x:
        _adds(out, v)
    return len(out)


def added(x):
    out = [v * v for v in x]
    c = out[1:3] + out[3:5]
    return c[0] * len(c)


def repeated(x):
    out = _squares(x)
    return len(out * 2) * x[0]


def joined(x):
    a = _squares(x) + _squares(x)
    return len(a) * x[0]


def _twice(v):
    n = 0
    for _ in v * 2:
        n += 1
    return n


def repeated_in_a_helper(x):
    out = []
    for v in x:
        out.append(v)
    return _twice(out) * x[0]


def cut_and_changed(x):
    out = []
    for v in x:
        out.append(v)
    b = out[1:3]
    out[1] = 5.0
    return b[0] * x[0]


def _bumped(y):
    y[0] = y[0] * 3.0
    return y[1]


def evaluated_before(x):
    y = x.copy()
    return _bumped(y) + sum([v * v for v in y])


def _step(y):
    y[0] += 1.0
    return y[0] * y[1]


def a_helper_decides(x):
    out = []
    y = x.copy()
    while y[0] < 5.0:
        s = _step(y)
        out.append(s)
    return np.array(out)


def another_name_decides(x):
    out = []
    y = x.copy()
    z = y
    while y[0] < 5.0:
        z[0] += 1.0
        out.append(y[0])
    return np.array(out)


def made_in_a_branch(x):
    if x[0] > 5.0:
        return np.zeros(1)
    else:
        out = []
    for v in x:
        out.append(v)
    return np.array(out)


def shorter_while_it_runs(x):
    out = []
    for v in x:
        out.append(v)
    s = 0.0
    for v in out:
        out.pop()
        s += v
    return s


@pytest.mark.parametrize(
    "plain",
    [
        shorter_while_it_runs,
        *(under_two_names, in_a_helper, added, repeated, joined),
        *(repeated_in_a_helper, cut_and_changed, evaluated_before),
        *(a_helper_decides, another_name_decides, made_in_a_branch),
    ],
    ids=lambda f: f.__name__,
)
def test_what_is_another_list_or_grows_elsewhere_is_refused(plain: Any) -> None:
    with pytest.raises(pyrev.UnsupportedError):
        pyrev.differentiable(plain).adjoint.source  # noqa: B018
