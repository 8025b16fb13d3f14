"""The kinds of values that an expression of Python's may have when a text is read.

A number is an expression of the IR, which computes it when the program runs. Everything
else is known when the text is read: which array, how many values. A further kind of
value is a class here, a reader of its expressions, and a case where it is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from pyrev.ir.nodes import (
    NOWHERE,
    Dtype,
    Expr,
    Extent,
    Load,
    Loc,
    Var,
    names,
    substitute,
)


def axis(k: int) -> Var:
    """The index along axis `k` of an `Array`, a name that no program can have."""
    return Var(f"@axis {k}")


@dataclass(frozen=True, slots=True)
class Array:
    """A pull array: element ``[i, j]`` is `element` with i, j for its axis variables.

    `view`: it names elements of an array, so that what is written to it is written
    there; otherwise it is a value not yet computed.
    """

    shape: tuple[Expr, ...]
    element: Expr
    view: bool
    #: Of a new array: its dtype, the array whose shape it has, are there no values?
    dtype: Dtype = ""
    like: str = ""
    blank: bool = False
    #: Does NumPy lay it out row by row, whatever it is made of?
    by_rows: bool = False
    #: Of a target: the elements that are assigned to.
    mask: Expr | None = None
    #: Of a target: may several of its elements be one?
    scattered: bool = False
    #: Which object of Python's a view is that has a name: see `same`.
    object: int = field(default=0, compare=False)
    #: Where the text has it.
    loc: Loc = field(default=NOWHERE, compare=False, repr=False, kw_only=True)

    @property
    def rank(self) -> int:
        """How many axes it has."""
        return len(self.shape)

    @property
    def base(self) -> str | None:
        """The array that this is a view of."""
        return self.element.array if isinstance(self.element, Load) else None

    @property
    def name(self) -> str | None:
        """The array that this is, all of it and in its own order."""
        match self.element:
            case Load(array, index) if self.view and index == tuple(
                map(axis, range(self.rank))
            ):
                whole = tuple(Extent(array, k) for k in range(self.rank))
                return array if self.shape == whole else None
        return None

    @property
    def source(self) -> str | None:
        """The array that this is a copy of, element by element."""
        same = self.dtype and self.like and isinstance(self.element, Load)
        if same and self.element == whole_array(self.like, self.rank, NOWHERE).element:
            return self.like
        return None

    def at(self, index: Sequence[Expr]) -> Expr:
        """The element with these subscripts."""
        return substitute(self.element, {axis(k).name: e for k, e in enumerate(index)})

    def reads(self) -> frozenset[str]:
        """The arrays and scalars that the elements and the shape depend on."""
        found = names(self.element)
        for size in self.shape:
            found |= names(size)
        return frozenset(n for n in found if not n.startswith("@"))


#: What operators take, and what a name stands for.
Operand = Expr | Array


@dataclass(frozen=True, slots=True)
class Tuple:
    """Several values: what a call gives, or a loop over pairs."""

    elements: tuple[Value, ...]
    #: Is each of them one of the values that the text speaks of, not a part of one?
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Nothing:
    """``None``: what a function without a value gives."""


@dataclass(frozen=True, slots=True)
class Refused:
    """What stands for a call that was refused, so that reading goes on."""


Value = Operand | Tuple | Nothing | Refused


def whole_array(array: str, rank: int, at: Loc) -> Array:
    """All of an array of the program."""
    shape = tuple(Extent(array, k, loc=at) for k in range(rank))
    element = Load(array, tuple(map(axis, range(rank))), loc=at)
    return Array(shape, element, True, loc=at)


def placed(value: Operand, at: Loc) -> Operand:
    """The same value, read at another place of the text."""
    match value:
        case Array(name=str(name), shape=shape):
            return whole_array(name, len(shape), at)
    return replace(value, loc=at)


def stored_in(value: Value | None) -> str | None:
    """The array or the scalar of the program that this value is, all of it."""
    match value:
        case Var(name):
            return name
        case Array(name=name):
            return name
    return None


def same(a: Value | None, b: Value | None) -> bool:
    """Are these one object in Python, whatever it holds?

    Two views of the same elements are two objects: a view has a number of its own from
    when it gets a name.
    """
    if a is b:
        return True
    match a, b:
        case Array(), Array():
            if a.name is not None or b.name is not None:
                return a.name == b.name
            # A copy of a view is another object.
            return a.view and b.view and a.object == b.object != 0
    return a == b
