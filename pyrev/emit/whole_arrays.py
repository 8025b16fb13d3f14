"""Statements about whole arrays, in the place of loops over all their elements.

``for k in range(a.shape[0]): b[t, k] = a[k]`` is ``b[t] = a`` to a person. That is said
of loops that pyrev has made: a loop of the user's keeps its form.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

from pyrev.analysis.array_shapes import ArrayShapes
from pyrev.analysis.poly import known_numbers, unlike_name
from pyrev.emit.items import Exchange, Header, Item, Line, Whole
from pyrev.ir.affine import COMPARISONS, integer
from pyrev.ir.dtypes import concrete, expr_dtype
from pyrev.ir.liveness import read_first
from pyrev.ir.nodes import (
    ONE,
    ZERO,
    Add,
    Alloc,
    Assign,
    Block,
    Call,
    Const,
    Expr,
    For,
    Grow,
    Load,
    Program,
    Var,
    While,
    blocks,
    exprs,
    loop_indices,
    map_expr,
    mentioned,
    names,
    resembled,
    walk,
    walk_expr,
    with_blocks,
)
from pyrev.ir.primitives import PRIMITIVES
from pyrev.ir.simplify import ZERO_F
from pyrev.ir.text import call, expr_text, expr_tree, minus, name, negated, store
from pyrev.schedule.forward import WIDEST


class WholeArrays:
    """Finds the loops of a program that are statements about whole arrays.

    `types` are the dtypes of its names, `shapes` of parameters that have the shape of
    others, `users` the names of the user's variables.

    Law: the same values up to rounding, for arrays that have the shapes that the
    program gives them: NumPy adds elements pairwise, and its functions may round
    otherwise where they are given many numbers.
    """

    def __init__(
        self,
        program: Program,
        types: Mapping[str, str],
        shapes: Mapping[str, tuple[Expr, ...]],
        users: Set[str],
    ) -> None:
        body = program.body
        self.types, self.users = types, users
        self.shapes = ArrayShapes(program, shapes)
        self.mentioned: Counter[str] = Counter()
        for s in walk(body):
            for e in exprs(s):
                self.mentioned.update(mentioned(e))
        self.counters = loop_indices(body)
        self.numbers = known_numbers(body)
        #: The scalars that no block reads before it has set them.
        self.private = frozenset(self.mentioned) - read_first(body)

    def items(self, block: Block) -> list[Item]:
        """The statements of a block, those about whole arrays as what they are."""
        out: list[Item] = []
        for s in block:
            found = self.nest(s) if isinstance(s, For) else None
            for item in [s] if found is None else found:
                if isinstance(item, Whole):
                    item = self._made_here(out, item)
                out.append(item)
        return out

    # ---------------------------------------------------------------- loops

    def nest(self, loop: For) -> Sequence[Whole | Exchange] | None:
        """What a nest does to whole arrays; None if it is another."""
        around = [loop]
        while len(around[-1].body) == 1 and isinstance(around[-1].body[0], For):
            around.append(around[-1].body[0])
        index = tuple(Var(f.index) for f in around)
        if not all(
            f.lo == ZERO and f.step == ONE and not self._is_users(f.index)
            for f in around
        ):
            return None
        sizes = [self.shapes.known(f.hi) for f in around]
        if None in sizes:
            return None
        look = _Elements(self, index, tuple(e for e in sizes if e is not None))
        body = around[-1].body
        exchange = look.exchange(body, loop)
        if exchange is not None:
            return [exchange]
        return look.statements(body, loop)

    def _is_users(self, index: str) -> bool:
        return index in self.users or re.sub(r"_\d+$", "", index) in self.users

    # ---------------------------------------------------------------- new arrays

    def _made_here(self, out: list[Item], item: Whole) -> Whole:
        """``a = b.copy()``, ``a = b + c`` where `a` was made for that alone."""
        if isinstance(item.target, Var):
            return self._begun_here(out, item, item.target)
        array = item.target.array
        if item.target.index or array in names(item.value):
            return item
        if out and item.adds and isinstance(last := out[-1], Whole):
            joined = self._joined(last, item)
            if joined is not None:
                out.pop()
                return joined
        at = next(
            (k for k in range(len(out) - 1, -1, -1) if array in mentions(out[k])), None
        )
        made = None if at is None else out[at]
        if not isinstance(made, Alloc) or made.array != array or made.source:
            return item
        blank = made.fill is None and not item.adds
        zeros = isinstance(made.fill, Const) and made.fill.value == 0
        # Subscripts that are left open show that the value is an array.
        if not (blank or zeros) or not self.is_array(item.value):
            return item
        if concrete(self.types[array]) != self._dtype(item.value):
            return item
        del out[at]  # type: ignore[arg-type]
        return replace(item, new=True, adds=False)

    def _begun_here(self, out: list[Item], item: Whole, total: Var) -> Whole:
        """``s = np.sum(a)`` where `s` was zero until then."""
        if not item.adds:
            return item
        at = next(
            (k for k in reversed(range(len(out))) if total.name in mentions(out[k])), 0
        )
        if not out or out[at : at + 1] != [Assign(total, ZERO_F, loc=out[at].loc)]:
            return item
        del out[at]
        return replace(item, new=True)

    def _joined(self, first: Whole, second: Whole) -> Whole | None:
        """One statement for ``a = b.copy()`` and ``a += c``."""
        assert isinstance(second.target, Load)
        array = second.target.array
        if not first.new or first.target != second.target:
            return None
        if array in names(second.value):
            return None
        less = negated(second.value)
        op, value = ("+", second.value) if less is None else ("-", less)
        both = Call(op, (first.value, value))
        if len(_text(both)) > WIDEST or self._dtype(both) != self.types[array]:
            return None
        return replace(first, value=both)

    def is_array(self, value: Expr) -> bool:
        """Are subscripts left open in it? What has none at all is a scalar of a loop
        that has become an array.
        """
        return any(
            len(e.index) < self.shapes.ranks.get(e.array, 1)
            for e in walk_expr(value)
            if isinstance(e, Load)
        )

    def _dtype(self, value: Expr) -> str:
        return concrete(expr_dtype(value, self.types))


@dataclass(frozen=True, slots=True)
class _Elements:
    """A nest over all elements behind some subscripts."""

    of: WholeArrays
    index: tuple[Var, ...]
    sizes: tuple[Expr, ...]
    #: The scalars of the nest that stand for arrays by now.
    arrays: set[str] = field(default_factory=set)

    def statements(self, body: Block, loop: For) -> list[Whole] | None:
        """A statement for each of the body; None if one is about single elements."""
        found: list[Whole] = []
        targets: dict[str, tuple[Expr, ...]] = {}
        self.arrays.clear()
        # In what order iterations run is nothing to say of whole arrays.
        note = loop.note if len(body) == 1 else ""
        scalars = self.scalars(body)
        if scalars is None:
            return None
        for s in body:
            if not isinstance(s, (Assign, Add)):
                return None
            value, adds = self.value(s.value), isinstance(s, Add)
            if value is None:
                return None
            # NumPy adds no floats to integers in place.
            if adds and not self.is_float(s.target_name):
                return None
            match s.target:
                case Var(name) as target:
                    many = self.of.is_array(value)
                    if adds and not many:
                        return None  # as often as the loop runs
                    if many and not adds:
                        if not self.is_float(name):
                            return None
                        self.arrays.add(name)
                    copied = many and not adds and _is_view(value)
                    found.append(Whole(target, value, adds, s.loc, note, copied))
                case Load(array, index):
                    place = self.stored(s.target)
                    if place is None or targets.setdefault(array, index) != index:
                        return None
                    found.append(Whole(place, value, adds, s.loc, note))
        # Statement by statement is element by element where no other one is read.
        for s in body:
            for e in (part for top in exprs(s) for part in walk_expr(top)):
                if isinstance(e, Load) and e.array in targets:
                    if e.index != targets[e.array]:
                        return None
        return found if targets or self.arrays else None

    def scalars(self, body: Block) -> set[str] | None:
        """The scalars that the body sets or adds to; None if an iteration may read what
        another one has left in one, or what is behind the loop reads it.
        """
        own: set[str] = set()
        sums: set[str] = set()
        read: set[str] = set()
        for s in body:
            for e in exprs(s):
                if not isinstance(e, Var) or e is not getattr(s, "target", None):
                    read |= names(e)
            match s:
                case Assign(Var(name)):
                    if name in sums or (name in read and name not in own):
                        return None
                    own.add(name)
                case Add(Var(name)):
                    sums.add(name)
        if sums & (own | read):
            return None
        return own | sums if own <= self.of.private else None

    def exchange(self, body: Block, loop: For) -> Exchange | None:
        """``a, b = b, a``, where the arrays are the function's own."""
        held: dict[str, str] = {}
        now: dict[str, str] = {}
        for s in body:
            match s:
                case Assign(Var(scalar), Load(array, index)) if index == self.index:
                    held[scalar] = now.get(array, array)
                case Assign(Load(array, index), value) if index == self.index:
                    match value:
                        case Var(scalar) if scalar in held:
                            now[array] = held[scalar]
                        case Load(other, same) if same == index:
                            now[array] = now.get(other, other)
                        case _:
                            return None
                case _:
                    return None
        arrays = tuple(a for a in now if now[a] != a)
        if not arrays or {*arrays} != {now[a] for a in arrays}:
            return None
        inside = Counter(
            n for s in body for e in exprs(s) for n in mentioned(e) if n in held
        )
        if any(self.of.mentioned[n] != inside[n] for n in held):
            return None
        first = arrays[0]
        if not all(
            a in self.of.shapes.local
            and self.of.shapes.of(a) == self.sizes
            and self.of.types[a] == self.of.types[first]
            for a in arrays
        ):
            return None
        sources = tuple(now[a] for a in arrays)
        return Exchange(arrays, sources, loop.loc, loop.note)

    def opened(self, e: Load) -> Load | None:
        """The array behind the subscripts that the nest does not count."""
        front = len(e.index) - len(self.index)
        if front < 0 or e.index[front:] != self.index:
            return None
        if self.of.shapes.of(e.array)[front:] != self.sizes:
            return None
        around = e.index[:front]
        counted = {k.name for k in self.index}
        if any(counted & names(k) for k in around):
            return None
        return replace(e, index=around)

    def stored(self, e: Load) -> Load | None:
        """The same of what is written, or ``a[order]`` of places that are unlike."""
        match e.index:
            case (Load(order),) if unlike_name(order) in self.of.numbers:
                return self.read(e)
        return self.opened(e)

    def read(self, e: Load) -> Load | None:
        """The same of what is read, or ``a[order]`` for ``a[order[k]]``."""
        match e.index:
            case (Load(order, _) as place,) if "int" in self.of.types.get(order, ""):
                whole = self.opened(place)
                return None if whole is None else replace(e, index=(whole,))
        return self.opened(e)

    def value(self, e: Expr) -> Expr | None:
        """A value for all elements, of operations that NumPy has for arrays, too."""
        return self.truth(e) or self.number(e)

    def truth(self, e: Expr) -> Expr | None:
        """A truth value for all elements: comparisons, and what joins them."""
        parts: list[Expr | None]
        match e:
            case Load(array) if self.of.types.get(array) == "bool":
                return self.read(e)
            case Call(op, args) if op in COMPARISONS:
                parts = [self.number(a) for a in args]
            case Call("isnan" | "isinf" | "isfinite", args):
                parts = [self.arithmetic(a) for a in args]
            case Call("&" | "|" | "^" | "~", args):
                parts = [self.truth(a) for a in args]
            case _:
                return None
        found = replace(e, args=tuple(p for p in parts if p is not None))
        return None if None in parts or not self.of.is_array(found) else found

    def number(self, e: Expr) -> Expr | None:
        """An element of any kind as it is, or what is computed of floats."""
        match e:
            case Load() if (whole := self.read(e)) is not None:
                return whole
        return self.arithmetic(e)

    def arithmetic(self, e: Expr) -> Expr | None:
        counted = {k.name for k in self.index}
        match e:
            case Const():
                return e
            case Var(scalar) if scalar in self.arrays:
                return Load(scalar, ())
            case Var(scalar):
                return None if scalar in counted else e
            case Load(array) if self.is_float(array):
                if counted.isdisjoint(names(e)):
                    return e if self.runs or self.is_around(e) else None
                return self.read(e)
            case Call("+" | "-" | "*" | "neg", args):
                parts = tuple(map(self.arithmetic, args))
                if None in parts:
                    return None
                return replace(e, args=tuple(p for p in parts if p is not None))
            case Call(op, args) if op == "/" or _of_elements(op):
                # Of scalars alone it is left to the loop, which may not run.
                parts = tuple(map(self.arithmetic, args))
                found = replace(e, args=tuple(p for p in parts if p is not None))
                if None not in parts and self.of.is_array(found):
                    return found
        return None

    @property
    def runs(self) -> bool:
        """Is there an element, whatever the sizes of arguments?"""
        return all((integer(n) or 0) > 0 for n in self.sizes)

    def is_around(self, e: Load) -> bool:
        """Is it an element that loops around decide, as in ``y += a[i] * x``?

        An array without elements has none at `0`, which the loop would not ask for.
        """
        return all(names(k) & self.of.counters for k in e.index)

    def is_float(self, array: str) -> bool:
        return self.of.types.get(array, "").startswith("float")


