"""Names for integers that branch or divide, where they are written again and again.

The slice ``x[k:]`` begins at ``max(n + k, 0) if k < 0 else k``, which then stands in
the range of its loop and in every subscript. A person writes ``start = ...`` above the
loop; compilers, too, take it out of a loop only if it is a name. This is done to a
program that is about to be printed: the passes before know such integers as what they
are, not by name.

So it is with the border of a periodic domain: compilers leave ``(y - 1) % n`` in an
inner loop over `x`, for it fails where `n` is zero.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import NamedTuple

from pyrev.analysis.divisors import nonzero
from pyrev.ir.dtypes import WEAK_INT, infer
from pyrev.ir.memo import by_identity
from pyrev.ir.nodes import (
    Alloc,
    Assign,
    Block,
    Call,
    Const,
    Expr,
    Extent,
    For,
    Grow,
    Load,
    Program,
    Stmt,
    Var,
    While,
    all_names,
    assignments,
    blocks,
    children,
    exprs,
    fresh,
    loop_indices,
    map_whole,
    mentioned,
    rebuild,
    walk,
    walk_expr,
    with_blocks,
    with_value,
)

#: The kinds of what is counted with.
_COUNTS = frozenset((WEAK_INT, "int64"))

#: The operations of such integers, and those that say in which case they are: none of
#: them fails.
_TESTS = frozenset(("and", "or", "not", "<", "<=", ">", ">=", "==", "!="))
_OPS = _TESTS | {"+", "-", "*", "neg", "min", "max", "where"}

_NONE: frozenset[Expr] = frozenset()


class Named(NamedTuple):
    """A program with names for parts of it, what they stand for, and all dtypes."""

    program: Program
    parts: Mapping[str, Expr]
    types: dict[str, str]


def name_parts(
    program: Program, dtypes: Mapping[str, str], remainders: bool = False
) -> Named:
    """`program` with a name for each integer that branches and is needed repeatedly.

    Also for what innermost loops divide by a size, if `remainders` are wanted: before
    such a loop, so that the loops around it stay one within the other.

    Law: the same values. What is named is made of indices, sizes and scalars that have
    one value, does not fail, and gets its name where all that it is made of is known.
    `dtypes` are those of the parameters.
    """
    types = infer(program, dtypes)
    if not any(map(_parts, program.body)):
        return Named(program, {}, types)
    divisors = nonzero(program.body) if remainders else {}
    work = _Namer(program, types, divisors)
    made = replace(program, body=work.block(program.body, work.known))
    return Named(made, work.parts, infer(made, dtypes))


class _Namer:
    def __init__(
        self,
        program: Program,
        types: Mapping[str, str],
        divisors: Mapping[int, frozenset[Expr]],
    ) -> None:
        #: By the identity of a statement: what may divide where it stands.
        self.divisors = divisors
        self.taken = {*all_names(program.body), *(p.name for p in program.params)}
        self.times = times = assignments(program.body)
        loops = loop_indices(program.body)
        self.indices = loops - frozenset(times)
        self.mentions = _mentions(program.body)
        #: Scalars that have one value, from where they are assigned on.
        self.once = frozenset(
            s.target.name
            for s in walk(program.body)
            if isinstance(s, Assign)
            and isinstance(s.target, Var)
            and times[s.target.name] == 1
            and s.target.name not in loops
            and types[s.target.name] in _COUNTS
        )
        made = Counter(
            s.array for s in walk(program.body) if isinstance(s, (Alloc, Grow))
        )
        params = {p.name for p in program.params}
        #: The arrays that are made in one place, and keep their shape from there on.
        self.made = frozenset(n for n, k in made.items() if k == 1 and n not in params)
        #: The parameters that stay what they are, and arrays that keep their shape.
        self.known = frozenset(
            p.name
            for p in program.params
            if p.name not in {*times, *loops, *made}
            and (p.rank or types[p.name] in _COUNTS)
        )
        self.parts: dict[str, Expr] = {}

    def block(self, block: Block, known: frozenset[str]) -> Block:
        """A block in which the names `known` have one value each."""
        out: list[Stmt] = []
        rest = _Rest(block)
        while rest:
            first = rest.first
            wanted = self.wanted(first, rest, known)
            if wanted is not None:
                self.name(wanted, first, rest)
                continue
            rest.leave()
            match first:
                case Assign(Var(other), Var(part)) if part in self.parts:
                    if self.times[other] == 1 and rest.reads(
                        other, self.mentions[other] - 1
                    ):
                        rest.call(other, Var(part))
                        continue
            inner = known
            if isinstance(first, (For, While)) and first.index in self.indices:
                inner = known | {first.index}
            bodies = tuple(self.block(b, inner) for b in blocks(first))
            out.append(with_blocks(first, bodies))
            match first:
                case Assign(Var(name)) if name in self.once:
                    known |= {name}
                case Alloc(name) if name in self.made:
                    known |= {name}
        return tuple(out)

    def wanted(self, first: Stmt, rest: _Rest, known: frozenset[str]) -> Expr | None:
        """The largest part of the first statement that deserves a name before it."""
        often = [
            e
            for e in _parts(first)
            if rest.count[e] > 1
            and known.issuperset(mentioned(e))
            and self.divides(first, e)
        ]
        return max(often, key=_size, default=None)

    def divides(self, first: Stmt, e: Expr) -> bool:
        """Can `e` be evaluated before the first statement, as far as it divides?"""
        divisors = [
            p.args[1] for p in walk_expr(e) if isinstance(p, Call) and _divides(p)
        ]
        if not divisors:
            return True
        around = any(
            isinstance(s, (For, While)) for b in blocks(first) for s in walk(b)
        )
        return not around and self.divisors.get(id(first), _NONE).issuperset(divisors)

    def name(self, e: Expr, first: Stmt, rest: _Rest) -> None:
        """Give `e`, a part of the first statement, a name there."""
        match first:
            case Assign(Var(name), value) if name in self.once and value == e:
                pass
            case _:
                name = fresh(_role(e, rest.all()), self.taken)
                rest.begin(Assign(Var(name), e, loc=first.loc))
                self.once |= {name}
        self.parts[name] = e
        rest.name(e, Var(name))


class _Rest:
    """The statements of a block that are still to come, and what branches in them.

    What is counted is kept up to date by the statements that change, since there may be
    thousands of both.
    """

    def __init__(self, block: Block) -> None:
        #: How often each part is needed; twice where a loop evaluates it.
        self.count: Counter[Expr] = Counter()
        self._stmts: dict[int, Stmt] = {}
        self._order = deque(range(len(block)))
        self._next = count(len(block))
        self._users: dict[Expr, set[int]] = {}
        for k, s in enumerate(block):
            self._put(k, s)

    def __bool__(self) -> bool:
        return bool(self._order)

    @property
    def first(self) -> Stmt:
        return self._stmts[self._order[0]]

    def all(self) -> Block:
        return tuple(self._stmts[k] for k in self._order)

    def leave(self) -> None:
        """The first statement is done with."""
        self._drop(self._order.popleft())

    def begin(self, s: Stmt) -> None:
        """Put a statement before all others."""
        k = next(self._next)
        self._order.appendleft(k)
        self._put(k, s)

    def name(self, e: Expr, name: Var) -> None:
        """Call a part by its name, behind the first statement, which gives it that."""
        for k in self._users[e] - {self._order[0]}:
            s = self._stmts[k]
            self._drop(k)
            self._put(k, map_whole(s, lambda t: _with(t, e, name)))

    def reads(self, name: str, times: int) -> bool:
        """Is a name mentioned so often in them?"""
        return times == sum(_mentions((s,))[name] for s in self._stmts.values())

    def call(self, name: str, value: Var) -> None:
        """Read `value` for a name."""
        for k, s in [*self._stmts.items()]:
            if name in all_names((s,)):
                self._drop(k)
                self._put(k, *with_value((s,), name, value))

    def _put(self, k: int, s: Stmt) -> None:
        self._stmts[k] = s
        self.count.update(_parts(s))
        for e in _parts(s):
            self._users.setdefault(e, set()).add(k)

    def _drop(self, k: int) -> None:
        found = _parts(self._stmts.pop(k))
        self.count.subtract(found)
        for e in found:
            self._users[e].discard(k)


@by_identity
def _parts(s: Stmt) -> Counter[Expr]:
    """What branches in a statement, and how often that is needed: in a loop, twice."""
    found: Counter[Expr] = Counter()
    for e in exprs(s):
        _note(e, found, 2 if isinstance(s, While) else 1)
    for b in blocks(s):
        for inner in b:
            for e, times in _parts(inner).items():
                found[e] += 2 * times if isinstance(s, (For, While)) else times
    return found


def _note(e: Expr, found: Counter[Expr], times: int) -> bool | None:
    """Note the parts of `e` that branch. Is `e` made of sizes and scalars alone, by
    cases? None if it is not made of them.
    """
    inner = [_note(part, found, times) for part in children(e)]
    divides = isinstance(e, Call) and _divides(e)
    if not isinstance(e, (Const, Var, Extent)) and (
        not isinstance(e, Call) or not (e.op in _OPS or divides) or None in inner
    ):
        return None
    cases = any(inner) or divides or (isinstance(e, Call) and e.op == "where")
    if cases and isinstance(e, Call) and e.op not in _TESTS:
        found[e] += times
    return cases


def _divides(e: Call) -> bool:
    """A division by a size: no integer makes it overflow, and it fails by zero only."""
    return e.op in ("//", "%") and isinstance(e.args[1], Extent)


def _mentions(block: Sequence[Stmt]) -> Counter[str]:
    """How often a block mentions each name, where it is assigned too."""
    found: Counter[str] = Counter()
    for s in block:
        found.update(_mentioned(s))
    return found


@by_identity
def _mentioned(s: Stmt) -> Counter[str]:
    found: Counter[str] = Counter()
    for e in exprs(s):
        found.update(mentioned(e))
    for b in blocks(s):
        found.update(_mentions(b))
    return found


def _size(e: Expr) -> int:
    return sum(1 for _ in walk_expr(e))


def _with(whole: Expr, part: Expr, name: Var) -> Expr:
    if whole == part:
        return name
    inner = children(whole)
    return (
        rebuild(whole, tuple(_with(e, part, name) for e in inner)) if inner else whole
    )


def _role(e: Expr, block: Sequence[Stmt]) -> str:
    """What to call it: by the first place where it stands."""
    for s in walk(tuple(block)):
        if isinstance(s, For) and e in (s.lo, s.hi):
            return "count" if e == s.hi and s.lo == Const(0) else "stop"
        for whole in exprs(s):
            for part in walk_expr(whole):
                match part:
                    case Call("/", (_, divisor)) if divisor == e:
                        return "divisor"
                    case Load(_, index) if e in index and isinstance(e, Call):
                        return "wrapped" if e.op == "%" else "start"
                    case Load(_, index) if any(e in walk_expr(k) for k in index):
                        return "start"
    return "part"
