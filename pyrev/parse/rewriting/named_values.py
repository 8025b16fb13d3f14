"""Values that are named inside an expression get their names in a statement before.

Where Python always computes such a value, and before anything that could tell the
difference, ``if (v := f(x)) > 0:`` is ``v = f(x)`` and ``if v > 0:``; a `while` whose
test names one is ``while True`` with a `break`. Others are left, and refused.
"""

from __future__ import annotations

import copy

import gast

from pyrev.parse.bindings import children, mapped


def without_named_values(node: gast.AST) -> gast.AST:
    """The definition with assignments for ``:=``; itself if it has none.

    >>> text = '''
    ... def f(x):
    ...     i = 0
    ...     while (v := x[i]) < 1.0:
    ...         i += 1
    ...     return v
    ... '''
    >>> print(gast.unparse(without_named_values(gast.parse(text).body[0])).strip())
    def f(x):
        i = 0
        while True:
            v = x[i]
            if not v < 1.0:
                break
            i += 1
        return v
    """
    if not isinstance(getattr(node, "body", None), list) or not _names_some(node):
        return node
    made = copy.copy(node)
    made.body = _block(node.body)
    return made


def _names_some(node: gast.AST) -> bool:
    return isinstance(node, gast.NamedExpr) or any(map(_names_some, children(node)))


def _block(stmts: list[gast.AST]) -> list[gast.AST]:
    return [made for s in stmts for made in _statement(s)]


def _statement(s: gast.AST) -> list[gast.AST]:
    s = copy.copy(s)
    for part in ("body", "orelse"):
        inner = getattr(s, part, None)
        if isinstance(inner, list):
            setattr(s, part, _block(inner))
    before: list[gast.AST] = []
    match s:
        case gast.While(test=test, orelse=[]):
            for part in _tests(test):
                named: list[gast.AST] = []
                part = _lifted(part, named)
                leave = gast.If(gast.UnaryOp(gast.Not(), part), [gast.Break()], [])
                before += [*named, _placed(leave, test)]
            if any(isinstance(b, gast.Assign) for b in before):
                s.body = [*before, *s.body]
                s.test = gast.copy_location(gast.Constant(True, None), test)
            return [s]
        case gast.If(test=test, orelse=orelse):
            first, *rest = _tests(test) if not orelse else [test]
            s.test = _lifted(first, before)
            if rest and (before or any(map(_names_some, rest))):
                more = rest[0] if len(rest) == 1 else gast.BoolOp(gast.And(), rest)
                inner = gast.If(gast.copy_location(more, test), s.body, [])
                s.body = _statement(gast.copy_location(inner, s))
            elif rest:
                s.test = test
        case (
            gast.Assign(value=value) | gast.Return(value=value) | gast.Expr(value=value)
        ):
            if value is not None:
                s.value = _lifted(value, before)
    return [*before, s]


def _tests(test: gast.AST) -> list[gast.AST]:
    """What has to hold, one after the other."""
    if isinstance(test, gast.BoolOp) and isinstance(test.op, gast.And):
        return list(test.values)
    return [test]


def _lifted(e: gast.AST, before: list[gast.AST]) -> gast.AST:
    """The expression with names for what it computes first, which goes `before` it."""
    if not _names_some(e):
        return e
    if isinstance(e, gast.NamedExpr):
        value = _lifted(e.value, before)
        store = gast.Name(e.target.id, gast.Store(), None, None)
        assign = gast.Assign([gast.copy_location(store, e.target)], value, None)
        before.append(gast.copy_location(assign, e))
        load = gast.Name(e.target.id, gast.Load(), None, None)
        return gast.copy_location(load, e)
    inner = _in_order(e)
    for k, part in enumerate(inner):
        if not _names_some(part):
            if isinstance(part, (gast.Constant, gast.Name)):
                continue  # what is named afterwards is another name: see below
            return e
        passed = {p.id for p in inner[:k] if isinstance(p, gast.Name)}
        found: list[gast.AST] = []
        made = _lifted(part, found)
        if passed & {t.id for s in found for t in s.targets}:
            return e
        before += found
        return _with_part(e, part, made)
    return e


def _with_part(e: gast.AST, old: gast.AST, new: gast.AST) -> gast.AST:
    return mapped(e, lambda part: new if part is old else part)


def _in_order(e: gast.AST) -> list[gast.AST]:
    """The parts of an expression that are computed whenever it is, in that order."""
    match e:
        case gast.Compare(left=left, comparators=[right, *_]):
            return [left, right]
        case gast.BinOp(left=left, right=right):
            return [left, right]
        case gast.UnaryOp(operand=operand):
            return [operand]
        case gast.BoolOp(values=[first, *_]):
            return [first]
        case gast.IfExp(test=test):
            return [test]
        case gast.Subscript(value=value) | gast.Attribute(value=value):
            return [value]
        case gast.Call(func=gast.Name() as func, args=[first, *_]):
            return [func, first]
        case gast.Call(
            func=gast.Attribute(value=gast.Name() as owner), args=[first, *_]
        ):
            return [owner, first]
    return []


def _placed(node: gast.AST, at: gast.AST) -> gast.AST:
    for inner in (node, *children(node)):
        if not hasattr(inner, "lineno"):
            gast.copy_location(inner, at)
    return node