def _of_elements(op: str) -> bool:
    """Is it a function of one number that NumPy has for arrays?"""
    known = PRIMITIVES.get(op)
    return (
        known is not None
        and known.python.startswith("np.")
        and known.result == "float"
        and len(known.partials) == 1
    )


# ------------------------------------------------------------------ text


def _bare(e: Expr) -> Expr:
    """The expression with an array's name where no subscript is left."""
    return map_expr(
        e, lambda p: Var(p.array) if isinstance(p, Load) and not p.index else p
    )


def _text(e: Expr) -> str:
    return expr_text(_bare(e))


def tree(item: Whole | Exchange) -> ast.stmt:
    """The statement in Python."""
    match item:
        case Exchange(arrays, sources):
            targets = ast.Tuple([store(name(a)) for a in arrays], ast.Store())
            values = ast.Tuple([name(a) for a in sources], ast.Load())
            return ast.Assign([targets], values, None)
        case Whole(Var(scalar), value, False, new=new):
            made = expr_tree(_bare(value))
            made = _copy(made) if new else made
            return ast.Assign([store(name(scalar))], made, None)
        case Whole(Var(scalar), value, new=new):
            less = negated(value)
            made = call("np.sum", expr_tree(_bare(value if less is None else less)))
            if new:
                made = made if less is None else minus(made)
                return ast.Assign([store(name(scalar))], made, None)
            op = ast.Add() if less is None else ast.Sub()
            return ast.AugAssign(store(name(scalar)), op, made)  # type: ignore[arg-type]
        case Whole(target, value, adds, new=new):
            assert isinstance(target, Load)
            array, less = name(target.array), negated(value)
            if new:
                made = expr_tree(_bare(value))
                made = _copy(made) if _is_view(value) else made
                return ast.Assign([store(array)], made, None)
            if adds:
                left = store(expr_tree(_bare(target)))
                op = ast.Add() if less is None else ast.Sub()
                right = expr_tree(_bare(value if less is None else less))
                return ast.AugAssign(left, op, right)  # type: ignore[arg-type]
            place = expr_tree(_bare(target)) if target.index else _all_of(array)
            return ast.Assign([store(place)], expr_tree(_bare(value)), None)


