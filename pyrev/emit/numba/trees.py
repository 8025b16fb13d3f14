"""Statements of Python that every part of a Numba module is made of."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from pyrev.ir.text import name, store


def decorators(how: str) -> list[ast.expr]:
    """``@njit(**how)``, or nothing."""
    if not how:
        return []
    return [ast.Call(name("njit"), [], [ast.keyword(None, name(how))])]


def assign(target: str, value: ast.expr) -> ast.stmt:
    """``target = value``"""
    return ast.Assign([store(name(target))], value, None)


def returned(outputs: Sequence[str]) -> ast.stmt:
    """Leave a function with the values of these names."""
    return result([name(n) for n in outputs], len(outputs) == 1)


def result(values: list[ast.expr], single: bool) -> ast.stmt:
    """Leave a function with one value, or with a tuple of them."""
    if single:
        return ast.Return(values[0])
    return ast.Return(ast.Tuple(values, ast.Load()) if values else None)


def receive(outputs: Sequence[str], tree: ast.expr) -> ast.stmt:
    """A call, and its results in these names."""
    if not outputs:
        return ast.Expr(tree)
    targets = [store(name(n)) for n in outputs]
    one = targets[0] if len(targets) == 1 else ast.Tuple(targets, ast.Store())
    return ast.Assign([one], tree, None)
