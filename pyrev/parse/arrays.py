"""How array-valued expressions become loops: new arrays, fills, reductions, products.

Statements are made here; which array a value is, `values` and `views` say. The right
side of an assignment is evaluated before anything is written: where the two may overlap
it goes to an array of its own first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from types import EllipsisType

import gast

from pyrev.ir.dtypes import WEAK_INT, expr_dtype, is_float
from pyrev.ir.nodes import (
    ONE,
    ZERO,
    Alloc,
    Assign,
    Block,
    Call,
    Check,
    Const,
    Dtype,
    Expr,
    Extent,
    For,
    If,
    Load,
    Loc,
    Stmt,
    Var,
    map_expr,
    names,
    substitute,
    walk_expr,
)
from pyrev.parse import views
from pyrev.parse.bindings import bindings
from pyrev.parse.expression import assigned, increment
from pyrev.parse.names import Names, Scope
from pyrev.parse.shapes import RankFact
from pyrev.parse.values import Array, Operand, axis, stored_in, whole_array
from pyrev.parse.views import Item

_INDICES = ("i", "j", "k", "l", "m", "n", "p", "q")
_MOST = 32  # axes of an array
_CHEAP = frozenset(["+", "-", "*", "/", "//", "%", "neg"])
_SHAPES = "these arrays have different shapes"


#: One subscript: an index, the parts of a slice, None or Ellipsis.
Given = Operand | tuple[Operand | None, Operand | None, int] | EllipsisType | None

Standing = tuple[dict[str, Array], dict[str, tuple[int, ...]]]


@dataclass(slots=True)
class Arrays(Names):
    """The part of the walk that makes loops of whole arrays."""

    indices: list[str] = field(default_factory=list)

    def _value(self, node: gast.AST, scope: Scope) -> Operand:
        raise NotImplementedError

    def _number_of(self, node: gast.AST, scope: Scope, *, test: bool = False) -> Expr:
        raise NotImplementedError

    def _values(self, nodes: Sequence[gast.AST], scope: Scope) -> list[Operand]:
        raise NotImplementedError

    # ---------------------------------------------------------------- wholes

    def _located(self, whole: Array, at: Loc) -> Array:
        """An array value at a place of the text; one with a name has its own rank."""
        name = whole.name
        if name is not None and whole.mask is None and self._is_array(name):
            return whole_array(name, self._rank(name), at)
        return replace(whole, loc=at)

    def _arrayed(self, value: Operand, at: Loc) -> Array | None:
        """`value` as an array; where its rank is unknown, this is where it shows."""
        match value:
            case Array():
                return value
            case Var(name):
                self.facts.append(RankFact(name, 1, at, least=True))
                return whole_array(name, 1, at)
            case Load(array, index):
                self.facts.append(RankFact(array, len(index) + 1, at, least=True))
                whole = whole_array(array, len(index) + 1, at)
                return views.part(whole, index)
        return None

    def _resembles(self, name: str, value: Expr) -> None:
        """Should `name` be an array, `value`, a number now, is a view of one."""
        match value:
            case Var(other):
                self.alike.append((name, other))
            case Load(array, index):
                self.rows.append((name, array, len(index), _MOST))

    def _measured(self, node: gast.AST, scope: Scope, axes: int = 1) -> Array | None:
        """The array that is measured: by name, or any expression that gives one."""
        at = scope.source.loc(node)
        if isinstance(node, (gast.Name, gast.Attribute)):
            found = self._referred(node, scope)
            array = stored_in(found)
            if isinstance(found, Array) and array is None:
                return found
            if array is not None:
                self.facts.append(RankFact(array, axes, at, least=True))
                return whole_array(array, max(self._rank(array), axes), at)
            if isinstance(node, gast.Name):
                owner = self._find(node.id, scope)
                lent = owner.bound.get(node.id) if isinstance(owner, Scope) else None
                return self._arrayed(lent, at) if isinstance(lent, Load) else None
        return self._arrayed(self._value(node, scope), at)

    # ---------------------------------------------------------------- element-wise

    def _elementwise(
        self, values: Sequence[Operand], build: Callable[[list[Expr]], Expr], at: Loc
    ) -> Operand:
        """`build` of the values, element by element where some are arrays."""
        numbers = [v for v in values if not isinstance(v, Array)]
        if len(numbers) == len(values):
            return build(numbers)
        values = [
            self._made(v, "value", at) if isinstance(v, Array) and v.dtype else v
            for v in values
        ]
        values = [self._literal_ones(v) if isinstance(v, Array) else v for v in values]
        shape = self._broadcast([v for v in values if isinstance(v, Array)], at)
        parts = [
            views.stretched(v, shape).element if isinstance(v, Array) else self._once(v)
            for v in values
        ]
        return Array(shape, build(parts), False, loc=at)

    def _literal_ones(self, whole: Array) -> Array:
        """`whole` with the length one where the array was made with it."""

        def length(size: Expr) -> Expr:
            match size:
                case Extent(array, k) if array in self.sizes:
                    return ONE if self.sizes[array][k : k + 1] == (ONE,) else size
            return size

        return replace(whole, shape=tuple(map(length, whole.shape)))

    def _once(self, value: Expr) -> Expr:
        """A number beside an array: evaluated once, unless that is no work."""
        for e in walk_expr(value):
            if isinstance(e, Load) or (isinstance(e, Call) and e.op not in _CHEAP):
                return self._temp(value, "value")
        return value

    def _broadcast(self, wholes: Sequence[Array], at: Loc) -> tuple[Expr, ...]:
        """The common shape; lengths that may differ are checked when it runs."""
        shape: list[Expr] = []
        for k in range(1, max(w.rank for w in wholes) + 1):
            lengths = [w.shape[-k] for w in wholes if w.rank >= k]
            # All are equal: the loops run over the one that is simplest to read.
            long = sorted((n for n in lengths if n != ONE), key=_weight)
            shape.insert(0, long[0] if long else ONE)
            for other in long[1:]:
                self._same_length(long[0], other, at)
        return tuple(shape)

    def _same_length(self, a: Expr, b: Expr, at: Loc) -> None:
        if not views.equal(a, b):
            test = Call("==", (a, b), loc=at)
            self.out.append(Check(test, "ValueError", _SHAPES, loc=at))

    # ---------------------------------------------------------------- loops

    def _nest(
        self,
        shape: Sequence[Expr],
        at: Loc,
        body: Callable[[tuple[Expr, ...]], Sequence[Stmt]],
        first: Sequence[Expr] = (),
    ) -> None:
        """Loops over all indices of a shape, an axis of length one apart."""
        index: list[Expr] = []
        loops: list[tuple[str, Expr, Expr]] = []
        for k, length in enumerate(shape):
            lo = first[k] if first else ZERO
            if length == ONE and lo == ZERO:
                index.append(ZERO)
                continue
            name = self._index(len(loops))
            index.append(Var(name, loc=at))
            loops.append((name, lo, views.trips(length)))
        inner: Block = tuple(body(tuple(index)))
        for name, lo, hi in reversed(loops):
            inner = (For(name, lo, hi, ONE, inner, loc=at),)
        self.out.extend(inner)

    def _index(self, k: int) -> str:
        """A name for the index of the k-th loop of a nest, the same in every nest."""
        while len(self.indices) <= k:
            free = [n for n in _INDICES if n not in self.taken | self.occupied]
            self.indices.append(self._fresh(free[0] if free else "i"))
        return self.indices[k]

    def _fill(
        self,
        target: Array,
        value: Operand,
        at: Loc,
        op: str = "",
        replaces: bool = False,
    ) -> None:
        """``target[...] = value``, or ``target[...] op= value``.

        `replaces`: in Python another array gets the name, and none is written.
        """
        place = target.element
        assert isinstance(place, Load)
        whole: Array | None = None
        element: Expr
        if not isinstance(value, Array):
            if isinstance(value, Call) or place.array in names(value):
                value = self._temp(value, "value")
            element = value
        else:
            target, whole = self._literal_ones(target), self._literal_ones(value)
            fitted = self._fitted(whole, target.shape, at)
            if fitted is None:
                return
            whole = fitted
            target = replace(target, shape=_simplest(target.shape, whole.shape))
            element = views.stretched(whole, target.shape).element
            if _overlaps(place, element):
                made = self._made(whole, "value", at)
                element = views.stretched(made, target.shape).element
        if not replaces:
            self._changes(place.array, at, place=replace(target, mask=None))
        mask = target.mask
        if mask is not None and whole is not None and whole.rank:
            self.findings.add(
                "P201",
                at,
                "an array is assigned to the elements that a mask selects",
                "write the loop with `if`, or use `np.where`",
            )
            return
        if mask is not None and _overlaps(place, mask):
            kept = self._made(Array(target.shape, mask, False), "mask", at)
            mask = kept.element
        if op and self._integral(place) and self._floating(element):
            self.findings.add(
                "P210",
                at,
                f"`{place.array}` holds integers, and NumPy does not round in place",
                "convert the value with `.astype(...)`",
            )

        def body(index: tuple[Expr, ...]) -> list[Stmt]:
            where = views.collected(target.at(index))
            given = views.collected(Array(target.shape, element, False).at(index))
            assert isinstance(where, Load)
            update = _update(where, given, op, at)
            if mask is None:
                return [update]
            test = views.collected(Array(target.shape, mask, False).at(index))
            return [If(test, (update,), loc=at)]

        self._nest(target.shape, at, body)

    def _fitted(self, whole: Array, shape: Sequence[Expr], at: Loc) -> Array | None:
        """`whole` with no more axes than `shape`, every length checked."""
        extra = whole.rank - len(shape)
        if extra > 0:
            if any(n != ONE for n in whole.shape[:extra]):
                self.findings.add(
                    "P202",
                    at,
                    f"{whole.rank} axes do not fit into {len(shape)}",
                    "make the two sides arrays of equally many axes",
                )
                return None
            whole = views.part(whole, [ZERO] * extra)
        for k in range(1, whole.rank + 1):
            if whole.shape[-k] != ONE:
                self._same_length(shape[-k], whole.shape[-k], at)
        return whole

    def _changes(
        self,
        array: str,
        at: Loc,
        but: str = "",
        over: Scope | None = None,
        place: Load | Array | None = None,
    ) -> None:
        """Elements of `array` are written here, those of `place` if that is known; for
        the rest see `_agree`.
        """
        self._place = place
        self.changed.append(array)
        self.changed_at[array] = at
        self.changed_in.append(self._places())
        self._agree(array, at, but, over)
        if any(c.name == array for c in self.captures.values()):
            self.findings.add(
                "P112",
                at,
                f"`{array}` is not a parameter",
                "pass the array as a parameter to write to it",
            )

    def _agree(
        self, array: str, at: Loc, but: str = "", over: Scope | None = None
    ) -> None:
        raise NotImplementedError

    def _reachable(self, array: str) -> bool:
        """Does a name stand for the array, or a part of it?

        The caller of the whole function has names for its arguments.
        """
        if array not in self.allocated:
            return True
        return any(
            isinstance(e, Array) and e.base == array
            for s in self.running
            for e in s.bound.values()
        )

    def _allocate(
        self,
        name: str,
        shape: tuple[Expr, ...],
        fill: Expr | None,
        dtype: Dtype,
        at: Loc,
        shaped: str = "",
    ) -> Array:
        """A new array of the program; `shaped` is one that has its shape."""
        self.allocated[name] = at
        self.made_in[name] = tuple(self.open)
        self.sizes[name] = shape
        if shaped:
            self.same.append((name, shaped))
        else:
            self.facts.append(RankFact(name, len(shape), at))
        self.out.append(Alloc(name, shape, fill, dtype, loc=at))
        return whole_array(name, len(shape), at)

    def _made(self, whole: Array, hint: str, at: Loc, name: str = "") -> Array:
        """A new array with the elements of `whole`."""
        name = name or self._fresh(hint)
        if whole.dtype:
            source = whole.source
            fill = None if whole.blank or source is not None else whole.element
            made = self._allocate(name, whole.shape, fill, whole.dtype, at, whole.like)
            alloc = self.out[-1]
            assert isinstance(alloc, Alloc)
            self.out[-1] = replace(alloc, source=source)
            return made
        dtype = views.dtype_of(views.kinds(whole.element))
        made = self._allocate(name, whole.shape, None, dtype, at)

        def body(index: tuple[Expr, ...]) -> list[Stmt]:
            element = views.collected(whole.at(index))
            return [Assign(Load(name, index, loc=at), element, loc=at)]

        self._nest(whole.shape, at, body)
        return made

    def _computed(self, whole: Array, hint: str, at: Loc) -> Array:
        """`whole`, or an array of its values if an element takes work."""
        if whole.view or isinstance(whole.element, (Load, Const, Var)):
            return whole
        return self._made(whole, hint, at)

    # ---------------------------------------------------------------- reductions

    def _integral(self, element: Expr) -> bool:
        """Is this an integer or a truth value, as far as the last walk knows?"""
        found = self._known_dtype(element)
        return found is not None and not is_float(found)

    def _floating(self, element: Expr) -> bool:
        """Is this a float, as far as the last walk knows?"""
        found = self._known_dtype(element)
        return found is not None and is_float(found)

    def _known_dtype(self, element: Expr) -> str | None:
        dtypes = {axis(k).name: WEAK_INT for k in range(_MOST)} | dict(self.dtypes)
        return expr_dtype(element, dtypes) if names(element) <= dtypes.keys() else None

    def _reduced(
        self,
        kind: str,
        whole: Array,
        axes: Sequence[int],
        keep: bool,
        at: Loc,
        fold: str = "",
    ) -> Operand:
        """The sum (product, mean, least, greatest) over some axes.

        `fold` is the operation, where it is not NumPy's.
        """
        every = len(axes) == whole.rank
        rest = [k for k in range(whole.rank) if k not in axes]
        element = whole.element
        if kind in ("sum", "mean", "prod") and self._integral(element):
            # NumPy adds small integers up in wide ones.
            element = Call("int64", (element,), loc=at)
        source = Array(whole.shape, element, False)
        count: Expr = ONE
        for k in axes:
            length = whole.shape[k]
            count = length if count == ONE else Call("*", (count, length), loc=at)
            if kind in ("min", "max"):
                test = Call(">", (length, ZERO), loc=at)
                message = "an array without elements has no least or greatest one"
                if not (isinstance(length, Const) and length.value > 0):
                    self.out.append(Check(test, "ValueError", message, loc=at))
        name = self._fresh(_RESULT[kind])
        shape = tuple(whole.shape[k] for k in rest)

        def place(index: Sequence[Expr]) -> Var | Load:
            if every:
                return Var(name, loc=at)
            return Load(name, tuple(index[k] for k in rest), loc=at)

        def begin(index: Sequence[Expr]) -> Expr:
            at_zero = list(index)
            for k in axes:
                at_zero[k] = ZERO
            return views.collected(source.at(at_zero))

        first: list[Expr] = []
        if kind in ("min", "max"):
            op = fold or ("minimum" if kind == "min" else "maximum")
            if every:
                start = begin([ZERO] * whole.rank)
                self.out.append(Assign(Var(name, loc=at), start, loc=at))
            else:
                dtype = views.dtype_of(views.kinds(element))
                made = self._allocate(name, shape, None, dtype, at)

                def opened(index: tuple[Expr, ...]) -> list[Stmt]:
                    whole_index: list[Expr] = [ZERO] * whole.rank
                    for k, e in zip(rest, index, strict=True):
                        whole_index[k] = e
                    return [Assign(place(whole_index), begin(whole_index), loc=at)]

                self._nest(shape, at, opened)
            if len(axes) == 1:
                first = [ONE if k in axes else ZERO for k in range(whole.rank)]
        else:
            unit = 1 if kind == "prod" else 0
            op = "*" if kind == "prod" else "+"
            zero = Const(unit if self._integral(element) else float(unit), loc=at)
            if every:
                self.out.append(Assign(Var(name, loc=at), zero, loc=at))
            else:
                dtype = views.dtype_of(views.kinds(element))
                made = self._allocate(name, shape, Const(float(unit)), dtype, at)

        def body(index: tuple[Expr, ...]) -> list[Stmt]:
            given = views.collected(source.at(index))
            where = place(index)
            if kind in ("min", "max"):
                return [Assign(where, Call(op, (where, given), loc=at), loc=at)]
            return [_update(where, given, op, at)]

        self._nest(whole.shape, at, body, first)
        if every:
            self.sums.add(name)
            total: Expr = Var(name, loc=at)
            if kind == "mean":
                total = Call("/", (total, _unless_none(count)), loc=at)
            if not keep:
                return total
            return Array((ONE,) * whole.rank, total, False, loc=at)
        result = made
        if keep:
            result = views.part(
                made,
                [
                    None if k in axes else views.Slice(ZERO, 1, whole.shape[k])
                    for k in range(whole.rank)
                ],
            )
        if kind == "mean":
            result = Array(
                result.shape,
                Call("/", (result.element, _unless_none(count)), loc=at),
                False,
            )
        return self._located(result, at)

    def _spread_of(
        self, kind: str, whole: Array, axes: Sequence[int], keep: bool, at: Loc
    ) -> Operand:
        """The variance, or its root."""
        whole = self._computed(whole, "value", at)
        mean = self._reduced("mean", whole, axes, True, at)
        pair = [replace(whole, view=False), mean]
        gaps = self._elementwise(pair, lambda e: Call("-", tuple(e), loc=at), at)
        assert isinstance(gaps, Array)
        square = Call("**", (gaps.element, Const(2)), loc=at)
        squares = Array(gaps.shape, square, False)
        found = self._reduced("mean", squares, axes, keep, at)
        if kind == "var":
            return found
        return self._elementwise([found], lambda e: Call("sqrt", tuple(e), loc=at), at)

    def _truths(
        self, kind: str, whole: Array, axes: Sequence[int], keep: bool, at: Loc
    ) -> Operand:
        """Is any element true, are all?"""
        count: Expr = ONE
        for k in axes:
            count = Call("*", (count, whole.shape[k]), loc=at)
        one = Call("where", (whole.element, ONE, ZERO), loc=at)
        total = self._reduced("sum", Array(whole.shape, one, False), axes, keep, at)
        if kind == "any":
            return self._elementwise(
                [total], lambda e: Call(">", (e[0], ZERO), loc=at), at
            )
        return self._elementwise(
            [total], lambda e: Call("==", (e[0], views.plain(count)), loc=at), at
        )

    def _place_of(self, kind: str, whole: Array, at: Loc) -> Expr:
        """Where the least or the greatest element of a vector is, the first of them."""
        whole = self._computed(whole, "value", at)
        (length,) = whole.shape
        message = "an array without elements has no least or greatest one"
        test = Call(">", (length, ZERO), loc=at)
        self.out.append(Check(test, "ValueError", message, loc=at))
        place = Var(self._fresh("place"), loc=at)
        best = Var(self._fresh("lowest" if kind == "argmin" else "highest"), loc=at)
        first = views.collected(whole.at([ZERO]))
        self.out.append(Assign(place, ZERO, loc=at))
        self.out.append(Assign(best, first, loc=at))

        def body(index: tuple[Expr, ...]) -> list[Stmt]:
            here = views.collected(whole.at(index))
            better = Call("<" if kind == "argmin" else ">", (here, best), loc=at)
            # NumPy stops at the first NaN.
            known = Call("not", (Call("isnan", (best,), loc=at),), loc=at)
            worse = Call("or", (better, Call("isnan", (here,), loc=at)), loc=at)
            test = Call("and", (known, worse), loc=at)
            taken = (Assign(place, index[0], loc=at), Assign(best, here, loc=at))
            return [If(test, taken, loc=at)]

        self._nest(whole.shape, at, body, [ONE])
        return place

    def _running(self, whole: Array, at: Loc) -> Array:
        """``np.cumsum`` of a vector."""
        element = whole.element
        if self._integral(element):
            element = Call("int64", (element,), loc=at)
        source = Array(whole.shape, element, False)
        name, total = self._fresh("sums"), Var(self._fresh("total"), loc=at)
        dtype = views.dtype_of(views.kinds(element))
        made = self._allocate(name, whole.shape, None, dtype, at)
        zero = Const(0 if self._integral(element) else 0.0, loc=at)
        self.out.append(Assign(total, zero, loc=at))

        def body(index: tuple[Expr, ...]) -> list[Stmt]:
            given = views.collected(source.at(index))
            place = Load(name, index, loc=at)
            return [increment(total, given, at), Assign(place, total, loc=at)]

        self._nest(whole.shape, at, body)
        return self._located(made, at)

    def _rolled(self, whole: Array, shift: Expr, at: Loc) -> Array:
        """``np.roll`` of a vector."""
        (length,) = whole.shape
        moved = Call("%", (Call("-", (axis(0), shift), loc=at), length), loc=at)
        env = {axis(0).name: moved}
        return Array(whole.shape, substitute(whole.element, env), False, loc=at)

    def _trace(self, whole: Array, at: Loc) -> Operand:
        rows, columns = whole.shape
        length = rows if rows == columns else Call("min", (rows, columns), loc=at)
        diagonal = Array((length,), whole.at([axis(0), axis(0)]), False)
        return self._reduced("sum", diagonal, (0,), False, at)

    def _joined(self, wholes: Sequence[Array], at: Loc) -> Array | None:
        """``np.concatenate`` of vectors."""
        if not wholes or any(w.rank != 1 for w in wholes):
            return None
        wholes = [self._computed(w, "value", at) for w in wholes]
        length = wholes[0].shape[0]
        starts: list[Expr] = [ZERO]
        for w in wholes[1:]:
            starts.append(length)
            length = views.add(length, w.shape[0])
        tokens = views.union(views.kinds(w.element) for w in wholes)
        dtype = views.dtype_of(tokens)
        made = self._allocate(self._fresh("joined"), (length,), None, dtype, at)
        for start, w in zip(starts, wholes, strict=True):
            part = views.part(made, [views.Slice(start, 1, w.shape[0])])
            self._fill(part, w, at)
        return self._located(made, at)

    # ---------------------------------------------------------------- products

    def _product(self, left: Operand, right: Operand, at: Loc) -> Operand:
        """``left @ right`` of vectors and matrices."""
        unknown = [not isinstance(e, Array) for e in (left, right)]
        if any(unknown) and (
            self.exact
            or not all(isinstance(e, (Array, Var, Load)) for e in (left, right))
        ):
            if self.exact:
                self.findings.add(
                    "P201",
                    at,
                    "a number is multiplied with `@`",
                    "multiply with `*`, or give two arrays",
                )
                return ZERO
            # A number as far as the text shows; a call reads it again.
            self.lenient = True
            pair = [left, right]
            return self._elementwise(pair, lambda e: Call("*", tuple(e), loc=at), at)
        a, b = self._arrayed(left, at), self._arrayed(right, at)
        assert a is not None and b is not None
        if a.rank > 2 or b.rank > 2:
            self.findings.add(
                "P201",
                at,
                "`@` of arrays with more than two axes",
                "write the product as loops",
            )
            return ZERO
        rows, columns = a.rank - 1, b.rank - 1
        if columns:
            a = self._computed(a, "left", at)
        if rows:
            b = self._computed(b, "right", at)
        self._same_length(a.shape[-1], b.shape[0], at)
        shape = (*a.shape[:rows], *b.shape[1:])

        def term(index: Sequence[Expr]) -> Expr:
            inner = index[-1]
            x = a.at((*index[:rows], inner))
            y = b.at((inner, *index[rows : rows + columns]))
            return views.collected(Call("*", (x, y), loc=at))

        name = self._fresh("product" if shape else "total")
        result: Operand
        if shape:
            kinds = views.union((views.kinds(a.element), views.kinds(b.element)))
            dtype = views.dtype_of(kinds)
            result = self._allocate(name, shape, Const(0.0), dtype, at)
            # Should the product have more axes after all, one of the two has.
            for one, other in ((a, b), (b, a)):
                if one.rank == 2 and other.base is not None and other.rank == 1:
                    self.rows.append((name, other.base, 0, 2))
        else:
            whole_number = self._integral(Call("*", (a.element, b.element)))
            zero = Const(0 if whole_number else 0.0, loc=at)
            self.out.append(Assign(Var(name, loc=at), zero, loc=at))
            result = Var(name, loc=at)
            if a.base is not None:
                # Should this be an array after all, the left one is a matrix.
                self.rows.append((name, a.base, 1, 2))
            if b.base is not None:
                self.rows.append((name, b.base, 0, 2))

        def body(index: tuple[Expr, ...]) -> list[Stmt]:
            place: Var | Load = Var(name, loc=at)
            if shape:
                place = Load(name, index[:-1], loc=at)
            return [increment(place, term(index), at)]

        inner = min(a.shape[-1], b.shape[0], key=_weight)
        self._nest((*shape, inner), at, body)
        return result

    def _outer(self, left: Operand, right: Operand, at: Loc) -> Operand:
        """``np.outer(left, right)`` of vectors."""
        a, b = self._arrayed(left, at), self._arrayed(right, at)
        if a is None or b is None or a.rank != 1 or b.rank != 1:
            self.findings.add(
                "P201", at, "`np.outer` of these values", "give it two vectors"
            )
            return ZERO
        column = views.part(a, [views.Slice(ZERO, 1, a.shape[0]), None])
        pair = [column, b]
        return self._elementwise(pair, lambda e: Call("*", tuple(e), loc=at), at)

    # ---------------------------------------------------------------- subscripts

    def _part(self, value: Operand, items: Sequence[Given], at: Loc) -> Operand:
        """`value` with one pair of brackets behind it.

        An item is an index, a triple ``(lower, upper, step)``, None or Ellipsis.
        """
        count = sum(item is not None and item is not Ellipsis for item in items)
        whole = self._subscripted(value, count, at)
        if whole is None:
            return ZERO
        if whole.rank < count:
            base = whole.base
            if base is None:
                self.findings.add(
                    "P202",
                    at,
                    f"{count} subscripts for an array of rank {whole.rank}",
                    "subscript each axis once",
                )
            else:
                # The next walk knows that the array behind it has more axes.
                self.unsettled = True
                rank = self._rank(base) + count - whole.rank
                self.facts.append(RankFact(base, rank, at))
            return ZERO
        full = list(items)
        if Ellipsis in full:
            k = full.index(Ellipsis)
            full[k : k + 1] = [(None, None, 1)] * (whole.rank - count)
        made: list[Item] = []
        k = 0
        for item in full:
            match item:
                case None:
                    made.append(None)
                    continue
                case (lower, upper, int(step)):
                    assert not isinstance(lower, Array)
                    assert not isinstance(upper, Array)
                    made.append(views.sliced(lower, upper, step, whole.shape[k]))
                case Const() | Var() | Load() | Extent() | Call():
                    made.append(self._position(whole, k, item))
            k += 1
        result = views.part(whole, made)
        if result.rank:
            return self._located(result, at)
        element = result.element
        if whole.name is None:
            element = views.collected(element)
        return replace(element, loc=at)

    def _masked(self, value: Operand, mask: Given, at: Loc) -> Array | None:
        """``a[mask]`` as a target; None if the subscript is no mask."""
        if not isinstance(mask, Array) or not self._is_truth(mask.element):
            return None
        whole = self._subscripted(value, mask.rank, at)
        if whole is None or not whole.view or whole.rank < mask.rank:
            return None
        for mine, theirs in zip(whole.shape, mask.shape, strict=False):
            self._same_length(mine, theirs, at)
        return self._located(replace(whole, mask=mask.element), at)

    def _is_truth(self, element: Expr) -> bool:
        found = self._known_dtype(element)
        return found == "bool" if found else views.kinds(element) == ("bool",)

    def _subscripted(self, value: Operand, count: int, at: Loc) -> Array | None:
        """What is subscripted, with as many axes as it is known to have."""
        match value:
            case Var(name) | Array(name=str(name)):
                rank = self._rank(name) if self._is_array(name) else 0
                self.facts.append(RankFact(name, max(count, 1), at, least=True))
                return whole_array(name, max(rank, count, 1), at)
            case Load(array, index):
                rank = len(index) + max(count, 1)
                self.facts.append(RankFact(array, rank, at, least=True))
                return views.part(whole_array(array, rank, at), index)
            case Array():
                return value
        self.findings.add(
            "P203", at, "a number is subscripted here", "leave the subscripts out"
        )
        return None

    def _position(self, whole: Array, k: int, index: Expr) -> Expr:
        """An index as a position on axis `k`; beyond a slice it is checked here."""
        length = whole.shape[k]
        base = whole.element
        direct = isinstance(base, Load) and any(
            e == axis(k) and length == Extent(base.array, m)
            for m, e in enumerate(base.index)
        )
        if direct:
            # Bounds of the array itself are checked where it is read.
            return index
        at = index.loc
        if isinstance(index, Const) and type(index.value) is int:
            if index.value >= 0:
                inside: Expr = Call("<", (index, length), loc=at)
            else:
                back = Const(-index.value, loc=at)
                inside = Call("<=", (back, length), loc=at)
                index = views.subtract(length, back)
            self._inside(inside, at)
            return index
        low = Call("<=", (Call("neg", (length,), loc=at), index), loc=at)
        high = Call("<", (index, length), loc=at)
        self._inside(Call("and", (low, high), loc=at), at)
        negative = Call("<", (index, ZERO), loc=at)
        from_end = views.add(length, index)
        return Call("where", (negative, from_end, index), loc=at)

    def _inside(self, test: Expr, at: Loc) -> None:
        message = "the index is outside the slice"
        self.out.append(Check(test, "IndexError", message, loc=at))

    # ---------------------------------------------------------------- names of arrays

    def _frozen(self, whole: Array, scope: Scope) -> Array:
        """A view, with the numbers it depends on as they are now: a new object."""

        def keep(e: Expr) -> Expr:
            match e:
                case Var(name) if not name.startswith("@") and not _steady(name, scope):
                    return self._temp(e, name)
                case Load():
                    return self._temp(e, "index")
            return e

        def visit(e: Expr) -> Expr:
            return map_expr(e, keep)

        place = whole.element
        assert isinstance(place, Load)
        index = tuple(map(visit, place.index))
        shape = tuple(map(visit, whole.shape))
        element = replace(place, index=index)
        self.objects += 1
        return Array(shape, element, True, object=self.objects, loc=whole.loc)

    def _named(self, value: Array, scope: Scope, hint: str) -> Array:
        """An array value that can be used again and again: a view, or a new array."""
        if value.name is not None:
            return value
        if value.view:
            return self._frozen(value, scope)
        return self._made(value, hint, value.loc)

    def _hold(self, name: str, value: Array, scope: Scope) -> None:
        """From here on, in this block, `name` stands for this array."""
        scope.bound[name] = value
        scope.paths[name] = tuple(self.open)
        scope.uses.pop(name, None)
        scope.retired.discard(name)

    def _standing(self, scope: Scope) -> Standing:
        """Which arrays the names stand for, and since where."""
        arrays = {n: e for n, e in scope.bound.items() if isinstance(e, Array)}
        return arrays, {n: p for n, p in scope.paths.items() if n in arrays}

    def _stand(self, scope: Scope, then: Standing) -> Standing:
        """Back to what the names stood for; what they stand for now comes back."""
        now = self._standing(scope)
        for name in now[0]:
            scope.bound.pop(name)
            scope.paths.pop(name, None)
        scope.bound |= then[0]
        scope.paths |= then[1]
        return now

    def _join(self, scope: Scope, before: Standing, then: Standing) -> None:
        """After two branches: what only the first of them bound is bound there."""
        for name, value in then[0].items():
            if name not in before[0] and name not in scope.bound:
                scope.bound[name] = value
                if name in then[1]:
                    scope.paths[name] = then[1][name]

    def _read_back(self, value: Operand, at: Loc) -> Expr:
        """A returned value, as the function gives it to its caller."""
        if not isinstance(value, Array):
            return value
        if value.name is not None and self._is_array(value.name):
            return Var(value.name, loc=value.loc)
        made = self._made(value, "result", at)
        assert made.name is not None
        if value.view and value.base not in self.allocated:
            assert value.base is not None
            self.parts[made.name] = value.base, at
        return Var(made.name, loc=at)


_RESULT = {
    "sum": "total",
    "mean": "total",
    "prod": "product",
    "min": "lowest",
    "max": "highest",
}


def _unless_none(count: Expr) -> Expr:
    """What a mean is divided by: of no elements it is nan, also in Python's floats."""
    if isinstance(count, Const) and count.value:
        return count
    some = Call(">", (count, ZERO), loc=count.loc)
    return Call("where", (some, count, Const(math.nan)), loc=count.loc)


