"""What one iteration adds to an element that is its own is added up in a number.

    d = np.zeros(n)                          d = np.empty(n)
    for i in range(n):                       for i in range(n):
        if test[i] > 0:                          own_d = 0.0
            d[i] += a[i]          ->             if test[i] > 0:
        d[i] += b[i]                                 own_d += a[i]
                                                 own_d += b[i]
                                                 d[i] = own_d

Zeros need not be written before and read again, and increments on some paths are
choices between numbers, which vector instructions make, not between stores.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pyrev.ir.accesses import accesses
from pyrev.ir.dtypes import WEAK_FLOAT, WEAK_INT, concrete, expr_dtype
from pyrev.ir.liveness import occurs, touched
from pyrev.ir.nodes import (
    Add,
    Alloc,
    Assign,
    Block,
    Const,
    Expr,
    For,
    Grow,
    If,
    Load,
    Return,
    Stmt,
    Tell,
    Var,
    exprs,
    fresh,
    map_block,
    names,
    walk,
    with_blocks,
    written,
)
from pyrev.schedule.rows.first_writes import covers


def owned(block: Block, types: dict[str, str], taken: set[str]) -> Block:
    """`block` with such arrays made without zeros, where the first loop over them can.

    Law: the same values, to the bit. `types` are the dtypes of the names; those of new
    names are put into it. Arrays that are set in every iteration are left to
    `set_first`.
    """
    out = list(block)
    for k, made in enumerate(block):
        if not isinstance(made, Alloc) or not isinstance(made.fill, Const):
            continue
        if made.source is not None or made.fill.value != 0:
            continue
        at = next(
            (n for n in range(k + 1, len(out)) if made.array in touched(out[n])), None
        )
        if at is None:
            continue
        # What the sizes are made of may have changed since.
        sizes = frozenset().union(*map(names, made.shape))
        if sizes & written(block[k + 1 : at + 1]):
            continue
        changed = _in_loop(out[at], made, (), types, taken)
        if changed is not None:
            out[k], out[at] = replace(made, fill=None), changed
    return tuple(out)


def _in_loop(
    s: Stmt,
    made: Alloc,
    around: tuple[For, ...],
    types: dict[str, str],
    taken: set[str],
) -> Stmt | None:
    """`s` with the sums of an iteration in a number; None if it can't be."""
    if not isinstance(s, For) or s.index in written(s.body):
        return None
    loops = (*around, s)
    users = [k for k, inner in enumerate(s.body) if occurs((inner,), made.array)]
    if len(users) == 1 and isinstance(inner := s.body[users[0]], For):
        found = _in_loop(inner, made, loops, types, taken)
        if found is None:
            return None
        body = (*s.body[: users[0]], found, *s.body[users[0] + 1 :])
        return with_blocks(s, (body,))
    if not any(isinstance(s.body[k], If) for k in users):
        return None
    targets = {*accesses(s.body, made.array)}
    if len(targets) != 1:
        return None
    (index,) = targets
    if not covers(Load(made.array, index), made, loops):
        return None
    if not _sums(s.body, made, types):
        return None
    own = Var(fresh(f"own_{made.array}", taken))
    types[own.name] = concrete(types[made.array])

    def one(e: Expr) -> Expr:
        return own if isinstance(e, Load) and e.array == made.array else e

    assert made.fill is not None
    start = Assign(own, made.fill, loc=made.loc)
    end = Assign(Load(made.array, index), own, loc=s.loc)
    # The number lives as short as it can.
    first, last = users[0], users[-1] + 1
    middle = map_block(s.body[first:last], one)
    return with_blocks(s, ((*s.body[:first], start, *middle, end, *s.body[last:]),))


def _sums(body: Block, made: Alloc, types: Mapping[str, str]) -> bool:
    """Is every value that is stored of the array's dtype, and seen by nothing else?"""
    dtype = concrete(types[made.array])
    stored: set[str] = set()
    for s in walk(body):
        match s:
            case Alloc() if made.array in s.sources:
                return False
            case Grow(made.array) | Return() | Tell():
                return False
            case Assign(Load(made.array), value) | Add(Load(made.array), value):
                stored.add(expr_dtype(value, types))
        if any(isinstance(e, Var) and e.name == made.array for e in exprs(s)):
            return False
    weak = {WEAK_FLOAT, WEAK_INT}
    return stored - weak == {dtype} or dtype == "float64" and stored <= {dtype} | weak
