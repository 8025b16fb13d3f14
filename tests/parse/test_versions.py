"""Names that stand for one thing and later for another: a number, an index, an array.

Each function was refused (P201, P203, P206 or P210) while a name was one variable.
"""

from __future__ import annotations

from typing import Any

import gast
import numpy as np
import pytest

import pyrev
from pyrev.parse.rewriting.versions import versioned
from tests.corpora.everything import named, on_targets
from tests.parse.test_aliases import checked

ACCEPTED: list[Any] = []


def one(f: Any) -> Any:
    ACCEPTED.append(f)
    return f


@one
def a_float_becomes_an_index(x, w, n):
    middle = (0 + 2) / 2
    middle = int(middle)
    return x[middle] * w[0]


@one
def an_array_becomes_a_number(x, w, n):
    r = x * 2
    r = r.sum()
    r = r * w[1]
    return r


@one
def an_array_becomes_a_number_in_each_iteration(x, w, n):
    s = 0.0
    for i in range(n):
        m = x[i % 3] * w
        m = m[0] + m[1] * m[2]
        s += m
    return s


@one
def a_number_becomes_an_array_in_each_iteration(x, w, n):
    s = 0.0
    for i in range(n):
        t = x[i % 3] * 2
        s += t
        t = t * w
        s += t[0] * t[1] * w[2]
    return s


@one
def a_number_of_the_loop_around_becomes_an_array_in_it(x, w, n):
    scale = 1.5
    s = scale * x[0]
    for _ in range(n):
        scale = x * w
        s += scale[1]
    return s


@one
def an_index_becomes_a_float_and_an_array(x, w, n):
    k = 0
    for i in range(3):
        if x[i] > 1.0:
            k += 1
    s = x[k]
    k = k / 2.0
    s += k * w[0]
    k = x * k
    return s * k[2]


@one
def an_index_of_a_loop_becomes_an_array(x, w, n):
    s = 0.0
    for i in range(3):
        s += x[i] * w[i]
    i = x * s
    return i[0] + i[2]


@one
def a_truth_becomes_an_array(x, w, n):
    ok = x[0] > 1.0
    s = w[0] if ok else w[1]
    ok = x * s
    return ok[1] * ok[2]


@one
def what_is_carried_from_iteration_to_iteration_stays_one(x, w, n):
    m = 1.0
    for i in range(n):
        m = m * x[i % 3] + w[0]
    m = x * m
    return m[0] * m[1]


@one
def what_is_added_to_stays_one(x, w, n):
    t = x[0]
    t += w[0]
    t *= x[1]
    t = t * w
    t += x
    t = t[0] * t[2]
    return t


@one
def on_one_path_and_behind_both(x, w, n):
    r = x[0]
    if n > 1:
        r = r * w[0]
    s = r * r
    r = x * w
    if n > 2:
        r = r * 2.0
    return s * r[1]


def weighted(a, b):
    t = a[0] * b[1]
    c = t + 1.0
    t = b * c
    c = t * a
    t = c[0] + c[1]
    return t


@one
def in_a_helper(x, w, n):
    s = weighted(x, w)
    for _ in range(n):
        s += weighted(w, x) * s
    return s


@one
def in_a_loop_that_is_left(x, w, n):
    s = 0.0
    d = 1.0
    for i in range(5):
        if i >= n:
            break
        d = x[i % 3] - 1.0
        s += d * d
        d = w * d
        if d[0] > 0.4:
            continue
        s += d[1]
    return s * w[2]


@one
def the_test_of_a_while(x, w, n):
    left = n
    s = 1.0
    while left > 0:
        s += x[left % 3]
        left -= 1
    left = x * s
    while left[0] < 20.0:
        left = left * 2.0
    return left[1] * w[0]


@one
def taken_apart_and_bound_again(x, w, n):
    a, b = x, w
    s = a[0] * b[1]
    a, b = a[1] * 2.0, b[2] * 3.0
    return s * a + b


@pytest.mark.slow
@pytest.mark.parametrize(("plain", "target"), on_targets(ACCEPTED, 4), ids=named)
def test_a_name_may_stand_for_one_thing_after_the_other(
    plain: Any, target: str
) -> None:
    f = pyrev.differentiable(plain, target=target)
    for n in range(4):
        checked(f, plain, n)


def an_array_or_a_number_behind_a_loop(x, w, n):
    t = x[0]
    for _ in range(n):
        t = x * w
    return t[0]


def an_array_or_a_number_behind_a_branch(x, w, n):
    t = x[0]
    if n > 1:
        t = x * w
    return np.sum(t)


def an_array_or_a_number_in_the_next_iteration(x, w, n):
    t = x[0]
    for _ in range(n):
        t = t * w
    return np.sum(t)


def read_by_a_function_inside(x, w, n):
    t = 2.0

    def scaled(v):
        return v * t

    s = scaled(x[0])
    t = x * w
    return s + t[0]


@pytest.mark.parametrize(
    "plain",
    [
        an_array_or_a_number_behind_a_loop,
        an_array_or_a_number_behind_a_branch,
        an_array_or_a_number_in_the_next_iteration,
        read_by_a_function_inside,
    ],
    ids=lambda f: f.__name__,
)
def test_what_may_be_either_is_refused(plain: Any) -> None:
    x, w = np.array([1.5, 2.0, 0.75]), np.array([0.5, 1.25, 2.5])
    with pytest.raises((pyrev.UnsupportedError, pyrev.ArgumentError)):
        pyrev.grad(pyrev.differentiable(plain))(x, w, 1)


def test_the_text_keeps_names_that_need_no_versions() -> None:
    f = pyrev.differentiable(an_index_becomes_a_float_and_an_array)
    text = f.adjoint.source
    assert "for i in range(3)" in text
    assert "i_2" not in text and "k_2" in text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("t = 1\nu = t\nt = 2\nv = t", "t = 1\nu = t\nt_2 = 2\nv = t_2"),
        (
            "t = 1\nif c:\n    t = 2\nu = t\nt = 3",
            "t = 1\nif c:\n    t = 2\nu = t\nt_2 = 3",
        ),
        (
            "for i in r:\n    t = i\n    u = t\n    t = u\n    w = t",
            "for i in r:\n    t = i\n    u = t\n    t_2 = u\n    w = t_2",
        ),
        (
            "t = 1\nfor i in r:\n    u = t\n    t = u",
            "t = 1\nfor i in r:\n    u = t\n    t = u",
        ),
        ("t = 1\nt += 2\nt = 3", "t = 1\nt += 2\nt_2 = 3"),
        (
            "t = 9\nwhile t:\n    t = t - 1\nt = u",
            "t = 9\nwhile t:\n    t = t - 1\nt_2 = u",
        ),
        ("t = 1\nf = lambda a: a + t\nt = 2", "t = 1\nf = lambda a: a + t\nt = 2"),
        ("(t, u) = (1, 2)\n(u, t) = (t, u)", "(t, u) = (1, 2)\n(u_2, t_2) = (t, u)"),
    ],
)
def test_bindings_that_reach_one_use_are_one_version(before: str, after: str) -> None:
    def definition(body: str) -> Any:
        lines = "".join(f"    {line}\n" for line in body.splitlines())
        (node,) = gast.parse(f"def f(c, r):\n{lines}").body
        return node

    found = versioned(definition(before), {"t", "u"})
    assert gast.unparse(found) == gast.unparse(definition(after))
