"""Partials told from results: what is recorded for them, and that they are right."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import pyrev
from pyrev.driver.request import Request
from pyrev.driver.targets import NUMBA
from tests.corpora.everything import EVERY


def softmax(a, b):
    for i in range(a.shape[0]):
        total = 0.0
        for j in range(a.shape[1]):
            a[i, j] = np.exp(a[i, j])
            total += a[i, j]
        for j in range(a.shape[1]):
            a[i, j] /= total


def overwritten_behind(a, b):
    for i in range(a.shape[0]):
        a[i, 0] = np.exp(a[i, 0])
        b[i] += a[i, 0] * a[i, 1]
        a[i, 0] = 2.0 * a[i, 1]


def overwritten_by_the_next(a, b):
    for i in range(a.shape[0]):
        a[0, 0] = a[i, 1] / (2.0 + a[0, 0] * a[0, 0])
        b[i] += a[0, 0]


def overwritten_in_another_nest(a, b):
    for i in range(a.shape[0]):
        a[i, 0] = np.tanh(a[i, 0])
    for i in range(a.shape[0]):
        b[i] += a[i, 0] * a[i, 0]
        a[i, 0] = b[i]


def on_some_paths(a, b):
    for i in range(a.shape[0]):
        if b[i] > 0.5:
            a[i, 0] = np.sqrt(a[i, 0])
        else:
            a[i, 0] = a[i, 0] / (1.0 + a[i, 0])
        b[i] *= a[i, 0]


def factors_that_are_repeated(a, b):
    for i in range(a.shape[0]):
        b[i] += 0.5 * a[i, 0] * a[i, 1] * a[i, 0]
        b[i] -= a[i, 1] * a[i, 1] * a[i, 1] * 3.0
        b[i] += (a[i, 0] + b[i]) * a[i, 1] * (a[i, 0] + b[i])
        b[i] *= i * b[i] * i


def used_on_some_paths(a, b):
    s = 1.0
    for i in range(a.shape[0]):
        s = s * b[i] / (1.0 + a[i, 0])
        q = np.exp(-s)
        a[i, 1] += q if b[i] > 0.5 else 0.0
        b[i] = q * s
        root = np.sqrt(b[i] * b[i] + s)
        s = s + root


FUNCTIONS = [
    used_on_some_paths,
    softmax,
    overwritten_behind,
    overwritten_by_the_next,
]
FUNCTIONS += [overwritten_in_another_nest, on_some_paths, factors_that_are_repeated]


def arguments(seed: int, dtype: Any = np.float64) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    a = rng.uniform(0.1, 0.4, (4, 4)) + 2.0 * np.eye(4)
    a = a + a.T
    return a.astype(dtype), rng.uniform(0.2, 0.9, 4).astype(dtype)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_derivative_is_that_of_the_plain_function(function: Any) -> None:
    f = pyrev.differentiable(function, target="python")
    a, b = arguments(0)
    rng = np.random.default_rng(1)
    u, v, w_a, w_b = (rng.normal(size=x.shape) for x in (a, b, a, b))

    def along(h: float) -> float:
        p, q = a + h * u, b + h * v
        function(p, q)
        return float(np.sum(w_a * p) + np.sum(w_b * q))

    _, pull = pyrev.vjp(f, copy.deepcopy(a), copy.deepcopy(b))
    writes = {of for _, of in pull._outputs if isinstance(of, str)}
    given = {n: w for n, w in (("a", w_a), ("b", w_b)) if n in writes}
    found = dict(pull(cotangents=given).items())
    kept = {n: w for n, w in (("a", w_a), ("b", w_b)) if n not in writes}
    mine = sum(
        np.sum((found[n] + kept.get(n, 0.0)) * d) for n, d in (("a", u), ("b", v))
    )
    assert mine == pytest.approx((along(1e-6) - along(-1e-6)) / 2e-6, rel=1e-7)


def recorded(function: Any) -> int:
    f = pyrev.differentiable(function)
    units = f._units
    kinds = units.function.default_kinds()
    request = Request(NUMBA, kinds, units.function.wrt(kinds, None))
    return len(units.unscheduled(request).recorded)


@pytest.mark.parametrize("name", ["lu_in_place", "cholesky_in_place", "lu", "cholesky"])
def test_a_factorisation_in_place_records_nothing(name: str) -> None:
    assert recorded(EVERY[name].plain) == 0


def test_what_is_overwritten_is_recorded() -> None:
    assert recorded(overwritten_behind) >= 1
    assert recorded(overwritten_in_another_nest) >= 1


def test_what_an_array_has_rounded_is_not_told_from_it() -> None:
    def rounded(a, b, k):
        for i in range(a.shape[0]):
            root = np.sqrt(b[i] * k)
            b[i] = 0.0
            a[i] = root

    f = pyrev.differentiable(rounded, target="python")
    a, b = np.zeros(3, np.float32), np.full(3, 0.1, np.float32)
    text = f.adjoint.source_for("python", a, b, np.float64(0.3))
    line = next(x for x in text.splitlines() if "0.5 *" in x)
    assert "a_2[" not in line, text


def test_a_repeated_factor_owes_once() -> None:
    def misfit(r):
        total = 0.0
        for i in range(r.shape[0]):
            total += 0.5 * r[i] * r[i]
        return total

    source = pyrev.differentiable(misfit, target="python").adjoint.source
    assert "d_r[i] += d_result * r[i]" in source
