"""Forward substitution of scalars: what is used once stands where it is used.

The reverse sweep gives each partial and each product a name of its own, and a parameter
its second name; a person writes one line. Only names that pyrev has made go: the
user's, and the adjoints of these, say what a value means.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

from pyrev.ir.dtypes import wraps
from pyrev.ir.liveness import occurs, read_first
from pyrev.ir.memo import by_identity
from pyrev.ir.nodes import (
    Add,
    Alloc,
    Assign,
    Block,
    Call,
    Check,
    Const,
    Expr,
    Grow,
    If,
    Load,
    Program,
    Return,
    Stmt,
    Tell,
    Var,
    assignments,
    blocks,
    exprs,
    loop_indices,
    map_expr,
    mentioned,
    names,
    resembled,
    walk,
    walk_expr,
    with_blocks,
    with_value,
    without_scalars,
    written,
)
from pyrev.ir.renaming import rename
from pyrev.ir.simplify import mul
from pyrev.ir.text import expr_text, negated

#: How many columns an expression may have that others were substituted into.
WIDEST = 64

#: What no statement is moved across: what makes room, ends the run or tells.
_FIXED = (Alloc, Grow, Check, Tell, Return)


def forwarded(program: Program, users: Set[str], types: Mapping[str, str]) -> Program:
    """The program with scalars substituted that are used once, or stand for a
    parameter; `users` are the names of the function, `types` the dtypes of all names.

    Law: the same operations on the same values, in the same order within each value,
    and so the same bits, unless they leave the range of their dtype on the way: signs,
    and literals that are powers of two, stand in front of a product and meet there.
    """
    body = _aliases(program)
    # A parameter has a value before any statement gives it one.
    users = users | {p.name for p in program.params}
    while True:
        new = _Forward(body, users, types).block(body)
        if new == body:
            return replace(program, body=body)
        body = new


def _aliases(program: Program) -> Block:
    """Scalars that only stand for a parameter are that parameter."""
    body = program.body
    times = assignments(body)
    params = {p.name for p in program.params}
    steady = {p.name for p in program.params if not p.rank} - written(body)
    indices = loop_indices(body)
    known: dict[str, str] = {}
    for s in walk(body):
        match s:
            case Assign(Var(name), Var(of)) if (
                of in steady
                and times[name] == 1
                and name not in indices
                and name not in params
            ):
                known[name] = of
    if not known:
        return body
    return tuple(rename(t, known) for t in without_scalars(body, known.keys()))


class _Uses:
    """How often statements give scalars a value, and read them."""

    def __init__(self, block: Block) -> None:
        self.times = assignments(block)
        self.reads: Counter[str] = Counter()
        for s in walk(block):
            for e in exprs(s):
                self.reads.update(mentioned(e))
            if isinstance(s, Alloc):
                self.reads.update(resembled(s.dtype))
            if isinstance(s, (Assign, Add)) and isinstance(s.target, Var):
                self.reads[s.target.name] -= 1

    def once(self, name: str) -> bool:
        """Is a scalar set once, and read once?"""
        return self.times[name] == self.reads[name] == 1


class _Forward:
    """One round over a program: each statement takes in what stands before it."""

    def __init__(self, body: Block, users: Set[str], types: Mapping[str, str]) -> None:
        self.users, self.types = users, types
        self.uses = _Uses(body)
        self.private = self.uses.times.keys() - read_first(body)

    def block(self, block: Block) -> Block:
        out: list[Stmt] = []
        block = self.made_once(block)
        here = _Uses(block)
        for s in block:
            s = with_blocks(s, tuple(self.block(b) for b in blocks(s)))
            if isinstance(s, (Assign, Add)):
                s = self.joined(out, self.taking(out, s, here))
            if not (isinstance(s, Assign) and s.target == s.value):
                out.append(s)
        return self.called_at_once(self.read_first(self.without_aliases(tuple(out))))

    def made_once(self, block: Block) -> Block:
        """``d_v = d * c`` and, with the same values, ``d_w = d * c``: one for both, if
        that is read more than twice.
        """
        known: dict[Expr, str] = {}
        #: By what they mention.
        about: dict[str, list[Expr]] = {}
        places = _Places(block)
        for k, s in enumerate(places.stmts):
            if s is None:
                continue
            for changed in written((s,)):
                for e in about.pop(changed, ()):
                    known.pop(e, None)
            match s:
                case Assign(Var(name), Call() as value) if (
                    self.is_ours(name)
                    and self.uses.times[name] == 1
                    and name not in mentioned(value)
                ):
                    if value not in known:
                        for n in {*mentioned(value)}:
                            about.setdefault(n, []).append(value)
                    first = known.setdefault(value, name)
                    if (
                        first == name
                        or self.types[first] != self.types[name]
                        or self.uses.reads[first] + self.uses.reads[name] <= 2
                    ):
                        continue
                    if self.renamed(places, k, name, first):
                        self.uses.reads[first] += self.uses.reads[name]
                        places.put(k, None)
        return places.left()

    def read_first(self, block: Block) -> Block:
        """``d_v = d_s``, ``d_s = d_v * w`` and then a use of `d_v`: that stands first
        and reads `d_s` itself.
        """
        k, places = 0, _Places(block)
        while k < len(block):
            match block[k]:
                case Assign(Var(name), Var() | Load() as place) if (
                    self.is_ours(name) and self.uses.times[name] == 1
                ):
                    found = self.overwritten_last(block, places, k, name, place)
                    if found is not None:
                        block, places = found, _Places(found)
                        continue
            k += 1
        return block

    def overwritten_last(
        self, block: Block, places: _Places, k: int, name: str, place: Var | Load
    ) -> Block | None:
        """The block in which what reads `name`, statement `k`, which is `place`, stands
        before the one statement that overwrites that; None where it can't.
        """
        where = {*mentioned(place)}
        own = place.name if isinstance(place, Var) else place.array
        at = places.first_write(where, k)
        if at is None:
            return None
        over = block[at]
        reading = [j for j in places.reads.get(name, ()) if j > k]
        if not isinstance(over, (Assign, Add)) or over.target != place or not reading:
            return None
        last = reading[-1]
        times = _reads([block[j] for j in reading], name)
        if last <= at or times < self.uses.reads[name]:
            return None
        if places.reading(own, at, last) or any(
            places.writing(n, at, last) for n in (where | {*names(over.value)})
        ):
            return None
        behind = block[at + 1 : last + 1]
        most = 3 if isinstance(place, Load) else len(block)
        touched = written(behind)
        if (
            times > most
            or any(isinstance(t, _FIXED) for t in walk(behind))
            or occurs(behind, own)
            or touched & (where | {*names(over.value)})
        ):
            return None
        until = (*block[k + 1 : at], *behind, over)
        return (
            *block[:k],
            *with_value(until, name, place),
            *block[last + 1 :],
        )

    def called_at_once(self, block: Block) -> Block:
        """``d_v = e`` and then ``d_s = d_v``: ``d_s = e``, if nobody asks for the `d_s`
        before that in between.
        """
        places, k = _Places(block), 0
        while k < len(block):
            s = places.stmts[k]
            match s:
                case Assign(Var(name)) if (
                    self.is_ours(name) and self.uses.times[name] == 1
                ):
                    final = self.final_name(places, k, name)
                    if final is not None and self.renamed(places, k, name, final):
                        places.put(k, replace(s, target=Var(final)))
                        continue
            k += 1
        return places.left()

    def final_name(self, places: _Places, k: int, name: str) -> str | None:
        """What a scalar is called next, where nothing before that has that name."""
        for j in places.reading(name, k):
            match places.stmts[j]:
                case Assign(Var(final), Var(of)) if of == name:
                    between = {*places.reading(final, k), *places.writing(final, k, j)}
                    if self.types[final] != self.types[name]:
                        return None
                    return None if any(i < j for i in between) else final
        return None

    def without_aliases(self, block: Block) -> Block:
        """``d_v = d_s`` and then `d_v`: `d_s` itself, as long as it is what it was."""
        places = _Places(block)
        for k, s in enumerate(places.stmts):
            match s:
                case Assign(Var(name), Var(of)) if (
                    self.is_ours(name) and self.uses.times[name] == 1 and name != of
                ):
                    if self.renamed(places, k, name, of):
                        places.put(k, None)
        return places.left()

    def renamed(self, places: _Places, k: int, name: str, of: str) -> bool:
        """Put `of` for all that the program has of `name`, which is behind statement
        `k`; False, and nothing is done, where `of` may be another value there.
        """
        reading = places.reading(name, k)
        if _reads(places.those(reading), name) < self.uses.reads[name]:
            return False
        last = reading[-1] if reading else k
        where = sorted({*reading, *places.writing(of, k, last)})
        found = self.through(places.those(where), name, of, True)
        if found is None:
            return False
        for j, new in zip(where, found[0], strict=True):
            places.put(j, new)
        return True

    def through(
        self, block: Sequence[Stmt], name: str, of: str, same: bool
    ) -> tuple[list[Stmt | None], bool] | None:
        """A part of them, where `of` is the `same` before; and whether it is behind.

        What would give `of` its own value goes.
        """
        out: list[Stmt | None] = []
        for s in block:
            reads, changes = _reads((s,), name), of in written((s,))
            if not reads:
                out.append(s)
                same = same and not changes
                continue
            if isinstance(s, If) and changes:
                bare = with_blocks(s, ((), ()))
                if _reads((bare,), name) and not same:
                    return None
                (new,) = with_value((bare,), name, Var(of))
                parts = [self.through(b, name, of, same) for b in blocks(s)]
                found = [p for p in parts if p is not None]
                if len(found) < len(parts):
                    return None
                inner = (tuple(t for t in b if t is not None) for b, _ in found)
                out.append(with_blocks(new, tuple(inner)))
                same = all(still for _, still in found)
                continue
            if not same or changes and blocks(s):
                return None
            (new,) = with_value((s,), name, Var(of))
            if isinstance(new, Assign) and new.target == new.value:
                out.append(None)
                continue
            out.append(new)
            same = not changes
        return out, same

    def taking(self, out: list[Stmt], s: Assign | Add, here: _Uses) -> Assign | Add:
        """The statement with what was computed for it alone, which goes from `out`."""
        between: set[str] = set()
        wanted = self.taken_once(s.value, here)
        for k in range(len(out) - 1, -1, -1):
            if not wanted:
                break
            one = out[k]
            match one:
                case Assign(Var(name), value) if (
                    name in wanted
                    and between.isdisjoint(names(value))
                    and not _is_choice(value)
                ):
                    (new,) = with_value((s,), name, value)
                    if isinstance(new, (Assign, Add)):
                        value = map_expr(new.value, self.scaled)
                        if isinstance(new, Add):
                            value = map_expr(self.signed(value), self.scaled)
                        new = replace(new, value=value)
                        if len(expr_text(new.value)) <= WIDEST:
                            del out[k]
                            s = new
                            wanted = self.taken_once(s.value, here)
                            continue
            if isinstance(one, _FIXED) or blocks(one):
                break
            between |= written((one,))
            wanted -= written((one,))
        return s

    def taken_once(self, value: Expr, here: _Uses) -> frozenset[str]:
        """The scalars in it that pyrev has computed for it alone."""
        return frozenset(
            n
            for n in names(value)
            if (self.uses.once(n) or n in self.private and here.once(n))
            and self.is_ours(n)
        )

    def scaled(self, e: Expr) -> Expr:
        """A product in which two literals may have met: one that rounds nothing; and
        no sign where two have met.
        """
        match e:
            case Call("*", (Const(a) as k, Call("*", (Const(b), _)) as x)):
                if _is_power_of_two(a) or _is_power_of_two(b):
                    return mul(k, x, self.types)
            case Call("*", (Const(a) as k, Call(("*" | "/") as op, (x, y)) as first)):
                if _is_power_of_two(a) and not any(
                    wraps(part, self.types) for part in (first, x)
                ):
                    return Call(op, (self.scaled(Call("*", (k, x))), y), loc=e.loc)
            case Call("neg", (Call("neg", (x,)),)) if not wraps(x, self.types):
                return x
        return e

    def signed(self, e: Expr) -> Expr:
        """A product with the sign of its factors in front, where there is one."""
        less, value = self.unsigned(e)
        return Call("neg", (value,), loc=e.loc) if less else value

    def unsigned(self, e: Expr) -> tuple[bool, Expr]:
        """Is a product that of numbers without signs, but for its own?"""
        match e:
            case Call("neg", (x,)) if not wraps(x, self.types):
                less, value = self.unsigned(x)
                return not less, value
            case Call(("*" | "/") as op, (a, b)) if not wraps(e, self.types):
                (one, x), (other, y) = self.unsigned(a), self.unsigned(b)
                if (x, y) != (a, b):
                    e = Call(op, (x, y), loc=e.loc)
                return one is not other, e
        return False, e

    def joined(self, out: list[Stmt], s: Assign | Add) -> Assign | Add:
        """``x = a`` and then ``x += b``: ``x = a + b``."""
        if not out or not isinstance(s, Add) or not isinstance(s.target, Var):
            return s
        first = out[-1]
        if not isinstance(first, Assign) or first.target != s.target:
            return s
        if s.target.name in names(s.value):
            return s
        less = negated(s.value)
        op, second = ("+", s.value) if less is None else ("-", less)
        value = Call(op, (first.value, second), loc=s.loc)
        if len(expr_text(value)) > WIDEST:
            return s
        out.pop()
        return replace(first, value=value)

    def is_ours(self, name: str) -> bool:
        """Has pyrev made this name, for what has none of the user's?"""
        if name in self.users:
            return False
        adjoint = re.fullmatch(r"d_(.+?)(_\d+)?", name)
        return adjoint is None or adjoint[1] not in self.users


