"""How array-valued expressions become loops, into new arrays and into old ones.

Which array a value is, `values` and `views` say; statements are made here. The right
side of an assignment is evaluated before anything is written: where the two may overlap
it goes to an array of its own first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from pyrev.ir.dtypes import WEAK_INT, expr_dtype, is_float
from pyrev.ir.nodes import (
    ONE,
    ZERO,
    Alloc,
    Assign,
    Call,
    Check,
    Const,
    Dtype,
    Expr,
    Extent,
    If,
    Load,
    Loc,
    Stmt,
    Var,
    map_expr,
    names,
    walk_expr,
)
from pyrev.ir.opaque import Opaque
from pyrev.parse import views
from pyrev.parse.expression import assigned, increment
from pyrev.parse.names import is_array, rank_of
from pyrev.parse.points_to import note_write
from pyrev.parse.scopes import Scope
from pyrev.parse.shapes import RankFact
from pyrev.parse.values import Array, Operand, axis, whole_array
from pyrev.parse.walk import MOST_AXES, Walk, Wanted

_CHEAP = frozenset(["+", "-", "*", "/", "//", "%", "neg"])


_SHAPES = "these arrays have different shapes"


def located(w: Walk, whole: Array, at: Loc) -> Array:
    """An array value at a place of the text; one with a name has its own rank."""
    name = whole.name
    if name is not None and whole.mask is None and is_array(w, name):
        return whole_array(name, rank_of(w, name), at)
    return replace(whole, loc=at)


def as_array(w: Walk, value: Operand, at: Loc) -> Array | None:
    """`value` as an array; where its rank is unknown, this is where it shows."""
    match value:
        case Array():
            return value
        case Var(name):
            w.found.facts.append(RankFact(name, 1, at, least=True))
            return whole_array(name, 1, at)
        case Load(array, index):
            w.found.facts.append(RankFact(array, len(index) + 1, at, least=True))
            whole = whole_array(array, len(index) + 1, at)
            return views.part(whole, index)
    return None


def ask_axes(w: Walk, whole: Array, more: int, at: Loc, least: bool = True) -> None:
    """Let the next walk know that the array which a value is of has so many axes more,
    at `least`.
    """
    assert whole.base is not None
    w.found.unsettled = True
    rank = rank_of(w, whole.base) + more
    w.found.facts.append(RankFact(whole.base, rank, at, least=least))


def applied(w: Walk, op: str, operands: Sequence[Operand], at: Loc) -> Operand:
    """An operation of the operands, element by element where some are arrays."""
    return elementwise(w, operands, lambda e: Call(op, tuple(e), loc=at), at)


def elementwise(
    w: Walk, values: Sequence[Operand], build: Callable[[list[Expr]], Expr], at: Loc
) -> Operand:
    """`build` of the values, element by element where some are arrays."""
    numbers = [v for v in values if not isinstance(v, Array)]
    if len(numbers) == len(values):
        return build(numbers)
    values = [
        make(w, v, "value", at) if isinstance(v, Array) and v.dtype else v
        for v in values
    ]
    values = [literal_ones(w, v) if isinstance(v, Array) else v for v in values]
    shape = broadcast(w, [v for v in values if isinstance(v, Array)], at)
    parts = [
        views.stretched(v, shape).element if isinstance(v, Array) else once(w, v)
        for v in values
    ]
    return Array(shape, build(parts), False, loc=at)


def literal_ones(w: Walk, whole: Array) -> Array:
    """`whole` with the length one where the array was made with it."""

    def length(size: Expr) -> Expr:
        match size:
            case Extent(array, k) if array in w.storage.sizes:
                return ONE if w.storage.sizes[array][k : k + 1] == (ONE,) else size
        return size

    return replace(whole, shape=tuple(map(length, whole.shape)))


def once(w: Walk, value: Expr) -> Expr:
    """A number beside an array: evaluated once, unless that is no work."""
    for e in walk_expr(value):
        if isinstance(e, Load) or (isinstance(e, Call) and e.op not in _CHEAP):
            return w.emit.temp(value, "value")
    return value


def broadcast(w: Walk, wholes: Sequence[Array], at: Loc) -> tuple[Expr, ...]:
    """The common shape; lengths that may differ are checked when it runs."""
    shape: list[Expr] = []
    for k in range(1, max(a.rank for a in wholes) + 1):
        lengths = [a.shape[-k] for a in wholes if a.rank >= k]
        # All are equal: the loops run over the one that is simplest to read.
        long = sorted((n for n in lengths if n != ONE), key=weight)
        shape.insert(0, long[0] if long else ONE)
        for other in long[1:]:
            check_length(w, long[0], other, at)
    return tuple(shape)


def check_length(w: Walk, a: Expr, b: Expr, at: Loc, error: str = "ValueError") -> None:
    """Two lengths must be equal: checked when it runs, unless the text shows it."""
    if not views.equal(a, b):
        test = Call("==", (a, b), loc=at)
        w.emit.add(Check(test, error, _SHAPES, loc=at))


def assign_elements(
    w: Walk,
    target: Array,
    value: Operand,
    at: Loc,
    op: str = "",
    replaces: bool = False,
    masked: bool = False,
) -> None:
    """``target[...] = value``, or ``target[...] op= value``.

    `replaces`: in Python another array gets the name, and none is written. One that is
    `masked` has the shape of the array, and not only what a mask selects.
    """
    place = target.element
    assert isinstance(place, Load)
    whole: Array | None = None
    element: Expr
    if op and target.scattered:
        # An element that is meant several times is changed once.
        before = make(w, replace(target, view=False, scattered=False), "before", at)
        value, op = applied(w, op, [before, value], at), ""
    if isinstance(value, Array) and _selects(target) and not masked:
        value, masked = spread_over(w, target, value, at), True
    if not isinstance(value, Array):
        if isinstance(value, Call) or place.array in names(value):
            value = w.emit.temp(value, "value")
        element = value
    else:
        target, whole = literal_ones(w, target), literal_ones(w, value)
        fitted = fit(w, whole, target.shape, at)
        if fitted is None:
            return
        whole = fitted
        target = replace(target, shape=_simplest(target.shape, whole.shape))
        element = views.stretched(whole, target.shape).element
        if _overlaps(place, element, target.scattered):
            made = make(w, whole, "value", at)
            element = views.stretched(made, target.shape).element
    if not replaces:
        note_write(w, place.array, at, place=replace(target, mask=None))
    mask = target.mask
    if mask is not None and whole is not None and whole.rank and not masked:
        w.refuse(
            "P201",
            at,
            "an array is assigned to the rows that a mask selects",
            "write the loop with `if`, or use `np.where`",
        )
        return
    if mask is not None and _overlaps(place, mask):
        kept = make(w, Array(target.shape, mask, False), "mask", at)
        mask = kept.element
    if op and is_integral(w, place) and is_floating(w, element):
        w.refuse(
            "P210",
            at,
            f"`{place.array}` holds integers, and NumPy does not round in place",
            "convert the value with `.astype(...)`",
        )

    def body(index: tuple[Expr, ...]) -> list[Stmt]:
        where = views.collected(target.at(index))
        given = views.collected(Array(target.shape, element, False).at(index))
        assert isinstance(where, Load)
        stored = update(where, given, op, at)
        if mask is None:
            return [stored]
        test = views.collected(Array(target.shape, mask, False).at(index))
        return [If(test, (stored,), loc=at)]

    w.emit.nest(target.shape, at, body)


def fit(w: Walk, whole: Array, shape: Sequence[Expr], at: Loc) -> Array | None:
    """`whole` with no more axes than `shape`, every length checked."""
    extra = whole.rank - len(shape)
    if extra > 0:
        if any(n != ONE for n in whole.shape[:extra]):
            w.refuse(
                "P202",
                at,
                f"{whole.rank} axes do not fit into {len(shape)}",
                "make the two sides arrays of equally many axes",
            )
            return None
        whole = views.part(whole, [ZERO] * extra)
    for k in range(1, whole.rank + 1):
        if whole.shape[-k] != ONE:
            check_length(w, shape[-k], whole.shape[-k], at)
    return whole


def allocate(
    w: Walk,
    name: str,
    shape: tuple[Expr, ...],
    fill: Expr | None,
    dtype: Dtype,
    at: Loc,
    shaped: str = "",
    source: str | None = None,
    places: str = "",
    opaque: Opaque | None = None,
) -> Array:
    """A new array of the program, a copy of `source` or of its `places`, or what an
    `opaque` function gives; `shaped` has its shape.
    """
    w.storage.allocated[name] = at
    w.storage.made_in[name] = w.emit.path
    w.storage.sizes[name] = shape
    if shaped:
        w.found.same.append((name, shaped))
    else:
        w.found.facts.append(RankFact(name, len(shape), at))
    count_lengths(w, name, len(shape), at)
    w.emit.add(Alloc(name, shape, fill, dtype, source, places, opaque, loc=at))
    return whole_array(name, len(shape), at)


def count_lengths(w: Walk, name: str, rank: int, at: Loc) -> None:
    """The lengths of a new array are counted, if the last walk found that it gets
    others (`resized`).
    """
    if w.wants(Wanted(name, at, "lengths", rank)):
        del w.storage.sizes[name]
        words = [f"{name}_length{k if rank > 1 else ''}" for k in range(rank)]
        numbers = [Var(w.emit.fresh(n), loc=at) for n in words]
        w.storage.lengths[name] = tuple(numbers)


def make(w: Walk, whole: Array, hint: str, at: Loc, name: str = "") -> Array:
    """A new array with the elements of `whole`."""
    name = name or w.emit.fresh(hint)
    if whole.by_rows:
        w.storage.by_rows.add(name)
    if whole.dtype:
        source = whole.source
        fill = None if whole.blank or source is not None else whole.element
        shape, dtype = whole.shape, whole.dtype
        return allocate(w, name, shape, fill, dtype, at, whole.like, source)
    dtype = views.dtype_of(views.kinds(whole.element))
    made = allocate(w, name, whole.shape, None, dtype, at)

    def body(index: tuple[Expr, ...]) -> list[Stmt]:
        element = views.collected(whole.at(index))
        return [Assign(Load(name, index, loc=at), element, loc=at)]

    w.emit.nest(whole.shape, at, body)
    return made


def evaluated(w: Walk, whole: Array, hint: str, at: Loc) -> Array:
    """`whole`, or an array of its values if an element takes work."""
    if whole.view or isinstance(whole.element, (Load, Const, Var)):
        return whole
    return make(w, whole, hint, at)


def is_integral(w: Walk, element: Expr) -> bool:
    """Is this an integer or a truth value, as far as the last walk knows?"""
    found = known_dtype(w, element)
    return found is not None and not is_float(found)


def is_floating(w: Walk, element: Expr) -> bool:
    """Is this a float, as far as the last walk knows?"""
    found = known_dtype(w, element)
    return found is not None and is_float(found)


def known_dtype(w: Walk, element: Expr) -> str | None:
    """The dtype of an element, if the last walk knows of everything in it."""
    dtypes = {axis(k).name: WEAK_INT for k in range(MOST_AXES)} | dict(w.known.dtypes)
    return expr_dtype(element, dtypes) if names(element) <= dtypes.keys() else None


def freeze(w: Walk, whole: Array, scope: Scope) -> Array:
    """A view, with the numbers it depends on as they are now: a new object."""

    def keep(e: Expr) -> Expr:
        match e:
            case Var(name) if name[0] != "@" and not is_steady(name, scope):
                return w.emit.temp(e, name)
            case Load():
                return w.emit.temp(e, "index")
            case Extent(array, k) if array in w.storage.lengths:
                kept = w.emit.temp(w.storage.lengths[array][k], "length")
                w.storage.counts.add(kept.name)
                return kept
        return e

    def visit(e: Expr) -> Expr:
        return map_expr(e, keep)

    place = whole.element
    assert isinstance(place, Load)
    index = tuple(map(visit, place.index))
    shape = tuple(map(visit, whole.shape))
    element = replace(place, index=index)
    w.storage.objects += 1
    return Array(shape, element, True, object=w.storage.objects, loc=whole.loc)


def reusable(w: Walk, value: Array, scope: Scope, hint: str) -> Array:
    """An array value that can be used again and again: a view, or a new array."""
    if value.name is not None:
        return value
    if value.view:
        return freeze(w, value, scope)
    return make(w, value, hint, value.loc)


def returned_expr(w: Walk, value: Operand, at: Loc) -> Expr:
    """A returned value, as the function gives it to its caller."""
    if not isinstance(value, Array):
        return value
    name = value.name
    if name is not None and is_array(w, name) and name not in w.storage.lengths:
        return Var(name, loc=value.loc)
    made = make(w, value, "result", at)
    assert made.name is not None
    if value.view and value.base not in w.storage.allocated:
        assert value.base is not None
        w.found.parts[made.name] = value.base, at
    return Var(made.name, loc=at)


def weight(size: Expr) -> int:
    """How much there is to read in a length."""
    return sum(1 for _ in walk_expr(size))


def _simplest(mine: Sequence[Expr], theirs: Sequence[Expr]) -> tuple[Expr, ...]:
    """The lengths of a target, or the equal ones of its value if simpler."""
    found = list(mine)
    for k in range(1, len(theirs) + 1):
        if theirs[-k] != ONE and weight(theirs[-k]) < weight(found[-k]):
            found[-k] = theirs[-k]
    return tuple(found)


def update(place: Var | Load, value: Expr, op: str, at: Loc) -> Stmt:
    """``place = value``, or ``place op= value``."""
    if not op:
        return Assign(place, value, loc=at)
    return assigned(place, Call(op, (place, value), loc=at), at)


def _selects(target: Array) -> bool:
    """Does a mask say which single elements are assigned to?"""
    mask = target.mask
    axes = {axis(k).name for k in range(target.rank)}
    return mask is not None and (target.rank == 1 or axes <= names(mask))


def _overlaps(place: Load, element: Expr, scattered: bool = False) -> bool:
    """May `element` read what a write to `place` at another index changes?

    Where it is `scattered` two indices may be of one element.
    """
    own = views.collected(place)
    for e in walk_expr(element):
        if not isinstance(e, Load) or e.array != place.array:
            continue
        if scattered or views.collected(e) != own:
            return True
    return any(place.array in names(i) for i in place.index)


def is_steady(name: str, scope: Scope) -> bool:
    """Is a number set in one place of the text only?"""
    place: Scope | None = scope
    while place is not None:
        for user, value in place.bound.items():
            if value == Var(name):
                return place.text.bound[user] == 1
        place = place.outer
    return True


def true_ones(w: Walk, mask: Array, at: Loc, of_numbers: bool = False) -> Var:
    """How many elements of a mask are true, or how many numbers not zero."""
    count = Var(w.emit.fresh("count"), loc=at)
    w.storage.counts.add(count.name)
    w.emit.add(Assign(count, ZERO, loc=at))

    def body(index: tuple[Expr, ...]) -> list[Stmt]:
        test = views.collected(mask.at(index))
        if of_numbers:
            test = Call("!=", (test, ZERO), loc=at)
        return [If(test, (increment(count, ONE, at),), loc=at)]

    w.emit.nest(mask.shape, at, body)
    return count


def spread_over(w: Walk, target: Array, value: Array, at: Loc) -> Array:
    """The value of ``a[mask] = value`` as an array of the shape of `a`: each of its
    elements where the mask is true.
    """
    assert target.mask is not None
    mask = Array(target.shape, target.mask, False)
    dtype = views.dtype_of(views.kinds(value.element))
    made = allocate(w, w.emit.fresh("spread"), target.shape, ZERO, dtype, at)
    assert made.name is not None
    name = made.name
    place = Var(w.emit.fresh("place"), loc=at)
    w.emit.add(Assign(place, ZERO, loc=at))
    count = true_ones(w, mask, at)
    check_length(w, count, value.shape[0], at)

    def body(index: tuple[Expr, ...]) -> list[Stmt]:
        given = views.collected(value.at([place]))
        stored = Assign(Load(name, index, loc=at), given, loc=at)
        test = views.collected(mask.at(index))
        return [If(test, (stored, increment(place, ONE, at)), loc=at)]

    w.emit.nest(target.shape, at, body)
    return made
