"""Statements in lockstep: each for all iterations of the axes around it."""

from __future__ import annotations

import ast
from dataclasses import replace

from pyrev.emit.items import Header, Item
from pyrev.emit.numpy.axes import Axis, Unknown
from pyrev.emit.numpy.branches import Branches
from pyrev.emit.numpy.lines import Context
from pyrev.emit.numpy.place import NoWholeArray, Value, sliced
from pyrev.emit.numpy.scalars import increment, stored
from pyrev.emit.numpy.values import Values
from pyrev.emit.numpy.views import with_views
from pyrev.ir.affine import beyond
from pyrev.ir.dtypes import expr_dtype, is_float
from pyrev.ir.nodes import (
    NOWHERE,
    ONE,
    Add,
    Assign,
    Block,
    For,
    If,
    Load,
    Stmt,
    Var,
    all_names,
    exprs,
    names,
    risky,
    walk,
)
from pyrev.ir.text import call, name, store, subscript


class InLockstep(Branches):
    """The text of one nest in lockstep."""

    def items(self) -> tuple[Item, ...]:
        """The statements of the nest."""
        loop = self.nest.loop
        try:
            self.loop(loop, Context())
        except Unknown:
            why = "how many iterations there are depends on data"
            raise NoWholeArray(loop.loc, why) from None
        return with_views(self.out, self.fresh)

    def loop(self, s: For, context: Context) -> None:
        """Write a loop: its statements along an axis, or a loop around them."""
        number = self.numbers[id(s)]
        if beyond(s.lo, s.hi) and s.step == ONE:
            return  # it has no iteration
        if context.axes and any(map(risky, (s.lo, s.hi, s.step))):
            self.nonempty.update(dict.fromkeys(context.axes))
        if number in self.nest.axes:
            axis = Axis.of(s, number, self.sizes.is_size_of(s))
            self.along(s.body, replace(context, axes=(*context.axes, axis)), axis)
            return
        self.settle(frozenset(self.pending) & all_names(s.body), s.loc)
        self.indices.pop(s.index, None)
        with self.sizes.within(s):
            made = self.inside(s.body, context)
        if made:
            self.out.append(Header(s, (made,)))

    def block(self, block: Block, context: Context) -> None:
        """Write the statements of a block; what has none is left out."""
        for s in block:
            if not any(isinstance(x, (Assign, Add)) for x in walk((s,))):
                continue  # there is nothing in it
            match s:
                case For():
                    self.loop(s, context)
                case If():
                    self.branch(s, context)
                case Assign(Var()):
                    self.assign_scalar(s, context)
                case Assign():
                    self.assign(s, context)
                case Add(Var()):
                    self.add_scalar(s, context)
                case Add():
                    self.add(s, context)
                case _:
                    raise NoWholeArray(s.loc, "this is no statement about arrays")

    def order(self, target: Load, context: Context) -> list[str]:
        """The axes in the order of the target's subscripts, the others behind."""
        place = self.place(NOWHERE, context)
        values = Values(place, [a.name for a in context.axes])
        found: dict[str, None] = {}
        for k in target.index:
            own = values.axes_of(k)
            if len(own) == 1:
                found[own[0]] = None
        every = [a.name for a in context.axes]
        if [a for a in every if a in found] == [*found]:
            return every
        return [*found, *(a for a in every if a not in found)]

    def assign(self, s: Assign, context: Context) -> None:
        """Write ``array[...] = value``."""
        assert isinstance(s.target, Load)
        self.settle(self.read(s) & self.pending.keys(), s.loc)
        place = self.place(s.loc, context)
        values = Values(place, self.order(s.target, context))
        target = self.target(values, s.target)
        if {*target.axes} != {a.name for a in context.axes}:
            raise NoWholeArray(s.loc, f"one iteration alone writes `{s.target.array}`")
        v = values.value(s.value)
        if not context.guards:
            self.take(place, s.loc)
            self.line(ast.Assign([stored(target)], v.over(target.axes), None), s.loc)
            return
        mask = values.mask()
        assert mask is not None
        if target.cuts:
            old = Value(target.tree, target.axes, target.cuts)
            v = values.joined(lambda *t: call("np.where", *t), mask, v, old)
            tree: ast.expr = v.over(target.axes)
            left = stored(target)
        else:
            where = mask.over(values.order)
            if mask.axes != values.order:
                raise NoWholeArray(s.loc, "a test leaves out elements of a scatter")
            left, tree = self.chosen(values, s.target, where), v.tree
            if v.axes == values.order:
                tree = subscript(tree, [where])
            elif v.axes:
                raise NoWholeArray(s.loc, "a test leaves out elements of a scatter")
        self.take(place, s.loc)
        self.line_if_any(ast.Assign([left], tree, None), values)

    def line_if_any(self, tree: ast.stmt, values: Values) -> None:
        """Write a line; if only some iterations know that what it reads is there, under
        the test whether there are such.
        """
        mask = values.mask() if values.at.read_if_any else None
        if mask is not None:
            there = ast.Call(ast.Attribute(mask.tree, "any", ast.Load()), [], [])
            tree = ast.If(there, [tree], [])
        self.line(tree, values.at.loc)

    def chosen(self, values: Values, target: Load, where: ast.expr) -> ast.expr:
        """The elements of the target for which a test holds."""
        index: list[ast.expr] = []
        for k in target.index:
            v = values.value(self.plain(k))
            if v.axes and v.axes != values.order:
                raise NoWholeArray(
                    values.at.loc, "a test leaves out elements of a scatter"
                )
            index.append(subscript(v.tree, [where]) if v.axes else v.tree)
        return store(subscript(name(target.array), index))

    def target(self, values: Values, target: Load) -> Value:
        """What is stored to; its `cuts` say that it is a slice."""
        safe = values.at.key(target) in self.always or not values.guards
        cuts = values.cuts(target.array, target.index, safe)
        if cuts is not None:
            own = tuple(c.axis for c in cuts if c.axis)
            found = sliced(target.array, cuts, own)
            return replace(found, cuts=cuts)
        plain = self.plain(target)
        assert isinstance(plain, Load)
        parts = values.subscripts(target.array, plain.index, not values.guards)
        axes = values.sorted({a for p in parts for a in p.axes})
        tree = subscript(name(target.array), [p.over(axes) for p in parts])
        return Value(tree, axes)

    def add(self, s: Add, context: Context) -> None:
        """Write ``array[...] += value``, summed over axes that the target has not."""
        assert isinstance(s.target, Load)
        self.settle(self.read(s) & self.pending.keys(), s.loc)
        place = self.place(s.loc, context)
        values = Values(place, self.order(s.target, context))
        target = self.target(values, s.target)
        over = [a for a in values.order if a not in target.axes]
        v = self.summed(values, s.value, over)
        self.take(place, s.loc)
        right = v.over(target.axes)
        if not target.cuts and target.axes:
            assert isinstance(target.tree, ast.Subscript)
            add = call("np.add.at", target.tree.value, target.tree.slice, right)
            self.line_if_any(ast.Expr(add), values)
            return
        kind = self.types[s.target.array]
        whole = target.tree
        if is_float(kind) or kind == expr_dtype(s.value, self.types):
            self.line_if_any(increment(whole, right), values)
            return
        both = ast.BinOp(target.tree, ast.Add(), right)
        self.line_if_any(ast.Assign([stored(target)], both, None), values)

    def read(self, s: Stmt) -> frozenset[str]:
        """The names that a statement mentions."""
        return frozenset().union(*map(names, exprs(s)))
