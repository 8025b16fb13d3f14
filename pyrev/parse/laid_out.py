"""Arrays that are given another shape: NumPy has a view only where they lie in memory
row by row, and a copy where they don't. It shows when one of the two is written to.
"""

from __future__ import annotations

from pyrev.ir.nodes import Block, Param, written
from pyrev.parse.names import rank_of
from pyrev.parse.walk import Walk


def written_flat(w: Walk, body: Block, params: tuple[Param, ...]) -> tuple[str, ...]:
    """The parameters that have to lie row by row; local arrays that might not are
    refused.
    """
    given = {p.name for p in params}
    changed = written(body) & given
    bound_again = {name for name, _ in w.aliases.replaced}
    for array, at in w.found.flat.items():
        sure = array in w.storage.by_rows and array not in bound_again
        if array in given or sure or array not in w.storage.changed:
            continue
        if rank_of(w, array) == 1:
            continue
        w.refuse(
            "P209",
            at,
            "an array is written to in another shape, and whether that is a copy"
            " depends on how it lies in memory",
            "make it with `np.zeros(shape)` or as `.copy()`, with a name of its own",
        )
    return tuple(sorted(w.found.flat.keys() & changed))
