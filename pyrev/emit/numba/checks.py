"""Tests of what raises in CPython: they leave the function that runs."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from pyrev.emit.faults import FAULTS, all_of
from pyrev.emit.numba.module import Mode, Module, loose
from pyrev.emit.numba.trees import returned
from pyrev.emit.numba.typed import printed
from pyrev.ir.nodes import ZERO, Alloc, Call, Expr, Loc, Stmt
from pyrev.ir.printer import tag
from pyrev.ir.text import call, name, store, subscript


def guards(m: Module, s: Stmt, parts: Sequence[Expr], mode: Mode) -> list[ast.stmt]:
    """Leave the function if evaluating `parts` would raise in CPython."""
    out: list[ast.stmt] = []
    for fault, (error, what) in FAULTS.items():
        test = all_of(m.faults.sound(p, fault) for p in parts)
        if test is not None:
            out.append(unless(m, test, error, what, s.loc, mode))
    return out


def sizes(m: Module, s: Alloc, mode: Mode) -> list[ast.stmt]:
    """Leave the function if a new array would have a negative size."""
    test = all_of(Call("<=", (ZERO, n)) for n in loose(s))
    if test is None:
        return []
    what = "negative dimensions are not allowed"
    return [unless(m, test, "ValueError", what, s.loc, mode)]


def unless(
    m: Module, test: Expr, error: str, what: str, at: Loc, mode: Mode
) -> ast.stmt:
    """Leave the function, with what it says of its error, unless `test` holds."""
    message = f"{at.place}: {what}"
    failing = ast.UnaryOp(ast.Not(), printed(m, test))
    if mode.outputs is None:
        raised = ast.Raise(call(error, ast.Constant(message)), None)
        return tag(ast.If(failing, [raised], []), at)
    if (error, message) not in m.places:
        m.places.append((error, message))
    code = 1 + m.places.index((error, message))
    place = store(subscript(name(m.state), [ast.Constant(0)]))
    failed: list[ast.stmt] = [
        ast.Assign([place], ast.Constant(code), None),
        returned(mode.outputs),
    ]
    return tag(ast.If(failing, failed, []), at)


def stopped(m: Module, s: Stmt, mode: Mode) -> list[ast.stmt]:
    """After a call in which something may have failed: go no further."""
    if not m.can_fail((s,)):
        return []
    failed = subscript(name(m.state), [ast.Constant(0)])
    if mode.outputs is None:
        leave: ast.stmt = ast.Raise(call("RuntimeError", ast.Constant("stopped")))
    else:
        leave = returned(mode.outputs)
    return [ast.If(failed, [leave], [])]
