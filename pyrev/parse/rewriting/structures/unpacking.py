"""Targets with a star, and tuples in tuples that are unpacked, before names of
structures are told::

    a, *rest = three(x)        ->    a, rest_0, rest_1 = three(x)
                                     rest = [rest_0, rest_1]

    low, high = pairs(x)       ->    parts = pairs(x)
                                     low = parts[0]
                                     high = parts[1]
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence

import gast

from pyrev.ir.nodes import fresh
from pyrev.parse.bindings import identifiers, nodes_of
from pyrev.parse.rewriting.made_texts import assign, name_of, placed, read_in
from pyrev.parse.rewriting.structures.shapes import Shape

_TUPLES = ("tuple", "named tuple")


def unpacks(node: gast.AST) -> bool:
    """Is there a target that may have to be taken apart in a definition?"""
    return any(
        _targets(s) is not None
        and (_star(_targets(s) or ()) is not None or isinstance(s.value, gast.Call))
        for s in nodes_of(node)
    )


def with_unpacked(
    node: gast.AST,
    shape: Callable[[gast.AST], Shape | None],
    counted: Callable[[gast.Call], int | None],
) -> gast.AST:
    """The definition in which a star takes as many names as there are values for it,
    and each part of a nested tuple is assigned by its own; `shape` says what an
    expression gives, `counted` how many numbers and arrays a call does. What is not
    known to be a tuple is left as it is.
    """
    return _Unpacking(node, shape, counted).visit(copy.copy(node))


class _Unpacking(gast.NodeTransformer):  # type: ignore[misc]
    """Takes assignments apart."""

    def __init__(
        self,
        node: gast.AST,
        shape: Callable[[gast.AST], Shape | None],
        counted: Callable[[gast.Call], int | None],
    ) -> None:
        self.shape, self.counted = shape, counted
        self.read = read_in(node)
        self.taken = {*identifiers(node)}

    def generic_visit(self, node: gast.AST) -> gast.AST:
        for block in ("body", "orelse"):
            old = getattr(node, block, None)
            if isinstance(old, list):
                new = [m for s in old for m in self.statement(s)]
                setattr(node, block, new)
        return node

    def statement(self, s: gast.AST) -> list[gast.AST]:
        """What stands for a statement."""
        if isinstance(s, (gast.FunctionDef, gast.ClassDef)):
            return [s]  # it is read where it is called
        targets = _targets(s)
        if targets is None:
            return [self.visit(copy.copy(s))]
        own = self.shape(s.value)
        nested = own is not None and any(field is not None for _, field in own.fields)
        count = self.count(s.value, own)
        star = _star(targets)
        if count is None or (star is None and not nested):
            return [s]
        inner = any(isinstance(t, (gast.Tuple, gast.List)) for t in targets)
        if inner and not (nested and isinstance(s.value, gast.Call)):
            return [s]
        after: list[gast.AST] = []
        if star is not None:
            more = count - len(targets) + 1
            if more < 0 or not isinstance(targets[star].value, gast.Name):
                return [s]
            targets, after = self.spread(targets, star, more)
        if len(targets) != count:
            return [s]
        if not (nested and isinstance(s.value, gast.Call)):
            if len(targets) == 1:
                return [s]
            whole = gast.Tuple(list(targets), gast.Store())
            made = [placed(assign([placed(whole, s)], s.value), s)]
        else:
            parts = fresh("parts", self.taken)
            made = [assign([name_of(parts, s, gast.Store())], s.value)]
            for k, target in enumerate(targets):
                index = gast.Constant(k, None)
                part = gast.Subscript(name_of(parts, s), index, gast.Load())
                made.append(assign([target], part))
        return [placed(m, s) for m in [*made, *after]]

    def spread(
        self, targets: Sequence[gast.AST], star: int, more: int
    ) -> tuple[list[gast.AST], list[gast.AST]]:
        """Targets with names for what the star takes, and what makes a list of these
        if that is read.
        """
        own = targets[star].value
        names = [fresh(f"{own.id}_{k}", self.taken) for k in range(more)]
        stores = [name_of(n, own, gast.Store()) for n in names]
        after: list[gast.AST] = []
        if own.id in self.read:
            values = [name_of(n, own) for n in names]
            after = [assign([own], gast.List(values, gast.Load()))]
        return [*targets[:star], *stores, *targets[star + 1 :]], after

    def count(self, value: gast.AST, own: Shape | None) -> int | None:
        """How many values a tuple has; None if it is not known to be one."""
        if isinstance(value, gast.Tuple):
            apart = any(isinstance(e, gast.Starred) for e in value.elts)
            return None if apart else len(value.elts)
        if own is not None:
            return len(own.fields) if own.kind in _TUPLES else None
        return self.counted(value) if isinstance(value, gast.Call) else None


def _targets(s: gast.AST) -> Sequence[gast.AST] | None:
    """The targets of an assignment of several."""
    match s:
        case gast.Assign(targets=[gast.Tuple(elts=elts) | gast.List(elts=elts)]):
            found: Sequence[gast.AST] = elts
            return found
    return None


def _star(targets: Sequence[gast.AST]) -> int | None:
    """Which of the targets has a star."""
    stars = [k for k, t in enumerate(targets) if isinstance(t, gast.Starred)]
    return stars[0] if stars else None
