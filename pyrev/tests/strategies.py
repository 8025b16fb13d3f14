"""Random legal loop functions, as source text with arguments that fit.

A generated function has the arrays `a` and `m` (read and perhaps written), `u` and `w`
(usually written), `idx` (integers), the scalars `s` (float) and `n` (int, a size), and
`ref`, whose shape is (n, n + 1); of these, those that it uses. Every subscript is an
expression whose range is known, shifted so that it never goes below zero; arrays are
made as large as the largest subscript needs, so patterns alias freely and nothing is
out of bounds. Values are kept small by construction where that is easy; the test
rejects what still grows.
"""

from __future__ import annotations

import inspect
import linecache
import random
import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import strategies as st

LARGEST = 4
PARAMETERS = ("a", "u", "m", "w", "idx", "s", "n", "ref")
RANKS = {"a": 1, "u": 1, "m": 2, "w": 2}
BELOW = 4

HEADER = """\
import math

import numpy as np


def square(p):
    return p * p


def mix(p, q=0.5):
    r = p * q
    r = r + 0.25 * p
    return r


def pair(p, q):
    return p - q, 0.5 * p * q


def shift_into(src, dst, gain):
    for c in range(dst.shape[0] - 1):
        dst[c] += gain * src[c]


def reduce_half(src):
    total = 0.1
    for c in range(src.shape[0]):
        total += 0.5 * src[c] * total
    return total


"""


@dataclass(frozen=True)
class Range:
    """An integer expression as text, and the values it can have."""

    text: str
    lo: int
    hi: int
    atom: bool = False

    def inside(self) -> str:
        return self.text if self.atom else f"({self.text})"


def plus(a: Range, c: int) -> Range:
    if c == 0:
        return a
    sign = "+" if c > 0 else "-"
    return Range(f"{a.text} {sign} {abs(c)}", a.lo + c, a.hi + c)


@dataclass(frozen=True)
class Nest:
    """A function and everything needed to call it."""

    source: str
    shapes: dict[str, tuple[int, ...]]
    writes: tuple[str, ...]
    n: int
    seed: int

    def function(self) -> Callable[..., Any]:
        """The compiled text; its source can be found as a notebook's can."""
        name = f"<nest {zlib.crc32(self.source.encode()):08x}>"
        lines = self.source.splitlines(keepends=True)
        linecache.cache[name] = (len(self.source), None, lines, name)
        module: dict[str, Any] = {"__name__": "nest"}
        exec(compile(self.source, name, "exec"), module)
        function: Callable[..., Any] = module["f"]
        return function

    def arguments(self, dtype: Any = np.float64) -> dict[str, Any]:
        rng = np.random.default_rng(self.seed)
        made: dict[str, Any] = {
            name: rng.uniform(-1.0, 1.0, shape).astype(dtype)
            for name, shape in self.shapes.items()
        }
        made["idx"] = rng.integers(0, BELOW, 3 * LARGEST + 4)
        made["s"] = float(rng.uniform(0.3, 0.9))
        made["n"] = self.n
        if "ref" in self.shapes:
            rank = len(self.shapes["ref"])
            made["ref"] = np.zeros((self.n, self.n + 1)[:rank], dtype)
        names = inspect.signature(self.function()).parameters
        return {name: made[name] for name in names}

    def __str__(self) -> str:
        shapes = ", ".join(f"{k}{list(v)}" for k, v in self.shapes.items())
        function = self.source[self.source.index("def f(") :]
        return f"# n={self.n} seed={self.seed} {shapes}\n{function}"


@dataclass
class Scope:
    """What may be read here: loop indices, scalars, local arrays by rank."""

    indices: list[Range] = field(default_factory=list)
    integers: list[Range] = field(default_factory=list)
    scalars: list[str] = field(default_factory=list)
    local: dict[str, tuple[Range, ...]] = field(default_factory=dict)
    depth: int = 0

    def inner(self) -> Scope:
        return Scope(
            list(self.indices),
            list(self.integers),
            list(self.scalars),
            dict(self.local),
            self.depth,
        )


