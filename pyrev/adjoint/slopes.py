"""Values whose derivative is given beside them: ``along(value, slope, x)``.

It is `value`, and its tangent is that of `value` plus `slope` times that of `x`. The
parser writes it for a helper with a rule of its own, around `stop_gradient(value)`, or
around `once(value)` where the rule needs the result, whose derivatives it does not say.
`preaccumulate` writes it around `value(value)`, which is the value as it was computed.
Derivatives read the slopes; what runs has none.
"""

from __future__ import annotations

from dataclasses import replace

from pyrev.ir.diagnostics import Finding, UnsupportedError
from pyrev.ir.nodes import (
    Add,
    Assign,
    Block,
    Call,
    Expr,
    For,
    If,
    Loc,
    Program,
    Stmt,
    Var,
    assigned_scalars,
    blocks,
    children,
    exprs,
    map_block,
    map_expr,
    map_whole,
    names,
    rebuild,
    walk,
    walk_expr,
    with_blocks,
)

#: The second is for a slope that may be infinite.
ALONG = ("along", "along_steep")
#: What says something of the derivative of its first argument, and is that.
_SAYS = (*ALONG, "once", "value", "drawn")


def has_slopes(program: Program) -> bool:
    """Is there a value with a derivative of its own?"""
    return any(
        isinstance(e, Call) and e.op in _SAYS
        for s in walk(program.body)
        for top in exprs(s)
        for e in walk_expr(top)
    )


def valued(program: Program) -> Program:
    """The program of which a derivative was made, as that derivative has it.

    A value whose rule holds once is ``by_rule(value)`` in it: a further derivative
    would need one of the rule, and is refused.
    """
    if not has_slopes(program):
        return program

    def value(e: Expr) -> Expr:
        inner = e
        while isinstance(inner, Call) and inner.op in ALONG:
            inner = inner.args[0]
        match inner:
            case Call("once", args):
                return Call("by_rule", tuple(map(value, args)), loc=e.loc)
            case Call("value", (plain,)) | Call("drawn", (plain, _)):
                return value(plain)
        return rebuild(e, tuple(map(value, children(e)))) if children(e) else e

    return replace(program, body=tuple(map_whole(s, value) for s in program.body))


def without_slopes(program: Program) -> Program:
    """The function itself: no ``along``, and nothing that is made for slopes only."""
    if not has_slopes(program):
        return program
    only = _for_slopes(program.body)

    def value(e: Expr) -> Expr:
        plain = isinstance(e, Call) and e.op in _SAYS
        return e.args[0] if isinstance(e, Call) and plain else e

    body = map_block(program.body, value)
    return replace(program, body=tuple(s for t in body for s in _kept(t, only)))


def _for_slopes(body: Block) -> frozenset[str]:
    """Scalars that flow into slopes and into nothing else."""
    found: set[str] = set()
    readers: dict[str, set[str]] = {}  # "" reads for more than a scalar
    for s in walk(body):
        parts, target = exprs(s), ""
        if isinstance(s, (Assign, Add)) and isinstance(s.target, Var):
            parts, target = (s.value,), s.target.name
        for top in parts:
            for e in walk_expr(top):
                if isinstance(e, Call) and e.op in ALONG:
                    found |= names(e.args[1]) | _chosen_by(e.args[2])
            for n in names(map_expr(top, _without_slope)):
                readers.setdefault(n, set()).add(target)
    while more := {n for n, r in readers.items() if r & found} - found:
        found |= more
    while others := {n for n in found if not readers.get(n, set()) <= found}:
        found -= others
    return frozenset(found) & frozenset(assigned_scalars(body))


def _chosen_by(moved: Expr) -> frozenset[str]:
    """What decides if a value is along another at all."""
    match moved:
        case Call("where", (test, _, _)):
            return names(test)
    return frozenset()


def _without_slope(e: Expr) -> Expr:
    if isinstance(e, Call) and e.op in ALONG:
        return Call("+", (e.args[0], e.args[2]))
    return e


def _kept(stmt: Stmt, gone: frozenset[str]) -> Block:
    if isinstance(stmt, (Assign, Add)) and isinstance(stmt.target, Var):
        return () if stmt.target.name in gone else (stmt,)
    inner = tuple(tuple(s for t in b for s in _kept(t, gone)) for b in blocks(stmt))
    if isinstance(stmt, (For, If)) and not any(inner) and any(blocks(stmt)):
        return ()
    return (with_blocks(stmt, inner),) if inner else (stmt,)


def refuse_second(loc: Loc) -> UnsupportedError:
    """The error for a derivative of a value that came with a rule."""
    return UnsupportedError(
        [
            Finding(
                "P119",
                loc,
                "the derivative of a value that has a rule of its own is asked for,"
                " and a rule says no more than the first",
                "leave out custom_vjp for second derivatives, or write the rule"
                " without the result",
            )
        ]
    )


def refuse_drawn(loc: Loc) -> UnsupportedError:
    """The error for a derivative of what is drawn by a parameter that shapes it."""
    return UnsupportedError(
        [
            Finding(
                "P306",
                loc,
                "the derivative of what is drawn here is asked for by a parameter that"
                " decides its shape, and a drawn number does not say how it moves",
                "leave that parameter out of `wrt`, or stop it:"
                " `pyrev.stop_gradient(shape)`",
            )
        ]
    )
