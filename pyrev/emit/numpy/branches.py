"""Tests in lockstep: fewer iterations where a range says which, a mask elsewhere."""

from __future__ import annotations

from dataclasses import replace

from pyrev.emit.items import Header, Item
from pyrev.emit.numpy.axes import Axis, Sizes, some
from pyrev.emit.numpy.lines import Context
from pyrev.emit.numpy.place import Guard, Spread
from pyrev.emit.numpy.scalars import Scalars
from pyrev.emit.numpy.values import Values
from pyrev.ir.affine import Linear, beyond, from_linear, linear, plus
from pyrev.ir.liveness import live_before
from pyrev.ir.nodes import (
    NOWHERE,
    Add,
    Assign,
    Block,
    Call,
    Expr,
    For,
    If,
    Var,
    all_names,
    names,
    walk,
    with_value,
)
from pyrev.ir.text import BINARY


class Branches(Scalars):
    """Statements under tests."""

    def block(self, block: Block, context: Context) -> None:
        """Write the statements of a block."""
        raise NotImplementedError

    def inside(self, block: Block, context: Context) -> tuple[Item, ...]:
        """The statements of a block, apart."""
        before, self.out = self.out, []
        known, self.masks, checked = dict(self.indices), {}, set(self.checked)
        waiting, own = {*self.pending}, set(self.own)
        # From one iteration to the next a name may have got to be one of a view.
        self.own -= {
            s.target_name
            for s in walk(block)
            if isinstance(s, Assign)
            and not (isinstance(s.value, Call) and s.value.op in BINARY)
        }
        self.block(block, context)
        self.settle(self.pending.keys() - waiting, NOWHERE)
        self.own &= own
        made, self.out = self.out, before
        self.masks, self.checked = {}, checked
        changed = {n for n in self.indices if self.indices[n] != known.get(n)}
        self.indices = {n: a for n, a in known.items() if n not in changed}
        return tuple(made)

    def along(self, block: Block, context: Context, axis: Axis) -> None:
        """Write the statements of a block along an axis of it.

        Where only iterations know that what is read is there, this is under the test
        whether there are any.
        """
        if axis.cut and beyond(axis.lo, axis.hi):
            return
        before, self.nonempty = self.state(), {}
        self.block(block, context)
        found, self.nonempty = self.nonempty, before["nonempty"]
        if axis in found and not beyond(axis.hi, plus(axis.lo, 1)):
            self.restore(before)
            self.settle(frozenset(self.pending) & all_names(block), NOWHERE)
            made = self.inside(block, context)
            found = {**self.nonempty, **found}
            if made:
                self.out.append(Header(If(some(axis), ()), (made, ())))
        self.nonempty = {**before["nonempty"], **found}
        self.nonempty.pop(axis, None)

    def branch(self, s: If, context: Context) -> None:
        """Write the statements of an `if`."""
        place = self.place(s.loc, context)
        values = Values(place, [a.name for a in context.axes])
        if not values.axes_of(s.test):
            self.settle(frozenset(self.pending), s.loc)
            values.once(s.test)
            self.take(place, s.loc)
            then = self.inside(s.then, context)
            orelse = self.inside(s.orelse, context)
            if then or orelse:
                plain = replace(s, test=self.plain(s.test), then=(), orelse=())
                self.out.append(Header(plain, (then, orelse)))
            return
        if self.narrowed(s, context):
            return
        self.settle(frozenset(self.pending), s.loc)
        guard = self.guard(s, s.test, context)
        guards = *context.guards, guard
        self.block(s.then, replace(context, guards=guards))
        guards = *context.guards, replace(guard, holds=False)
        self.block(s.orelse, replace(context, guards=guards))

    def narrowed(self, s: If, context: Context) -> bool:
        """Say a test of one index by the axes alone, if that can be done."""
        if not self.tests.holds(s.test):
            return False
        if self.at_one(s, context):
            return True
        tests = s.test, _negation(s.test)
        parts = [_part(t, context.axes, self.sizes) for t in tests]
        if parts[0] is None or (s.orelse and parts[1] is None):
            return False
        held = self.held(s, context)
        if held is None:
            return False
        self.settle(held.keys() & self.pending.keys(), s.loc)
        for n, own in held.items():
            self.owned(n, own, s.loc)
        inner = replace(context, held=context.held | held.keys())
        for axes, body in zip(parts, (s.then, s.orelse), strict=True):
            if axes is not None and body:
                (axis,) = {*axes} - {*context.axes} or axes[-1:]
                self.along(body, replace(inner, axes=axes), axis)
        return True

    def at_one(self, s: If, context: Context) -> bool:
        """Say ``if index == bound`` of the one iteration that it is about."""
        found = _equal(s.test, context.axes)
        if found is None or any(isinstance(x, For) for x in walk(s.then)):
            return False
        axis, bound = found
        held = self.held(s, context)
        if held is None or not self.sizes.is_size(bound):
            return False
        self.settle(held.keys() & self.pending.keys(), s.loc)
        for n, own in held.items():
            self.owned(n, own, s.loc)
        block = self.at_index(s.then, axis.name, bound)
        axes = tuple(a for a in context.axes if a is not axis)
        fixed = {**context.fixed, axis.name: bound}
        inner = replace(
            context, axes=axes, fixed=fixed, held=context.held | held.keys()
        )
        test = self.is_inside(axis, bound)
        if test is None:
            self.block(block, inner)
        else:
            made = self.inside(block, inner)
            header = replace(s, test=test, then=(), orelse=())
            self.out.append(Header(header, (made, ())))
        first = bound == axis.lo and not self.held(replace(s, then=s.orelse), context)
        if s.orelse and first:
            rest = axis.from_to(plus(bound, 1), None)
            axes = tuple(rest if a is axis else a for a in context.axes)
            self.along(s.orelse, replace(context, axes=axes), rest)
        elif s.orelse:
            other = self.guard(s, Call("!=", (Var(axis.name), bound)), context)
            guards = *context.guards, other
            self.block(s.orelse, replace(context, guards=guards))
        return True

    def guard(self, s: If, test: Expr, context: Context) -> Guard:
        """A test under its name, as it comes out now."""
        place = self.place(s.loc, context)
        values = Values(place, [a.name for a in context.axes])
        found = values.truth(test)
        label = self.label(test, found, place)
        told = tuple(a for a in context.axes if a.name in found.axes)
        self.spread[label] = Spread(told)
        return Guard(found, test, values.of_indices(test), label=label)

    def is_inside(self, axis: Axis, bound: Expr) -> Expr | None:
        """The test whether `bound` is an iteration of the axis; None if it is sure."""
        if bound in (axis.lo, plus(axis.hi, -1)):
            return some(axis)
        tests: list[Expr] = []
        if not beyond(bound, axis.lo):
            tests.append(Call(">=", (bound, axis.lo)))
        if not beyond(axis.hi, plus(bound, 1)):
            tests.append(Call("<", (bound, axis.hi)))
        if not tests:
            return None
        return tests[0] if len(tests) == 1 else Call("and", tuple(tests))

    def at_index(self, block: Block, index: str, bound: Expr) -> Block:
        """`block` for one iteration, known as the statements that it was."""
        new = with_value(block, index, bound)
        for old, own in zip(walk(block), walk(new), strict=True):
            if id(old) in self.leaves:
                self.leaves[id(own)] = self.leaves[id(old)]
            self.numbers[id(own)] = self.numbers[id(old)]
            self.live[id(own)] = self.live[id(old)]
        self.kept_alive.append(new)
        return new

    def held(self, s: If, context: Context) -> dict[str, tuple[Axis, ...]] | None:
        """The scalars that `s` sets for others, of which it sets some elements.

        Each with its axes; None where one of them is no array over these.
        """
        found: dict[str, tuple[Axis, ...]] = {}
        for x in walk((s,)):
            if isinstance(x, (Assign, Add)) and isinstance(x.target, Var):
                n, own = x.target.name, self.kept(x, context)
                if own and n not in context.held and self.outside(n, s):
                    known = self.spread.get(n, Spread(own)).axes
                    if known != own or found.setdefault(n, own) != own:
                        return None
        return found

    def outside(self, scalar: str, s: If) -> bool:
        """Has a scalar that `s` gives a value one before, or a use behind it?"""
        exposed = scalar in live_before((s,), frozenset())
        return exposed or scalar in self.live[id(s)]


