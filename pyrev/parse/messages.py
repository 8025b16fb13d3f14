"""What the messages of exceptions are made of: texts, and numbers of the run."""

from __future__ import annotations

from string import Formatter

import gast

from pyrev.ir.nodes import Call, Const, Expr, Extent, Given, Load, Var, walk_expr
from pyrev.parse.grounds import MISSING, Missing
from pyrev.parse.names import object_of
from pyrev.parse.reading import read_number
from pyrev.parse.scopes import Scope
from pyrev.parse.subscripts import measured
from pyrev.parse.walk import Walk

#: A text, or a number with how it is formatted.
Piece = str | tuple[gast.AST, str]

#: What raises nothing where its operands raise nothing.
_SAFE = frozenset(("+", "-", "*", "neg", "min", "max"))


def literal(w: Walk, node: gast.AST, scope: Scope) -> Given | Missing:
    """What an argument of an exception is, where the text says it; strings may be put
    together of others, and have names outside.
    """
    match node:
        case gast.Constant(value=None):
            return None
        case gast.Constant(value=str() | bool() | int() | float() as value):
            return value
        case gast.UnaryOp(op=gast.USub(), operand=gast.Constant(value=value)):
            return -value if isinstance(value, (int, float)) else MISSING
        case gast.BinOp(left=left, op=gast.Add(), right=right):
            a, b = literal(w, left, scope), literal(w, right, scope)
            return a + b if isinstance(a, str) and isinstance(b, str) else MISSING
        case gast.JoinedStr(values=values):
            parts = [literal(w, v, scope) for v in values]
            if all(isinstance(p, str) for p in parts):
                return "".join(map(str, parts))
        case gast.FormattedValue(value=value, conversion=-1, format_spec=None):
            part = literal(w, value, scope)
            return part if isinstance(part, (str, Missing)) else str(part)
        case gast.Name() | gast.Attribute():
            found = object_of(w, node, scope)
            if isinstance(found, str):
                return found
    return MISSING


def message_of(
    w: Walk, node: gast.AST, unless: Expr, scope: Scope
) -> tuple[str, tuple[Expr, ...]] | None:
    """The format string of a message and the numbers in it, which are evaluated where
    a test does not hold; None where a text has something else.
    """
    pieces = _pieces(w, node, scope)
    if pieces is None:
        return None
    pattern: list[str] = []
    values: list[Expr] = []
    for piece in pieces:
        if isinstance(piece, str):
            pattern.append(piece.replace("{", "{{").replace("}", "}}"))
            continue
        said, how = piece
        mark = w.emit.mark
        value = read_number(w, said, scope)
        if w.emit.mark != mark or not _is_safe(value, unless):
            w.emit.take(mark)
            return None
        pattern.append(f"{{:{how}}}" if how else "{}")
        values.append(value)
    return "".join(pattern), tuple(values)


def _is_safe(value: Expr, test: Expr) -> bool:
    """Does evaluating this raise nothing where the test has been evaluated?"""
    tested = {e for e in walk_expr(test) if isinstance(e, Load)}
    match value:
        case Load():
            return value in tested
        case Var() | Const() | Extent():
            return True
        case Call(op, args):
            return op in _SAFE and all(_is_safe(a, test) for a in args)
    return False


def _pieces(w: Walk, node: gast.AST, scope: Scope) -> list[Piece] | None:
    """What a text is put together of; None where it is no text of numbers."""
    known = literal(w, node, scope)
    if isinstance(known, str):
        return [known]
    match node:
        case gast.JoinedStr(values=values):
            return _joined([_field(w, v, scope) for v in values])
        case gast.BinOp(left=left, op=gast.Add(), right=right):
            return _joined([_pieces(w, e, scope) for e in (left, right)])
        case gast.Call(func=gast.Name() as func, args=[of], keywords=[]) if (
            object_of(w, func, scope) is str
        ):
            return _value(w, of, "", scope)
        case gast.Call(
            func=gast.Attribute(value=of, attr="format"), args=args, keywords=[]
        ):
            text = literal(w, of, scope)
            return _filled(w, text, args, scope) if isinstance(text, str) else None
    return None


def _joined(parts: list[list[Piece] | None]) -> list[Piece] | None:
    if any(p is None for p in parts):
        return None
    return [piece for p in parts for piece in p or ()]


def _field(w: Walk, node: gast.AST, scope: Scope) -> list[Piece] | None:
    """A text of an f-string, or what stands in braces."""
    match node:
        case gast.FormattedValue(value=value, conversion=-1, format_spec=None):
            return _value(w, value, "", scope)
        case gast.FormattedValue(
            value=value,
            conversion=-1,
            format_spec=gast.JoinedStr(values=[gast.Constant(value=str() as how)]),
        ):
            return _value(w, value, how, scope)
    return _pieces(w, node, scope)


def _value(w: Walk, node: gast.AST, how: str, scope: Scope) -> list[Piece] | None:
    """A number, a text or a shape, in a text."""
    known = literal(w, node, scope)
    if isinstance(known, str):
        return None if how else [known]
    match node:
        case gast.Attribute(value=base, attr="shape") if not how:
            whole = measured(w, base, scope)
            if whole is None:
                return None
            lengths: list[Piece] = ["("]
            for k in range(whole.rank):
                at = gast.copy_location(gast.Constant(k, None), node)
                one = gast.copy_location(gast.Subscript(node, at, gast.Load()), node)
                lengths += [", "] * (k > 0) + [(one, "")]
            return [*lengths, ",)" if whole.rank == 1 else ")"]
    if "{" in how or "}" in how:
        return None
    return [(node, how)]


def _filled(
    w: Walk, text: str, args: list[gast.AST], scope: Scope
) -> list[Piece] | None:
    """``text.format(*args)``, in which the fields have numbers or none."""
    found: list[list[Piece] | None] = []
    try:
        fields = [*Formatter().parse(text)]
    except ValueError:
        return None
    count = 0
    for before, field, how, conversion in fields:
        found.append([before])
        if field is None:
            continue
        number = field or str(count)
        count += not field
        if conversion or not number.isdigit() or int(number) >= len(args):
            return None
        found.append(_value(w, args[int(number)], how or "", scope))
    return _joined(found)
