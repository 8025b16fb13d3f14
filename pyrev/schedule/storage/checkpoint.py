"""Which states of a long loop are kept, and how the reverse sweep gets the others back.

A checkpointed loop is run backwards from states kept at the start of some of its
iterations: the last one kept is restored, and iterations run again, without being
recorded, up to the one that is reversed next. On the way more states are kept, where
the binomial schedule puts them (Griewank and Walther, Algorithm 799: Revolve, ACM TOMS
26, 2000): with room for c states, C(c + r, c) iterations take at most r repetitions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyrev.ir.nodes import (
    ONE,
    ZERO,
    Add,
    Alloc,
    Assign,
    Block,
    Call,
    Check,
    Const,
    Expr,
    For,
    If,
    Load,
    Loc,
    Stmt,
    Var,
    While,
    fresh,
)
from pyrev.ir.simplify import add_int, sub_int

#: NumPy's bytes per element.
SIZES = {
    "bool": 1,
    **{f"{k}{8 * n}": n for k in ("int", "uint") for n in (1, 2, 4, 8)},
    "float32": 4,
    "float64": 8,
}


#: One part in so many of a budget is for what is not elements: pages that are filled in
#: part, stacks, code.
SLACK = 32


@dataclass(frozen=True, slots=True)
class Part:
    """A scalar or an array (with its extents) of the state, and where it is kept."""

    name: str
    kept: str
    shape: tuple[Expr, ...]
    dtype: str


@dataclass(frozen=True, slots=True)
class Names:
    """The scalars and arrays that keep track of the states of one loop."""

    slots: str
    steps: str
    kept: str
    at: str


def names_for(taken: set[str]) -> Names:
    """Fresh names for the bookkeeping of one loop."""
    return Names(*(fresh(n, taken) for n in ("slots", "step_kept", "kept", "at")))


def state_bytes(parts: Sequence[Part]) -> Expr:
    """The bytes of one state, its number included."""
    total: Expr = Const(8)
    for part in parts:
        total = Call("+", (total, array_bytes(part.shape, part.dtype)))
    return total


def array_bytes(shape: tuple[Expr, ...], dtype: str) -> Expr:
    """The bytes of an array."""
    total: Expr = Const(SIZES[dtype])
    for extent in shape:
        total = Call("*", (total, extent))
    return total


def room(
    parts: Sequence[Part],
    names: Names,
    budget: int | None,
    others: Expr,
    trips: Expr | None,
    slots: int | None,
    loc: Loc,
) -> Block:
    """How many states there is room for, and the arrays that hold them."""
    one = state_bytes(parts)
    head: list[Stmt] = []
    if slots is not None:
        count: Expr = Const(slots)
    elif budget is None:
        # Enough for two repetitions: C(c + 2, 2) >= trips.
        assert trips is not None
        root = Call("sqrt", (Call("*", (Const(2.0), trips)),))
        count = Call("+", (Call("int", (root,)), ONE))
    else:
        left = Call("-", (Const(budget - budget // SLACK), others))
        count = Call("//", (left, one))
        message = f"the budget of {budget} bytes leaves no room for one state"
        head.append(Check(Call(">=", (left, one)), "MemoryError", message, loc=loc))
    if trips is not None:
        # More than one state for each iteration is never needed.
        count = Call("min", (count, Call("max", (trips, ONE))))
    head.append(Assign(Var(names.slots), count, loc=loc))
    extent = Var(names.slots)
    head.append(Alloc(names.steps, (extent,), None, "int64", loc=loc))
    for part in parts:
        head.append(Alloc(part.kept, (extent, *part.shape), None, part.dtype, loc=loc))
    head.append(Assign(Var(names.kept), ZERO, loc=loc))
    return (*head, *keep(parts, names, ZERO, loc))


def keep(parts: Sequence[Part], names: Names, step: Expr, loc: Loc) -> Block:
    """Keep the present state as that before iteration number `step`."""
    slot = Var(names.kept)
    moves = tuple(_moved(part, slot, True, loc) for part in parts)
    return (
        *moves,
        Assign(Load(names.steps, (slot,)), step, loc=loc),
        Add(slot, ONE, loc=loc),
    )


def _moved(part: Part, slot: Expr, away: bool, loc: Loc) -> Stmt:
    """Copy a part of the state into its slot, or back."""
    index = tuple(Var(f"{part.kept}_{k}") for k in range(len(part.shape)))
    own: Var | Load = Load(part.name, index) if index else Var(part.name)
    kept = Load(part.kept, (slot, *index))
    stmt: Stmt = Assign(kept, own, loc=loc) if away else Assign(own, kept, loc=loc)
    for k in reversed(range(len(index))):
        stmt = For(index[k].name, ZERO, part.shape[k], ONE, (stmt,), loc=loc)
    return stmt


def back_to(
    number: Expr,
    parts: Sequence[Part],
    names: Names,
    advance: Block,
    index: str,
    taken: set[str],
    loc: Loc,
) -> Block:
    """Make the state that before iteration `number`, from the last one that was kept.

    `advance` runs iteration number `index`.
    """
    at, kept, slots = Var(names.at), Var(names.kept), Var(names.slots)
    last = sub_int(kept, ONE)
    c = Var(fresh("room", taken))
    n, r, reach, ahead = (
        Var(fresh(name, taken)) for name in ("rest", "times", "reach", "ahead")
    )
    c_and_r = Call("+", (c, r))
    fewer = Call("//", (Call("*", (reach, r)), c_and_r))
    smaller = Call("//", (Call("*", (reach, c)), c_and_r))
    right = Call("//", (Call("*", (smaller, r)), sub_int(c_and_r, ONE)))
    grown = Call("//", (Call("*", (reach, Call("+", (c, r)))), r))
    choose: Block = (
        Assign(n, add_int(sub_int(number, at), 1), loc=loc),
        Assign(c, Call("+", (Call("-", (slots, kept)), ONE)), loc=loc),
        Assign(r, ONE, loc=loc),
        Assign(reach, Call("+", (c, ONE)), loc=loc),
        # C(c + r, c) iterations can be reversed with r repetitions.
        While(
            Call("<", (reach, n)),
            (Add(r, ONE, loc=loc), Assign(reach, grown, loc=loc)),
            loc=loc,
        ),
        Assign(ahead, Call("min", (fewer, Call("-", (n, right)))), loc=loc),
    )
    run: Stmt = For(index, at, Call("+", (at, ahead)), ONE, advance, loc=loc)
    more = If(Call("<", (at, number)), keep(parts, names, at, loc), loc=loc)
    return (
        *(_moved(part, last, False, loc) for part in parts),
        Assign(at, Load(names.steps, (last,)), loc=loc),
        While(
            Call("<", (at, number)),
            (*choose, run, Add(at, ahead, loc=loc), more),
            loc=loc,
        ),
        If(
            Call("==", (Load(names.steps, (last,)), number)),
            (Add(kept, Const(-1), loc=loc),),
            loc=loc,
        ),
    )
