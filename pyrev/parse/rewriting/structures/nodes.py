"""Nodes that stand for structures and for what is in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import gast

from pyrev.parse.bindings import literal_integer, nodes_of, returns, statements
from pyrev.parse.rewriting.made_texts import assign, name_of, read_in
from pyrev.parse.rewriting.structures.shapes import SHAPE, Key, Names, Shape


@dataclass(frozen=True, slots=True)
class Use:
    """A use of a structure, in a function inside if `inner`: `stored` is the field that
    is written to, `whole` says that it is used as a whole, `bad` that it is used
    otherwise.
    """

    inner: bool
    stored: tuple[Key, ...] | None = None
    whole: bool = False
    returned: bool = False
    bad: bool = False


def own_returns(node: gast.AST) -> list[gast.Return]:
    found: list[gast.Return] = []
    stack = list(node.body)
    while stack:
        s = stack.pop()
        if isinstance(s, gast.Return):
            found.append(s)
        elif returns(s):
            stack += statements(s)
    return found


def with_fields(spec: gast.arguments, given: Mapping[str, Names]) -> gast.arguments:
    """The parameters `spec`, changed: a name for each field of those in `given`."""
    positional = [*spec.posonlyargs, *spec.args]
    plain = len(positional) - len(spec.defaults)
    defaults = dict(zip([p.id for p in positional[plain:]], spec.defaults, strict=True))
    only = dict(zip([p.id for p in spec.kwonlyargs], spec.kw_defaults, strict=True))
    for group in ("posonlyargs", "args", "kwonlyargs"):
        new: list[gast.Name] = []
        for p in getattr(spec, group):
            names = given.get(p.id)
            new += (
                [p]
                if names is None
                else [name_of(n, p, gast.Param()) for n in names.values()]
            )
        setattr(spec, group, new)
    left = [*spec.posonlyargs, *spec.args]
    first = len(left)
    while first and left[first - 1].id in defaults:
        first -= 1  # behind a default everything has one
    spec.defaults = [defaults[p.id] for p in left[first:]]
    spec.kw_defaults = [only.get(p.id) for p in spec.kwonlyargs]
    return spec


def literal(
    at: gast.AST, shape: Shape, names: Names, path: tuple[Key, ...]
) -> gast.AST:
    """A structure, written out of the names of its fields."""
    values = [
        name_of(names[(*path, k)], at)
        if field is None
        else literal(at, field, names, (*path, k))
        for k, field in shape.fields
    ]
    made: gast.AST
    if shape.kind == "tuple":
        made = gast.Tuple(values, gast.Load())
    elif shape.kind in ("dict", "record", "records", "view"):
        keys = [gast.copy_location(gast.Constant(k, None), at) for k, _ in shape.fields]
        made = gast.Dict(keys, values)
    else:
        word = "structure" if shape.cls is None else shape.cls.__name__
        named = name_of(word, at)
        keywords = [
            gast.copy_location(gast.keyword(str(k), v), at)
            for (k, _), v in zip(shape.fields, values, strict=True)
        ]
        made = gast.Call(named, [], keywords)
    setattr(made, SHAPE, shape)
    return gast.copy_location(made, at)


def element(
    at: gast.AST, array: gast.AST, index: gast.AST, ctx: gast.AST | None = None
) -> gast.AST:
    made = gast.Subscript(array, index, ctx or gast.Load())
    return gast.copy_location(made, at)


def assigned(s: gast.Assign, pairs: Sequence[tuple[str, gast.AST]]) -> gast.AST:
    """One assignment of values to names, in the place of `s`."""
    targets = [name_of(n, s, gast.Store()) for n, _ in pairs]
    values = [v for _, v in pairs]
    if len(pairs) == 1:
        return gast.copy_location(assign(targets, values[0]), s)
    target = gast.copy_location(gast.Tuple(targets, gast.Store()), s)
    value = gast.copy_location(gast.Tuple(values, gast.Load()), s)
    return gast.copy_location(assign([target], value), s)


def read_field(at: gast.AST, kind: str, key: Key) -> gast.AST:
    """A read of a field of the tuple, or the named tuple, `at`."""
    if kind == "tuple":
        made = element(at, at, gast.copy_location(gast.Constant(key, None), at))
    else:
        made = gast.copy_location(gast.Attribute(at, key, gast.Load()), at)
    return made


def elements_of(e: gast.AST) -> list[gast.AST]:
    """The values of a tuple, or of a named one, that is written out."""
    shape: Shape | None = getattr(e, SHAPE, None)
    if shape is not None and shape.kind == "named tuple" and isinstance(e, gast.Call):
        return [k.value for k in e.keywords]
    return list(e.elts) if isinstance(e, gast.Tuple) else []


def key_of(index: gast.AST) -> object:
    match index:
        case gast.Constant(value=str() as key):
            return key
    return literal_integer(index)


def is_nested(e: gast.Tuple) -> bool:
    """Is there a structure in a tuple?"""
    inner = (gast.Tuple, gast.Dict)
    return any(isinstance(x, inner) or hasattr(x, SHAPE) for x in e.elts)


def names_in_tuples(node: gast.AST) -> frozenset[str]:
    """The names that stand in tuples which are built in a definition."""
    tuples = (n for n in nodes_of(node) if isinstance(n, gast.Tuple))
    return frozenset(
        e.id
        for n in tuples
        if isinstance(n.ctx, gast.Load)
        for e in n.elts
        if isinstance(e, gast.Name)
    )


def may_change(node: gast.AST, names: set[str]) -> bool:
    """May a definition write to what these names stand for, or to parts of it, perhaps
    under other names?
    """
    own = set(names)
    while True:
        before = len(own)
        for n in nodes_of(node):
            match n:
                case gast.Assign(targets=[gast.Name(id=name)], value=value):
                    if own & read_in(value):
                        own.add(name)
        if len(own) == before:
            break
    for n in nodes_of(node):
        match n:
            case gast.Subscript(ctx=gast.Store()) | gast.Attribute(ctx=gast.Store()):
                if own & read_in(n):
                    return True
            case gast.Expr(value=gast.Call(args=args)):
                if any(own & read_in(a) for a in args):
                    return True
    return False


class Returned(gast.NodeTransformer):  # type: ignore[misc]
    """Returns what is at these paths of a structure, whose `values` are told."""

    def __init__(
        self,
        values: Callable[[gast.AST], Mapping[tuple[Key, ...], gast.AST] | None],
        paths: Sequence[tuple[Key, ...]],
    ) -> None:
        self.values, self.paths = values, paths

    def visit_FunctionDef(self, node: gast.FunctionDef) -> gast.AST:
        return node

    def visit_Lambda(self, node: gast.Lambda) -> gast.AST:
        return node

    def visit_Return(self, node: gast.Return) -> gast.AST:
        values = self.values(node.value)
        assert values is not None
        found = [values[p] for p in self.paths]
        made = gast.copy_location(gast.Tuple(found, gast.Load()), node)
        return gast.copy_location(gast.Return(made), node)
