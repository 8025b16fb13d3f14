"""Scalars of iterations in lockstep: each is an array over the axes around."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from pyrev.analysis.dependence import Leaf
from pyrev.emit.numpy.axes import Axis
from pyrev.emit.numpy.elements import divides_numbers
from pyrev.emit.numpy.lines import Context, Lines
from pyrev.emit.numpy.place import NoWholeArray, Spread, Value
from pyrev.emit.numpy.sums import masked, total
from pyrev.emit.numpy.values import Values
from pyrev.ir.dtypes import expr_dtype, is_float
from pyrev.ir.nodes import (
    Add,
    Assign,
    Const,
    Expr,
    Loc,
    names,
)
from pyrev.ir.text import call, constant, expr_tree, name, store, subscript


class Scalars(Lines):
    """Statements that give scalars values."""

    def axes_of(self, leaf: Leaf, scalar: str) -> frozenset[int]:
        """The numbers of the axes each of whose iterations has its own `scalar`."""
        depth = self.nest.region.private_depth(leaf, scalar)
        return self.nest.axes & {at.number for at in leaf.loops[:depth]}

    def carried(self, leaf: Leaf) -> bool:
        """May iterations of a loop in order hand on the scalar that a leaf sets?"""
        depth = self.nest.region.private_depth(leaf, leaf.stmt.target_name)  # type: ignore[union-attr]
        return any(at.number not in self.nest.axes for at in leaf.loops[depth:])

    def kept(self, s: Assign | Add, context: Context) -> tuple[Axis, ...]:
        """Those of the axes around whose iterations have a scalar each."""
        own = self.axes_of(self.leaves[id(s)], s.target_name)
        return tuple(a for a in context.axes if a.number in own)

    def assign_scalar(self, s: Assign, context: Context) -> None:
        """Write ``scalar = value``.

        A number waits: a sum that begins with it may need no statement of its own.
        """
        target, axes = s.target_name, self.kept(s, context)
        place = self.place(s.loc, context)
        values = Values(place, [a.name for a in context.axes])
        leaf = self.leaves[id(s)]
        scalar = self.scalar(leaf)
        alone, carried = self.times[scalar] == 1, self.carried(leaf)
        first = scalar not in self.given
        self.given.add(scalar)
        if target in context.held:
            self.store_part(s, context)
            return
        if not context.guards and isinstance(s.value, Const):
            self.settle({target}, s.loc, drop=True)
            self.pending[target] = s
            self.spread[target] = Spread(axes)
            return
        self.settle((names(s.value) | {target}) & self.pending.keys(), s.loc)
        # What a test leaves out is not read, where nothing gave it a value before.
        bare = not context.guards or first and not carried
        if bare:
            v = values.value(s.value)
        else:
            mask = values.mask()
            assert mask is not None
            v = values.value(s.value)
            old = values.scalar(target)
            v = values.joined(lambda *t: call("np.where", *t), mask, v, old)
        if {*v.axes} - {a.name for a in axes}:
            raise NoWholeArray(s.loc, f"one iteration alone sets `{target}`")
        if not v.axes and divides_numbers(s.value):
            place.read_once = True  # a product with no term at all would be nan
        if alone and bare and not carried:
            own = tuple(a for a in axes if a.name in v.axes)
        else:
            own, v = axes, self.filled(v, axes)
        self.take(place, s.loc)
        self.bind(s, v, own)

    def bind(self, s: Assign | Add, v: Value, axes: tuple[Axis, ...]) -> None:
        """Give the name of the scalar that `s` sets to an array over `axes`.

        What may change under its own name is copied.
        """
        made, target = self.lasting(v), s.target_name
        self.line(ast.Assign([store(name(target))], made.tree, None), s.loc)
        self.spread[target] = Spread(axes)
        self.own -= {target}
        self.integral -= {target}
        if is_float(self.types[target]) > is_float(expr_dtype(s.value, self.types)):
            self.integral.add(target)
        elif not made.of:
            self.own.add(target)

    def store_part(self, s: Assign, context: Context) -> None:
        """Set the elements of a scalar's array that there are here."""
        target = s.target_name
        place = self.place(s.loc, context)
        values = Values(place, [a.name for a in context.axes])
        self.settle(names(s.value) & self.pending.keys(), s.loc)
        old, v = values.scalar(target), values.value(s.value)
        if {*v.axes} - {*old.axes}:
            raise NoWholeArray(s.loc, f"one iteration alone sets `{target}`")
        mask = values.mask()
        if mask is not None:
            v = values.joined(lambda *t: call("np.where", *t), mask, v, old)
        self.take(place, s.loc)
        self.line(ast.Assign([stored(old)], v.over(old.axes), None), s.loc)

    def filled(self, v: Value, axes: Sequence[Axis]) -> Value:
        """`v` over all of `axes`, as an array of its own."""
        order = tuple(a.name for a in axes)
        if v.axes == order:
            return v
        shape = [expr_tree(self.sizes.length(a)) for a in axes]
        whole = shape[0] if len(shape) == 1 else ast.Tuple(shape, ast.Load())
        if isinstance(v.tree, ast.Constant) and v.tree.value in (0, 1):
            made = "np.zeros" if v.tree.value == 0 else "np.ones"
            if type(v.tree.value) is float:
                return Value(call(made, whole), order)
        return Value(call("np.full", whole, v.over(order)), order)

    def settle(
        self, wanted: frozenset[str] | set[str], loc: Loc, drop: bool = False
    ) -> None:
        """Give scalars in `wanted` the number that they wait for."""
        for n in sorted(wanted & self.pending.keys()):
            s = self.pending.pop(n)
            if drop:
                continue
            assert isinstance(s.value, Const)
            axes, start = self.spread[n].axes, s.value.value
            if axes and is_float(self.types[n]):
                start = float(start)
            v = Value(constant(start))
            own = self.filled(v, axes) if axes else v
            self.line(ast.Assign([store(name(n))], own.tree, None), s.loc)
            self.own.add(n)

    def add_scalar(self, s: Add, context: Context) -> None:
        """Write ``scalar += value``, summed over axes that the scalar does not have."""
        target, axes = s.target_name, self.kept(s, context)
        self.given.add(self.scalar(self.leaves[id(s)]))
        waiting = self.pending.get(target)
        self.settle(names(s.value) & self.pending.keys() - {target}, s.loc)
        place = self.place(s.loc, context)
        over = [a.name for a in context.axes if a not in axes]
        order = [*(a.name for a in axes), *over]
        values = Values(place, order)
        v = self.summed(values, s.value, over)
        if target in context.held:
            old = values.scalar(target)
            self.take(place, s.loc)
            self.line(increment(old.tree, v.over(old.axes)), s.loc)
            return
        if not axes:
            self.take(place, s.loc)
            self.add_number(target, v, waiting, s.loc)
            return
        wide = tuple(a.name for a in axes)
        zero = waiting is not None and waiting.value in (Const(0), Const(0.0))
        if waiting is not None and v.axes == wide:
            del self.pending[target]
            if not zero:
                start = Value(expr_tree(waiting.value))
                v = values.binary(ast.Add(), start, v)
            self.take(place, s.loc)
            self.bind(s, v, axes)
            return
        self.settle({target}, s.loc)
        old = values.scalar(target)
        self.take(place, s.loc)
        if target not in self.own:
            v = values.binary(ast.Add(), old, v)
            self.line(ast.Assign([store(name(target))], v.tree, None), s.loc)
            self.own.add(target)
            self.integral -= {target}
            return
        self.line(increment(old.tree, v.over(old.axes)), s.loc)

    def add_number(
        self, target: str, v: Value, waiting: Assign | None, loc: Loc
    ) -> None:
        """Write an increment of a number that all iterations share."""
        if waiting is not None and waiting.value in (Const(0), Const(0.0)):
            del self.pending[target]
            self.line(ast.Assign([store(name(target))], v.tree, None), loc)
            return
        self.settle({target}, loc)
        self.line(increment(name(target), v.tree), loc)

    def summed(self, values: Values, e: Expr, over: Sequence[str]) -> Value:
        """`e` where all tests hold, summed over axes."""
        if over:
            return total(values, e, over)
        return masked(values, e) if values.guards else values.value(e)

    def owned(self, scalar: str, axes: tuple[Axis, ...], loc: Loc) -> None:
        """Make a scalar an array over `axes` that may be changed in place."""
        target = name(scalar)
        if scalar not in self.spread:
            zero = 0.0 if is_float(self.types[scalar]) else 0
            made = self.filled(Value(ast.Constant(zero)), axes).tree
        elif scalar in self.integral:
            made = ast.Call(
                ast.Attribute(target, "astype", ast.Load()), [name("np.float64")], []
            )
        elif scalar not in self.own:
            made = ast.Call(ast.Attribute(target, "copy", ast.Load()), [], [])
        else:
            return
        self.line(ast.Assign([store(name(scalar))], made, None), loc)
        self.spread[scalar] = Spread(axes)
        self.own.add(scalar)
        self.integral -= {scalar}


def increment(target: ast.expr, value: ast.expr) -> ast.stmt:
    """``target += value``, or ``-=``."""
    left = store(target)
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub):
        return ast.AugAssign(left, ast.Sub(), value.operand)  # type: ignore[arg-type]
    return ast.AugAssign(left, ast.Add(), value)  # type: ignore[arg-type]


def stored(v: Value) -> ast.expr:
    """A slice, or a whole array, as a target."""
    if isinstance(v.tree, ast.Name):
        return store(subscript(v.tree, [ast.Slice(None, None, None)]))
    return store(v.tree)
