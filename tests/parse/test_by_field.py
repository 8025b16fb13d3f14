# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Tuples that are compared, bound again and kept in lists: they are read by fields."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyrev
from tests.corpora.everything import written_in
from tests.tools.oracle import check

X = np.array([0.3, 0.7, 1.1, 0.25, 0.9, 0.45, 0.62])
Y = np.array([0.5, 1.3, 0.2, 0.8, 0.35, 1.7, 0.95])
W = np.random.default_rng(0).uniform(0.2, 2.0, (5, 5))


def the_least_of_pairs(x):
    best = (x[0], 0)
    for i in range(1, x.shape[0]):
        if (x[i], i) < best:
            best = (x[i], i)
    return best[0] * (best[1] + 1)


def min_of_two_pairs(x):
    best = (x[0] * 2.0, 0)
    for i in range(1, x.shape[0]):
        best = min(best, (x[i], i))
    v, k = best
    return v * v + x[k] * k


def max_of_a_list(x):
    pts = []
    for i in range(x.shape[0]):
        pts.append((x[i] * x[i], i))
    p = max(pts)
    return p[0] * x[p[1]]


def a_path_back_to_the_corner(x):
    at = (x.shape[0] - 1, 3)
    path = [at]
    s = 0.0
    while at != (0, 0):
        if at[1] > 0:
            at = (at[0], at[1] - 1)
        else:
            at = (at[0] - 1, at[1])
        path.append(at)
    for i, j in path:
        s += x[i] * (j + 1)
    return s


def area_of_a_polygon(x, y):
    pts = []
    for i in range(x.shape[0]):
        pts.append((x[i], y[i]))
    return _area(pts), len(pts)


def _area(pts):
    s = 0.0
    for k in range(len(pts)):
        x0, y0 = pts[k]
        x1, y1 = pts[(k + 1) % len(pts)]
        s += x0 * y1 - x1 * y0
    return 0.5 * s


def compared_in_helpers(x):
    pts = []
    for i in range(x.shape[0]):
        pts.append((x[i], i))
    return _same(pts[0], pts[-1]) * x[1] + _count_same(pts)


def _same(p, q):
    if p == q:
        return 2.0
    return 3.0


def _count_same(pts):
    n = 0.0
    for p in pts:
        for q in pts:
            if p < q:
                n += p[0]
    return n


def convex_hull(x, y):
    order = np.argsort(x)
    pts = [(x[k], y[k]) for k in order]
    lower = _half(pts)
    pts.reverse()
    upper = _half(pts)
    return _area(lower) + _area(upper)


def _cross(o, a, b):
    return (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0])


def _half(pts):
    out = []
    for p in pts:
        while len(out) >= 2 and _cross(out[-2], out[-1], p) <= 0:
            out.pop()
        out.append(p)
    return out


def run_lengths(x):
    runs = []
    cur = (x[0] > 0.5, 1)
    for i in range(1, x.shape[0]):
        s = x[i] > 0.5
        if s == cur[0]:
            cur = (s, cur[1] + 1)
        else:
            runs.append(cur)
            cur = (s, 1)
    runs.append(cur)
    t = 0.0
    k = 0
    for up, n in runs:
        if up:
            t += x[k] * n
        k += n
    return t


def fibonacci(x):
    p = (x[0], x[1])
    for i in range(2, x.shape[0]):
        p = (p[1], p[0] + x[i])
    return p


def pairs_that_change_places(x):
    a = (x[0], x[1])
    b = (x[2], x[3])
    for _ in range(3):
        a, b = b, (a[1], a[0] * 2.0)
    return a[0] * b[1] + a[1]


def tuples_of_tuples(x, y):
    edges = []
    for k in range(x.shape[0]):
        p = (x[k], y[k])
        q = (x[k - 1], y[k - 1])
        edges.append((p, q))
    s = 0.0
    for a, b in edges:
        s += a[0] * b[1] - a[1] * b[0]
    for e in edges:
        s += e[0][0] * e[1][1]
    return s + edges[2][1][0]


