"""What derivatives are returned in: a mapping that also reads as attributes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pyrev.report.shown.told import Values


class Gradients(Values, Mapping[str, Any]):
    """Gradients by parameter name: ``g["image"]``, or ``g.image``.

    The entries have the primal's shapes and dtypes. ``g[name]`` always works; as
    attributes, names that a mapping uses itself (`keys`, `values`, `items`, `get`) stay
    methods.
    """

    __slots__ = ("_entries",)
    _what = "gradient"

    def __init__(self, entries: Mapping[str, Any]) -> None:
        object.__setattr__(self, "_entries", dict(entries))

    def __getitem__(self, name: str) -> Any:
        try:
            return self._entries[name]
        except KeyError:
            known = ", ".join(self._entries) or "none"
            what = f"no {self._what} for {name!r}"
            raise KeyError(f"{what}; there are: {known}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            return self._entries[name]
        except KeyError:
            known = ", ".join(self._entries) or "none"
            raise AttributeError(
                f"no {self._what} for {name!r}; there are: {known}"
            ) from None

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{self._what}s are immutable")

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (dict(self._entries),))

    def __dir__(self) -> list[str]:
        own = [n for n in super().__dir__() if n.startswith("__") or n[0] != "_"]
        return [*own, *self._entries]

    def _values(self) -> list[tuple[str, Any]]:
        return [*_leaves(self)]

    def __repr__(self) -> str:
        parts = []
        for name, value in self._entries.items():
            shape = getattr(value, "shape", ())
            parts.append(
                f"{name}: {value.dtype} {list(shape)}"
                if shape
                else f"{name}: {value!r}"
            )
        return f"{type(self).__name__}({', '.join(parts)})"


def _leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """The arrays and numbers, structures in it taken apart."""
    match value:
        case Mapping():
            parts: Any = [
                (f"{name}.{n}" if name else str(n), v) for n, v in value.items()
            ]
        case tuple() | list():
            parts = [(f"{name}[{k}]", v) for k, v in enumerate(value)]
        case _:
            parts = None
    if parts is None:
        yield name, value
    else:
        for n, v in parts:
            yield from _leaves(v, n)


class Tangents(Gradients):
    """Tangents of what a function writes, by name; ``t["return"]`` of what it returns.

    With several directions at once they have a leading axis for these.
    """

    __slots__ = ()
    _what = "tangent"
