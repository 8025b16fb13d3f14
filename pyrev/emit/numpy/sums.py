"""Sums over axes: of products as `@` or `np.einsum`, of anything else as `.sum`."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import reduce

from pyrev.emit.numpy.elements import divides_numbers
from pyrev.emit.numpy.place import Value
from pyrev.emit.numpy.values import Values
from pyrev.ir.nodes import Call, Expr
from pyrev.ir.text import BINARY, call, expr_tree, minus, name


def total(values: Values, e: Expr, over: Sequence[str]) -> Value:
    """The sum of `e` over the axes `over`; other axes stay.

    Under the tests of `values` nothing is added where one of them fails.
    """
    if values.guards:
        return _plain(values, masked(values, e), over)
    match e:
        case Call("+" | "-" as op, (a, b)) if all(
            _is_product(values, part, over) for part in (a, b)
        ):
            both = [total(values, part, over) for part in (a, b)]
            return values.binary(BINARY[op](), *both)
    sign, factors = _factors(e)
    if any(values.dtype(f) == "bool" for f in factors):
        return _plain(values, values.number(e), over)
    summed = [f for f in factors if {*values.axes_of(f)} & {*over}]
    free = [f for f in factors if f not in summed]
    if any(map(divides_numbers, free)):
        values.at.read_once = True  # times no term at all, inf is nan
    if not summed:
        return _plain(values, values.value(e), over)
    if len(summed) == 1:
        found = _plain(values, values.value(summed[0]), over)
    else:
        found = _product(values, summed, over)
    return _signed(_times(values, [*map(values.value, free), found]), sign)


def _is_product(values: Values, e: Expr, over: Sequence[str]) -> bool:
    """Is `e` a product of two factors or more along an axis, or a sum of such?"""
    match e:
        case Call("+" | "-", (a, b)):
            return all(_is_product(values, part, over) for part in (a, b))
    along = [f for f in _factors(e)[1] if {*values.axes_of(f)} & {*over}]
    return len(along) > 1


def masked(values: Values, e: Expr) -> Value:
    """`e` where the tests around hold, zero elsewhere."""
    zero = 0.0 if values.dtype(e).endswith(("float", "float32", "float64")) else 0
    v = values.number(e)
    mask = values.mask()
    assert mask is not None
    return values.joined(
        lambda m, t: call("np.where", m, t, ast.Constant(zero)), mask, v
    )


def _signed(v: Value, sign: int) -> Value:
    return v if sign > 0 else Value(minus(v.tree), v.axes)


def _times(values: Values, parts: Sequence[Value]) -> Value:
    return reduce(lambda a, b: values.binary(ast.Mult(), a, b), parts)


def _factors(e: Expr) -> tuple[int, list[Expr]]:
    """The sign and the factors of a product."""
    match e:
        case Call("neg", (x,)):
            sign, found = _factors(x)
            return -sign, found
        case Call("*", (a, b)):
            one, left = _factors(a)
            two, right = _factors(b)
            return one * two, [*left, *right]
    return 1, [e]


def _plain(values: Values, v: Value, over: Sequence[str]) -> Value:
    """``v.sum(axis=...)``, times the lengths of axes that it does not have."""
    places = [k for k, a in enumerate(v.axes) if a in over]
    kept = tuple(a for a in v.axes if a not in over)
    times = [a for a in over if a not in v.axes]
    tree = v.tree
    if v.before is not None and len(kept) < 2:
        tree = v.before[0]
        places = [k for k, a in enumerate(v.before[1]) if a in over]
    if places:
        where: list[ast.keyword] = []
        if kept:
            one: list[ast.expr] = [ast.Constant(k) for k in places]
            axis = one[0] if len(one) == 1 else ast.Tuple(one, ast.Load())
            where = [ast.keyword("axis", axis)]
        if isinstance(tree, (ast.Name, ast.Subscript, ast.Attribute)):
            tree = ast.Call(ast.Attribute(tree, "sum", ast.Load()), [], where)
        else:
            tree = ast.Call(name("np.sum"), [tree], where)
    found = Value(tree, kept)
    for a in times:
        size = Value(expr_tree(values.at.sizes.length(values.by_name[a])))
        unit = isinstance(tree, ast.Constant) and tree.value == 1
        found = size if unit else values.binary(ast.Mult(), size, found)
        tree = found.tree
    return found


# ------------------------------------------------------------------ products


def _product(values: Values, factors: list[Expr], over: Sequence[str]) -> Value:
    """The sum of a product of two factors or more, all with axes to sum over."""
    parts: dict[tuple[str, ...], list[Value]] = {}
    for f in factors:
        v = values.value(f)
        parts.setdefault(v.axes, []).append(v)
    found = {*over} & {a for axes in parts for a in axes}
    if len(found) == 1:
        (r,) = found
        product = _matrix_product(values, parts, r)
        if product is not None:
            return _plain(values, product, [a for a in over if a != r])
    union = values.sorted({a for axes in parts for a in axes})
    if union in parts and len(parts) < 3:
        flat = [v for own in parts.values() for v in own]
        return _plain(values, _times(values, flat), over)
    return _einsum(values, parts, [a for a in over if a in found], over)


def _matrix_product(
    values: Values, parts: dict[tuple[str, ...], list[Value]], r: str
) -> Value | None:
    """``a @ b`` over `r`; None where the product is another."""
    if len(parts) == 1:
        (axes, own), *_ = parts.items()
        if axes != (r,):
            return None
        first, *rest = own
        return Value(ast.BinOp(first.tree, ast.MatMult(), _times(values, rest).tree))
    if len(parts) != 2:
        return None
    one, two = ((axes, _times(values, own)) for axes, own in parts.items())
    shared = {*one[0]} & {*two[0]}
    if shared != {r} or max(len(one[0]), len(two[0])) > 2:
        return None
    left, right = sorted((one, two), key=lambda p: _rank(values, p[0], r))
    a, b = left[1].tree, right[1].tree
    if len(left[0]) == 2 and left[0][0] == r:
        a = _transposed(a)
    if len(right[0]) == 2 and right[0][1] == r:
        b = _transposed(b)
    free = (*(x for x in left[0] if x != r), *(x for x in right[0] if x != r))
    return Value(ast.BinOp(a, ast.MatMult(), b), free)


def _rank(values: Values, axes: tuple[str, ...], r: str) -> tuple[int, int]:
    """Where a factor stands: by its free axis, and a vector where no turn is needed."""
    free = [a for a in axes if a != r]
    if free:
        return values.order.index(free[0]), 0
    return (-1 if r == values.order[0] else len(values.order)), 1


def _transposed(tree: ast.expr) -> ast.expr:
    match tree:
        case ast.Attribute(inner, "T"):
            return inner
    return ast.Attribute(tree, "T", ast.Load())


def _einsum(
    values: Values,
    parts: dict[tuple[str, ...], list[Value]],
    over: Sequence[str],
    every: Sequence[str],
) -> Value:
    """``np.einsum``, a letter for each axis."""
    letters: dict[str, str] = {}
    for axis in values.order:
        free = [c for c in (axis[0].lower(), *"ijklmnopqrstuvwxyzabcdefgh")]
        letters[axis] = next(
            c for c in free if c.isalpha() and c not in letters.values()
        )
    every_one = [v for own in parts.values() for v in own]
    operands = [v.before or (v.tree, v.axes) for v in every_one]
    kept = values.sorted({a for _, axes in operands for a in axes} - {*over})
    inputs = ",".join("".join(letters[a] for a in axes) for _, axes in operands)
    spec = f"{inputs}->{''.join(letters[a] for a in kept)}"
    tree = call("np.einsum", ast.Constant(spec), *(tree for tree, _ in operands))
    return _plain(values, Value(tree, kept), [a for a in every if a not in over])
