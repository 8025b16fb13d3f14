"""Lists of arrays of several lengths, as one list with where each array begins.

Python text in, Python text out::

    rows = []                              rows_flat = []
    for j in range(n):                     rows_begins = []
        found = np.flatnonzero(a[j])       rows_ends = []
        rows.append(found)          ->     for j in range(n):
    for k in rows[i]:                          found = np.flatnonzero(a[j])
        ...                                    rows_begins.append(len(rows_flat))
                                               for value in found:
                                                   rows_flat.append(value)
                                               rows_ends.append(len(rows_flat))
                                           for k in rows_flat[rows_begins[i] : ...]:

The list has copies then: nothing may write to its arrays once they are in it.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Sequence

import gast

from pyrev.ir.nodes import fresh
from pyrev.parse.bindings import bindings, children, identifiers, nodes_of, parameters
from pyrev.parse.rewriting.lists.flat import Flat, append, is_index, length
from pyrev.parse.rewriting.lists.room import appended
from pyrev.parse.rewriting.lists.sharing import Sharing
from pyrev.parse.rewriting.lists.uses import is_named
from pyrev.parse.rewriting.made_texts import Lookup, name_of


def without_ragged(node: gast.AST, lookup: Lookup, helper: bool) -> gast.AST:
    """The definition without such lists; itself if it has none. A list is one if it
    begins without elements, and each of its elements is looped over, measured, or read
    by its own elements.
    """
    times = Counter(bindings(node))
    own = {p.id for p in parameters(node)}
    starts = [n for n in nodes_of(node) if _begins(n)]
    for name in [n.targets[0].id for n in starts]:
        if times[name] != 1 or name in own or not _is_ragged(node, name):
            continue
        if Sharing(node, lookup).refusal(name, helper):
            continue
        made = copy.deepcopy(node)
        made.body = _Ragged(name, {*identifiers(made)}).block(made.body)
        node = made
    return node


def _begins(s: gast.AST) -> bool:
    match s:
        case gast.Assign(targets=[gast.Name()], value=gast.List(elts=[])):
            return True
    return False


def _is_ragged(node: gast.AST, name: str) -> bool:
    """Is a list only used so, and are elements read of one that is in it?"""
    found: list[bool] = []

    def fits(e: gast.AST, around: Sequence[gast.AST]) -> bool:
        match around[-1]:
            case gast.Assign(value=gast.List()):
                return isinstance(e.ctx, gast.Store)
            case gast.Attribute(attr="append"):
                return appended(around[-2])[1] is not None and isinstance(
                    around[-3], gast.Expr
                )
            case gast.Call(func=gast.Name(id="len"), args=[inner], keywords=[]):
                return inner is e
            case gast.Subscript(value=value, ctx=gast.Load()) as row if value is e:
                return is_index(row.slice) and read(row, around[-2])
        return False

    def read(row: gast.AST, around: gast.AST) -> bool:
        found.append(True)
        match around:
            case gast.For(iter=it):
                return it is row
            case gast.Call(func=gast.Name(id="len"), args=[inner], keywords=[]):
                return inner is row
            case gast.Subscript(value=value, slice=index, ctx=gast.Load()):
                return value is row and is_index(index)
        return False

    def visit(e: gast.AST, around: tuple[gast.AST, ...]) -> bool:
        inner = isinstance(e, (gast.FunctionDef, gast.Lambda)) and bool(around)
        for child in children(e):
            if is_named(child, name):
                if inner or not fits(child, (*around, e)):
                    return False
            elif not visit(child, (*around, e)):
                return False
        return not inner or not any(is_named(n, name) for n in nodes_of(e))

    return visit(node, ()) and bool(found)


class _Ragged(Flat):
    """Writes such a list as three lists of numbers."""

    def __init__(self, name: str, taken: set[str]) -> None:
        super().__init__(name, taken)
        self.taken = taken

    def grown(self, s: gast.AST) -> list[gast.AST] | None:
        if not isinstance(s, gast.Expr) or appended(s.value)[0] != self.name:
            return None
        value = self.visit(appended(s.value)[1])
        one = fresh("value", self.taken)
        body = [append(self.flat, name_of(one))]
        return [
            append(self.begins, length(self.flat)),
            gast.For(name_of(one, ctx=gast.Store()), value, body, [], None),
            append(self.ends, length(self.flat)),
        ]
