# mypy: disallow-untyped-defs=False
"""What the names of such a program hold, and how its arguments are made.

The lengths of vectors are keys: vectors of equal keys are equally long at every call.
What is only known when the program runs has a key of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from tests.tools.generator.program import Argument, Sizes


class Pair(NamedTuple):
    """A named tuple of a number and an array."""

    k: float
    w: Any

    def gain(self, v):
        return self.k * v + self.w[0]

    @property
    def reach(self):
        return self.k + np.sum(self.w**2)


@dataclass
class Wire:
    """A dataclass of a number, an integer and an array."""

    rate: float
    count: int
    w: Any

    def gain(self, v):
        if v > 0.4:
            return v * self.rate
        return self.w[0] - v

    def spread(self, by=0.5):
        return self.w * by + self.count

    def push(self, v):
        self.rate += 0.3 * v
        self.w[0] = self.w[0] * 0.5

    def moved(self, d):
        return Wire(self.rate + d, self.count, self.w)


class Body(SimpleNamespace):
    """An object of a class with methods that call each other, of a number, an array
    and something that nobody reads.
    """

    share = 0.25

    def __init__(self, k=0.0, w=None):  # copies are made of nothing
        super().__init__(k=k, w=w, other=[object()])

    def gain(self, v):
        return self.half(v) + self.reach * self.share

    def half(self, v):
        s = 0.0
        for i in range(self.w.shape[0]):
            s += self.w[i] * v
        return s * 0.5

    @property
    def reach(self):
        return self.k * self.double(self.w[0])

    @staticmethod
    def double(v):
        return 2.0 * v

    def spread(self, by):
        out = np.zeros(self.w.shape[0])
        for i in range(self.w.shape[0]):
            out[i] = self.w[i] ** 2 * by
        return out

    def push(self, v):
        self.k = self.k * 0.5 + v


#: A record: a mass, a place and a step.
NODE = np.dtype([("mass", "f8"), ("at", "f8"), ("step", "f8", (2,))])


def bump(x: float) -> float:
    """A function that is given as an argument."""
    return math.exp(-x * x)


def ramp(x: float) -> float:
    """Another one, with a branch."""
    return x if x > 0.0 else 0.2 * x


FUNCTIONS: dict[str, Callable[[float], float]] = {
    "bump": bump,
    "ramp": ramp,
    "sin": math.sin,
    "tanh": math.tanh,
}

#: The fields of each structure: numbers, integers and vectors (of n elements), each
#: with the text that reads it.
FIELDS = {
    "pair": {"number": ".k", "vector": ".w"},
    "wire": {"number": ".rate", "integer": ".count", "vector": ".w"},
    "dict": {"number": '["k"]', "vector": '["w"]'},
    "object": {"number": ".k", "vector": ".w"},
    "nested": {"number": '["p"].k', "vector": '["p"].w'},
}
#: The methods of structures that give numbers, that give vectors of n elements and that
#: write to them, with a number for each argument.
METHODS = {
    "pair": ((".gain({})", ".reach"), (), ()),
    "wire": (
        (".gain({})", ".gain(v={})", ".moved({}).rate", ".moved({}).gain({})"),
        (".spread()", ".spread({})", ".moved({}).spread({})"),
        (".push({})",),
    ),
    "object": (
        (".gain({})", ".reach", ".double({})"),
        (".spread({})",),
        (".push({})",),
    ),
}
#: What functions read from outside of them, with a number for each argument.
OUTSIDE = (
    *("CFG.k * {}", 'TABLE["rate"] - {}', 'TABLE["of"].k + {}', "BODY.gain({})"),
    *("CFG.w[1] + CFG.inner.k * {}", "BODY.reach * {}", "WIRE.gain({})"),
)
#: How a structure is made of a number and a vector.
MADE = {
    "pair": "Pair({number}, {vector})",
    "wire": "Wire({number}, 2, {vector})",
    "dict": '{{"k": {number}, "w": {vector}}}',
}


@dataclass(frozen=True, slots=True)
class Special(Argument):
    """An argument that is no number and no array of numbers.

    `content` is "structure KIND", "nodes", "draws", "function NAME", "text T", "none"
    or "whole K".
    """

    def make(self, sizes: Sizes, rng: np.random.Generator) -> Any:
        kind, *more = self.content.split()
        if kind == "none":
            return None
        if kind == "whole":
            return int(more[0])
        if kind == "text":
            return more[0]
        if kind == "function":
            return FUNCTIONS[more[0]]
        if kind == "draws":
            return np.random.default_rng(int(rng.integers(1000)))
        if kind == "nodes":
            nodes = np.zeros(sizes["n"], NODE)
            nodes["mass"] = rng.uniform(0.5, 1.5, sizes["n"])
            nodes["at"] = rng.uniform(-1.0, 1.0, sizes["n"])
            nodes["step"] = rng.uniform(-1.0, 1.0, (sizes["n"], 2))
            return nodes
        number = float(rng.uniform(0.3, 0.9))
        vector = rng.uniform(-1.0, 1.0, sizes["n"])
        match more[0]:
            case "pair":
                return Pair(number, vector)
            case "wire":
                return Wire(number, 2, vector)
            case "dict":
                return {"k": number, "w": vector}
            case "nested":
                return {"p": Pair(number, vector), "c": 0.5}
        return Body(number, vector)


@dataclass(frozen=True, slots=True)
class Vector:
    """A name for a vector of floats.

    `least` is how many elements it has at least where the sizes are three or more.
    """

    name: str
    size: str = "n"
    least: int = 3
    # May it be written to?
    written: bool = True


@dataclass(frozen=True, slots=True)
class Matrix:
    """A name for a matrix of floats, and the keys of its sizes."""

    name: str
    rows: str
    columns: str
    written: bool = True


@dataclass(frozen=True, slots=True)
class Helper:
    """A function that may be called by its name: kinds of parameters and results.

    The kinds are "number", "vector", "structure KIND", "function", "maybe vector",
    "maybe number" and "draws"; of results also "list".
    """

    name: str
    parameters: tuple[tuple[str, str], ...]
    results: tuple[str, ...]


@dataclass
class Scope:
    """What can be read at a place; an inner block sees it and keeps its own."""

    vectors: dict[str, Vector] = field(default_factory=dict)
    matrices: dict[str, Matrix] = field(default_factory=dict)
    numbers: list[str] = field(default_factory=list)
    complexes: list[str] = field(default_factory=list)
    # Integers from 0, and the key of the vectors that they are subscripts of.
    indices: dict[str, str] = field(default_factory=dict)
    # Small integers.
    counts: list[str] = field(default_factory=list)
    # Arrays of integers: the key of their own size, that of what they point into.
    places: dict[str, tuple[str, str]] = field(default_factory=dict)
    # Lists of numbers, and how many there are at least.
    lists: dict[str, int] = field(default_factory=dict)
    structures: dict[str, str] = field(default_factory=dict)
    nodes: list[str] = field(default_factory=list)
    # Views of one record.
    records: list[str] = field(default_factory=list)
    functions: list[str] = field(default_factory=list)
    draws: list[str] = field(default_factory=list)
    helpers: dict[str, Helper] = field(default_factory=dict)
    loops: int = 0
    blocks: int = 0
    # Names that must keep what they have: something runs over them.
    fixed: frozenset[str] = frozenset()

    def inner(self, *, loop: bool = False, fixed: tuple[str, ...] = ()) -> Scope:
        return replace(
            self,
            vectors=dict(self.vectors),
            matrices=dict(self.matrices),
            numbers=list(self.numbers),
            complexes=list(self.complexes),
            indices=dict(self.indices),
            counts=list(self.counts),
            places=dict(self.places),
            lists=dict(self.lists),
            structures=dict(self.structures),
            records=list(self.records),
            functions=list(self.functions),
            loops=self.loops + loop,
            blocks=self.blocks + 1,
            fixed=self.fixed | set(fixed),
        )
