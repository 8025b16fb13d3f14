"""What the loops of a kernel add to one place is summed up in locals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pyrev.emit.c import literal
from pyrev.emit.cuda.named import Named, ascii_name
from pyrev.ir.dtypes import is_float
from pyrev.ir.nodes import (
    Add,
    Assign,
    Block,
    Call,
    Check,
    Const,
    Expr,
    For,
    If,
    Load,
    Stmt,
    Var,
    blocks,
    exprs,
    fresh,
    walk,
    walk_expr,
    with_blocks,
    written,
)
from pyrev.ir.reductions import reductions


def summed(block: Block, kernel: Named) -> Block:
    """The block with sums of loops into one place kept in locals while they run."""
    out: list[Stmt] = []
    for s in block:
        if isinstance(s, For):
            out += _with_locals(s, kernel)
        else:
            inner = tuple(summed(b, kernel) for b in blocks(s))
            out.append(with_blocks(s, inner) if inner else s)
    return tuple(out)


def _with_locals(loop: For, kernel: Named) -> list[Stmt]:
    """A loop with a local for each place that all of it only adds to.

    A local starts as -0.0. If it still is, nothing was added, or nothing that makes a
    difference: then the place is left alone, which need not exist or is another
    thread's.
    """
    fails = kernel.module.faults
    inside, alone = written((loop,)), reductions((loop,))
    added: dict[Load, None] = {}
    for s in walk(loop.body):
        if isinstance(s, Add) and isinstance(s.target, Load):
            parts = [e for k in s.target.index for e in walk_expr(k)]
            moves = any(isinstance(e, Var) and e.name in inside for e in parts)
            if not moves and not any(isinstance(e, Load) for e in parts):
                added[s.target] = None
    places = [
        t
        for t in added
        if t.array not in kernel.atomic | kernel.local.keys()
        and all(map(kernel.natural, t.index))
        and {s.target for s in alone.get(t.array, ())} == {t}
    ]
    if not places or any(
        isinstance(x, Check) or any(map(fails.fails, exprs(x))) for x in walk((loop,))
    ):
        return [replace(loop, body=summed(loop.body, kernel))]
    pairs: dict[Var | Load, Var] = {}
    for t in places:
        local = Var(fresh(ascii_name(f"sum_{t.array}"), kernel.names))
        kernel.types[local.name] = kernel.types[t.array]
        kernel.accumulators[t] = pairs[t] = local
    start = [Assign(v, _nothing(kernel.types[v.name])) for v in pairs.values()]
    ends: list[Stmt] = []
    for t, v in zip(places, pairs.values(), strict=True):
        ends.append(If(Call("added", (v,)), (Add(t, v, loc=loop.loc),), loc=loop.loc))
    body = retargeted(loop.body, pairs, kernel)
    return [*start, replace(loop, body=body), *ends]


def retargeted(block: Block, locals_: Mapping[Var | Load, Var], kernel: Named) -> Block:
    """The block with what is added to these places added to locals."""
    new = _retargeted(block, locals_)
    kernel.module.faults.follow(new, block)
    return new


def _retargeted(block: Block, locals_: Mapping[Var | Load, Var]) -> Block:
    out: list[Stmt] = []
    for s in block:
        if isinstance(s, Add) and s.target in locals_:
            s = replace(s, target=locals_[s.target])
        elif blocks(s):
            s = with_blocks(s, tuple(_retargeted(b, locals_) for b in blocks(s)))
        out.append(s)
    return tuple(out)


def start(kind: str) -> str:
    """The literal that a sum of a dtype starts from."""
    return literal(-0.0 if is_float(kind) else 0, kind)[0]


def _nothing(dtype: str) -> Expr:
    """What changes no sum."""
    return Const(-0.0 if is_float(dtype) else 0)
