"""Elements of arrays and scalars of iterations, for all iterations at once."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import NoReturn

from pyrev.emit.numpy.axes import Axis, Cut
from pyrev.emit.numpy.place import Guard, NoWholeArray, Place, Value, sliced
from pyrev.ir.affine import tidy
from pyrev.ir.nodes import (
    ZERO,
    Call,
    Const,
    Expr,
    Load,
    Var,
    map_expr,
    names,
    walk_expr,
)
from pyrev.ir.text import call, expr_tree, name, subscript


class Elements:
    """What a statement reads; results have axes in the order `order`."""

    def __init__(self, place: Place, order: Sequence[str]) -> None:
        self.at, self.order = place, tuple(order)
        self.by_name = {a.name: a for a in place.axes}
        self.guards = list(place.guards)

    def value(self, e: Expr) -> Value:
        """`e` for all iterations."""
        raise NotImplementedError

    def axes_of(self, e: Expr) -> tuple[str, ...]:
        """The axes that `e` has."""
        found: set[str] = set()
        for n in names(e):
            if n in self.at.spread:
                axes = self.at.spread[n].axes
                found.update(a.name for a in axes if a.name in self.by_name)
            elif n in self.by_name:
                found.add(n)
        return self.sorted(found)

    def sorted(self, axes: set[str]) -> tuple[str, ...]:
        """Axes in the order of the statement."""
        return tuple(a for a in self.order if a in axes)

    def joined(self, make: Callable[..., ast.expr], *parts: Value) -> Value:
        """What is made of parts, each spread over the axes that all have together."""
        axes = self.sorted({a for p in parts for a in p.axes})
        return Value(make(*(p.over(axes) for p in parts)), axes)

    def mask(self) -> Value | None:
        """Where all tests around hold."""
        found: Value | None = None
        for g in self.guards:
            if g.naming is not None:
                g.naming()
            own = self.tested(g)
            found = own if found is None else self.joined(_both, found, own)
        return found

    def tested(self, guard: Guard) -> Value:
        """Where the test of a guard holds, at the iterations that there are here."""
        if not guard.label:
            return self.turned(guard.value)
        found = self.scalar(guard.label)
        return found if guard.holds else inverted(found)

    def once(self, e: Expr) -> Value:
        """A number, the same for all iterations, if there are any."""
        for p in walk_expr(e):
            if isinstance(p, Load):
                for n, k in enumerate(p.index):
                    self.there(k, p.array, n)
        return Value(expr_tree(self.at.plain(map_expr(e, self.fixed))))

    def fixed(self, e: Expr) -> Expr:
        """A scalar of the one iteration that there is here."""
        match e:
            case Var(n) if n in self.at.spread and self.at.spread[n].axes:
                return Load(n, self.places(n))
        return e

    def places(self, n: str) -> tuple[Expr, ...]:
        """Where the array that stands for a scalar has its elements."""
        kept = self.at.spread[n].axes
        index = [self.at.fixed.get(a.name, Var(a.name)) for a in kept]
        return tuple(
            k if a.lo == ZERO else tidy(Call("-", (k, a.lo)))
            for k, a in zip(index, kept, strict=True)
        )

    def there(self, k: Expr, array: str, n: int) -> None:
        """Note if only iterations know that the array's axis has this one element."""
        if names(k):
            return  # of a loop around, which has an iteration then
        if not self.at.sizes.inside(k, Call("+", (k, Const(1))), array, n):
            self.at.read_once = True
            self.at.read_if_any = self.at.read_if_any or bool(self.guards)

    def scalar(self, n: str) -> Value:
        """A scalar of each iteration, at the iterations that there are here."""
        if n not in self.at.spread:
            self.refuse(f"`{n}` has no value on some path")
        kept = self.at.spread[n].axes
        here = tuple(self.by_name.get(a.name) for a in kept)
        if here == kept:
            own = self.sorted({a.name for a in kept})
            if own == tuple(a.name for a in kept):
                cuts = tuple(Cut(ast.Slice(None, None, None), a) for a in own)
                return Value(name(n), own, cuts, n)
            return self.turned(Value(name(n), tuple(a.name for a in kept), of=n))
        sizes = self.at.sizes
        sizes.spread[n] = tuple(map(sizes.length, kept))
        return self.element(n, self.places(n), True)

    def load(self, e: Load) -> Value:
        """Elements of an array."""
        return self.element(e.array, e.index, self.at.key(e) in self.at.always)

    def element(self, array: str, index: tuple[Expr, ...], safe: bool) -> Value:
        """Elements of an array, as slices where they are; `safe` if all are there."""
        cuts = self.cuts(array, index, safe or not self.guards)
        if cuts is not None:
            own = tuple(c.axis for c in cuts if c.axis)
            return self.turned(sliced(array, cuts, own))
        return self.gathered(array, index, safe)

    def turned(self, v: Value) -> Value:
        """`v` with its axes in the order of the statement."""
        order = self.sorted(set(v.axes))
        if order == v.axes:
            return v
        if len(order) == 2:
            tree = ast.Attribute(v.tree, "T", ast.Load())
            return Value(tree, order, of=v.of, before=(v.tree, v.axes))
        places = [ast.Constant(v.axes.index(a)) for a in order]
        move = ast.Attribute(v.tree, "transpose", ast.Load())
        turn = ast.Call(move, list(places), [])
        return Value(turn, order, of=v.of, before=(v.tree, v.axes))

    def cuts(
        self, array: str, index: tuple[Expr, ...], safe: bool
    ) -> tuple[Cut, ...] | None:
        """The subscripts as slices and numbers; None where one is neither."""
        found: list[Cut] = []
        seen: set[str] = set()
        for n, k in enumerate(index):
            axes = self.axes_of(k)
            if not axes:
                self.there(k, array, n)
                found.append(Cut(self.once(k).tree))
                continue
            if len(axes) > 1 or axes[0] in seen or not self.is_affine(k):
                return None
            axis = self.by_name[axes[0]]
            one = self.at.sizes.cut(axis, k, array, n)
            if one is None:
                return None
            unknown = array in self.at.sizes.unknown
            if (not safe or unknown) and not self.surely(axis, k, array, n):
                return None
            seen.add(axes[0])
            found.append(one)
        return tuple(found)

    def is_affine(self, k: Expr) -> bool:
        """Is a subscript made of one index and of what stays as it is?"""
        (axis,) = self.axes_of(k)
        return self.at.sizes.is_size(k, axis)

    def surely(self, axis: Axis, k: Expr, array: str, n: int) -> bool:
        """Is the slice inside its array, whatever tests of data say?"""
        ends = self.at.sizes.ends(axis, k)
        assert ends is not None
        first, end, *_ = ends
        if self.at.sizes.inside(first, end, array, n):
            return True
        if any(g.of_indices for g in self.guards):
            return False
        if not self.at.sizes.not_negative(first):
            return False
        self.at.needs.append((axis, k, array, n))
        return True

    def gathered(self, array: str, index: tuple[Expr, ...], safe: bool) -> Value:
        """Elements whose subscripts are arrays themselves."""
        plain = self.at.plain(Load(array, index))
        assert isinstance(plain, Load)
        index = plain.index
        one = self.one_list(array, index, safe)
        if one is not None:
            return one
        parts = self.subscripts(array, index, safe)
        axes = self.sorted({a for p in parts for a in p.axes})
        return Value(subscript(name(array), [p.over(axes) for p in parts]), axes)

    def subscripts(
        self, array: str, index: tuple[Expr, ...], safe: bool
    ) -> list[Value]:
        """Subscripts as arrays of integers, inside the array where a test holds."""
        mask = None if safe else self.mask()
        found = []
        for n, k in enumerate(index):
            v = self.value(k)
            if not v.axes:
                self.there(k, array, n)
            if mask is not None and v.axes and not self.stays(k, array, n):
                v = self.joined(
                    lambda m, t: call("np.where", m, t, ast.Constant(0)), mask, v
                )
            found.append(v)
        return found

    def one_list(self, array: str, index: tuple[Expr, ...], safe: bool) -> Value | None:
        """Slices with one list of subscripts among them."""
        own = [self.axes_of(k) for k in index]
        if len(index) == 1 or any(len(a) != 1 for a in own) or len({*own}) < len(own):
            return None
        lists = [n for n, k in enumerate(index) if not self.sliceable(k)]
        if len(lists) != 1:
            return None
        parts: list[ast.expr] = []
        for n, k in enumerate(index):
            if n in lists:
                (v,) = self.subscripts(array, (k,), safe)
                if v.axes != own[n]:
                    return None  # a test has more axes
                parts.append(v.tree)
                continue
            axis = self.by_name[own[n][0]]
            cut = self.at.sizes.cut(axis, k, array, n)
            if cut is None or cut.back:
                return None
            known = (safe or not self.guards) and array not in self.at.sizes.unknown
            if not (known or self.surely(axis, k, array, n)):
                return None
            parts.append(cut.tree)
        tree = subscript(name(array), parts)
        return self.turned(Value(tree, tuple(a[0] for a in own)))

    def stays(self, k: Expr, array: str, n: int) -> bool:
        """Is a subscript inside its array whatever tests say?"""
        if len(axes := self.axes_of(k)) != 1 or not self.sliceable(k):
            return False
        ends = self.at.sizes.ends(self.by_name[axes[0]], k)
        return ends is not None and self.at.sizes.inside(ends[0], ends[1], array, n)

    def sliceable(self, k: Expr) -> bool:
        """Is a subscript with one axis a slice?"""
        (axis,) = self.axes_of(k)
        return (
            self.is_affine(k) and self.at.sizes.ends(self.by_name[axis], k) is not None
        )

    def refuse(self, why: str) -> NoReturn:
        """Raise `NoWholeArray` for the statement."""
        raise NoWholeArray(self.at.loc, why)


def inverted(v: Value) -> Value:
    """Where `v` does not hold."""
    return Value(ast.UnaryOp(ast.Invert(), v.tree), v.axes)


def _both(a: ast.expr, b: ast.expr) -> ast.expr:
    return ast.BinOp(a, ast.BitAnd(), b)


def divides_numbers(e: Expr) -> bool:
    """May `e` be infinite, for it divides by what may be zero?"""
    return any(
        isinstance(p, Call) and p.op == "/" and not isinstance(p.args[1], Const)
        for p in walk_expr(e)
    )
