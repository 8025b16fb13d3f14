"""Random programs full of helpers with side effects: inlined, they compute the same."""

from __future__ import annotations

import copy
import math
import random
from typing import Any

import numpy as np
import pytest

from pyrev.ir.text import program_text
from pyrev.parse import parse
from tests.parse.test_source import defined

HELPERS = """\
import numpy as np

K = 3
W = np.array([0.5, -1.5, 2.0, 1.0])


def bump(a, i, by=1.0):
    a[i] += by
    return a[i]


def get(a, i):
    return a[i]


def half(v):
    return v * 0.5 + W[1]


def twice(v):
    return v + half(v)


def total(a, n):
    s = 0.0
    for i in range(n):
        s += a[i]
        n = n - 1
    return s


def choose(v, w):
    if v > w:
        return v - 1.0
    if v < 0.0:
        v = -v
        return v
    return w


def pair(u, v):
    t = u + v
    return t, u - v


def apply(g, v):
    return g(v) - v


def scaled(a, c):
    u = np.zeros_like(a)
    for i in range(len(a)):
        u[i] = a[i] * c
    return u


"""


class Writer:
    """Writes one random function; scalars, arrays and indices in scope are known."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.count = 0
        self.scalars = ["p", "q"]
        self.arrays = ["a", "b"]
        self.indices: list[str] = []

    def one(self, *choices: str) -> str:
        return self.random.choice(choices)

    def fresh(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def array(self) -> str:
        return self.one(*self.arrays)

    def index(self) -> str:
        if self.indices and self.random.random() < 0.5:
            return self.one(*self.indices)
        return self.one(
            str(self.random.randrange(-2, 4)),
            "k",
            f"min({self.random.randrange(4)}, 2)",
            f"int(abs({self.value(0)})) % 4",
        )

    def value(self, depth: int) -> str:
        if depth <= 0 or self.random.random() < 0.15:
            element = f"{self.array()}[{self.random.randrange(-4, 4)}]"
            number = f"{self.random.uniform(-2, 2):.2f}"
            others = self.indices or ["K"]
            return self.one(*self.scalars, number, element, *others, "K", "W[2]")

        def inner() -> str:
            return self.value(depth - 1)

        kind = self.random.randrange(20)
        if kind < 6:
            return f"({inner()} {self.one('+', '-', '*')} {inner()})"
        if kind < 8:
            return f"{self.array()}[{self.index()}]"
        if kind < 10:
            return f"bump({self.array()}, {self.index()}, {inner()})"
        if kind < 12:
            return f"({inner()} if {self.test(depth - 1)} else {inner()})"
        return self.one(
            f"-{inner()}",
            f"get({self.array()}, {self.index()})",
            f"twice({inner()})",
            f"total({self.array()}, {self.random.randrange(4)})",
            f"choose({inner()}, {inner()})",
            f"apply(half, {inner()})",
            f"apply(lambda v: v * {inner()}, {inner()})",
            f"{self.one('min', 'max')}({inner()}, {inner()}, {inner()})",
            f"np.square({inner()})",
            f"({inner()} {self.one('and', 'or')} {inner()})",
        )

    def test(self, depth: int) -> str:
        if depth <= 0 or self.random.random() < 0.5:
            sign = self.one("<", "<=", ">", ">=", "==", "!=")
            return f"{self.value(depth - 1)} {sign} {self.value(depth - 1)}"
        return self.one(
            f"{self.value(0)} < {self.value(depth - 1)} <= {self.value(0)}",
            f"not {self.value(depth - 1)}",
            f"({self.test(depth - 1)} {self.one('and', 'or')} {self.test(depth - 1)})",
        )

    def block(self, depth: int) -> list[str]:
        lines: list[str] = []
        for _ in range(self.random.randrange(1, 4)):
            lines += self.statement(depth, False)
        return ["    " + line for line in lines]

    def statement(self, depth: int, top: bool) -> list[str]:
        kind = self.random.randrange(16)
        scalar, other = self.one(*self.scalars), self.one(*self.scalars)
        element = f"{self.array()}[{self.index()}]"
        if kind < 2:
            return [f"{scalar} = {self.value(3)}"]
        if kind < 4:
            return [f"{scalar} {self.one('+=', '-=', '*=')} {self.value(3)}"]
        if kind < 7:
            return [f"{element} {self.one('=', '+=', '-=', '*=')} {self.value(3)}"]
        if kind == 7:
            values = ", ".join(self.value(2) for _ in range(3))
            return [f"{scalar}, {element}, {other} = {values}"]
        if kind == 8:
            return [f"{scalar}, {other} = pair({self.value(2)}, {self.value(1)})"]
        if kind == 9:
            return [f"{scalar} = {element} = {self.value(3)}"]
        if kind == 10 and top:
            name, source = self.fresh("u"), self.array()
            made = self.one(f"scaled({source}, {self.value(2)})", f"{source}.copy()")
            self.arrays.append(name)
            return [f"{name} = {made}"]
        if kind < 13 and depth:
            lines = [f"if {self.test(2)}:", *self.block(depth - 1)]
            if self.random.random() < 0.6:
                lines += ["else:", *self.block(depth - 1)]
            return lines
        if depth:
            index = self.fresh("i")
            span = self.one(
                "range(len(a))",
                "range(1, 4)",
                "range(3, -1, -1)",
                "reversed(range(0, 4, 2))",
                "range(k)",
                f"range(int(abs({self.value(1)})) % 4)",
            )
            self.indices.append(index)
            body = self.block(depth - 1)
            self.indices.remove(index)
            return [f"for {index} in {span}:", *body]
        return [f"bump({self.array()}, {self.index()}, {self.value(2)})"]

    def function(self) -> str:
        lines = [line for _ in range(4) for line in self.statement(2, True)]
        results = ", ".join([*self.scalars, self.value(2)])
        body = "".join(f"    {line}\n" for line in [*lines, f"return {results}"])
        return f"{HELPERS}def f(a, b, p, q, k):\n{body}"


def outcome(f: Any, arguments: dict[str, Any]) -> list[Any]:
    """The result and the arrays afterwards, or the exception's name."""
    with np.errstate(all="ignore"):
        try:
            result = f(**arguments)
        except (IndexError, OverflowError) as error:
            return [type(error).__name__]
    return [*result, arguments["a"], arguments["b"]]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(120))
def test_an_inlined_program_computes_what_cpython_computes(seed: int) -> None:
    f = defined(Writer(seed).function(), file=f"<random {seed}>")
    parsed = parse(f)
    namespace: dict[str, Any] = {"np": np, "math": math}
    exec(program_text(parsed.program), namespace)
    arguments = {
        "a": np.array([1.0, -0.5, 2.0, 0.3]),
        "b": np.array([-1.0, 0.7, 0.2, 1.4]),
        "p": 1.3,
        "q": -0.4,
        "k": 2,
    }
    hidden = {c.name: c.read() for c in parsed.captured}
    expected = outcome(f, copy.deepcopy(arguments))
    got = outcome(namespace["f"], copy.deepcopy(arguments) | hidden)
    assert len(got) == len(expected)
    for mine, plain in zip(got, expected, strict=True):
        np.testing.assert_array_equal(mine, plain)
