"""``a, s = a / 1.5, a[1]``: all values are there before the first name is bound, also
where an array of that name takes over the elements of a new one.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyrev
from tests.corpora.everything import named
from tests.tools.costs import differentiable


def advance(v):
    return v / 1.5, v[1]


def turned(v):
    return v[1] * v[0], v / 1.5


def from_a_helper(a):
    for _ in range(2):
        a, s = advance(a)
    return s


def element_behind(a):
    for _ in range(3):
        a, s = a / 1.5, a[1]
    return s


def element_first(a):
    s = 0.0
    for _ in range(3):
        s, a = turned(a)
    return s


def until_small(a, u, p):
    s = 0.0
    while a[0] > 0.1:
        a, s = advance(a)
    p[1] = s
    return u / p


def two_elements(a):
    for _ in range(2):
        a, s, t = a * a, a[0] + a[2], a[1] * a[1]
    return s * t


def both_arrays(a):
    b = a + 1.0
    for _ in range(2):
        a, b, s = b / 2.0, a * 3.0, a[0] * b[1]
    return a[0] + b[1] + s


def by_its_sum(a):
    m = 0.0
    for _ in range(2):
        a, m = a / 1.5, a[0] + m + a.sum()
    return m


def of_a_test(a):
    s = 0.0
    for k in range(3):
        if k != 1:
            a, s = a - s, s + (a[2] if a[0] > 0.2 else a[1])
    return s * a[0]


def two_axes(w):
    m = w + 0.0
    s = 0.0
    for _ in range(2):
        m, s, row = m * 0.5, s + m[0, 1], m[1, 0] * 2.0
    return s + row


def by_a_moving_subscript(a):
    k = 0
    s = 0.0
    for _ in range(2):
        a, k, s = a * 0.5, k + 1, s + a[k]
    return s + a[k]


def a_part(a):
    """A part of the old array beside a new one: right, or refused."""
    s = 0.0
    for _ in range(2):
        a, rest = a * 0.5, a[1:]
        s += rest[0] * rest[1]
    return s


A = np.array([0.3, 0.5, 0.7])
CASES: dict[Callable[..., Any], tuple[Any, ...]] = {
    from_a_helper: (A,),
    element_behind: (A,),
    element_first: (A,),
    until_small: (A, A + 1.0, A * 2.0),
    two_elements: (A,),
    both_arrays: (A,),
    by_its_sum: (A,),
    of_a_test: (A,),
    two_axes: (A * A[:, None],),
    by_a_moving_subscript: (A,),
    a_part: (A,),
}


@pytest.mark.parametrize("f", CASES, ids=named)
@pytest.mark.parametrize(
    "target", ["python", pytest.param("numba", marks=pytest.mark.slow)]
)
def test_values_and_gradients_are_those_of_cpython(
    f: Callable[..., Any], target: str
) -> None:
    try:
        derived = differentiable(f, target=target)
    except pyrev.UnsupportedError as refused:
        assert f is a_part, refused
        return
    arguments = CASES[f]
    expected = f(*copy.deepcopy(arguments))
    space: dict[str, Any] = {}
    text = derived.primal.source_for("python", *copy.deepcopy(arguments))
    exec(str(text), space)
    found = derived(*copy.deepcopy(arguments))
    written = space[f.__name__](*copy.deepcopy(arguments))
    assert np.allclose(found, expected, rtol=1e-14)
    assert np.allclose(written, expected, rtol=1e-14)
    report = pyrev.check_grad(derived, *copy.deepcopy(arguments))
    assert report.ok, report