def _is_view(value: Expr) -> bool:
    """Is it an array, or a part of one? NumPy makes a new one of ``a[order]``."""
    return isinstance(value, Load) and not any(
        isinstance(k, Load) and not k.index for k in value.index
    )


def _copy(array: ast.expr) -> ast.expr:
    return ast.Call(ast.Attribute(array, "copy", ast.Load()), [], [])


def _all_of(array: ast.expr) -> ast.expr:
    return ast.Subscript(array, ast.Slice(), ast.Load())


def mentions(item: Item) -> Iterator[str]:
    """The names in a statement and in all that is inside."""
    match item:
        case Whole(target, value):
            yield from (*names(target), *names(value))
        case Exchange(arrays):
            yield from arrays
        case Line(tree):
            yield from (n.id for n in ast.walk(tree) if isinstance(n, ast.Name))
        case Header(stmt, bodies):
            yield from mentions(with_blocks(stmt, tuple(() for _ in blocks(stmt))))
            for body in bodies:
                for part in body:
                    yield from mentions(part)
        case _:
            for s in walk((item,)):
                if isinstance(s, (For, While)) and s.index:
                    yield s.index
                for e in exprs(s):
                    yield from mentioned(e)
                if isinstance(s, Alloc):
                    yield s.array
                    yield from resembled(s.dtype)
                    yield from s.sources
                if isinstance(s, Grow):
                    yield s.array
