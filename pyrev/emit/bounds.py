"""Which accesses cannot leave their arrays, and what must be true for that.

A region is a block that runs many times between two points where we can afford a test.
Each of its accesses has duties, linear forms that must not be negative: a subscript,
and the extent minus one minus the subscript. Loop indices are eliminated from a duty,
innermost first, by the bounds of their loops, by clamps and by the tests around the
access; what is left is known before the region and becomes one of its conditions. Where
the conditions hold, the accesses need no test of their own and no index is negative.
The bounds may be too wide, never too narrow: a condition that fails costs only speed.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import assert_never

from pyrev.ir import (
    FALSE,
    TRUE,
    ZERO,
    Add,
    Alloc,
    Assign,
    Block,
    Call,
    Const,
    Expr,
    Extent,
    For,
    If,
    Load,
    Restart,
    Return,
    Saved,
    Stmt,
    Var,
    all_names,
    walk,
    walk_expr,
    written,
)
from pyrev.types import WEAK_INT, expr_dtype

_LIMIT = 12


@dataclass(frozen=True, slots=True)
class Inside:
    """``0 <= index < array.shape[axis]``"""

    index: Expr
    array: str
    axis: int


@dataclass(frozen=True, slots=True)
class Nonzero:
    """``divisor != 0``, for the integer divisions."""

    divisor: Expr


Duty = Inside | Nonzero


@dataclass(frozen=True, slots=True)
class Region:
    """The duties of a region: those that tests before it settle, and the others."""

    settled: Mapping[Duty, tuple[Expr, ...]]
    open: frozenset[Duty]

    def conditions(self, known: Container[Duty] = ()) -> tuple[Expr, ...]:
        """What to test before the region; the duties in `known` are settled already."""
        rest = (cs for duty, cs in self.settled.items() if duty not in known)
        return tuple(dict.fromkeys(c for cs in rest for c in cs))


def is_integer(expr: Expr, types: Mapping[str, str]) -> bool:
    """Does the expression count (and not measure)?"""
    dtype = expr_dtype(expr, types)
    return dtype == WEAK_INT or dtype.startswith(("int", "uint"))


def duties(expr: Expr, types: Mapping[str, str]) -> Iterator[Duty]:
    """What evaluating `expr` itself, not its parts, takes for granted."""
    match expr:
        case Load(array, index):
            for axis, i in enumerate(index):
                yield Inside(i, array, axis)
        case Call("//" | "%", (_, b)) if is_integer(expr, types):
            if not (isinstance(b, Const) and b.value):
                yield Nonzero(b)


# -------------------------------------------------------------------- linear forms


@dataclass(frozen=True, slots=True)
class Linear:
    """``sum of coefficient * atom, plus constant``; atoms are what is not linear."""

    terms: tuple[tuple[Expr, int], ...]
    constant: int

    def plus(self, other: Linear, times: int = 1) -> Linear:
        """``self + times * other``"""
        terms = dict(self.terms)
        for atom, k in other.terms:
            terms[atom] = terms.get(atom, 0) + times * k
        kept = tuple((atom, k) for atom, k in terms.items() if k)
        return Linear(kept, self.constant + times * other.constant)

    def expr(self) -> Expr:
        """The form as an expression, positive terms first."""
        parts = sorted(self.terms, key=lambda term: term[1] < 0)
        out: Expr | None = None
        for atom, k in parts:
            term = atom if abs(k) == 1 else Call("*", (Const(abs(k)), atom))
            if out is None:
                out = term if k > 0 else Call("neg", (term,))
            else:
                out = Call("+" if k > 0 else "-", (out, term))
        if out is None:
            return Const(self.constant)
        if not self.constant:
            return out
        op = "+" if self.constant > 0 else "-"
        return Call(op, (out, Const(abs(self.constant))))

    def not_negative(self) -> Expr:
        """``form >= 0``, nothing subtracted on either side."""
        less = Linear(tuple((a, -k) for a, k in self.terms if k < 0), 0)
        more = Linear(tuple((a, k) for a, k in self.terms if k > 0), 0)
        constant = Linear((), abs(self.constant))
        if self.constant < 0:
            less = less.plus(constant)
        else:
            more = more.plus(constant)
        return Call("<=", (less.expr(), more.expr()))


def linear(expr: Expr) -> Linear:
    """The linear form of an integer expression.

    >>> from pyrev.parse import parse_expr
    >>> from pyrev.show import expr_text
    >>> expr_text(linear(parse_expr("2 * (n - i) + i // 2 - n + 1")).expr())
    'n + i // 2 - 2 * i + 1'
    """
    match expr:
        case Const(int(value)):
            return Linear((), int(value))
        case Call("+", (a, b)):
            return linear(a).plus(linear(b))
        case Call("-", (a, b)):
            return linear(a).plus(linear(b), -1)
        case Call("neg", (a,)):
            return Linear((), 0).plus(linear(a), -1)
        case Call("*", (Const(int(k)), a)) | Call("*", (a, Const(int(k)))):
            return Linear((), 0).plus(linear(a), int(k))
        case _:
            return Linear(((expr, 1),), 0)


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known at a point: bounds of names, outermost first, and tested facts.

    Each of the `low` forms bounds the name from below, each `high` one from above; a
    fact is a form that is not negative here. `sizes` are the shapes of the arrays that
    were made in the region.
    """

    low: Mapping[str, tuple[Linear, ...]]
    high: Mapping[str, tuple[Linear, ...]]
    facts: tuple[Linear, ...]
    sizes: Mapping[str, tuple[Linear, ...]]

    def without(
        self, names: frozenset[str], made: frozenset[str] = frozenset()
    ) -> _Known:
        """After these names have changed, and these arrays were made anew."""

        def kept(
            forms: Mapping[str, tuple[Linear, ...]], gone: frozenset[str]
        ) -> dict[str, tuple[Linear, ...]]:
            return {
                n: b
                for n, b in forms.items()
                if n not in gone and _free(b, names) and not _measures(b, made)
            }

        facts = tuple(
            f for f in self.facts if _free((f,), names) and not _measures((f,), made)
        )
        return _Known(
            kept(self.low, names), kept(self.high, names), facts, kept(self.sizes, made)
        )

    def having(
        self, name: str, low: Iterable[Linear], high: Iterable[Linear]
    ) -> _Known:
        """With bounds for one more name, which has just got its value."""
        rest = self.without(frozenset({name}))
        own = frozenset({name})
        lows = tuple(b for b in low if _free((b,), own))
        highs = tuple(b for b in high if _free((b,), own))
        return _Known(
            {**rest.low, name: lows}, {**rest.high, name: highs}, rest.facts, rest.sizes
        )

    def made(self, array: str, shape: tuple[Expr, ...]) -> _Known:
        """With a new array, which has just got its shape."""
        own = frozenset({array})
        rest = self.without(own, own)
        forms = tuple(linear(n) for n in shape)
        if _measures(forms, own):
            return rest
        return _Known(rest.low, rest.high, rest.facts, {**rest.sizes, array: forms})


