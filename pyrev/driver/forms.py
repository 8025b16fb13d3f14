"""What the arguments of a call are made of, beside real numbers and arrays of them.

None, texts, functions and dtypes decide what a text means; structures
(dictionaries, named tuples, dataclasses, objects with attributes, arrays of records)
are taken apart: each number and each array in them is an argument of its own. So are
complex numbers, and arrays of them, whose parts are views: what is written to a part is
written to the caller's array.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import BuiltinFunctionType, FunctionType, SimpleNamespace
from typing import Any

import numpy as np

from pyrev.driver.cells import Cell, has_cells
from pyrev.driver.complex_parts import apart, joined
from pyrev.ir.diagnostics import ArgumentError
from pyrev.parse.forms import PLAIN, Forms, Path
from pyrev.parse.rewriting.complex_numbers.arguments import COMPLEX, pairs_in
from pyrev.parse.rewriting.known_kinds import tested
from pyrev.parse.rewriting.structures.objects import (
    USUAL,
    at_path,
    fields_of,
    shape_of,
)
from pyrev.parse.rewriting.structures.shapes import MAYBE, Key, Shape, only_keeps
from pyrev.parse.streams import LEGACY, STREAM
from pyrev.runtime.device import is_array, is_device

#: How a text reads each parameter: the fields it names, None where it needs all.
Used = Mapping[str, Sequence[tuple[str, ...]] | None]
#: The fields of each parameter, or of what is in it, that may be assigned to.
Stored = Mapping[str, Collection[str]]


#: What the tests in a text ask of each parameter.
Asked = Mapping[str, Collection[str]]
NOTHING: Asked = {}


def all_usual(values: Mapping[str, Any]) -> bool:
    """Are all of these plainly numbers and arrays?"""
    for value in values.values():  # of every call: a loop is faster than `all`
        kind = type(value)
        if kind not in USUAL or (kind is np.ndarray and value.dtype.kind in "Vc"):
            return False
    return True


def forms_of(
    values: Mapping[str, Any], used: Used, stored: Stored, asked: Asked = NOTHING
) -> Forms:
    """The forms of these arguments, of which tests have `asked`."""
    kinds = tuple((n, tested(v, asked[n])) for n, v in values.items() if n in asked)
    if all_usual(values):
        return replace(PLAIN, kinds=kinds) if kinds else PLAIN
    fixed: list[tuple[Path, str | None]] = []
    functions: list[tuple[Path, object]] = []
    shapes: list[tuple[str, Shape]] = []
    for name, value in values.items():
        paths = used.get(name)
        shape = shape_of(value, paths, stored.get(name, ()))
        if shape is not None:
            shapes.append((name, shape))
        leaves = [()] if shape is None else [*shape.leaves()]
        for path in leaves:
            leaf = at_path(value, path)
            if leaf is None or isinstance(leaf, str):
                fixed.append(((name, *path), leaf))
            elif isinstance(leaf, (np.random.Generator, np.random.RandomState)):
                legacy = isinstance(leaf, np.random.RandomState)
                functions.append(((name, *path), LEGACY if legacy else STREAM))
            elif _is_function(leaf):
                functions.append(((name, *path), leaf))
    return Forms(tuple(fixed), tuple(functions), tuple(shapes), kinds)


def flattened(
    values: Mapping[str, Any],
    leaves: Sequence[tuple[str, Path]],
    shapes: Sequence[tuple[str, Shape]],
) -> tuple[dict[str, Any], tuple[Cell, ...]]:
    """The numbers and arrays in the arguments of a call, by the program's names; and
    the cells, each of which is an array there.

    Raises `ArgumentError` where a number that may be written is also given otherwise.
    """
    found = {own: at_path(values[str(path[0])], path[1:]) for own, path in leaves}
    of = dict(shapes)
    if not any(has_cells(shape) for shape in of.values()):
        return found, ()
    cells: dict[tuple[int, Key], Cell] = {}
    owners, others = [], {}
    for own, (param, *path) in leaves:
        if not path:
            continue
        around = of[str(param)].at(path[:-1])
        owner, key = at_path(values[str(param)], path[:-1]), path[-1]
        owners.append(owner)  # while it is there no other has its number
        place = id(owner), key
        if not isinstance(around, Shape) or key not in around.cells:
            others[place] = own
            continue
        if place not in cells:
            cells[place] = Cell(own, owner, key, found[own])
        found[own] = cells[place].array
    both = [(c.name, others[place]) for place, c in cells.items() if place in others]
    for name, other in both:
        raise ArgumentError(f"`{name}` and `{other}` are one number, which is written")
    return found, tuple(cells.values())


def _is_function(value: object) -> bool:
    kinds = (FunctionType, BuiltinFunctionType, np.ufunc, type, np.dtype)
    if isinstance(value, kinds):
        return True
    # What is read for a function is found again by it.
    return callable(value) and isinstance(value, Hashable) and not is_device(value)


# ------------------------------------------------------------------ results


def built(
    shape: Shape | None, values: Any, given: Collection[Any] | None = None
) -> Any:
    """The structure of this shape whose numbers and arrays these are, in order; what
    there is if it has none.

    What is a complex array, or a part of one, among those that were `given` is that.
    """
    if shape is None:
        return values
    left = iter(values)
    arrays = [v for v in _arrays_in(given or ()) if v.dtype.kind == "c"]

    def make(shape: Shape) -> Any:
        found = {k: next(left) if f is None else make(f) for k, f in shape.fields}
        if shape.kind == COMPLEX.kind:
            return joined(found["real"], found["imag"], arrays)
        return _made(shape, found)

    return make(shape)


def where_found(shape: Shape, values: Sequence[Any], result: Sequence[Any]) -> Any:
    """Values like the parts of a result: there are none if that is None."""
    return (result[0], *values[1:]) if shape.kind == MAYBE else values


def _arrays_in(values: Collection[Any], around: tuple[Any, ...] = ()) -> Iterator[Any]:
    """The arrays in arguments, those in structures too."""
    for value in values:
        if type(value) is np.ndarray:
            yield value
        elif not any(v is value for v in around):
            kind, fields = fields_of(value)
            inner = [*fields.values()] if kind else []
            yield from _arrays_in(inner, (*around, value))


def _made(shape: Shape, found: Mapping[Key, Any]) -> Any:
    match shape.kind:
        case COMPLEX.kind:
            return joined(*found.values())
        case "dict" | "record" | "records":
            return dict(found)
        case "tuple":
            return tuple(found.values())
        case "list":
            return list(found[0])
        case "list of values":
            return list(found.values())
        case "list of tuples":
            return list(zip(*found.values(), strict=True))
        case kind if kind == MAYBE:
            there, *values = found.values()
            return None if not there else _single(values)
    named = {str(k): v for k, v in found.items()}
    if shape.kind == "named tuple" and shape.cls is not None:
        return shape.cls(**named)
    cls = shape.cls
    if cls is not None and dataclasses.is_dataclass(cls) and only_keeps(cls):
        return cls(**named)
    return SimpleNamespace(**named)


def _single(values: Sequence[Any]) -> Any:
    """One value, or a tuple of several."""
    return values[0] if len(values) == 1 else tuple(values)


def in_order(shape: Shape | None, value: Any) -> Any:
    """The numbers and arrays of a structure of this shape, in order, with None for what
    is None, or missing in a dictionary; the value itself if it has no shape.

    Raises `ArgumentError` for what has another shape.
    """
    if shape is None:
        return value
    found: list[Any] = []

    def add(shape: Shape, value: Any, path: str) -> None:
        if value is None:
            found.extend([None for _ in shape.leaves()])
            return
        if shape.kind == COMPLEX.kind:
            found.extend(apart(value))
            return
        if shape.kind == "list":
            found.append(np.asarray(value))
            return
        if shape.kind == MAYBE:
            found.append(None)
            found.extend(value if len(shape.fields) > 2 else [value])
            return
        if shape.kind == "list of tuples":
            if any(np.shape(row) != (len(shape.fields),) for row in value):
                raise ArgumentError(
                    f"{path or 'the cotangent'} should be like what is returned, a list"
                    f" of tuples of {len(shape.fields)}"
                )
            for k in range(len(shape.fields)):
                column = [row[k] for row in value]
                whole = any(v is not None for v in column) or not column
                found.append(np.asarray(column) if whole else None)
            return
        if shape.kind == "list of values" and isinstance(value, (list, np.ndarray)):
            value = tuple(value)
        _, fields = fields_of(value)
        keys = [k for k, _ in shape.fields]
        more = [k for k in fields if k not in keys]
        fewer = len(fields) < len(keys) and not isinstance(value, Mapping)
        if not fields or more or fewer:
            raise ArgumentError(
                f"{path or 'the cotangent'} should be like what is returned, with"
                f" {', '.join(map(repr, keys))}; it is {type(value).__name__}"
            )
        for key, field in shape.fields:
            if field is None:
                found.append(fields.get(key))
            else:
                add(field, fields.get(key), f"{path}[{key!r}]")

    add(shape, value, "")
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Structures:
    """The structures among the arguments of a call: where in them the program's
    parameters are (`leaves`), and which of these are floats.

    Of the parameters in `single` fields were asked for; `cells` are parameters with
    one element that stand for numbers.
    """

    leaves: Sequence[tuple[str, Path]]
    shapes: Mapping[str, Shape]
    given: Mapping[str, Any]
    floats: Collection[str]
    single: Collection[str] = ()
    cells: Collection[str] = ()

    def by_program_names(self, names: Mapping[str, Any]) -> dict[str, Any]:
        """What is given by the user's names (``"p"`` with a structure, ``"p.k"``) by
        the program's.
        """
        found: dict[str, Any] = {}
        by_path = self.dotted()
        own = {n: path for path, n in by_path.items() if path != n}
        for name, value in names.items():
            if name in self.shapes:
                inside = {path: n for n, path in self.leaves if path[0] == name}
                found |= _inside(value, (name,), inside)
            elif name in own:
                raise ArgumentError(
                    f"`{name}` is no argument: a field is named as in {own[name]!r}"
                )
            else:
                found[by_path.get(name, name)] = value
        return found

    def as_number(self, name: str, value: Any) -> Any:
        """What belongs to a parameter, without the axis of a cell."""
        if name not in self.cells:
            return value
        return value[..., 0] if value.ndim > 1 else value.dtype.type(value[0])

    def dotted(self) -> dict[str, str]:
        """The program's names by the user's, ``"p.k"``."""
        return {".".join(map(str, path)): own for own, path in self.leaves}

    def whole(
        self, tangents: Mapping[str, Any], given: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Tangents of what is written by the user's names, with one for both parts of
        a complex array; a part that is not written has that which was `given`, by the
        program's names.
        """
        found = dict(tangents)
        own = self.dotted()
        pairs = [path for n, shape in self.shapes.items() for path in _pairs(n, shape)]
        for path in pairs:
            name = ".".join(map(str, path))
            parts = [f"{name}.{part}" for part, _ in COMPLEX.fields]
            written = [tangents[n] for n in parts if n in tangents]
            if not written:
                continue
            like = written[0]
            both = [
                found.pop(n, np.broadcast_to(given.get(own[n], 0.0), like.shape))
                for n in parts
            ]
            found[name] = joined(*(v.astype(like.dtype, copy=False) for v in both))
        return found

    def grouped(self, entries: Mapping[str, Any]) -> dict[str, Any]:
        """Gradients by the program's names as the user has the arguments: a structure
        for one all of whose floats are there, with zeros for floats that the function
        does not read and None for what has no gradient, and ``"p.k"`` for fields.
        """
        entries = {n: self.as_number(n, v) for n, v in entries.items()}
        of = dict(self.leaves)
        alone = {own: name for name, own in self.dotted().items()}
        parts = {str(of[n][0]) for n in self.floats if n in of and n not in entries}
        by_path = {of[n]: v for n, v in entries.items() if n in of}
        found: dict[str, Any] = {}
        for own, value in entries.items():
            param = str(of.get(own, (own,))[0])
            if param not in self.shapes:
                found[own] = value
            elif param in self.single or param in parts:
                found[alone[own]] = value
            elif param not in found:
                found[param] = _gradient(self.given[param], (param,), by_path)
        return found


