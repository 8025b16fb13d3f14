"""What a block may read of the values before it, and what it names at all."""

from __future__ import annotations

from typing import assert_never

from pyrev.ir.memo import by_identity
from pyrev.ir.nodes import (
    Add,
    Alloc,
    Assign,
    Block,
    Check,
    For,
    Grow,
    If,
    Loop,
    Program,
    Restart,
    Return,
    Stmt,
    Tell,
    Var,
    While,
    all_names,
    blocks,
    exprs,
    mentioned,
    names,
    walk,
    written,
)


def exposed(block: Block, name: str) -> tuple[bool, bool]:
    """(may `name` be read before it is assigned in `block`, is it assigned before).

    The second is only true if that is so on all paths, and the first is not.
    """
    for stmt in block:
        read, assigned = _flow(stmt)
        if name in read:
            return True, False
        if name in assigned:
            return False, True
    return False, False


@by_identity
def _flow(stmt: Stmt) -> tuple[frozenset[str], frozenset[str]]:
    """(what `stmt` may read of what was there before it, what it makes anew).

    A store to an array element makes nothing anew: only `Alloc` makes an array.
    """
    read = frozenset().union(*map(names, exprs(stmt)))
    match stmt:
        case Assign(Var(target), value):
            return names(value), frozenset({target})
        case Alloc(array):
            return read.union(stmt.sources), frozenset({array})
        case If(_, then, orelse):
            one, in_then = flow_of(then)
            two, in_else = flow_of(orelse)
            return read | one | two, in_then & in_else
        case For() | While():
            inner, _ = flow_of(stmt.body)
            return read | (inner - {stmt.index}), frozenset()
        case Assign() | Add() | Check() | Tell() | Return():
            return read, frozenset()
        case Grow(array):
            return frozenset({array}), frozenset()
        case Restart():
            return frozenset(), frozenset()
        case _:
            assert_never(stmt)


def flow_of(block: Block) -> tuple[frozenset[str], frozenset[str]]:
    """(what `block` may read of what was there before it, what it makes anew)."""
    read: set[str] = set()
    assigned: set[str] = set()
    for stmt in block:
        here, made = _flow(stmt)
        read |= here - assigned
        assigned |= made - read
    return frozenset(read), frozenset(assigned)


def live_out(program: Program) -> frozenset[str]:
    """What is still read after the last statement: returned names and parameters."""
    names = {p.name for p in program.params if p.rank}
    for stmt in walk(program.body):
        if isinstance(stmt, Return):
            names |= all_names((stmt,))
    return frozenset(names)


def live_before(block: Block, after: frozenset[str]) -> frozenset[str]:
    """The names whose value on entry to `block` may be read in it or after it.

    A store to an array element keeps the array live: only `Alloc` makes a new one.

    >>> from pyrev.parse import parse_block
    >>> sorted(live_before(parse_block("t = a[i]\\nb[i] = t * s"), frozenset()))
    ['a', 'b', 'i', 's']
    """
    live = after
    for stmt in reversed(block):
        read, made = _flow(stmt)
        live = (live - made) | read
    return live


def live_inside(loop: Loop, after: frozenset[str]) -> frozenset[str]:
    """What may be read behind a statement of `loop`, if `after` is live behind it."""
    again = after | live_before((loop,), after)
    return again | live_before(loop.body, again)


def with_live(
    block: Block, after: frozenset[str]
) -> tuple[tuple[Stmt, frozenset[str]], ...]:
    """Each statement of `block` with the names that are live after it."""
    result: list[tuple[Stmt, frozenset[str]]] = []
    for stmt in reversed(block):
        result.append((stmt, after))
        after = live_before((stmt,), after)
    return tuple(reversed(result))


def live_after_loops(block: Block, after: frozenset[str]) -> dict[int, frozenset[str]]:
    """By the identity of each loop in `block`: the names that are live behind it."""
    found: dict[int, frozenset[str]] = {}

    def go(block: Block, after: frozenset[str]) -> None:
        for s, live in with_live(block, after):
            inside = live
            if isinstance(s, (For, While)):
                found[id(s)] = live | found.get(id(s), frozenset())
                inside = live_inside(s, live)
            for b in blocks(s):
                go(b, inside)

    go(block, after)
    return found


@by_identity
def touched(stmt: Stmt) -> frozenset[str]:
    """What `stmt` reads or writes, not what it only measures."""
    found = written((stmt,)).union(*map(names, exprs(stmt)))
    if isinstance(stmt, Alloc):
        found = found.union(stmt.sources)
    return found.union(*[touched(s) for b in blocks(stmt) for s in b])


def occurs(block: Block, name: str) -> bool:
    """Is `name` read, written or measured anywhere in `block`?"""
    return any(name in names_in(stmt) for stmt in block)


@by_identity
def names_in(stmt: Stmt) -> frozenset[str]:
    """Every name that occurs in `stmt`, read, measured or written."""
    return all_names((stmt,))


def holders(block: Block, name: str) -> tuple[Stmt, ...]:
    """The statements of `block` in which `name` occurs."""
    return _holders(block).get(name, ())


def home(body: Block, name: str) -> tuple[Block, Loop | None]:
    """The innermost block around all that a scalar occurs in, and the innermost loop to
    whose iterations it is private; None where that is the function.
    """
    loop: Loop | None = None
    while len(inner := holders(body, name)) == 1:
        match inner[0]:
            case For() | While() as around if not any(
                name in names(e) for e in exprs(around)
            ):
                if exposed(around.body, name)[0]:
                    break
                loop = around
                body = around.body
            case If(test, then, orelse) if name not in names(test) and not (
                occurs(then, name) and occurs(orelse, name)
            ):
                body = then if occurs(then, name) else orelse
            case _:
                break
    return body, loop


@by_identity
def _holders(block: Block) -> dict[str, tuple[Stmt, ...]]:
    found: dict[str, list[Stmt]] = {}
    for stmt in block:
        for name in names_in(stmt):
            found.setdefault(name, []).append(stmt)
    return {name: tuple(stmts) for name, stmts in found.items()}


def read_first(block: Block) -> set[str]:
    """The scalars that some block reads before it sets them itself: also what a loop or
    a branch reads of the block around it, and that of them.

    >>> from pyrev.parse import parse_block
    >>> sorted(read_first(parse_block('''
    ... for i in range(n):
    ...     t = a[i]
    ...     s = s + t
    ... ''')) - {"a", "i", "n"})
    ['s']
    """
    found: set[str] = set()
    own: set[str] = set()
    for s in block:
        target = s.target if isinstance(s, Assign) else None
        plain = isinstance(target, Var)
        for e in exprs(s):
            if not (plain and e is target):
                found |= set(mentioned(e)) - own
        if isinstance(target, Var):
            own.add(target.name)
        for inner in blocks(s):
            found |= read_first(inner)
            own -= written(inner)
    return found


def found_places(block: Block) -> dict[str, list[Alloc]]:
    """The arrays that are made of places of others only (`Alloc.places`), and the
    statements that make them: nothing else is ever put there.
    """
    found: dict[str, list[Alloc]] = {}
    others: set[str] = set()
    for s in walk(block):
        if isinstance(s, Alloc) and s.places:
            found.setdefault(s.array, []).append(s)
        elif not blocks(s):
            others |= written((s,))
    return {array: made for array, made in found.items() if array not in others}
