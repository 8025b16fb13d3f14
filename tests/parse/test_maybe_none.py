# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Names that are None on some paths, and numbers or arrays on others."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np
import pytest

import pyrev
from tests.tools.oracle import check

X = np.array([0.3, 0.7, 0.2, 0.9, 0.5])
P = np.random.default_rng(0).normal(size=(5, 3))


def the_first_that_is_large(p):
    target = None
    for i in range(p.shape[0]):
        if p[i, 0] > 0.5:
            target = p[i, :2]
            break
    if target is None:
        target = p[-1, :2]
    return np.dot(target, target)


def the_row_before(p):
    prev = None
    s = 0.0
    for i in range(p.shape[0]):
        if prev is not None:
            d = p[i] - prev
            s += np.dot(d, d)
        prev = p[i]
    return s


def a_new_array_before(p):
    prev = None
    s = 0.0
    for i in range(p.shape[0]):
        if prev is not None:
            s += np.sum(p[i] * prev)
        prev = p[i] * p[i]
    return s


def two_that_are_none_together(p):
    best = dbest = None
    for i in range(p.shape[0]):
        d = np.sum(p[i] * p[i])
        if best is None or d < dbest:
            best = p[i]
            dbest = d
    if best is None:
        return 0.0
    return best[0] * best[1] + dbest


def several_at_once(p):
    best, k = None, None
    for i in range(p.shape[0]):
        d = np.sum(p[i] * p[i])
        if best is None or d < best:
            best, k = d, i
    return best * p[k, 0]


def none_again(x):
    last = None
    s = 0.0
    for i in range(len(x)):
        if x[i] < 0.3:
            last = None
        if last is None:
            s += 1.0
        else:
            s += last * x[i]
        last = x[i]
    return s


def its_truth(x):
    low = None
    s = 0.0
    for v in x:
        if low:
            s += (v - low) ** 2
        low = v if v > 0.25 else None
    return s


def a_parameter(x, best=None):
    for i in range(len(x)):
        if best is None or x[i] > best:
            best = x[i]
    return best * best


def anew_in_each_turn(p):
    s = 0.0
    for i in range(p.shape[0]):
        first = None
        for j in range(p.shape[1]):
            if p[i, j] > 0.0:
                first = p[i] * p[i, j]
                break
        if first is None:
            continue
        s += np.sum(first) * (i + 1)
    return s


def _nearest(p, q):
    best = None
    for i in range(p.shape[0]):
        d = p[i] - q
        if best is None or d @ d < best @ best:
            best = d
    return best if best is not None else q


def in_a_helper(p):
    s = 0.0
    for k in range(3):
        v = _nearest(p, 0.1 * k + p[k])
        s += v[0] * v[1] + v[2] ** 2
    return s


def _scaled(x, w):
    return x if w is None else x * w


def given_to_a_helper(x):
    w = None
    s = 0.0
    for i in range(len(x)):
        s += _scaled(x[i], w)
        w = x[i]
    return s


def decided_before_a_loop(x):
    w = None
    s = 0.0
    if w is None:
        s = 1.0
    for i in range(len(x)):
        y = w
        s += _scaled(x[i], w)
        if y is not None:
            s += y * y
        w = x[i]
    return s


def equal_to_none(x):
    best = None
    for i in range(len(x)):
        if best == None or x[i] > best:  # noqa: E711
            best = x[i]
    return best * 2.0


def annotated(x):
    a: Optional[float] = None  # noqa: UP045
    s = 0.0
    for v in x:
        if a is not None:
            s += (v - a) ** 3
        a = v
    return s


def changing_places(x):
    a = b = None
    s = 0.0
    for v in x:
        if a is None and v > 0.5:
            a = v
        elif b is None:
            b = v * v
        if a is not None and b is not None:
            s += a * b
            a, b = b, None
    return s


def found_or_the_last(x):
    k = None
    for i in range(len(x)):
        if x[i] > 0.6:
            k = i
            break
    if k is None:
        k = len(x) - 1
    return x[k] ** 2 + k


def a_sum_that_begins_with_the_first(p):
    total = None
    for i in range(len(p)):
        if total is None:
            total = p[i] * 1.0
        else:
            total += p[i] * i
    return total


def the_largest(p):
    m = None
    for i in range(len(p)):
        m = p[i] if m is None else np.maximum(m, p[i])
    return np.sum(m * m)


def a_complex_number(x):
    z = None
    for v in x:
        c = complex(v, 1.0 - v)
        if z is None or abs(c) > abs(z):
            z = c
    return z.real * z.imag


