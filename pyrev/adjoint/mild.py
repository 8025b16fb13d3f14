"""Names that hold finite numbers wherever the arguments are finite.

Nothing in them divides, or takes a root or a logarithm: an infinity comes from the
caller, or from a value that leaves the range of its dtype.
"""

from __future__ import annotations

import math

from pyrev.adjoint.rules import is_tame
from pyrev.ir.nodes import (
    Add,
    Alloc,
    Assign,
    Call,
    Const,
    Expr,
    Extent,
    Load,
    Program,
    Var,
    walk,
)
from pyrev.ir.opaque import Opaque

_MILD = frozenset("+ - * neg abs min max sin cos tanh float float32 float64".split())


def wild(program: Program) -> frozenset[str]:
    """The names of a program of which that is not known.

    >>> from pyrev.parse import parse_text
    >>> f = parse_text('''
    ... def f(x, y):
    ...     for i in range(len(x)):
    ...         d = x[i] - y[i]
    ...         e = d * d
    ...         q = d / y[i]
    ...         r = 1.0 - q
    ... ''')
    >>> sorted(wild(f))
    ['q', 'r']
    """
    stored: list[tuple[str, Expr]] = []
    for s in walk(program.body):
        match s:
            case Assign(value=value) | Add(value=value):
                stored.append((s.target_name, value))
            case Alloc(array, opaque=Opaque()):
                stored.append((array, Const(math.inf)))  # for all that is known
            case Alloc(array, fill=fill):
                stored += [(array, e) for e in (fill,) if e is not None]
                stored += [(array, Var(n)) for n in (s.copied,) if n is not None]
    found: frozenset[str] = frozenset()
    while more := {n for n, e in stored if n not in found and not is_mild(e, found)}:
        found |= more
    return found


def is_mild(e: Expr, wild: frozenset[str]) -> bool:
    """Is a value finite if these are all the names that may not be?"""
    match e:
        case Const(value):
            return math.isfinite(value)
        case Extent():
            return True
        case Var(name) | Load(name, _):
            return name not in wild
        case Call("where", (_, *args)):
            return all(is_mild(a, wild) for a in args)
        case Call(op, args) if op in _MILD or is_tame(op, args):
            return all(is_mild(a, wild) for a in args)
    return False
