"""Choices between arrays: conditional expressions as `if` statements, and what follows
an `if` in each of its branches.

Python text in, Python text out, before anything is lowered::

    x = rhs if own else rhs.copy()   ->   if own:
                                              x = rhs
                                          else:
                                              x = rhs.copy()

    if own:                        ->     if own:
        x = rhs                               x = rhs
    else:                                     rhs[0] = x[1]
        x = rhs.copy()                    else:
    rhs[0] = x[1]                             x = rhs.copy()
                                              rhs[0] = x[1]
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence

import gast

from pyrev.parse.bindings import children, statements

_STATEMENTS = (gast.Assign, gast.AnnAssign, gast.AugAssign, gast.Return, gast.Expr)
#: What evaluates all that is in it, each part once.
_PLAIN = (
    *(gast.Tuple, gast.List, gast.BinOp, gast.UnaryOp, gast.Call, gast.keyword),
    *(gast.Subscript, gast.Attribute),
)


def with_branches(node: gast.AST, chosen: Callable[[gast.IfExp], bool]) -> gast.AST:
    """The definition `node` with an `if` for each conditional expression that is
    `chosen` and may be evaluated first in its statement; itself if there is none.
    """
    body = getattr(node, "body", None)
    if not isinstance(body, list):
        return node
    made = copy.copy(node)
    made.body = _block(body, chosen)
    return made


def with_ways_apart(node: gast.AST, chosen: Callable[[gast.If], bool]) -> gast.AST:
    """The definition `node` in which what follows a branch that is `chosen` stands in
    each of its ways; itself if that makes the text too long.
    """
    body = getattr(node, "body", None)
    if not isinstance(body, list):
        return node
    made = copy.copy(node)
    try:
        made.body = _apart(body, chosen, [_MOST])
    except _TooLongError:
        return node
    return made


#: So many statements may stand there once more.
_MOST = 256


class _TooLongError(Exception):
    """The text would have too many statements."""


def _apart(
    stmts: Sequence[gast.AST], chosen: Callable[[gast.If], bool], left: list[int]
) -> list[gast.AST]:
    out: list[gast.AST] = []
    for k, s in enumerate(stmts):
        if not statements(s) or isinstance(s, (gast.FunctionDef, gast.ClassDef)):
            out.append(s)
            continue
        made = copy.copy(s)
        rest = stmts[k + 1 :]
        if not isinstance(s, gast.If) or not rest or not chosen(s):
            rest = ()
        left[0] -= sum(isinstance(n, gast.stmt) for r in rest for n in gast.walk(r))
        if left[0] < 0:
            raise _TooLongError
        for name in ("body", "orelse"):
            own = getattr(s, name, None)
            if not isinstance(own, list):
                continue
            ends = bool(own) and isinstance(own[-1], _JUMPS)
            tail = () if ends else map(copy.deepcopy, rest)
            setattr(made, name, _apart([*own, *tail], chosen, left))
        out.append(made)
        if rest:
            break
    return out


_JUMPS = (gast.Return, gast.Raise, gast.Break, gast.Continue)


def _block(
    stmts: Sequence[gast.AST], chosen: Callable[[gast.IfExp], bool]
) -> list[gast.AST]:
    out: list[gast.AST] = []
    for s in stmts:
        choice = _choice_in(s, chosen)
        if choice is not None:
            ways = [
                _block([_replaced(s, choice, way)], chosen)
                for way in (choice.body, choice.orelse)
            ]
            out.append(gast.copy_location(gast.If(choice.test, *ways), choice))
        elif statements(s) and not isinstance(s, (gast.FunctionDef, gast.ClassDef)):
            inner = copy.copy(s)
            for name in ("body", "orelse"):
                if isinstance(getattr(s, name, None), list):
                    setattr(inner, name, _block(getattr(s, name), chosen))
            out.append(inner)
        else:
            out.append(s)
    return out


def _choice_in(s: gast.AST, chosen: Callable[[gast.IfExp], bool]) -> gast.IfExp | None:
    """What is chosen in a statement, if its test may as well be the first that runs."""
    if not isinstance(s, _STATEMENTS) or s.value is None:
        return None
    for around, found in _evaluated(s.value, ()):
        if isinstance(found, gast.IfExp) and chosen(found):
            calls = any(isinstance(n, gast.Call) for n in gast.walk(found.test))
            first = (
                not calls if isinstance(s, gast.AugAssign) else not calls or not around
            )
            if first and not _calls_beside(s, found, around):
                return found
    return None


def _evaluated(
    node: gast.AST, around: tuple[gast.AST, ...]
) -> Iterator[tuple[tuple[gast.AST, ...], gast.AST]]:
    """The parts of an expression that are evaluated once, with what is around each."""
    yield around, node
    if isinstance(node, _PLAIN):
        for child in children(node):
            yield from _evaluated(child, (*around, node))


def _calls_beside(
    s: gast.AST, choice: gast.IfExp, around: tuple[gast.AST, ...]
) -> bool:
    """Is anything called in a statement before `choice` is evaluated, and not in it?"""

    def called(node: gast.AST) -> bool:
        if node is choice:
            return False
        if isinstance(node, gast.Call) and not any(node is a for a in around):
            place = node.lineno, node.col_offset
            if place < (choice.lineno, choice.col_offset):
                return True
        return any(map(called, children(node)))

    return called(s.value)


def _replaced(s: gast.AST, choice: gast.IfExp, way: gast.AST) -> gast.AST:
    """A copy of a statement with one of the two expressions in place of the choice."""
    return copy.deepcopy(s, {id(choice): copy.deepcopy(way)})
