"""Numbers in the caller's objects that a function writes to.

``line.position = (line.position + 1) % size`` writes to an array of one element while
the function runs; behind it the number in the array is the object's attribute.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pyrev.driver.arguments import Kind
from pyrev.ir.diagnostics import ArgumentError
from pyrev.ir.dtypes import concrete, expr_dtype, infer, is_float
from pyrev.ir.nodes import Add, Assign, Program, walk
from pyrev.parse.rewriting.structures.objects import CELLS
from pyrev.parse.rewriting.structures.shapes import Key, Shape
from pyrev.parse.scopes import Capture, Runs

#: The dtypes beside which a number and an element of an array mean the same.
_ALIKE = frozenset(["bool", "int64", "float64", "weak int", "weak float"])


@dataclass(frozen=True, slots=True)
class Cell:
    """A number in an object of the caller's, as an array with one element."""

    name: str
    owner: Any
    key: Key
    before: Any
    array: np.ndarray[Any, Any] = field(init=False)

    def __post_init__(self) -> None:
        array = np.array([self.before], CELLS[type(self.before)])
        object.__setattr__(self, "array", array)

    def set_back(self, plain: bool) -> None:
        """Let the object have what is in the array now: as a `plain` number of Python's
        where CPython has one.
        """
        value = self.array[0]
        if value.tobytes() == np.array(self.before, value.dtype).tobytes():
            return  # the object has it already
        new = value.item() if plain else value
        if isinstance(self.owner, dict):
            self.owner[self.key] = new
        else:
            setattr(self.owner, str(self.key), new)


def has_cells(shape: Shape | None) -> bool:
    """Are there cells in a structure?"""
    if shape is None:
        return False
    return bool(shape.cells) or any(has_cells(inner) for _, inner in shape.fields)


def check_cells(
    cells: Sequence[Cell], program: Program, kinds: Mapping[str, Kind]
) -> frozenset[str]:
    """The names of the cells that are left with numbers of Python's.

    Raises `ArgumentError` where a number means something else than an element of an
    array: beside what is shorter than 64 bits.
    """
    types = infer(program, {n: kind.dtype for n, kind in kinds.items()})
    for name, dtype in types.items():
        if dtype not in _ALIKE:
            raise ArgumentError(
                f"`{cells[0].name}` is a number that the function writes to, and"
                f" `{name}` has dtype {dtype}: beside such an array it has to be an"
                " array with one element, or the array one of float64 or int64"
            )
    names = {c.name for c in cells}
    written = [
        s
        for s in walk(program.body)
        if isinstance(s, (Assign, Add)) and s.target_name in names
    ]
    for s in written:
        own, new = types[s.target_name], expr_dtype(s.value, types)
        if concrete(new) != own and not (is_float(own) and new != "bool"):
            raise ArgumentError(
                f"`{s.target_name}` is of type {own}, and the function assigns"
                f" {new} to it: give a number of that type"
            )
    weak = {c.name for c in cells if type(c.before) in (bool, int, float)}
    while True:
        given = {n: _weak(kind.dtype, n in weak) for n, kind in kinds.items()}
        types = infer(program, given)
        left = weak - {
            s.target_name
            for s in written
            if not _is_weak(expr_dtype(s.value, types), types[s.target_name])
        }
        if left == weak:
            return frozenset(weak)
        weak = left


def check_outside(cells: Sequence[Cell], captured: Sequence[Capture | Runs]) -> None:
    """Raises `ArgumentError` where the function also reads one of these numbers from
    outside: there it would have the number from before.
    """
    for one in captured:
        place = one.place()
        for cell in cells:
            if place is not None and place[0] is cell.owner and place[1] == cell.key:
                raise ArgumentError(
                    f"`{cell.name}` and `{one.name}` are one number, which is written"
                )


def _weak(dtype: str, weak: bool) -> str:
    names = {"float64": "weak float", "int64": "weak int"}
    return names.get(dtype, dtype) if weak else dtype


def _is_weak(dtype: str, cell: str) -> bool:
    return dtype.startswith("weak") or (dtype == cell == "bool")
