"""Tests in a derivative that only spare a product with zero, and decide nothing.

A derivative is emitted so that a zero cotangent contributes exactly nothing, where a
partial may be infinite or nan: ``d * p if d != 0.0 else 0.0``. As a function of `d`
that is the product itself. Its derivative by `d` is `p`, at zero too, and not that of
the constant: the Hessian of a misfit, for one, is asked for where the misfit is zero.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyrev.ir import (
    Add,
    Assign,
    Call,
    Const,
    Expr,
    Load,
    Program,
    Var,
    exprs,
    substitute,
    walk,
    walk_expr,
)

#: The places of a program and what is stored in each.
Stored = Mapping[str, list[tuple[Var | Load, Expr]]]


def spared(program: Program) -> frozenset[Expr]:
    """The selections of a derivative that spare a product with zero.

    Selections of the user's own decide what they say.

    >>> from dataclasses import replace
    >>> from pyrev.parse import parse_text
    >>> from pyrev.show import expr_text
    >>> f = parse_text('''
    ... def f(d, p, x):
    ...     v = d * p
    ...     a = v / x if d != 0.0 else 0.0
    ...     b = d + x if d != 0.0 else 0.0
    ...     return a + b
    ... ''')
    >>> [expr_text(e) for e in spared(replace(f, derived=True))]
    ['v / x if d != 0.0 else 0.0']
    """
    if not program.derived:
        return frozenset()
    stored: dict[str, list[tuple[Var | Load, Expr]]] = {}
    for s in walk(program.body):
        if isinstance(s, (Assign, Add)):
            stored.setdefault(s.target_name, []).append((s.target, s.value))
    found: set[Expr] = set()
    for s in walk(program.body):
        for top in exprs(s):
            for e in walk_expr(top):
                if e not in found and (parts := guarded(e)) is not None:
                    d, value = parts
                    if _vanishes(value, d, stored, frozenset()):
                        found.add(e)
    return frozenset(found)


def guarded(e: Expr) -> tuple[Expr, Expr] | None:
    """What is compared with zero, and what is selected unless it is zero."""
    match e:
        case Call("where", (Call("!=", (d, Const(z))), value, Const(other))):
            pass
        case Call("where", (Call("==", (d, Const(z))), Const(other), value)):
            pass
        case _:
            return None
    return (d, value) if z == 0 and other == 0 else None


def _vanishes(e: Expr, d: Expr, stored: Stored, asked: frozenset[Expr]) -> bool:
    """Is `e` zero where `d` is, if all that it is made of is finite?"""
    if e == d or e in asked:
        return True
    match e:
        case Const(value):
            return value == 0
        case Var(name) | Load(name, _):
            values = [_there(e, *s) for s in stored.get(name, ())]
            asked |= {e}
            return bool(values) and all(
                v is not None and _vanishes(v, d, stored, asked) for v in values
            )
        case Call("neg" | "float" | "float32" | "float64", (a,)):
            return _vanishes(a, d, stored, asked)
        case Call("*", args):
            return any(_vanishes(a, d, stored, asked) for a in args)
        case Call("/", (a, _)):
            return _vanishes(a, d, stored, asked)
        case Call("+" | "-", args):
            return all(_vanishes(a, d, stored, asked) for a in args)
        case Call("where", (_, *args)):
            return all(_vanishes(a, d, stored, asked) for a in args)
    return False


def _there(e: Var | Load, target: Var | Load, value: Expr) -> Expr | None:
    """What a statement stores, as it is where `e` reads it; None if not known."""
    if e == target or not isinstance(e, Load) or not isinstance(target, Load):
        return value
    moved: dict[str, Expr] = {}
    for k, at in zip(target.index, e.index, strict=True):
        if isinstance(k, Var) and moved.setdefault(k.name, at) == at:
            continue
        if k != at:
            return None
    return substitute(value, moved)
