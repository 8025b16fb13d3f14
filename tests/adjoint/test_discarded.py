"""What is discarded contributes exactly nothing, also when it is nan or infinite.

Functions as people write them, each at a point where something that it discards has no
derivative or no value. Judged by differences of the plain function in CPython.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import pyrev
from pyrev.adjoint.discarded import discarded
from pyrev.ir.nodes import walk
from pyrev.parse import parse_text

NAN, INF = math.nan, math.inf


def missing_data(x, y):
    s = 0.0
    for i in range(x.shape[0]):
        d = (x[i] - y[i]) ** 2
        if not np.isnan(y[i]):
            s += d
    return s


def missing_data_skipped(x, y):
    s = 0.0
    for i in range(x.shape[0]):
        d = (x[i] - y[i]) * (x[i] - y[i])
        if np.isnan(y[i]):
            continue
        s += d
    return s


def weighted_missing(x, y):
    s = 0.0
    for i in range(x.shape[0]):
        r = x[i] * x[i] * y[i]
        w = 0.0 if np.isnan(r) else 1.0
        if w > 0.0:
            s += w * r
    return s


def regression_in_arrays(x, y):
    n = x.shape[0]
    residual = np.zeros(n)
    for i in range(n):
        residual[i] = (x[i] * x[i] - y[i]) ** 3
    s = 0.0
    for i in range(n):
        if not np.isnan(residual[i]):
            s += residual[i]
    return s


def first_valid(x, y):
    n = x.shape[0]
    t = np.empty(n)
    for i in range(n):
        t[i] = x[i] * y[i]
    for i in range(n):
        v = t[i] * t[i]
        if not np.isnan(v):
            break
    return v


def mean_of_valid(x, y):
    total = 0.0
    count = 0
    for i in range(x.shape[0]):
        product = x[i] * y[i]
        if np.isfinite(product):
            total += product
            count += 1
    return total / count


def overflow_not_taken(x, y):
    s = 0.0
    for i in range(x.shape[0]):
        e = np.exp(1000.0 * x[i])
        if x[i] < 0.0:
            s += e + y[i]
        else:
            s += x[i] * y[i]
    return s


def softplus(x, y):
    s = 0.0
    for i in range(x.shape[0]):
        grown = np.exp(800.0 * x[i])
        soft = np.log1p(grown)
        s += y[i] * (x[i] if x[i] > 0.5 else soft)
    return s


def softplus_where(x, y):
    s = 0.0
    for i in range(x.shape[0]):
        grown = np.exp(800.0 * x[i])
        s += y[i] * np.where(x[i] > 0.5, x[i], np.log1p(grown))
    return s


def log_of_negative(x, y):
    s = 0.0
    for i in range(x.shape[0]):
        value = np.log(x[i] * y[i]) * y[i]
        s += np.where(x[i] * y[i] > 0.0, value, 0.25 * x[i])
    return s


def root_outside(x, y):
    s = 0.0
    for i in range(x.shape[0]):
        root = np.sqrt(x[i] * y[i] * y[i])
        good = root * root if x[i] > 0.0 else x[i]
        s += good
    return s


def clipped_overflow(x, y):
    s = 0.0
    for i in range(x.shape[0]):
        s += y[i] * min(np.exp(1000.0 * x[i]), 2.0) + x[i]
    return s


def clipped_log(x, y):
    s = 0.0
    for i in range(x.shape[0]):
        s += max(np.log(x[i] * x[i] * abs(y[i] - 0.5)), -3.0)
    return s


def clip_of_product(x, y):
    s = 0.0
    for i in range(x.shape[0]):
        s += np.clip(x[i] * np.exp(2000.0 * y[i]), -1.0, 1.0) * y[i]
    return s


def nan_ignored_by_fmin(x, y):
    s = 0.0
    for i in range(x.shape[0]):
        s += np.fmin(x[i] * y[i], x[i] + 3.0)
    return s


def two_branches(x, y):
    s = 0.0
    for i in range(x.shape[0]):
        t = x[i] * x[i] * y[i]
        if x[i] < 0.0:
            s += t
        elif np.isfinite(y[i]):
            s += 2.0 * t
    return s


def two_tests(x, y):
    s = 0.0
    r = 0.0
    for i in range(x.shape[0]):
        t = x[i] * y[i] * np.sqrt(x[i] + 0.1) * x[i]
        good = np.isfinite(t)
        if good:
            s += t
        if good and x[i] > 0.0:
            r += t * t
    return s * r


def overwritten_element(x, y):
    n = x.shape[0]
    t = np.zeros(n)
    for i in range(n):
        t[i] = x[i] * y[i] * x[i]
    for i in range(n):
        if np.isnan(t[i]):
            t[i] = 0.5 * x[i]
    s = 0.0
    for i in range(n):
        s += t[i] * x[i]
    return s


def overwritten_always(x, y):
    n = x.shape[0]
    t = np.zeros(n)
    for i in range(n):
        t[i] = np.exp(x[i] * y[i])
    for i in range(n):
        t[i] = x[i] * x[i]
    s = 0.0
    for i in range(n):
        s += t[i]
    return s


def edges_never_read(x, y):
    n = x.shape[0]
    t = np.zeros(n)
    for i in range(n):
        t[i] = x[i] * x[i] * y[i]
    s = 0.0
    for i in range(2, n):
        s += t[i] * t[i]
    return s


def scalar_overwritten(x, y):
    s = 0.0
    for i in range(x.shape[0]):
        t = x[i] * y[i]
        if np.isnan(t):
            t = x[i]
        s += t * t
    return s


def last_one_wins(x, y):
    t = 0.0
    for i in range(x.shape[0]):
        t = x[i] * x[i] * y[i]
    return t


def best_so_far(x, y):
    best = -1.0
    for i in range(x.shape[0]):
        t = x[i] * y[i]
        if t > best:
            best = t
    return best * best


def loop_without_iterations(x, y):
    n = x.shape[0] - 4
    w = np.exp(1000.0 * x[3]) * x[2]
    s = x[0] * x[0]
    for i in range(n):
        s += w * y[i]
    return s


def loop_over_no_numbers(x, y):
    w = np.exp(1000.0 * x[3]) * x[2]
    s = x[0] * x[0]
    for i in range(2, 2):
        s += w * y[i]
    return s


def break_before_use(x, y):
    s = 0.0
    for i in range(x.shape[0]):
        t = x[i] * x[i] * y[i]
        if np.isnan(y[i]):
            break
        s += t
    return s


def early_return(x, y):
    s = 0.0
    for i in range(x.shape[0]):
        t = x[i] * np.sqrt(y[i]) * x[i]
        if not np.isfinite(t):
            return s
        s += t
    return s


def scaled(a, b):
    r = np.sqrt(a) * b
    q = a * a * b
    return r, q


def discarded_result(x, y):
    s = 0.0
    for i in range(x.shape[0]):
        r, q = scaled(x[i], y[i])
        if x[i] > 0.0 and not np.isnan(y[i]):
            s += r
        elif not np.isnan(y[i]):
            s += q
    return s


def filled(t, x, y):
    for i in range(x.shape[0]):
        t[i] = x[i] * y[i] * y[i]


def temporary_of_a_helper(x, y):
    t = np.zeros(x.shape[0])
    filled(t, x, y)
    s = 0.0
    for i in range(x.shape[0]):
        if np.isfinite(t[i]):
            s += t[i] * x[i]
    return s


def power_not_taken(x, y):
    s = 0.0
    for i in range(x.shape[0]):
        p = x[i] ** y[i]
        if x[i] > 0.0 and np.isfinite(p):
            s += p
        else:
            s += np.tanh(x[i])
    return s


def infinite_difference(x, y):
    s = 0.0
    for i in range(x.shape[0]):
        a = np.exp(1000.0 * x[i])
        b = np.exp(900.0 * x[i])
        q = (a - b) / (a + b) * x[i]
        if np.isnan(q):
            q = x[i] * 1.0
        s += q
    return s


def conditional_expression(x, y):
    s = 0.0
    for i in range(x.shape[0]):
        q = x[i] / (y[i] * y[i])
        v = q * q if np.isfinite(q) else x[i]
        s += v
    return s


def or_and(x, y):
    s = 0.0
    for i in range(x.shape[0]):
        q = abs(x[i] * y[i]) * x[i]
        use = not np.isnan(q) and x[i] > -10.0
        s += use and q or 0.5 * x[i]
    return s


def filled_with(x, y):
    t = np.full_like(x, x[0] * y[1] * x[0])
    for i in range(x.shape[0]):
        t[i] = x[i] * x[i]
    return t[0] + t[1] * t[2]


def whole_arrays(x, y):
    d = (x - y) * (x - y)
    good = 0.0
    for i in range(x.shape[0]):
        if not np.isnan(d[i]):
            good += d[i]
    return good


def where_over_arrays(x, y):
    d = np.where(np.isnan(y), 0.0, (x - y) ** 2 * x)
    return np.sum(d)


def stops_reading(x, y):
    n = x.shape[0]
    t = np.zeros(n)
    for i in range(n):
        t[i] = x[i] * x[i] * y[i]
    s = 0.0
    for i in range(n):
        s += t[i]
        if x[i] > 1.0:
            break
    return s


def two_passes(x, y):
    n = x.shape[0]
    u = np.zeros(n)
    v = np.zeros(n)
    for i in range(n):
        u[i] = x[i] * y[i]
    for i in range(n):
        v[i] = u[i] * u[i] * x[i]
    s = 0.0
    for i in range(n):
        if v[i] == v[i]:
            s += v[i]
    return s


def gated(x, y):
    s = 0.0
    for i in range(x.shape[0]):
        new = np.tanh(x[i] * y[i]) * np.sin(x[i] + y[i]) / (1.0 + np.exp(-y[i]))
        if x[i] > 1.0:
            s += new
        elif x[i] > 0.0 and not np.isnan(y[i]):
            s += x[i] * new
        else:
            s += x[i] * x[i]
    return s


def copied_and_skipped(x, y):
    p = x * y
    kept = p.copy()
    s = 0.0
    for i in range(x.shape[0]):
        if not np.isnan(kept[i]):
            s += kept[i] * x[i]
    return s


def copied_for_the_next_step(x, y):
    p = x * y
    for _ in range(2):
        before = p.copy()
        for i in range(x.shape[0]):
            if not np.isnan(before[i]):
                p[i] = before[i] * before[i]
    s = 0.0
    for i in range(x.shape[0]):
        if not np.isnan(p[i]):
            s += p[i]
    return s


def in_rows_that_are_copied(x, y):
    table = np.zeros((2, x.shape[0]))
    for i in range(x.shape[0]):
        table[0, i] = x[i] * y[i]
        table[1, i] = x[i] * x[i]
    other = table.copy()
    s = 0.0
    for i in range(x.shape[0]):
        if np.isnan(other[0, i]):
            s += other[1, i]
        else:
            s += other[0, i] * other[1, i]
    return s


def image_of_valid(x, y):
    s = 0.0
    for i in range(x.shape[0] - 1):
        around = x[i] * y[i] + x[i + 1] * y[i + 1]
        centre = x[i] * x[i]
        if np.isnan(around):
            s += centre
        else:
            s += around * centre
    return s


@dataclass(frozen=True)
class Case:
    f: Callable[..., Any]
    x: tuple[float, ...]
    y: tuple[float, ...]


def sum_of_the_smallest(x, y):
    n = x.shape[0]
    by_rank = np.zeros(n)
    for i in range(n):
        rank = 0
        for j in range(n):
            if x[j] < x[i]:
                rank += 1
        by_rank[rank] += x[i] * y[i]
    s = 0.0
    for k in range(3):
        s += by_rank[k]
    return s


def smallest_left_out(x, y):
    n = x.shape[0]
    by_rank = np.zeros(n)
    for i in range(n):
        rank = 0
        for j in range(n):
            if x[j] < x[i]:
                rank += 1
        by_rank[rank] = x[i] * y[i]
    for k in range(2):
        by_rank[k] = 0.0
    s = 0.0
    for k in range(n):
        s += by_rank[k]
    return s


_X = (0.7, -0.4, 1.3, 0.9)
_HOLES = (0.5, NAN, 0.8, INF)
_NANS = (0.5, NAN, 0.8, 1.2)
_SOUND = (0.5, 1.1, 0.8, 1.2)

CASES = [
    Case(missing_data, _X, _NANS),
    Case(missing_data_skipped, _X, _NANS),
    Case(weighted_missing, _X, _NANS),
    Case(regression_in_arrays, _X, _NANS),
    Case(first_valid, _X, (NAN, NAN, 0.8, 1.2)),
    Case(mean_of_valid, _X, _HOLES),
    Case(overflow_not_taken, (0.9, -0.001, 1.3, 0.8), _SOUND),
    Case(softplus, (0.9, -0.001, 1.3, 0.0005), _SOUND),
    Case(softplus_where, (0.9, -0.001, 1.3, 0.0005), _SOUND),
    Case(log_of_negative, _X, _SOUND),
    Case(root_outside, _X, _SOUND),
    Case(clipped_overflow, (0.9, -0.001, 1.3, -0.002), _SOUND),
    Case(clipped_log, (0.7, -0.4, 0.0, 1e-200), _SOUND),
    Case(clip_of_product, _X, (0.5, 1.1, 0.8, -0.0003)),
    Case(nan_ignored_by_fmin, _X, _NANS),
    Case(two_branches, _X, (0.5, 0.9, INF, NAN)),
    Case(two_tests, (0.7, -0.05, 1.3, -0.4), _SOUND),
    Case(overwritten_element, _X, _NANS),
    Case(overwritten_always, _X, (0.5, NAN, 0.8, 5000.0)),
    Case(edges_never_read, _X, (NAN, INF, 0.8, 1.1)),
    Case(scalar_overwritten, _X, _NANS),
    Case(last_one_wins, _X, (NAN, INF, 0.8, 1.1)),
    Case(best_so_far, _X, _NANS),
    Case(loop_without_iterations, (0.7, -0.4, 1.3, 0.9), _SOUND),
    Case(loop_over_no_numbers, (0.7, -0.4, 1.3, 0.9), _SOUND),
    Case(break_before_use, _X, (0.5, 0.3, NAN, 1.2)),
    Case(early_return, _X, (0.5, 0.3, -0.5, 1.2)),
    Case(discarded_result, _X, _NANS),
    Case(temporary_of_a_helper, _X, _HOLES),
    Case(power_not_taken, (0.7, -0.4, 1.3, 1e30), (0.5, 1.5, 0.8, 20.0)),
    Case(infinite_difference, (0.001, 0.9, 1.3, 0.8), _SOUND),
    Case(conditional_expression, _X, (0.5, 0.0, 1e-200, 1.2)),
    Case(or_and, _X, _NANS),
    Case(filled_with, _X, _NANS),
    Case(whole_arrays, _X, _NANS),
    Case(where_over_arrays, _X, _NANS),
    Case(stops_reading, _X, (0.5, 1.1, 0.8, INF)),
    Case(two_passes, _X, _NANS),
    Case(gated, _X, _NANS),
    Case(image_of_valid, _X, _NANS),
    Case(copied_and_skipped, _X, _NANS),
    Case(copied_for_the_next_step, _X, _NANS),
    Case(in_rows_that_are_copied, _X, _NANS),
    Case(sum_of_the_smallest, (0.7, -0.4, 1.3, 0.9), (0.5, 1.1, NAN, 0.8)),
    Case(smallest_left_out, (0.7, -0.4, 1.3, 0.9), (INF, NAN, 0.5, 0.8)),
]
FOR_EACH = pytest.mark.parametrize("case", CASES, ids=lambda c: c.f.__name__)


def arguments(case: Case, dtype: Any = np.float64) -> tuple[Any, Any]:
    return np.array(case.x, dtype), np.array(case.y, dtype)


def differences(f: Callable[..., Any], at: Any, *rest: Any) -> Any:
    """Central differences of the plain function; zero where it does not move.

    An entry that is not finite cannot be moved: its derivative is zero or unknown.
    """
    found = np.zeros(at.shape)
    for k in range(at.size):
        h = 1e-6 * max(1e-3, abs(at[k])) if np.isfinite(at[k]) else 0.0
        up, down = at.copy(), at.copy()
        up[k] += h
        down[k] -= h
        if h:
            found[k] = (f(up, *rest) - f(down, *rest)) / (up[k] - down[k])
    return found


@pytest.fixture(autouse=True)
def _quiet() -> Any:
    with np.errstate(all="ignore"):
        yield


def expected(case: Case) -> tuple[Any, Any]:
    x, y = arguments(case)
    by_x = differences(case.f, x, y)
    by_y = differences(lambda y, x: case.f(x, y), y, x)
    assert np.isfinite(by_x).all() and np.isfinite(by_y).all()
    return by_x, by_y


@FOR_EACH
def test_the_gradient_is_that_of_what_is_kept(case: Case) -> None:
    f = pyrev.differentiable(case.f, target="python")
    by_x, by_y = expected(case)
    found = pyrev.grad(f)(*arguments(case))
    np.testing.assert_allclose(found.x, by_x, rtol=2e-5, atol=1e-7)
    np.testing.assert_allclose(found.y, by_y, rtol=2e-5, atol=1e-7)


@FOR_EACH
def test_the_forward_mode_says_the_same(case: Case) -> None:
    f = pyrev.differentiable(case.f, target="python")
    x, y = arguments(case)
    by_x, _ = expected(case)
    for k in range(x.size):
        unit = np.eye(x.size)[k]
        _, moved = pyrev.jvp(f, x, y, tangents={"x": unit})
        assert moved["return"] == pytest.approx(by_x[k], rel=2e-5, abs=1e-7)


@FOR_EACH
def test_float32_says_the_same(case: Case) -> None:
    f = pyrev.differentiable(case.f, target="python")
    x, y = arguments(case, np.float32)
    if not np.isfinite(x).all():
        pytest.skip("the point is outside float32")
    by_x = differences(case.f, x.astype(np.float64), y.astype(np.float64))
    found = pyrev.grad(f, wrt="x")(x, y)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, by_x, rtol=2e-3, atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(
    "case", CASES[::6] + CASES[3:4] + CASES[11:12], ids=lambda c: c.f.__name__
)
def test_compiled_code_says_the_same(case: Case) -> None:
    by_x, by_y = expected(case)
    found = pyrev.grad(pyrev.differentiable(case.f, target="numba"))(*arguments(case))
    np.testing.assert_allclose(found.x, by_x, rtol=2e-5, atol=1e-7)
    np.testing.assert_allclose(found.y, by_y, rtol=2e-5, atol=1e-7)


def gone(text: str, active: str) -> list[str]:
    program = parse_text(text)
    found = discarded(program, frozenset(active.split()))
    return [
        s.target_name  # type: ignore[union-attr]
        for s in walk(program.body)
        if s.id in found and hasattr(s, "target_name")
    ]


def test_what_is_always_used_is_not_guarded() -> None:
    def f(x, w, out):
        for t in range(3):
            u = np.zeros(x.shape[0])
            for i in range(x.shape[0]):
                a = x[i] * w[i]
                u[i] = a * a
            for i in range(x.shape[0]):
                b = u[i] * w[i]
                out[t, i] = b * x[i]
            for i in range(x.shape[0]):
                x[i] = x[i] * u[i]

    text = pyrev.differentiable(f).adjoint.source
    assert "!= 0.0" not in text


def test_an_element_that_data_decides_is_one_of_those_that_are_read() -> None:
    text = """
