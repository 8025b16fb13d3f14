"""The lines of a nest in lockstep, and what a line needs before it."""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pyrev.analysis.dependence import Leaf
from pyrev.analysis.poly import conj, is_empty
from pyrev.emit.items import Item, Line
from pyrev.emit.numpy.axes import Axis, Sizes, numbers, some
from pyrev.emit.numpy.place import Guard, Place, Spread, Value
from pyrev.ir.liveness import live_inside, with_live
from pyrev.ir.nodes import (
    NOWHERE,
    ZERO,
    Add,
    Assign,
    Block,
    Call,
    Check,
    Expr,
    Extent,
    For,
    Load,
    Loc,
    Var,
    blocks,
    exprs,
    fresh,
    names,
    walk,
    written,
)
from pyrev.ir.text import name, store
from pyrev.schedule.lockstep import IndexTests, Nest


@dataclass(frozen=True, slots=True)
class Context:
    """The axes and the tests around a statement, and how far inside it stands."""

    axes: tuple[Axis, ...] = ()
    guards: tuple[Guard, ...] = ()
    #: The scalars of whose arrays only some elements are here.
    held: frozenset[str] = frozenset()
    #: The indices that are one number here.
    fixed: Mapping[str, Expr] = field(default_factory=dict)


#: What changes while lines are written.
_STATE = (
    *("spread", "pending", "given", "indices", "checked", "masks", "own"),
    *("nonempty", "out", "integral"),
)


class Lines:
    """What has been written of one nest, and what is known there."""

    def __init__(
        self,
        nest: Nest,
        sizes: Sizes,
        types: Mapping[str, str],
        plain: Callable[[Expr], Expr],
        taken: set[str],
    ) -> None:
        self.nest, self.sizes, self.types = nest, sizes, types
        self.plain, self.taken = plain, taken
        self.leaves = {id(s.stmt): s for s in nest.region.leaves}
        self.numbers = _numbered((nest.loop,))
        self.tests = IndexTests.of(nest.loop)
        self.changing = written((nest.loop,))
        self.spread: dict[str, Spread] = {}
        self.pending: dict[str, Assign] = {}
        #: How often the text of the nest gives each scalar a value, where it is one.
        self.times = Counter(map(self.scalar, nest.region.leaves))
        self.given: set[tuple[str, int]] = set()
        self.indices: dict[str, Axis] = {}
        #: What may be read behind each test.
        self.live = dict(_live_behind(nest.loop, nest.region.live_after))
        self.always = frozenset(self._always())
        self.checked: set[tuple[Axis, Expr, str, int]] = set()
        #: The tests that have names, as long as what they read is what it was.
        self.masks: dict[tuple[Expr, tuple[str, ...], tuple[Axis, ...]], str] = {}
        #: Statements made here, whose identity must not pass on to others.
        self.kept_alive: list[Block] = []
        #: The scalars whose arrays are no views of others.
        self.own: set[str] = set()
        #: Those whose arrays hold integers yet, though they are floats elsewhere.
        self.integral: set[str] = set()
        self.nonempty: dict[Axis, None] = {}
        self.out: list[Item] = []

    def scalar(self, leaf: Leaf) -> tuple[str, int]:
        """The scalar that a leaf gives a value: its name, and the loop that has it."""
        stmt = leaf.stmt
        if not isinstance(stmt, (Assign, Add)) or not isinstance(stmt.target, Var):
            return "", 0
        depth = self.nest.region.private_depth(leaf, stmt.target.name)
        return stmt.target.name, leaf.loops[depth - 1].number if depth else 0

    def fresh(self, text: str) -> str:
        """A name that nothing has yet."""
        return fresh(text, self.taken)

    def state(self) -> dict[str, Any]:
        """What changes while lines are written."""
        return {n: copy.copy(getattr(self, n)) for n in _STATE}

    def restore(self, before: Mapping[str, Any]) -> None:
        """Forget what has been written since."""
        for n in _STATE:
            setattr(self, n, copy.copy(before[n]))

    def place(self, loc: Loc, context: Context) -> Place:
        """Where a statement stands that comes from `loc`."""
        made = Place(
            self.sizes,
            self.types,
            context.axes,
            self.spread,
            context.guards,
            self.changing,
            self.always,
            self.key,
            self.plain,
            loc,
            context.fixed,
            self.is_never_zero,
            lambda test, found: self.label(test, found, made),
        )
        return made

    def is_never_zero(self, size: Expr) -> bool:
        """Is a size not zero where the nest has iterations?"""
        region = self.nest.region
        found = region.space.cases(size, {})
        leaf = next((s for s in region.leaves if not s.tests), None)
        if found is None or leaf is None:
            return False
        return all(
            is_empty(
                region.space,
                region.variables(leaf, "i"),
                conj((region.domain(leaf, "i", 1), c.when, f"{c.term} = 0")),
            )
            for c in found
        )

    def take(self, place: Place, loc: Loc) -> None:
        """Write what a statement needs before it."""
        for n, axis in place.indices.items():
            if self.indices.get(n) != axis:
                self.indices[n] = axis
                self.line(ast.Assign([store(name(n))], numbers(axis), None), NOWHERE)
        for divisor in place.divisors:
            test = Call("==", (divisor, ZERO))
            for axis in place.axes:
                test = Call("and", (test, some(axis)))
            why, test = "integer division or modulo by zero", Call("not", (test,))
            self.out.append(Check(test, "ZeroDivisionError", why, loc=loc))
        for need in place.needs:
            if need not in self.checked:
                self.checked.add(need)
                self.check(need, loc)
        if place.read_once:
            self.nonempty.update(dict.fromkeys(place.axes))

    def check(self, need: tuple[Axis, Expr, str, int], loc: Loc) -> None:
        """Raise where an array is too short for all that it is read for."""
        axis, k, array, n = need
        end, empty = self.sizes.last(axis, k)
        test: Expr = Call(">", (end, Extent(array, n)))
        if empty:
            test = Call("and", (some(axis), test))
        message = f"whole arrays read more of axis {n} of `{array}` than there is"
        self.out.append(Check(Call("not", (test,)), "IndexError", message, loc=loc))

    def label(self, test: Expr, found: Value, place: Place) -> str:
        """The name of a test."""
        key = test, found.axes, place.axes
        if key not in self.masks:
            self.take(place, place.loc)
            target, made = self.fresh("mask"), self.lasting(found)
            self.line(ast.Assign([store(name(target))], made.tree, None), place.loc)
            self.masks[key] = target
        return self.masks[key]

    def lasting(self, v: Value) -> Value:
        """`v`, which what the nest writes does not change any more."""
        if not v.of or not (v.of in self.changing or v.of in self.spread):
            return v
        copied = ast.Call(ast.Attribute(v.tree, "copy", ast.Load()), [], [])
        return Value(copied, v.axes)

    def line(self, tree: ast.stmt, loc: Loc) -> None:
        """Write a line; tests of what it changes lose their names."""
        self.out.append(Line(tree, loc))
        changed = _changed(tree)
        self.masks = {t: n for t, n in self.masks.items() if not names(t[0]) & changed}

    def key(self, e: Load) -> object:
        """The same for elements of arrays of one shape with the same subscripts."""
        shape = self.sizes.shapes.of(e.array)
        named: object = shape if shape and None not in shape else e.array
        return named, e.index

    def _always(self) -> Iterator[object]:
        """The elements that are touched in all iterations of the loops that choose
        them, and where no other loop could be empty.
        """
        for s in self.nest.region.leaves:
            if s.tests:
                continue
            loops = {at.loop.index for at in s.loops if at.number in self.nest.axes}
            for top in exprs(s.stmt):
                for e in _unguarded(top):
                    if loops <= set().union(*map(names, e.index)):
                        yield self.key(e)


