"""Products of vectors and matrices, as loops."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from pyrev.ir.nodes import ZERO, Assign, Call, Const, Expr, Load, Loc, Stmt, Var
from pyrev.parse import views
from pyrev.parse.expression import increment
from pyrev.parse.shapes import RankFact
from pyrev.parse.values import Array, Operand, axis
from pyrev.parse.walk import Walk
from pyrev.parse.whole_arrays import (
    allocate,
    as_array,
    ask_axes,
    check_length,
    elementwise,
    evaluated,
    is_integral,
    known_dtype,
    located,
    weight,
)


def matrix_product(w: Walk, left: Operand, right: Operand, at: Loc) -> Operand:
    """``left @ right`` of vectors and matrices."""
    unknown = [not isinstance(e, Array) for e in (left, right)]
    if any(unknown) and (
        w.known.exact
        or not all(isinstance(e, (Array, Var, Load)) for e in (left, right))
    ):
        if w.known.exact:
            w.refuse(
                "P201",
                at,
                "a number is multiplied with `@`",
                "multiply with `*`, or give two arrays",
            )
            return ZERO
        # A number as far as the text shows; a call reads it again.
        w.found.lenient = True
        pair = [left, right]
        return elementwise(w, pair, lambda e: Call("*", tuple(e), loc=at), at)
    a, b = as_array(w, left, at), as_array(w, right, at)
    assert a is not None and b is not None
    if a.rank > 2 or b.rank > 2:
        w.refuse(
            "P201",
            at,
            "`@` of arrays with more than two axes",
            "write the product as loops",
        )
        return ZERO
    rows, columns = a.rank - 1, b.rank - 1
    if columns:
        a = evaluated(w, a, "left", at)
    if rows:
        b = evaluated(w, b, "right", at)
    check_length(w, a.shape[-1], b.shape[0], at)
    shape = (*a.shape[:rows], *b.shape[1:])

    def term(index: Sequence[Expr]) -> Expr:
        inner = index[-1]
        x = a.at((*index[:rows], inner))
        y = b.at((inner, *index[rows : rows + columns]))
        return views.collected(Call("*", (x, y), loc=at))

    name = w.emit.fresh("product" if shape else "total")
    result: Operand
    if shape:
        kinds = views.union((views.kinds(a.element), views.kinds(b.element)))
        dtype = views.dtype_of(kinds)
        result = allocate(w, name, shape, Const(0.0), dtype, at)
        # Should the product have more axes after all, one of the two has.
        for one, other in ((a, b), (b, a)):
            if one.rank == 2 and other.base is not None and other.rank == 1:
                w.found.rows.append((name, other.base, 0, 2))
    else:
        whole_number = is_integral(w, Call("*", (a.element, b.element)))
        zero = Const(0 if whole_number else 0.0, loc=at)
        w.emit.add(Assign(Var(name, loc=at), zero, loc=at))
        result = Var(name, loc=at)
        # Should this be an array after all, the left one is a matrix; of a part of an
        # array and a whole one, the whole one is.
        left_is = a.name is not None or b.name is None
        for one, is_matrix in ((a, left_is), (b, not left_is)):
            if one.base is not None:
                w.found.rows.append((name, one.base, int(is_matrix), 2))

    def body(index: tuple[Expr, ...]) -> list[Stmt]:
        place: Var | Load = Var(name, loc=at)
        if shape:
            place = Load(name, index[:-1], loc=at)
        return [increment(place, term(index), at)]

    inner = min(a.shape[-1], b.shape[0], key=weight)
    w.emit.nest((*shape, inner), at, body)
    return result


def outer_product(w: Walk, left: Operand, right: Operand, at: Loc) -> Operand:
    """``np.outer(left, right)`` of vectors."""
    a, b = as_array(w, left, at), as_array(w, right, at)
    if a is None or b is None or a.rank != 1 or b.rank != 1:
        w.refuse("P201", at, "`np.outer` of these values", "give it two vectors")
        return ZERO
    column = views.part(a, [views.Slice(ZERO, 1, a.shape[0]), None])
    pair = [column, b]
    return elementwise(w, pair, lambda e: Call("*", tuple(e), loc=at), at)


def letters_of(text: str) -> tuple[list[str], str] | None:
    """The letters of the operands of ``np.einsum`` and of the result; None for what
    has other signs.

    >>> letters_of("ij,jk")
    (['ij', 'jk'], 'ik')
    """
    inputs, arrow, output = text.replace(" ", "").partition("->")
    operands = inputs.split(",")
    every = "".join(operands)
    if not arrow:
        output = "".join(sorted(c for c in {*every} if every.count(c) == 1))
    plain = all(c.isascii() and c.isalpha() for c in every + output)
    if not plain or len({*output}) < len(output) or not {*output} <= {*every}:
        return None
    return operands, output


def einstein_sum(
    w: Walk, letters: Sequence[str], output: str, given: Sequence[Operand], at: Loc
) -> Operand:
    """``np.einsum`` with these letters: a loop over each, as the sum is written."""
    operands = []
    for own, value in zip(letters, given, strict=True):
        operand = _with_axes(w, value, len(own), at)
        if operand is None:
            return ZERO
        operands.append(operand)
    (first, *others), own = operands, letters[0]
    view = not others and isinstance(first, Array) and {*own} == {*output}
    if not view:
        operands = [
            evaluated(w, a, "factor", at) if isinstance(a, Array) else a
            for a in operands
        ]
    sizes: dict[str, Expr] = {}
    for own, operand in zip(letters, operands, strict=True):
        shape = operand.shape if isinstance(operand, Array) else ()
        for letter, size in zip(own, shape, strict=True):
            if letter in sizes:
                check_length(w, sizes[letter], size, at)
            sizes.setdefault(letter, size)
    order = [*output, *(c for c in sizes if c not in output)]
    if view:  # nothing is added up: NumPy gives other names to the same elements
        assert isinstance(first, Array)
        element = first.at([axis(output.index(c)) for c in own])
        shape = tuple(sizes[c] for c in output)
        return located(w, Array(shape, element, first.view, loc=at), at)

    def term(index: Sequence[Expr]) -> Expr:
        of = dict(zip(order, index, strict=True))
        factors = [
            a.at([of[c] for c in own]) if isinstance(a, Array) else a
            for own, a in zip(letters, operands, strict=True)
        ]
        whole = reduce(lambda a, b: Call("*", (a, b), loc=at), factors)
        return views.collected(whole)

    elements = [a.element if isinstance(a, Array) else a for a in operands]
    if all(known_dtype(w, e) == "bool" for e in elements):
        w.refuse(
            "P210",
            at,
            "`np.einsum` of truth values does not count them, as `np.sum` does",
            "write `np.any`, or count with `np.sum`",
        )
        return ZERO
    name = w.emit.fresh("product" if output else "total")
    result: Operand
    if output:
        dtype = views.dtype_of(views.union(tuple(map(views.kinds, elements))))
        shape = tuple(sizes[c] for c in output)
        result = allocate(w, name, shape, Const(0.0), dtype, at)
    else:
        whole_number = is_integral(w, reduce(lambda a, b: Call("*", (a, b)), elements))
        zero = Const(0 if whole_number else 0.0, loc=at)
        w.emit.add(Assign(Var(name, loc=at), zero, loc=at))
        result = Var(name, loc=at)

    def body(index: tuple[Expr, ...]) -> list[Stmt]:
        place: Var | Load = Var(name, loc=at)
        if output:
            place = Load(name, index[: len(output)], loc=at)
        return [increment(place, term(index), at)]

    w.emit.nest(tuple(sizes[c] for c in order), at, body)
    return result


def _with_axes(w: Walk, value: Operand, count: int, at: Loc) -> Operand | None:
    """An operand that has so many axes, or will have in the next walk; None if it is
    refused.
    """
    rank = value.rank if isinstance(value, Array) else 0
    if rank == count:
        return value
    if not w.known.exact and rank < count:
        match value:
            case Array() if value.base is not None:
                ask_axes(w, value, count - rank, at, least=False)
            case Var(name):
                w.found.facts.append(RankFact(name, count, at))
        w.found.lenient = True
        return None
    w.refuse(
        "P202",
        at,
        f"`np.einsum` has {count} letters for an array with {rank}"
        f" {'axis' if rank == 1 else 'axes'}",
        "write a letter for each axis",
    )
    return None
