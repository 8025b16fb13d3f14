"""Arithmetic on array values: their sizes, subscripts and dtypes.

An `Array` covers a view (``a[i]``, ``v[1:-1]``, ``a.T``) and an expression that is not
computed yet (``0.5 * (v[2:] + v[:-2])``). Every function here is pure; statements are
made in `arrays`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from pyrev.ir.dtypes import WEAK_FLOAT, WEAK_INT
from pyrev.ir.nodes import (
    ONE,
    ZERO,
    Call,
    Const,
    Dtype,
    Expr,
    Extent,
    Load,
    Promoted,
    Var,
    names,
    substitute,
)
from pyrev.ir.primitives import CASTS, LOGICAL
from pyrev.parse.values import Array, axis

_SAME_KIND = frozenset(
    ["+", "-", "*", "//", "%", "**", "fmod", "neg", "abs", "sign", "min", "max"]
    + ["minimum", "maximum", "fmin", "fmax", "&", "|", "^", "~", "<<", ">>"]
)


# ------------------------------------------------------------------ sizes


def linear(e: Expr) -> tuple[dict[Expr, int], int]:
    """An integer expression as coefficients of what is not linear, and a constant.

    >>> from pyrev.parse.expression import parse_expr
    >>> linear(parse_expr("2 * (n - 1) - n"))
    ({Var(name='n'): 1}, -2)
    """
    match e:
        case Const(value) if type(value) is int:
            return {}, value
        case Call("neg", (a,)):
            return _scaled(linear(a), -1)
        case Call("+", (a, b)):
            return _sum(linear(a), linear(b))
        case Call("-", (a, b)):
            return _sum(linear(a), _scaled(linear(b), -1))
        case Call("*", (a, b)):
            x, y = linear(a), linear(b)
            if not x[0]:
                return _scaled(y, x[1])
            if not y[0]:
                return _scaled(x, y[1])
    return {e: 1}, 0


Linear = tuple[dict[Expr, int], int]


def _sum(a: Linear, b: Linear) -> Linear:
    terms = dict(a[0])
    for atom, factor in b[0].items():
        terms[atom] = terms.get(atom, 0) + factor
    return {t: f for t, f in terms.items() if f}, a[1] + b[1]


def _scaled(a: Linear, factor: int) -> Linear:
    return {t: f * factor for t, f in a[0].items() if factor}, a[1] * factor


def plain(e: Expr) -> Expr:
    """The same integer, with like terms collected: ``n - 2`` for ``(n - 1) - 1``."""
    if isinstance(e, (Const, Var, Extent, Load)):
        return e
    terms, constant = linear(e)
    parts = sorted(terms.items(), key=lambda part: part[1] < 0)
    result: Expr | None = None
    if not parts or parts[0][1] < 0:
        result, constant = Const(constant, loc=e.loc), 0
    for atom, factor in parts:
        size = abs(factor)
        term = atom if size == 1 else Call("*", (Const(size), atom), loc=e.loc)
        if result is None:
            result = term
        else:
            result = Call("+" if factor > 0 else "-", (result, term), loc=e.loc)
    assert result is not None
    if constant:
        op = "+" if constant > 0 else "-"
        result = Call(op, (result, Const(abs(constant))), loc=e.loc)
    return result


def equal(a: Expr, b: Expr) -> bool:
    """Whether two integer expressions are equal whatever their names stand for."""
    return linear(Call("-", (a, b))) == ({}, 0)


def size(count: Expr) -> Expr:
    """``max(count, 0)``: the length of a range or a slice of `count` elements."""
    count = plain(count)
    terms, constant = linear(count)
    # max(max(x, 0) - c, 0) is max(x - c, 0).
    for atom, factor in terms.items():
        match atom:
            case Call("max", (inner, Const(0))) if factor == 1 and constant <= 0:
                rest = {t: f for t, f in terms.items() if t is not atom}
                if not rest:
                    return size(Call("+", (inner, Const(constant))))
    if not terms:
        return Const(max(constant, 0))
    if constant >= 0 and all(isinstance(t, Extent) and f > 0 for t, f in terms.items()):
        return count
    match count:
        case Call("max", (_, Const(0))):
            return count
    return Call("max", (count, ZERO), loc=count.loc)


def add(a: Expr, b: Expr) -> Expr:
    """``a + b``, collected."""
    if a == ZERO:
        return b
    if b == ZERO:
        return a
    return plain(Call("+", (a, b), loc=a.loc))


def subtract(a: Expr, b: Expr) -> Expr:
    """``a - b``, collected."""
    return a if b == ZERO else plain(Call("-", (a, b), loc=a.loc))


def scale(a: Expr, factor: int) -> Expr:
    """``factor * a``, collected."""
    return a if factor == 1 else plain(Call("*", (Const(factor), a), loc=a.loc))


def _literal(e: Expr) -> int | None:
    terms, constant = linear(e)
    return constant if not terms else None


def _least(a: Expr, b: Expr) -> Expr:
    return Call("min", (a, b), loc=a.loc)


def _most(a: Expr, b: Expr) -> Expr:
    return Call("max", (a, b), loc=a.loc)


@dataclass(frozen=True, slots=True)
class Slice:
    """Elements ``start, start + step, ...``, as many as `length`, of one axis. A step
    that is an expression is positive.
    """

    start: Expr
    step: int | Expr
    length: Expr


def sliced(
    lower: Expr | None, upper: Expr | None, step: int | Expr, extent: Expr
) -> Slice:
    """What ``lower:upper:step`` selects from an axis: Python's rules, negatives too.

    A start beyond the end needs no clamp: the count is negative then, and so is empty.
    """
    if not isinstance(step, int) or step > 0:
        start = ZERO if lower is None else _from_end(lower, extent, _keep, ZERO)
        stop = extent
        if upper is not None:
            stop = _from_end(upper, extent, lambda e: _capped(e, extent), None)
    else:
        last = subtract(extent, ONE)
        start = last
        if lower is not None:
            start = _from_end(lower, extent, lambda e: _least(e, last), None)
        stop = Const(-1)
        if upper is not None:
            stop = _from_end(upper, extent, _keep, Const(-1))
    return Slice(start, step, range_length(start, stop, step))


def range_length(start: Expr, stop: Expr, step: int | Expr) -> Expr:
    """``len(range(start, stop, step))``, of a step that is positive if it is one."""
    if not isinstance(step, int):
        # Without the step added, which may be large.
        less = subtract(subtract(stop, start), ONE)
        whole = Call("//", (less, step), loc=start.loc)
        return size(plain(Call("+", (whole, ONE))))
    count = subtract(stop, start) if step > 0 else subtract(start, stop)
    if abs(step) > 1:
        more = plain(Call("+", (count, Const(abs(step) - 1))))
        count = Call("//", (more, Const(abs(step))), loc=start.loc)
    return size(count)


def _keep(e: Expr) -> Expr:
    return e


def _capped(e: Expr, extent: Expr) -> Expr:
    """``min(e, extent)`` for a stop that is not negative."""
    terms, constant = linear(subtract(extent, e))
    # An extent less something: below it already.
    if not terms and constant >= 0:
        return e
    return _least(e, extent)


def _from_end(
    bound: Expr, extent: Expr, front: Callable[[Expr], Expr], floor: Expr | None
) -> Expr:
    """A slice bound as a position: `front` if it is not negative, else from the end."""
    value = _literal(bound)
    if value is not None and value >= 0:
        return front(bound)
    behind = plain(Call("+", (extent, bound), loc=bound.loc))
    if floor is not None:
        behind = _most(behind, floor)
    if value is not None:
        return behind
    negative = Call("<", (bound, ZERO), loc=bound.loc)
    return Call("where", (negative, behind, front(bound)), loc=bound.loc)


# ------------------------------------------------------------------ subscripts

Item = Expr | Slice | None


def stepped(item: Slice, index: Expr) -> Expr:
    """Where the element `index` of a slice stands."""
    moved = index
    far = Const(abs(item.step)) if isinstance(item.step, int) else item.step
    if far != ONE:
        moved = Call("*", (far, moved))
    if isinstance(item.step, int) and item.step < 0:
        return Call("-", (item.start, moved))
    return Call("+", (moved, item.start)) if item.start != ZERO else moved


def part(whole: Array, items: Sequence[Item]) -> Array:
    """`whole` subscripted: an index drops its axis, None makes one of length one."""
    env: dict[str, Expr] = {}
    shape: list[Expr] = []
    k = 0
    for item in items:
        match item:
            case None:
                shape.append(ONE)
                continue
            case Slice(length=length):
                env[axis(k).name] = stepped(item, axis(len(shape)))
                shape.append(length)
            case index:
                env[axis(k).name] = index
        k += 1
    for rest in range(k, whole.rank):
        env[axis(rest).name] = axis(len(shape))
        shape.append(whole.shape[rest])
    element = substitute(whole.element, env)
    return Array(tuple(shape), element, whole.view, loc=whole.loc)


def transposed(whole: Array, axes: Sequence[int] = ()) -> Array:
    """``whole.transpose(axes)``; without axes ``whole.T``."""
    order = list(axes) or list(range(whole.rank))[::-1]
    env: dict[str, Expr] = {axis(k).name: axis(j) for j, k in enumerate(order)}
    shape = tuple(whole.shape[k] for k in order)
    return Array(shape, substitute(whole.element, env), whole.view, loc=whole.loc)


def reshaped(whole: Array, shape: Sequence[Expr]) -> Array:
    """The same elements, row by row, in another shape of as many.

    >>> from pyrev.parse.expression import parse_expr
    >>> from pyrev.parse.values import whole_array
    >>> from pyrev.ir.nodes import NOWHERE
    >>> from pyrev.ir.text import expr_text
    >>> flat = reshaped(whole_array("a", 2, NOWHERE), [parse_expr("n")])
    >>> expr_text(flat.at([parse_expr("k")]))
    'a[k // a.shape[1], k % a.shape[1]]'
    """
    place = _row_major(shape)
    env: dict[str, Expr] = {}
    behind: Expr = ONE
    for k in range(whole.rank - 1, -1, -1):
        position = place if behind == ONE else Call("//", (place, behind))
        if k:
            position = Call("%", (position, whole.shape[k]))
        env[axis(k).name] = position
        behind = _product(behind, whole.shape[k])
    element = substitute(whole.element, env)
    return Array(tuple(shape), element, whole.view, loc=whole.loc)


def _row_major(shape: Sequence[Expr]) -> Expr:
    """How many elements are in front of one, by the axis variables."""
    place: Expr = ZERO
    for k, length in enumerate(shape):
        if length == ONE:
            continue
        here: Expr = axis(k)
        place = here if place == ZERO else add(_product(place, length), here)
    return place


def _product(a: Expr, b: Expr) -> Expr:
    if a == ONE:
        return b
    return a if b == ONE else Call("*", (a, b), loc=a.loc)


def count(shape: Sequence[Expr]) -> Expr:
    """How many elements there are."""
    found: Expr = ONE
    for length in shape:
        found = _product(found, length)
    return found


def is_contiguous(whole: Array) -> bool:
    """Does a view lie in memory row by row, wherever its array does?

    It is one element after the other where only the first of its axes is a part of one
    of the array, and no axis of that array between its own is left out.
    """
    place = whole.element
    if not isinstance(place, Load):
        return False
    first = len(place.index) - whole.rank
    for k, index in enumerate(place.index):
        if k < first:
            if any(n.startswith("@") for n in names(index)):
                return False
            continue
        own = axis(k - first)
        if k > first:
            if index != own or whole.shape[k - first] != Extent(place.array, k):
                return False
            continue
        terms, _ = linear(index)
        others = [t for t in terms if t != own]
        if terms.get(own) != 1 or any(
            n.startswith("@") for t in others for n in names(t)
        ):
            return False
    return True


def stretched(whole: Array, shape: Sequence[Expr]) -> Array:
    """`whole` broadcast to `shape`: axes join on the right, those of length one
    stretch.
    """
    offset = len(shape) - whole.rank
    env: dict[str, Expr] = {}
    for k, length in enumerate(whole.shape):
        alone = length == ONE and shape[k + offset] != ONE
        env[axis(k).name] = ZERO if alone else axis(k + offset)
    return Array(tuple(shape), substitute(whole.element, env), False, loc=whole.loc)


def collected(e: Expr) -> Expr:
    """`e` with its subscripts collected: ``v[i + 1]``, not ``v[i + 2 - 1]``."""
    match e:
        case Load(_, index):
            return replace(e, index=tuple(plain(collected(i)) for i in index))
        case Call(_, args):
            return replace(e, args=tuple(map(collected, args)))
    return e


# ------------------------------------------------------------------ dtypes


Kinds = tuple[Var | str, ...]


def kinds(e: Expr) -> Kinds:
    """What NumPy promotes to the dtype of `e`, as `ir.Promoted` has it.

    >>> from pyrev.parse.expression import parse_expr
    >>> kinds(parse_expr("2.0 * a[i] + b[i]"))
    ('weak float', Var(name='a'), Var(name='b'))
    """
    match e:
        case Const(bool()):
            return ("bool",)
        case Const(int()) | Extent():
            return (WEAK_INT,)
        case Const():
            return (WEAK_FLOAT,)
        case Var(name) | Load(name):
            return (WEAK_INT,) if name.startswith("@") else (Var(name),)
        case Call(op) if op in LOGICAL:
            return ("bool",)
        case Call(op) if op in CASTS:
            return (op,)
        case Call("int" | "round"):
            return (WEAK_INT,)
        case Call("float"):
            return (WEAK_FLOAT,)
        case Call("where", (_, a, b)):
            return union((kinds(a), kinds(b)))
        case Call(op, args) if op in _SAME_KIND:
            return union(map(kinds, args))
        case Call(_, args):
            return union((*map(kinds, args), (WEAK_FLOAT,)))
    return ()


def union(groups: Iterable[Kinds]) -> Kinds:
    """Every entry once, in order."""
    return tuple(dict.fromkeys(k for group in groups for k in group))


def dtype_of(parts: Kinds) -> Dtype:
    """The `Alloc.dtype` of these kinds."""
    match parts:
        case (("bool" | "float32" | "float64") as only,):
            return only
        case _ if set(parts) <= {WEAK_INT, "bool"}:
            return "int64"
        case _ if "float64" in parts or set(parts) <= {WEAK_INT, WEAK_FLOAT, "bool"}:
            return "float64"
    return Promoted(parts)
