# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Names of arrays that one branch gives None: ``d = x * 2 if c else None``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyrev
from tests.tools.oracle import check

X = np.random.default_rng(0).uniform(0.2, 0.9, 5)


def in_the_other_branch(x, f):
    y = np.zeros(len(x))
    if f:
        d = np.zeros(len(x))
        for i in range(len(x)):
            d[i] = x[i] ** 2
    else:
        d = None
    if f:
        y += d
    return y * x + x


def asked_in_a_loop(x, f):
    if f:
        d = x * 2
    else:
        d = None
    s = 0.0
    for i in range(len(x)):
        if d is not None:
            s += d[i] ** 2
        s += x[i]
    return s


def given_up_in_a_loop(x, n):
    d = x[:2] * 3
    s = x[0]
    for k in range(n):
        if d is not None:
            s += d[0] * x[k]
        if k == 1:
            d = None
    return s


def another_length_each_time(x, n):
    s = x[0]
    for k in range(n):
        if k % 2:
            d = np.empty(k + 1)
            d[:] = x[k]
        else:
            d = None
        if d is not None:
            s += np.sum(d**2)
    return s


def chosen(x, f):
    out = np.zeros((2, len(x)))
    cube = np.zeros(len(x)) if f else None
    for i in range(len(x)):
        out[0, i] = x[i] ** 2
        if cube is not None:
            cube[i] = x[i] ** 3
            out[1, i] = cube[i]
    return out


def one_or_the_other(x, f):
    if f:
        p, q = x * 2, None
    else:
        p, q = None, x[1:] * 3
    s = 0.0
    if p is not None:
        s += np.sum(p**2)
    return s if q is None else s + np.sum(q**3)


def several_ways(x, n):
    if n > 2:
        d = x * 2
    elif n > 1:
        d = x * 3
    else:
        d = None
    if d is None:
        return np.sum(x)
    return np.sum(d**2)


def numbers(x, n):
    if n > 1:
        if n > 2:
            t = x[0] * 2
        else:
            t = None
    else:
        t = None
    if t is not None and t > 0:
        return t**2
    return x[1]


def the_turn_before(x, n):
    s = x[0]
    last = None
    for k in range(n):
        if last is not None:
            s += np.sum(last * x[k])
        if k % 2 == 0:
            last = x * k
        else:
            last = None
    return s


def a_part_of_the_callers(x, f):
    d = x[:3]
    if f:
        d[0] = 0.5
        d = None
    else:
        d = d * 2
    e = x[0] if d is None else d[1]
    return e**2 + x[1]


def kept_before(x, f, g):
    d = x * 2
    if f:
        d = None
    elif g:
        d[0] = x[1]
    if d is not None:
        return np.sum(d**2)
    return x[2]


def asked_before(x, f):
    d = x * 2
    if d[0] > f:
        d = None
    else:
        d = x * 4
    if d is None:
        return x[0]
    return d[1] ** 2


def read_before(x, f):
    d = x * 2
    if f:
        d = d * 3
    else:
        d = None
    return np.sum(x) if d is None else np.sum(d**2)


CALLS: list[tuple[Any, dict[str, Any], list[str]]] = [
    *((in_the_other_branch, {"f": f}, []) for f in (True, False)),
    *((asked_in_a_loop, {"f": f}, []) for f in (True, False)),
    *((given_up_in_a_loop, {"n": n}, []) for n in (1, 4)),
    (another_length_each_time, {"n": 5}, []),
    *((chosen, {"f": f}, []) for f in (True, False)),
    *((one_or_the_other, {"f": f}, []) for f in (True, False)),
    *((several_ways, {"n": n}, []) for n in (1, 2, 3)),
    *((numbers, {"n": n}, []) for n in (1, 2, 3)),
    (the_turn_before, {"n": 5}, []),
    *((a_part_of_the_callers, {"f": f}, ["x"]) for f in (True, False)),
    *((asked_before, {"f": f}, []) for f in (0.1, 9.0)),
    *((read_before, {"f": f}, []) for f in (True, False)),
    *((kept_before, {"f": f, "g": g}, []) for f in (0, 1) for g in (0, 1)),
]


@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize("number", range(len(CALLS)))
def test_a_branch_gives_none(number: int, target: str) -> None:
    plain, given, changed = CALLS[number]
    f = pyrev.differentiable(plain, target=target)
    check(f, plain, {"x": X.copy(), **given}, changed, np.random.default_rng(number))


def read_without_a_test(x, f):
    d = x * 2 if f else None
    return d[0]


@pytest.mark.parametrize("target", ["python", "numba"])
def test_none_is_no_array(target: str) -> None:
    f = pyrev.differentiable(read_without_a_test, target=target)
    check(f, read_without_a_test, {"x": X, "f": True}, [], np.random.default_rng(0))
    with pytest.raises(TypeError):
        read_without_a_test(X, False)
    with pytest.raises(TypeError):
        pyrev.vjp(f, X, False)
