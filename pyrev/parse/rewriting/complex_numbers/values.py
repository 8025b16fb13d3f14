"""Complex values while a definition is taken apart: names for parts, and arithmetic."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import gast

from pyrev.ir.diagnostics import Finding, UnsupportedError
from pyrev.ir.nodes import Loc, fresh
from pyrev.parse.rewriting.complex_numbers.extents import Extents, stretched
from pyrev.parse.rewriting.complex_numbers.kinds import Kind, Kinds, Place
from pyrev.parse.rewriting.complex_numbers.parts import (
    FIRST,
    FORMULAS,
    Pair,
    Value,
    constant,
    is_simple,
    is_zero,
    made,
    number,
)
from pyrev.parse.rewriting.made_texts import assign, name_of, placed

#: What is called, in a made text, where an argument is complex.
PAIR = "@complex"
#: The attribute of a call and of a definition inside: what it returns, in parts.
RESULT = "pyrev_complex_result"
#: The attribute of a definition inside whose parameters are in parts: their names.
PARTS = "pyrev_complex_parameters"

#: The operators, and what is said of what complex numbers do not have.
OPERATORS: dict[type, str] = {
    gast.Add: "+",
    gast.Sub: "-",
    gast.Mult: "*",
    gast.Div: "/",
    gast.MatMult: "@",
    gast.Pow: "**",
}
USE = "use its parts, `z.real` and `z.imag`, or `abs(z)`"
LOOP = "loop over the indices: `for i in range(z.size)`"
#: The largest power that is multiplied out.
_MOST = 16


@dataclass(slots=True)
class Values(ABC):
    """The values of one definition, whose complex ones are pairs."""

    kinds: Kinds
    loc: Callable[[gast.AST], Loc]
    taken: set[str]
    #: The definition that is read, and the statements in front of the present one.
    place: Place = field(init=False)
    out: list[gast.AST] = field(default_factory=list)
    #: The names of the parts of names; those that are zero but for their signs.
    names: dict[tuple[int, str], tuple[str, str]] = field(default_factory=dict)
    zeros: set[str] = field(default_factory=set)
    #: What no statements can be put in front of.
    closed: gast.AST | None = None
    extents: Extents = field(default_factory=Extents)

    def __post_init__(self) -> None:
        self.place = self.kinds.root

    @abstractmethod
    def value(self, e: gast.AST) -> Value:
        """An expression, in parts if it is complex."""

    @abstractmethod
    def real(self, e: gast.AST) -> gast.AST:
        """An expression that has to be real."""

    @abstractmethod
    def listed(self, e: gast.AST) -> Value:
        """A list that is written out, which an array is made of."""

    @abstractmethod
    def zeros_beside(self, value: Value) -> Pair:
        """A value as a pair; a list of real ones with a list of zeros."""

    @abstractmethod
    def index(self, e: gast.AST) -> gast.AST:
        """A subscript, which may stand twice."""

    @abstractmethod
    def part_of_real(self, e: gast.AST, value: gast.AST, attr: str) -> gast.AST:
        """``x.real`` of a real number is itself."""

    @abstractmethod
    def call_of_helper(self, e: gast.Call, kind: Kind) -> gast.AST:
        """The call of another function, with pairs for complex arguments."""

    def refuse(self, at: gast.AST, because: str, helps: str) -> UnsupportedError:
        """The error for what complex numbers can't do."""
        return UnsupportedError([Finding("P106", self.loc(at), because, helps)])

    def parts_of(self, place: Place, name: str) -> tuple[str, str]:
        """The names of the parts of a name."""
        key = id(place), name
        if key not in self.names:
            re = fresh(f"{name}_re", self.taken)
            self.names[key] = re, fresh(f"{name}_im", self.taken)
            self.extents.twins[self.names[key][1]] = re
        return self.names[key]

    def lifted(self, value: Value, alone: bool) -> Pair:
        """A value as a complex one; `alone`, it gets a name, and the imaginary part
        has as many axes as the real one.
        """
        if isinstance(value, Pair):
            return value
        known = constant(value)
        if known is not None:
            zero = placed(gast.Constant(0.0, None), value)
            return Pair(placed(number(float(known)), value), zero)
        if not alone:
            return Pair(value, placed(gast.Constant(0.0, None), value))
        if not is_simple(value):
            value = self.named(value)
        return Pair(value, made("np.abs(a) * 0.0", {"a": value}, value))

    def whole(self, pair: Pair) -> Pair:
        """A pair whose parts have the same axes."""
        extents = self.extents
        extents.needed |= extents.names_in(pair.re, pair.im)
        if extents.of(pair.re) == extents.of(pair.im):
            return pair
        pair = self.simple(pair)
        return Pair(pair.re, stretched(pair.re, pair.im))

    def simple(self, pair: Pair) -> Pair:
        """A pair whose parts may stand several times."""
        return Pair(self.once(pair.re), self.once(pair.im))

    def once(self, e: gast.AST) -> gast.AST:
        """An expression that may stand several times."""
        return e if is_simple(e) else self.named(e)

    def named(self, e: gast.AST, base: str = "part") -> gast.AST:
        """The name of a value that is evaluated in front of the statement."""
        if self.closed is not None:
            raise self.refuse(
                self.closed,
                "complex numbers are computed in a `lambda`, a comprehension or a"
                " generator",
                "write a `def`, or the loop",
            )
        name = fresh(base, self.taken)
        if is_zero(e, self.zeros):
            self.zeros.add(name)
        made_ = assign([name_of(name, e, gast.Store())], e)
        self.out.append(gast.copy_location(made_, e))
        self.extents.named(name, e)
        return name_of(name, e)

    def two(self, call: gast.AST) -> Pair:
        """The names of the parts of what a call returns."""
        names = [fresh(n, self.taken) for n in ("part_re", "part_im")]
        targets = [name_of(n, call, gast.Store()) for n in names]
        left = placed(gast.Tuple(targets, gast.Store()), call)
        self.out.append(gast.copy_location(assign([left], call), call))
        self.extents.twins[names[1]] = names[0]
        return Pair(*(name_of(n, call) for n in names))

    def operands(self, nodes: Sequence[gast.AST]) -> list[Value]:
        """Values in the order of evaluation: what another function may change after
        it was read is named first, and so is what must happen once.
        """
        found: list[Value] = []
        for k, e in enumerate(nodes):
            value = self.value(e)
            if not isinstance(value, Pair) and self.kinds.acts(value, self.place):
                value = self.named(value)
            if any(self.kinds.calls_helper(n, self.place) for n in nodes[k + 1 :]):
                value = self.kept(value)
            found.append(value)
        return found

    def kept(self, value: Value) -> Value:
        """A value as it is now, whatever what follows writes to."""
        if isinstance(value, Pair):
            return Pair(self._kept(value.re), self._kept(value.im))
        return self._kept(value)

    def _kept(self, e: gast.AST) -> gast.AST:
        fixed = isinstance(e, gast.Name) or constant(e) is not None
        return e if fixed else self.named(e)

    def operation(self, op: str, a: Value, b: Value, at: gast.AST) -> Pair:
        """An operator of complex numbers, or of one and a real one."""
        if op == "**":
            return self.power(self.lifted(a, False), b, at)
        if op == "@":
            a = self.whole(a) if isinstance(a, Pair) else a
            b = self.whole(b) if isinstance(b, Pair) else b
        if op == "/" and not isinstance(b, Pair):
            x, divisor = self.simple(self.lifted(a, False)), self.once(b)
            return self.formula("/ real", x, Pair(divisor, divisor), at)
        real = op == "@" and not (isinstance(a, Pair) and isinstance(b, Pair))
        if real:
            x = self.simple(a) if isinstance(a, Pair) else Pair(self.once(a), a)
            y = self.simple(b) if isinstance(b, Pair) else Pair(self.once(b), b)
            right = isinstance(b, Pair)
            return Pair(
                made("a @ c", {"a": x.re, "c": y.re}, at),
                made(
                    "a @ c",
                    {"a": x.re if right else x.im, "c": y.im if right else y.re},
                    at,
                ),
            )
        return self.formula(op, self.lifted(a, False), self.lifted(b, False), at)

    def formula(self, word: str, a: Pair, b: Pair | None, at: gast.AST) -> Pair:
        """Both parts of an operation."""
        if word == "exp" and is_zero(a.re, self.zeros):
            word = "unit"
        if word not in ("+", "-", "neg", "conj"):
            a = self.simple(a)
            b = None if b is None else self.simple(b)
        parts = {"a": a.re, "b": a.im}
        if b is not None:
            parts |= {"c": b.re, "d": b.im}
        for name, text in FIRST.get(word, ()):
            parts[name] = self.named(made(text, parts, at))
        re, im = FORMULAS[word]
        return Pair(made(re, parts, at), made(im, parts, at))

    def power(self, base: Pair, exponent: Value, at: gast.AST) -> Pair:
        """``z ** w``; for a small integer that is written out, by products."""
        if isinstance(exponent, Pair):
            return self.formula("**", base, exponent, at)
        known = constant(exponent)
        if known is None or known != int(known) or abs(known) > _MOST:
            real = self.once(exponent)
            return self.formula("** real", base, Pair(real, real), at)
        n = int(known)
        if n == 0:
            raise self.refuse(at, "a complex number to the power of 0", "write 1.0")
        base = self.simple(base)
        result: Pair | None = None
        square, k = base, abs(n)
        while k:
            if k % 2:
                result = (
                    square
                    if result is None
                    else self.simple(self.formula("*", result, square, at))
                )
            k //= 2
            if k:
                square = self.simple(self.formula("*", square, square, at))
        assert result is not None
        if n < 0:
            one = self.lifted(placed(gast.Constant(1.0, None), at), False)
            return self.formula("/", one, result, at)
        return result

    @contextmanager
    def no_statements(self, e: gast.AST) -> Iterator[None]:
        before, self.closed = self.closed, e
        try:
            yield
        finally:
            self.closed = before

    def _store(self, name: str, value: gast.AST) -> gast.AST:
        made_ = assign([name_of(name, value, gast.Store())], value)
        return gast.copy_location(made_, value)

    def pair(self, e: gast.AST) -> Pair:
        """Both parts of an expression."""
        return self.lifted(self.value(e), False)
