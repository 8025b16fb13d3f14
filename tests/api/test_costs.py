"""`f.report`: what a call costs."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import pyrev
from pyrev.report.costs import REMEDIES, Costs, in_bytes
from pyrev.runtime.journal import Entry


def march(u: Any, c: float, n: int) -> Any:
    for _ in range(n):
        for i in range(1, u.shape[0]):
            u[i] += c * u[i] * u[i - 1]
    return np.sum(u)


@pytest.mark.parametrize("target", ["python", "numba"])
def test_a_report_measures_on_copies(target: str) -> None:
    f = pyrev.differentiable(target=target)(march)
    u = np.linspace(0.1, 0.2, 50)
    before = u.copy()
    found = f.report(u, 0.1, 4)
    np.testing.assert_array_equal(u, before)
    assert found.name == "march"
    assert found.arguments == "u float64[50], c float, n int"
    assert found.target == target
    assert min(found.primal, found.forward, found.reverse) > 0
    assert found.gradients == u.nbytes  # the one by `c` is a number
    assert found.recorded >= 0
    assert found.seconds("read") > 0
    assert found.proofs >= 0
    assert json.loads(json.dumps(found.to_dict()))["name"] == "march"


def test_a_report_counts_what_is_recorded() -> None:
    f = pyrev.differentiable(march)
    u = np.full(1000, 0.1)
    few, many = f.report(u, 0.1, 2), f.report(u, 0.1, 50)
    assert few.recorded < many.recorded


def test_a_report_is_of_the_call_that_it_is_given() -> None:
    f = pyrev.differentiable(march)
    with pytest.raises(pyrev.ArgumentError, match="`u`"):
        f.report(1.0, 0.1, 2)
    with pytest.raises(pyrev.ArgumentError, match="wrt"):
        f.report(np.ones(4), 0.1, 2, wrt="n")
    assert f.report(np.ones(4), 0.1, 2, wrt="c").gradients <= 8


@pytest.mark.parametrize("begin", REMEDIES)
def test_what_was_compiled_again_has_a_remedy(begin: str) -> None:
    again = Entry("compiled", "primal of f", 2.0, f"{begin} ...")
    entries = (Entry("read", "f", 0.1), again)
    found = Costs("f", "x float64[3]", "numba", 2, "omp", entries, 1.0, 1.0, 1.0, 0, 24)
    assert found.remedies() == [REMEDIES[begin]]
    assert f"to compile less: {REMEDIES[begin]}" in str(found)


def test_a_report_in_words() -> None:
    entries = (
        Entry("read", "f", 0.1),
        Entry("derived", "primal of f", 0.2, proofs=0.05),
        Entry("compiled", "primal of f", 2.0, "the first"),
    )
    found = Costs("f", "x float64[3]", "numba", 1, "", entries, 1e-5, 2e-5, 3e-5, 0, 24)
    assert str(found).splitlines() == [
        "f(x float64[3]), target numba, 1 thread",
        "",
        "before it could run, once, for all arguments so far",
        "  read               100 ms",
        "  derived            200 ms, 50 ms of them proofs",
        "  compiled              2 s, once",
        "each call with such arguments",
        "  function            10 us",
        "  with gradient       50 us: forward 20 us, reverse 30 us",
        "  recorded              0 B",
        "  gradients            24 B",
        "compiled",
        "        2 s  primal of f: the first",
    ]


@pytest.mark.parametrize(
    ("size", "words"), [(0, "0 B"), (1500, "1.5 kB"), (67_200_000, "67.2 MB")]
)
def test_sizes_in_words(size: int, words: str) -> None:
    assert in_bytes(size) == words