def _measures(forms: tuple[Linear, ...], arrays: frozenset[str]) -> bool:
    """Do the forms mention an extent of one of the arrays?"""
    return bool(arrays) and any(
        isinstance(e, Extent) and e.array in arrays
        for form in forms
        for atom, _ in form.terms
        for e in walk_expr(atom)
    )


def _free(forms: tuple[Linear, ...], names: frozenset[str]) -> bool:
    return not any(_mentions(a) & names for form in forms for a, _ in form.terms)


def _mentions(e: Expr) -> frozenset[str]:
    """What an expression reads; to measure an array is not to read it."""
    match e:
        case Var(name):
            return frozenset({name})
        case Load(array, args):
            return frozenset({array}).union(*map(_mentions, args))
        case Call(_, args):
            return frozenset().union(*map(_mentions, args))
        case Saved(_, inner):
            return _mentions(inner)
        case Const() | Extent():
            return frozenset()
        case _:
            assert_never(e)


# -------------------------------------------------------------------- regions


def analyse(block: Block, types: Mapping[str, str]) -> Region:
    """The conditions under which the accesses of a block stay inside their arrays.

    >>> from pyrev.parse import parse_block
    >>> from pyrev.show import expr_text
    >>> block = parse_block('''
    ... for u in range(d_a.shape[0]):
    ...     for j in range(max(0, u - d_r.shape[0] + 1), min(w.shape[0], u + 1)):
    ...         d_a[u] += d_r[u - j] * w[j + 1]
    ... ''')
    >>> types = dict.fromkeys(("d_a", "d_r", "w"), "float64")
    >>> types |= dict.fromkeys("uj", "weak int")
    >>> [expr_text(condition) for condition in analyse(block, types).conditions()]
    ['d_a.shape[0] + 1 <= w.shape[0]']
    """
    scan = _Scan(types, written(block), block)
    scan.block(block, _Known({}, {}, (), {}))
    settled = {d: tuple(cs) for d, cs in scan.settled.items() if d not in scan.open}
    return Region(settled, frozenset(scan.open))


