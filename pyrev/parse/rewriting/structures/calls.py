"""Calls of helpers whose arguments are structures, which are taken apart."""

from __future__ import annotations

import copy
from collections.abc import Mapping

import gast

from pyrev.parse.rewriting.made_texts import Lookup
from pyrev.parse.rewriting.starred import Given, given_to, is_taken
from pyrev.parse.rewriting.structures.fields import Expansion
from pyrev.parse.rewriting.structures.shapes import Key, Shape, field_names


def spread_structures(
    node: gast.AST, call: gast.Call, lookup: Lookup, defaults: Mapping[str, object]
) -> tuple[dict[str, Shape], gast.Call] | None:
    """The shapes of a helper's parameters that a call, or a default, gives structures,
    and the call with their values; None if there are none.
    """
    inner = Expansion(gast.parse("def f(): pass").body[0], lookup, {})
    shapes: dict[str, Shape] = {}
    given: list[tuple[Given, dict[tuple[Key, ...], gast.AST] | None]] = []
    for one in given_to(node, call, defaults):
        taken = is_taken(node, one.name, one.value)
        shape = inner.shape(one.value) if taken else None
        values = None if shape is None else inner.values(one.value)
        if shape is not None and values is not None:
            shapes[one.name] = shape
        given.append((one, values))
    if not shapes:
        return None
    names = field_names(node, shapes)
    made = copy.copy(call)
    made.args, made.keywords = [], []
    for one, values in given:
        if not one.by_name:
            made.args += [one.value] if values is None else values.values()
        elif values is None:
            made.keywords.append(_keyword(one.name or None, one.value))
        else:
            own = names[one.name]
            made.keywords += [_keyword(own[p], v) for p, v in values.items()]
    return shapes, made


def _keyword(name: str | None, value: gast.AST) -> gast.AST:
    return gast.copy_location(gast.keyword(name, value), value)
