"""Calls of methods: ``m.value(x)`` is ``value(m, x)`` of the function in the class of
`m`, and a property that is read is such a call, too.
"""

from __future__ import annotations

import copy
from typing import Protocol

import gast

from pyrev.parse.bindings import nodes_of
from pyrev.parse.grounds import in_class, name_in_class
from pyrev.parse.rewriting.made_texts import name_of, root_of
from pyrev.parse.rewriting.structures.shapes import Missing, Shape
from pyrev.parse.source import plain

#: The methods of every named tuple, which are known by their names.
OF_TUPLES = frozenset(["_replace", "_asdict", "_make"])


class Known(Protocol):
    """A definition whose structures are known."""

    inside: set[str]

    def shape(self, e: gast.AST, name: str = "") -> Shape | None: ...


def way_to(shape: Shape | None, attr: str) -> str:
    """How objects of this shape have a method or a property ("method", "static",
    "property"); empty where they don't.
    """
    if shape is None or shape.cls is None or shape.kind not in _WITH_METHODS:
        return ""
    if attr in OF_TUPLES or attr.startswith("__"):
        return ""
    way, function = in_class(shape.cls, attr)
    if way != "property" and not isinstance(shape.get(attr), Missing):
        return ""  # the object has it itself
    return way if way and plain(function) is not None else ""


_WITH_METHODS = ("object", "named tuple")


def may_have_methods(node: gast.AST) -> bool:
    """Is an attribute read in a definition that arrays don't have?"""
    return any(
        isinstance(n, gast.Attribute) and isinstance(n.ctx, gast.Load)
        for n in nodes_of(node)
    )


def with_methods(node: gast.AST, known: Known) -> gast.AST:
    """The definition with calls of functions for those of methods of structures that
    are known; itself if there are none.
    """
    calls = _Methods(known)
    made = calls.visit(copy.deepcopy(node))
    return made if calls.found else node


class _Methods(gast.NodeTransformer):  # type: ignore[misc]
    def __init__(self, known: Known) -> None:
        self.known = known
        self.found = False

    def visit_Call(self, node: gast.Call) -> gast.AST:
        match node.func:
            case gast.Attribute(value=base, attr=attr):
                shape = self._shape(base)
                way = way_to(shape, attr)
                if way in ("method", "static"):
                    first = [base] if way == "method" else []
                    self._called(node, shape, attr, [*first, *node.args])
        return self.generic_visit(node)

    def visit_Attribute(self, node: gast.Attribute) -> gast.AST:
        if isinstance(node.ctx, gast.Load):
            shape = self._shape(node.value)
            if way_to(shape, node.attr) == "property":
                call = gast.Call(None, [], [])
                self._called(call, shape, node.attr, [node.value], node)
                return self.generic_visit(gast.copy_location(call, node))
        return self.generic_visit(node)

    def _called(
        self,
        call: gast.Call,
        shape: Shape | None,
        attr: str,
        args: list[gast.AST],
        at: gast.AST | None = None,
    ) -> None:
        assert shape is not None and shape.cls is not None
        name = name_in_class(shape.cls, attr)
        call.func = name_of(name, call.func if at is None else at)
        call.args = args
        self.found = True

    def _shape(self, base: gast.AST) -> Shape | None:
        if root_of(base) in self.known.inside:
            return None  # a function inside has the name for something of its own
        return self.known.shape(base)
