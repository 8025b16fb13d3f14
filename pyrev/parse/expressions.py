"""What an expression means: names, operators, comparisons, conditions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from itertools import pairwise

import gast
import numpy as np

from pyrev.ir.nodes import ZERO, Assign, Call, Const, Expr, If, Loc, Var
from pyrev.ir.primitives import LOGICAL
from pyrev.parse.blocks import new_block
from pyrev.parse.expression import BINARY, BOOLEAN, COMPARE, UNARY, negated
from pyrev.parse.functions import dtype_name
from pyrev.parse.grounds import Missing
from pyrev.parse.names import (
    capture,
    find,
    holder_of,
    note_use,
    object_of,
    seen_at,
    standing_for,
    stored_as,
)
from pyrev.parse.operands import read_numbers, read_operands
from pyrev.parse.products import matrix_product
from pyrev.parse.reading import read_number, read_operand, read_truth, refuse_expression
from pyrev.parse.rewriting.known_values import MAY_BE
from pyrev.parse.rewriting.made_texts import numpy_call
from pyrev.parse.rewriting.maybe_none import EQUALS
from pyrev.parse.scopes import Scope, kind_of, module_name
from pyrev.parse.subscripts import lengths, measure, measured
from pyrev.parse.unset import refuse_equal_none
from pyrev.parse.values import Array, Operand
from pyrev.parse.walk import Walk, Wanted
from pyrev.parse.whole_arrays import applied, elementwise


def read_constant(w: Walk, node: gast.Constant, scope: Scope) -> Expr:
    """A number that is written out."""
    match node.value:
        case bool() | int() | float() as value:
            return Const(value, loc=scope.source.loc(node))
    if hasattr(node, MAY_BE):
        name, value = getattr(node, MAY_BE)
        because = f"`{name}` may be `{value!r}` here, and may be something else"
        helps = f"ask before what it is, `if {name} is not {value!r}`"
        if value is not None:
            helps = "give it this value on every path, or on none"
        w.refuse("P106", scope.source.loc(node), because, helps)
        return ZERO
    return refuse_expression(w, node, scope)


def read_binary(w: Walk, node: gast.BinOp, scope: Scope) -> Operand:
    """An operator between two operands, element by element; ``@`` is a product."""
    at = scope.source.loc(node)
    left, right = read_operands(w, [node.left, node.right], scope)
    if isinstance(node.op, gast.MatMult):
        return matrix_product(w, left, right, at)
    return applied(w, BINARY[type(node.op)], [left, right], at)


def read_unary(w: Walk, node: gast.UnaryOp, scope: Scope) -> Operand:
    """An operator before an operand, element by element; ``not`` of a truth."""
    at = scope.source.loc(node)
    if isinstance(node.op, gast.Not):
        return Call("not", (read_truth(w, node.operand, scope),), loc=at)
    operand = read_operand(w, node.operand, scope)
    match node.op:
        case gast.USub():
            return elementwise(
                w, [operand], lambda e: replace(negated(e[0]), loc=at), at
            )
        case gast.UAdd():
            return elementwise(w, [operand], lambda e: e[0], at)
    return applied(w, UNARY[type(node.op)], [operand], at)


def read_name(w: Walk, node: gast.Name, scope: Scope) -> Operand:
    """The value that a name stands for."""
    at = scope.source.loc(node)
    found = find(w, node.id, scope)
    if isinstance(found, Scope):
        if hasattr(node, EQUALS):
            refuse_equal_none(w, getattr(node, EQUALS), at, scope)
        note_use(w, node.id, found, at)
        return seen_at(w, standing_for(w, node.id, found), at)
    return captured_value(w, found, node.id, (node.id,), node, scope)


def captured_value(
    w: Walk,
    found: object,
    text: str,
    path: tuple[str, ...],
    node: gast.AST,
    scope: Scope,
) -> Operand:
    """A number or an array from a module or an enclosing function."""
    at = scope.source.loc(node)
    if isinstance(found, Missing):
        if w.known.loose and len(path) == 1:
            return seen_at(w, stored_as(w, text, at), at)
        if path[0] in w.env.refused:
            return ZERO
        w.refuse(
            "P113",
            at,
            f"`{text}` is not defined",
            "define it before the function is differentiated, or pass it in",
        )
        return ZERO
    if isinstance(found, np.ndarray):
        if found.ndim > 0:
            name = capture(w, holder_of(scope), path, found)
            return seen_at(w, stored_as(w, name, at), at)
        w.refuse(
            "P113",
            at,
            f"`{text}` is {kind_of(found)}",
            "make it a number, with `float(...)`",
        )
        return ZERO
    if isinstance(found, (bool, int, float, np.number, np.bool_)) and not isinstance(
        found, (np.complexfloating, np.float16, np.longdouble)
    ):
        return Var(capture(w, holder_of(scope), path, found), loc=at)
    w.refuse(
        "P113",
        at,
        f"`{text}` is {kind_of(found)}",
        "use a number, an array, or a call of a function",
    )
    return ZERO


def read_attribute(w: Walk, node: gast.Attribute, scope: Scope) -> Operand:
    """What a module has, or what an array says of itself."""
    at = scope.source.loc(node)
    found = object_of(w, node, scope)
    if not isinstance(found, Missing):
        module = object_of(w, node.value, scope)
        if isinstance(found, float) and module_name(module) in ("math", "numpy"):
            return Const(found, loc=at)
        text = gast.unparse(node).strip()
        return captured_value(w, found, text, tuple(text.split(".")), node, scope)
    limit = _limit(w, node, scope)
    if isinstance(limit, int) and abs(limit) > _MOVED:
        return Call("int64", (Const(limit, loc=at),), loc=at)
    if limit is not None:
        return Const(limit, loc=at)
    if node.attr in ("ndim", "size", "T"):
        whole = measured(w, node.value, scope)
        if whole is not None:
            return measure(w, node.attr, whole, at)
    helps = "use `shape`, `size`, `ndim`, or the array's elements"
    if node.attr == "shape":
        helps = "take one entry, `a.shape[0]`, or unpack it, `h, w = a.shape`"
    elif node.attr == "dtype":
        helps = "give it to a new array: `np.zeros(n, dtype=a.dtype)`"
    w.refuse("P209", at, f"`{gast.unparse(node).strip()}` cannot be used here", helps)
    return ZERO


#: Of a larger integer than this none is made by moving a bound or a subscript: a cast
#: keeps it out of linear forms (`analysis.integer_ranges`).
_MOVED = 2**62


def _limit(w: Walk, node: gast.Attribute, scope: Scope) -> float | None:
    """``np.finfo(np.float64).eps``, ``np.iinfo(np.int64).max`` and their like; None for
    other attributes.
    """
    match node.value:
        case gast.Call(func=func, args=[dtype], keywords=[]):
            function = object_of(w, func, scope)
            if function is np.finfo:
                name = _float_named(w, dtype, scope)
                if name in _FLOATS:
                    found = getattr(np.finfo(name), node.attr, None)
                    return float(found) if isinstance(found, np.floating) else None
            elif function is np.iinfo and node.attr in ("min", "max", "bits"):
                name = dtype_name(object_of(w, dtype, scope))
                if name is not None and np.dtype(name).kind in "iu":
                    return int(getattr(np.iinfo(name), node.attr))
    return None


def _float_named(w: Walk, node: gast.AST, scope: Scope) -> str | None:
    """The dtype that an expression names; of an array of the call it is float64, which
    each call checks.
    """
    match node:
        case gast.Attribute(value=base, attr="dtype"):
            whole = measured(w, base, scope)
            if whole is not None and whole.name is not None:
                w.found.alike_kinds.append(
                    (whole.name, "float64", scope.source.loc(node))
                )
                return "float64"
        case gast.Constant(value=float()):
            return "float64"
    return dtype_name(object_of(w, node, scope))


_FLOATS = ("float32", "float64")


def read_compare(w: Walk, node: gast.Compare, scope: Scope) -> Operand:
    """A comparison, element by element; a chain of them, of numbers."""
    at = scope.source.loc(node)
    for operand in (node.left, *node.comparators):
        if hasattr(operand, MAY_BE):
            return read_operand(w, operand, scope)  # which refuses it
    among = _among(w, node, scope)
    if among is not None:
        return read_number(w, among, scope)
    for op in node.ops:
        if type(op) not in COMPARE:
            w.refuse(
                "P106",
                at,
                "`is` and `in` compare objects, not numbers",
                "compare numbers with `==`, `!=`, `<`, `<=`, `>` or `>=`, or search"
                " among numbers that are written out: `k in (1, 2)`",
            )
            return ZERO
    pair = [node.left, node.comparators[0]]
    same = _same_shapes(w, node, scope, at)
    if same is not None:
        return same
    if len(node.ops) == 1:
        word = COMPARE[type(node.ops[0])]
        return applied(w, word, read_operands(w, pair, scope), at)
    values = read_numbers(w, pair, scope)
    for other in node.comparators[1:]:
        with new_block(w) as emitted:
            values.append(read_number(w, other, scope))
        if emitted:
            # Python may not come to evaluate it.
            w.refuse(
                "P108",
                scope.source.loc(other),
                "this call needs statements of its own in a chained comparison",
                "write the comparisons with `and`",
            )
            return ZERO
    result: Expr | None = None
    for k, op in enumerate(node.ops):
        test = Call(COMPARE[type(op)], (values[k], values[k + 1]), loc=at)
        result = test if result is None else Call("and", (result, test), loc=at)
    assert result is not None
    return result


def _among(w: Walk, node: gast.Compare, scope: Scope) -> gast.AST | None:
    """``np.any(a == x)`` for ``x in a`` where `a` is an array; None for others."""
    match node:
        case gast.Compare(left=left, ops=[gast.In() | gast.NotIn() as op]):
            (array,) = node.comparators
            if measured(w, array, scope) is None:
                return None
            found = numpy_call(
                "any", [gast.Compare(array, [gast.Eq()], [left])], (), node
            )
            if isinstance(op, gast.NotIn):
                found = gast.copy_location(gast.UnaryOp(gast.Not(), found), node)
            return found
    return None


def _same_shapes(w: Walk, node: gast.Compare, scope: Scope, at: Loc) -> Expr | None:
    """``a.shape == b.shape``, ``a.shape == b.shape == c.shape`` and their opposites;
    None where other things are compared.
    """
    parts = [node.left, *node.comparators]
    equal = all(isinstance(op, (gast.Eq, gast.NotEq)) for op in node.ops)
    if not equal or not all(map(_is_shape, parts[1:-1])):
        return None
    tests: list[Expr] = []
    for op, pair in zip(node.ops, pairwise(parts), strict=True):
        same = _same_shape(w, pair, scope, at)
        if same is None:
            return None
        tests.append(
            Call("not", (same,), loc=at) if isinstance(op, gast.NotEq) else same
        )
    return reduce(lambda a, b: Call("and", (a, b), loc=at), tests)


def _same_shape(
    w: Walk, pair: Sequence[gast.AST], scope: Scope, at: Loc
) -> Expr | None:
    """``a.shape == (n, 3)``, ``a.shape == b.shape``; None where none is compared."""
    if not any(_is_shape(e) for e in pair):
        return None
    both = [lengths(w, e, scope) for e in pair]
    if both[0] is None or both[1] is None:
        return None
    if len(both[0]) != len(both[1]):
        return Const(False, loc=at)
    result: Expr = Const(True, loc=at)
    for a, b in zip(both[0], both[1], strict=True):
        test = Call("==", (a, b), loc=at)
        result = test if isinstance(result, Const) else Call("and", (result, test))
    return replace(result, loc=at)


def _is_shape(e: gast.AST) -> bool:
    match e:
        case gast.Attribute(attr="shape"):
            return True
        case gast.Subscript(value=gast.Attribute(attr="shape"), slice=gast.Slice()):
            return True
    return False


def read_boolean(w: Walk, node: gast.BoolOp, scope: Scope) -> Expr:
    """``a and b``: the operand that decides."""
    return _decided(w, node, scope, read_number, test=False)


def read_boolean_truth(w: Walk, node: gast.BoolOp, scope: Scope) -> Expr:
    """``a and b`` in a test."""
    return _decided(w, node, scope, read_truth, test=True)


def _decided(
    w: Walk,
    node: gast.BoolOp,
    scope: Scope,
    read: Callable[[Walk, gast.AST, Scope], Expr],
    *,
    test: bool,
) -> Expr:
    """``a and b``; what comes later is evaluated only where what is before says so."""
    at = scope.source.loc(node)
    op = BOOLEAN[type(node.op)]
    first = read(w, node.values[0], scope)
    for other in node.values[1:]:
        with new_block(w) as emitted:
            value = read(w, other, scope)
        truth = test or (_is_truth(first) and _is_truth(value))
        if not emitted and truth:
            first = Call(op, (first, value), loc=at)
            continue
        first = first if isinstance(first, (Const, Var)) else w.emit.temp(first, "test")
        go_on = first if op == "and" else Call("not", (first,), loc=at)
        if not emitted:
            keep = (value, first) if op == "and" else (first, value)
            first = Call("where", (first, *keep), loc=at)
            continue
        result = Var(w.emit.fresh("test"), loc=at)
        w.emit.add(Assign(result, first, loc=at))
        emitted.append(Assign(result, value, loc=at))
        w.emit.add(If(go_on, tuple(emitted), loc=at))
        first = result
    return first


def read_conditional(w: Walk, node: gast.IfExp, scope: Scope) -> Operand:
    """``a if test else b``: a choice, by a branch where one needs statements."""
    at = scope.source.loc(node)
    condition = read_truth(w, node.test, scope)
    decided = _known_truth(condition)
    if decided is not None:
        # As where a helper is told `overwrite=True`.
        return read_operand(w, node.body if decided else node.orelse, scope)
    with new_block(w) as then:
        yes = read_operand(w, node.body, scope)
    with new_block(w) as other:
        no = read_operand(w, node.orelse, scope)
    if isinstance(yes, Array) or isinstance(no, Array):
        computed = not any(isinstance(v, Array) and v.view for v in (yes, no))
        both = isinstance(yes, Array) and isinstance(no, Array)
        if then or other or not both or not computed:
            wanted = Wanted("", at, "branch")
            if both and not w.wants(wanted):
                w.ask(wanted)
                return yes
            w.refuse(
                "P206",
                at,
                "this may stand for one array or another",
                "write an `if` whose branches assign the elements",
            )
            return ZERO
        return applied(w, "where", [w.emit.temp(condition, "test"), yes, no], at)
    if not then and not other:
        return Call("where", (condition, yes, no), loc=at)
    # A branch that calls a helper with statements runs only when it is chosen.
    chosen = Var(w.emit.fresh("chosen"), loc=at)
    then.append(Assign(chosen, yes, loc=at))
    other.append(Assign(chosen, no, loc=at))
    w.emit.add(If(condition, tuple(then), tuple(other), loc=at))
    return chosen


def _known_truth(value: Expr) -> bool | None:
    """The truth of a value, where the text says it."""
    match value:
        case Const(known):
            return bool(known)
        case Call("not", (a,)):
            inner = _known_truth(a)
            return None if inner is None else not inner
        case Call("and" | "or" as op, (a, b)):
            both = _known_truth(a), _known_truth(b)
            if None not in both:
                return all(both) if op == "and" else any(both)
    return None


def _is_truth(value: Expr) -> bool:
    """Is this a truth value whatever its operands are?"""
    match value:
        case Const(bool()):
            return True
        case Call(op):
            return op in LOGICAL
    return False