def _weight(size: Expr) -> int:
    return sum(1 for _ in walk_expr(size))


def _simplest(mine: Sequence[Expr], theirs: Sequence[Expr]) -> tuple[Expr, ...]:
    """The lengths of a target, or the equal ones of its value if simpler."""
    found = list(mine)
    for k in range(1, len(theirs) + 1):
        if theirs[-k] != ONE and _weight(theirs[-k]) < _weight(found[-k]):
            found[-k] = theirs[-k]
    return tuple(found)


def _update(place: Var | Load, value: Expr, op: str, at: Loc) -> Stmt:
    """``place = value``, or ``place op= value``."""
    if not op:
        return Assign(place, value, loc=at)
    return assigned(place, Call(op, (place, value), loc=at), at)


def _overlaps(place: Load, element: Expr) -> bool:
    """May `element` read what a write to `place` at another index changes?"""
    own = views.collected(place)
    for e in walk_expr(element):
        if isinstance(e, Load) and e.array == place.array and views.collected(e) != own:
            return True
    return any(place.array in names(i) for i in place.index)


def _steady(name: str, scope: Scope) -> bool:
    """Is a number set in one place of the text only?"""
    place: Scope | None = scope
    while place is not None:
        for user, value in place.bound.items():
            if value == Var(name):
                return bindings(place.source.node).count(user) == 1
        place = place.outer
    return True
