"""Along which axis of a grid the threads of a kernel share out each loop."""

from __future__ import annotations

from collections.abc import Sequence

from pyrev.ir.nodes import Add, Assign, Block, For, Load, exprs, names, walk, walk_expr


def thread_order(loops: Sequence[For], block: Block) -> tuple[For, ...]:
    """The loops of a kernel in the order x, y, z: neighbours in memory along x."""
    if len(loops) < 2:
        return tuple(loops)
    votes = {f.index: 0 for f in loops}
    for s in walk(block):
        for top in exprs(s):
            for e in walk_expr(top):
                if isinstance(e, Load) and e.index:
                    writes = isinstance(s, (Assign, Add)) and e is top
                    for n in names(e.index[-1]) & votes.keys():
                        votes[n] += 2 if writes else 1
    order = list(reversed(loops))
    best = max(order, key=lambda f: votes[f.index])
    order.remove(best)
    return (best, *order)
