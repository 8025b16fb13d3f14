"""What a text is made of beside the statements of a program."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from pyrev.ir.nodes import Expr, For, If, Load, Loc, Stmt, Var, While


@dataclass(frozen=True, slots=True)
class Whole:
    """``target[...] = value`` or ``+=`` for all elements that `target` leaves open.

    A `Load` has the subscripts in front of the open ones. What is `new` is made here. A
    scalar gets a value, or all elements of one are added to it.
    """

    target: Load | Var
    value: Expr
    adds: bool
    loc: Loc
    note: str = ""
    new: bool = False


@dataclass(frozen=True, slots=True)
class Exchange:
    """``a, b = b, a``: arrays, and those that they are from here on."""

    arrays: tuple[str, ...]
    sources: tuple[str, ...]
    loc: Loc
    note: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A statement about whole arrays, in Python."""

    tree: ast.stmt
    loc: Loc
    note: str = ""


@dataclass(frozen=True, slots=True)
class Header:
    """A loop or a test with other blocks than its own."""

    stmt: For | While | If
    bodies: tuple[tuple[Item, ...], ...]

    @property
    def loc(self) -> Loc:
        """Where it comes from."""
        return self.stmt.loc

    @property
    def note(self) -> str:
        """What is said beside it."""
        return self.stmt.note


Item = Stmt | Whole | Exchange | Line | Header
