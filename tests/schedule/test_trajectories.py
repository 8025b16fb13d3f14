"""What one iteration leaves to the next is recorded once, with a place more than the
loop has iterations.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyrev
from tests.tools.costs import differentiable

RNG = np.random.default_rng(11)
X = RNG.uniform(0.2, 0.9, 7)
Y = RNG.uniform(0.2, 0.9, 7)
SQUARE = RNG.uniform(0.1, 0.6, (3, 3))
THREE = RNG.uniform(0.2, 0.9, 3)


def recurrent(x, y, w, u):
    h = 0.0
    loss = 0.0
    for t in range(x.shape[0]):
        h = np.tanh(w * h + u * x[t])
        loss += (h - y[t]) ** 2
    return loss


def variances(r, omega, alpha, beta):
    s = omega
    total = 0.0
    for t in range(1, r.shape[0]):
        s = omega + alpha * r[t - 1] ** 2 + beta * s
        total -= np.log(s) + r[t] ** 2 / s
    return total


def layer_in_time(x, W, U, h0):
    h = h0.copy()
    g = np.zeros(h0.shape[0])
    loss = 0.0
    for t in range(x.shape[0]):
        for i in range(h0.shape[0]):
            a = U[i] * x[t]
            for j in range(h0.shape[0]):
                a += W[i, j] * h[j]
            g[i] = np.tanh(a)
        for i in range(h0.shape[0]):
            h[i] = g[i]
        for i in range(h0.shape[0]):
            loss += h[i] * h[i] * (i + 1)
    return loss


def under_tests(x, w):
    """Read on some paths, before and after a change that some paths make."""
    h = w
    out = 0.0
    for t in range(x.shape[0]):
        if t > 1:
            out += h * x[t]
        if x[t] > 0.5:
            h = np.exp(-h * h) * w + h
        if x[t] < 0.8:
            out += np.cos(h)
    return out


def begun_in_each_round(x, w, m):
    out = 0.0
    for k in range(m):
        h = x[0] * (k + 1)
        for t in range(0, x.shape[0], 2):
            if x[t] > 0.3:
                h = np.sin(w * h) + x[t]
            out += h * h * x[t]
    return out


def downwards(x, w):
    h = 0.5
    out = 0.0
    for t in range(x.shape[0] - 1, -1, -1):
        h = np.sin(w * h) + x[t]
        out += h * h
    return out


def changed_twice(x, w):
    """What stands between two changes is neither a start nor an end."""
    h = w
    out = 0.0
    for t in range(x.shape[0]):
        h = np.sin(h) * x[t]
        out += h * h
        h = np.cos(h) + w
        out += h * h
    return out


def parts_of_an_array(x, u0):
    """Elements by other subscripts, before and after."""
    u = u0.copy()
    out = 0.0
    n = u0.shape[0]
    for t in range(x.shape[0]):
        for i in range(1, n):
            out += x[t] * u[i - 1] * u[i]
        for i in range(n):
            u[i] = u[i] * u[i] * x[t]
        for i in range(n - 1):
            out += np.sin(u[i + 1])
    return out


def turned(x, u0):
    """Two axes, read in another order than they have."""
    u = u0.copy()
    out = 0.0
    for t in range(x.shape[0]):
        for i in range(u.shape[0]):
            for j in range(u.shape[1]):
                u[i, j] = np.sin(u[i, j]) * x[t]
        for j in range(u.shape[1]):
            for i in range(u.shape[0]):
                out += u[i, j] * u[i, j]
    return out


def made_anew(x, n):
    """The array of each iteration is another one."""
    out = 0.0
    u = np.zeros(n) + x[0]
    for t in range(x.shape[0]):
        for i in range(n):
            out += u[i] * u[i] * x[t]
        u = np.zeros(n)
        for i in range(n):
            u[i] = np.sin(x[t] * i)
        for i in range(n):
            out += u[i] ** 3
    return out


def neighbours_in_place(x, u0):
    """An iteration reads what another has changed, and what is not changed yet."""
    u = u0.copy()
    out = 0.0
    for t in range(x.shape[0]):
        for i in range(1, u.shape[0] - 1):
            u[i] = 0.5 * np.sin(u[i - 1]) * u[i + 1] + 0.1 * u[i] * u[i]
        for i in range(u.shape[0]):
            out += u[i] * u[i] * x[t]
    return out


def upwards_in_place(x, u0):
    """The same, coming down, along two axes."""
    u = u0.copy()
    out = 0.0
    for t in range(x.shape[0]):
        for i in reversed(range(1, u.shape[0] - 1)):
            for j in range(1, u.shape[1] - 1):
                u[i, j] = (
                    np.sin(u[i - 1, j]) * u[i + 1, j - 1]
                    + 0.1 * u[i, j + 1] * u[i, j]
                    + u[i, j - 1] * u[i - 1, j + 1]
                )
        for i in range(u.shape[0]):
            for j in range(u.shape[1]):
                out += u[i, j] * u[i, j] * x[t]
    return out


def used_where_it_changes(x, u0):
    """Before and after the change, in one iteration of the loops inside."""
    u = u0.copy()
    out = 0.0
    for t in range(x.shape[0]):
        for i in range(u.shape[0]):
            for j in range(i, u.shape[1]):
                out += u[i, j] ** 3
                u[i, j] = np.cos(u[i, j]) * x[t]
                out += u[i, j] ** 2
    return out


def copied_twice(x, u0):
    """Nests that read neighbours, before a change, after it, and after another."""
    u = u0.copy()
    out = 0.0
    for t in range(x.shape[0]):
        for i in range(1, u.shape[0]):
            out += u[i - 1] * u[i] * x[t]
        for i in range(u.shape[0]):
            u[i] = np.sin(u[i]) + 0.5
        for i in range(1, u.shape[0]):
            out += np.cos(u[i - 1]) * u[i]
        for i in range(1, u.shape[0]):
            out += np.sin(u[i - 1]) * u[i] * x[t]
        for i in range(u.shape[0]):
            u[i] = u[i] * u[i] * x[t]
    return out


def two_changes_in_an_iteration(x, u0):
    u = u0.copy()
    out = 0.0
    for t in range(x.shape[0]):
        for i in range(u.shape[0]):
            u[i] = np.cos(u[i]) * x[t]
            out += u[i] ** 2
            u[i] = np.sin(u[i]) + x[t]
            out += u[i] ** 3
        u[0] = u[0] * u[1]
    return out


def backwards(x, w):
    h = w
    out = 0.0
    for t in reversed(range(x.shape[0])):
        h = np.sin(h * x[t])
        out += h * h
    return out


def ended_early(x, w):
    h = w
    out = 0.0
    for t in range(x.shape[0]):
        h = np.sin(h * x[t]) + 0.5
        out += h * h
        if out > 1.5:
            break
        out += h * x[t] * h
    return out


CASES: dict[Callable[..., Any], tuple[Any, ...]] = {
    recurrent: (X, Y, 0.7, 0.4),
    variances: (X, 0.3, 0.2, 0.5),
    layer_in_time: (X, SQUARE, THREE, THREE),
    under_tests: (X, 0.6),
    begun_in_each_round: (X, 0.8, 3),
    downwards: (X, 0.8),
    changed_twice: (X, 0.8),
    parts_of_an_array: (X, THREE),
    turned: (X, SQUARE[:2]),
    made_anew: (X, 3),
    neighbours_in_place: (X, Y[:5]),
    upwards_in_place: (X, RNG.uniform(0.1, 0.4, (5, 4))),
    used_where_it_changes: (X, SQUARE),
    copied_twice: (X, THREE),
    two_changes_in_an_iteration: (X, THREE),
    backwards: (X, 0.8),
    ended_early: (X, 0.8),
}

#: They read an element of it outside of the loop.
NOT_EMPTY = (made_anew, begun_in_each_round)

#: What is recorded over a loop in the readable text; None where that is not the matter.
ONCE = {
    recurrent: ["h"],
    variances: ["s"],
    under_tests: ["h"],
    begun_in_each_round: ["h"],
    downwards: ["h"],
    parts_of_an_array: ["u"],
    turned: ["u"],
    used_where_it_changes: ["u"],
    neighbours_in_place: ["u"],
    upwards_in_place: ["u"],
}


@pytest.mark.parametrize("f", CASES, ids=lambda f: f.__name__)
@pytest.mark.parametrize(
    "target", ["python", pytest.param("numba", marks=pytest.mark.slow)]
)
def test_gradients_are_right_at_all_lengths(f: Callable[..., Any], target: str) -> None:
    derived = differentiable(f, target=target)
    x, *others = CASES[f]
    for n in (1, 2, 7):
        report = pyrev.check_grad(derived, x[:n], *others)
        assert report.ok, report


@pytest.mark.parametrize("f", [f for f in CASES if f not in NOT_EMPTY])
def test_no_iteration(f: Callable[..., Any]) -> None:
    derived = differentiable(f, target="python")
    x, *others = CASES[f]
    report = pyrev.check_grad(derived, x[:0], *others)
    assert report.ok, report


@pytest.mark.parametrize("f", ONCE, ids=lambda f: f.__name__)
def test_each_value_is_recorded_once(f: Callable[..., Any]) -> None:
    text = pyrev.differentiable(f).adjoint.source
    assert re.findall(r"^ +(\w+)_tape\w* = np.empty", text, re.M) == ONCE[f]
    name = ONCE[f][0]
    assert re.search(rf"^ +{name}_tape\[(k, )?0\] = {name}$", text, re.M)


def test_the_text_is_what_a_person_would_write() -> None:
    text = pyrev.differentiable(recurrent).adjoint.source
    assert "    h_tape = np.empty(x.shape[0] + 1)\n    h_tape[0] = h\n" in text
    assert "        h_tape[t + 1] = h\n" in text
    assert "d_h * (1 - h_tape[t + 1] * h_tape[t + 1])" in text
    text = pyrev.differentiable(variances).adjoint.source
    assert "        s_tape[t] = s\n" in text
    assert "        d_beta += d_s * s_tape[t - 1]\n" in text
    report = pyrev.differentiable(variances).adjoint.report()
    (kept,) = [v for v in report.values if v.kind == "taped"]
    assert kept.name == "s"


def test_an_array_that_inner_loops_read_again_is_copied_once() -> None:
    text = pyrev.differentiable(layer_in_time).adjoint.source
    assert "h_tape = np.empty((x.shape[0] + 1, h.shape[0]))" in text
    assert "d_W[i, j] += d_a * h_tape[t, j]" in text
    assert "2 * d_result * h_tape[t + 1, i] * (i + 1)" in text


def looked_up(x, cells, grid0):
    """A few elements of many, which data choose."""
    grid = grid0.copy()
    out = 0.0
    for t in range(x.shape[0]):
        for p in range(cells.shape[0]):
            for a in range(2):
                out += x[t] * grid[cells[p] + a] * grid[cells[p] + a]
        for i in range(grid.shape[0]):
            grid[i] = np.sin(grid[i])
    return out


def test_an_array_of_which_data_choose_a_few_elements_is_not_copied() -> None:
    f = pyrev.differentiable(looked_up)
    given = X, np.array([0, 3, 1]), np.linspace(0.2, 0.8, 9)
    assert pyrev.check_grad(f, *given).ok
    text = str(f.adjoint.source_for("python", *given))
    assert "np.empty((x.shape[0], cells.shape[0], 2))" in text, text


@pytest.mark.parametrize("f", [recurrent, layer_in_time, under_tests])
def test_within_a_bound_of_memory(f: Callable[..., Any]) -> None:
    derived = differentiable(f, target="python", memory="1 KiB")
    assert pyrev.check_grad(derived, *CASES[f]).ok


def spread(rows):
    out = np.zeros(rows.shape)
    for y in range(rows.shape[0]):
        for x in range(rows.shape[1]):
            out[y, x] = np.tanh(rows[y, x] * (1.0 + x))
    return out


def made_and_exchanged(signal, steps):
    """A name has arrays that were made before the loop, and in it."""
    rows, spare = signal, np.tanh(signal)
    energy = 0.0
    for t in range(steps):
        if t % 2 == 1:
            rows, spare = spare, rows
        if rows.shape[1] > 1:
            spare = rows
            rows = spread(rows)
        for y in range(rows.shape[0]):
            for x in range(rows.shape[1]):
                energy += rows[y, x] * np.tanh(spare[y, x])
    return energy


@pytest.mark.parametrize("budget", ["64 KiB", "1 MiB"])
def test_arrays_that_change_places_within_a_bound_of_memory(budget: str) -> None:
    f = pyrev.differentiable(made_and_exchanged, target="python", memory=budget)
    assert pyrev.check_grad(f, X[:6].reshape(2, 3), 5).ok


def test_second_derivatives_of_the_text() -> None:
    f = pyrev.differentiable(variances)
    x = X[:5]

    def gradient(omega: float) -> float:
        return float(pyrev.grad(f)(x, omega, 0.2, 0.5)["omega"])

    step = 1e-6
    expected = (gradient(0.3 + step) - gradient(0.3 - step)) / (2 * step)
    found = pyrev.hvp(f, x, 0.3, 0.2, 0.5, tangents={"omega": 1.0})["omega"]
    assert math.isclose(found, expected, rel_tol=1e-6)


def added_by_hand(x, v, w):
    """``v = v + e`` leaves the cotangent of `v` as it is."""
    for t in range(x.shape[0]):
        v = v + w * x[t]
        w = x[t] * v + w - 0.5 * v * v
        v = v - w
        v = 0.1 * x[t] + v + 0.2 * w * w
    return v * w


def added_to_elements(a, x):
    for t in range(1, x.shape[0]):
        a[t] = a[t] + x[t] * a[t - 1]
        a[t - 1] = x[t] - (a[t - 1] - a[t])
        a[t] = a[t] + a[t]


@pytest.mark.parametrize("target", ["python", "numba"])
def test_sums_that_are_assigned(target: str) -> None:
    one = differentiable(added_by_hand, target=target)
    assert pyrev.check_grad(one, X, 0.4, 0.3).ok
    two = differentiable(added_to_elements, target=target)
    assert pyrev.check_grad(two, Y.copy(), X).ok


def test_an_assigned_sum_has_the_text_of_an_increment() -> None:
    text = pyrev.differentiable(added_by_hand).adjoint.source
    assert not re.search(r"(\w+) = (\w+)\n +\2 = \1\n", text)


def rolled_back(s, k, u, n):
    """Values of neighbours, none of which has changed yet (a binomial tree)."""
    v = np.zeros(n + 1)
    for i in range(n + 1):
        v[i] = s * u ** (n - 2 * i)
    for step in range(n - 1, -1, -1):
        for i in range(step + 1):
            v[i] = max(0.45 * v[i] * v[i] + 0.5 * v[i + 1], k)
    return v[0]


def test_what_several_reads_have_before_a_change_is_copied_once() -> None:
    f = pyrev.differentiable(rolled_back)
    text = f.adjoint.source
    assert "        v_before[n - 1 - step] = v\n" in text
    assert "v_tape" not in text
    for n in (0, 1, 2, 5):
        assert pyrev.check_grad(f, 0.7, 0.4, 1.1, n).ok
