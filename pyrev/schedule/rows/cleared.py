"""Arrays that every iteration leaves full of zeros are cleared where it begins.

The adjoint of what a time loop computes anew is zero again at the end of an iteration:

    d = np.zeros(n)                          d = np.empty(n)
    for t in reversed(range(steps)):         for t in reversed(range(steps)):
        for i in range(n):                       for i in range(n):
            d[i] += g[i]              ->             d[i] = 0.0
        for i in range(n):                       for i in range(n):
            g[i] = d[i] * a[i]                       d[i] += g[i]
            d[i] = 0.0                           for i in range(n):
                                                     g[i] = d[i] * a[i]

In front of the loop that adds to it first the zeros are written into the cache, or not
at all; behind the last one they go to memory and back.
"""

from __future__ import annotations

from dataclasses import replace

from pyrev.ir.liveness import occurs, touched
from pyrev.ir.nodes import (
    Alloc,
    Block,
    Const,
    For,
    Grow,
    Restart,
    Return,
    While,
    assigned_scalars,
    blocks,
    exprs,
    names,
    walk,
    with_blocks,
    written,
)
from pyrev.schedule.rows.first_writes import last_zeros


def cleared(block: Block) -> Block:
    """`block` with such zeros written at the beginning of iterations, everywhere in it.

    Law: every element has the same value wherever it is read.
    """
    out = [with_blocks(s, tuple(cleared(b) for b in blocks(s))) for s in block]
    for k, made in enumerate(block):
        if not isinstance(made, Alloc) or made.source is not None:
            continue
        if not isinstance(made.fill, Const) or made.fill.value != 0:
            continue
        users = [n for n in range(k + 1, len(out)) if made.array in touched(out[n])]
        if len(users) != 1:
            continue  # something else reads what the loop leaves
        loop = out[users[0]]
        if not isinstance(loop, For | While) or isinstance(loop, For) and loop.parallel:
            continue
        if any(made.array in names(e) for e in exprs(loop)):
            continue  # its test or its range is asked for between two iterations
        body = _turned(made, loop.body)
        if body is not None:
            out[k] = replace(made, fill=None)
            out[users[0]] = replace(loop, body=body)
    return tuple(out)


def _turned(made: Alloc, body: Block) -> Block | None:
    """The body of a loop with the zeros at its beginning; None if it may not be."""
    users = [k for k, s in enumerate(body) if occurs((s,), made.array)]
    leaves = Grow | Restart | Return
    if len(users) < 2 or any(isinstance(s, leaves) for s in walk(body)):
        return None
    first, last = users[0], users[-1]
    found = last_zeros(body[last], made)
    if found is None:
        return None
    rest, zeros = found
    nest = [s for s in walk((zeros,)) if isinstance(s, For)]
    bounds = {n for s in nest for e in exprs(s) for n in names(e)}
    # No size may be another one by then, and no number be lost that is read behind.
    if bounds & written(body) or {s.index for s in nest} & {*assigned_scalars(body)}:
        return None
    return (*body[:first], zeros, *body[first:last], *rest, *body[last + 1 :])