class _Scan:
    """One walk over a region, collecting conditions and what they do not settle."""

    def __init__(
        self, types: Mapping[str, str], changed: frozenset[str], block: Block
    ) -> None:
        self.types = types
        self.settled: dict[Duty, list[Expr]] = {}
        self.open: dict[Duty, None] = {}
        self.made = _made(block)
        # Integers of other widths would wrap elsewhere than the forms made of them.
        self.scalars = frozenset(
            n
            for n in all_names(block)
            if n not in changed and types.get(n) in (WEAK_INT, "int64")
        )

    # ---------------------------------------------------------------- statements

    def block(self, block: Block, known: _Known) -> _Known:
        for s in block:
            known = self.stmt(s, known)
        return known

    def stmt(self, s: Stmt, known: _Known) -> _Known:
        match s:
            case Assign(target, value) | Add(target, value):
                self.expr(value, known)
                if isinstance(target, Load):
                    self.expr(target, known)
                    return known.without(frozenset({target.array}))
                if isinstance(s, Assign) and is_integer(value, self.types):
                    form = (linear(value),)
                    return known.having(target.name, form, form)
                return known.without(frozenset({target.name}))
            case Alloc(array, shape, fill):
                for e in (*shape, *(() if fill is None else (fill,))):
                    self.expr(e, known)
                return known.made(array, shape)
            case For(index, lo, hi, step, body):
                for e in (lo, hi, step):
                    self.expr(e, known)
                after = known.without(written(body) | {index}, _made(body))
                self.block(body, after.having(index, *_span(lo, hi, step)))
                return after
            case If(test, then, orelse):
                self.expr(test, known)
                self.block(then, self.assume(test, True, known))
                self.block(orelse, self.assume(test, False, known))
                both = then + orelse
                return known.without(written(both), _made(both))
            case Return(values):
                for e in values:
                    if not isinstance(e, Var):
                        self.expr(e, known)
                return known
            case Restart():
                return known
            case _:
                assert_never(s)

    def assume(self, test: Expr, holds: bool, known: _Known) -> _Known:
        """What is known after a test came out as `holds`."""
        facts = tuple(self.facts(test, holds))
        return _Known(known.low, known.high, known.facts + facts, known.sizes)

    def facts(self, test: Expr, holds: bool) -> Iterator[Linear]:
        match test:
            case Call("not", (inner,)):
                yield from self.facts(inner, not holds)
            case Call(("and" | "or") as op, parts) if holds == (op == "and"):
                for part in parts:
                    yield from self.facts(part, holds)
            case Call(("<" | "<=" | ">" | ">=" | "==" | "!=") as op, (a, b)):
                if is_integer(a, self.types) and is_integer(b, self.types):
                    yield from _compared(op, holds, linear(b).plus(linear(a), -1))

    # ---------------------------------------------------------------- expressions

    def expr(self, e: Expr, known: _Known) -> None:
        match e:
            case Call("where", (test, a, b)):
                self.expr(test, known)
                self.expr(a, self.assume(test, True, known))
                self.expr(b, self.assume(test, False, known))
            case Call(("and" | "or") as op, (a, b)):
                self.expr(a, known)
                self.expr(b, self.assume(a, op == "and", known))
            case Call(_, args) | Load(_, args):
                for a in args:
                    self.expr(a, known)
            case Const() | Var() | Extent() | Saved():
                pass
            case _:
                assert_never(e)
        for duty in duties(e, self.types):
            self.settle(duty, known)

    def settle(self, duty: Duty, known: _Known) -> None:
        match duty:
            case Inside(index, array, axis):
                low = linear(index)
                size = linear(Extent(array, axis))
                goals = [low, size.plus(low, -1).plus(Linear((), -1))]
            case Nonzero(divisor):
                goals = [linear(divisor).plus(Linear((), -1))]
            case _:
                assert_never(duty)
        conditions = [self.prove(goal, known) for goal in goals]
        if FALSE in conditions:
            self.open[duty] = None
        else:
            kept = [c for c in conditions if c != TRUE]
            self.settled.setdefault(duty, []).extend(kept)

    def prove(self, goal: Linear, known: _Known) -> Expr:
        """A condition, known before the region, for ``goal >= 0`` all over it."""
        found: dict[Linear, None] = {}
        for start in (goal, *(goal.plus(fact, -1) for fact in known.facts)):
            for form in self.lower(start, known, 0):
                if _extents(form) and form.constant >= 0:
                    return TRUE
                if form.terms and not _hopeless(form):
                    found[form] = None
        tests = [form.not_negative() for form in found]
        out: Expr = FALSE
        for test in tests[:_LIMIT]:
            out = test if out == FALSE else Call("or", (out, test))
        return out

    def lower(self, form: Linear, known: _Known, depth: int) -> list[Linear]:
        """Lower bounds of a form in what is fixed: valid each, but maybe not tight."""
        step = self.next_atom(form, known)
        if step is None:
            return [form]
        atom, k = step
        if depth > _LIMIT:
            return []
        rest = form.plus(Linear(((atom, 1),), 0), -k)
        out: list[Linear] = []
        for bound in self.bounds(atom, k > 0, known):
            out.extend(self.lower(rest.plus(bound, k), known, depth + 1))
        return list(dict.fromkeys(out))[:_LIMIT]

    def next_atom(self, form: Linear, known: _Known) -> tuple[Expr, int] | None:
        """The atom to eliminate next: compound ones, then the innermost name."""
        loose = [(a, k) for a, k in form.terms if not self.fixed(a)]
        if not loose:
            return None
        order = {name: n for n, name in enumerate(known.low)}
        return max(
            loose,
            key=lambda t: (
                order.get(t[0].name, -1) if isinstance(t[0], Var) else 1 << 30
            ),
        )

    def fixed(self, e: Expr) -> bool:
        match e:
            case Const():
                return True
            case Extent(array, _):
                return array not in self.made
            case Var(name):
                return name in self.scalars
            case Call(op, args):
                # Only what cannot fail may be computed before the region.
                safe = op in ("+", "-", "*", "min", "max", "neg") or (
                    op in ("//", "%") and isinstance(args[1], Const) and args[1] != ZERO
                )
                return safe and all(map(self.fixed, args))
            case Load() | Saved():
                return False
            case _:
                assert_never(e)

    def bounds(self, atom: Expr, below: bool, known: _Known) -> list[Linear]:
        """Bounds of one atom, from below or from above."""
        match atom, below:
            case Extent(array, axis), _:
                sizes = known.sizes.get(array, ())
                return [sizes[axis]] if sizes else []
            case Var(name), _:
                return list((known.low if below else known.high).get(name, ()))
            case (Call("max", args), True) | (Call("min", args), False):
                return [linear(a) for a in args]
            case (Call("min" | "max" as op, args), _):
                return self.joined(op, args, below, known)
            case Call("where", (_, a, b)), _:
                return self.joined("min" if below else "max", (a, b), below, known)
            case Call("%", (_, Const(int(n)))), _ if n > 0:
                return [Linear((), 0 if below else n - 1)]
            case Call("%", (_, n)), _ if self.fixed(n):
                # Python's remainder has the sign of its divisor.
                end = linear(n).plus(Linear((), 1 if below else -1))
                return [linear(Call("min" if below else "max", (ZERO, end.expr())))]
            case Call("//", (a, Const(int(n)))), _ if n > 0:
                ends = self.ends(a, below, known)
                return [linear(Call("//", (end.expr(), Const(n)))) for end in ends]
            case Call("int", (a,)), _ if is_integer(a, self.types):
                return [linear(a)]
            case Call("abs", (a,)), _ if is_integer(a, self.types):
                if below:
                    return [Linear((), 0)]
                minus = Call("neg", (a,))
                return self.joined("max", (a, minus), below, known)
            case Call("*", (a, b)), _:
                return self.product(a, b, below, known)
            case _:
                return []

    def ends(self, e: Expr, below: bool, known: _Known) -> list[Linear]:
        """Bounds of an integer expression, in what is fixed."""
        sign = 1 if below else -1
        zero = Linear((), 0)
        low = self.lower(zero.plus(linear(e), sign), known, 2)
        return [zero.plus(form, sign) for form in low]

    def joined(
        self, op: str, args: tuple[Expr, ...], below: bool, known: _Known
    ) -> list[Linear]:
        """A bound that holds for each of the arguments."""
        ends = [self.ends(a, below, known) for a in args]
        if not all(ends):
            return []
        out = ends[0][0].expr()
        for end in ends[1:]:
            out = Call(op, (out, end[0].expr()))
        return [linear(out)]

    def product(self, a: Expr, b: Expr, below: bool, known: _Known) -> list[Linear]:
        corners: list[Expr] = []
        for x in (True, False):
            for y in (True, False):
                p, q = self.ends(a, x, known), self.ends(b, y, known)
                if not p or not q:
                    return []
                corners.append(Call("*", (p[0].expr(), q[0].expr())))
        out = corners[0]
        for corner in corners[1:]:
            out = Call("min" if below else "max", (out, corner))
        return [linear(out)]


