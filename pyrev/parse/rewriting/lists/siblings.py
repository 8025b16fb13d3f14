"""Lists that hold the fields of the same tuples: they are as long as one another.

What is appended to one of them is appended to all, so one room is that of all, and what
decides how much is appended may be in any of them.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence

import gast

from pyrev.parse.bindings import nodes_of
from pyrev.parse.rewriting.comprehensions import start_of
from pyrev.parse.rewriting.lists.room import Growing, NotThisWay, Room
from pyrev.parse.rewriting.lists.uses import ROOM, SIBLINGS, is_named
from pyrev.parse.rewriting.made_texts import Lookup, assign, name_of, placed


def siblings(
    node: gast.AST, name: str, local: frozenset[str], lookup: Lookup
) -> tuple[dict[str, list[gast.AST]], str | None]:
    """The lists that hold other fields of the same tuples as the list `name`, with what
    they begin with; and the name of the room, if one of them has got it.
    """
    every = [n for n in nodes_of(node) if isinstance(n, gast.Assign)]
    token = _token(node, name)
    found: dict[str, list[gast.AST]] = {}
    room = None
    for n in every if token is not None else ():
        if getattr(n.value, SIBLINGS, None) is not token:
            continue
        if getattr(n, ROOM, False):
            room = n.targets[0].id
        elif not is_named(n.targets[0], name):
            start = start_of(n.value, local, lookup)
            if start is not None and start.times is None:
                found[n.targets[0].id] = start.elements
    return found, room


def _token(node: gast.AST, name: str) -> object:
    """What the lists have in common; None if the list is one of no others."""
    tokens = [
        getattr(n.value, SIBLINGS, None)
        for n in nodes_of(node)
        if isinstance(n, gast.Assign) and is_named(n.targets[0], name)
    ]
    return tokens[0] if len(tokens) == 1 else None


def counted(
    grown: Growing, first: gast.AST, places: int, behind: Sequence[gast.AST]
) -> list[gast.AST]:
    """What says how much room there is: for the elements that a list begins with, and
    for all that is appended `behind` that, in so many places of the text.
    """
    if grown.known_room is not None:
        grown.room = grown.known_room
        return []
    terms: list[gast.AST] = []
    before: list[gast.AST] = []
    for k, later in enumerate(behind):
        own = Room(grown, later, behind[: k + 1])
        room, stmts = own.needed()
        places -= own.sites
        terms += room
        before += stmts
    if places:
        raise NotThisWay  # some is appended elsewhere
    total = _sum([first, *terms] if not _is_zero(first) else terms or [first])
    made = assign([name_of(grown.room, ctx=gast.Store())], total)
    token = _token(grown.node, grown.name)
    if token is not None:
        made.value = copy.copy(total)
        setattr(made.value, SIBLINGS, token)
        setattr(made, ROOM, True)
    return [made, *before]


def _sum(terms: Sequence[gast.AST]) -> gast.AST:
    found = terms[0]
    for t in terms[1:]:
        found = gast.BinOp(found, gast.Add(), t)
    return found


def _is_zero(e: gast.AST) -> bool:
    return isinstance(e, gast.Constant) and e.value == 0


def is_reversed(e: gast.AST, of: str) -> bool:
    """Does a call bring the elements of a list into the other order?"""
    match e:
        case gast.Call(
            func=gast.Attribute(value=gast.Name(id=name), attr="reverse"),
            args=[],
            keywords=[],
        ):
            return bool(name == of)
    return False


def backwards(arrays: Sequence[gast.AST], at: gast.AST) -> list[gast.AST]:
    """The statements that bring what is there of arrays into the other order."""
    out = []
    for there in arrays:
        step = gast.UnaryOp(gast.USub(), gast.Constant(1, None))
        turn = gast.Slice(None, None, step)
        value = gast.Subscript(copy.deepcopy(there), turn, gast.Load())
        place = there
        if isinstance(place, gast.Name):
            whole = gast.Slice(None, None, None)
            place = gast.Subscript(place, whole, gast.Load())
        place.ctx = gast.Store()
        out.append(placed(assign([place], value), at))
    return out
