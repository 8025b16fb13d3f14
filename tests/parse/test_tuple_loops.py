"""Loops over tuples that are written out, and their elements by computed numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyrev
from tests.tools.oracle import check

X = np.random.default_rng(3).uniform(0.2, 0.9, 8)
Y = X[::-1].copy() + 0.05


def stencil(u, c1, c2):  # type: ignore[no-untyped-def]
    s = np.zeros_like(u)
    for i in range(2, u.shape[0] - 2):
        for r, c in ((1, c1), (2, c2)):
            s[i] += c * (u[i + r] - u[i - r])
    return s


def freedoms(x, t):  # type: ignore[no-untyped-def]
    dofs = [2 * t, 2 * t + 1, 0]
    s = 0.0
    for i, a in enumerate(dofs):
        for j, b in enumerate(dofs, 1):
            s += x[a] * x[b] * x[a] * (i + 2 * j + 1)
    return s


def sifted(x):  # type: ignore[no-untyped-def]
    i = 0
    while True:
        best = i
        for c in (2 * i + 1, 2 * i + 2):
            if c < x.shape[0] and x[c] < x[best]:
                best = c
        if best == i:
            break
        x[i], x[best] = x[best], x[i]
        i = best
    return x[i] * x[0] + x[1] * x[2]


def over_arrays(x, y):  # type: ignore[no-untyped-def]
    s = 0.0
    for a in (x, y):
        for v in a:
            if v > 0.8:
                break
            s += v * v
    return s, a[0] * 3


def left_early(x, y):  # type: ignore[no-untyped-def]
    s = 0.0
    for v in (x[0], 2 * y[0], x[1] * y[1]):
        if v < 0.2:
            continue
        if v > 0.9:
            break
        v = v * v
        s += v
    else:
        s += 10
    return s * v + v


def written_in_turn(x, y):  # type: ignore[no-untyped-def]
    for p, q in zip((x, y), (y, x)):  # noqa: B905
        p[:] = 2 * p + q
    return np.sum(x * y)


def read_before(x, k):  # type: ignore[no-untyped-def]
    a, b = x[0], x[1]
    for v in (a, b, a * b):
        a = a + v
        b = b * v
    for w, g in reversed(((a, 2.0), (b, k))):
        a += w * g
    return a * b


def _corner(x, y):  # type: ignore[no-untyped-def]
    total = 0.0
    for i, p in enumerate((x - 0.5, x + 0.5)):
        for j, q in enumerate((y - 0.5, y + 0.5)):
            if p == 0.0:
                return 0.0
            v = p * q * q
            total += v if (i + j) % 2 == 1 else -v
    return total


def in_a_helper(x, y):  # type: ignore[no-untyped-def]
    out = np.empty_like(x)
    for i in range(x.shape[0]):
        out[i] = _corner(x[i], y[i])
    return out


def by_number(x):  # type: ignore[no-untyped-def]
    points = [-1 / np.sqrt(3.0), 1 / np.sqrt(3.0)]
    s = 0.0
    for i in range(2):
        for j in range(2):
            s += points[i] * x[j] * x[i] * points[j]
    return s


def over_floats(x):  # type: ignore[no-untyped-def]
    points = [-1 / np.sqrt(3.0), 1 / np.sqrt(3.0)]
    s = 0.0
    for p in points:
        for q in points:
            s += np.sin(p * x[0]) * np.exp(q * x[1])
    return s * points[1]


def best_of(x):  # type: ignore[no-untyped-def]
    found = (x[0] * x[1], x[1], x[2] * 2.0)
    best = 0
    for i in range(1, 3):
        if found[i] > found[best]:
            best = i
    return found[best] * x[0]


def made_again(x):  # type: ignore[no-untyped-def]
    s = 0.0
    for i in range(1, x.shape[0]):
        p = [x[i], x[i] * x[i - 1], 1.0]
        p[i % 3] = p[i % 2] * 2.0
        for k in range(3):
            s += p[k] * (k + 1) * p[-1]
    return s


def arrays_by_number(x, y, k):  # type: ignore[no-untyped-def]
    both = (x, y)
    s = 0.0
    for i in range(2):
        s += both[i][k] * (i + 1)
    return s


PLAIN: list[tuple[Callable[..., Any], dict[str, Any], tuple[str, ...]]] = [
    (stencil, {"u": X, "c1": 0.3, "c2": 0.4}, ()),
    (freedoms, {"x": X, "t": 1}, ()),
    (sifted, {"x": X}, ("x",)),
    (over_arrays, {"x": X, "y": Y}, ()),
    (left_early, {"x": X, "y": Y}, ()),
    (left_early, {"x": X / 9, "y": Y / 9}, ()),
    (left_early, {"x": X + 0.75, "y": Y}, ()),
    (left_early, {"x": X / 9 + 0.2, "y": Y / 9 + 0.2}, ()),
    (written_in_turn, {"x": X, "y": Y}, ("x", "y")),
    (read_before, {"x": X, "k": 0.7}, ()),
    (in_a_helper, {"x": X, "y": Y}, ()),
    (by_number, {"x": X}, ()),
    (arrays_by_number, {"x": X, "y": Y, "k": 1}, ()),
    (over_floats, {"x": X}, ()),
    (best_of, {"x": X}, ()),
    (made_again, {"x": X}, ()),
]


@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize("case", range(len(PLAIN)))
def test_values_and_gradients(case: int, target: str) -> None:
    plain, arguments, written = PLAIN[case]
    f = pyrev.differentiable(plain, target=target)
    check(f, plain, arguments, written, np.random.default_rng(1))


def test_each_element_has_a_copy_of_the_body() -> None:
    text = pyrev.differentiable(stencil).adjoint.source
    assert "u[i + 2] - u[i - 2]" in text
    assert "u[i + 1] - u[i - 1]" in text


def test_floats_that_no_name_has_a_say_in_stay_a_list() -> None:
    text = pyrev.differentiable(over_floats).adjoint.source
    assert text.count("np.cos") == 1


def long(x):  # type: ignore[no-untyped-def]
    s = 0.0
    for a in (x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[0], x[1], x[2], x[3]):
        for b in (x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[0], x[1], x[2]):
            s += a * b
    return s


def names_of_lists(x, k):  # type: ignore[no-untyped-def]
    p = [x[0], x[1]]
    q = p
    q[k] = 3.0
    return p[k] * x[0]


@pytest.mark.parametrize("plain", [long, names_of_lists])
def test_what_is_too_long_or_no_number_is_refused(plain: Any) -> None:
    with pytest.raises(pyrev.UnsupportedError):
        pyrev.differentiable(plain).adjoint.source  # noqa: B018
