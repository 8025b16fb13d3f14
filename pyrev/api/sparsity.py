"""Which inputs each output depends on, from the subscripts alone, and colours for them.

The pattern is found by running the program's loops over sets instead of numbers: each
element of an array stands for the set of inputs that flow into it, a statement unites
the sets that it reads, and subscripts, ranges and tests of integers have their values.
What the numbers are is never looked at, so nothing that is zero by chance is missed; a
test of floats takes both branches. All iterations of a loop go through a statement at
once (as rows of a sparse matrix of truth values) where none reads what another writes.

Columns that meet in no row get one colour and are moved together (Curtis, Powell and
Reid 1974): for differences that are the same everywhere a linear function of the
subscripts, modulo a number (as Goldfarb and Toint 1984 do for stencils), else the
first colour that is free.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, assert_never

import numpy as np
from numpy.typing import NDArray

from pyrev.adjoint.rules import RULES
from pyrev.analysis.poly import integer_names
from pyrev.ir.diagnostics import ArgumentError
from pyrev.ir.dtypes import infer, is_float
from pyrev.ir.liveness import exposed
from pyrev.ir.nodes import (
    Add,
    Alloc,
    Assign,
    Block,
    Call,
    Check,
    Const,
    Expr,
    Extent,
    For,
    Grow,
    If,
    Load,
    Loc,
    Program,
    Restart,
    Return,
    Saved,
    Stmt,
    Tell,
    Var,
    While,
    exprs,
    walk,
    walk_expr,
)
from pyrev.ir.opaque import Opaque
from pyrev.runtime.code_cache import load
from pyrev.schedule.legality import prove_parallel

Ints = NDArray[np.int64]
#: Sets of inputs, a row each: a CSR matrix of ones, or None where all are empty.
Sets = Any

#: So many statements are run one after another, where a loop has to be.
PATIENCE = 200_000


@dataclass(frozen=True)
class Pattern:
    """The sets of inputs of each output, by name; a column is an element of an input.

    `columns` says where the elements of each input start.
    """

    rows: Mapping[str, Sets]
    columns: Mapping[str, int]
    width: int


def pattern(
    program: Program,
    dtypes: Mapping[str, str],
    values: Mapping[str, Any],
    wrt: Sequence[str],
) -> Pattern:
    """What each output of `program` depends on among the parameters `wrt`.

    The outputs are the arrays that it writes, under their names, and what it returns,
    under ``return0``, ``return1``...

    Raises `ArgumentError` where floats decide what is read or how often.
    """
    return _Walker(program, dtypes, values, wrt).run()


@dataclass(frozen=True)
class _Points:
    """The iterations that a statement runs for: how many, and the integers in each."""

    count: int
    integers: Mapping[str, Ints]


class _Walker:
    def __init__(
        self,
        program: Program,
        dtypes: Mapping[str, str],
        values: Mapping[str, Any],
        wrt: Sequence[str],
    ) -> None:
        self.program, self.values = program, values
        self.types = infer(program, dict(dtypes))
        self.integers = integer_names(program.body)
        self.shapes: dict[str, tuple[int, ...]] = {}
        #: Integer arrays whose elements are known.
        self.known: dict[str, NDArray[Any]] = {}
        self.arrays: dict[str, Sets] = {}
        self.scalars: dict[str, Sets] = {}
        self.left = PATIENCE
        self.columns: dict[str, int] = {}
        self.width = 0
        for name in wrt:
            self.columns[name] = self.width
            self.width += int(np.size(values[name]))
        self.live = frozenset(p.name for p in program.params if p.rank)

    def run(self) -> Pattern:
        integers: dict[str, Ints] = {}
        for p in self.program.params:
            value = self.values[p.name]
            if p.rank:
                self.shapes[p.name] = tuple(value.shape)
                if value.dtype.kind in "iub":
                    self.known[p.name] = value
                else:
                    self.arrays[p.name] = self.inputs(p.name)
            elif isinstance(value, (bool, int, np.integer, np.bool_)):
                integers[p.name] = np.array([int(value)])
            else:
                self.scalars[p.name] = self.inputs(p.name)
        written = {
            s.target_name
            for s in walk(self.program.body)
            if isinstance(s, (Assign, Add))
        }
        at = self.block(self.program.body, _Points(1, integers), ())
        rows = {
            n: self.matrix(self.arrays[n], self.shapes[n])
            for n in sorted(written & self.live & self.arrays.keys())
        }
        last = self.program.body[-1] if self.program.body else None
        if isinstance(last, Return):
            for k, value in enumerate(last.values):
                rows[f"return{k}"] = self.returned(value, at)
        return Pattern(rows, self.columns, self.width)

    def inputs(self, name: str) -> Sets:
        """The sets of the elements of a parameter at the start."""
        if name not in self.columns:
            return None
        first, size = self.columns[name], int(np.size(self.values[name]))
        return _sets(np.arange(size), first + np.arange(size), (size, self.width))

    def matrix(self, sets: Sets, shape: Sequence[int]) -> Sets:
        """Sets as a matrix, also where all are empty."""
        if sets is not None:
            return sets
        none = np.empty(0, np.int64)
        return _sets(none, none, (int(np.prod(shape)), self.width))

    def returned(self, value: Expr, at: _Points) -> Sets:
        if isinstance(value, Var) and value.name in self.shapes:
            sets = self.arrays.get(value.name)
            return self.matrix(sets, self.shapes[value.name])
        return self.matrix(self.of(value, at), ())

    # ---------------------------------------------------------------- statements

    def block(self, block: Block, at: _Points, outer: tuple[For, ...]) -> _Points:
        """Run a block; the points with what it assigned to integers."""
        for s in block:
            at = self.statement(s, at, outer)
        return at

    def statement(self, s: Stmt, at: _Points, outer: tuple[For, ...]) -> _Points:
        match s:
            case Assign(Var(n), value):
                if not is_float(self.types[n]):
                    return self.assigned(n, self.integer(value, at), at)
                self.scalars[n] = self.of(value, at)
            case Add(Var(n), value):
                if not is_float(self.types[n]):
                    total = Call("+", (Var(n), value))
                    return self.assigned(n, self.integer(total, at), at)
                self.scalars[n] = _union(self.scalars.get(n), self.of(value, at))
            case Assign() | Add():
                a = s.target_name
                if a in self.known or not is_float(self.types[a]):
                    self.known.pop(a, None)  # what it holds now is not followed
                else:
                    self.store(s, at)
            case Alloc(opaque=Opaque() as call):
                raise _unknown(s.loc, f"`{call.function}` runs as it is")
            case Alloc() if at.count > 1:
                raise _unknown(s.loc, "each iteration makes an array of its own")
            case Alloc(a):
                self.shapes[a] = tuple(self.one(n, at, s.loc) for n in s.shape)
                self.known.pop(a, None)
                self.arrays[a] = None
                if s.copied is not None:
                    self.arrays[a] = self.arrays.get(s.copied)
                elif s.fill is not None and is_float(self.types[a]):
                    sets = self.of(s.fill, at)
                    size = int(np.prod(self.shapes[a]))
                    if sets is not None:
                        self.arrays[a] = sets[np.zeros(size, np.int64)]
            case For():
                return self.loop(s, at, outer)
            case If():
                return self.choice(s, at, outer)
            case Return() | Check() | Tell():
                pass
            case While() | Grow() | Restart():
                raise _unknown(s.loc, "floats may decide how often this runs")
            case _:
                assert_never(s)
        return at

    def assigned(self, name: str, value: Ints | None, at: _Points) -> _Points:
        integers = {k: v for k, v in at.integers.items() if k != name}
        if value is not None:
            integers[name] = np.broadcast_to(value, at.count)
        return replace(at, integers=integers)

    def store(self, s: Assign | Add, at: _Points) -> None:
        """Put the sets of a value into elements of an array."""
        assert isinstance(s.target, Load)
        a = s.target.array
        places, sets = self.places(s.target, at), self.of(s.value, at)
        size = int(np.prod(self.shapes[a]))
        old = self.arrays.get(a)
        if isinstance(s, Assign):
            # Of several that write one element the last one does.
            places, where = np.unique(places[::-1], return_index=True)
            sets = _taken(sets, at.count - 1 - where)
            if old is not None:
                kept = np.ones(size, bool)
                kept[places] = False
                old = _rows(old, kept)
        if sets is not None:
            sets = _scattered(places, sets, size)
        self.arrays[a] = _union(old, sets)

    def choice(self, s: If, at: _Points, outer: tuple[For, ...]) -> _Points:
        test = self.integer(s.test, at)
        if test is None:  # floats decide: either may be taken
            arrays, scalars = dict(self.arrays), dict(self.scalars)
            then = self.block(s.then, at, outer)
            first = self.arrays, self.scalars
            self.arrays, self.scalars = arrays, scalars
            orelse = self.block(s.orelse, at, outer)
            for own, theirs in zip((self.arrays, self.scalars), first, strict=True):
                for n in own.keys() | theirs.keys():
                    own[n] = _union(own.get(n), theirs.get(n))
            same = {
                n: v
                for n, v in then.integers.items()
                if n in orelse.integers and np.array_equal(v, orelse.integers[n])
            }
            return replace(at, integers=same)
        for block, taken in ((s.then, test != 0), (s.orelse, test == 0)):
            if block and taken.any():
                at = self.among(block, at, np.flatnonzero(taken), outer)
        return at

    def among(
        self, block: Block, at: _Points, chosen: Ints, outer: tuple[For, ...]
    ) -> _Points:
        """Run a block for some of the points."""
        if chosen.size == at.count:
            return self.block(block, at, outer)
        inside = _Points(chosen.size, {n: v[chosen] for n, v in at.integers.items()})
        before = self.scalars
        self.scalars = {n: _taken(v, chosen) for n, v in before.items()}
        after = self.block(block, inside, outer)
        rest = np.ones(at.count, bool)
        rest[chosen] = False
        merged: dict[str, Sets] = {}
        for n, v in self.scalars.items():
            old = before.get(n)
            kept = None if old is None else _rows(old, rest)
            moved = None if v is None else _scattered(chosen, v, at.count)
            merged[n] = _union(kept, moved)
        self.scalars = merged
        integers: dict[str, Ints] = {}
        for n, own in after.integers.items():
            if n in at.integers:
                integers[n] = at.integers[n].copy()
                integers[n][chosen] = own
        return replace(at, integers=integers)

    # ---------------------------------------------------------------- loops

    def loop(self, s: For, at: _Points, outer: tuple[For, ...]) -> _Points:
        lo, hi, step = (self.range_of(e, at, s) for e in (s.lo, s.hi, s.step))
        counts = np.maximum(0, -((lo - hi) // step))
        if not counts.sum():
            return at
        if self.apart(s, outer):
            return self.together(s, at, outer, lo, step, counts)
        numbers = range(int(counts.max()))
        for k in reversed(numbers) if s.reverse else numbers:
            self.left -= 1
            if self.left < 0:
                raise _unknown(s.loc, "too many iterations depend on each other")
            at = self.assigned(s.index, lo + k * step, at)
            at = self.among(s.body, at, np.flatnonzero(counts > k), (*outer, s))
        return at

    def apart(self, s: For, outer: tuple[For, ...]) -> bool:
        """May all iterations go through one statement after another?

        Where none reads what another writes, and what several write is added up or
        comes from one statement; else where none meets another at all.
        """
        if any(isinstance(inner, Alloc) for inner in walk(s.body)):
            return False
        reads: set[str] = set()
        assigned: list[str] = []
        added: set[str] = set()
        for inner in walk(s.body):
            parts = list(exprs(inner))
            if isinstance(inner, (Assign, Add)) and isinstance(inner.target, Load):
                parts = [inner.value, *inner.target.index]
                if isinstance(inner, Assign):
                    assigned.append(inner.target.array)
                else:
                    added.add(inner.target.array)
            for top in parts:
                reads |= {e.array for e in walk_expr(top) if isinstance(e, Load)}
        once = len(set(assigned)) == len(assigned) and not added & set(assigned)
        if once and not reads & {*assigned, *added} and not _carried(s.body):
            return True
        return prove_parallel(s, outer, self.live, self.integers) is not None

    def together(
        self,
        s: For,
        at: _Points,
        outer: tuple[For, ...],
        lo: Ints,
        step: Ints,
        counts: Ints,
    ) -> _Points:
        """All iterations at once."""
        parent = np.repeat(np.arange(at.count), counts)
        first = np.repeat(np.cumsum(counts) - counts, counts)
        number = np.arange(parent.size) - first
        if s.reverse:
            number = counts[parent] - 1 - number
        integers = {n: v[parent] for n, v in at.integers.items()}
        integers[s.index] = lo[parent] + number * step[parent]
        before = self.scalars
        self.scalars = {n: _taken(v, parent) for n, v in before.items()}
        added = _added_scalars(s.body)
        for n in added:
            self.scalars[n] = None
        self.block(s.body, _Points(parent.size, integers), (*outer, s))
        # A scalar that is summed up holds what all iterations add; others that of the
        # last one, where there is any.
        last = np.cumsum(counts) - 1
        some = counts > 0
        after: dict[str, Sets] = {}
        for n, v in self.scalars.items():
            old = before.get(n)
            if n in added:
                sums = None if v is None else _scattered(parent, v, at.count)
                after[n] = _union(old, sums)
            elif n in _assigned(s.body):
                kept = None if old is None else _rows(old, ~some)
                own = None
                if v is not None:
                    own = _scattered(np.flatnonzero(some), v[last[some]], at.count)
                after[n] = _union(kept, own)
            else:
                after[n] = old
        self.scalars = after
        gone = {*_assigned(s.body), s.index}
        kept_ = {n: v for n, v in at.integers.items() if n not in gone}
        return replace(at, integers=kept_)

    # ---------------------------------------------------------------- expressions

    def range_of(self, e: Expr, at: _Points, s: For) -> Ints:
        value = self.integer(e, at)
        if value is None:
            raise _unknown(s.loc, "floats decide how often this runs")
        return np.broadcast_to(value, at.count)

    def one(self, e: Expr, at: _Points, loc: Loc) -> int:
        value = self.integer(e, at)
        if value is None or value.size != 1 and np.ptp(value):
            raise _unknown(loc, "floats or an index decide how large this array is")
        return int(value.flat[0])

    def places(self, e: Load, at: _Points) -> Ints:
        """The numbers of the elements that a load or a store means."""
        place = np.zeros(at.count, np.int64)
        for n, index in zip(self.shapes[e.array], e.index, strict=True):
            value = self.integer(index, at)
            if value is None:
                raise _unknown(e.loc, f"floats decide a subscript of `{e.array}`")
            own = np.broadcast_to(value, at.count)
            # A side that is not taken may lie outside: what it reads there is nothing.
            own = np.clip(np.where(own < 0, own + n, own), 0, max(0, n - 1))
            place = place * n + own
        return place

    def of(self, e: Expr, at: _Points) -> Sets:
        """The inputs that flow into an expression, at each of the points."""
        match e:
            case Const() | Extent():
                return None
            case Var(n):
                return self.scalars.get(n)
            case Load(a):
                sets = self.arrays.get(a)
                if sets is None or not sets.shape[0]:
                    return None
                return sets[self.places(e, at)]
            case Call("where", (test, a, b)):
                known = self.integer(test, at)
                if known is None:
                    return _union(self.of(a, at), self.of(b, at))
                return self.selected(known != 0, a, b, at)
            case Call(op, args):
                found: Sets = None
                for k, arg in enumerate(args):
                    if RULES[op].flows(k):
                        found = _union(found, self.of(arg, at))
                return found
            case Saved():
                raise AssertionError("a saved value is left over")
        assert_never(e)

    def selected(self, test: Any, a: Expr, b: Expr, at: _Points) -> Sets:
        """What flows from the side that is taken; the other is not looked at."""
        test = np.broadcast_to(test, at.count)
        found: Sets = None
        for side, taken in ((a, test), (b, ~test)):
            chosen = np.flatnonzero(taken)
            if not chosen.size:
                continue
            own = _Points(chosen.size, {n: v[chosen] for n, v in at.integers.items()})
            before = self.scalars
            self.scalars = {n: _taken(v, chosen) for n, v in before.items()}
            sets = self.of(side, own)
            self.scalars = before
            if sets is not None:
                found = _union(found, _scattered(chosen, sets, at.count))
        return found

    def integer(self, e: Expr, at: _Points) -> Ints | None:
        """The values of an expression of integers; None if floats decide them."""
        match e:
            case Const(value):
                if isinstance(value, float):
                    return None
                return np.full(at.count, int(value))
            case Var(n):
                return at.integers.get(n)
            case Extent(a, k):
                return np.full(at.count, self.shapes[a][k])
            case Load(a, index):
                if a not in self.known:
                    return None
                if any(self.integer(i, at) is None for i in index):
                    return None
                flat = self.known[a].reshape(-1)
                return flat[self.places(e, at)].astype(np.int64)
            case Call("where", (test, a, b)):
                parts = [self.integer(x, at) for x in (test, a, b)]
                if any(p is None for p in parts):
                    return None
                taken, other = parts[1], parts[2]
                assert taken is not None and other is not None
                return np.where(parts[0] != 0, taken, other)
            case Call(op, args):
                evaluate = _INTEGER.get(op)
                values = [self.integer(x, at) for x in args]
                if evaluate is None or any(v is None for v in values):
                    return None
                with np.errstate(all="ignore"):
                    return np.asarray(evaluate(*values), np.int64)
            case Saved():
                raise AssertionError("a saved value is left over")
        assert_never(e)


_INTEGER: dict[str, Any] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "//": np.floor_divide,
    "%": np.mod,
    "neg": np.negative,
    "abs": np.abs,
    "sign": np.sign,
    "min": np.minimum,
    "max": np.maximum,
    "minimum": np.minimum,
    "maximum": np.maximum,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "==": np.equal,
    "!=": np.not_equal,
    "and": lambda a, b: np.where(a != 0, b, a),
    "or": lambda a, b: np.where(a != 0, a, b),
    "not": lambda a: a == 0,
    "bool": lambda a: a != 0,
    "int": lambda a: a,
    "int64": lambda a: a,
    "&": np.bitwise_and,
    "|": np.bitwise_or,
    "^": np.bitwise_xor,
}


def _unknown(loc: Loc, why: str) -> ArgumentError:
    return ArgumentError(
        f"{loc.place}: {why}, so what depends on what is not known before it runs;"
        " leave out sparse=True"
    )


def _assigned(block: Block) -> frozenset[str]:
    return frozenset(
        s.target.name
        for s in walk(block)
        if isinstance(s, (Assign, Add)) and isinstance(s.target, Var)
    )


def _added_scalars(block: Block) -> frozenset[str]:
    """Scalars that a block only adds to, and reads nowhere else."""
    only: set[str] = set()
    other: set[str] = set()
    for s in walk(block):
        parts = list(exprs(s))
        if isinstance(s, Add) and isinstance(s.target, Var):
            only.add(s.target.name)
            parts = [s.value]
        elif isinstance(s, Assign) and isinstance(s.target, Var):
            other.add(s.target.name)
            parts = [s.value]
        for top in parts:
            other |= {e.name for e in walk_expr(top) if isinstance(e, Var)}
    return frozenset(only - other)


def _carried(block: Block) -> bool:
    """May an iteration read a scalar that another one set?"""
    own = _assigned(block) - _added_scalars(block)
    return any(exposed(block, n)[0] for n in own)


# -------------------------------------------------------------------- sets as matrices


def _sets(rows: Ints, columns: Ints, shape: tuple[int, int]) -> Sets:
    from scipy.sparse import csr_matrix

    return csr_matrix((np.ones(rows.size, np.int8), (rows, columns)), shape)


def _union(a: Sets, b: Sets) -> Sets:
    if a is None or b is None:
        return a if b is None else b
    both = (a + b).tocsr()
    both.data[:] = 1
    return both


def _taken(sets: Sets, which: Ints) -> Sets:
    return None if sets is None else sets[which]


def _rows(sets: Sets, kept: Any) -> Sets:
    """The sets with those of some rows emptied."""
    which = np.flatnonzero(kept)
    return _scattered(which, sets[which], sets.shape[0])


def _scattered(places: Ints, sets: Sets, size: int) -> Sets:
    """The sets united in the rows `places`."""
    spread = _sets(places, np.arange(places.size), (size, places.size))
    found = (spread.astype(np.int32) @ sets).tocsr()
    found.data = np.ones(found.data.size, np.int8)
    return found


# -------------------------------------------------------------------- colours


def coloured(rows: Sets, shape: tuple[int, ...]) -> tuple[Ints, int]:
    """A colour for each column, so that no row has two of one; and how many.

    `shape` is that of the array whose elements the columns are.
    """
    rows = rows.tocsr()
    rows.sort_indices()
    width = int(np.diff(rows.indptr).max(initial=0))
    if width <= 1:
        return np.zeros(rows.shape[1], np.int64), min(1, rows.shape[1])
    linear = _linear(rows, shape, width)
    if linear is not None and linear[1] == width:
        return linear
    greedy = _greedy(rows)
    return linear if linear is not None and linear[1] <= greedy[1] else greedy


def _linear(rows: Sets, shape: tuple[int, ...], width: int) -> tuple[Ints, int] | None:
    """Colours that are a linear function of the subscripts, modulo their number."""
    where: Ints = np.stack(np.unravel_index(np.arange(rows.shape[1]), shape or (1,)))
    gaps = np.unique(_gaps(rows, where, width), axis=1)
    if gaps.shape[1] > 4000 or len(shape) > 3:
        return None
    for count in range(width, 2 * width + 4):
        steps = itertools.product(range(count), repeat=max(1, len(shape)))
        for step in steps:
            if (np.asarray(step) @ gaps % count).all():
                return np.asarray(step) @ where % count, count
        if count ** len(shape) > 40_000:
            return None
    return None


def _gaps(rows: Sets, where: Ints, width: int) -> Ints:
    """How far apart, along each axis, columns are that meet in a row."""
    owner = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    found: list[Ints] = []
    for apart in range(1, width):
        meet = owner[apart:] == owner[:-apart]
        first, second = rows.indices[:-apart][meet], rows.indices[apart:][meet]
        found.append(np.unique(where[:, second] - where[:, first], axis=1))
    return np.concatenate(found, axis=1)


def _greedy(rows: Sets) -> tuple[Ints, int]:
    """The first free colour for each column, those that meet most first."""
    columns = rows.tocsc()
    order = np.argsort(-np.diff(columns.indptr), kind="stable")
    colours = np.full(rows.shape[1], -1, np.int64)
    count = _first_free(
        rows.indptr, rows.indices, columns.indptr, columns.indices, order, colours
    )
    return colours, int(count)


def _first_free(*given: Any) -> int:
    return int(load(_GREEDY, "first_free").first_free(*given))


_GREEDY = """\
# The first free colour for each column, in a given order.
import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def first_free(starts, inside, column_starts, holders, order, colours):
    taken = np.full(colours.size + 1, -1)
    most = 0
    for n in range(order.size):
        column = order[n]
        for h in range(column_starts[column], column_starts[column + 1]):
            row = holders[h]
            for k in range(starts[row], starts[row + 1]):
                if colours[inside[k]] >= 0:
                    taken[colours[inside[k]]] = n
        colour = 0
        while taken[colour] == n:
            colour += 1
        colours[column] = colour
        most = max(most, colour + 1)
    return most
"""
