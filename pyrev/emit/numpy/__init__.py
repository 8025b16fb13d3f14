"""The text about whole arrays: NumPy as a person writes it, where loops say no more."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence, Set

from pyrev.analysis.array_shapes import ArrayShapes
from pyrev.analysis.poly import known_numbers
from pyrev.emit.items import Exchange, Header, Item, Line, Whole
from pyrev.emit.numpy.axes import Sizes
from pyrev.emit.numpy.place import NoWholeArray
from pyrev.emit.numpy.statements import InLockstep
from pyrev.emit.whole_arrays import WholeArrays, mentions
from pyrev.ir.liveness import live_before, live_inside, live_out, with_live
from pyrev.ir.nodes import (
    Assign,
    Block,
    Call,
    Const,
    Expr,
    Extent,
    For,
    If,
    Program,
    Var,
    While,
    all_names,
    assignments,
)
from pyrev.ir.text import minus, name, store
from pyrev.schedule.legality import forward
from pyrev.schedule.lockstep import Serial, lockstep, runs_over_elements

__all__ = ["NoWholeArray", "WholeNests"]

_SIZE = frozenset("+ - * // % neg min max".split())


class WholeNests:
    """The statements of a program, its nests said of whole arrays.

    `plain` leaves out of a subscript what counts it from the end; `named` are the names
    of the user's function, whose accesses are tested before a call. Raises
    `NoWholeArray` for a nest that is more than elements, slices, sums and products.
    """

    def __init__(
        self,
        program: Program,
        types: Mapping[str, str],
        shapes: Mapping[str, tuple[Expr, ...]],
        users: Set[str],
        plain: Callable[[Expr], Expr],
        named: Set[str],
        taken: Set[str],
    ) -> None:
        self.users = users
        self._types, self._plain = types, plain
        self._whole = WholeArrays(program, types, shapes, users)
        self._sizes = Sizes(ArrayShapes(program, shapes))
        self._integers = known_numbers(program.body)
        self._live = live_out(program)
        self._taken = {*taken, *named, *all_names(program.body), *types}
        self._sizes.known = _sizes(program)
        self._sizes.unknown = {
            p.name
            for p in program.params
            if p.rank and p.name not in named and p.name not in shapes
        }
        self._body = program.body

    def items(self, block: Block) -> list[Item]:
        """The statements of the program's body, and of blocks that are left as such."""
        if block is not self._body:
            return self._whole.items(block)
        return list(self._block(block, (), self._live))

    def _block(
        self, block: Block, outer: tuple[For, ...], live: frozenset[str]
    ) -> tuple[Item, ...]:
        found: list[Item] = []
        for s, after in with_live(block, live):
            match s:
                case For():
                    found += self._nest(s, outer, after)
                case While():
                    again = after | live_before((s,), after)
                    found.append(self._while(s, outer, again))
                case If():
                    bodies = tuple(
                        self._block(b, outer, after) for b in (s.then, s.orelse)
                    )
                    found.append(Header(s, bodies))
                case _:
                    found.append(s)
        return tuple(_started(found))

    def _nest(
        self, loop: For, outer: tuple[For, ...], live: frozenset[str]
    ) -> Sequence[Item]:
        """What stands in the place of a loop."""
        whole = self._whole.nest(loop)
        if whole is not None:
            return whole
        chosen = lockstep(loop, outer, live, self._integers)
        if isinstance(chosen, Serial):
            return [self._serial(loop, chosen.why, outer, live)]
        made = InLockstep(chosen, self._sizes, self._types, self._plain, self._taken)
        return made.items()

    def _serial(
        self, loop: For, why: str, outer: tuple[For, ...], live: frozenset[str]
    ) -> Item:
        """A loop that stays one, with statements about whole arrays in it."""
        loop = forward(loop, outer, live, self._integers)
        inside = live_inside(loop, live)
        with self._sizes.within(loop):
            items = self._block(loop.body, (*outer, loop), inside)
        if not _any_whole(items) and runs_over_elements(loop):
            raise NoWholeArray(
                loop.loc, f"the loop over `{loop.index}` is serial: {why}"
            )
        return Header(loop, (items,))

    def _while(self, loop: While, outer: tuple[For, ...], live: frozenset[str]) -> Item:
        items = self._block(loop.body, outer, live)
        if not _any_whole(items) and runs_over_elements(loop):
            raise NoWholeArray(
                loop.loc, "how often it runs depends on what it computes"
            )
        return Header(loop, (items,))


def _started(items: Sequence[Item]) -> list[Item]:
    """`items` with sums begun by their first terms: ``s = 0.0``, ``s += t``."""
    found: list[Item] = []
    for item in items:
        match item:
            case Line(ast.AugAssign(ast.Name(target), op, value), loc):
                first = not isinstance(op, ast.Sub)
                at = next(
                    (
                        k
                        for k in reversed(range(len(found)))
                        if target in mentions(found[k])
                    ),
                    None,
                )
                zero = Assign(Var(target), Const(0.0))
                if at is not None and found[at] == zero and target not in _names(value):
                    del found[at]
                    begin = value if first else minus(value)
                    made = ast.Assign([store(name(target))], begin, None)
                    item = Line(made, loc)
        found.append(item)
    return found


def _names(tree: ast.expr) -> set[str]:
    return {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}


def _any_whole(items: Sequence[Item]) -> bool:
    """Is there a statement about whole arrays?"""
    return any(
        isinstance(item, (Line, Whole, Exchange))
        or isinstance(item, Header)
        and any(map(_any_whole, item.bodies))
        for item in items
    )


def _sizes(program: Program) -> set[str]:
    """The integers that are made of sizes and of parameters alone."""
    times = assignments(program.body)
    found = {
        p.name
        for p in program.params
        if not p.rank and "int" in p.dtype and not times[p.name]
    }

    def size(e: Expr) -> bool:
        match e:
            case Const(value):
                return type(value) is int
            case Var(name):
                return name in found
            case Extent():
                return True
            case Call(op, args):
                return op in _SIZE and all(map(size, args))
        return False

    for s in program.body:
        if isinstance(s, Assign) and isinstance(s.target, Var):
            if times[s.target.name] == 1 and size(s.value):
                found.add(s.target.name)
    return found
