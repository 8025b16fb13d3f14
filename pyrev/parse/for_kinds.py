"""A helper as it is for the arguments of one call: without tests of what they are."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import partial

from pyrev.ir.nodes import Const
from pyrev.parse.grounds import MISSING, lookup
from pyrev.parse.names import find
from pyrev.parse.rewriting.known_kinds import (
    NUMBER,
    Number,
    Several,
    Tested,
    tested,
    tested_parameters,
    with_kinds,
)
from pyrev.parse.scopes import Helper, Scope
from pyrev.parse.values import Array, Operand
from pyrev.parse.walk import BARE, Walk


def of_kinds(
    w: Walk, helper: Helper, values: Mapping[str, Operand], scope: Scope
) -> Helper:
    """The helper without tests of what its parameters are, where that is known."""
    definition, once = helper.source.node, w.env.rewritten.once
    look = around(w, helper, scope)
    asked = once(definition, "asked", look, partial(tested_parameters, definition))
    found = {n: _kind(w, values[n], asked[n]) for n in asked if n in values}
    if not found:
        return helper
    key = "kinds", tuple(found.items())
    return helper.made(
        once(definition, key, look, lambda out: with_kinds(definition, found, out))
    )


def _kind(w: Walk, value: Operand, aspects: Collection[str]) -> Tested:
    """What is known of an argument where it is given."""
    if isinstance(value, Array):
        return Tested(value.rank, cls=Several)
    cls = None if w.wants(BARE) else Number
    if isinstance(value, Const) and "number" in aspects:
        return replace(tested(value.value, [NUMBER]), axes=0, cls=cls)
    return Tested(0, cls=cls)


def around(
    w: Walk, helper: Helper, scope: Scope, noted: bool = True
) -> Callable[[str], object]:
    """What a name stands for outside of a helper that is called in `scope`."""
    if helper.python is None:
        return outside_of(w, helper.scope or scope, noted)
    return partial(w.env.grounds.lookup if noted else lookup, helper.python)


def outside_of(w: Walk, scope: Scope, noted: bool = True) -> Callable[[str], object]:
    """What a name stands for in a scope, if it is none of its own."""

    def look(name: str) -> object:
        found = find(w, name, scope, noted)
        return MISSING if isinstance(found, Scope) else found

    return look
