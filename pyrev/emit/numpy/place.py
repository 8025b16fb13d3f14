"""Values over whole arrays, and where the statement stands that they are for."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from pyrev.emit.numpy.axes import Axis, Cut, Sizes
from pyrev.ir.nodes import Expr, Load, Loc
from pyrev.ir.text import minus, name, subscript


class NoWholeArray(Exception):
    """There is no statement about whole arrays for this."""

    def __init__(self, loc: Loc, why: str) -> None:
        super().__init__(why)
        self.loc = loc


@dataclass(frozen=True, slots=True)
class Value:
    """An expression and the axes of its array, in order; none for a number.

    `cuts` are the subscripts that it ends with, to which a new axis may be added;
    `of` is the array of which it is a view.
    """

    tree: ast.expr
    axes: tuple[str, ...] = ()
    cuts: tuple[Cut, ...] = ()
    of: str = ""
    #: What was transposed to get it, in its own order of axes.
    before: tuple[ast.expr, tuple[str, ...]] | None = None

    def over(self, axes: Sequence[str]) -> ast.expr:
        """The tree in a form that spreads over `axes`, of which it has some."""
        if not self.axes or tuple(axes[-len(self.axes) :]) == self.axes:
            return self.tree
        rest = list(axes[axes.index(self.axes[0]) :])
        if self.cuts and isinstance(self.tree, (ast.Name, ast.Subscript)):
            base = (
                self.tree.value if isinstance(self.tree, ast.Subscript) else self.tree
            )
            index: list[ast.expr] = []
            for c in self.cuts:
                while c.axis and rest[0] != c.axis:
                    index.append(ast.Constant(None))
                    rest.pop(0)
                index.append(c.tree)
                rest = rest[bool(c.axis) :]
            return subscript(base, [*index, *(ast.Constant(None) for _ in rest)])
        index = [
            ast.Slice(None, None, None) if a in self.axes else ast.Constant(None)
            for a in rest
        ]
        return subscript(self.tree, index)


@dataclass(slots=True)
class Guard:
    """A test under which a value is used."""

    value: Value
    test: Expr
    #: Is it about indices and sizes alone?
    of_indices: bool
    #: Gives it a name, for one who needs it again.
    naming: Callable[[], None] | None = None
    #: What the test is called, if it is told apart from one statement alone; is it one
    #: that has to hold, or to fail?
    label: str = ""
    holds: bool = True


@dataclass(frozen=True, slots=True)
class Spread:
    """A scalar of each iteration, as an array over `axes`."""

    axes: tuple[Axis, ...]


@dataclass
class Place:
    """Where a statement stands: what its names mean."""

    sizes: Sizes
    types: Mapping[str, str]
    #: The axes around, outermost first.
    axes: tuple[Axis, ...]
    spread: Mapping[str, Spread]
    guards: tuple[Guard, ...]
    #: Which names change in the nest.
    changing: frozenset[str]
    #: The elements that are read or written whatever the tests say.
    always: frozenset[object]
    key: Callable[[Load], object]
    plain: Callable[[Expr], Expr]
    loc: Loc
    #: The indices that are one number here.
    fixed: Mapping[str, Expr]
    #: Is a size not zero where the statement runs?
    is_never_zero: Callable[[Expr], bool]
    #: The name for a test that has this tree, which it gets if it has none yet.
    label: Callable[[Expr, Value], str]
    #: The axes whose indices the statement reads.
    indices: dict[str, Axis] = field(default_factory=dict)
    #: The subscripts that run along an axis of an array, which must be long enough.
    needs: list[tuple[Axis, Expr, str, int]] = field(default_factory=list)
    #: The sizes that it divides by, where they may be zero.
    divisors: list[Expr] = field(default_factory=list)
    #: Does it read a number that only iterations have?
    read_once: bool = False
    #: One that only those have for which a test holds?
    read_if_any: bool = False


def sliced(array: str, cuts: Sequence[Cut], axes: tuple[str, ...]) -> Value:
    """An array cut by slices and numbers."""
    back = [c.back for c in cuts if c.axis]
    if all(c.whole for c in cuts):
        return Value(name(array), axes, tuple(cuts), array)
    index = [c.tree for c in cuts]
    if not any(back):
        kept = list(index)
        while kept and cuts[len(kept) - 1].whole:
            kept.pop()
        tree = subscript(name(array), kept)
        return Value(tree, axes, tuple(cuts), array)
    turn: list[ast.expr] = [
        ast.Slice(None, None, minus(ast.Constant(1)) if b else None) for b in back
    ]
    while not back[len(turn) - 1]:
        turn.pop()
    return Value(subscript(subscript(name(array), index), turn), axes, (), array)
