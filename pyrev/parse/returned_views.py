"""Which returned arrays are views of the caller's, and of which part.

The program returns a copy of the part; this reads from the statements that make the
copy where its elements stand, so that the caller can be given the view.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyrev.ir.diagnostics import Findings, InternalError
from pyrev.ir.nodes import (
    Alloc,
    Assign,
    Block,
    Call,
    Expr,
    Load,
    Loc,
    Param,
    Var,
    View,
    assigned_scalars,
    mentioned,
    walk,
    walk_expr,
)


def lent(
    block: Block,
    copies: Mapping[str, tuple[str, Loc]],
    params: tuple[Param, ...],
    findings: Findings,
) -> tuple[View, ...]:
    """The views behind `copies`; reports those that depend on more than arguments."""
    steady = {p.name for p in params} - set(assigned_scalars(block))
    found: list[View] = []
    for name, (base, at) in copies.items():
        view = _view(block, name, base)
        known = steady | set(view.axes)
        if _is_bent(view):
            findings.add(
                "P110",
                at,
                f"`{base}` is returned in another shape",
                "return a copy of it: `a.flatten()`, `a.reshape(n, m).copy()`",
            )
        elif any(
            n not in known for e in (*view.index, *view.shape) for n in mentioned(e)
        ):
            findings.add(
                "P110",
                at,
                f"a part of `{base}` is returned that is known only when it runs",
                "return a copy of it, with `.copy()`",
            )
        else:
            found.append(view)
    return tuple(found)


def _is_bent(view: View) -> bool:
    """Do the elements lie so that no strides say where?"""
    return any(
        isinstance(e, Call) and e.op in ("//", "%") and {*mentioned(e)} & {*view.axes}
        for top in view.index
        for e in walk_expr(top)
    )


def _view(block: Block, name: str, base: str) -> View:
    shape: tuple[Expr, ...] = ()
    for s in walk(block):
        match s:
            case Alloc(array, extents) if array == name:
                shape = extents
            case Assign(Load(array, target), Load(source, index)) if (
                array == name and source == base
            ):
                # Along an axis of length one nothing moves.
                axes = tuple(
                    e.name if isinstance(e, Var) else f"@{k}"
                    for k, e in enumerate(target)
                )
                return View(name, base, axes, index, shape)
    raise InternalError(f"nothing fills `{name}`, which is returned")