class Writer:
    """Draws one function, line by line."""

    def __init__(self, between: Callable[[int, int], int], wild: bool = False) -> None:
        self.between = between
        self.wild = wild
        self.lines: list[str] = []
        self.need: dict[str, list[int]] = {k: [1] * r for k, r in RANKS.items()}
        self.writes: set[str] = set()
        self.budget = between(3, 12)
        self.fresh = 0

    # -------------------------------------------------------------- small choices

    def pick(self, *options: Any) -> Any:
        return options[self.between(0, len(options) - 1)]

    def chance(self, percent: int) -> bool:
        return self.between(0, 99) >= 100 - percent

    def name(self, stem: str) -> str:
        self.fresh += 1
        return f"{stem}{self.fresh}"

    # -------------------------------------------------------------- integers

    def subscript(self, scope: Scope) -> Range:
        """An integer expression that is never negative."""
        e = self.integer(scope)
        if self.wild and self.chance(40):
            return Range(e.text, max(e.lo, 0), max(e.hi, 0), e.atom)
        return plus(e, max(0, -e.lo)) if e.lo < 0 else e

    def integer(self, scope: Scope) -> Range:
        names = scope.indices + scope.integers
        if not names or self.chance(8):
            c = self.between(0, 3)
            return Range(str(c), c, c, atom=True)
        v = self.pick(*names)
        o = self.pick(*names)
        c = self.between(0, 3)
        form = self.pick(*(["v"] * 6), *FORMS)
        match form:
            case "v":
                return v  # type: ignore[no-any-return]
            case "v+c":
                return plus(v, self.pick(-2, -1, 1, 2))
            case "c-v":
                return Range(f"{c} - {v.inside()}", c - v.hi, c - v.lo)
            case "n-1-v":
                return Range(f"n - 1 - {v.inside()}", -1 - v.hi, LARGEST - 1 - v.lo)
            case "2*v+c":
                k = self.pick(2, 3)
                return plus(Range(f"{k} * {v.inside()}", k * v.lo, k * v.hi), c)
            case "v+o":
                return Range(f"{v.text} + {o.text}", v.lo + o.lo, v.hi + o.hi)
            case "v-o":
                return Range(f"{v.text} - {o.inside()}", v.lo - o.hi, v.hi - o.lo)
            case "2*v+o":
                return Range(
                    f"2 * {v.inside()} + {o.text}", 2 * v.lo + o.lo, 2 * v.hi + o.hi
                )
            case "v//k":
                k = self.pick(2, 3)
                return Range(f"{v.inside()} // {k}", v.lo // k, v.hi // k)
            case "(v+o)//2":
                return Range(
                    f"({v.text} + {o.text}) // 2",
                    (v.lo + o.lo) // 2,
                    (v.hi + o.hi) // 2,
                )
            case "v%k":
                k = self.pick(2, 3)
                return Range(f"({v.text} + {c}) % {k}", 0, k - 1)
            case "v%n":
                return Range(f"({v.text} + {c}) % (n + 1)", 0, LARGEST)
            case "clamp":
                return Range(f"min(max({v.text} - 1, 0), {c})", 0, c, atom=True)
            case "clamp n":
                return Range(
                    f"max(min({v.text} + {c}, n - 1), 0)", 0, LARGEST, atom=True
                )
            case "abs":
                far = max(abs(v.lo - c), abs(v.hi - c))
                return Range(f"abs({v.text} - {c})", 0, far, atom=True)
            case "where":
                low, high = min(v.lo, o.lo), max(v.hi, o.hi)
                return Range(f"({v.text} if {v.text} > {c} else {o.text})", low, high)
            case "idx":
                shifted = plus(v, max(0, -v.lo))
                if shifted.hi > 3 * LARGEST:
                    return shifted
                return Range(f"idx[{shifted.text}]", 0, BELOW - 1, atom=True)
            case _:
                raise AssertionError(form)

    def within(self, extent: Range, e: Range) -> str:
        """A subscript of a local array: as it is where it fits, else brought back."""
        if e.hi < extent.lo:
            return e.text
        if self.chance(50):
            return f"({e.text}) % {extent.inside()}"
        return f"min({e.text}, {plus(extent, -1).text})"

    def bound(self, scope: Scope) -> Range:
        """A loop bound: the size in several spellings, a literal, an outer index."""
        options = [
            Range("n", 0, LARGEST, atom=True),
            Range("ref.shape[0]", 0, LARGEST, atom=True),
            Range("ref.shape[1] - 1", 0, LARGEST),
            Range("n - 1", -1, LARGEST - 1),
            Range("3", 3, 3, atom=True),
        ]
        for v in scope.indices[-2:]:
            options += [v, plus(v, 1)]
            options.append(Range(f"min(n, {v.text} + 2)", min(0, v.lo + 2), LARGEST))
            if 0 <= v.lo and v.hi <= 3 * LARGEST:
                options.append(Range(f"idx[{v.text}]", 0, BELOW - 1, atom=True))
        choice: Range = self.pick(*options)
        return choice

    # -------------------------------------------------------------- floats

    def load(self, scope: Scope, array: str | None = None) -> str:
        if array is None:
            array = self.pick("a", "u", "m", "w", *scope.local)
        if array in scope.local:
            shape = scope.local[array]
            index = [self.within(extent, self.subscript(scope)) for extent in shape]
            return f"{array}[{', '.join(index)}]"
        index = []
        for axis in range(RANKS[array]):
            e = self.subscript(scope)
            self.need[array][axis] = max(self.need[array][axis], e.hi + 1)
            index.append(e.text)
        return f"{array}[{', '.join(index)}]"

    def value(self, scope: Scope, depth: int = 2) -> str:
        leaf = depth == 0 or self.chance(25)
        if leaf:
            options = ["load"] * 5 + ["const", "s"]
            options += ["scalar"] * 3 if scope.scalars else []
            options += ["index"] if scope.indices else []
            match self.pick(*options):
                case "load":
                    return self.load(scope)
                case "const":
                    return str(self.pick("0.5", "1.0", "-0.75", "0.3", "2"))
                case "s":
                    return "s"
                case "scalar":
                    return str(self.pick(*scope.scalars))
                case _:
                    v = self.pick(*scope.indices)
                    return f"0.1 * {v.inside()}"

        def sub() -> str:
            return self.value(scope, depth - 1)

        match self.pick(
            "+",
            "-",
            "*",
            "*",
            "half",
            "neg",
            "sin",
            "exp",
            "/",
            "sq",
            "call",
            "if",
            "max",
            "abs",
            "sqrt",
        ):
            case "+":
                return f"({sub()} + {sub()})"
            case "-":
                return f"({sub()} - {sub()})"
            case "*":
                return f"{sub()} * {sub()}"
            case "half":
                return f"0.5 * {sub()}"
            case "neg":
                return f"(-{sub()})"
            case "sin":
                return f"{self.pick('math.sin', 'np.cos', 'np.tanh')}({sub()})"
            case "exp":
                return f"np.exp(-({sub()}) ** 2)"
            case "/":
                return f"{sub()} / (1.5 + {sub()} ** 2)"
            case "sq":
                return f"{self.load(scope)} ** 2"
            case "call":
                if self.chance(50):
                    return f"square({sub()})"
                return f"mix({sub()}, {sub()})" if self.chance(60) else f"mix({sub()})"
            case "if":
                return f"({sub()} if {self.condition(scope)} else {sub()})"
            case "max":
                return f"{self.pick('max', 'min')}({sub()}, {sub()})"
            case "abs":
                return f"abs({sub()})"
            case _:
                return f"math.sqrt(1.0 + {sub()} ** 2)"

    def condition(self, scope: Scope) -> str:
        if scope.indices and self.chance(60):
            v, o = self.pick(*scope.indices), self.pick(*scope.indices)
            return str(
                self.pick(
                    f"{v.text} > 1",
                    f"{v.text} % 2 == 0",
                    f"{v.text} >= {o.text}",
                    f"{v.text} + {o.text} < n",
                    f"0 <= {v.text} - 1 < n - 1",
                    f"{v.text} == 0 or {o.text} == 2",
                    f"not {v.text} == 1",
                    f"idx[abs({v.text})] > 1 and {v.text} < n - 1"
                    if max(abs(v.lo), abs(v.hi)) <= 3 * LARGEST
                    else f"{v.text} != 1",
                )
            )
        return f"{self.value(scope, 1)} > {self.pick('0.1', '-0.2', '0.0')}"

    # -------------------------------------------------------------- statements

    def emit(self, indent: int, text: str) -> None:
        self.lines.append("    " * indent + text)

    def block(self, indent: int, scope: Scope, most: int) -> None:
        before = len(self.lines)
        for _ in range(self.between(1, most)):
            if self.budget <= 0:
                break
            self.statement(indent, scope)
        if len(self.lines) == before:
            self.store(indent, scope)

    def statement(self, indent: int, scope: Scope) -> None:
        self.budget -= 1
        options = ["store"] * 6 + ["scalar"] * 3 + ["if"] * 2
        if scope.depth < 3:
            options += ["loop"] * 4
        options += ["local", "pair", "call", "int"]
        options += ["swap"] if len(scope.scalars) > 1 else []
        match self.pick(*options):
            case "store":
                self.store(indent, scope)
            case "scalar":
                self.scalar(indent, scope)
            case "if":
                self.emit(indent, f"if {self.condition(scope)}:")
                self.block(indent + 1, scope.inner(), 2)
                if self.chance(40):
                    self.emit(indent, "else:")
                    self.block(indent + 1, scope.inner(), 2)
            case "loop":
                self.loop(indent, scope)
            case "local":
                self.local(indent, scope)
            case "pair":
                left, right = self.name("t"), self.name("t")
                self.emit(
                    indent,
                    f"{left}, {right} = pair({self.value(scope, 1)}, "
                    f"{self.value(scope, 1)})",
                )
                scope.scalars += [left, right]
            case "call":
                self.call(indent, scope)
            case "swap":
                left, right = scope.scalars[0], scope.scalars[-1]
                self.emit(indent, f"{left}, {right} = {right}, 0.5 * {left}")
            case _:
                e = self.subscript(scope)
                if e.hi <= 3 * LARGEST:
                    k = self.name("k")
                    self.emit(indent, f"{k} = {e.text}")
                    scope.integers.append(Range(k, e.lo, e.hi, atom=True))
                else:
                    self.store(indent, scope)

    def store(self, indent: int, scope: Scope) -> None:
        array = self.pick("u", "u", "w", "w", "a", "m", *scope.local)
        target = self.load(scope, array)
        if array in RANKS:
            self.writes.add(array)
        op = self.pick("=", "=", "+=", "+=", "-=", "*=", "/=")
        value = self.value(scope)
        if op == "/=":
            value = f"1.5 + {value} ** 2"
        elif op == "*=" and self.chance(70):
            value = f"0.5 * {value}"
        elif op == "=" and self.chance(30):
            value = f"{target} * {value}"
        self.emit(indent, f"{target} {op} {value}")

    def scalar(self, indent: int, scope: Scope) -> None:
        if scope.scalars and self.chance(65):
            t = self.pick(*scope.scalars)
            op = self.pick("=", "=", "+=", "-=", "*=")
            value = self.value(scope)
            if op == "=" and self.chance(60):
                value = f"0.7 * {t} * {self.value(scope, 1)} + {value}"
            self.emit(indent, f"{t} {op} {value}")
            return
        t = self.name("t")
        self.emit(indent, f"{t} = {self.value(scope)}")
        scope.scalars.append(t)

    def local(self, indent: int, scope: Scope) -> None:
        array = self.name("v")
        extents = [
            Range("3", 3, 3, atom=True),
            Range("n + 2", 2, LARGEST + 2),
            Range("12", 12, 12, atom=True),
            *(plus(v, 1 - min(0, v.lo)) for v in scope.indices[-1:]),
        ]
        shape: tuple[Range, ...] = (self.pick(*extents),)
        text = shape[0].text
        if self.chance(30):
            shape = (*shape, self.pick(*extents[:2]))
            text = f"({text}, {shape[1].text})"
        maker = self.pick("np.zeros({})", "np.ones({})", "np.full({}, 0.5)")
        self.emit(indent, f"{array} = {maker.format(text)}")
        scope.local[array] = shape

    def call(self, indent: int, scope: Scope) -> None:
        vectors = ["a", "u", *(k for k, v in scope.local.items() if len(v) == 1)]
        source = self.pick(*vectors)
        if self.chance(50):
            t = self.name("t")
            self.emit(indent, f"{t} = reduce_half({source})")
            scope.scalars.append(t)
            return
        others = [v for v in vectors if v != source and v in scope.local]
        if not others:
            self.store(indent, scope)
            return
        gain = self.value(scope, 1)
        if source in scope.local:
            one, other = scope.local[source][0], self.pick(*others)
            if one.lo < scope.local[other][0].hi:
                self.store(indent, scope)
                return
            self.emit(indent, f"shift_into({source}, {other}, {gain})")
            return
        # The helper reads as many elements as the local array has, less one.
        self.need[source][0] = max(self.need[source][0], 3 * LARGEST)
        self.emit(indent, f"shift_into({source}, {self.pick(*others)}, {gain})")

    def loop(self, indent: int, scope: Scope) -> None:
        inner = scope.inner()
        inner.depth += 1
        index = "ijkl"[scope.depth]
        lo, hi = Range("0", 0, 0, atom=True), self.bound(scope)
        match self.pick(
            "n", "n", "n", "lo", "step", "down", "down2", "neg", "reversed"
        ):
            case "n":
                text = f"range({hi.text})"
            case "lo":
                lo = self.pick(
                    Range("1", 1, 1),
                    *scope.indices[-1:],
                    *(Range(f"max(0, {v.text} - 1)", 0, 0) for v in scope.indices[-1:]),
                )
                text = f"range({lo.text}, {hi.text})"
            case "step":
                text = f"range({self.pick(0, 1)}, {hi.text}, {self.pick(2, 3)})"
            case "down":
                text = f"range({plus(hi, -1).text}, -1, -1)"
            case "down2":
                text = f"range({hi.text}, 0, -2)"
                hi = plus(hi, 1)
            case "neg":
                lo, hi = Range("-2", -2, -2), Range("2", 2, 2)
                text = "range(-2, 2)"
            case _:
                text = f"reversed(range({hi.text}))"
        inner.indices.append(
            Range(index, min(lo.lo, 0) if lo.text != "1" else 0, hi.hi - 1, atom=True)
        )
        if inner.indices[-1].hi < inner.indices[-1].lo:
            v = inner.indices.pop()
            inner.indices.append(Range(index, v.lo, v.lo, atom=True))
        self.emit(indent, f"for {index} in {text}:")
        self.block(indent + 1, inner, 3)

    # -------------------------------------------------------------- the function

    def nest(self) -> Nest:
        scope = Scope()
        if self.chance(70):
            self.emit(1, f"t = {self.pick('0.0', '0.4', '1.0', 's')}")
            scope.scalars.append("t")
        first = True
        while first or (self.budget > 0 and self.chance(70)):
            first = False
            if self.chance(75):
                self.budget -= 1
                self.loop(1, scope)
            else:
                self.statement(1, scope)
        result = self.pick("", "", "scalar", "tuple", "local", "u")
        if result == "local" and scope.local:
            self.emit(1, f"return {self.pick(*scope.local)}")
        elif result == "tuple" and scope.scalars:
            self.emit(1, f"return {self.pick(*scope.scalars)}, {self.value(scope, 1)}")
        elif result == "u" and any("u[" in line for line in self.lines):
            self.emit(1, "return u")
        elif result and scope.scalars:
            self.emit(1, f"return {self.pick(*scope.scalars)}")
        elif not self.writes:
            self.emit(1, f"return {self.value(scope, 1)}")
        body = "\n".join(self.lines) + "\n"
        used = [p for p in PARAMETERS if re.search(rf"\b{p}\b", body)]
        if self.wild:
            for extents in self.need.values():
                axis = self.between(0, len(extents) - 1)
                extents[axis] = max(0, extents[axis] - self.pick(0, 0, 0, 1, 2))
        self.need["ref"] = [0, 0] if "ref.shape[1]" in body else [0]
        return Nest(
            f"{HEADER}def f({', '.join(used)}):\n{body}",
            {k: tuple(self.need[k]) for k in used if k in self.need},
            tuple(k for k in RANKS if k in self.writes),
            self.between(0, LARGEST),
            self.between(0, 9),
        )


FORMS = (
    "v+c", "v+c", "c-v", "n-1-v", "2*v+c", "v+o", "v-o", "2*v+o", "v//k", "(v+o)//2",
    "v%k", "v%n", "clamp", "clamp n", "abs", "where", "idx",
)  # fmt: skip


@st.composite
def nests(draw: st.DrawFn) -> Nest:
    """A random function in the language, with arguments that fit it."""
    return Writer(lambda lo, hi: draw(st.integers(lo, hi))).nest()


def nest_from(seed: int, wild: bool = False) -> Nest:
    """The same kind of function from a seed: larger and more varied, never shrunk.

    A wild one has subscripts that may be negative and arrays that may be too small.
    """
    rng = random.Random(seed)
    return Writer(rng.randint, wild).nest()
