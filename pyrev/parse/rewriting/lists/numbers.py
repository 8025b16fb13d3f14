"""Which names stand for numbers, and so for no array that others have."""

from __future__ import annotations

from collections import Counter

import gast

from pyrev.parse.bindings import nodes_of, parameters


def numbers(node: gast.AST) -> set[str]:
    """Names that stand for numbers alone, as far as the text tells: by what they are
    bound to, or because tests compare them.
    """
    values: dict[str, list[gast.AST]] = {}
    asked: set[str] = set()
    others: set[str] = set()
    for n in nodes_of(node):
        match n:
            case gast.Assign(targets=[gast.Name(id=name)], value=value):
                values.setdefault(name, []).append(value)
            case gast.AugAssign(target=gast.Name(id=name), value=value):
                values.setdefault(name, []).append(value)
            case gast.For(target=gast.Name(id=name), iter=value) if _counts(value):
                values.setdefault(name, []).append(gast.Constant(0, None))
            case gast.If(test=test) | gast.While(test=test):
                for part in nodes_of(test):
                    if isinstance(part, gast.Compare):
                        sides = (part.left, *part.comparators)
                        asked |= {e.id for e in sides if isinstance(e, gast.Name)}
            case gast.Subscript(value=gast.Name(id=name)):
                others.add(name)
            case gast.Attribute(value=gast.Name(id=name)):
                others.add(name)
            case gast.Call(func=gast.Name(id="len"), args=[gast.Name(id=name)]):
                others.add(name)
    bound = Counter(
        n.id
        for s in node.body
        for n in nodes_of(s)
        if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Store)
    )
    found = {n for n, all_ in values.items() if bound[n] == len(all_)}
    found -= {p.id for p in parameters(node)}
    asked -= others
    while True:
        known = found | asked
        rest = {n for n in found if all(_is_number(e, known) for e in values[n])}
        if rest == found:
            return known
        found = rest


def _counts(e: gast.AST) -> bool:
    """Does a loop run over numbers?"""
    match e:
        case gast.Call(func=gast.Name(id="range" | "prange")):
            return True
    return False


def _is_number(e: gast.AST, numbers: set[str]) -> bool:
    match e:
        case gast.Constant():
            return True
        case gast.Name(id=name):
            return name in numbers
        case gast.BinOp(left=a, right=b):
            return _is_number(a, numbers) and _is_number(b, numbers)
        case gast.UnaryOp(operand=a):
            return _is_number(a, numbers)
        case gast.Call(func=gast.Name(id="len" | "int" | "float")):
            return True
        case gast.Call(func=gast.Attribute(value=gast.Name(id="math"))):
            return True
        case gast.Subscript(value=gast.Attribute(attr="shape"), slice=gast.Constant()):
            return True
    return False