def _equal(test: Expr, axes: tuple[Axis, ...]) -> tuple[Axis, Expr] | None:
    """The axis and the number in a test whether one index is that number."""
    match test:
        case Call("==", (a, b)):
            form = linear(a).plus(linear(b), -1)
            for axis in axes:
                factor = form.coefficient(Var(axis.name))
                rest = form.without(Var(axis.name))
                bound = from_linear(Linear((), 0).plus(rest, -factor))
                free = not names(bound) & {a.name for a in axes}
                if abs(factor) == 1 and free and axis.cut and axis.stride == 1:
                    return axis, bound
    return None


def _part(test: Expr, axes: tuple[Axis, ...], sizes: Sizes) -> tuple[Axis, ...] | None:
    """The axes where `test` holds; None where that is no range."""
    match test:
        case Call("not", (inner,)) if isinstance(inner, Call) and inner.op != "not":
            other = _negation(inner)
            return None if other == test else _part(other, axes, sizes)
        case Call("and", (a, b)):
            first = _part(a, axes, sizes)
            return None if first is None else _part(b, first, sizes)
        case Call(("<" | "<=" | ">" | ">=" | "==") as op, (a, b)):
            form = linear(a).plus(linear(b), -1)
        case _:
            return None
    by_name = {a.name: a for a in axes}
    met = [n for n in by_name if n in names(from_linear(form))]
    if len(met) != 1:
        return None
    axis = by_name[met[0]]
    factor = form.coefficient(Var(axis.name))
    rest = form.without(Var(axis.name))
    if abs(factor) != 1 or not axis.cut or axis.stride != 1:
        return None
    if not sizes.is_size(from_linear(rest)):
        return None
    if factor < 0:
        test = Call({"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(op, op), test.args)
    # factor * index + rest op 0: index op bound
    bound = Linear((), 0).plus(rest, -factor)
    here, next_ = (from_linear(bound.plus(Linear((), k))) for k in (0, 1))
    new = {
        "<": lambda: axis.from_to(None, here),
        "<=": lambda: axis.from_to(None, next_),
        ">": lambda: axis.from_to(next_, None),
        ">=": lambda: axis.from_to(here, None),
        "==": lambda: axis.from_to(here, next_),
    }[test.op]()
    return tuple(new if a is axis else a for a in axes)


def _negation(test: Expr) -> Expr:
    flipped = {"<": ">=", ">=": "<", ">": "<=", "<=": ">"}
    match test:
        case Call(op, args) if op in flipped:
            return Call(flipped[op], args)
        case Call("not", (inner,)):
            return inner
    return Call("not", (test,))
