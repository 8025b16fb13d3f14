"""Tests of what raises in CPython: they leave the function that runs."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from pyrev.emit.faults import FAULTS, all_of
from pyrev.emit.numba.module import Mode, Module
from pyrev.emit.numba.trees import returned
from pyrev.emit.numba.typed import printed, typed
from pyrev.ir.dtypes import concrete, is_float
from pyrev.ir.nodes import ZERO, Alloc, Call, Expr, Given, Loc, Stmt
from pyrev.ir.printer import tag
from pyrev.ir.text import call, expr_tree, name, negation, store, subscript


def guards(m: Module, s: Stmt, parts: Sequence[Expr], mode: Mode) -> list[ast.stmt]:
    """Leave the function if evaluating `parts` would raise in CPython."""
    out: list[ast.stmt] = []
    for fault, (error, what) in FAULTS.items():
        test = m.faults.tests(s, parts, fault)
        if test is not None:
            message = f"{s.loc.place}: {what}"
            out.append(unless(m, test, error, (message,), s.loc, mode))
    return out


def sizes(m: Module, s: Alloc, mode: Mode) -> list[ast.stmt]:
    """Leave the function if a new array would have a negative size."""
    test = all_of(Call("<=", (ZERO, n)) for n in m.maybe_negative(s))
    if test is None:
        return []
    message = f"{s.loc.place}: negative dimensions are not allowed"
    return [unless(m, test, "ValueError", (message,), s.loc, mode)]


def unless(
    m: Module,
    test: Expr,
    error: str,
    given: tuple[Given, ...],
    at: Loc,
    mode: Mode,
    values: Sequence[Expr] = (),
) -> ast.stmt:
    """Leave the function with an error made of what is `given`, unless `test` holds.

    The `values` that its message has go into `status`, behind the number of the error.
    """
    failing = printed(m, negation(test))
    if mode.outputs is None and not values:
        raised = ast.Raise(call(error, *map(ast.Constant, given)), None)
        return tag(ast.If(failing, [raised], []), at)
    # What is equal need not be the same: ``1 == True``.
    told = [typed(m, e) for e in values]
    kinds = tuple(concrete(dtype) for _, dtype in told)
    key = error, tuple(map(repr, given)), kinds
    code = m.places.setdefault(key, (1 + len(m.places), error, given, kinds))[0]
    numbers = [ast.Constant(code), *(_bits(e, dtype) for e, dtype in told)]
    failed: list[ast.stmt] = [
        ast.Assign([store(subscript(name(m.state), [ast.Constant(k)]))], number, None)
        for k, number in enumerate(numbers)
    ]
    leave: ast.stmt = ast.Raise(call("RuntimeError", ast.Constant("stopped")))
    failed.append(leave if mode.outputs is None else returned(mode.outputs))
    return tag(ast.If(failing, failed, []), at)


def _bits(e: Expr, dtype: str) -> ast.expr:
    """A number as an integer of 64 bits, which a float's are."""
    if not is_float(dtype):
        return expr_tree(e)
    wide = call("np.float64", expr_tree(e))
    return ast.Call(ast.Attribute(wide, "view", ast.Load()), [name("np.int64")], [])


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
