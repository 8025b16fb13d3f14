# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Programs with tuples: sorted, nested, given to helpers, in loops that break."""

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


def sorted_in_place(x, y):
    pts = [(x[i], y[i]) for i in range(x.shape[0])]
    pts.sort()
    s = 0.0
    for k, (a, b) in enumerate(pts):
        s += a * b * (k + 1)
    return s


def events_in_order(x, y):
    ev = []
    for i in range(x.shape[0]):
        ev.append((x[i], 1))
        ev.append((x[i] + y[i], -1))
    n = 0
    last = 0.0
    total = 0.0
    for t, d in sorted(ev):
        total += n * (t - last)
        n += d
        last = t
    return total


def sorted_by_three_fields(x, y):
    ev = [(i % 2, -i, x[i]) for i in range(x.shape[0])]
    o = sorted(ev)
    s = 0.0
    for k in range(len(o)):
        a, b, v = o[k]
        s += v * (k + 1) + a - b
    ev.sort()
    return s * ev[0][2] + ev[-1][1]


def monotone_chain(x, y):
    pts = sorted(_points_of(x, y))
    lower = _chain(pts)
    upper = _chain(pts[::-1])
    return _open_area(lower) + _open_area(upper)


def sorted_in_a_loop(x):
    s = 0.0
    for j in range(2, 5):
        seg = [(x[i], i) for i in range(j)]
        seg.sort()
        s += seg[0][0] * seg[-1][1] * j
    return s


def a_queue_by_priority(x):
    q = []
    for i in range(4):
        q.append((x[i], i))
        q.sort()
    v, k = q.pop(0)
    return v * (k + 1) + q[0][0]


def nothing_to_sort(x):
    q = [(v, 1) for v in x if v > 100.0]
    q.sort()
    return x[0] + len(sorted(q))


def _points_of(x, y):
    out = []
    for i in range(len(x)):
        out.append((x[i], y[i]))
    return out


def _chain(pts):
    out = []
    for p in pts:
        while len(out) >= 2 and _cross(out[-2], out[-1], p) <= 0:
            out.pop()
        out.append(p)
    return out


def _open_area(pts):
    s = 0.0
    for k in range(len(pts) - 1):
        s += pts[k][0] * pts[k + 1][1] - pts[k + 1][0] * pts[k][1]
    return 0.5 * s


def nested_pairs_compared(x):
    best = (x[0], (0, 0))
    for i in range(3):
        for j in range(3):
            c = (x[i] * x[j], (j, i))
            if c < best:
                best = c
    d, (i, j) = best
    return d * (i + 2 * j + 1)


def returned_early(x):
    return _the_first_above_one(x)[0] * 2.0 + _the_first_above_one(x)[1]


def given_by_name(x):
    p = (x[0], 1)
    p = (x[1], 2)
    return _at_least(x, q=p) + _at_least(x, q=(x[3], 4), scale=2.0)


def beside_a_default(x):
    p = (x[0], 1.0)
    if p > (0.1, 0.0):
        p = (x[1], 2.0)
    return _area_from(p) + _area_from(p, (1.0, 1.0))


def a_while_that_breaks(x):
    pts = [(x[0], 0)]
    i = 0
    while True:
        i += 1
        if i >= 5:
            break
        p = pts[-1]
        if p[0] > x[i]:
            continue
        pts.append((x[i], i))
    s = 0.0
    for v, k in pts:
        s += v * k
    return s


def one_of_two_lists(x):
    a = [(x[0], 1), (x[1], 2)]
    b = [(x[2], 3)]
    c = a if x[0] > 0.2 else b
    return c[0][0] * c[-1][1]


def zipped_with_an_array(x, y):
    pts = []
    for i in range(4):
        pts.append((x[i], y[i]))
    s = 0.0
    for (a, b), v, p in zip(pts, x, pts[::-1]):  # noqa: B905
        s += a * b * v + p[0]
    return s


def local_to_a_function_inside(x):
    def f(a, b):
        p = (a, b)
        if p > (0.2, 0.0):
            p = (b, a)
        return p[0] * p[1] * a

    return f(x[0], x[1]) + f(x[2], 1.0)


def extended_in_place(x):
    pts = [(x[0], 1)]
    pts += [(x[1], 2), (x[2], 3)]
    s = 0.0
    for p in pts:
        if p != (x[1], 2):
            s += p[0] * p[1]
    return s


def a_name_that_is_bound_again_by_a_loop(x):
    p = (x[0], x[1])
    s = 0.0
    for p in [(x[2], 1.0), (x[3], 2.0)]:
        s += p[0] * p[1]
    return s + p[0]


def two_targets(x):
    a = b = (x[0], x[1])
    a = (a[1], b[0] * 2.0)
    return a[0] * a[1] * b[0]


def unpacked_deeper(x):
    pts = [(x[0], (x[1], 2)), (x[2], (x[3], 4))]
    s = 0.0
    for a, (b, k) in pts:
        s += a * b * k
    t = pts[1]
    u, v = t[1]
    return s + u * v + len(t)


def of_one_field(x):
    p = (x[0],)
    for i in range(3):
        if (x[i],) > p:
            p = (x[i],)
    return p[0] * len(p)


def replaced_by_the_greater(x):
    tab = [(0.0, 0) for _ in range(4)]
    for i in range(4):
        tab[i] = max(tab[i - 1], (x[i], i))
    p = tab[-1]
    return p[0] * p[1]


def raised(x):
    p = (x[0], 1)
    p = (x[1], 2)
    if p[0] > 100.0:
        raise ValueError(f"bad {p[1]}")
    return p[0] * p[1]


def min_of_three(x):
    p = min((x[0], 0), (x[1], 1), (x[2], 2))
    q = max((x[3], 3), p)
    return p[0] * q[1] + q[0]


def what_is_called_changes_an_array(x):
    u = np.zeros(2)
    p = min((_added(u, x[0]), 1), (u[0], 2))
    return p[0] * p[1] + u[0]


def returned_beside_a_number(x):
    p = (x[0], 1)
    if x[1] > 0.1:
        p = (x[1] * 2.0, 2)
    return x[0] * 3.0, p


def a_list_in_each_turn(x):
    s = 0.0
    for i in range(3):
        pts = []
        for j in range(i + 1):
            pts.append((x[i] * x[j], j))
        p = min(pts)
        s += p[0] * (p[1] + 1)
    return s


def _the_first_above_one(x):
    best = (x[0], 0)
    for i in range(1, x.shape[0]):
        if (x[i], i) > best:
            best = (x[i], i)
        if x[i] > 1.0:
            return best
    return (x[2], 5)


def _at_least(x, q, scale=1.0):
    r = q
    if r > (x[0], 0):
        r = (x[2], 3)
    return r[0] * r[1] * scale


def _area_from(p, o=(0.0, 0.5)):
    return (p[0] - o[0]) * (p[1] - o[1])


def _added(u, v):
    u[0] += v
    return u[0] * 2.0


def _cross(o, a, b):
    return (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0])


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