def _unguarded(e: Expr) -> Iterator[Load]:
    """The elements that are read whatever the tests in `e` say."""
    match e:
        case Load():
            yield e
            for k in e.index:
                yield from _unguarded(k)
        case Call("where" | "and" | "or", (first, *_)):
            yield from _unguarded(first)
        case Call(_, args):
            for a in args:
                yield from _unguarded(a)


def _live_behind(
    loop: For, live: frozenset[str]
) -> Iterator[tuple[int, frozenset[str]]]:
    """What may be read behind each statement of a loop, by its identity."""
    todo = [(loop.body, live_inside(loop, live))]
    while todo:
        block, after = todo.pop()
        for s, behind in with_live(block, after):
            yield id(s), behind
            inside = live_inside(s, behind) if isinstance(s, For) else behind
            todo += [(b, inside) for b in blocks(s)]


def _changed(tree: ast.stmt) -> set[str]:
    """The names that a line gives another value, or whose arrays it changes."""
    if isinstance(tree, ast.If):
        return set().union(*map(_changed, tree.body))
    if not isinstance(tree, (ast.Assign, ast.AugAssign)):
        return {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
    targets = tree.targets if isinstance(tree, ast.Assign) else [tree.target]
    found = set()
    for t in targets:
        while isinstance(t, ast.Subscript):
            t = t.value
        assert isinstance(t, ast.Name)
        found.add(t.id)
    return found


def _numbered(block: Block) -> dict[int, int]:
    """The number of each statement, as the leaves of a region count them."""
    return {id(s): n for n, s in enumerate(walk(block), 1)}
