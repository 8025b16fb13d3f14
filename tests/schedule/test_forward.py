"""What is used once stands where it is used, if nothing changes on the way."""

from __future__ import annotations

import numpy as np
import pytest

import pyrev
from pyrev.ir.dtypes import infer
from pyrev.ir.text import program_text
from pyrev.parse import parse_text
from pyrev.schedule.forward import WIDEST, forwarded

HEAD = "def f(a, b, s, t):\n"
USERS = frozenset({"a", "b", "s", "loss", "w"})


def made(text: str) -> str:
    """The statements of a function after the substitution."""
    lines = "".join(f"    {line}\n" for line in text.strip().splitlines())
    program = parse_text(HEAD + lines)
    found = program_text(forwarded(program, USERS, infer(program)))
    return "\n".join(line[4:] for line in found.splitlines()[1:])


GONE = {
    "a name for a part": (
        "v = a[0] * 2.0\nb[0] = v + 1.0",
        "b[0] = a[0] * 2.0 + 1.0",
    ),
    "another name of a scalar": (
        "loss = a[0]\nv = loss\nloss = v * 2.0\nb[0] = loss",
        "loss = a[0]\nloss *= 2.0\nb[0] = loss",
    ),
    "another name that gives the value back": (
        "loss = a[0]\nv = loss\nloss = v\nw = v * v\nb[0] = loss + w",
        "loss = a[0]\nw = loss * loss\nb[0] = loss + w",
    ),
    "itself": (
        "v = a[0]\nw = v\na[0] = w * s\nu = a[0]\na[0] = u\nb[0] += a[0]",
        "w = a[0]\na[0] = w * s\nb[0] += a[0]",
    ),
    "literals that meet": (
        "v = 0.5 * s\nb[0] = 2 * v * a[0]",
        "b[0] = s * a[0]",
    ),
    "literals of which one may overflow": (
        "v = 1e+200 * s\nb[0] = 1e+200 * v",
        "b[0] = 1e+200 * (1e+200 * s)",
    ),
    "one after the other": (
        "v = a[0] * 2.0\nu = v * s\nb[0] += u",
        "b[0] += a[0] * 2.0 * s",
    ),
    "an adjoint of a name of ours": (
        "d_v = a[0] * 2.0\nb[0] = d_v + 1.0",
        "b[0] = a[0] * 2.0 + 1.0",
    ),
    "what the statement itself writes": (
        "v = b[0] * 2.0\nb[0] = v",
        "b[0] *= 2.0",
    ),
    "a second name of a parameter": (
        "d_loss = s\nfor i in range(3):\n    b[i] = d_loss * a[i]",
        "for i in range(3):\n    b[i] = s * a[i]",
    ),
    "a value before it is overwritten, which is read first": (
        "loss = a[1]\nv = loss\nloss = v * s\nb[0] += v * a[0]\nb[1] = loss * loss",
        "loss = a[1]\nb[0] += loss * a[0]\nloss *= s\nb[1] = loss * loss",
    ),
    "an element before it is overwritten": (
        "v = a[0]\na[0] = v * s\nb[0] += v * t",
        "b[0] += a[0] * t\na[0] *= s",
    ),
    "a value before it is overwritten, which a branch reads": (
        "loss = a[1]\nv = loss\nloss = v * s\nif t > 0.0:\n    b[0] += v\n"
        "b[1] = loss * loss",
        "loss = a[1]\nif t > 0.0:\n    b[0] += loss\nloss *= s\nb[1] = loss * loss",
    ),
    "a value that is made twice": (
        "u = s * t\nb[0] += u * a[0]\nv = s * t\nb[1] += v * v",
        "u = s * t\nb[0] += u * a[0]\nb[1] += u * u",
    ),
    "a literal that is a power of two, behind others": (
        "v = s * t\nb[0] = 4.0 * v * a[0]",
        "b[0] = 4.0 * s * t * a[0]",
    ),
    "signs that meet in an increment": (
        "v = -s / t\nb[0] -= v * a[0]",
        "b[0] += s / t * a[0]",
    ),
    "a sum of two lines": (
        "w = a[0]\nw += a[1]\nw -= a[2] * s\nb[0] = w * w",
        "w = a[0] + a[1] - a[2] * s\nb[0] = w * w",
    ),
}

