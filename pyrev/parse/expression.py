"""What the text of an expression means in the IR when every name in it is its own.

The rule table and tests read their expressions here: names are scalars, ``a[i]`` is a
load, ``f(x)`` is the operation `f`, whatever `f` may mean in Python.
"""

from __future__ import annotations

import gast

from pyrev.ir.nodes import Add, Assign, Call, Const, Expr, Extent, Load, Loc, Var

BINARY: dict[type[gast.AST], str] = {
    gast.Add: "+",
    gast.Sub: "-",
    gast.Mult: "*",
    gast.Div: "/",
    gast.FloorDiv: "//",
    gast.Mod: "%",
    gast.Pow: "**",
    gast.BitAnd: "&",
    gast.BitOr: "|",
    gast.BitXor: "^",
    gast.LShift: "<<",
    gast.RShift: ">>",
}
UNARY: dict[type[gast.AST], str] = {
    gast.USub: "neg",
    gast.Not: "not",
    gast.Invert: "~",
}
COMPARE: dict[type[gast.AST], str] = {
    gast.Lt: "<",
    gast.LtE: "<=",
    gast.Gt: ">",
    gast.GtE: ">=",
    gast.Eq: "==",
    gast.NotEq: "!=",
}
BOOLEAN: dict[type[gast.AST], str] = {gast.And: "and", gast.Or: "or"}


def parse_expr(text: str) -> Expr:
    """Read an expression.

    >>> parse_expr("g * cos(x)")
    Call(op='*', args=(Var(name='g'), Call(op='cos', args=(Var(name='x'),))))
    """
    return _expr(gast.parse(text.strip(), mode="eval").body)


def negated(value: Expr) -> Expr:
    """``-value``, folded for a literal, so that ``-1`` is a constant."""
    if isinstance(value, Const) and type(value.value) in (int, float):
        return Const(-value.value, loc=value.loc)
    return Call("neg", (value,), loc=value.loc)


def assigned(place: Var | Load, value: Expr, at: Loc) -> Assign | Add:
    """``place = value``; an increment where `value` is the place plus something.

    What is subtracted is a negative increment.
    """
    match value:
        case Call("+", (a, b)) if a == place:
            return increment(place, b, at)
        case Call("-", (a, b)) if a == place:
            return Add(place, negated(b), loc=at)
    return Assign(place, value, loc=at)


def increment(place: Var | Load, term: Expr, at: Loc) -> Assign | Add:
    """``place += term``.

    A term with a sign is spelt out: ``place += -term`` is ``place -= term`` for floats,
    and not for all integers. `analysis.narrow_integers` knows which they are.
    """
    if isinstance(term, Call) and term.op == "neg":
        return Assign(place, Call("+", (place, term), loc=at), loc=at)
    return Add(place, term, loc=at)


def _expr(node: gast.AST) -> Expr:
    match node:
        case gast.Constant(value=bool() | int() | float() as value):
            return Const(value)
        case gast.Name(id=name):
            return Var(name)
        case gast.Subscript(
            value=gast.Attribute(value=gast.Name(id=name), attr="shape"),
            slice=gast.Constant(value=int() as axis),
        ):
            return Extent(name, axis)
        case gast.Subscript(value=gast.Name(id=name), slice=index):
            parts = index.elts if isinstance(index, gast.Tuple) else [index]
            return Load(name, tuple(map(_expr, parts)))
        case gast.UnaryOp(op=gast.USub(), operand=operand):
            return negated(_expr(operand))
        case gast.UnaryOp(op=gast.UAdd(), operand=operand):
            return _expr(operand)
        case gast.UnaryOp(op=op, operand=operand):
            return Call(UNARY[type(op)], (_expr(operand),))
        case gast.BinOp(left=left, op=op, right=right):
            return Call(BINARY[type(op)], (_expr(left), _expr(right)))
        case gast.Compare(left=left, ops=ops, comparators=comparators):
            parts = [_expr(e) for e in (left, *comparators)]
            return conjunction(
                [
                    Call(COMPARE[type(op)], (parts[k], parts[k + 1]))
                    for k, op in enumerate(ops)
                ]
            )
        case gast.BoolOp(op=op, values=values):
            first, *rest = map(_expr, values)
            for other in rest:
                first = Call(BOOLEAN[type(op)], (first, other))
            return first
        case gast.IfExp(test=test, body=body, orelse=orelse):
            return Call("where", (_expr(test), _expr(body), _expr(orelse)))
        case gast.Call(func=gast.Name(id=op), args=args, keywords=[]):
            return Call(op, tuple(map(_expr, args)))
        case gast.Call(func=gast.Attribute(attr=op), args=args, keywords=[]):
            return Call(op, tuple(map(_expr, args)))
    raise ValueError(f"not an expression of the rule table: {gast.dump(node)}")


def conjunction(tests: list[Expr]) -> Expr:
    """``a and b and c``, nested to the left."""
    first, *rest = tests
    for test in rest:
        first = Call("and", (first, test), loc=first.loc)
    return first
