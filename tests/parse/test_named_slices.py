# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Slices with names, ``rows = slice(1, n)``, and shapes with stars."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyrev
from tests.tools.oracle import check

X = np.random.default_rng(0).uniform(0.2, 0.9, 6)
U = np.random.default_rng(1).uniform(0.2, 0.9, (5, 4))


def columns(data, starts, rows, vec, n):
    out = np.zeros(n)
    for j in range(len(starts) - 1):
        part = slice(starts[j], starts[j + 1])
        out[rows[part]] += vec[j] * data[part] ** 2
    return out


def of_two_axes(u, w):
    inner = np.s_[1:-1, 1:-1]
    left = (slice(1, -1), slice(None, -2))
    out = np.zeros_like(u)
    out[inner] = u[inner] * w[left]
    out[0, slice(1)] = u[slice(2, None), 0].sum() ** 2
    return out


def on_two_paths(x, upper):
    n = len(x) // 2
    if upper:
        part = slice(n, None)
    else:
        part = slice(n + 1, None)
    y = x.copy()
    y[part] *= 2.0
    return np.sum(y[part] ** 2) + part.start * x[0]


def literals_on_two_paths(x, upper):
    part = slice(0, 2)
    if upper:
        part = slice(2, 5)
    return np.sum(x[part] ** 2) + part.stop


def bound_before(x, m, i, n):
    row = (i, slice(1, None, 2))
    first = slice(0, n)
    i, n = 0, 1
    return np.sum(m[row] ** 2) + np.sum(x[first] * x[n]) + x[i]


def of_a_step(x, k):
    part = slice(None, None, k)
    turned = x[slice(None, None, -1)]
    return np.sum(x[part] ** 2) * part.step + turned[slice(0, k)] @ x[slice(k)]


def in_a_comprehension(x, n):
    parts = [x[slice(k, k + 2)].sum() ** 2 for k in range(n)]
    return sum(parts)


def the_users_own(x, n):
    def slice(a, b):
        return a * b

    rows = slice(n, 2)
    return x[rows] ** 2


def stars(x, n):
    h = np.zeros((n, *x.shape[1:], 2))
    for k in range(n):
        h[k, ..., 1] = x[k] ** 2
    return h.reshape(2, -1, *x.shape[1:]) * 2.0


def all_axes(x):
    y = np.ones((*x.shape, 1, 2)) * x.reshape((*x.shape, 1, 1))
    return y.reshape(x.shape[:1] + (-1,))


def rows_of_any_rank(x):
    out = np.zeros((*x.shape[:1], 3, *x.shape[1:]))
    out[:, 1] = x * 2.0
    return out.reshape(-1, *x.shape[1:]) ** 2


CALLS: list[tuple[Any, dict[str, Any], list[str]]] = [
    (
        columns,
        {
            "data": X,
            "starts": np.array([0, 2, 2, 6]),
            "rows": np.array([0, 1, 1, 0, 1, 2]),
            "vec": X[:3],
            "n": 4,
        },
        [],
    ),
    (of_two_axes, {"u": U, "w": U[::-1] + 0.1}, []),
    (on_two_paths, {"x": X, "upper": True}, []),
    (on_two_paths, {"x": X, "upper": False}, []),
    *((literals_on_two_paths, {"x": X, "upper": u}, []) for u in (0, 1)),
    (bound_before, {"x": X, "m": U, "i": 2, "n": 4}, []),
    *((of_a_step, {"x": X, "k": k}, []) for k in (1, 2, 5)),
    (in_a_comprehension, {"x": X, "n": 4}, []),
    (the_users_own, {"x": X, "n": 2}, []),
    (stars, {"x": U, "n": 4}, []),
    (stars, {"x": U.reshape(5, 2, 2), "n": 2}, []),
    *((all_axes, {"x": x}, []) for x in (X, U, U.reshape(5, 2, 2))),
    *((rows_of_any_rank, {"x": x}, []) for x in (X, U, U.reshape(5, 2, 2))),
]


@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize("number", range(len(CALLS)))
def test_a_slice_has_a_name(number: int, target: str) -> None:
    plain, given, changed = CALLS[number]
    given = {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in given.items()}
    f = pyrev.differentiable(plain, target=target)
    check(f, plain, given, changed, np.random.default_rng(number))


def test_no_name_is_left_of_what_is_written_out() -> None:
    text = pyrev.differentiable(of_two_axes).adjoint.source
    code = [line.split("#")[0] for line in text.splitlines()]
    assert not any("slice" in line or "inner" in line for line in code)


def exchanged(x):
    a = slice(0, 2)
    b = slice(2, 4)
    a, b = b, a
    return x[a] - 2.0 * x[b]


def handed_on(x):
    def part(k):
        return x[k]

    return part(slice(0, 2)) * 2.0


def of_unlike_parts(x, whole):
    part = slice(0, None)
    if not whole:
        part = slice(0, 2)
    return np.sum(x[part] ** 2)


@pytest.mark.parametrize("plain", [exchanged, handed_on, of_unlike_parts])
def test_others_are_refused(plain: Any) -> None:
    with pytest.raises(pyrev.UnsupportedError, match="slice"):
        pyrev.differentiable(plain).adjoint.source  # noqa: B018
