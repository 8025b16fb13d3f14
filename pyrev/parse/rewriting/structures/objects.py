"""What a text finds in structures: dictionaries, tuples, objects, records."""

from __future__ import annotations

import dataclasses
import inspect
import sys
from collections.abc import Collection, Mapping, Sequence
from enum import Enum
from types import MemberDescriptorType, SimpleNamespace
from typing import Any

import numpy as np

from pyrev.ir.diagnostics import ArgumentError
from pyrev.parse.rewriting.complex_numbers.arguments import COMPLEX
from pyrev.parse.rewriting.field_reads import LENGTH
from pyrev.parse.rewriting.structures.method_reads import attributes_of, reads
from pyrev.parse.rewriting.structures.shapes import Key, Shape
from pyrev.parse.source import library_of
from pyrev.runtime.device import is_device

#: What needs no look: numbers and arrays.
USUAL = frozenset(
    [np.ndarray, float, int, bool, np.float64, np.float32, np.int64, np.int32, np.bool_]
)

#: The types of complex numbers.
COMPLEX_TYPES = (complex, np.complex64, np.complex128)

#: What a cell may hold: what arithmetic makes of it is the same in an array.
CELLS: dict[type, str] = {
    bool: "bool",
    int: "int64",
    float: "float64",
    np.bool_: "bool",
    np.int64: "int64",
    np.float64: "float64",
}


def shape_of(
    value: object,
    paths: Sequence[tuple[str, ...]] | None,
    stored: Collection[str] = (),
    around: tuple[object, ...] = (),
) -> Shape | None:
    """The shape of a structure, of which a text reads these fields, and may assign to
    those that are `stored`; None for others. It is in the structures `around` it.
    """
    kind, fields = fields_of(value)
    if not kind or any(v is value for v in around):
        return None
    if kind == COMPLEX.kind:
        return COMPLEX
    around = (*around, value)
    if paths is not None and LENGTH in paths:
        paths = [p for p in paths if p != LENGTH] if kind == "records" else None
    if kind in ("object", "named tuple") and (paths is None or paths):
        read = reads(type(value), fields, paths)
        paths, stored = read.paths, {*stored, *read.stored}
    inner: dict[str, list[tuple[str, ...]] | None] = {}
    if paths is not None and kind != "tuple":
        for first, *rest in paths:
            own = inner.setdefault(first[1:], [])
            if not rest:
                inner[first[1:]] = None
            elif own is not None:
                own.append(tuple(rest))
            if first[1:] in map(str, fields):
                continue
            if kind != "object" or not hasattr(type(value), first[1:]):
                raise ArgumentError(f"this {kind} has no {first[1:]!r}, which is read")
        # A field that the text reads by itself may be a structure as a whole.
        fields = {k: v for k, v in fields.items() if k in inner}
        fields |= {k: getattr(value, k) for k in inner if k not in map(str, fields)}
    elif kind == "object" and not dataclasses.is_dataclass(value):
        fields = {**_of_class(type(value)), **fields}
        fields = {k: v for k, v in fields.items() if _may_be_field(v, around)}
    named = kind in ("named tuple", "object") or isinstance(value, list)
    cls = type(value) if named else None
    made = tuple(
        (k, shape_of(v, inner.get(str(k)), stored, around)) for k, v in fields.items()
    )
    cells = frozenset(
        k for k in fields if k in stored and is_cell(value, kind, k, fields[k])
    )
    # An object may have methods that read nothing of it.
    empty = kind == "tuple" or (kind == "object" and paths is not None)
    return Shape(kind, made, cls, cells) if made or empty else None


