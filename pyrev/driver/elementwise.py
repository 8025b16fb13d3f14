"""Is each element that a function writes made of one element of each input?"""

from __future__ import annotations

from collections.abc import Iterator

from pyrev.adjoint.activity import activity, returned
from pyrev.analysis.poly import integer_names
from pyrev.ir.liveness import live_inside, with_live
from pyrev.ir.nodes import (
    Add,
    Alloc,
    Assign,
    Block,
    Expr,
    For,
    Load,
    Loc,
    Program,
    Stmt,
    Var,
    While,
    blocks,
    exprs,
    loop_indices,
    names,
    walk,
    walk_expr,
)
from pyrev.schedule.legality import prove_parallel


def why_not(program: Program, wrt: tuple[str, ...]) -> tuple[Loc, str] | None:
    """Where and why it is not so, for all that is known; None if it is.

    Then all loops whose indices stand in subscripts of what `wrt` moves are parallel,
    and in each nest every array of it has one subscript: an iteration reads one element
    and writes one.
    """
    for name in wrt:
        for s in walk(program.body):
            if isinstance(s, (Assign, Add)) and s.target_name == name:
                return s.loc, f"`{name}` is written"
    moving = activity(program, wrt)
    result = returned(program)
    if result is not None and any(
        names(v) & moving or (isinstance(v, Var) and v.name in moving)
        for v in result.values
    ):
        return result.loc, "what is returned moves with it"
    live = frozenset(p.name for p in program.params if p.rank)
    integers = integer_names(program.body)
    for s, after in with_live(program.body, live):
        if isinstance(s, Alloc):
            continue
        places: dict[str, tuple[Expr, ...]] = {}
        for loc, load in _loads((s,)):
            if load.array not in moving:
                continue
            if places.setdefault(load.array, load.index) != load.index:
                return loc, f"two elements of `{load.array}` are read or written"
        used = {n for index in places.values() for e in index for n in names(e)}
        found = _serial(s, (), used, after, integers)
        if found is not None:
            return found
        if any(
            isinstance(e, Load)
            for index in places.values()
            for k in index
            for e in walk_expr(k)
        ):
            return s.loc, "data decides which element is read or written"
        own = loop_indices((s,))
        for array, index in places.items():
            if array not in wrt and not all(
                isinstance(e, Var) and e.name in own for e in index
            ):
                return s.loc, f"`{array}` has a subscript that is no index of a loop"
        if not isinstance(s, (For, While)) and _moves(s, moving):
            return s.loc, "a number that moves crosses the loops"
    return None


def _serial(
    s: Stmt,
    outer: tuple[For, ...],
    used: set[str],
    live: frozenset[str],
    integers: frozenset[str],
) -> tuple[Loc, str] | None:
    """A loop over elements whose iterations are not apart; `live` is read after it."""
    if isinstance(s, For):
        if s.index in used and not prove_parallel(s, outer, live, integers):
            return s.loc, f"iterations of `{s.index}` meet"
        outer, live = (*outer, s), live_inside(s, live)
    elif isinstance(s, While):
        if used & loop_indices((s,)):
            return s.loc, f"iterations of `{s.index}` meet"
        live = live_inside(s, live)
    for block in blocks(s):
        for inner, after in with_live(block, live):
            found = _serial(inner, outer, used, after, integers)
            if found is not None:
                return found
    return None


def _moves(s: Stmt, moving: frozenset[str]) -> bool:
    return any(
        isinstance(one, (Assign, Add)) and one.target_name in moving
        for one in walk((s,))
    )


def _loads(block: Block) -> Iterator[tuple[Loc, Load]]:
    for s in walk(block):
        for top in exprs(s):
            for e in walk_expr(top):
                if isinstance(e, Load):
                    yield s.loc, e
