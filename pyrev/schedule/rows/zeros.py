"""Arrays of zeros filled row by row, by the loop that adds to them first."""

from __future__ import annotations

from dataclasses import replace

from pyrev.ir.accesses import accesses
from pyrev.ir.affine import largest
from pyrev.ir.liveness import touched
from pyrev.ir.nodes import (
    ONE,
    ZERO,
    Alloc,
    Assign,
    Block,
    Call,
    Const,
    Expr,
    Extent,
    For,
    Grow,
    If,
    Load,
    Stmt,
    Var,
    fresh,
    names,
    walk,
    written,
)


def zeroed(block: Block, taken: set[str]) -> Block:
    """New arrays of zeros filled row by row, where the first loop over them can."""
    out: list[Block] = [(s,) for s in block]
    for k, stmt in enumerate(block):
        match stmt:
            case Alloc(array, (_, _, *_), Const(), source=None):
                pass
            case _:
                continue
        first = next(
            (n for n in range(k + 1, len(block)) if array in touched(block[n])),
            None,
        )
        if first is None or not isinstance(nest := out[first][0], For):
            continue
        # What the sizes are made of may have changed since.
        sizes = frozenset().union(*map(names, stmt.shape))
        if sizes & written(block[k + 1 : first + 1]):
            continue
        made = _with_zeros(stmt, nest, taken)
        if made is not None:
            out[k] = (replace(stmt, fill=None),)
            out[first] = (*made, *out[first][1:])
    return tuple(s for made in out for s in made)


def _indices(loop: For, count: int, scope: set[str]) -> tuple[Var, ...]:
    """Indices for loops beside those in `loop`: theirs, as far as there are any."""
    found: list[Var] = []
    inner: Stmt | None = loop
    for name in ("z", "zy", "zx", "zw")[:count]:
        if isinstance(inner, For):
            inner = next((s for s in walk(inner.body) if isinstance(s, For)), None)
        own = inner.index if isinstance(inner, For) else fresh(name, scope)
        found.append(Var(own))
    return tuple(found)


def _with_zeros(made: Alloc, nest: For, taken: set[str]) -> Block | None:
    """The nest with zeros before it adds to a row, and the rows it leaves out."""
    assert made.fill is not None
    fill = made.fill
    chain = [nest]
    while len(chain[-1].body) == 1:
        inner = chain[-1].body[0]
        if not (isinstance(inner, For) and inner.parallel):
            break
        chain.append(inner)
    array, rank = made.array, len(made.shape)
    depth = min(len(chain), rank - 1)
    heads = tuple(Var(loop.index) for loop in chain[:depth])
    found = list(accesses(nest.body, array))
    if (
        len(chain) > depth
        or not all(f.parallel and f.lo == ZERO and f.step == ONE for f in chain)
        or not all(index[:depth] == heads for index in found)
        or any(array in names(e) for f in chain for e in (f.lo, f.hi))
        or any(isinstance(s, (Alloc, Grow)) for s in walk(nest.body))
    ):
        return None
    full = [f.hi in (made.shape[k], Extent(array, k)) for k, f in enumerate(chain)]
    if not all(full[:-1]):
        return None
    scope = set(taken)
    rest = _indices(chain[-1], rank - depth, scope)
    if len(rest) < rank - depth:
        return None

    def size(k: int) -> Expr:
        own = made.shape[k]
        return own if isinstance(own, (Const, Extent)) else Extent(array, k)

    def zeros(head: Expr) -> Stmt:
        index = (*heads[:-1], head, *rest)
        stmt: Stmt = Assign(Load(array, index), fill, loc=made.loc)
        for k in reversed(range(depth, rank)):
            stmt = For(
                rest[k - depth].name,
                ZERO,
                size(k),
                ONE,
                (stmt,),
                loc=made.loc,
            )
        return stmt

    row = zeros(heads[-1])
    last = size(depth - 1)
    left: Block = ()
    if not full[-1]:
        row = If(Call("<", (heads[-1], last)), (row,), loc=made.loc)
        more = Var(fresh(chain[-1].index, scope))
        start = largest((ZERO, chain[-1].hi))
        note = f"the rows of {array} that nothing is added to"
        tail: Stmt = For(
            more.name, start, last, ONE, (zeros(more),), loc=made.loc, note=note
        )
        for loop in reversed(chain[:-1]):
            tail = replace(loop, body=(tail,), parallel=None, note="")
        left = (tail,)
    body: Block = (row, *chain[-1].body)
    for loop in reversed(chain):
        body = (replace(loop, body=body),)
    return (*body, *left)