def fields_of(value: Any) -> tuple[str, Mapping[Key, Any]]:
    """What kind of structure a value is, and its fields; "" if it is none."""
    kind: type = type(value)
    dtype = getattr(value, "dtype", None)
    if kind in COMPLEX_TYPES or (
        kind is np.ndarray and dtype in COMPLEX_TYPES and value.ndim
    ):
        return COMPLEX.kind, {"real": value.real, "imag": value.imag}
    if kind in USUAL and getattr(dtype, "kind", "") != "V":
        return "", {}
    if isinstance(value, Mapping):
        keys = all(isinstance(k, (str, int)) for k in value)
        return ("dict", value) if keys else ("", {})
    if isinstance(value, tuple):
        names = getattr(value, "_fields", None)
        if names is not None:
            return "named tuple", dict(zip(names, value, strict=True))
        return "tuple", dict(enumerate(value))
    if isinstance(value, list):  # a list of numbers is to be an array
        inside = any(isinstance(v, np.ndarray) or fields_of(v)[0] for v in value)
        return ("tuple", dict(enumerate(value))) if inside else ("", {})
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
        return ("object", own) if _is_users(kind) else ("", {})
    slots = [n for c in kind.__mro__ for n in _slots(c) if hasattr(value, n)]
    if slots and own is None and _is_users(kind):
        return "object", {n: getattr(value, n) for n in slots}
    typed = getattr(kind, "_numba_type_", None)  # an object of a compiled class
    names = getattr(typed, "struct", None)
    if isinstance(names, Mapping):
        return "object", {n: getattr(value, n) for n in names}
    return "", {}


def _of_class(cls: type) -> dict[Key, Any]:
    """The numbers and arrays that the objects of a class share."""
    found: dict[Key, Any] = {
        n: inspect.getattr_static(cls, n, None) for n in attributes_of(cls)
    }
    return {n: v for n, v in found.items() if type(v) in USUAL}


def _slots(cls: type) -> Sequence[str]:
    """The attributes that a class has room for."""
    found = vars(cls).get("__slots__", ())
    names = (found,) if isinstance(found, str) else tuple(found)
    return [n for n in names if n not in ("__dict__", "__weakref__")]


#: The classes of the standard library whose objects only hold what they are given.
_HOLDERS = ("types.SimpleNamespace", "argparse.Namespace")


def _is_users(cls: type) -> bool:
    """Is this a class of a user's, whose attributes are what they seem to be?"""
    module = cls.__module__
    top = module.partition(".")[0]
    if top in sys.stdlib_module_names or top == "pyrev" or library_of(cls):
        return f"{module}.{cls.__qualname__}" in _HOLDERS
    usual = (object, SimpleNamespace)
    own = [c for c in cls.__mro__ if c not in usual and "__getattribute__" in vars(c)]
    return not own and not issubclass(cls, Enum)


def _may_be_field(value: object, around: Sequence[object]) -> bool:
    """May this be a field of an object of which all fields are taken: a number, an
    array, or what holds some, other than what is `around` it?
    """
    usual = isinstance(value, (np.ndarray, str, tuple, dict)) or value is None
    if usual or type(value) in USUAL or is_device(value) or callable(value):
        return True
    return bool(fields_of(value)[0]) and not any(v is value for v in around)


def at_path(value: Any, path: Sequence[Key]) -> Any:
    """What is in a structure at the end of a path."""
    for key in path:
        kind, fields = fields_of(value)
        if key in fields:
            value = fields[key]
        elif kind == "object" and hasattr(type(value), str(key)):
            value = getattr(value, str(key))
        else:
            raise ArgumentError(f"there is no {key!r} in this {kind}")
    return value


def is_cell(owner: object, kind: str, key: Key, value: object) -> bool:
    """May a function write to this number in a structure of the caller's, so that
    nothing but the number changes?
    """
    if type(value) not in CELLS:
        return False
    if kind == "dict":
        return type(owner) is dict
    if kind != "object":
        return False
    cls = type(owner)
    if isinstance(owner, SimpleNamespace):
        return cls is SimpleNamespace
    if cls.__setattr__ is not object.__setattr__:  # it is frozen, or does more
        return False
    if getattr(cls, "_numba_type_", None) is not None:
        return True
    own = inspect.getattr_static(cls, str(key), None)
    return isinstance(own, MemberDescriptorType) or not hasattr(type(own), "__set__")
