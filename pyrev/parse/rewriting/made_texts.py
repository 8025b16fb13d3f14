"""What texts that are made before anything is read consist of."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from types import ModuleType

import gast
import numpy as np

from pyrev.parse.bindings import children, nodes_of
from pyrev.parse.library import transforms
from pyrev.parse.scopes import NUMPY, TRANSFORMS

#: What names stand for that only made texts have.
ROOTS: dict[str, ModuleType] = {NUMPY: np, TRANSFORMS: transforms}
#: What a name outside of a definition stands for.
Lookup = Callable[[str], object]


def object_named(func: gast.AST, local: frozenset[str], lookup: Lookup) -> object:
    """What a function that is called is, if it is none of the definition's own."""
    match func:
        case gast.Name(id=name) if name in ROOTS:
            return ROOTS[name]
        case gast.Name(id=name):
            return None if name in local else lookup(name)
        case gast.Attribute(value=base, attr=attr):
            found = object_named(base, local, lookup)
            return None if found is None else getattr(found, attr, None)
    return None


def read_in(e: gast.AST) -> set[str]:
    """The names that are read in a node."""
    return {
        n.id
        for n in nodes_of(e)
        if isinstance(n, gast.Name) and not isinstance(n.ctx, gast.Store)
    } | {
        n.target.id
        for n in nodes_of(e)
        if isinstance(n, gast.AugAssign) and isinstance(n.target, gast.Name)
    }


def stored_in(s: gast.AST) -> set[str]:
    """The names that a statement binds."""
    return {
        n.id
        for n in nodes_of(s)
        if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Store)
    }


def written_in(s: gast.AST) -> set[str]:
    """The arrays whose elements a statement writes."""
    found = set()
    for n in nodes_of(s):
        if isinstance(n, gast.Subscript) and isinstance(n.ctx, gast.Store):
            found.add(root_of(n))
    return found - {""}


def root_of(e: gast.AST) -> str:
    """The name that subscripts and attributes stand behind; empty if it is none."""
    while isinstance(e, (gast.Subscript, gast.Attribute)):
        e = e.value
    return str(e.id) if isinstance(e, gast.Name) else ""


def each_place(index: gast.AST, f: Callable[[gast.AST], gast.AST]) -> gast.AST:
    """A subscript with what `f` gives for each place and each end of a slice in it."""
    new = copy.copy(index)
    match index:
        case gast.Tuple(elts=elts):
            new.elts = [each_place(e, f) for e in elts]
        case gast.Slice(lower=a, upper=b, step=c):
            ends = [None if e is None else each_place(e, f) for e in (a, b, c)]
            new.lower, new.upper, new.step = ends
        case _:
            return f(index)
    return new


def name_of(
    name: str, at: gast.AST | None = None, ctx: gast.AST | None = None
) -> gast.AST:
    """A name, read unless said otherwise, that stands where `at` does."""
    made = gast.Name(name, ctx or gast.Load(), None, None)
    return made if at is None else gast.copy_location(made, at)


def number_of(value: float) -> gast.AST:
    """The literal of a number, with its sign in front."""
    if value < 0:
        return gast.UnaryOp(gast.USub(), gast.Constant(-value, None))
    return gast.Constant(value, None)


def assign(targets: Sequence[gast.AST], value: gast.AST) -> gast.AST:
    """An assignment."""
    return gast.Assign(list(targets), value, None)


def numpy_call(
    name: str,
    args: Sequence[gast.AST],
    keywords: Iterable[gast.AST] = (),
    at: gast.AST | None = None,
) -> gast.AST:
    func = gast.Attribute(name_of(NUMPY), name, gast.Load())
    made = gast.Call(func, list(args), list(keywords))
    return made if at is None else placed(made, at)


def up_to(array: str, count: str, first: str | None = None) -> gast.AST:
    whole = gast.Slice(None if first is None else name_of(first), name_of(count), None)
    return gast.Subscript(name_of(array), whole, gast.Load())


def copied(e: gast.AST) -> gast.AST:
    return gast.Call(gast.Attribute(e, "copy", gast.Load()), [], [])


def placed(node: gast.AST, at: gast.AST) -> gast.AST:
    """What has no place of its own stands where `at` does."""
    stack = [node]
    while stack:
        child = stack.pop()
        if not hasattr(child, "lineno"):
            gast.copy_location(child, at)
        stack += children(child)
    return node


class Renamed(gast.NodeTransformer):  # type: ignore[misc]
    """Gives names others."""

    def __init__(self, new: dict[str, str]) -> None:
        self.new = new

    def visit_Name(self, node: gast.Name) -> gast.AST:
        if node.id in self.new:
            made = copy.copy(node)
            made.id = self.new[node.id]
            return made
        return node
