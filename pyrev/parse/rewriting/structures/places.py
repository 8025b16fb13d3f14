"""The names of fields in the places where a structure is read or written."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Protocol

import gast

from pyrev.parse.bindings import is_none
from pyrev.parse.rewriting.made_texts import name_of
from pyrev.parse.rewriting.structures.nodes import element, key_of, literal
from pyrev.parse.rewriting.structures.record_views import single
from pyrev.parse.rewriting.structures.shapes import SHAPE, Key, Missing, Names, Shape


class Expanded(Protocol):
    """A definition whose structures are known: which expression is which of them."""

    names: dict[str, Names]

    def place(
        self, e: gast.AST
    ) -> tuple[str, tuple[Key, ...], Shape | Missing | None] | None: ...

    def view(
        self, e: gast.AST
    ) -> tuple[Shape, dict[tuple[Key, ...], gast.AST]] | None: ...

    def leaf(self, at: gast.AST, name: str, path: tuple[Key, ...]) -> gast.AST: ...

    def of_record(self, e: gast.AST) -> Shape | None: ...

    def shape(self, e: gast.AST, name: str = "") -> Shape | None: ...

    def values(self, e: gast.AST) -> dict[tuple[Key, ...], gast.AST] | None: ...

    def written_out(self, elts: Sequence[gast.AST]) -> list[gast.AST]: ...


class Fields(gast.NodeTransformer):  # type: ignore[misc]
    """Puts the names of fields in their places."""

    def __init__(self, expansion: Expanded) -> None:
        self.expansion = expansion
        #: Functions inside take their own structures apart.
        self.inside = False

    def visit(self, node: gast.AST) -> gast.AST:
        own = self.expansion
        if isinstance(node, (gast.FunctionDef, gast.Lambda)):
            before, self.inside = self.inside, True
            self.generic_visit(node)
            self.inside = before
            return node
        match node:
            case gast.Call(func=gast.Name(id="len"), args=[arg], keywords=[]):
                place = own.place(arg)
                if place is not None and isinstance(place[2], Shape):
                    if place[2].kind == "records":
                        made = copy.copy(node)
                        made.args = [self._first(node, place[0], place[1], place[2])]
                        return made
                    if place[2].kind not in ("object", "view"):
                        count = gast.Constant(len(place[2].fields), None)
                        return gast.copy_location(count, node)
            case gast.Attribute(value=base, attr="shape" | "size" | "ndim"):
                place = own.place(base)
                if place is not None and isinstance(place[2], Shape):
                    made = copy.copy(node)
                    made.value = self._first(node, place[0], place[1], place[2])
                    return made
            case gast.Subscript(value=gast.Subscript() as inner, slice=key) if (
                isinstance(key_of(key), str) and own.of_record(inner) is not None
            ):
                return self._of_element(node, inner, key_of(key))
            case gast.Attribute(value=gast.Subscript() as inner, attr=key) if (
                own.of_record(inner) is not None
            ):
                return self._of_element(node, inner, key)
            case gast.Call(func=gast.Attribute(value=base, attr="get"), args=args):
                found = self._gotten(base, args, node)
                if found is not None:
                    return found
            case gast.Compare(
                left=gast.Constant(value=str() | int() as key),
                ops=[gast.In() | gast.NotIn() as op],
                comparators=[other],
            ):
                place = own.place(other)
                if place is not None and isinstance(place[2], Shape):
                    inside = not isinstance(place[2].get(key), Missing)
                    truth = inside is isinstance(op, gast.In)
                    return gast.copy_location(gast.Constant(truth, None), node)
            case gast.Compare(
                left=left, ops=[gast.Is() | gast.IsNot() as op], comparators=[other]
            ) if is_none(other):
                place = own.place(left)
                if place is not None and isinstance(place[2], Shape):
                    truth = isinstance(op, gast.IsNot)
                    return gast.copy_location(gast.Constant(truth, None), node)
        place = own.place(node)
        if place is None:
            return super().visit(node)
        name, path, field = place
        if isinstance(field, Shape):
            return literal(node, field, own.names[name], path)
        return own.leaf(node, name, path)

    def _first(
        self, at: gast.AST, name: str, path: tuple[Key, ...], shape: Shape
    ) -> gast.AST:
        """The first field of records, whose length is theirs."""
        own = next(iter(shape.leaves()))
        return name_of(self.expansion.names[name][(*path, *own)], at)

    def _of_element(
        self, node: gast.AST, record: gast.Subscript, key: object
    ) -> gast.AST:
        """``r[i]["m"]``: the element of a field."""
        place = self.expansion.place(record.value)
        assert place is not None
        field = self.expansion.names[place[0]].get((*place[1], key))  # type: ignore[arg-type]
        if field is None:
            return node
        index = self.visit(record.slice)
        if isinstance(node.ctx, gast.Store):
            index = single(record.slice, index)
        return element(node, name_of(field, node), index, node.ctx)

    def visit_Call(self, node: gast.Call) -> gast.AST:
        """A structure that is written out as an argument is one to its helper."""
        node.args = [*map(self._viewed, self.expansion.written_out(node.args))]
        for k in node.keywords:
            k.value = self._viewed(k.value)
        given = [*node.args, *(k.value for k in node.keywords)]
        shapes = [self.expansion.shape(a) for a in given]
        self.generic_visit(node)
        made = [*node.args, *(k.value for k in node.keywords)]
        for a, shape in zip(made, shapes, strict=True):
            if shape is not None and isinstance(a, gast.Dict) and not self.inside:
                setattr(a, SHAPE, shape)
        return node

    def _viewed(self, e: gast.AST) -> gast.AST:
        """One of an array of records, given to a helper, which may write to it."""
        view = None if self.inside else self.expansion.view(e)
        if view is None:
            return e
        shape, values = view
        keys = [gast.copy_location(gast.Constant(p[0], None), e) for p in values]
        made = gast.copy_location(gast.Dict(keys, [*values.values()]), e)
        setattr(made, SHAPE, shape)
        return made

    def visit_Tuple(self, node: gast.Tuple) -> gast.AST:
        return self._elements(node)

    def visit_List(self, node: gast.List) -> gast.AST:
        return self._elements(node)

    def _elements(self, node: gast.AST) -> gast.AST:
        if isinstance(node.ctx, gast.Load):
            node.elts = self.expansion.written_out(node.elts)
        return self.generic_visit(node)

    def _gotten(
        self, base: gast.AST, args: Sequence[gast.AST], node: gast.AST
    ) -> gast.AST | None:
        """``p.get("k", 1.0)``"""
        place = self.expansion.place(base)
        match args:
            case [gast.Constant(value=key), *more] if (
                place is not None and isinstance(place[2], Shape) and len(more) < 2
            ):
                field = place[2].get(key)
                if isinstance(field, Missing):
                    return (
                        more[0]
                        if more
                        else gast.copy_location(gast.Constant(None, None), node)
                    )
                if field is None:
                    return self.expansion.leaf(node, place[0], (*place[1], key))
        return None