def set_on_one_path_and_not_on_the_next(x, c=1, d=0):
    w = None
    if c > 0:
        w = x[0] * 2
    if d > 0:
        w = None
    if w is None:
        return x[1]
    return w * x[2]


def left_by_a_jump(x):
    last = None
    n = 0
    while n < len(x):
        cur = x[n] * 1.5
        if last is not None and cur < last:
            break
        last = cur
        n += 1
    return last if last is not None else 0.0


ONES = [
    *(none_again, its_truth, a_parameter, given_to_a_helper, decided_before_a_loop),
    *(equal_to_none, annotated, changing_places, found_or_the_last, a_complex_number),
    *(set_on_one_path_and_not_on_the_next, left_by_a_jump),
]
ROWS = [
    *(the_first_that_is_large, the_row_before, a_new_array_before),
    *(two_that_are_none_together, several_at_once, anew_in_each_turn, in_a_helper),
    *(a_sum_that_begins_with_the_first, the_largest),
]


@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize("plain", [*ONES, *ROWS])
def test_a_name_may_be_none_first(plain: Any, target: str) -> None:
    f = pyrev.differentiable(plain, target=target)
    given = {"x": X} if plain in ONES else {"p": P}
    check(f, plain, given, (), np.random.default_rng(1))


def none_before_a_number(x):
    t, s = 1.0, 0.0
    for i in range(len(x)):
        s += t * x[i]
        if x[i] > 0.5:
            t = None
    return s


def no_largest(x):
    m = None
    for v in x:
        if v > 10.0 and (m is None or v > m):
            m = v
    return np.sqrt(x[0]) + m


@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize("plain", [none_before_a_number, no_largest])
def test_none_where_it_is_read_raises_as_in_python(plain: Any, target: str) -> None:
    f = pyrev.differentiable(plain, target=target)
    with pytest.raises(TypeError):
        plain(X)
    with pytest.raises(TypeError):
        f(X)
    with pytest.raises(TypeError, match="is None|NoneType"):
        pyrev.grad(f)(X)


def the_largest_row(p):
    best = None
    for i in range(p.shape[0]):
        if best is None or p[i, 0] > best[0]:
            best = p[i]
    return best


@pytest.mark.parametrize("target", ["python", "numba"])
def test_what_may_be_none_is_returned(target: str) -> None:
    f = pyrev.differentiable(the_largest_row, target=target)
    check(f, the_largest_row, {"p": P}, (), np.random.default_rng(1))
    if target == "python":
        assert f(P[:0]) is None
        return
    with pytest.raises(TypeError, match="`best` is None: numbers and arrays are ret"):
        f(P[:0])


def test_the_text_has_a_flag() -> None:
    text = pyrev.differentiable(the_largest_row).primal.source
    assert "if not best_known or p[i, 0] > best[0]:" in text


def test_other_derivatives() -> None:
    plain, f = two_that_are_none_together, pyrev.differentiable(the_row_before)
    v = np.random.default_rng(2).normal(size=P.shape)
    step = 1e-6
    _, moved = pyrev.jvp(plain, P, tangents={"p": v})
    sides = [plain(P + s * step * v) for s in (1, -1)]
    assert np.isclose(moved["return"], (sides[0] - sides[1]) / (2 * step), rtol=1e-6)
    curved = pyrev.hvp(the_row_before, P, tangents={"p": v})
    sides = [pyrev.grad(f)(P + s * step * v).p for s in (1, -1)]
    expected = (sides[0] - sides[1]) / (2 * step)
    np.testing.assert_allclose(curved.p, expected, rtol=1e-6, atol=1e-8)


def in_a_function_within(x):
    w = None

    def scaled(v):
        return v if w is None else v * w

    s = 0.0
    for v in x:
        s += scaled(v)
        w = v
    return s


def put_into_an_array(x):
    w = None
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = w
        w = x[i]
    return y


def maybe_not_bound(x):
    if x[0] > 1.0:
        w = None
    for v in x:
        if w is None:
            w = v
    return w


def changed_by_the_helper_before_it_raises(x):
    w = None
    for v in x:
        if v > 10.0:
            w = v
    return _changes(x) + w


def _changes(x):
    x[0] = 1.0
    return x[1]


@pytest.mark.parametrize(
    "plain",
    [
        *(in_a_function_within, put_into_an_array, maybe_not_bound),
        changed_by_the_helper_before_it_raises,
    ],
)
def test_what_cannot_be_shown_is_refused(plain: Any) -> None:
    with pytest.raises(pyrev.UnsupportedError, match="None|is"):
        pyrev.differentiable(plain)(X)