def points_of_a_helper(x):
    pts = _points(x)
    s = 0.0
    for p in pts:
        if p != pts[0]:
            s += p[0] * p[1]
    return s + pts[1][0]


def _points(x):
    out = []
    for i in range(x.shape[0]):
        out.append((x[i], 2.0 * i))
    return out


def a_pair_as_a_subscript(x):
    g = np.zeros((3, 3))
    at = (0, 0)
    for k in range(x.shape[0]):
        g[at] += x[k] * g[at] + x[k]
        at = ((at[0] + 1) % 3, (at[1] + at[0]) % 3)
    return g[at] + g.sum()


def rows_of_an_array(x):
    pts = []
    p = (1.0, x[0])
    for i in range(x.shape[0]):
        p = (p[1], p[0] * x[i])
        pts.append(p)
    a = np.array(pts)
    return a[:, 0].sum() * a[2, 1]


def insertion_sort_of_events(x, y):
    ev = []
    for i in range(x.shape[0]):
        ev.append((x[i], 1))
        ev.append((x[i] + y[i], -1))
    for i in range(1, len(ev)):
        e = ev[i]
        j = i - 1
        while j >= 0 and ev[j] > e:
            ev[j + 1] = ev[j]
            j -= 1
        ev[j + 1] = e
    n = 0
    last = ev[0][0]
    total = 0.0
    for t, d in ev:
        total += n * (t - last)
        n += d
        last = t
    return total


def shortest_paths(w):
    n = w.shape[0]
    done = np.zeros(n)
    dist = np.full(n, 1e9)
    dist[0] = 0.0
    for _ in range(n):
        best = (1e9, -1)
        for j in range(n):
            if done[j] == 0.0:
                best = min(best, (dist[j], j))
        d, u = best
        if u < 0:
            break
        done[u] = 1.0
        for v in range(n):
            cand = (d + w[u, v], u)
            if cand[0] < dist[v]:
                dist[v] = cand[0]
    return dist.sum()


def given_to_a_function_inside(x, y):
    def cross(a, b):
        return a[0] * b[1] - a[1] * b[0]

    pts = [(x[i], y[i]) for i in range(x.shape[0])]
    s = 0.0
    for k in range(len(pts)):
        s += cross(pts[k - 1], pts[k])
    return s


def bubble_sort(x):
    pts = []
    for i in range(x.shape[0]):
        pts.append((x[i], i))
    for i in range(x.shape[0] - 1):
        for j in range(x.shape[0] - 1 - i):
            if pts[j] > pts[j + 1]:
                pts[j], pts[j + 1] = pts[j + 1], pts[j]
    s = 0.0
    for k, (v, i) in enumerate(pts):
        s += v * (k + 1) * (i + 2)
    return s


def the_length_is_a_field(x):
    out = [(x[0], 0)]
    for i in range(1, x.shape[0]):
        out.append((out[-1][0] * x[i], len(out)))
    return out[-1][0] * out[-1][1]


def one_of_two(x):
    s = 0.0
    for i in range(x.shape[0] - 1):
        lo = (x[i], i) if x[i] < x[i + 1] else (x[i + 1], i + 1)
        s += lo[0] * lo[1]
    return s


def among_those_written_out(x):
    s = 0.0
    at = (0, 0)
    for i in range(x.shape[0]):
        if at in ((0, 0), (1, 1)):
            s += x[i]
        elif (at[0], 1) not in [(2, 1)]:
            s += 3.0 * x[i]
        at = (at[0] + 1, at[1] + i)
    return s


def a_list_of_numbers_backwards(x):
    out = []
    for i in range(x.shape[0]):
        out.append(x[i] * x[i])
    out.reverse()
    s = 0.0
    for i in range(len(out)):
        s += out[i] * (i + 1)
    return s


def a_list_and_a_number_of_a_helper(x, y):
    pts, total = _pts_total(x, y)
    last = pts[-1]
    return last[0] * total + pts[0][1]


