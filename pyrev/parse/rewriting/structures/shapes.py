"""What a structure is made of, and which classes make one."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import FunctionType

import gast

from pyrev.ir.nodes import fresh
from pyrev.parse.bindings import identifiers, local_names, nodes_of
from pyrev.parse.grounds import lookup as stands_for
from pyrev.parse.rewriting.helper_texts import definition_of
from pyrev.parse.rewriting.made_texts import Lookup, object_named
from pyrev.parse.source import plain

Key = str | int


@dataclass(frozen=True, slots=True)
class Shape:
    """What a structure is made of: its fields in order, each a structure or a value.

    `kind` says how fields are read: of a "dict" by subscript, of an "object" by
    attribute, of a "tuple" by number, of a "named tuple" by attribute or number, and of
    a "record" or of "records", an array of them, by subscript or attribute; a "view" is
    one of them, with its place at `AT`. `cls` is the class, where it is known. The
    `cells` are fields with numbers that somebody may write to: each is an array with
    one element.
    """

    kind: str
    fields: tuple[tuple[Key, Shape | None], ...]
    cls: type | None = None
    cells: frozenset[Key] = frozenset()

    def get(self, key: object) -> Shape | Missing | None:
        """A field: a structure, or None for a value; `MISSING` if there is none."""
        for own, field in self.fields:
            if own == key and type(own) is type(key):
                return field
        return MISSING

    def leaves(self) -> Iterator[tuple[Key, ...]]:
        """The paths to the values, in order."""
        for key, field in self.fields:
            if field is None:
                yield (key,)
            else:
                for path in field.leaves():
                    yield (key, *path)

    def at(self, path: Sequence[Key]) -> Shape | Missing | None:
        """What is at the end of a path."""
        found: Shape | Missing | None = self
        for key in path:
            if not isinstance(found, Shape):
                return MISSING
            found = found.get(key)
        return found

    def is_cell(self, path: Sequence[Key]) -> bool:
        """Is there a number at the end of a path that all names of it share?"""
        around = self.at(path[:-1])
        return isinstance(around, Shape) and path[-1] in around.cells


class Missing:
    """No such field."""


MISSING = Missing()

#: The kind of a result that may be None: a truth value, and what there is otherwise.
MAYBE = "maybe"


def maybe(count: int) -> Shape:
    """So many values, or None."""
    return Shape(MAYBE, (("found", None), *((k, None) for k in range(count))))


#: Where the place of a view is among its fields.
AT = ""
#: The attribute of a node that holds the shape of the structure that it builds.
SHAPE = "pyrev_structure"
#: The attribute of a definition with what it returned before that was taken apart.
TAKEN_APART = "pyrev_taken_apart"
#: The names of the values of a structure, by their paths.
Names = dict[tuple[Key, ...], str]


@dataclass(frozen=True, slots=True)
class Structured:
    """A definition without structures: `given` are the names of the fields of its
    parameters, `result` what it returned before that was taken apart.
    """

    node: gast.AST
    given: Mapping[str, Names]
    result: Shape | None = None


def field_names(node: gast.AST, given: Mapping[str, Shape]) -> dict[str, Names]:
    """The names of the parameters for the fields of those with these shapes."""
    taken = {*identifiers(node)}
    return {n: names_for(n, shape, taken) for n, shape in given.items()}


def names_for(name: str, shape: Shape, taken: set[str]) -> Names:
    found = {}
    for path in shape.leaves():
        words = [name, *map(str, path)]
        if shape.kind == "view" and path == (AT,):
            words = [name, "at"]
        own = "_".join(w if w.isidentifier() or w.isdigit() else "k" for w in words)
        found[path] = fresh(own, taken)
    return found


def is_structure_class(value: object) -> bool:
    """Is it the class of a named tuple, a dataclass, or `dict`?"""
    if not isinstance(value, type):
        return False
    if issubclass(value, tuple) and hasattr(value, "_fields"):
        return True
    return dataclasses.is_dataclass(value) or value is dict


def class_called(func: gast.AST, local: frozenset[str], lookup: Lookup) -> type | None:
    """The class of structures that is called, if it is one."""
    found = object_named(func, local, lookup)
    return found if isinstance(found, type) and is_structure_class(found) else None


def is_new(value: gast.AST, local: frozenset[str], lookup: Lookup) -> bool:
    """Does an expression make a structure that has no other name?"""
    made = isinstance(value, gast.Call) and (
        class_called(value.func, local, lookup) is not None
    )
    return made or isinstance(value, gast.Dict)


def class_fields(cls: type) -> tuple[str, ...]:
    """The fields of a named tuple or of a dataclass, in order."""
    if dataclasses.is_dataclass(cls):
        return tuple(f.name for f in dataclasses.fields(cls))
    return tuple(getattr(cls, "_fields", ()))


def defaults_of(cls: type) -> dict[str, object]:
    """The defaults of its fields that are numbers, texts or None."""
    found: dict[str, object] = dict(getattr(cls, "_field_defaults", {}))
    if dataclasses.is_dataclass(cls):
        fields = dataclasses.fields(cls)
        found = {f.name: f.default for f in fields if f.init}
    plain = (bool, int, float, str, type(None))
    return {n: v for n, v in found.items() if isinstance(v, plain)}


def only_keeps(cls: type) -> bool:
    """Does a call of the class only keep what it is given?"""
    if cls is dict:
        return True
    if dataclasses.is_dataclass(cls):
        own = "__post_init__" not in dir(cls)
        return own and all(f.init for f in dataclasses.fields(cls))
    return "__new__" not in vars(cls) or cls.__bases__ == (tuple,)


def can_be_made(shape: Shape) -> bool:
    """Can a structure of this shape be made of its fields?"""
    if shape.kind in ("record", "records", "view") or shape.cells:
        return False
    if shape.cls is not None and not (
        is_structure_class(shape.cls) and only_keeps(shape.cls)
    ):
        return False
    return all(f is None or can_be_made(f) for _, f in shape.fields)


def filled_fields(e: gast.Call, cls: type) -> dict[str, gast.AST] | None:
    """The fields that a call of a class fills; None if it can't be told."""
    names = class_fields(cls)
    if not names or not only_keeps(cls) or len(e.args) > len(names):
        return None
    if any(isinstance(a, gast.Starred) for a in e.args):
        return None
    found: dict[str, gast.AST] = dict(zip(names, e.args, strict=False))
    for k in e.keywords:
        if k.arg not in names or k.arg in found:
            return None
        found[k.arg] = k.value
    for n, v in defaults_of(cls).items():
        if n not in found:
            found[n] = gast.copy_location(gast.Constant(v, None), e)
    if len(found) != len(names):
        return None
    return {n: found[n] for n in names}


