"""How a definition uses its structures: by their fields, as a whole, or otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import gast

from pyrev.parse.bindings import children, is_none, parameters
from pyrev.parse.rewriting.structures.methods import way_to
from pyrev.parse.rewriting.structures.nodes import Use
from pyrev.parse.rewriting.structures.shapes import Key, Missing, Shape


class Known(Protocol):
    """A definition whose structures are looked for."""

    node: gast.AST
    shapes: dict[str, Shape]
    turns: dict[gast.AST, str]
    turning: bool

    def place(
        self, e: gast.AST
    ) -> tuple[str, tuple[Key, ...], Shape | Missing | None] | None: ...

    def of_record(self, e: gast.AST) -> Shape | None: ...


def uses_of(known: Known, name: str) -> Iterator[Use]:
    """How a definition uses a structure, or what is in it."""

    def visit(around: gast.AST, e: gast.AST, inner: bool) -> Iterator[Use]:
        found = known.place(e)
        if found is not None and found[0] == name:
            path, field = found[1], found[2]
            ctx = getattr(e, "ctx", None)
            if isinstance(ctx, gast.Param):
                return
            if isinstance(ctx, gast.Store):
                if path:
                    yield Use(inner, stored=path)
                return
            bad = isinstance(field, Missing) and not known.turning
            if isinstance(field, Missing) and _is_method(known, e):
                yield Use(inner, whole=True)
                return
            if isinstance(around, gast.AugAssign) and around.target is e:
                yield Use(inner, stored=path)
            elif isinstance(field, Shape):
                yield _whole(known, around, e, field, inner)
            else:
                yield Use(inner, bad=bad)
            return
        for child in children(e):
            deeper = isinstance(e, (gast.FunctionDef, gast.Lambda))
            yield from visit(e, child, inner or deeper)

    for child in children(known.node):
        if child not in parameters(known.node):
            yield from visit(known.node, child, False)


def _is_method(known: Known, e: gast.AST) -> bool:
    """Is an attribute one of the class of what it is read of?"""
    of = known.place(e.value) if isinstance(e, gast.Attribute) else None
    shape = of[2] if of is not None and isinstance(of[2], Shape) else None
    return shape is not None and bool(way_to(shape, e.attr))


def _whole(
    known: Known, around: gast.AST, e: gast.AST, field: Shape, inner: bool
) -> Use:
    if known.turns.get(e, "") in known.shapes:
        return Use(inner)
    match around:
        case gast.Subscript(value=value) if value is e and field.kind == "records":
            stored = isinstance(around.ctx, gast.Store)
            return Use(inner, bad=stored or known.of_record(around) is None)
        case gast.Attribute(attr="shape" | "size" | "ndim"):
            return Use(inner, bad=field.kind != "records")
        case gast.For():
            return Use(inner, whole=True, bad=not known.turning)
        case gast.Return():
            view = field.kind == "view"
            return Use(inner, whole=True, returned=True, bad=view)
        case gast.Starred():
            tuples = ("tuple", "named tuple")
            return Use(inner, whole=True, bad=field.kind not in tuples)
        case gast.Call(args=args) if any(a is e for a in args):
            return Use(inner, whole=True)
        case gast.keyword() | gast.Tuple() | gast.Dict():
            return Use(inner, whole=True)
        case gast.Assign(value=value) if value is e:
            return Use(inner, whole=True)
        case gast.Attribute(attr="_replace" | "get" | "keys"):
            return Use(inner, bad=field.kind == "view")
        case gast.Compare(ops=[gast.In() | gast.NotIn()]):
            return Use(inner, bad=field.kind == "view")
        case gast.Compare(ops=[gast.Is() | gast.IsNot()], comparators=[other]):
            return Use(inner, bad=not is_none(other))
    return Use(inner, bad=True)
