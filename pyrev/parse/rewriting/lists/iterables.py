"""Names for what loops that append run over, where a call gives it.

How many elements there are is then known where the list is made, and nothing has to run
ahead to count them::

    for v in step(x):          values = step(x)
        out.append(v)    ->    for v in values:
                                   out.append(v)
"""

from __future__ import annotations

import copy

import gast

from pyrev.ir.nodes import fresh
from pyrev.parse.bindings import identifiers, local_names, nodes_of
from pyrev.parse.rewriting.effects import is_numpy
from pyrev.parse.rewriting.made_texts import (
    Lookup,
    assign,
    name_of,
    object_named,
    placed,
    read_in,
    stored_in,
)
from pyrev.parse.source import plain
from pyrev.parse.streams import may_draw

#: What runs over its arguments side by side, or over one with numbers.
_THROUGH = ("enumerate", "zip", "reversed")


def with_iterables(node: gast.AST, lookup: Lookup) -> gast.AST:
    """The definition with names for what loops that append run over, where that is
    what a helper returns or a generator draws, and nothing but the beginnings of lists
    stands in front of the loop.
    """
    made = copy.deepcopy(node)
    return made if _Iterables(made, lookup).block(made) else node


class _Iterables:
    def __init__(self, node: gast.AST, lookup: Lookup) -> None:
        self.lookup, self.local = lookup, local_names(node)
        self.taken = {*identifiers(node)}

    def block(self, node: gast.AST) -> bool:
        """Name them in the blocks of a statement; is there any?"""
        found = False
        for part in ("body", "orelse"):
            stmts = getattr(node, part, None)
            if not isinstance(stmts, list):
                continue
            out: list[gast.AST] = []
            for s in stmts:
                if not isinstance(s, gast.FunctionDef):
                    found = self.block(s) or found
                if isinstance(s, gast.For) and out and any(map(_appends, nodes_of(s))):
                    first = len(out)
                    read = read_in(s.iter)
                    while first and _is_plain(out[first - 1]):
                        if stored_in(out[first - 1]) & read:
                            break
                        first -= 1
                    if first < len(out):
                        out[first:first] = self.named(s)
                out.append(s)
            found = found or len(out) > len(stmts)
            setattr(node, part, out)
        return found

    def named(self, loop: gast.For) -> list[gast.AST]:
        """What a loop runs over gets names, by these statements."""
        before: list[gast.AST] = []
        match loop.iter:
            case gast.Call(func=gast.Name(id=name), args=args) if name in _THROUGH:
                loop.iter = copy.copy(loop.iter)
                loop.iter.args = [self.one(a, before) for a in args]
            case whole:
                loop.iter = self.one(whole, before)
        return before

    def one(self, e: gast.AST, before: list[gast.AST]) -> gast.AST:
        """What is run over, by a name if a helper or a generator gives it."""
        if not isinstance(e, gast.Call):
            return e
        known = object_named(e.func, self.local, self.lookup)
        if (plain(known) is None or is_numpy(known)) and not may_draw(e.func, known):
            return e
        name = fresh("values", self.taken)
        before.append(placed(assign([name_of(name, ctx=gast.Store())], e), e))
        return name_of(name, e)


def _appends(n: gast.AST) -> bool:
    return isinstance(n, gast.Attribute) and n.attr == "append"


def _is_plain(s: gast.AST) -> bool:
    """Does a statement give a name to what may as well be named later: a list of names
    and numbers, or one of these?
    """
    match s:
        case gast.Assign(targets=[gast.Name()], value=value):
            elts = value.elts if isinstance(value, gast.List) else [value]
            return all(isinstance(e, (gast.Name, gast.Constant)) for e in elts)
    return False
