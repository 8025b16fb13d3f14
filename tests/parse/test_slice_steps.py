# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Slices whose step is a number of the call: ``x[a:b:k]``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyrev
from tests.tools.oracle import check

X = np.array([0.3, 0.7, 1.1, 0.2, 0.9, 0.5, 0.8])


def thinned(x, k):
    return np.sum(x[::k] ** 2)


def harmonics(x, w, n):
    s = 0.0
    for k in range(1, n + 1):
        s += np.sum(x[: len(w) * k : k] * w) ** 2
    return s


def written_to(x, out, a, k):
    out[a::k] = x[:3] * 2.0
    out[1::k] += x[-1]
    y = x[a:-1:k]
    k += 1
    return y * x[k] + out[k]


def of_columns(m, k):
    t = m[1:, ::k].copy()
    t[0, :] *= 2.0
    m[0, :] = 0.5
    return t @ t.T + np.sum(m[:, k::2])


CALLS: list[tuple[Any, dict[str, Any], list[str]]] = [
    *((thinned, {"x": X, "k": k}, []) for k in (1, 2, 3, 7, 9, 10**6)),
    (thinned, {"x": X[:0], "k": 2}, []),
    (harmonics, {"x": X, "w": X[:2], "n": 3}, []),
    (written_to, {"x": X, "out": X.copy(), "a": 0, "k": 3}, ["out"]),
    (of_columns, {"m": np.outer(X[:3], X), "k": 2}, ["m"]),
    (of_columns, {"m": np.outer(X[:3], X), "k": 3}, ["m"]),
]


@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize("number", range(len(CALLS)))
def test_steps_of_a_call(number: int, target: str) -> None:
    plain, given, changed = CALLS[number]
    given = {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in given.items()}
    f = pyrev.differentiable(plain, target=target)
    check(f, plain, given, changed, np.random.default_rng(number))


@pytest.mark.parametrize("k", [0, -1, -2])
def test_they_have_to_be_positive(k: int) -> None:
    f = pyrev.differentiable(thinned, target="numba")
    with pytest.raises(ValueError, match="positive"):
        pyrev.vjp(f, X, k)


@pytest.mark.parametrize("k", [2**63 - 1, np.int8(3), np.uint8(200)])
def test_those_that_could_go_around_are_refused(k: Any) -> None:
    f = pyrev.differentiable(thinned)
    with pytest.raises(pyrev.ArgumentError, match=r"64 bits|goes around"):
        pyrev.vjp(f, X, k)