def _pts_total(x, y):
    pts = []
    t = 0.0
    for i in range(len(x)):
        p = (x[i], y[i])
        t += p[0] * p[1]
        pts.append(p)
    return pts, t


def a_last_tuple_decides(x):
    out = [(x[0], 0)]
    while out[-1][1] < 4:
        out.append((out[-1][0] * x[1], out[-1][1] + 1))
    return out[-1][0] + len(out)


def a_float_in_the_last_tuple_decides(x):
    out = [(1.0, 0)]
    while out[-1][0] < 5.0:
        out.append((out[-1][0] + x[1], out[-1][1] + 1))
    return out[-1][0] * out[-1][1] * x[0]


def the_last_cell_of_a_path_decides(x):
    path = [(3, 2)]
    while path[-1] != (0, 0):
        i, j = path[-1]
        if i > j:
            path.append((i - 1, j))
        else:
            path.append((i, j - 1) if j > 0 else (i - 1, j))
    s = 0.0
    for i, j in path:
        s += x[i] * (j + 1)
    return s


def of_nan(x):
    p = (np.nan, x[0])
    q = (np.nan * x[0], x[1])
    s = 1.0 if p == q else 2.0
    if p < q:
        s += 3.0
    if p <= q:
        s += 5.0
    if p != q:
        s += 7.0
    return s * x[0]


def what_is_put_in_sees_the_list_before(x):
    pts = []
    for i in range(4):
        pts.append((len(pts) * x[i], len(pts)))
    return pts[-1][0] + pts[-1][1]


def made_of_itself(x):
    p = (x[0], x[1])
    for _ in range(3):
        p = (p[1] * 2.0, p[0] + p[1])
    return p[0] * p[1]


def a_loop_that_does_not_run(x):
    for _ in range(0):
        p = (x[0], 1)
    p = (x[1], 2)
    return p[0]


def an_int_and_then_floats(x):
    best = (1000, -1)
    for i in range(x.shape[0]):
        c = (x[i], i)
        if c < best:
            best = c
    return best[0] * best[1]


def rotated(x):
    p = (x[0], x[1], x[2])
    q = p
    p = (q[1], q[2], q[0])
    return max(p) * sum(q) + min(p)


def looped_over_its_fields(x):
    p = (x[0], x[1])
    s = 0.0
    for k in range(2):
        for v in p:
            s += v * (k + 1)
        p = (p[1], s)
    return s


def with_an_array(x):
    st = (x * 1.0, 0)
    for _ in range(3):
        st = (st[0] * 2.0, st[1] + 1)
    return st[0].sum() * st[1]


def with_an_array_of_another_name(x):
    u = np.zeros(3)
    st = (u, 1)
    st = (st[0], 2)
    u[0] = x[0]
    return st[0][0] * st[1]


def filtered_points(x, y):
    pts = [(x[i], y[i]) for i in range(x.shape[0])]
    far = [(p[0] * 2.0, p[1]) for p in pts if p[0] > 0.4]
    return far[0][0] * far[-1][1] + len(far)


def sums_over_points(x, y):
    pts = [(x[i], y[i]) for i in range(x.shape[0])]
    return sum(p[0] * p[1] for p in pts) + sum([a * b for a, b in pts])


def a_stack_that_gets_empty(x):
    stack = [(x[0], 1), (x[1], 2)]
    s = 0.0
    while stack:
        v, k = stack.pop()
        s += v * k
    return s


def as_an_array_from_a_helper(x):
    return np.array(_numbered(x))[:, 0].sum()


def _numbered(x):
    out = []
    for i in range(len(x)):
        out.append((x[i] * 2, i))
    return out


def elements_from_a_helper(x):
    return _numbered(x)[2][0] * _numbered(x)[-1][1]


def loops_over_a_helper(x):
    s = 0.0
    for v, k in _numbered(x):
        s += v * k
    for p in _numbered(x):
        s += p[0]
    return s