def _made(block: Block) -> frozenset[str]:
    return frozenset(s.array for s in walk(block) if isinstance(s, Alloc))


def _span(lo: Expr, hi: Expr, step: Expr) -> tuple[list[Linear], list[Linear]]:
    """Bounds of a loop's index while its body runs."""
    first, end = linear(lo), linear(hi)
    match step:
        case Const(int(1)):
            return _split(lo, "max", 0), _split(hi, "min", -1)
        case Const(int(k)) if k > 0:
            count = Call("//", (end.plus(first, -1).plus(Linear((), -1)).expr(), step))
            last = first.plus(linear(count), k)
            return _split(lo, "max", 0), [last, *_split(hi, "min", -1)]
        case Const(int(k)) if k < 0:
            size = Const(-k)
            count = Call("//", (first.plus(end, -1).plus(Linear((), -1)).expr(), size))
            last = first.plus(linear(count), k)
            low = _split(hi, "max", 1)
            return (low if k == -1 else [last, *low]), _split(lo, "min", 0)
        case _:
            return [], []


def _split(e: Expr, op: str, offset: int) -> list[Linear]:
    """``max(a, b)`` from below, ``min(a, b)`` from above: two bounds, each valid."""
    match e:
        case Call(name, args) if name == op:
            return [form for a in args for form in _split(a, op, offset)]
        case _:
            return [linear(e).plus(Linear((), offset))]


def _compared(op: str, holds: bool, gap: Linear) -> Iterator[Linear]:
    """What ``a op b`` says, where `gap` is ``b - a``."""
    back = Linear((), 0).plus(gap, -1)
    less, more = Linear((), -1).plus(gap), Linear((), -1).plus(back)
    match op, holds:
        case ("<", True) | (">=", False):
            yield less
        case ("<=", True) | (">", False):
            yield gap
        case (">", True) | ("<=", False):
            yield more
        case (">=", True) | ("<", False):
            yield back
        case ("==", True) | ("!=", False):
            yield gap
            yield back
        case _:
            pass


def _extents(form: Linear) -> bool:
    """Is it a sum of extents with nothing subtracted?"""
    return all(isinstance(a, Extent) and k > 0 for a, k in form.terms)


def _hopeless(form: Linear) -> bool:
    """Is it negative whatever the sizes are?"""
    return form.constant < 0 and all(
        isinstance(a, Extent) and k < 0 for a, k in form.terms
    )
