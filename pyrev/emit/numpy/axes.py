"""Axes of whole arrays: the loops that they stand for, and the slices that they cut."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from pyrev.analysis.array_shapes import ArrayShapes
from pyrev.ir.affine import (
    Linear,
    from_linear,
    integer,
    largest,
    least,
    linear,
    plus,
    tidy,
)
from pyrev.ir.nodes import (
    ONE,
    ZERO,
    Call,
    Const,
    Expr,
    Extent,
    For,
    Load,
    Var,
    map_expr,
    names,
    walk_expr,
)
from pyrev.ir.text import call, expr_tree, minus


class Unknown(Exception):
    """How many iterations a loop has is not known before it."""


@dataclass(frozen=True, slots=True)
class Axis:
    """The iterations of a loop, side by side: ``range(lo, hi, step)``.

    If `cut`, slices stand for them, and they are counted upwards; else data or an
    unknown step decides which there are.
    """

    name: str
    number: int
    lo: Expr
    hi: Expr
    step: Expr
    cut: bool

    @classmethod
    def of(cls, loop: For, number: int, affine: bool) -> Axis:
        """The axis of a loop; are its bounds `affine` in what does not change?"""
        lo, hi, step = loop.lo, loop.hi, integer(loop.step)
        if step == -1:
            lo, hi, step = plus(loop.hi, 1), plus(loop.lo, 1), 1
        if step is None or step < 1:
            return cls(loop.index, number, loop.lo, loop.hi, loop.step, False)
        return cls(loop.index, number, lo, hi, Const(step), affine)

    @property
    def stride(self) -> int:
        """Its step, where it is `cut`."""
        found = integer(self.step)
        assert found is not None
        return found

    def from_to(self, first: Expr | None, end: Expr | None) -> Axis:
        """The part of it from `first` on, up to `end`; it has a stride of one."""
        lo = self.lo if first is None else largest([self.lo, first])
        hi = self.hi if end is None else least([self.hi, end])
        return replace(self, lo=lo, hi=hi)


@dataclass(frozen=True, slots=True)
class Cut:
    """One subscript: a slice along `axis`, turned round if `back`, or a number."""

    tree: ast.expr
    axis: str = ""
    back: bool = False

    @property
    def whole(self) -> bool:
        """Is it all of the array's axis, in its order?"""
        return (
            isinstance(self.tree, ast.Slice)
            and self.tree.lower is self.tree.upper is self.tree.step is None
            and not self.back
        )


