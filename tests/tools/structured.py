"""A function of structures as one of numbers and arrays, for the judge.

Complex numbers, and arrays of them, are structures of two real ones.

Structures are told by Python alone, not by what pyrev takes for one.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Collection, Iterator, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

Path = tuple[Any, ...]
GENERATORS = (np.random.Generator, np.random.RandomState)


def fields(value: Any) -> Mapping[Any, Any] | None:
    """The fields of a structure, None for what is none."""
    if isinstance(value, dict):
        return value
    if is_complex(value):
        return {"real": value.real, "imag": value.imag}
    if isinstance(value, list) and any(fields(v) is not None for v in value):
        return dict(enumerate(value))
    if isinstance(value, tuple):
        names = getattr(value, "_fields", range(len(value)))
        return dict(zip(names, value, strict=True))
    if isinstance(value, (np.ndarray, np.void)) and value.dtype.names:
        return {n: value[n] for n in value.dtype.names}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        own = dataclasses.fields(value)
        return {f.name: getattr(value, f.name) for f in own}
    if isinstance(value, SimpleNamespace):
        return {n: v for n, v in vars(value).items() if not isinstance(v, list)}
    return None


def leaves(value: Any, path: Path = ()) -> dict[Path, Any]:
    """What is in a structure, by path; the value itself under ``()`` if it is none."""
    inside = fields(value)
    if inside is None:
        return {path: value}
    found: dict[Path, Any] = {}
    for key, part in inside.items():
        found |= leaves(part, (*path, key))
    return found


def written_structures(
    before: Mapping[str, Any], after: Mapping[str, Any]
) -> tuple[str, ...]:
    """The structures in which a call left something different."""

    def differ(name: str) -> bool:
        old, new = leaves(before[name]), leaves(after[name])
        pairs = [(np.asarray(v), np.asarray(new[path])) for path, v in old.items()]
        return any(
            a.dtype.kind in "biuf" and a.tobytes() != b.tobytes() for a, b in pairs
        )

    return tuple(n for n, v in before.items() if fields(v) is not None and differ(n))


def replaced(value: Any, new: Mapping[Path, Any], path: Path = ()) -> Any:
    """The same structure of other values."""
    inside = fields(value)
    if inside is None:
        return new[path]
    made = {k: replaced(v, new, (*path, k)) for k, v in inside.items()}
    if isinstance(value, dict):
        return made
    if is_complex(value):
        return joined(value, made["real"], made["imag"])
    if isinstance(value, list):
        return [*made.values()]
    if isinstance(value, tuple):
        return (
            type(value)(**made) if hasattr(value, "_fields") else tuple(made.values())
        )
    if isinstance(value, (np.ndarray, np.void)):
        own = np.empty(value.shape, value.dtype)
        for k, v in made.items():
            own[k] = v
        return own if isinstance(value, np.ndarray) else own[()]
    own = copy.copy(value)  # what a class does when it is called is not done again
    for k, v in made.items():
        object.__setattr__(own, k, v)
    return own


def is_complex(value: Any) -> bool:
    """Is this a complex number, or an array of them?"""
    if isinstance(value, np.ndarray):
        return bool(value.dtype.kind == "c")
    return isinstance(value, (complex, np.complexfloating))


def joined(value: Any, re: Any, im: Any) -> Any:
    """The complex number or array of these parts, where `value` was."""
    if isinstance(value, np.ndarray):
        own = np.empty(np.shape(re), np.result_type(re, im, np.complex64))
        own.real, own.imag = re, im
        return own
    number = complex(re, im)
    if isinstance(value, np.complex64) and isinstance(re, np.float32):
        return np.complex64(number)
    return np.complex128(number) if isinstance(value, np.generic) else number


def like(result: Any, cotangents: Any) -> Any:
    """Cotangents of all that is in a result, in its structure; of what is in none, as
    they are.
    """
    inside = fields(result)
    if cotangents is None or inside is None:
        return cotangents
    if isinstance(result, tuple) and not any(map(fields, result)):
        if not hasattr(result, "_fields"):
            return cotangents
    return replaced(result, dict(zip(leaves(result), cotangents, strict=True)))


def name(path: Path) -> str:
    """What an argument is called that is part of one."""
    return ".".join(map(str, path))


def is_structured(arguments: Mapping[str, Any]) -> bool:
    """Are there structures, texts, functions or None among these?"""
    usual = (np.ndarray, int, float, np.number, np.bool_)
    return not all(
        isinstance(v, usual) and fields(v) is None for v in arguments.values()
    )


@dataclasses.dataclass
class Flat:
    """A function of what is in the structures among its arguments."""

    plain: Callable[..., Any]
    arguments: Mapping[str, Any]

    def __post_init__(self) -> None:
        every = {
            name((n, *path)): v
            for n, value in self.arguments.items()
            for path, v in leaves(value).items()
        }
        usual = (np.ndarray, int, float, np.number, np.bool_)
        #: Numbers and arrays; what is left are texts, functions and None.
        self.values = {n: v for n, v in every.items() if isinstance(v, usual)}
        self.rest = {n: v for n, v in every.items() if n not in self.values}

    def structured(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments with these numbers and arrays in them.

        Whoever draws from a generator begins where the others do.
        """
        rest = {
            n: copy.deepcopy(v) if isinstance(v, GENERATORS) else v
            for n, v in self.rest.items()
        }
        every = {**rest, **values}
        return {
            n: replaced(
                value, {path: every[name((n, *path))] for path in leaves(value)}
            )
            for n, value in self.arguments.items()
        }

    def written(self, outputs: Collection[str]) -> Iterator[str]:
        """The arrays in these arguments that the function changes."""
        own = copy.deepcopy(self.values)
        self(**own)
        for n, value in self.values.items():
            if n.split(".")[0] in outputs and isinstance(value, np.ndarray):
                if n in outputs or not np.array_equal(own[n], value, equal_nan=True):
                    yield n

    def __call__(self, **values: Any) -> Any:
        own = self.structured(values)
        result = self.plain(**own)
        for n, value in own.items():  # records are copies
            for path, part in leaves(value).items():
                key = name((n, *path))
                if isinstance(part, np.ndarray) and part is not values[key]:
                    values[key][...] = part
        return result

    def vjp(self, vjp: Callable[..., Any]) -> Callable[..., Any]:
        """`vjp` of a function with structures, for values by name."""

        def pulled(f: Any, **values: Any) -> Any:
            own = self.structured(values)
            result, pullback = vjp(f, **own)
            for n, value in own.items():
                for path, part in leaves(value).items():
                    key = name((n, *path))
                    if isinstance(part, np.ndarray) and part is not values[key]:
                        values[key][...] = part

            def pull(cotangent: Any = None, *, cotangents: Any = None) -> Any:
                found = pullback(cotangent, cotangents=cotangents)
                return {
                    name((n, *path)): v
                    for n, gradient in found.items()
                    for path, v in leaves(gradient).items()
                    if v is not None
                }

            return result, pull

        return pulled
