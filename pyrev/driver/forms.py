"""What the arguments of a call are made of, beside numbers and arrays.

None, texts and functions decide what the text of a function means; structures
(dictionaries, named tuples, dataclasses, objects with attributes, arrays of records)
are taken apart: each number and each array in them is an argument of its own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import BuiltinFunctionType, FunctionType, SimpleNamespace
from typing import Any

import numpy as np

from pyrev.ir.diagnostics import ArgumentError
from pyrev.parse.forms import PLAIN, Forms, Path
from pyrev.parse.rewriting.structures.shapes import Key, Shape, only_keeps
from pyrev.parse.streams import LEGACY, STREAM
from pyrev.runtime.device import is_array, is_device

#: What needs no look: numbers and arrays.
_USUAL = frozenset(
    [np.ndarray, float, int, bool, np.float64, np.float32, np.int64, np.int32, np.bool_]
)

#: How a text reads each parameter: the fields it names, None where it needs all.
Used = Mapping[str, Sequence[tuple[str, ...]] | None]


def all_usual(values: Mapping[str, Any]) -> bool:
    """Are all of these plainly numbers and arrays?"""
    for value in values.values():  # of every call: a loop is faster than `all`
        kind = type(value)
        if kind not in _USUAL or (kind is np.ndarray and value.dtype.kind == "V"):
            return False
    return True


def forms_of(values: Mapping[str, Any], used: Used) -> Forms:
    """The forms of these arguments."""
    if all_usual(values):
        return PLAIN
    fixed: list[tuple[Path, str | None]] = []
    functions: list[tuple[Path, object]] = []
    shapes: list[tuple[str, Shape]] = []
    for name, value in values.items():
        paths = used.get(name)
        shape = _shape(value, paths)
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
    return Forms(tuple(fixed), tuple(functions), tuple(shapes))


def flattened(
    values: Mapping[str, Any], leaves: Sequence[tuple[str, Path]]
) -> dict[str, Any]:
    """The numbers and arrays in the arguments of a call, by the program's names."""
    return {own: at_path(values[str(path[0])], path[1:]) for own, path in leaves}


def _is_function(value: object) -> bool:
    if isinstance(value, (FunctionType, BuiltinFunctionType, np.ufunc, type)):
        return True
    # What is read for a function is found again by it.
    return callable(value) and isinstance(value, Hashable) and not is_device(value)


def _shape(value: object, paths: Sequence[tuple[str, ...]] | None) -> Shape | None:
    """The shape of a structure, of which a text reads these fields; None for others."""
    kind, fields = _fields(value)
    if not kind:
        return None
    if paths is not None and kind != "tuple":
        inner: dict[str, list[tuple[str, ...]] | None] = {}
        for first, *rest in paths:
            own = inner.setdefault(first[1:], [])
            if own is not None and rest:
                own.append(tuple(rest))
            if first[1:] not in map(str, fields):
                raise ArgumentError(f"this {kind} has no {first[1:]!r}, which is read")
        # A field that the text reads by itself may be a structure as a whole.
        fields = {k: v for k, v in fields.items() if k in inner}
    else:
        inner = {}
    cls = type(value) if kind in ("named tuple", "object") else None
    made = tuple((k, _shape(v, inner.get(str(k)) or None)) for k, v in fields.items())
    return Shape(kind, made, cls) if made or kind == "tuple" else None