class Sizes:
    """What is known of the sizes of a program's arrays."""

    def __init__(self, shapes: ArrayShapes) -> None:
        self.shapes = shapes
        #: The indices of loops around, which are not negative.
        self.natural: set[str] = set()
        #: The arrays whose sizes nothing tells.
        self.unknown: set[str] = set()
        #: The lengths of arrays that stand for scalars.
        self.spread: dict[str, tuple[Expr, ...]] = {}
        #: The integers that are made of sizes and of integer parameters.
        self.known: set[str] = set()

    def is_size(self, e: Expr, beside: str = "") -> bool:
        """Is `e` made of sizes alone, and of the index `beside`?"""
        found = names(e) - {beside}
        return found <= self.known and not any(
            isinstance(p, Load) for p in walk_expr(e)
        )

    def is_size_of(self, loop: For) -> bool:
        """Do sizes alone say which iterations a loop has?"""
        return self.is_size(loop.lo) and self.is_size(loop.hi)

    @contextmanager
    def within(self, loop: For) -> Iterator[None]:
        """What is known of the index of a loop, in its body."""
        up = (integer(loop.step) or 0) > 0
        natural, known = set(self.natural), set(self.known)
        if self.not_negative(loop.lo if up else plus(loop.hi, 1)):
            self.natural.add(loop.index)
        if self.is_size_of(loop):
            self.known.add(loop.index)
        yield
        self.natural, self.known = natural, known

    def sized(self, e: Expr) -> Expr:
        """`e` with extents of arrays in terms of what these are made of."""

        def known(p: Expr) -> Expr:
            found = self.shapes.known(p) if isinstance(p, Extent) else None
            return p if found is None else found

        return map_expr(e, known)

    def gap(self, end: Expr, array: str, axis: int) -> int | None:
        """By how much `end` is beyond the array's axis; None if that depends."""
        if array in self.spread:
            extent = self.sized(self.spread[array][axis])
        elif array in self.shapes.ranks:
            extent = self.sized(Extent(array, axis))
        else:
            return None
        bounds = [extent]
        match extent:
            # Where the size is negative there is nothing to cut, and no iteration.
            case Call("max", (size, Const(0))) | Call("max", (Const(0), size)):
                bounds.append(size)
        for bound in bounds:
            form = linear(self.sized(end)).plus(linear(bound), -1)
            if not form.terms:
                return form.constant
        return None

    def inside(self, first: Expr, end: Expr, array: str, axis: int) -> bool:
        """Are the elements from `first` up to `end` in the array, if there are any?"""
        gap = self.gap(end, array, axis)
        return gap is not None and gap <= 0 and self.not_negative(first)

    def not_negative(self, e: Expr) -> bool:
        """Is `e` sure not to be negative?"""
        form = linear(e)
        return form.constant >= 0 and all(
            k > 0 and self._natural(atom) for atom, k in form.terms
        )

    def _natural(self, e: Expr) -> bool:
        match e:
            case Extent():
                return True
            case Var(name):
                return name in self.natural
            case Call("max", args):
                return any(map(self.not_negative, args))
            case Call("min", args):
                return all(map(self.not_negative, args))
            case Call("*", args):
                return all(map(self.not_negative, args))
            case Call("//" | "%", (a, Const(int(k)))) if k > 0:
                return self.not_negative(a)
        return False

    # ---------------------------------------------------------------- slices

    def cut(self, axis: Axis, k: Expr, array: str, at: int) -> Cut | None:
        """The slice of the array's axis `at` that subscript `k` runs through; None if
        there is none.
        """
        ends = self.ends(axis, k)
        if ends is None:
            return None
        first, end, stride, back = ends
        match end:
            # A slice ends where its array does.
            case Call("min", (a, b)):
                for one, other in ((a, b), (b, a)):
                    gap = self.gap(one, array, at)
                    if gap is not None and gap >= 0 and stride == 1 and not back:
                        end = other
        lower = None if first == ZERO else expr_tree(first)
        gap = self.gap(end, array, at)
        if gap is not None:
            upper = None if gap >= 0 else minus(ast.Constant(-gap))
        elif self.not_negative(end):
            upper = expr_tree(end)
        else:
            upper = call("max", expr_tree(end), ast.Constant(0))
        step = None if stride == 1 else ast.Constant(stride)
        if back and stride == 1 and lower is upper is None:
            return Cut(ast.Slice(None, None, minus(ast.Constant(1))), axis.name)
        return Cut(ast.Slice(lower, upper, step), axis.name, back)

    def ends(self, axis: Axis, k: Expr) -> tuple[Expr, Expr, int, bool] | None:
        """The first element that `k` runs through, the end, the stride, and whether it
        runs down; None where that is no slice.
        """
        form, index = linear(k), Var(axis.name)
        factor, rest = form.coefficient(index), form.without(index)
        if not axis.cut or not factor or axis.name in names(from_linear(rest)):
            return None
        if factor > 0:
            ends = [rest.plus(linear(e), factor) for e in (axis.lo, axis.hi)]
        elif axis.stride == 1:
            last = linear(axis.hi).plus(Linear((), -1))
            one = Linear((), 1)
            ends = [
                rest.plus(last, factor),
                rest.plus(linear(axis.lo), factor).plus(one),
            ]
        else:
            return None
        first, end = map(_pushed, ends)
        return first, end, abs(factor) * axis.stride, factor < 0

    def last(self, axis: Axis, k: Expr) -> tuple[Expr, bool]:
        """How many elements `k` needs, and whether it may be some for no iteration."""
        form = linear(k)
        factor, rest = form.coefficient(Var(axis.name)), form.without(Var(axis.name))
        one = Linear((), 1)
        if factor < 0:
            return from_linear(rest.plus(linear(axis.lo), factor).plus(one)), True
        last = linear(axis.hi).plus(one, -1)
        if axis.stride > 1:
            over = Call("%", (from_linear(last.plus(linear(axis.lo), -1)), axis.step))
            last = last.plus(linear(over), -1)
        none = factor * axis.stride == 1 and self.not_negative(
            from_linear(Linear((), 0).plus(rest, -1))
        )
        return from_linear(rest.plus(last, factor).plus(one)), not none

    def length(self, axis: Axis) -> Expr:
        """How many iterations the axis has; `Unknown` where its step is data."""
        step = integer(axis.step)
        if step is None or step == 0:
            raise Unknown
        first, last = (axis.lo, axis.hi) if step > 0 else (axis.hi, axis.lo)
        size = tidy(Call("-", (last, first)))
        if abs(step) > 1:
            some = Call("//", (plus(size, abs(step) - 1), Const(abs(step))))
            return Call("max", (some, ZERO))
        return size if self.not_negative(size) else Call("max", (size, ZERO))


def _pushed(form: Linear) -> Expr:
    """The expression of `form`, what is added to a ``max`` or ``min`` in its parts."""
    for atom, k in form.terms:
        match atom:
            case Call("min" | "max" as op, args) if k == 1:
                rest = form.without(atom)
                parts = [_pushed(linear(a).plus(rest)) for a in args]
                return (least if op == "min" else largest)(parts)
    return from_linear(form)


def numbers(axis: Axis) -> ast.expr:
    """``np.arange(lo, hi, step)``"""
    args = [axis.lo, axis.hi, axis.step]
    if axis.step == ONE:
        args.pop()
        if axis.lo == ZERO:
            args.pop(0)
    return call("np.arange", *map(expr_tree, args))


def some(axis: Axis) -> Expr:
    """The test whether the axis has any iteration."""
    up = integer(axis.step)
    if up is not None and up < 0:
        return Call(">", (axis.lo, axis.hi))
    return Call("<", (axis.lo, axis.hi))
