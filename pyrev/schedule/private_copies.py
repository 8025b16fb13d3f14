"""A private copy of a target for each chunk of a loop, combined in order.

The number of chunks is fixed, so that the number of threads never changes a bit (array
reductions: Kennedy and Allen, Optimizing Compilers for Modern Architectures, 6.5).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from pyrev.ir.nodes import (
    ONE,
    ZERO,
    Add,
    Alloc,
    Assign,
    Block,
    Const,
    Expr,
    Extent,
    For,
    Load,
    Stmt,
    Var,
    blocks,
    fresh,
    like,
    walk,
    with_blocks,
)
from pyrev.schedule.distribute import DtypeOf


@dataclass(frozen=True, slots=True)
class PrivateCopy:
    """The private copies of a target: `own` in each chunk, `parts` for all of them.

    `room` is made before the chunks; each begins with `make`, adds to `own` and ends
    with `give`; `combine` adds the part of a chunk to the target.
    """

    target: str
    own: str
    parts: str
    room: Alloc
    make: Stmt
    give: Stmt
    combine: Stmt

    @staticmethod
    def of(
        target: str,
        loop: For,
        chunk: str,
        count: Const,
        used: set[str],
        dtype_of: DtypeOf,
    ) -> PrivateCopy:
        """Copies for what `loop` adds to `target` in each of `count` chunks."""
        own, parts = fresh(f"own_{target}", used), fresh(f"{target}_parts", used)
        add = next(
            s for s in walk((loop,)) if isinstance(s, Add) and s.target_name == target
        )
        rank = len(add.target.index) if isinstance(add.target, Load) else 0
        scope = set(used)
        index = tuple(Var(fresh(f"k{k}", scope)) for k in range(rank))
        part = Load(parts, (Var(chunk), *index))
        shape = tuple(Extent(target, k) for k in range(rank))
        dtype = like(target) if rank else dtype_of(target)
        make: Stmt = Assign(Var(own), Const(0.0))
        mine: Var | Load = Var(own)
        all_: Var | Load = Var(target)
        if rank:
            make = Alloc(own, shape, Const(0.0), like(target))
            mine, all_ = Load(own, index), Load(target, index)
        return PrivateCopy(
            target,
            own,
            parts,
            Alloc(parts, (count, *shape), None, dtype, loc=loop.loc),
            make,
            _over(index, target, Assign(part, mine)),
            _over(index, target, Add(all_, part)),
        )


def chunk_count(length: Expr, most: int) -> Const:
    """How many chunks a loop has: one per iteration if few are known to be."""
    match length:
        case Const(int(few)) if 0 < few < most:
            return Const(few)
    return Const(most)


def _over(index: tuple[Var, ...], array: str, stmt: Stmt) -> Stmt:
    """`stmt` for all elements of `array`."""
    for k in reversed(range(len(index))):
        stmt = For(index[k].name, ZERO, Extent(array, k), ONE, (stmt,))
    return stmt


def renamed_target(block: Block, old: str, new: str) -> Block:
    """Increments of `old` become increments of `new`; nothing else mentions `old`."""
    result: list[Stmt] = []
    for s in block:
        match s:
            case Add(Load(array, index), _) if array == old:
                result.append(replace(s, target=Load(new, index)))
            case Add(Var(name), _) if name == old:
                result.append(replace(s, target=Var(new)))
            case _:
                inner = tuple(renamed_target(b, old, new) for b in blocks(s))
                result.append(with_blocks(s, inner))
    return tuple(result)