def _pairs(name: str, shape: Shape) -> Iterator[Path]:
    """Where in a parameter complex numbers are."""
    for path in pairs_in(shape):
        yield (name, *path)


def _gradient(
    value: Any, path: Path, by_path: Mapping[Path, Any], around: tuple[Any, ...] = ()
) -> Any:
    """The gradient of what is at `path` in an argument, within those `around` it."""
    if path in by_path:
        return by_path[path]
    kind, fields = fields_of(value)
    if kind:
        if any(v is value for v in around):
            return None  # an object that holds itself
        around = (*around, value)
        inner = {
            k: _gradient(v, (*path, k), by_path, around) for k, v in fields.items()
        }
        own = {p[len(path)] for p in by_path if p[: len(path)] == path}
        # What the class has, and not the object.
        inner |= {k: by_path.get((*path, k)) for k in own if k not in fields}
        if isinstance(value, list):
            return [*inner.values()]
        return _made(Shape(kind, (), type(value)), inner)
    if isinstance(value, (float, np.floating)):
        return type(value)(0.0)
    if is_array(value) and value.dtype.kind == "f":
        return np.zeros(value.shape, value.dtype)
    return None


def _inside(value: Any, path: Path, names: Mapping[Path, str]) -> dict[str, Any]:
    """What is in a structure by the program's names; None is left out."""
    if value is None:
        return {}
    if path in names:
        return {names[path]: value}
    parts = [(*path, part) for part, _ in COMPLEX.fields]
    if all(p in names for p in parts):
        found = zip(parts, apart(value), strict=True)
        return {names[p]: v for p, v in found if v is not None}
    kind, fields = fields_of(value)
    if not kind or not any(p[: len(path)] == path for p in names):
        raise ArgumentError(
            f"`{'.'.join(map(str, path))}` is no field with a tangent, a cotangent or a"
            f" buffer; there are {', '.join('.'.join(map(str, p)) for p in names)}"
        )
    inside: dict[str, Any] = {}
    for key, part in fields.items():
        inside |= _inside(part, (*path, key), names)
    return inside


def by_fields(
    wrt: Sequence[object],
    leaves: Sequence[tuple[str, Path]],
    parameters: Sequence[str],
    floats: Collection[str],
) -> Iterator[object]:
    """What is asked for, with the program's names for ``"p"``, ``"p.k"`` and the number
    of a parameter that is a structure: those of the `floats` in it, if there are any.
    """
    for one in wrt:
        name = one
        if isinstance(one, int) and -len(parameters) <= one < len(parameters):
            name = parameters[one]
        inside = [
            own
            for own, path in leaves
            if len(path) > 1 and (".".join(map(str, path)) + ".").startswith(f"{name}.")
        ]
        own = [n for n in inside if n in floats]
        if inside:
            yield from own or inside
        else:
            yield one
