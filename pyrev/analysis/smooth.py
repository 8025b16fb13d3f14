"""Where the rounding of a float decides more than the last digits of a result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pyrev.ir.dtypes import is_float, known_dtype
from pyrev.ir.nodes import Alloc, Call, Expr, Program, exprs, walk, walk_expr
from pyrev.ir.primitives import PRIMITIVES

_ARITHMETIC = {"+", "-", "*", "/", "**", "neg", "float", "float32", "float64"}


def is_smooth(op: str) -> bool:
    """Is an operation on floats without jumps and kinks, so that all that rounding
    does to its arguments is to move its result a little?
    """
    known = PRIMITIVES.get(op)
    if op in _ARITHMETIC:
        return True
    return (
        known is not None
        and known.result == "float"
        and op != "copysign"
        and any(partial != "0" for _, partial in known.partials)
    )


def edges(program: Program, types: Mapping[str, str]) -> Iterator[str]:
    """The operations in `program` by which the rounding of a float may change what
    runs, which element is meant, or which side of a jump or a kink a value is on.

    `types` are the dtypes of all names. For a choice its test alone counts.

    >>> from pyrev.parse import parse
    >>> def f(x, out):
    ...     for i in range(out.shape[0]):
    ...         out[i] = x[i] * x[i] if i > 2 else abs(x[i])
    >>> from pyrev.ir.dtypes import infer
    >>> program = parse(f).program
    >>> list(edges(program, infer(program)))
    ['abs']
    """
    for stmt in walk(program.body):
        if isinstance(stmt, Alloc) and (stmt.places or stmt.opaque is not None):
            yield stmt.opaque.function if stmt.opaque is not None else "argsort"
        for top in exprs(stmt):
            for e in walk_expr(top):
                if isinstance(e, Call) and _decides(e, types):
                    yield e.op


def _decides(e: Call, types: Mapping[str, str]) -> bool:
    of: tuple[Expr, ...] = e.args[:1] if e.op == "where" else e.args
    dtypes = [known_dtype(a, types) for a in of]
    floats = any(d is None or is_float(d) for d in dtypes)
    return floats and not is_smooth(e.op)
