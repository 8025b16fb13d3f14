"""Partials multiplied out between reads and writes: the same derivatives for less."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyrev
from pyrev.adjoint.preaccumulate import Counts, preaccumulated
from pyrev.ir.text import program_text
from pyrev.parse import parse
from pyrev.testing.outcome import floats
from tests.corpora.everything import EVERY
from tests.turns import share_of


def chain(x, steps, out):
    for i in range(x.shape[0]):
        s = x[i]
        for _ in range(steps):
            e = math.exp(-s * s)
            w = e * math.sin(s) + s
            s = s + 0.1 * w * e
        out[i] = s


def erf_by_a_polynomial(x, out):  # Abramowitz and Stegun 7.1.26
    for i in range(x.shape[0]):
        t = 1 / (1 + 0.3275911 * x[i])
        a = 1.061405429 * t - 1.453152027
        b = a * t + 1.421413741
        c = b * t - 0.284496736
        d = c * t + 0.254829592
        out[i] = 1 - d * t * math.exp(-x[i] * x[i])


def overwritten(u, out):
    for i in range(1, u.shape[0]):
        a = u[i] * u[i - 1]
        b = a * math.sin(a)
        out[i] = b * b + u[i]
        u[i] = a * b


def read_again(u, out):
    for i in range(u.shape[0]):
        a = u[i] * 2.0
        u[i] = a * a * a
        out[i] += u[i] * a


def carried(u, k):
    s = 0.5
    m = 1.0
    for i in range(u.shape[0]):
        t = s * u[i]
        m = m + t * t * k
        s = t * math.cos(t) + 0.3
    return s * m


def moved_subscript(u, out, n):
    k = 0
    for _ in range(n):
        a = u[k] * u[k]
        b = a * math.sin(a)
        out[k] = b * a
        k = k + 1


X = np.linspace(0.2, 1.7, 6)
CALLS: dict[Callable[..., Any], tuple[Any, ...]] = {
    chain: (X, 5, np.zeros(6)),
    erf_by_a_polynomial: (X, np.zeros(6)),
    overwritten: (X, np.zeros(6)),
    read_again: (X, np.ones(6)),
    carried: (X, 0.7),
    moved_subscript: (X, np.zeros(6), 5),
}


@pytest.mark.parametrize("f", CALLS, ids=lambda f: f.__name__)
def test_several_directions_are_what_each_is_alone(f: Callable[..., Any]) -> None:
    function = pyrev.differentiable(f, target="python")
    values = dict(zip(f.__code__.co_varnames, CALLS[f], strict=False))
    _same_as_one_by_one(function, values, 5)


def _same_as_one_by_one(function: Any, values: Any, count: int) -> None:
    rng = np.random.default_rng(1)
    names = floats(values)
    moves = {n: rng.uniform(-1, 1, (count, *np.shape(values[n]))) for n in names}
    _, together = pyrev.jvp(function, **copy.deepcopy(dict(values)), tangents=moves)
    for k in range(count):
        one = {n: moves[n][k] for n in names}
        _, alone = pyrev.jvp(function, **copy.deepcopy(dict(values)), tangents=one)
        for name, expected in alone.items():
            found = together[name]
            several = isinstance(expected, tuple)
            for a, b in zip(
                found if several else (found,),
                expected if several else (expected,),
                strict=True,
            ):
                np.testing.assert_allclose(a[k], b, rtol=1e-10, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", share_of(EVERY, 24))
def test_several_directions_of_every_function(name: str) -> None:
    entry = EVERY[name]
    try:
        function = pyrev.differentiable(entry.plain, target="python")
    except pyrev.UnsupportedError as refused:
        pytest.skip(f"outside the language: {refused.findings[0].code}")
    size = max(4, entry.least)
    values = entry.make(size, np.float64, entry.generator(size))
    if not floats(values):
        pytest.skip("no float to differentiate with respect to")
    _same_as_one_by_one(function, values, 3)


def chosen(a, z, out):
    r = np.zeros(len(a))
    for i in range(len(a)):
        r[i] = math.sqrt(z[i])
    s = 0.0
    for i in range(len(a)):
        t = max(a[i], r[i])
        w = min(max(t * a[i], r[i]), max(r[i] * 0.5, a[i]))
        out[i] = w * 3.0
        u = t * a[i] * a[i]
        v = u * u + w
        s += v * math.sin(v) * u
    return s


def clamped_again_and_again(a, z, out):
    s = 0.0
    for i in range(len(a)):
        t = max(a[i], z[i])
        u = max(t, t * 0.9)
        p = max(u, u * 1.1)
        q = min(p, p * 0.9)
        v = min(q, q * 0.9)
        r = max(v, v * 1.01)
        w = max(r, r * 1.01)
        out[i] = w
        s += w * math.sin(w) * q
    return s


@pytest.mark.parametrize("f", [chosen, clamped_again_and_again])
def test_what_is_not_chosen_passes_nothing_on_be_it_infinite(
    f: Callable[..., Any],
) -> None:
    # The root has an infinite derivative where it is not the greater one.
    a = np.array([0.7, -0.3, 0.4, 1.1])
    z = np.array([0.0, 0.5, 0.9, 0.3])
    program = parse(f).program
    _, counts = preaccumulated(program, ("a", "z"), frozenset(), 8)
    assert counts.with_it < counts.without / 2
    values = {"a": a, "z": z, "out": np.zeros(4)}
    function = pyrev.differentiable(f, target="python")
    _same_as_one_by_one(function, values, 8)
    each = np.eye(8)
    moves = {"a": each[:, :4], "z": each[:, 4:]}
    _, found = pyrev.jvp(function, **copy.deepcopy(values), tangents=moves)
    for k in range(8):
        steps = {n: v[k] for n, v in moves.items()}
        ends = []
        # The root ends at zero: differences to one side.
        for m in (0, 1, 2):
            own = copy.deepcopy(values)
            for n, v in steps.items():
                own[n] += 1e-6 * m * v
            ends.append((f(**own), own["out"]))
        for j, got in enumerate((found["return"][k], found["out"][k])):
            slope = (-3 * ends[0][j] + 4 * ends[1][j] - ends[2][j]) / 2e-6
            np.testing.assert_allclose(got, slope, rtol=1e-4, atol=1e-7)


def added_behind(a, b):
    for i in range(len(b)):
        t = a[0] * math.sin(a[0])
        v = b[i] * math.cos(b[i])
        a[i + 1] += v * v * b[i]
        a[i + 2] += t * t * t


def test_increments_of_one_array_of_which_one_needs_it_stay_as_they_are() -> None:
    program = parse(added_behind).program
    made, counts = preaccumulated(program, ("a", "b"), frozenset())
    assert made is program and counts == Counts()
    function = pyrev.differentiable(added_behind, target="python")
    report = pyrev.check_grad(function, X.copy(), X[:4].copy())
    assert report.ok, report


@pytest.mark.parametrize("f", CALLS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("target", ["python", "numba"])
def test_gradients_are_right(f: Callable[..., Any], target: str) -> None:
    if target == "numba" and f not in (chain, carried):
        pytest.skip("the sweep records nothing: the text is that without slopes")
    function = pyrev.differentiable(f, target=target)
    report = pyrev.check_grad(function, *copy.deepcopy(CALLS[f]))
    assert report.ok, report


def test_both_counts_are_told_and_it_can_be_switched_off() -> None:
    report = pyrev.differentiable(chain).adjoint.report()
    assert report.preaccumulated is not None
    (_, taped), (_, then), taken = report.preaccumulated
    assert taken and taped == 3 and then == 1
    assert "3 values recorded" in str(report) and "with (taken)" in str(report)
    off = pyrev.differentiable(chain, preaccumulate=False).adjoint
    assert off.report().preaccumulated is None
    assert off.source.count("np.empty") == 3
    assert pyrev.differentiable(chain).adjoint.source.count("np.empty") == 1


def test_the_error_function_is_one_edge() -> None:
    program = parse(erf_by_a_polynomial).program
    made, counts = preaccumulated(program, ("x",), frozenset(), 8)
    text = program_text(made)
    assert text.count("along") == 1 and ", x[i])" in text
    # Without: each of 17 edges for each direction; with it: one edge, found once.
    assert counts.without == 8 * 17 and counts.with_it < 30


def test_a_single_direction_is_left_as_it_is() -> None:
    program = parse(read_again).program
    made, counts = preaccumulated(program, ("u",), frozenset(), 1)
    assert made is program and counts == Counts()


@pytest.mark.parametrize("preaccumulate", [True, False])
def test_a_zero_cotangent_gives_an_exact_zero(preaccumulate: bool) -> None:
    def roots(x, steps):
        s = x
        total = 0.0
        for _ in range(steps):
            r = math.sqrt(s)
            w = r * 0.0
            s = s * 0.5 + w
            total += s
        return total

    f = pyrev.differentiable(roots, target="python", preaccumulate=preaccumulate)
    assert pyrev.grad(f, wrt="x")(0.0, 3) == 0.5 + 0.25 + 0.125
