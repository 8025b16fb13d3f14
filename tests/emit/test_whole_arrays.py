"""Loops over all elements are statements about arrays, and only where they may be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pyrev.emit.python import emit_python
from pyrev.emit.whole_arrays import WholeArrays
from pyrev.ir.dtypes import infer
from pyrev.ir.nodes import Expr, Extent
from pyrev.parse import parse_text
from pyrev.runtime.code_cache import load
from tests.emit.cases import same

#: The letters of the user's loops: others are pyrev's.
USERS = frozenset({"i", "j"})
HEAD = "def f(a, b, t, s, n):\n"


def texts(
    lines: str, shapes: dict[str, tuple[Expr, ...]] | None = None, **dtypes: str
) -> tuple[str, str]:
    """The statements with and without statements about whole arrays."""
    indented = "".join(f"    {line}\n" for line in lines.strip().splitlines())
    program = parse_text(HEAD + indented)
    types = infer(program, dtypes)
    whole = WholeArrays(program, types, shapes or {}, USERS)
    return emit_python(program, whole=whole).text, emit_python(program).text


def body(text: str) -> list[str]:
    lines = text.splitlines()
    at = next(k for k, line in enumerate(lines) if line.startswith("def "))
    return [x.strip() for x in lines[at + 1 :] if not x.strip().startswith("#")]


BOTH = "u = np.zeros_like(a)\nv = a.copy()\n"

FOUND = {
    "a row of a history": (
        "h = np.empty((n, a.shape[0]))\n"
        "for i in range(n):\n    for k in range(a.shape[0]):\n        h[i, k] = a[k]\n"
        "return h",
        "h[i] = a",
    ),
    "a fill": (
        BOTH + "for k in range(v.shape[0]):\n    v[k] = 0.0\nreturn u, v",
        "v[:] = 0.0",
    ),
    "a sum": (
        BOTH + "u[0] = s\nfor k in range(a.shape[0]):\n    u[k] += v[k]\nreturn u, v",
        "u += v",
    ),
    "a difference": (
        BOTH + "u[0] = s\nfor k in range(a.shape[0]):\n    u[k] -= v[k]\nreturn u, v",
        "u -= v",
    ),
    "arithmetic": (
        BOTH + "for k in range(a.shape[0]):\n    v[k] = s * v[k] - a[k] * s\n"
        "return u, v",
        "v[:] = s * v - a * s",
    ),
    "an element of a loop around it": (
        BOTH + "for i in range(n):\n    for k in range(a.shape[0]):\n"
        "        v[k] -= a[k] * t[i]\nreturn u, v",
        "v -= a * t[i]",
    ),
    "an array that is made for it": (
        BOTH + "for k in range(a.shape[0]):\n    u[k] += v[k]\nv[0] = 1.0\nreturn u, v",
        "u = v.copy()",
    ),
    "two sums are one": (
        BOTH + "for k in range(a.shape[0]):\n    u[k] += v[k]\n"
        "for k in range(a.shape[0]):\n    u[k] -= a[k]\nv[0] = 1.0\nreturn u, v",
        "u = v - a",
    ),
    "a function": (
        BOTH + "for k in range(a.shape[0]):\n    v[k] = np.sin(a[k]) * s\nreturn u, v",
        "v[:] = np.sin(a) * s",
    ),
    "a quotient": (
        BOTH + "for k in range(a.shape[0]):\n    v[k] = s / (1.0 + a[k])\nreturn u, v",
        "v[:] = s / (1.0 + a)",
    ),
    "a value of each iteration": (
        BOTH + "for k in range(a.shape[0]):\n    p = a[k] * s\n    u[k] = p * p\n"
        "    v[k] += p\nreturn u, v",
        "p = a * s",
    ),
    "an element that is overwritten later": (
        BOTH + "for k in range(a.shape[0]):\n    p = v[k]\n    v[k] = a[k]\n"
        "    u[k] += p * p\nreturn u, v",
        "p = v.copy()",
    ),
    "no permutation": (
        BOTH + "for k in range(a.shape[0]):\n    p = u[k]\n    q = u[k]\n"
        "    u[k] = v[k]\n    v[k] = p + 0.0 * q\nreturn u, v",
        "q = u.copy()",
    ),
    "other dtypes": (
        "u = np.zeros(a.shape)\nv = np.zeros(a.shape, dtype=np.float32)\n"
        "for k in range(a.shape[0]):\n    p = u[k]\n    u[k] = v[k]\n    v[k] = p\n"
        "return u, v",
        "v[:] = p",
    ),
    "a total": (
        BOTH + "p = s\nfor k in range(a.shape[0]):\n    q = a[k] * s\n    u[k] = q\n"
        "    p -= q\nreturn u, v, p",
        "p -= np.sum(q)",
    ),
    "a total that begins here": (
        BOTH + "p = 0.0\nfor k in range(a.shape[0]):\n    q = a[k] * s\n    u[k] = q\n"
        "    p -= q\nreturn u, v, p",
        "p = -np.sum(q)",
    ),
    "the same name in two nests": (
        BOTH + "for k in range(a.shape[0]):\n    p = a[k] * s\n    u[k] = p * p\n"
        "for k in range(a.shape[0]):\n    p = a[k] + s\n    v[k] = p * p\nreturn u, v",
        "p = a + s",
    ),
    "names change places": (
        BOTH + "for i in range(n):\n    v[0] += s\n    for k in range(a.shape[0]):\n"
        "        p = u[k]\n        q = v[k]\n        u[k] = q\n        v[k] = p\n"
        "return u, v",
        "u, v = v, u",
    ),
    "three of them": (
        BOTH + "w = np.ones_like(a)\nfor i in range(n):\n    v[0] += s\n"
        "    for k in range(a.shape[0]):\n        p = u[k]\n        u[k] = v[k]\n"
        "        v[k] = w[k]\n        w[k] = p\nreturn u, v, w",
        "u, v, w = v, w, u",
    ),
}


@pytest.mark.parametrize("name", FOUND)
def test_it_is_said_of_the_array(name: str) -> None:
    lines, line = FOUND[name]
    text, loops = texts(lines)
    assert line in body(text), text
    assert line not in body(loops)
    for n in range(4):
        args: tuple[Any, ...] = (np.arange(3.0), np.ones(3), np.full(3, 2.0), 0.5, n)
        same(load(text, "f").f(*args), load(loops, "f").f(*args))


KEPT = {
    "the user's own loop": (
        BOTH + "for i in range(a.shape[0]):\n    v[i] = 0.0\nreturn u, v"
    ),
    "not all elements": (
        BOTH + "for k in range(a.shape[0] - 1):\n    v[k] = 0.0\nreturn u, v"
    ),
    "from the second on": (
        BOTH + "for k in range(1, a.shape[0]):\n    v[k] = 0.0\nreturn u, v"
    ),
    "another element": (
        BOTH + "for k in range(a.shape[0]):\n    v[k] = a[a.shape[0] - 1 - k]\n"
        "return u, v"
    ),
    "a shape that is not known": (
        BOTH + "for k in range(a.shape[0]):\n    v[k] = b[k]\nreturn u, v"
    ),
    "a size that changes": (
        "m = n\nm += 1\nu = np.zeros(m)\nm += 1\nfor k in range(m - 1):\n"
        "    u[k] = 1.0\nreturn u"
    ),
    "a quotient of numbers, which may not be evaluated": (
        BOTH + "for k in range(a.shape[0]):\n    v[k] = v[k] * (s / t[0])\nreturn u, v"
    ),
    "an element that an array may not have where the loop does not run": (
        BOTH + "for k in range(a.shape[0]):\n    v[k] -= a[k] * t[0]\nreturn u, v"
    ),
    "an element that the nest writes": (
        BOTH + "for k in range(a.shape[0]):\n    v[k] = v[0] + a[k]\nreturn u, v"
    ),
    "the caller's arrays change contents": (
        "for i in range(n):\n    for k in range(a.shape[0]):\n        p = a[k]\n"
        "        a[k] = b[k]\n        b[k] = p"
    ),
    "a value that is used behind": (
        BOTH + "p = 0.0\nfor k in range(a.shape[0]):\n        p = u[k]\n"
        "        u[k] = v[k]\n        v[k] = p\nreturn u, v, p"
    ),
    "a scalar that another iteration has left": (
        BOTH + "p = s\nfor k in range(a.shape[0]):\n    v[k] = p * a[k]\n"
        "    p = a[k]\nreturn u, v"
    ),
    "a sum that is read while it grows": (
        BOTH + "p = s\nfor k in range(a.shape[0]):\n    p += a[k]\n"
        "    v[k] = p\nreturn u, v, p"
    ),
    "a number that is added as often as the loop runs": (
        BOTH + "p = s\nfor k in range(a.shape[0]):\n    p += s\n"
        "    v[k] = a[k]\nreturn u, v, p"
    ),
    "a scalar that is set under a test": (
        BOTH + "p = s\nfor k in range(a.shape[0]):\n    if a[k] > 1.0:\n"
        "        p = a[k]\n    v[k] = p\nreturn u, v"
    ),
    "a function of a number, which may not be evaluated": (
        BOTH + "for k in range(a.shape[0]):\n    v[k] = np.log(s)\nreturn u, v"
    ),
    "an integer array": (
        "u = np.zeros(a.shape[0], dtype=np.int64)\nv = a.copy()\n"
        "for k in range(a.shape[0]):\n    m = u[k]\n    v[k] = a[k] * m\nreturn u, v"
    ),
    "floats that are added to integers": (
        "u = np.zeros(a.shape[0], dtype=np.int64)\nfor k in range(a.shape[0]):\n"
        "    u[k] += a[k]\nreturn u"
    ),
}


@pytest.mark.parametrize("name", KEPT)
def test_it_stays_a_loop(name: str) -> None:
    text, loops = texts(KEPT[name])
    assert body(text) == body(loops)


def test_what_is_made_between_is_not_made_later() -> None:
    text, _ = texts(
        "u = np.zeros_like(a)\nv = np.zeros(u.shape[0])\n"
        "for k in range(a.shape[0]):\n    u[k] += a[k]\nreturn u, v"
    )
    assert body(text)[:2] == ["u = np.zeros_like(a)", "v = np.zeros(u.shape)"]
    assert "u += a" in body(text)


def test_a_parameter_may_have_the_shape_of_another() -> None:
    lines = BOTH + "for k in range(a.shape[0]):\n    v[k] += b[k]\nreturn u, v"
    assert "v += b" not in body(texts(lines)[0])
    text, _ = texts(lines, {"b": (Extent("a", 0),)})
    assert "v += b" in body(text)


def test_a_size_is_what_it_is_made_of() -> None:
    text, _ = texts("u = np.zeros(3)\nfor k in range(3):\n    u[k] = 1.0\nreturn u")
    assert "u[:] = 1.0" in body(text)
