"""What a GPU runs: a program as launches, with the host's part between them.

`pyrev.schedule.plan_launches` makes them, the CUDA target prints them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pyrev.ir.nodes import (
    ZERO,
    Alloc,
    Assign,
    Block,
    Check,
    Expr,
    For,
    Load,
    Loc,
    Return,
    Var,
    map_block,
    map_expr,
)
from pyrev.schedule.inverse import Inverse


@dataclass(frozen=True, slots=True)
class Kernel:
    """One launch: `block` for every iteration of `loops`, a thread each.

    With `over`, the threads of a block share out those loops for one iteration of
    `loops`, and what they add to `sums` is added up before it goes there. Increments of
    the arrays in `atomic` are atomic. Without `loops` and `over` one thread runs it.
    As a `team` the threads of a block run one iteration of `loops`: they share out the
    loops in `block`, which have proofs, one after the other (`schedule.teams`).
    """

    block: Block
    loops: tuple[For, ...] = ()
    over: tuple[For, ...] = ()
    sums: tuple[Var | Load, ...] = ()
    atomic: frozenset[str] = frozenset()
    #: The scalars whose values come from before it or are read after it.
    crossing: frozenset[str] = frozenset()
    team: bool = False
    #: Why it runs as it does: a proof, or what stands against one.
    why: str = ""

    @property
    def loc(self) -> Loc:
        """Where its first statement comes from."""
        return (*self.loops, *self.over, *self.block)[0].loc

    @property
    def whole(self) -> Block:
        """The nest as one statement again."""
        inner = self.block
        for loop in reversed((*self.loops, *self.over)):
            inner = (replace(loop, body=inner),)
        return inner


@dataclass(frozen=True, slots=True)
class Repeat:
    """A loop on the host around launches."""

    loop: For
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Choose:
    """A test of sizes and numbers on the host."""

    test: Expr
    then: tuple[Step, ...]
    orelse: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Plain:
    """A statement of the host: memory, a number, the return."""

    stmt: Alloc | Assign | Check | Return


@dataclass(frozen=True, slots=True)
class Sort:
    """Terms put in the order of the elements that they are added to."""

    terms: Inverse


Step = Kernel | Repeat | Choose | Plain | Sort


@dataclass(frozen=True, slots=True)
class Launches:
    """The steps of a program.

    `resident` are the scalars that kernels make: arrays of one element on the device.
    """

    steps: tuple[Step, ...]
    resident: tuple[str, ...]


class NotOnDevice(Exception):
    """Something of the program that the CUDA target has no form for, in words."""

    def __init__(self, what: str, loc: Loc) -> None:
        super().__init__(what)
        self.loc = loc


def every(steps: Sequence[Step]) -> Iterator[Step]:
    """The steps and those inside them."""
    for s in steps:
        yield s
        match s:
            case Repeat(_, inner):
                yield from every(inner)
            case Choose(_, then, orelse):
                yield from every((*then, *orelse))


def with_elements(block: Block, scalars: frozenset[str]) -> Block:
    """The block with these scalars as arrays of one element."""
    return map_block(block, lambda e: as_element(e, scalars))


def as_element(e: Expr, scalars: frozenset[str]) -> Expr:
    """An expression with these scalars as arrays of one element."""

    def change(part: Expr) -> Expr:
        if isinstance(part, Var) and part.name in scalars:
            return Load(part.name, (ZERO,), loc=part.loc)
        return part

    return map_expr(e, change)
