# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Lists that grow, and comprehensions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import pyrev
from tests.corpora.everything import written_in
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


def a_queue(x):
    q = [0.0, 0.0]
    s = 0.0
    for t in range(6):
        s += q.pop(0) * x[t]
        q.append(x[t] * x[0])
        s += q[0] * q[-1] * len(q)
    return s, q


def a_window(x):
    q = [x[0]]
    for t in range(5):
        q.append(x[t] + q[-1])
        if len(q) > 3:
            q.pop(0)
    return q


def a_slice_that_stays(x):
    h = [0.0] * (len(x) + 1)
    h[0] = 1.0
    for j in range(1, len(x) + 1):
        before = h[:j]
        h[0] = 0.0
        for i in range(1, j + 1):
            f = before[i - 1] / (x[i - 1] + j)
            h[i - 1] = h[i - 1] + f * (x[0] - 0.2)
            h[i] = f * x[i - 1]
    s = 0.0
    for j, w in enumerate(h):
        s += w * x[j % len(x)]
    return s


def stocks_that_are_replaced(x):
    state = [float(c) for c in x]
    totals = np.zeros(4)
    for t in range(4):
        new = [0.0] * len(x)
        for i, (a, b) in enumerate(zip(state, x)):  # noqa: B905
            new[i] += a * b
            new[i - 1] += a * 0.5
        state = new
        totals[t] = sum(state)
    return np.array(state), totals


def backwards(x):
    b = []
    i = 5
    while i >= 0:
        b.append(i)
        i = i - 1 - (x[i] > 0.5)
    return np.array(b[::-1]), x[0] * len(b[1:])


def cut_and_changed(x):
    out = []
    for v in x:
        out.append(v)
    b = out[1:3]
    out[1] = 5.0
    return b[0] * x[0]


def a_part_of_a_list(x):
    b = [v * v for v in x]
    return b[1:4]


def written_out_where_it_returns(x):
    if x[0] > 0.5:
        return [x[0], x[1]], x[2]
    return [x[1] * x[0], 2.0], x[0]


def _rates(x):
    return [x[0] * x[1], x[1] ** 2]


def unpacked(x):
    a, b = _rates(x)
    return a * b + sum(_rates(x[1:])) + _rates(x)[1]


def _squares_and_more(x):
    out = []
    for v in x:
        out.append(v * v)
    return out, x[0]


def beside_another_value(x):
    squares, first = _squares_and_more(x)
    return sum(squares) * first


def of_a_function_inside(x):
    def halves(y):
        out = []
        for v in y:
            out.append(v / 2)
        return out

    s = 0.0
    for v in halves(x):
        s += v * x[0]
    return s, halves(x)[2]


def _first_above(v, level):
    for k in range(v.shape[0]):
        if v[k] > level:
            return k
    return 0


def a_list_and_the_array_of_it(x):
    places = []
    for level in np.arange(3):
        places.append(_first_above(x, 0.3 * level))
    places = np.array(places)
    chosen = [x[k] ** 2 for k in places]
    chosen = np.asarray(chosen) * x[0]
    chosen = chosen[chosen > 0.0]
    return x.take(places), chosen.sum()


def a_list_and_an_array_in_a_loop(x):
    total = 0.0
    for k in range(1, 3):
        w = []
        for i in range(k):
            w.append(x[i] * k)
        w = np.array(w)
        w = w * w
        total += w.sum() * w[0]
    return total


def a_list_and_a_number(x):
    best = []
    for v in x:
        best.append(v * v)
    best = max(best)
    s = x[0]
    s = [s, s * best]
    s.append(best)
    return s[2] * s[1]


ALL = written_in(globals())


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


def of_two_kinds(x, k):
    return [x * k, [k, x]]


def test_lists_that_are_written_out_keep_their_kinds() -> None:
    for target in ("python", "numba"):
        f = pyrev.differentiable(of_two_kinds, target=target)
        got = f(X, 2)
        assert isinstance(got, list)
        assert isinstance(got[1], list)
        assert isinstance(got[1][0], (int, np.integer))
        assert got[1][1] is X
        np.testing.assert_array_equal(got[0], X * 2)
        _, pullback = pyrev.vjp(f, X, 2)
        weights = [np.ones(6), [None, np.full(6, 3.0)]]
        np.testing.assert_array_equal(pullback(weights).x, np.full(6, 5.0))


def _rates_of(x, n):
    return [v for v in x[:n]]


def unpacked_from(x, n):
    a, b = _rates_of(x, n)
    return a * b


@pytest.mark.parametrize("target", ["python", "numba"])
def test_a_list_of_another_length_is_not_unpacked(target: str) -> None:
    f = pyrev.differentiable(unpacked_from, target=target)
    assert pyrev.grad(f)(X, 2).x[0] == X[1]
    with pytest.raises(ValueError, match="not enough values to unpack"):
        f(X, 1)
    with pytest.raises(ValueError, match="too many values to unpack"):
        f(X, 3)


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


def longer_while_it_is_numbered(x):
    out = [x[0]]
    for i, v in enumerate(out):
        if i < 3:
            out.append(v * 2)
    return len(out) * x[1]


def taken_off_while_some_are_there(x):
    stack = [1.0]
    s = 0.0
    while len(stack) > 0:
        v = stack.pop()
        s += x[0]
        if s < 3:
            stack.append(v * x[1])
    return s


def changed_under_one_of_two_names(x):
    new = [0.0] * 3
    state = new
    for t in range(3):
        new[t] = x[t]
    return state[1] * x[0]


def changed_behind_a_slice(x):
    b = [v for v in x]
    s = 0.0
    for v in b[1:]:
        b[2] = 5.0
        s += v * x[0]
    return s


def repeated_of_a_function_inside(x):
    def own(y):
        out = []
        for v in y:
            out.append(v)
        return out

    return (own(x) * 2)[7]


def repeated_beside_another(x):
    squares, first = _squares_and_more(x)
    return len(squares * 2) * first


def handed_on_beside_another(x):
    return _squares_and_more(x)


def _called(g, x):
    return g(x) * 2


def repeated_of_an_argument(x):
    return _called(_squares, x)[0]


def an_integer_list_that_gets_a_float(x):
    y = [1, 2, 3]
    z = y[:]
    z[0] = 2.5
    return z[0] * x[0]


def _integers(x):
    return [1, 2, 3]


def an_integer_result_that_gets_a_float(x):
    z = _integers(x)
    z[0] = 2.5
    return z[0] * x[0]


def lists_or_tuples(x):
    if x[0] > 0.5:
        return [x[0], x[1]]
    return x[1], x[0]


@pytest.mark.parametrize(
    "plain",
    [
        shorter_while_it_runs,
        *(longer_while_it_is_numbered, taken_off_while_some_are_there),
        *(changed_under_one_of_two_names, changed_behind_a_slice),
        *(repeated_of_a_function_inside, repeated_beside_another),
        *(an_integer_list_that_gets_a_float, an_integer_result_that_gets_a_float),
        *(handed_on_beside_another, repeated_of_an_argument, lists_or_tuples),
        *(under_two_names, in_a_helper, added, repeated, joined),
        *(repeated_in_a_helper, evaluated_before),
        *(a_helper_decides, another_name_decides, made_in_a_branch),
    ],
    ids=lambda f: f.__name__,
)
def test_what_is_another_list_or_grows_elsewhere_is_refused(plain: Any) -> None:
    with pytest.raises(pyrev.UnsupportedError):
        pyrev.differentiable(plain).adjoint.source  # noqa: B018
