"""Structures from outside of a function: a dictionary of constants, an object of a
module or of the function around. Their fields are read at each call, as other values
from outside are, under names such as ``CFG.k`` and ``CFG["k"]``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import BuiltinFunctionType, FunctionType, ModuleType

import gast
import numpy as np

from pyrev.ir.diagnostics import ArgumentError
from pyrev.parse.bindings import is_none, local_names, nodes_of, parameters
from pyrev.parse.grounds import Missing, name_behind
from pyrev.parse.rewriting.field_reads import LENGTH, used_fields
from pyrev.parse.rewriting.made_texts import ROOTS, Lookup, read_in
from pyrev.parse.rewriting.structures.objects import at_path, fields_of, shape_of
from pyrev.parse.rewriting.structures.shapes import Key, Names, Shape

#: What most names from outside stand for: no structures.
_OTHERS = (
    *(FunctionType, BuiltinFunctionType, ModuleType, type, Missing, np.ufunc),
    *(np.ndarray, np.generic, bool, int, float, str, list, type(None)),
)


@dataclass(frozen=True, slots=True)
class Captured:
    """A structure from outside: `names` stand for its numbers and arrays, and `fixed`
    are those of them that are texts or None.
    """

    shape: Shape
    names: Names
    fixed: Mapping[str, str | None]


def captured(node: gast.AST, lookup: Lookup) -> dict[str, Captured]:
    """The structures from outside that a definition reads."""
    local = local_names(node)
    found: dict[str, Captured] = {}
    # What a probe calls is looked up at each call, and nothing rests on what it is.
    done = _called_back(node)
    for n in nodes_of(node):
        if not isinstance(n, gast.Name) or n.id in done or n.id in local:
            continue
        done.add(n.id)
        if n.id in ROOTS or not n.id.isidentifier() or n in parameters(node):
            continue
        value = lookup(n.id)
        if not isinstance(value, _OTHERS):
            made = _captured(node, n.id, value, lookup)
            if made is not None:
                found[n.id] = made
    return found


def _called_back(node: gast.AST) -> set[str]:
    """The names in what probes are given beside values."""
    found: set[str] = set()
    for n in nodes_of(node):
        match n:
            case gast.Call(func=gast.Name(id="probe") | gast.Attribute(attr="probe")):
                others = [*n.args[1:], *(k.value for k in n.keywords)]
                found |= set().union(*map(read_in, others))
    return found


def _captured(
    node: gast.AST, name: str, value: object, lookup: Lookup
) -> Captured | None:
    kind, _ = fields_of(value)
    if kind not in ("dict", "object", "named tuple"):
        return None
    paths = used_fields(node, name, lookup)
    if kind == "dict" and (paths is None or LENGTH in paths):
        return None  # which keys there are may be asked, and be another answer later
    try:
        shape = shape_of(value, paths)
    except ArgumentError:
        return None  # a field that is read is not there
    if shape is None:
        return None
    names = {path: name_behind(name, _steps(shape, path)) for path in shape.leaves()}
    fixed: dict[str, str | None] = {}
    for path, own in names.items():
        leaf = at_path(value, path)
        if leaf is None or isinstance(leaf, str):
            lookup(own)  # the text rests on it
            fixed[own] = leaf
    return Captured(shape, names, fixed)


def _steps(shape: Shape, path: tuple[Key, ...]) -> tuple[tuple[bool, Key], ...]:
    """The keys of a path, and whether each is a subscript."""
    steps = []
    around: object = shape
    for key in path:
        assert isinstance(around, Shape)
        steps.append((around.kind in ("dict", "tuple", "record", "records"), key))
        around = around.get(key)
    return tuple(steps)


class Fixed(gast.NodeTransformer):  # type: ignore[misc]
    """Puts texts and None in the places of the names that stand for them, and what a
    comparison of the others with None gives.
    """

    def __init__(self, every: Collection[Captured]) -> None:
        self.values = {n: v for c in every for n, v in c.fixed.items()}
        self.others = {n for c in every for n in c.names.values()} - {*self.values}

    def visit_Name(self, node: gast.Name) -> gast.AST:
        if node.id not in self.values:
            return node
        return gast.copy_location(gast.Constant(self.values[node.id], None), node)

    def visit_Compare(self, node: gast.Compare) -> gast.AST:
        match node:
            case gast.Compare(
                left=gast.Name(id=name),
                ops=[gast.Is() | gast.IsNot() as op],
                comparators=[other],
            ) if name in self.others and is_none(other):
                truth = isinstance(op, gast.IsNot)
                return gast.copy_location(gast.Constant(truth, None), node)
        return self.generic_visit(node)
