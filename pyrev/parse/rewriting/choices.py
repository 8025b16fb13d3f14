"""Conditional expressions that choose between arrays, as `if` statements.

Python text in, Python text out, before anything is lowered::

    x = rhs if own else rhs.copy()   ->   if own:
                                              x = rhs
                                          else:
                                              x = rhs.copy()
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
