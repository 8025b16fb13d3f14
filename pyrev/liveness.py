"""What a block may read of the values before it, and what it names at all."""

from __future__ import annotations

from typing import assert_never

from pyrev.ir import (
    Add,
    Alloc,
    Assign,
    Block,
    Check,
    For,
    Grow,
    If,
    Restart,
    Return,
    Stmt,
    Var,
    While,
    all_names,
    exprs,
    names,
)
from pyrev.memo import by_identity


def exposed(block: Block, name: str) -> tuple[bool, bool]:
    """(may `name` be read before it is assigned in `block`, is it assigned before).

    The second is only true if that is so on all paths, and the first is not.
    """
    for stmt in block:
        read, assigned = _exposed(stmt)
        if name in read:
            return True, False
        if name in assigned:
            return False, True
    return False, False


@by_identity
def _exposed(stmt: Stmt) -> tuple[frozenset[str], frozenset[str]]:
    """(what `stmt` may read before it assigns it, what it assigns on all paths)."""
    read = frozenset().union(*map(names, exprs(stmt)))
    match stmt:
        case Assign(Var(target), value):
            return names(value), frozenset({target})
        case Alloc(array, source=source):
            of = frozenset() if source is None else frozenset({source})
            return read | of, frozenset({array})
        case If(_, then, orelse):
            one, in_then = _exposed_in(then)
            two, in_else = _exposed_in(orelse)
            return read | one | two, in_then & in_else
        case For() | While():
            inner, _ = _exposed_in(stmt.body)
            return read | (inner - {stmt.index}), frozenset()
        case Assign() | Add() | Check() | Return():
            return read, frozenset()
        case Grow(array):
            return frozenset({array}), frozenset()
        case Restart():
            return frozenset(), frozenset()
        case _:
            assert_never(stmt)


def _exposed_in(block: Block) -> tuple[frozenset[str], frozenset[str]]:
    read: set[str] = set()
    assigned: set[str] = set()
    for stmt in block:
        here, made = _exposed(stmt)
        read |= here - assigned
        assigned |= made - read
    return frozenset(read), frozenset(assigned)


def occurs(block: Block, name: str) -> bool:
    """Is `name` read, written or measured anywhere in `block`?"""
    return any(name in _names_in(stmt) for stmt in block)


@by_identity
def _names_in(stmt: Stmt) -> frozenset[str]:
    return all_names((stmt,))