def may_build(function: FunctionType) -> bool:
    """May a function return a structure that its caller can take apart?"""
    code = function.__code__
    found = [stands_for(function, n) for n in (*code.co_names, *code.co_freevars)]
    if any(is_structure_class(v) or isinstance(v, FunctionType) for v in found):
        return True
    texts = any(isinstance(c, (str, tuple)) for c in code.co_consts[1:])
    return texts or "_replace" in code.co_names or _returns_nested(function)


def _returns_nested(function: FunctionType) -> bool:
    """Does a function return a tuple in which another one is written out?"""
    node = definition_of(function)
    return node is not None and any(
        isinstance(n, gast.Return)
        and isinstance(n.value, gast.Tuple)
        and any(isinstance(e, gast.Tuple) for e in n.value.elts)
        for n in nodes_of(node)
    )


def may_have(node: gast.AST, lookup: Lookup) -> bool:
    """Is there anything in a definition that may be a structure?"""
    local = local_names(node)
    for n in nodes_of(node):
        match n:
            case gast.Dict() | gast.Starred():
                return True
            case gast.Return(value=gast.Tuple() | gast.List()):
                return True
            case gast.Call(func=func) if class_called(func, local, lookup) is not None:
                return True
            case gast.Return(value=gast.AST() as value) if hasattr(value, SHAPE):
                return True
            case gast.Call(func=gast.Name(id=name)) if name not in local:
                function = plain(lookup(name))
                if function is not None and may_build(function):
                    return True
    return False


def field_of(
    name: str, path: tuple[Key, ...], shape: Shape, key: object, index: bool
) -> tuple[str, tuple[Key, ...], Shape | Missing | None]:
    """The place of a field behind `path` in the structure `name`, and what is there;
    it is read by `index`, or as an attribute.
    """
    own: Shape | Missing | None = MISSING
    by_index = shape.kind in ("dict", "tuple")
    if shape.kind == "named tuple" and index and isinstance(key, int):
        if -len(shape.fields) <= key < len(shape.fields):
            key = shape.fields[key][0]
            own = shape.get(key)
    elif shape.kind == "tuple" and isinstance(key, int) and index:
        key = key + len(shape.fields) if key < 0 else key
        own = shape.get(key)
    elif shape.kind in ("record", "records", "view"):
        own = shape.get(key) if isinstance(key, str) and key != AT else MISSING
    elif index == by_index:
        own = shape.get(key)
    return name, (*path, key if isinstance(key, (str, int)) else ""), own
