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
    bound_again = {name for name, _ in w.aliases.replaced}
    found: set[str] = set()
    for flat in w.found.flat:
        array = flat.array
        if array not in w.storage.changed[flat.since :]:
            continue
        if array in given and flat.rows:
            found.add(array)
            continue
        sure = array in w.storage.by_rows and array not in bound_again
        if flat.rows and array not in given and (sure or rank_of(w, array) == 1):
            continue
        w.refuse(
            "P209",
            flat.at,
            "an array is written to in another shape, and whether that is a copy"
            " depends on how it lies in memory",
            "make it with `np.zeros(shape)` or as `.copy()`, with a name of its own",
        )
    return tuple(sorted(found & written(body)))
