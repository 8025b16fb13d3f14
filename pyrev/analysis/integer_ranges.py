"""Do the integers of a call fit into 64 bits?

Compiled code counts in 64 bits and goes around at the end, where Python's integers go
on. So a call in which an integer that is made of sizes, numbers and loop indices would
pass 64 bits is refused. Usually one comparison tells: there is a size up to which none
of them can. What is read from an array, or carried from one iteration to the next, is
as NumPy's own integers are: 64 bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

from pyrev.ir.affine import COMPARISONS, integer
from pyrev.ir.diagnostics import ArgumentError
from pyrev.ir.dtypes import WEAK_INT, expr_dtype
from pyrev.ir.nodes import (
    Alloc,
    Assign,
    Block,
    Call,
    Const,
    Expr,
    Extent,
    For,
    If,
    Load,
    Loop,
    Program,
    Stmt,
    Var,
    While,
    assigned_scalars,
    exprs,
    walk,
    walk_expr,
    written,
)
from pyrev.ir.ranges import Interval, index_interval, interval_of
from pyrev.ir.text import expr_text

#: What integers stay below: what is made of them in the emitted text, as subscripts and
#: bounds that are moved by one, has room above.
_MOST = 2**62
#: All integers, and what makes of their ends, ``np.iinfo(np.int64).max`` say, no more:
#: no such value is moved, for its cast keeps it out of all linear forms.
_INT64 = Interval(-(2**63), 2**63 - 1)
_ENDING = ("int64", "//", "%", "min", "max")
#: What a derivative makes of a subscript is a little larger than the subscript.
_SAFE = 2**60
_SIZES = (2**31, 2**24, 2**20, 2**16, 2**12, 2**8)


#: In the place of an axis: not an extent, but all elements.
_ELEMENTS = -1
#: Parameters and loop indices by name, extents by array and axis.
Known = dict[str | tuple[str, int], Interval]

#: A statement, what it loads or stores, and an axis.
Place = tuple[int, Load, int]


class Magnitudes:
    """The integers of one program: `check` refuses a call that makes one too large.

    `once` are scalars with a single assignment, which comes before every use; `types`
    the dtypes of all names.
    """

    def __init__(
        self, program: Program, types: Mapping[str, str], once: frozenset[str]
    ) -> None:
        self.program, self.types, self.once = program, types, once
        self._numbers = [
            p.name for p in program.params if not p.rank and "int" in p.dtype
        ]
        self._arrays = [p for p in program.params if p.rank]
        changed = written(program.body)
        self._fixed = [n for n in self._numbers if n not in changed]
        self._assigned = frozenset(assigned_scalars(program.body))
        made = [s.array for s in walk(program.body) if isinstance(s, Alloc)]
        self._local = frozenset(a for a in made if made.count(a) == 1)
        self._passed: tuple[int, ...] | None = None
        self._settled: tuple[Any, frozenset[Place]] = None, frozenset()
        self._limit = next((n for n in _SIZES if self._fits(n)), 0)

    def _fits(self, size: int) -> bool:
        """Are parameters and extents up to `size` small enough, whatever they are?"""
        known: Known = {name: Interval(-size, size) for name in self._fixed}
        for p in self._arrays:
            known |= {(p.name, k): Interval(0, size) for k in range(p.rank)}
        found = self._integers(self.program.body, known)
        return all(values.largest < _SAFE for _, _, values in found)

    def check(self, values: Mapping[str, Any]) -> None:
        """Raises `ArgumentError` if an integer passes 64 bits, or may do so."""
        sizes = self._sizes(values)
        if max(map(abs, (0, *sizes))) <= self._limit or sizes == self._passed:
            return
        known = self._known(values)
        for stmt, e, found in self._integers(self.program.body, known):
            if _may_end(e) and _INT64.low <= found.low and found.high <= _INT64.high:
                continue
            if found.largest > _MOST:
                at = e.loc if e.loc.line else stmt.loc
                raise ArgumentError(
                    f"{PurePath(at.file).name}:{at.line}: `{expr_text(e)}` may pass 64"
                    f" bits for these arguments: it is {_words(found)}"
                )
        self._passed = sizes

    def unsettled(
        self,
        values: Mapping[str, Any],
        elements: Mapping[str, Interval] | None = None,
    ) -> frozenset[Place]:
        """The subscripts not shown to lie in their array, and not to be negative.

        `elements` says between what the elements of arrays of integers lie that the
        function only reads.
        """
        between = tuple((elements or {}).items())
        asked = self._sizes(values), between
        last, found = self._settled
        if asked != last:
            known = self._known(values) | {(n, _ELEMENTS): v for n, v in between}
            found = frozenset(self._loose(self.program.body, known))
            self._settled = asked, found
        return found

    def _sizes(self, values: Mapping[str, Any]) -> tuple[int, ...]:
        shapes = (values[p.name].shape for p in self._arrays)
        numbers = (int(values[name]) for name in self._numbers)
        return (*numbers, *(n for shape in shapes for n in shape))

    def _known(self, values: Mapping[str, Any]) -> Known:
        known: Known = {
            n: Interval(v, v) for n in self._fixed for v in [int(values[n])]
        }
        for p in self._arrays:
            for k, n in enumerate(values[p.name].shape):
                known[p.name, k] = Interval(n, n)
        return known

    def _loose(self, block: Block, known: Known) -> Iterator[Place]:
        for s, inside in self._statements(block, known):
            for top in exprs(s):
                for e in walk_expr(top):
                    if not isinstance(e, Load):
                        continue
                    for axis, k in enumerate(e.index):
                        found = self._value(k, inside)
                        size = inside.get((e.array, axis))
                        if found is None or size is None:
                            yield s.id, e, axis
                        elif found.low < 0 or found.high >= size.low:
                            yield s.id, e, axis

    # ---------------------------------------------------------------- evaluation

    def _integers(
        self, block: Block, known: Known
    ) -> Iterator[tuple[Stmt, Expr, Interval]]:
        """Every integer expression of a block whose values are known, and these."""
        for s, inside in self._statements(block, known):
            for top in exprs(s):
                for e in _counted(s, top):
                    if found := self._value(e, inside):
                        yield s, e, found

    def _statements(self, block: Block, known: Known) -> Iterator[tuple[Stmt, Known]]:
        """Every statement that may run, with what is known where it does."""
        for s in block:
            yield s, known
            match s:
                case Assign(Var(name), value) if name in self.once:
                    if (found := self._value(value, known)) is not None:
                        known[name] = found
                case Alloc(array, shape) if array in self._local:
                    for axis, n in enumerate(shape):
                        if (found := self._value(n, known)) is not None:
                            known[array, axis] = found
                case For() | While():
                    inside = self._index(s, known)
                    if inside is not None:
                        yield from self._statements(s.body, inside)
                case If():
                    yield from self._statements(s.then, known)
                    yield from self._statements(s.orelse, known)

    def _index(self, loop: Loop, known: Known) -> Known | None:
        """What is known inside `loop`; None if it has no iteration."""
        lo, hi = self._value(loop.lo, known), self._value(loop.hi, known)
        step = integer(loop.step)
        if lo is None or hi is None or step is None:
            return known
        if not loop.index or loop.index in self._assigned:
            return known
        found = index_interval(lo, hi, step)
        return None if found is None else {**known, loop.index: found}

    def _value(self, e: Expr, known: Known) -> Interval | None:
        """Where `e` lies; None if it is no integer of 64 bits, or not known."""
        match e:
            case Const(value) if type(value) is int:
                return Interval(value, value)
            case Var(name):
                return known.get(name)
            case Extent(array, axis):
                return known.get((array, axis))
            case Load(array):
                return known.get((array, _ELEMENTS))
            case Call(op, args) if expr_dtype(e, self.types) in (WEAK_INT, "int64"):
                parts = [self._value(a, known) for a in args]
                if op == "where":
                    parts = parts[1:]
                sure = [p for p in parts if p is not None]
                return interval_of(op, sure) if len(sure) == len(parts) else None
            case _:
                return None


def _counted(s: Stmt, top: Expr) -> Iterator[Expr]:
    """What is computed, and what a bound or a test may be moved by one from."""
    if isinstance(s, For) and not isinstance(top, Call):
        yield top
    for e in walk_expr(top):
        if isinstance(e, Call):
            yield e
            if e.op in COMPARISONS:
                yield from (a for a in e.args if not isinstance(a, Call))


def _may_end(e: Expr) -> bool:
    """Is this the largest or least integer, or made of it without being moved?"""
    match e:
        case Call("int64", (Const() as end,)):
            return integer(end) is not None
        case Call(op, args) if op in _ENDING:
            return any(map(_may_end, args))
    return False


def _words(found: Interval) -> str:
    if found.low == found.high:
        return f"{found.low}"
    return f"between {found.low} and {found.high}"
