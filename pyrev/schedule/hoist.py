"""Which arrays of a program can be made before all else."""

from __future__ import annotations

from collections.abc import Callable

from pyrev.ir.nodes import (
    Alloc,
    Const,
    Expr,
    Load,
    Program,
    Var,
    mentioned,
    walk,
    walk_expr,
    written,
)


def made_first(program: Program, fails: Callable[[Expr], bool]) -> list[Alloc]:
    """The arrays that can be made before anything runs: NumPy makes them.

    Its memory comes in huge pages and is zeroed where it is first touched, by all
    threads; Numba's is not, which costs more than many a kernel that fills it.
    `fails` says whether evaluating an expression may raise.
    """
    first: list[Alloc] = []
    changed = written(program.body)
    params = {p.name for p in program.params}
    allocs = [s for s in walk(program.body) if isinstance(s, Alloc)]
    known = {p for p in params if p not in {s.array for s in allocs}}
    for s in program.body:
        if not isinstance(s, Alloc) or [a.array for a in allocs].count(s.array) > 1:
            continue
        if s.fill is not None and not isinstance(s.fill, Const):
            continue
        if s.opaque is not None:
            continue
        if s.source is not None and (s.source in changed or s.source not in params):
            continue
        parts = [e for n in s.shape for e in walk_expr(n)]
        if any(isinstance(e, Load) for e in parts):
            continue
        if any(map(fails, s.shape)):
            continue
        needs = {n for e in parts for n in mentioned(e)}
        scalars = {n for e in parts if isinstance(e, Var) for n in mentioned(e)}
        if needs <= known and not scalars & changed:
            first.append(s)
            known.add(s.array)
    return first
