"""Lists of lists of numbers, as one list behind the other, with where each begins.

Python text in, Python text out::

    rows = []                             rows_flat = []
    for i in range(n):                    rows_begins = []
        found = []                        rows_ends = []
        for j in range(n):                for i in range(n):
            if d[i, j] < h:        ->         found_begin = len(rows_flat)
                found.append(j)               for j in range(n):
        rows.append(found)                        if d[i, j] < h:
    for j in rows[i]:                                 rows_flat.append(j)
        ...                                   rows_begins.append(found_begin)
                                              rows_ends.append(len(rows_flat))
                                          for j in rows_flat[rows_begins[i] : ...]:

An inner list is complete where it is appended, and has no other name behind that.
"""

from __future__ import annotations

import copy
from collections import Counter

import gast

from pyrev.ir.nodes import fresh
from pyrev.parse.bindings import bindings, identifiers, nodes_of, parameters
from pyrev.parse.rewriting.lists.flat import Flat, append, bound, length
from pyrev.parse.rewriting.lists.uses import is_named
from pyrev.parse.rewriting.made_texts import name_of, placed


def without_nested(node: gast.AST) -> gast.AST:
    """The definition without such lists; itself if it has none. Those that are used in
    other ways are left as they are.
    """
    times = Counter(bindings(node))
    own = {p.id for p in parameters(node)}
    for outer, inner in _pairs(node).items():
        if {outer, inner} & own or times[outer] != 1 or times[inner] != 1:
            continue
        made = copy.deepcopy(node)
        found = _Nested(outer, inner, {*identifiers(made)})
        if not _complete(made, outer, inner):
            continue
        made.body = found.block(made.body)
        left = [n for n in nodes_of(made) if is_named(n, outer) or is_named(n, inner)]
        if not left:
            node = made
    return node


def _appended(s: gast.AST) -> tuple[str, gast.AST] | None:
    """The list that a statement appends to, and what."""
    match s:
        case gast.Expr(
            value=gast.Call(
                func=gast.Attribute(value=gast.Name(id=name), attr="append"),
                args=[value],
                keywords=[],
            )
        ):
            return str(name), value
    return None


def _begins(s: gast.AST, name: str) -> bool:
    match s:
        case gast.Assign(targets=[gast.Name(id=own)], value=gast.List(elts=elts)):
            nested = (gast.Starred, gast.List, gast.Tuple)
            return own == name and not any(isinstance(e, nested) for e in elts)
    return False


def _pairs(node: gast.AST) -> dict[str, str]:
    """The lists to which lists are appended in one place, and the name of these."""
    every = nodes_of(node)
    starts = {
        n.targets[0].id
        for n in every
        if isinstance(n, gast.Assign)
        and isinstance(n.targets[0], gast.Name)
        and _begins(n, n.targets[0].id)
    }
    sites = [found for n in every if (found := _appended(n)) is not None]
    count = Counter(name for name, _ in sites)
    return {
        name: value.id
        for name, value in sites
        if name in starts
        and count[name] == 1
        and isinstance(value, gast.Name)
        and value.id in starts
        and value.id != name
    }


def _complete(node: gast.AST, outer: str, inner: str) -> bool:
    """Does an inner list begin and end in one block, and is it named nowhere else?"""
    every = sum(is_named(n, inner) for n in nodes_of(node))
    empty = any(_begins(n, outer) and not n.value.elts for n in nodes_of(node))
    for n in nodes_of(node):
        for part in ("body", "orelse"):
            block = getattr(n, part, None)
            if not isinstance(block, list):
                continue
            first = [k for k, s in enumerate(block) if _begins(s, inner)]
            last = [
                k
                for k, s in enumerate(block)
                if (found := _appended(s)) is not None
                and found[0] == outer
                and is_named(found[1], inner)
            ]
            if len(first) == len(last) == 1 and first[0] < last[0]:
                region = [x for s in block[first[0] : last[0] + 1] for x in nodes_of(s)]
                inside = sum(is_named(x, inner) for x in region)
                again = sum(is_named(x, outer) for x in region)
                return inside == every and again == 1 and empty
    return False


class _Nested(Flat):
    """Writes the outer and the inner list as three lists of numbers."""

    def __init__(self, outer: str, inner: str, taken: set[str]) -> None:
        super().__init__(outer, taken)
        self.inner = inner
        self.begin = fresh(f"{inner}_begin", taken)

    def grown(self, s: gast.AST) -> list[gast.AST] | None:
        if _begins(s, self.inner):
            more = [append(self.flat, self.visit(e)) for e in s.value.elts]
            return [bound(self.begin, length(self.flat)), *more]
        match _appended(s):
            case (self.name, _):
                return [
                    append(self.begins, name_of(self.begin)),
                    append(self.ends, length(self.flat)),
                ]
            case (self.inner, value):
                return [append(self.flat, self.visit(value))]
        return None

    def visit_Call(self, node: gast.Call) -> gast.AST:
        match node:
            case gast.Call(func=gast.Name(id="len"), args=[gast.Name(id=self.inner)]):
                made = gast.BinOp(length(self.flat), gast.Sub(), name_of(self.begin))
                return placed(made, node)
        return super().visit_Call(node)
