"""What the arrays beside the kept states take, where a number of bytes is the limit."""

from __future__ import annotations

from dataclasses import replace

from pyrev.analysis.polynomials import from_polynomial, polynomial
from pyrev.ir.diagnostics import Finding, UnsupportedError
from pyrev.ir.dtypes import concrete, infer
from pyrev.ir.nodes import (
    ZERO,
    Alloc,
    Call,
    Expr,
    Extent,
    Grow,
    Loc,
    Program,
    assigned_scalars,
    map_expr,
    map_stmt_exprs,
    mentioned,
    walk,
)
from pyrev.schedule.storage.build import OTHERS
from pyrev.schedule.storage.checkpoint import array_bytes
from pyrev.schedule.storage.plan import Plan


def within_budget(program: Program, plan: Plan) -> Program:
    """`program` with the bytes of all arrays but the kept states in place of `OTHERS`.

    Refused where the shape of one of them is not made of the arguments' sizes: there is
    no telling then what is left for states.
    """
    kept = {p.kept for one in plan.checkpoints for p in one.parts}
    kept |= {one.names.steps for one in plan.checkpoints}
    shapes: dict[str, tuple[Expr, ...]] = {}
    total: Expr = ZERO
    steady = {p.name for p in program.params}
    steady -= frozenset(assigned_scalars(program.body))
    types = infer(program, {p.name: p.dtype for p in program.params})

    def sized(e: Expr) -> Expr:
        if isinstance(e, Extent) and e.array in shapes:
            return shapes[e.array][e.axis]
        return e

    for s in walk(program.body):
        if isinstance(s, Grow):
            raise _unbounded(s.array, s.loc)
        if not isinstance(s, Alloc) or s.array in kept:
            continue
        shape = tuple(map_expr(n, sized) for n in s.shape)
        if any(n not in steady for e in shape for n in mentioned(e)):
            raise _unbounded(s.array, s.loc)
        shapes[s.array] = shape
        own = array_bytes(shape, concrete(types[s.array]))
        total = own if total == ZERO else Call("+", (total, own))
    total = from_polynomial(polynomial(total))
    body = tuple(
        map_stmt_exprs(s, lambda e: total if e == OTHERS else e) for s in program.body
    )
    return replace(program, body=body)


def _unbounded(array: str, loc: Loc) -> UnsupportedError:
    return UnsupportedError(
        (
            Finding(
                "P303",
                loc,
                f"the size of `{array}`, which the derivative needs, is not known"
                " before it is made",
                "leave out `memory`, or give the loop a bound made of sizes",
            ),
        )
    )