class _Places:
    """The statements of a block, and where they read names and write them."""

    def __init__(self, block: Block) -> None:
        #: None where one has gone.
        self.stmts: list[Stmt | None] = [*block]
        self.reads: dict[str, list[int]] = {}
        self.writes: dict[str, list[int]] = {}
        for k, s in enumerate(block):
            for name in _read_by(s):
                self.reads.setdefault(name, []).append(k)
            for name in written((s,)):
                self.writes.setdefault(name, []).append(k)

    def put(self, k: int, stmt: Stmt | None) -> None:
        """Another statement in the place of one."""
        self.stmts[k] = stmt
        for name in () if stmt is None else _read_by(stmt):
            _insert(self.reads.setdefault(name, []), k)
        for name in () if stmt is None else written((stmt,)):
            _insert(self.writes.setdefault(name, []), k)

    def reading(self, name: str, k: int, last: int | None = None) -> list[int]:
        """Where behind statement `k` a name is read, until `last` if that is said."""
        places = self.reads.get(name, [])
        end = len(places) if last is None else bisect_right(places, last)
        behind = places[bisect_right(places, k) : end]
        return [j for j in behind if (s := self.stmts[j]) and _read_by(s)[name]]

    def writing(self, name: str, k: int, last: int) -> list[int]:
        """Where behind statement `k` a name is written, until `last`."""
        places = self.writes.get(name, [])
        some = places[bisect_right(places, k) : bisect_right(places, last)]
        return [j for j in some if (s := self.stmts[j]) and name in written((s,))]

    def those(self, places: Sequence[int]) -> list[Stmt]:
        """The statements of these places that are there."""
        return [s for j in places if (s := self.stmts[j]) is not None]

    def left(self) -> Block:
        """The statements that are there."""
        return tuple(s for s in self.stmts if s is not None)

    def first_write(self, names: Set[str], k: int) -> int | None:
        """The first statement behind `k` that writes one of these."""
        found: int | None = None
        for name in names:
            places = self.writes.get(name, [])
            behind = bisect_right(places, k)
            if behind < len(places) and (found is None or places[behind] < found):
                found = places[behind]
        return found


def _insert(places: list[int], k: int) -> None:
    at = bisect_right(places, k)
    if not (at and places[at - 1] == k):
        places.insert(at, k)


@by_identity
def _read_by(stmt: Stmt) -> Counter[str]:
    """How often a statement reads each name."""
    return Counter(n for t in walk((stmt,)) for e in exprs(t) for n in mentioned(e))


def _reads(block: Sequence[Stmt], name: str) -> int:
    """How often statements read a scalar."""
    return sum(_read_by(s)[name] for s in block)


def _is_power_of_two(value: float) -> bool:
    return math.frexp(abs(value))[0] == 0.5


def _is_choice(value: Expr) -> bool:
    """Does it choose between values? That has a line of its own."""
    return any(isinstance(e, Call) and e.op == "where" for e in walk_expr(value))