STAYS = {
    "a parameter that is another one on some paths": (
        "b[0] = s\nif a[0] > 0.5:\n    s = t\nb[1] = s"
    ),
    "a parameter that gets a value of its own": (
        "b[0] = s\ns = a[0] * 2.0\nb[1] = s + 1.0"
    ),
    "another name of what is changed before its use": (
        "loss = a[0]\nv = loss\nloss *= 2.0\nb[0] = v * v + loss"
    ),
    "another name of what a loop changes": (
        "loss = a[0]\nv = loss\nfor i in range(3):\n    loss += v * a[i]\nb[0] = loss"
    ),
    "another name of what its last use reads too": (
        "loss = a[0]\nv = loss\nloss = v * s\nb[0] = v * loss + v"
    ),
    "another name where a later statement overwrites a factor": (
        "loss = a[0]\nv = loss\nloss = v * a[1]\na[1] = v * v"
    ),
    "an element of which many uses are read": (
        "v = a[0]\na[0] = v * s\nb[0] += v * t\nb[1] += v * v"
    ),
    "an element of which another may be overwritten": (
        "v = a[0]\na[0] = v * s\na[1] = v * t\nb[0] += v"
    ),
    "a value that is made of another one later": (
        "u = s * a[0]\nb[0] = u * u\na[0] = 2.0\nv = s * a[0]\nb[1] = v * v"
    ),
    "a literal that rounds": "b[0] = 3.0 * (s * t) * a[0]",
    "a name of the user's": "w = a[0] * 2.0\nb[0] = w + 1.0",
    "an adjoint of a name of the user's": "d_w = a[0] * 2.0\nb[0] = d_w + 1.0",
    "another adjoint of it": "d_w_2 = a[0] * 2.0\nb[0] = d_w_2 + 1.0",
    "it is used twice": "v = a[0] * 2.0\nb[0] = v * v",
    "an element is written in between": ("v = a[0] * 2.0\na[0] = 1.0\nb[0] = v + a[0]"),
    "a scalar is written in between": (
        "w = a[1]\nv = w * 2.0\nw = a[2]\nb[0] = v + w * w"
    ),
    "an inner loop uses it": (
        "v = a[0] * 2.0\nfor i in range(3):\n    b[i] = v + a[i]"
    ),
    "it has another value later": (
        "v = a[0] * 2.0\nb[0] = v + 1.0\nv = a[1] * 2.0\nb[1] = v + 1.0"
    ),
    "a branch gives it another value": (
        "v = a[0] * 2.0\nif s > 0.0:\n    v = a[1]\nb[0] = v + 1.0"
    ),
    "it chooses": ("v = a[0] if a[0] > 0.0 else 0.0\nb[0] = v + 1.0"),
    "its sum reads it": "w = a[0]\nw += w * a[1]\nb[0] = w * w",
    "a sum in an array, which has a dtype": "b[0] = a[0]\nb[0] += a[1]",
    "a line that would be long": (
        "v = "
        + " * ".join(f"a[{k}]" for k in range(8))
        + "\nb[0] = v + "
        + " * ".join(f"a[{k}]" for k in range(8))
    ),
}


@pytest.mark.parametrize("name", GONE)
def test_it_stands_where_it_is_used(name: str) -> None:
    before, after = GONE[name]
    assert made(before) == after


@pytest.mark.parametrize("name", STAYS)
def test_it_keeps_its_line(name: str) -> None:
    assert made(STAYS[name]) == STAYS[name]


def test_a_parameter_that_changes_keeps_its_second_name() -> None:
    text = "d_loss = s\ns = 2.0\nb[0] = d_loss + s * s"
    assert made(text) == text


def test_no_line_gets_too_long() -> None:
    long = max(map(len, made(STAYS["a line that would be long"]).splitlines()))
    assert long < 2 * WIDEST


OTHER = 0.25


def given_another_value(v: np.ndarray, c: float, k: int) -> float:
    v[0] = c
    if k > 2:
        c = OTHER
    return v[1] * c


@pytest.mark.parametrize("k", [1, 3])
def test_a_parameter_is_itself_until_it_is_given_another_value(k: int) -> None:
    f = pyrev.differentiable(given_another_value, target="python")
    mine, theirs = np.ones(3), np.ones(3)
    assert f.primal(mine, 0.7, k) == given_another_value(theirs, 0.7, k)
    assert np.array_equal(mine, theirs)
    _, pull = pyrev.vjp(f, np.ones(3), 0.7, k)
    found = pull(1.0, cotangents={"v": np.ones(3)})
    assert found.c == (1.0 if k > 2 else 2.0)