def _fields(value: Any) -> tuple[str, Mapping[Key, Any]]:
    """What kind of structure a value is, and its fields; "" if it is none."""
    kind: type = type(value)
    dtype = getattr(value, "dtype", None)
    if kind in _USUAL and getattr(dtype, "kind", "") != "V":
        return "", {}
    if isinstance(value, Mapping):
        keys = all(isinstance(k, (str, int)) for k in value)
        return ("dict", value) if keys else ("", {})
    if isinstance(value, tuple):
        names = getattr(value, "_fields", None)
        if names is not None:
            return "named tuple", dict(zip(names, value, strict=True))
        return "tuple", dict(enumerate(value))
    if isinstance(value, (np.ndarray, np.void)):
        names = value.dtype.names or ()
        word = "record" if isinstance(value, np.void) else "records"
        return (word, {n: value[n] for n in names}) if names else ("", {})
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return "object", {
            f.name: getattr(value, f.name) for f in dataclasses.fields(value)
        }
    if isinstance(value, (str, np.generic, type, list, set)) or value is None:
        return "", {}
    if callable(value) or is_device(value):
        return "", {}
    own = getattr(value, "__dict__", None)
    if isinstance(own, dict) and own:
        simple = all(map(_may_be_field, own.values()))
        return ("object", own) if simple else ("", {})
    typed = getattr(kind, "_numba_type_", None)  # an object of a compiled class
    names = getattr(typed, "struct", None)
    if isinstance(names, Mapping):
        return "object", {n: getattr(value, n) for n in names}
    return "", {}


def _may_be_field(value: object) -> bool:
    """May this be in an object that holds numbers and arrays, and nothing else?"""
    usual = isinstance(value, (np.ndarray, str, tuple, dict)) or value is None
    return usual or type(value) in _USUAL or is_device(value) or callable(value)


def at_path(value: Any, path: Sequence[Key]) -> Any:
    """What is in a structure at the end of a path."""
    for key in path:
        kind, fields = _fields(value)
        try:
            value = fields[key]
        except KeyError:
            raise ArgumentError(f"there is no {key!r} in this {kind}") from None
    return value


# ------------------------------------------------------------------ results


def built(shape: Shape | None, values: Any) -> Any:
    """The structure of this shape whose numbers and arrays these are, in order; what
    there is if it has none.
    """
    if shape is None:
        return values
    left = iter(values)

    def make(shape: Shape) -> Any:
        found = {k: next(left) if f is None else make(f) for k, f in shape.fields}
        return _made(shape, found)

    return make(shape)


def _made(shape: Shape, found: Mapping[Key, Any]) -> Any:
    match shape.kind:
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
    named = {str(k): v for k, v in found.items()}
    if shape.kind == "named tuple" and shape.cls is not None:
        return shape.cls(**named)
    cls = shape.cls
    if cls is not None and dataclasses.is_dataclass(cls) and only_keeps(cls):
        return cls(**named)
    return SimpleNamespace(**named)


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
        if shape.kind == "list":
            found.append(np.asarray(value))
            return
        if shape.kind == "list of tuples":
            rows = np.asarray(value).reshape(-1, len(shape.fields))
            found.extend(rows.T)
            return
        if shape.kind == "list of values" and isinstance(value, (list, np.ndarray)):
            value = tuple(value)
        _, fields = _fields(value)
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

    Of the parameters in `single` fields were asked for.
    """

    leaves: Sequence[tuple[str, Path]]
    shapes: Mapping[str, Shape]
    given: Mapping[str, Any]
    floats: Collection[str]
    single: Collection[str] = ()

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

    def dotted(self) -> dict[str, str]:
        """The program's names by the user's, ``"p.k"``."""
        return {".".join(map(str, path)): own for own, path in self.leaves}

    def grouped(self, entries: Mapping[str, Any]) -> dict[str, Any]:
        """Gradients by the program's names as the user has the arguments: a structure
        for one all of whose floats are there, with zeros for floats that the function
        does not read and None for what has no gradient, and ``"p.k"`` for fields.
        """
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


def _gradient(value: Any, path: Path, by_path: Mapping[Path, Any]) -> Any:
    """The gradient of what is at `path` in an argument."""
    if path in by_path:
        return by_path[path]
    kind, fields = _fields(value)
    if kind:
        inner = {k: _gradient(v, (*path, k), by_path) for k, v in fields.items()}
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
    kind, fields = _fields(value)
    if not kind or not any(p[: len(path)] == path for p in names):
        raise ArgumentError(
            f"`{'.'.join(map(str, path))}` is no field with a tangent, a cotangent or a"
            f" buffer; there are {', '.join('.'.join(map(str, p)) for p in names)}"
        )
    found: dict[str, Any] = {}
    for key, part in fields.items():
        found |= _inside(part, (*path, key), names)
    return found


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
