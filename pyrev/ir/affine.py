"""Integer expressions as linear forms, and back as readable text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyrev.ir.nodes import Call, Const, Expr, Load, Var, walk_expr

COMPARISONS = frozenset({"<", "<=", ">", ">=", "==", "!="})


def integer(e: Expr) -> int | None:
    """The value of an integer literal, a sign before it included."""
    match e:
        case Const(value) if isinstance(value, int) and not isinstance(value, bool):
            return value
        case Call("neg", (Const(value),)) if type(value) is int:
            return -value
        case _:
            return None


@dataclass(frozen=True)
class Linear:
    """``sum(coefficient * atom) + constant``, the atoms in order of appearance."""

    terms: tuple[tuple[Expr, int], ...]
    constant: int

    def coefficient(self, atom: Expr) -> int:
        return dict(self.terms).get(atom, 0)

    def without(self, atom: Expr) -> Linear:
        return Linear(tuple(t for t in self.terms if t[0] != atom), self.constant)

    def plus(self, other: Linear, factor: int = 1) -> Linear:
        total = dict(self.terms)
        for atom, k in other.terms:
            total[atom] = total.get(atom, 0) + factor * k
        kept = tuple((a, k) for a, k in total.items() if k)
        return Linear(kept, self.constant + factor * other.constant)


def linear(e: Expr) -> Linear:
    """`e` as a linear form; what is not linear is an atom."""
    match e:
        case Const(value) if type(value) is int:
            return Linear((), value)
        case Call("neg", (a,)):
            return Linear((), 0).plus(linear(a), -1)
        case Call("+", (a, b)):
            return linear(a).plus(linear(b))
        case Call("-", (a, b)):
            return linear(a).plus(linear(b), -1)
        case Call("*", (a, b)):
            if (k := integer(a)) is not None:
                return Linear((), 0).plus(linear(b), k)
            if (k := integer(b)) is not None:
                return Linear((), 0).plus(linear(a), k)
    return Linear(((e, 1),), 0)


def from_linear(form: Linear, order: Sequence[str] = ()) -> Expr:
    """The readable expression: what is added first, then what is subtracted.

    `order` ranks the variables; other atoms follow in order of appearance.

    >>> from pyrev.ir.text import expr_text
    >>> from pyrev.parse import parse_expr
    >>> expr_text(from_linear(linear(parse_expr("-n + u - 1 + 3 - j")), ("u", "j")))
    'u - j - n + 2'
    """
    rank = {name: k for k, name in enumerate(order)}

    def key(term: tuple[Expr, int]) -> int:
        atom = term[0]
        return rank.get(atom.name, len(rank)) if isinstance(atom, Var) else len(rank)

    form = _into_quotients(form)
    terms = sorted(form.terms, key=key)
    result: Expr | None = None
    for atom, k in (t for t in terms if t[1] > 0):
        part = atom if k == 1 else Call("*", (Const(k), atom))
        result = part if result is None else Call("+", (result, part))
    constant = form.constant
    if result is None and constant > 0:
        result, constant = Const(constant), 0
    for atom, k in (t for t in terms if t[1] < 0):
        part = atom if k == -1 else Call("*", (Const(-k), atom))
        if result is not None:
            result = Call("-", (result, part))
        else:
            result = Call("neg", (part,))
    if result is None:
        return Const(constant)
    if constant > 0:
        return Call("+", (result, Const(constant)))
    if constant < 0:
        return Call("-", (result, Const(-constant)))
    return result


def _into_quotients(form: Linear) -> Linear:
    """``a // d + k`` as ``(a + k * d) // d`` where that leaves fewer terms."""
    for atom, factor in form.terms:
        match atom:
            case Call("//", (a, Const(int(d)))) if factor == 1 and d > 1:
                inner, outer = linear(a), form.without(atom)
                shared = Linear(
                    tuple(t for t in outer.terms if inner.coefficient(t[0])),
                    outer.constant if inner.constant else 0,
                )
                if shared.terms or shared.constant:
                    moved = Call("//", (from_linear(inner.plus(shared, d)), Const(d)))
                    rest = outer.plus(shared, -1)
                    return rest.plus(Linear(((moved, 1),), 0))
    return form


def tidy(e: Expr, order: Sequence[str] = ()) -> Expr:
    """An integer expression in readable form, its parts included."""
    match e:
        case Call("+" | "-" | "neg" | "*", args):
            inner = Call(e.op, tuple(tidy(a, order) for a in args))
            return from_linear(linear(inner), order)
        case Call("//", (a, Const(1))):
            return tidy(a, order)
        case Call("//" | "%" | "min" | "max" | "where" as op, args):
            return Call(op, tuple(tidy(a, order) for a in args))
        case Call(op, (a, b)) if op in COMPARISONS:
            return Call(op, (tidy(a, order), tidy(b, order)))
        case Load():
            return Load(e.array, tuple(tidy(k, order) for k in e.index), loc=e.loc)
        case _:
            return e


