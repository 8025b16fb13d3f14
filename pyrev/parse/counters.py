"""Counters whose values the text says: induction variables in closed form.

    k = 0                                   k = 0
    for i in range(n):                      for i in range(n):
        out[k] = x[i]           becomes         out[i] = x[i]
        k += 1                              k = n

A scalar that each iteration of a loop increments once, by a literal, is where it began
and a multiple of the number of the iteration (Aho, Sethi and Ullman 1986, section
10.7). No iteration waits for another one then, lengths of lists are known, and nothing
of it is kept for the derivative.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Set
from dataclasses import replace

from pyrev.ir.affine import from_linear, linear
from pyrev.ir.counting import step_of
from pyrev.ir.dtypes import NARROW
from pyrev.ir.nodes import (
    Add,
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
    Param,
    Stmt,
    Var,
    While,
    blocks,
    changed,
    exprs,
    map_whole,
    mentioned,
    resembled,
    substitute,
    walk,
    walk_expr,
    with_blocks,
    without_scalars,
    written,
)
from pyrev.ir.simplify import add_int
from pyrev.ir.trip_counts import iteration, trip_count
from pyrev.parse.sizes import Settler

_Values = Mapping[str, Expr]

#: Integers that go around, where those of Python do not.
FEW = NARROW | {"uint64"}


def without_counters(
    block: Block, params: tuple[Param, ...], kept: Collection[str] = ()
) -> tuple[Block, bool]:
    """`block` with the values of counters where they are read. What nobody reads then
    goes away, but for those that are to be `kept`. And: is one told from where a range
    begins or ends that is no literal and no length? That holds where these are no
    integers of few bits, which arithmetic with a counter would go around in.

    >>> from pyrev.ir.text import block_text
    >>> from pyrev.parse import parse_text
    >>> f = parse_text('''
    ... def f(x, out):
    ...     k = 0
    ...     for i in range(len(x)):
    ...         out[k] = x[i]
    ...         k += 2
    ...     out[k] = 1.0
    ... ''')
    >>> print(block_text(f.body))
    for i in range(x.shape[0]):
        out[2 * i] = x[i]
    out[2 * x.shape[0]] = 1.0
    """
    counters = _counters(block, params) - _kinds(block)
    if not counters:
        return block, False
    wide = not any(p.dtype in FEW for p in params)
    closing = _Closing(counters, _Steady(block, params), wide)
    made = closing.block(block, {})
    used = {n for s in walk(made) for n in _read(s)}
    return without_scalars(made, counters - used - {*kept}), closing.loose


def _kinds(block: Block) -> frozenset[str]:
    """What arrays have their dtypes from: ``np.full(n, k)`` has that of `k`."""
    made = (s for s in walk(block) if isinstance(s, Alloc))
    return frozenset(n for s in made for n in resembled(s.dtype))


def _read(s: Stmt) -> set[str]:
    """The scalars that a statement itself reads."""
    found = {n for e in exprs(s) for n in mentioned(e)}
    if isinstance(s, (Assign, Add)) and isinstance(s.target, Var):
        found = {*mentioned(s.value)}
    return found


def with_one_value(
    block: Block, params: tuple[Param, ...], kept: Collection[str] = ()
) -> Block:
    """`block` without the scalars that get the same value wherever they get one,
    but for those that are to be `kept`.
    """
    steady = _Steady(block, params)
    values: dict[str, list[Expr]] = {}
    given = {*kept, *_kinds(block), *(p.name for p in params)}
    for s in walk(block):
        match s:
            case Assign(Var(name), value):
                values.setdefault(name, []).append(steady.settled(value))
            case Add(Var(name), _):
                given.add(name)
            case For(index) | While(index=index):
                given.add(index)
    found = {
        name: own[0]
        for name, own in values.items()
        if name not in given and len(own) > 1
        if len({*own}) == 1 and steady.holds(own[0])
    }
    if not found:
        return block
    return tuple(_replaced(s, found) for s in without_scalars(block, found.keys()))


def _counters(block: Block, params: tuple[Param, ...]) -> frozenset[str]:
    """The integers that some loop increments; nothing else may happen to them than that
    they begin with literals and lengths.
    """
    barred = {p.name for p in params}
    found: set[str] = set()
    for s in walk(block):
        if isinstance(s, (For, While)):
            barred.add(s.index)
            found |= {step[0] for b in s.body if (step := step_of(b)) is not None}
        match s:
            case Assign(Var(), value) if _is_count(value):
                pass
            case Assign(Var(name), _) | Add(Var(name), _) if step_of(s) is None:
                barred.add(name)
    return frozenset(found - barred)


def _is_count(e: Expr) -> bool:
    """Is this made of literal integers and lengths, and nothing that may be a float?"""
    for part in walk_expr(e):
        match part:
            case Const(int(k)) if not isinstance(k, bool):
                pass
            case Extent() | Call("+" | "-" | "*" | "max" | "min"):
                pass
            case _:
                return False
    return True


class _Steady:
    """The expressions that have one value from the beginning to the end."""

    def __init__(self, block: Block, params: tuple[Param, ...]) -> None:
        made = Counter(s.array for s in walk(block) if isinstance(s, Alloc))
        outer = {s.array for s in block if isinstance(s, Alloc) and made[s.array] == 1}
        self.arrays = {p.name for p in params if p.rank} | outer
        self.arrays -= {p.name for p in params if p.rank and made[p.name]}
        new = written(block)
        self.numbers = {
            p.name
            for p in params
            if not p.rank and p.dtype.startswith("int") and p.name not in new
        }
        self._settler = Settler(block, params)

    def holds(self, e: Expr) -> bool:
        """Is this one of them, an integer?"""
        for part in walk_expr(e):
            match part:
                case Const(int(k)) if not isinstance(k, bool):
                    pass
                case Extent(name) if name in self.arrays:
                    pass
                case Var(name) if name in self.numbers:
                    pass
                case Call("+" | "-" | "*" | "max" | "min"):
                    pass
                case _:
                    return False
        return True

    def settled(self, e: Expr) -> Expr:
        """The same in terms of the sizes of parameters, without idle clamps."""
        return self._settler.size(self._settler.norm(e, {}), {}, {})


class _Closing:
    def __init__(self, counters: Set[str], steady: _Steady, wide: bool) -> None:
        self.counters, self.steady = counters, steady
        #: May the ends of ranges be any integers; and was such an end asked for?
        self.wide, self.loose = wide, False
        #: The indices of the loops around, which have the bits that they need.
        self.indices: frozenset[str] = frozenset()

    def block(self, block: Block, known: _Values) -> Block:
        """A block at whose beginning the counters that are `known` are that."""
        known = dict(known)
        out: list[Stmt] = []
        for s in block:
            s = _own_replaced(s, known)
            new = written((s,)) & self.counters
            if isinstance(s, For):
                s, ends = self.loop(s, known)
                out.append(s)
                for end in ends:
                    out.append(self.assigned(end, known))
                for name in new - {e.target_name for e in ends}:
                    known.pop(name, None)
                continue
            if isinstance(s, (If, While)):
                entry = known
                if isinstance(s, While):
                    entry = {n: v for n, v in known.items() if n not in new}
                s = with_blocks(s, tuple(self.block(b, entry) for b in blocks(s)))
                for name in new:
                    known.pop(name, None)
                out.append(s)
                continue
            step = step_of(s)
            if step is not None and step[0] in self.counters:
                assert isinstance(s, (Add, Assign))
                value = add_int(Var(step[0]), step[1])
                s = Assign(Var(step[0]), value, loc=s.loc, note=s.note)
            out.append(self.assigned(s, known))
        return tuple(out)

    def assigned(self, s: Stmt, known: dict[str, Expr]) -> Stmt:
        """A statement, and what is `known` behind it."""
        if isinstance(s, Assign) and s.target_name in self.counters:
            value = substitute(s.value, known)
            known.pop(s.target_name, None)
            if self.steady.holds(value):
                known[s.target_name] = value
            return Assign(s.target, value, loc=s.loc, note=s.note)
        return s

    def loop(self, s: For, known: _Values) -> tuple[For, list[Assign]]:
        """A loop, and what gives its counters their values behind it."""
        new = written(s.body)
        inside = {n: v for n, v in known.items() if n not in new}
        loose = any(
            isinstance(e, Load) or isinstance(e, Var) and e.name not in self.indices
            for end in (s.lo, s.hi)
            for e in walk_expr(end)
        )
        around, self.indices = self.indices, self.indices | {s.index}
        s = replace(s, body=self.block(s.body, inside))
        self.indices = around
        ends: list[Assign] = []
        if loose and not self.wide:
            return s, ends
        steady = not {n for e in (s.lo, s.hi) for n in mentioned(e)} & new
        if steady and s.index not in new and s.step in (Const(1), Const(-1)):
            for name in sorted(new & self.counters):
                found = self.closed(s, name, known)
                if found is not None:
                    s, end = found
                    ends.append(end)
                    self.loose = self.loose or loose
        return s, ends

    def closed(self, s: For, name: str, known: _Values) -> tuple[For, Assign] | None:
        """The loop in which a counter is a multiple of the iteration, and what it is
        then; None where that is not so.
        """
        steps = [(k, step_of(b)) for k, b in enumerate(s.body) if name in written((b,))]
        if len(steps) != 1 or steps[0][1] is None:
            return None
        ((at, step),) = steps
        assert step is not None
        by = step[1]
        start = known.get(name, Var(name))
        first, forth = s.lo, s.step
        if s.reverse:  # the step is one, up or down
            first = Call("-", (s.hi, s.step))
            forth = Const(-1) if s.step == Const(1) else Const(1)
        turn = iteration(s.index, first, forth)
        before = _moved(start, turn, by)
        behind = from_linear(linear(add_int(before, by)))
        body = (
            *(_replaced(b, {name: before}) for b in s.body[:at]),
            *(_replaced(b, {name: behind}) for b in s.body[at + 1 :]),
        )
        end = Assign(Var(name), _moved(start, trip_count(s), by), loc=s.loc)
        return replace(s, body=body), end


def _moved(start: Expr, turns: Expr, by: int) -> Expr:
    """``start + by * turns``"""
    far = Call("*", (Const(by), turns))
    return from_linear(linear(Call("+", (start, far))))


def _own_replaced(s: Stmt, values: _Values) -> Stmt:
    """A statement with the values in its own expressions, those of no block in it."""
    inner = blocks(s)
    if isinstance(s, While) or not values:
        return s
    return with_blocks(_replaced(with_blocks(s, ((),) * len(inner)), values), inner)


def _replaced(s: Stmt, values: _Values) -> Stmt:
    def put(e: Expr) -> Expr:
        return substitute(e, values)

    if isinstance(s, (Assign, Add)) and isinstance(s.target, Var):
        return changed(s, value=put(s.value))
    return map_whole(s, put)
