"""Between which numbers a value lies, whatever the arguments of the function are.

Intervals with the numbers that an operation makes of them (Cousot and Cousot 1977), one
for each name of a program: what proves that a denominator or the argument of a root is
no zero. A value may be nan besides.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from pyrev.ir.dtypes import wraps
from pyrev.ir.nodes import (
    Add,
    Alloc,
    Assign,
    Call,
    Const,
    Expr,
    Extent,
    For,
    Load,
    Program,
    Stmt,
    Var,
    While,
    walk,
)
from pyrev.ir.ranges import index_range

#: An argument that is at least this far from where a partial is infinite is away from
#: there: its square divides a number of single precision, too.
APART = 1e-16
#: The same where that is not at zero, but at a number of size one.
BESIDE = 1e-6

_INF = math.inf
#: Names go through so many assignments.
_ROUNDS = 4


class Span(NamedTuple):
    """The numbers from `low` to `high`, both included."""

    low: float
    high: float


REALS = Span(-_INF, _INF)

#: What these give of any number.
_RESULTS = {
    "exp": Span(0.0, _INF),
    "cosh": Span(1.0, _INF),
    "hypot": Span(0.0, _INF),
    "sin": Span(-1.0, 1.0),
    "cos": Span(-1.0, 1.0),
    "tanh": Span(-1.0, 1.0),
    "erf": Span(-1.0, 1.0),
    "erfc": Span(0.0, 2.0),
}


class ValueRanges:
    """The ranges of the names of a program and of what is computed from them.

    `types` are the dtypes of the names: integers that go around have none.

    >>> from pyrev.parse import parse_expr, parse_text
    >>> f = parse_text('''
    ... def f(x):
    ...     for i in range(x.shape[0]):
    ...         r = abs(x[i]) + 0.5
    ...         s = r * r / (i + 1)
    ... ''')
    >>> types = dict.fromkeys("xrs", "float64") | {"i": "weak int"}
    >>> ranges = ValueRanges(f, types)
    >>> ranges.of(parse_expr("r")), ranges.of(parse_expr("s"))
    (Span(low=0.5, high=inf), Span(low=0.0, high=inf))
    """

    def __init__(self, program: Program, types: Mapping[str, str]) -> None:
        self.types = types
        self.names: dict[str, Span] = {}
        params = {p.name for p in program.params}
        for _ in range(_ROUNDS):
            found: dict[str, Span] = {}
            rising: dict[str, list[Span]] = {}
            for s in walk(program.body):
                self._made(s, found, rising)
            for name, steps in rising.items():
                if name in found:
                    low, high = found[name]
                    low = low if all(v.low >= 0.0 for v in steps) else -_INF
                    high = high if all(v.high <= 0.0 for v in steps) else _INF
                    found[name] = Span(low, high)
            found = {n: v for n, v in found.items() if n not in params}
            if found == self.names:
                break
            self.names = found

    def _made(
        self, s: Stmt, found: dict[str, Span], rising: dict[str, list[Span]]
    ) -> None:
        """What a statement gives its names, and what it adds to them."""

        def give(name: str, value: Span) -> None:
            found[name] = _hull(found[name], value) if name in found else value

        match s:
            case Assign():
                give(s.target_name, self.of(s.value))
            case Add():
                rising.setdefault(s.target_name, []).append(self.of(s.value))
            case Alloc(array, fill=fill, source=source):
                if s.places:
                    give(array, Span(0.0, _INF))
                elif s.opaque is not None:
                    give(array, REALS)
                elif source is not None:
                    give(array, self.names.get(source, REALS))
                elif fill is not None:
                    give(array, self.of(fill))
            case For(index) | While(index=index) if index:
                ends = index_range(s)
                if ends is None:
                    give(index, REALS)
                else:
                    give(index, Span(self.of(ends.low).low, self.of(ends.high).high))

    def of(self, e: Expr) -> Span:
        """Between what an expression lies where it is no nan."""
        match e:
            case Const(value):
                return Span(float(value), float(value))
            case Var(name) | Load(name, _):
                return self.names.get(name, REALS)
            case Extent():
                return Span(0.0, _INF)
            case Call(op, args) if not wraps(e, self.types):
                return self._call(op, args)
        return REALS

    def _call(self, op: str, args: tuple[Expr, ...]) -> Span:
        match op, args:
            case "*", (a, b):
                return _product(a, b, self)
            case "**", (a, Const(power)):
                return _power(self.of(a), power)
            case "where", (_, a, b):
                return _hull(self.of(a), self.of(b))
        return _of_spans(op, tuple(map(self.of, args)))

    def away(self, e: Expr) -> bool:
        """Is a value no zero, and not next to it either?"""
        low, high = self.of(e)
        return low >= APART or high <= -APART


#: What is known where nothing is asked.
UNKNOWN = ValueRanges(Program("", (), ()), {})


def _of_spans(op: str, spans: tuple[Span, ...]) -> Span:
    """What an operation gives of numbers in these ranges."""
    match op, spans:
        case "+", (a, b):
            return _span(a.low + b.low, a.high + b.high)
        case "-", (a, b):
            return _span(a.low - b.high, a.high - b.low)
        case "/", (a, b) if a.low >= 0.0 and b.low >= 0.0:
            return Span(0.0, _INF)
        case "neg", (a,):
            return Span(-a.high, -a.low)
        case "abs", (a,):
            return Span(max(0.0, a.low, -a.high), max(-a.low, a.high))
        case "sqrt", (a,):
            return Span(*(math.sqrt(max(0.0, end)) for end in a))
        case (("float" | "float64"), (a,)):
            return a
        case (("min" | "minimum"), _):
            return Span(min(v.low for v in spans), min(v.high for v in spans))
        case (("max" | "maximum"), _):
            return Span(max(v.low for v in spans), max(v.high for v in spans))
    return _RESULTS.get(op, REALS)


def _span(low: float, high: float) -> Span:
    """Infinities that meet say nothing."""
    return Span(-_INF if math.isnan(low) else low, _INF if math.isnan(high) else high)


def _hull(a: Span, b: Span) -> Span:
    return Span(min(a.low, b.low), max(a.high, b.high))


def _product(a: Expr, b: Expr, ranges: ValueRanges) -> Span:
    """A product; squares are not negative."""
    factors: dict[Expr, int] = {}
    todo = [a, b]
    while todo:
        factor = todo.pop()
        match factor:
            case Call("*", (c, d)) if not wraps(factor, ranges.types):
                todo += [c, d]
            case _:
                factors[factor] = factors.get(factor, 0) + 1
    found = Span(1.0, 1.0)
    for factor, times in factors.items():
        found = _times(found, _power(ranges.of(factor), times))
    return found


def _times(a: Span, b: Span) -> Span:
    # A bound that is infinite is none: times zero it is zero.
    ends = [0.0 if 0.0 in (x, y) else x * y for x in a for y in b]
    return Span(min(ends), max(ends))


def _power(base: Span, power: float) -> Span:
    """``base ** power``"""
    low, high = base
    if power == 1:
        return base
    if power > 0 and float(power).is_integer():
        k = int(power)
        if k % 2:
            return Span(_raised(low, k), _raised(high, k))
        ends = sorted((_raised(low, k), _raised(high, k)))
        return Span(0.0 if low <= 0.0 <= high else ends[0], ends[1])
    return Span(0.0, _INF) if low >= 0.0 else REALS


def _raised(x: float, k: int) -> float:
    try:
        return x**k
    except OverflowError:
        return _INF if x > 0 or k % 2 == 0 else -_INF
