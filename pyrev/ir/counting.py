"""The part of a program that decides what one of its numbers is in the end."""

from __future__ import annotations

from collections.abc import Set

from pyrev.ir.nodes import (
    RISKY,
    Add,
    Alloc,
    Assign,
    Block,
    Call,
    Check,
    Const,
    For,
    If,
    Program,
    Return,
    Stmt,
    Var,
    While,
    blocks,
    exprs,
    mentioned,
    walk,
    walk_expr,
    with_blocks,
    written,
)


def counting(program: Program, name: str, checks: bool = False) -> Program:
    """The program that returns what `name` is where `program` returns, and does nothing
    else: a slice (Weiser 1984).

    It tests nothing but what may end a `while`, unless it is to make all `checks`: what
    may raise is in it then.
    """
    result = Return((Var(name),), True, loc=program.loc)
    return sliced(program, {name}, (result,), checks)


def sliced(
    program: Program, names: Set[str], end: Block = (), checks: bool = False
) -> Program:
    """The part of a program that decides what is in these `names`, and an `end`."""
    needed = {*names}
    while True:
        before = len(needed)
        body = _block(program.body, needed, checks, checks)
        if len(needed) == before:
            break
    read = {n for s in (*body, *end) for n in _read(s)}
    return Program(
        program.name,
        program.params,
        (*body, *end),
        tuple(n for n in program.captured if n in read or n in names),
        loc=program.loc,
    )


def reads(program: Program) -> frozenset[str]:
    """What the statements of a program read or measure."""
    return frozenset(n for s in program.body for n in _read(s))


def _read(s: Stmt) -> set[str]:
    found = {n for e in exprs(s) for n in mentioned(e)}
    if isinstance(s, Alloc):
        found.update(s.sources)
    return found.union(*(_read(inner) for b in blocks(s) for inner in b))


def _may_raise(s: Stmt) -> bool:
    """May it raise for other reasons than that an index is outside?"""
    return isinstance(s, Check) or any(
        isinstance(part, Call) and part.op in RISKY - {"**", "round"}
        for e in exprs(s)
        for part in walk_expr(e)
    )


def _block(block: Block, needed: set[str], tests: bool, checks: bool) -> Block:
    kept = [_statement(s, needed, tests, checks) for s in reversed(block)]
    return tuple(s for s in kept if s is not None)[::-1]


def _statement(s: Stmt, needed: set[str], tests: bool, checks: bool) -> Stmt | None:
    """What is left of a statement; what it rests on is `needed` then."""
    match s:
        case For() | While() | If():
            inner = blocks(s)
            if not any(written(b) & needed for b in inner) and not (
                checks and any(_may_raise(t) for b in inner for t in walk(b))
            ):
                return None
            inside = tests or isinstance(s, While)
            s = with_blocks(
                s, tuple(_block(b, needed, inside, checks) for b in blocks(s))
            )
        case Return():
            return None  # what it raises is raised behind all that is decided here
        case Check():
            if not tests:
                return None
        case _:
            if not written((s,)) & needed and not (checks and _may_raise(s)):
                return None
    needed |= {n for e in exprs(s) for n in mentioned(e)}
    if isinstance(s, Alloc):
        needed.update(s.sources)
    return s


def step_of(s: Stmt) -> tuple[str, int] | None:
    """The scalar that a statement increments by a literal, and by how much."""
    match s:
        case Add(Var(name), Const(int(k))) if not isinstance(k, bool):
            return name, k
        case Assign(Var(name), Call("+" | "-" as op, (Var(same), Const(int(k))))) if (
            name == same and not isinstance(k, bool)
        ):
            return name, k if op == "+" else -k
    return None