def handed_on(x):
    pts = _numbered_again(x)
    return pts[1][0]


def _numbered_again(x):
    return _numbered(x)


def with_a_truth_value(x):
    p = (True, x[0])
    q = (x[1] > 0.5, x[1])
    return x[2] if p > q else x[3]


def moves_on_a_grid(x):
    pos = (0, 0)
    grid = np.zeros((4, 4))
    for d in ((0, 1), (1, 0), (0, 1)):
        pos = (pos[0] + d[0], pos[1] + d[1])
        grid[pos] = x[pos[0]] * pos[1]
    return grid.sum() + grid[pos]


def slices_and_zips(x):
    pts = [(x[i], i) for i in range(6)]
    s = 0.0
    for v, k in pts[1:4]:
        s += v * k
    for (a, i), (b, j) in zip(pts[:-1], pts[1:]):  # noqa: B905
        s += a * b * (j - i)
    for p, q in zip(pts, pts[1:]):  # noqa: B905
        if p < q:
            s += q[0]
    for k, p in enumerate(pts):
        s += p[0] * k
    for p in reversed(pts):
        s = s * 0.5 + p[0]
    return s


def bound_twice(x):
    pair = (x[0], x[1])
    if x[0] > 0.5:
        pair = (x[1], x[0])
    return pair[0] * pair[1]


ALL = written_in(globals())