def f(rows, x, y):
    u = np.zeros_like(y)
    for k in range(rows.shape[0]):
        u[rows[k]] += x[k] * x[k]
    s = 0.0
    for i in range({}):
        s += u[i] * y[i]
    return s
"""
    assert gone(text.format("y.shape[0]"), "x u s") == []
    assert gone(text.format("y.shape[0] - 1"), "x u s") == ["u"]
    assert gone(text.format("3"), "x u s") == ["u"]
    assert gone(text.format("rows.shape[0]"), "x u s") == ["u"]


def test_an_array_between_two_time_steps_is_read_before_it_is_overwritten() -> None:
    text = """
def f(u, v, n, m):
    for t in range(n):
        for i in range(m):
            v[i] = u[i] * u[i]
        for i in range(m):
            u[i] = v[i] * v[i]
"""
    # What the last step leaves in `v` is an output, what the first found in it is not.
    assert gone(text, "u v") == []


def test_an_element_that_is_only_sometimes_read_is_known() -> None:
    text = """
def f(x, out, n):
    t = np.zeros(n)
    for i in range(n):
        t[i] = x[i] * x[i]
    for i in range(1, n):
        out[i] = t[i] * t[i]
"""
    assert gone(text, "x t out") == ["t"]


# ------------------------------------------------------------------ second derivatives


def root_misfit(x, y):
    s = 0.0
    for i in range(x.shape[0]):
        s += (np.sqrt(x[i]) * y[i] - 1.0) ** 2
    return s


def misfit_of_valid(x, y):
    s = 0.0
    for i in range(x.shape[0]):
        t = x[i] * x[i] * y[i]
        e = np.exp(x[i]) * y[i] * x[i]
        if not np.isnan(t):
            s += (t - 2.0) ** 2
        if x[i] > 0.0 and not np.isnan(y[i]):
            s += e + t
    return s


def misfit_in_arrays(x, y):
    n = x.shape[0]
    t = np.zeros(n)
    for i in range(n):
        t[i] = x[i] * x[i] * y[i]
    s = 0.0
    for i in range(n):
        if not np.isnan(t[i]):
            s += (t[i] - 2.0) ** 2
    return s


def misfit_of_several(x, y):
    s = 0.0
    for i in range(x.shape[0] - 1):
        t = x[i] * x[i] * y[i] + x[i + 1] * x[i + 1] * x[i] * y[i + 1]
        if not np.isnan(t):
            s += (t - 2.0) ** 2
    return s


# Each misfit is zero somewhere: there the cotangent is, and the curvature is not.
CURVED = [
    Case(root_misfit, (4.0, 1.0, 2.25), (0.5, 1.0, 0.7)),
    Case(misfit_of_valid, (2.0, 1.0, -3.0, 1.0), (0.5, NAN, 1.0, 2.0)),
    Case(misfit_in_arrays, (2.0, 1.0, -3.0, 1.0), (0.5, NAN, 1.0, 2.0)),
    Case(misfit_of_several, (1.0, 1.0, 1.0, 0.3), (1.0, 1.0, NAN, 0.5)),
]
#: No kink, no large number within reach of second differences.
SMOOTH_HERE = (
    missing_data,
    missing_data_skipped,
    regression_in_arrays,
    mean_of_valid,
    gated,
    root_outside,
    two_branches,
    two_tests,
    overwritten_element,
    edges_never_read,
    last_one_wins,
    break_before_use,
    early_return,
    discarded_result,
    temporary_of_a_helper,
    conditional_expression,
    where_over_arrays,
    image_of_valid,
)
CURVATURES = pytest.mark.parametrize(
    "case",
    CURVED + [c for c in CASES if c.f in SMOOTH_HERE],
    ids=lambda c: c.f.__name__,
)


def curvature(case: Case) -> Any:
    x, y = arguments(case)
    h = 2e-4
    units = h * np.eye(x.size)
    found = np.empty((x.size, x.size))
    for a, u in enumerate(units):
        for b, v in enumerate(units):
            corners = [(u + v, 1), (u - v, -1), (v - u, -1), (-u - v, 1)]
            found[a, b] = sum(k * case.f(x + d, y) for d, k in corners) / (4 * h * h)
    return found


@CURVATURES
def test_the_hessian_is_that_of_what_is_kept(case: Case) -> None:
    f = pyrev.differentiable(case.f, target="python")
    found = pyrev.hessian(f, wrt="x")(*arguments(case))
    np.testing.assert_allclose(found, curvature(case), rtol=1e-4, atol=1e-4)


@pytest.mark.slow
@CURVATURES
def test_the_adjoint_of_the_adjoint_says_the_same(case: Case) -> None:
    f = pyrev.differentiable(case.f, target="python")
    x, y = arguments(case)
    expected_rows = curvature(case)
    for k in range(x.size):
        again = pyrev.differentiable(f.adjoint, target="python")
        _, pullback = pyrev.vjp(again, x, y, 1.0, wrt="x")
        row = pullback((np.eye(x.size)[k], None)).x
        np.testing.assert_allclose(row, expected_rows[k], rtol=1e-4, atol=1e-4)


def test_a_test_of_the_users_own_still_decides() -> None:
    def f(w, x):
        return w * x + w * w if w != 0.0 else 0.0

    found = pyrev.grad(pyrev.differentiable(f, target="python"))(0.0, 2.0)
    assert found.w == 0.0 and found.x == 0.0


# ------------------------------------------------------------------ sinking


def test_a_value_that_one_branch_uses_is_computed_there() -> None:
    text = pyrev.differentiable(missing_data).adjoint.source
    assert "!= 0.0" not in text and "if not np.isnan(y[i]):" in text


def test_a_value_that_is_asked_for_stays_where_it_is() -> None:
    f = pyrev.differentiable(missing_data, store=("d",), target="python")
    found = pyrev.grad(f)(*arguments(CASES[0]))
    np.testing.assert_allclose(found.x, expected(CASES[0])[0], rtol=2e-5, atol=1e-7)


def moved_past_a_write(x, y):
    s = 0.0
    for i in range(x.shape[0]):
        t = x[i] * y[i]
        x[i] = 2.0 * x[i]
        if x[i] > 0.0:
            s += t * x[i]
    return s


def carried_to_the_next(x, y):
    s = 0.0
    t = 1.0
    for i in range(x.shape[0]):
        if x[i] > 0.0:
            s += t * x[i]
        t = x[i] * y[i]
    return s


def used_behind_the_branch(x, y):
    s = 0.0
    for i in range(x.shape[0]):
        t = x[i] * y[i]
        if x[i] > 0.0:
            s += t * x[i]
        s += t
    return s


def sunk_twice(x, y):
    s = 0.0
    for i in range(x.shape[0]):
        t = x[i] * y[i]
        u = np.sqrt(t) * t
        if x[i] > 0.0:
            s += x[i]
            if not np.isnan(y[i]):
                for _ in range(3):
                    s += u * x[i]
        else:
            s -= x[i]
    return s


@pytest.mark.parametrize(
    "f", [moved_past_a_write, carried_to_the_next, used_behind_the_branch, sunk_twice]
)
def test_what_sinks_means_the_same(f: Callable[..., Any]) -> None:
    x, y = np.array(_X), np.array(_SOUND)
    by_x = differences(lambda x: f(x.copy(), y), x)
    found = pyrev.grad(pyrev.differentiable(f, target="python"))(x.copy(), y)
    np.testing.assert_allclose(found.x, by_x, rtol=2e-5, atol=1e-7)