def slope(e: Expr, index: str) -> int | None:
    """The factor of `index` in an expression; None where it is not linear in it.

    >>> from pyrev.parse import parse_expr
    >>> [slope(parse_expr(t), "i") for t in ("2 * i - j", "j", "i % 2")]
    [2, 0, None]
    """
    found = 0
    for atom, k in linear(e).terms:
        if atom == Var(index):
            found = k
        elif any(isinstance(e, Var) and e.name == index for e in walk_expr(atom)):
            return None
    return found


def apart(a: Expr, b: Expr) -> bool:
    """Are these surely two elements of one array?

    >>> from pyrev.parse import parse_expr
    >>> one, *others = map(parse_expr, ("a[i, j]", "a[k, j + 1]", "a[k, j]", "b[i, j]"))
    >>> [apart(one, e) for e in others]
    [True, False, False]
    """
    match a, b:
        case Load(one, here), Load(other, there) if one == other:
            gaps = (
                linear(p).plus(linear(q), -1) for p, q in zip(here, there, strict=True)
            )
            return any(not gap.terms and gap.constant for gap in gaps)
    return False


def plus(e: Expr, k: int, order: Sequence[str] = ()) -> Expr:
    """``e + k``, folded, also through min and max."""
    match e:
        case Call("min" | "max" as op, args):
            return Call(op, tuple(plus(a, k, order) for a in args))
        case _:
            form = linear(e)
            return from_linear(Linear(form.terms, form.constant + k), order)


def comparison(op: str, a: Expr, b: Expr, order: Sequence[str]) -> Expr:
    """``a op b`` solved for its innermost variable; ``<=`` becomes ``<``.

    `order` lists the variables from the outermost loop inwards.
    """
    form = linear(a).plus(linear(b), -1)
    subject = next(
        (n for n in reversed(order) if abs(form.coefficient(Var(n))) == 1), None
    )
    if subject is None:
        atoms = [t for t in form.terms if t[1] == 1]
        if not atoms or op in ("==", "!="):
            return Call(op, (tidy(a, order), tidy(b, order)))
        pivot: Expr = atoms[-1][0]
    else:
        pivot = Var(subject)
    k = form.coefficient(pivot)
    rest = form.without(pivot)
    if k < 0:
        op = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(op, op)
    other = Linear((), 0).plus(rest, -1 if k > 0 else 1)
    if op == "<=":
        op, other = "<", Linear(other.terms, other.constant + 1)
    if op == ">":
        op, other = ">=", Linear(other.terms, other.constant + 1)
    return Call(op, (pivot, from_linear(other, order)))


def in_order(test: Expr, order: Sequence[str]) -> Expr:
    """A conjunction by variable, outermost first, lower bounds before upper ones."""
    rank = {name: k for k, name in enumerate(order)}

    def parts(e: Expr) -> list[Expr]:
        match e:
            case Call("and", args):
                return [p for a in args for p in parts(a)]
            case _:
                return [e]

    def key(e: Expr) -> tuple[int, bool]:
        match e:
            case Call(op, (Var(name), _)) if op in COMPARISONS:
                return rank.get(name, len(rank)), op in ("<", "<=")
            case _:
                return len(rank), False

    first, *rest = sorted(dict.fromkeys(parts(test)), key=key)
    for e in rest:
        first = Call("and", (first, e))
    return first


def beyond(a: Expr, b: Expr) -> bool:
    """Is ``a >= b`` sure?"""
    gap = linear(a).plus(linear(b), -1)
    return not gap.terms and gap.constant >= 0


def largest(bounds: Sequence[Expr]) -> Expr:
    """``max(...)`` of `bounds`, without those that another is sure to be beyond.

    >>> from pyrev.ir.text import expr_text
    >>> from pyrev.parse import parse_expr
    >>> expr_text(largest([parse_expr(t) for t in ("0", "n", "2", "n - 1")]))
    'max(2, n)'
    """
    return _extreme("max", bounds)


def least(bounds: Sequence[Expr]) -> Expr:
    """``min(...)`` of `bounds`, without those that are sure to be beyond another."""
    return _extreme("min", bounds)


def parts_of(op: str, e: Expr) -> list[Expr]:
    """The arguments of nested ``max`` or ``min``; `e` itself if it is none."""
    match e:
        case Call(name, args) if name == op:
            return [p for a in args for p in parts_of(op, a)]
    return [e]


def _extreme(op: str, bounds: Sequence[Expr]) -> Expr:
    kept: list[Expr] = []
    for bound in bounds:
        for k, other in enumerate(kept):
            up, down = beyond(bound, other), beyond(other, bound)
            if up or down:
                better = up and not down if op == "max" else down and not up
                kept[k] = bound if better else other
                break
        else:
            kept.append(bound)
    first, *rest = kept
    for bound in rest:
        first = Call(op, (first, bound))
    return first