@pytest.mark.parametrize(
    "target", ["python", pytest.param("numba", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("plain", ALL, ids=lambda f: f.__name__)
def test_tuples_are_what_they_are_in_python(plain: Any, target: str) -> None:
    f = pyrev.differentiable(plain, target=target)
    names = plain.__code__.co_varnames[: plain.__code__.co_argcount]
    given = {n: {"x": X, "y": Y, "w": W}[n] for n in names}
    check(f, plain, given, (), np.random.default_rng(1))


def running_most(x):
    out = []
    p = (x[0], 0)
    for i in range(x.shape[0]):
        q = (x[i], i)
        if q > p:
            p = q
        out.append(p)
    return out


def found_beside(x):
    out = [(x[0], 0)]
    for i in range(1, x.shape[0]):
        out.append(max(out[-1], (x[i], i)))
    return x[0] * x[1], out


@pytest.mark.parametrize("target", ["python", "numba"])
def test_lists_of_tuples_are_returned_as_lists(target: str) -> None:
    f = pyrev.differentiable(running_most, target=target)
    assert f(X) == running_most(X)
    assert isinstance(f(X)[0], tuple)
    _, pullback = pyrev.vjp(f, X)
    weights = [(float(k), None) for k in range(7)]
    expected = np.zeros(7)
    for k, (_, at) in enumerate(running_most(X)):
        expected[at] += k
    np.testing.assert_array_equal(pullback(weights).x, expected)
    beside = pyrev.differentiable(found_beside, target=target)
    assert beside(X) == found_beside(X)


def joined_in_a_helper(x):
    pts = []
    for i in range(x.shape[0]):
        pts.append((x[i], x[i] * 2.0))
    return _first_of_both(pts)


def _first_of_both(pts):
    a = pts[0] + pts[1]
    return a[0]


def joined_from_a_helper(x):
    pts = _numbered(x)
    a = pts[1] + pts[2]
    return a[0]


def changed_under_another_name(x):
    a = [(x[0], 1)]
    b = a
    b.append((x[1], 2))
    return a[-1][0] * len(a)


def changed_in_a_helper(x):
    pts = [(x[0], 0)]
    _extended(pts, x)
    return pts[-1][0] * len(pts)


def _extended(pts, x):
    pts.append((x[1], 1))


def points_that_are_lists(x):
    pts = []
    for i in range(3):
        pts.append([x[i], i])
    p = pts[0]
    p[0] = 5.0
    return pts[0][0] * x[1]


def of_several_lengths(x):
    p = (x[0], 1)
    s = p[0]
    p = (x[0], x[1], 2)
    return s + p[1]


def none_or_a_pair(x):
    best = None
    for i in range(x.shape[0]):
        c = (x[i], i)
        if best is None or c < best:
            best = c
    return best[0]


def turned_under_a_loop(x):
    out = [x[0], x[1], x[2]]
    s = 0.0
    for v in out:
        s += v
        out.reverse()
    return s


def turned_with_a_name_for_an_element(x):
    out = [x * 1.0, x * 2.0]
    u = out[0]
    out.reverse()
    return u[0]


def joined_in_a_loop(x):
    pts = []
    for i in range(3):
        pts.append((x[i], x[i] * 2.0))
    s = 0.0
    for k, p in enumerate(pts):
        r = p + p
        s += r[1] * k
    return s


def repeated_in_a_loop(x):
    pts = []
    for i in range(3):
        pts.append((x[i], x[i] * 2.0))
    s = 0.0
    for p in pts:
        r = p * 2
        s += r[0] + r[1]
    return s


def joined_by_a_helper_in_a_loop(x):
    pts = []
    for i in range(3):
        pts.append((x[i], x[i] * 2.0))
    s = 0.0
    for p in pts:
        s += _joined(p, p)
    return s


def _joined(a, b):
    c = a + b
    return c[0] + c[1]


def grows_as_it_is_taken(x):
    stack = [(x[0], 1)]
    s = 0.0
    while len(stack) > 0:
        v, k = stack.pop()
        s += v
        if v < 2.0:
            stack.append((v * 2.0, k + 1))
    return s


@pytest.mark.parametrize(
    "plain",
    [
        *(joined_in_a_helper, joined_from_a_helper, changed_under_another_name),
        *(changed_in_a_helper, points_that_are_lists, of_several_lengths),
        *(none_or_a_pair, turned_under_a_loop, turned_with_a_name_for_an_element),
        *(grows_as_it_is_taken, joined_in_a_loop, repeated_in_a_loop),
        joined_by_a_helper_in_a_loop,
    ],
    ids=lambda f: f.__name__,
)
def test_what_has_no_fields_of_its_own_is_refused(plain: Any) -> None:
    with pytest.raises(pyrev.UnsupportedError):
        pyrev.differentiable(plain)(X)


def an_empty_one(x):
    pts = []
    for i in range(x.shape[0]):
        if x[i] > 10.0:
            pts.append((x[i], i))
    return min(pts)[0]


@pytest.mark.parametrize("target", ["python", "numba"])
def test_the_least_of_no_tuples_raises(target: str) -> None:
    with pytest.raises(ValueError) as plain:
        an_empty_one(X)
    with pytest.raises(ValueError) as own:
        pyrev.differentiable(an_empty_one, target=target)(X)
    assert str(own.value) == str(plain.value)


def behind_the_end(x, n):
    pts = []
    for i in range(n):
        pts.append((x[i], i))
    p = pts[2]
    q = (x[0], 1)
    return p[0] if p > q else q[0]


@pytest.mark.parametrize("target", ["python", "numba"])
def test_a_tuple_behind_the_end_raises(target: str) -> None:
    f = pyrev.differentiable(behind_the_end, target=target)
    assert f(X, 3) == behind_the_end(X, 3)
    with pytest.raises(IndexError):
        f(X, 2)


def one_name_in_two_loops(x, w):
    total = np.full(x.shape, 1e3)
    total[0] = x[0]
    for i in range(x.shape[0]):
        for s, mul in zip(range(3), w):  # noqa: B905
            if i - s < 0:
                continue
            reached = total[i - s] + mul * x[i]
            if reached < total[i]:
                total[i] = reached
    mean = 0.0
    for i in np.arange(2):
        mean += x[i] * i
    return total[-1] + mean


def test_an_index_may_name_elements_in_another_loop() -> None:
    given = {"x": X, "w": Y[:3]}
    f = pyrev.differentiable(one_name_in_two_loops)
    check(f, one_name_in_two_loops, given, (), np.random.default_rng(1))
