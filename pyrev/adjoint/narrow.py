"""The adjoint of a float32 scalar is a float32, as the gradient of a float32 array is.

Where the primal stores a float32 in a float64 array, the adjoint that comes back is a
float64; undoing the conversion converts it back. All that is computed from it would be
float64 otherwise: twice the bytes, and half as many numbers in a vector.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pyrev.adjoint.activity import returned
from pyrev.adjoint.reverse import Adjoint
from pyrev.ir import (
    Add,
    Assign,
    Block,
    Call,
    Program,
    Stmt,
    Var,
    blocks,
    with_blocks,
)
from pyrev.types import expr_dtype, infer


def narrowed(program: Program, adjoint: Adjoint, primal: Program) -> Program:
    """`program`, made of `adjoint`, with no scalar wider than its primal is.

    Its parameters have their dtypes.
    """
    of_primal = infer(primal, {p.name: p.dtype for p in primal.params})
    narrow = {d for name, d in adjoint.names if of_primal.get(name) == "float32"}
    # Those of parameters are results: what is summed up in them is rounded once.
    given = {p.name for p in primal.params}
    narrow -= {d for name, d in adjoint.names if name in given}
    dtypes = {p.name: p.dtype for p in program.params}
    result = returned(primal)
    for name, of in adjoint.cotangents:
        if isinstance(of, int) and result is not None:
            kind = expr_dtype(result.values[of], of_primal)
            dtypes[name] = "float32" if kind == "float32" else "float64"
    wide = {n for n, kind in infer(program, dtypes).items() if kind == "float64"}
    if not narrow & wide:
        return program
    cast = replace(program, body=_cast(program.body, narrow, None))
    types = infer(cast, dtypes)
    # Of the conversions those stay whose operand is still wider.
    return replace(program, body=_cast(program.body, narrow, types))


def _cast(block: Block, narrow: set[str], types: Mapping[str, str] | None) -> Block:
    def statement(s: Stmt) -> Stmt:
        match s:
            case Assign(Var(name), value) | Add(Var(name), value) if name in narrow:
                if types is None or expr_dtype(value, types) == "float64":
                    return replace(s, value=Call("float32", (value,), loc=s.loc))
                return s
        return with_blocks(s, tuple(_cast(b, narrow, types) for b in blocks(s)))

    return tuple(map(statement, block))
