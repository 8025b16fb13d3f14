"""One test for all that a zero cotangent leaves undone, not a guard in every line.

Where a partial may be infinite, the reverse sweep adds ``d * p if d != 0.0 else 0.0``;
a person writes ``if d != 0.0:`` above all that follows from `d`.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

from pyrev.adjoint.spared import guarded, left_undone
from pyrev.ir.liveness import live_inside, live_out, touched, with_live
from pyrev.ir.memo import by_identity
from pyrev.ir.nodes import (
    Add,
    Assign,
    Block,
    Call,
    Const,
    Expr,
    For,
    If,
    Load,
    Program,
    Stmt,
    While,
    blocks,
    map_stmt_exprs,
    names,
    walk,
    walk_expr,
    with_blocks,
    written,
)
from pyrev.ir.simplify import ZERO_F

#: So many guards of one cotangent are worth a line of their own.
SEVERAL = 2

#: So many tests stand inside each other at most.
DEEPEST = 3

#: How far to look for them.
LONGEST = 64


def shared_guards(program: Program) -> Program:
    """`program` with one test around neighbours that have its guard.

    Law: the same values; but where a zero cotangent is multiplied by what is no finite
    number, that may now be zero, as it should.

    >>> from pyrev.parse import parse_text
    >>> from pyrev.ir.text import program_text
    >>> f = parse_text('''
    ... def f(x, y, d_x, d_y, d_out):
    ...     for i in range(x.shape[0]):
    ...         d = 2.0 * d_out[i]
    ...         d_v = d * x[i]
    ...         d_x[i] += d_v if d != 0.0 else 0.0
    ...         d_y[i] -= d / y[i] if d != 0.0 else 0.0
    ... ''')
    >>> print(program_text(shared_guards(f)))
    def f(x, y, d_x, d_y, d_out):
        for i in range(x.shape[0]):
            d = 2.0 * d_out[i]
            if d != 0.0:
                d_v = d * x[i]
                d_x[i] += d_v
                d_y[i] -= d / y[i]
    """
    return replace(program, body=_block(program.body, live_out(program)))


def _block(block: Block, after: frozenset[str], depth: int = 0) -> Block:
    """`block` with common tests; `depth` are the tests made around it."""
    stmts: list[Stmt] = []
    for s, behind in with_live(block, after):
        inside = live_inside(s, behind) if isinstance(s, (For, While)) else behind
        stmts.append(with_blocks(s, tuple(_block(b, inside, depth) for b in blocks(s))))
    found = _joined(tuple(stmts), after, depth)
    early = _early_zeros(stmts)
    if early == stmts:
        return found
    return min(found, _joined(tuple(early), after, depth), key=_length)


def _joined(block: Block, after: frozenset[str], depth: int) -> Block:
    """`block`, whose inner blocks are done, with common tests."""
    pairs = list(with_live(block, after))
    stmts, live = [s for s, _ in pairs], [behind for _, behind in pairs]
    out: list[Stmt] = []
    at = 0
    while at < len(stmts):
        found = _run(stmts, live, at) if depth < DEEPEST else None
        if found is None:
            out.append(stmts[at])
            at += 1
        else:
            d, end = found
            bare = tuple(_bare(s, d) for s in stmts[at:end])
            made = _block(bare, live[end - 1], depth + 1)
            first = next(s for s in stmts[at:end] if d in _guards(s))
            out.append(If(Call("!=", (d, ZERO_F)), made, (), loc=first.loc))
            at = end
    return tuple(out)


def _early_zeros(stmts: Sequence[Stmt]) -> list[Stmt]:
    """The statements, with elements set to zero as soon as may be; then, where they are
    set to what has a guard, that is added.

    A zero between the uses of a cotangent would keep them apart.
    """
    out: list[Stmt] = []
    for s in stmts:
        match s:
            case Assign(Load(array) as target, value) if guarded(
                value
            ) is not None and array not in names(value):
                _insert_early(out, replace(s, value=ZERO_F))
                out.append(Add(target, value, loc=s.loc))
            case Assign(Load(), Const(0.0)):
                _insert_early(out, s)
            case _:
                out.append(s)
    return out


def _insert_early(out: list[Stmt], zero: Assign) -> None:
    """Put a statement as far in front as may be."""
    assert isinstance(zero.target, Load)
    own = frozenset().union(*map(names, zero.target.index))
    at = len(out)
    while at and isinstance(out[at - 1], (Assign, Add)):
        before = out[at - 1]
        if zero.target.array in touched(before) or own & written((before,)):
            break
        at -= 1
    out.insert(at, zero)


def _length(block: Block) -> int:
    """How many statements and guards there are to read."""
    return sum(1 + len(_guards(s)) for s in walk(block))


def _run(
    stmts: Sequence[Stmt], live: Sequence[frozenset[str]], begin: int
) -> tuple[Expr, int] | None:
    """The longest run of statements from `begin` on that a guarded cotangent leaves
    undone where it is zero, several of which say so: the cotangent, and its end.

    What a run sets nobody reads behind it.
    """
    ahead = itertools.takewhile(
        lambda s: isinstance(s, (Assign, Add)), stmts[begin : begin + LONGEST]
    )
    candidates = dict.fromkeys(d for s in ahead for d in _guards(s))
    best: tuple[Expr, int] | None = None
    before = stmts[begin - 1] if begin else None
    for d in candidates:
        guards = 0
        run = left_undone(itertools.islice(stmts, begin, None), d, before)
        for at, own in enumerate(run, begin):
            guards += d in _guards(stmts[at])
            closed = guards >= SEVERAL and not own & live[at]
            if closed and (best is None or at + 1 > best[1]):
                best = d, at + 1
    return best


@by_identity
def _guards(s: Stmt) -> tuple[Expr, ...]:
    """The cotangents of which a guard in a statement asks whether they are zero."""
    if not isinstance(s, (Assign, Add)):
        return ()
    found = (guarded(e) for e in walk_expr(s.value))
    return tuple(d for d, _ in filter(None, found))


def _bare(s: Stmt, d: Expr) -> Stmt:
    """A statement where `d` is not zero."""

    def bare(e: Expr) -> Expr:
        parts = guarded(e)
        return parts[1] if parts is not None and parts[0] == d else e

    return map_stmt_exprs(s, bare)
