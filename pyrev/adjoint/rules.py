"""The calculus: partial derivatives, read from the table of primitives.

Three passes read them: `reverse` multiplies by a partial, `tangent` transposes it, and
the values that it mentions are recorded. `pyrev.ir.primitives` says what a partial may
be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyrev.analysis.value_ranges import APART, BESIDE, UNKNOWN, ValueRanges
from pyrev.ir.affine import integer, linear
from pyrev.ir.dtypes import as_float, known_dtype, wraps
from pyrev.ir.nodes import (
    Call,
    Const,
    Expr,
    Extent,
    Loop,
    Var,
    names,
    substitute,
    walk_expr,
)
from pyrev.ir.primitives import LOGICAL, PRIMITIVES, Primitive
from pyrev.ir.simplify import fold, number
from pyrev.parse import parse_expr

#: Calls whose value is a truth value: partials made of these select.
PREDICATES = LOGICAL - {"bool"}


@dataclass(frozen=True, slots=True)
class Rule:
    """One primitive: its argument names, one partial each, where tests may sample it.

    `singular` rules have an infinite partial somewhere in or at the edge of their
    domain;
    the reverse sweep emits them so that a zero cotangent gives an exact zero.
    """

    args: tuple[str, ...]
    partials: tuple[Expr, ...]
    domain: tuple[float, float]
    singular: bool

    @property
    def needs(self) -> frozenset[str]:
        """The primal values, arguments or result, that the adjoint reads."""
        return frozenset().union(*map(names, self.partials))

    def flows(self, k: int) -> bool:
        """Does a derivative pass through argument `k` at all?"""
        return self.partials[k] != Const(0)

    def selects(self, k: int) -> bool:
        """Is partial `k` a truth value?"""
        partial = self.partials[k]
        return isinstance(partial, Call) and partial.op in PREDICATES


def partial(
    op: str,
    args: Sequence[Expr],
    k: int,
    env: Mapping[str, Expr],
    types: Mapping[str, str],
) -> Expr:
    """Partial `k` of ``op(args)``, in the values that `env` gives for its names.

    Constants are folded first, so that ``x ** 2`` gives ``2 * x``. It computes in
    floats: an integer that goes around is made one before it is moved or multiplied.
    """
    rule = RULES[op]
    constants = {
        n: a for n, a in zip(rule.args, args, strict=True) if isinstance(a, Const)
    }
    shape = fold(substitute(rule.partials[k], constants))
    values = dict(env)
    beside = Call(op, tuple(args))
    moved = {
        a.name
        for e in walk_expr(shape)
        if isinstance(e, Call) and e.op not in _EXACT
        for a in e.args
        if isinstance(a, Var)
    }
    if op == "**" and known_dtype(env["b"], types) == "int64":
        # A power by an integer is a few products, and it is one less here: only the
        # least of them all would go around, of which no power is a number.
        moved.discard("b")
    for name in moved & env.keys():
        values[name] = as_float(env[name], types, beside)
    return substitute(shape, values)


#: What takes an integer as it is. The others leave its range, or are computed by NumPy
#: in as few bits: the logarithm of an int8 is a float16.
_EXACT = PREDICATES | {"/", "//", "%", "sign", "where"}


def is_tame(
    op: str,
    args: tuple[Expr, ...],
    positive: frozenset[Expr] = frozenset(),
    ranges: ValueRanges = UNKNOWN,
) -> bool:
    """A singular rule whose arguments here keep every partial finite.

    `positive` are extents known not to be zero (`nonempty`, `implied`); `ranges` are
    those of the names in `args`.
    """
    match op, args:
        case "/", (_, Const(k)):
            return k != 0
        case "/", (_, Extent() as size):
            return size in positive
        case "/", (_, divisor):
            return ranges.away(divisor)
        case "**", (base, Const()):
            power = number(args[1])
            if power is None:
                return False
            return power >= 1 or (power >= -1 and ranges.of(base).low >= APART)
        case (("sqrt" | "log" | "log2" | "log10"), (a,)):
            return ranges.of(a).low >= APART
        case "log1p", (a,):
            return ranges.of(a).low >= BESIDE - 1.0
        case (("asin" | "acos" | "atanh"), (a,)):
            low, high = ranges.of(a)
            return low >= BESIDE - 1.0 and high <= 1.0 - BESIDE
        case "acosh", (a,):
            return ranges.of(a).low >= 1.0 + BESIDE
    return False


def repeated(value: Expr, types: Mapping[str, str]) -> dict[Expr, int]:
    """The factors of a product and how often each is in it; nothing if each is once.

    A product of integers is one factor: it may go around where floats do not.

    >>> repeated(parse_expr("0.5 * (x * x)"), {"x": "float64"}) == {
    ...     Const(0.5): 1,
    ...     Var("x"): 2,
    ... }
    True
    >>> repeated(parse_expr("0.5 * (x * x)"), {"x": "int8"})
    {}
    """
    found: dict[Expr, int] = {}
    todo = [value]
    while todo:
        factor = todo.pop()
        apart = factor is value or not wraps(factor, types)
        match factor:
            case Call("*", (a, b)) if apart:
                todo += [b, a]
            case _:
                found[factor] = found.get(factor, 0) + 1
    often = any(n > 1 for f, n in found.items() if not isinstance(f, Const))
    return found if often else {}


def nonempty(loop: Loop) -> frozenset[Expr]:
    """The extents that are not zero wherever `loop` has an iteration.

    >>> from pyrev.ir.nodes import Extent, For
    >>> n = Extent("a", 0)
    >>> nonempty(For("i", Const(0), n, Const(1), ())) == {n}
    True
    """
    step = integer(loop.step)
    if not loop.index or not step:
        return frozenset()
    # One end is beyond the other: a size is more than a number.
    least, size = (loop.lo, loop.hi) if step > 0 else (loop.hi, loop.lo)
    gap = linear(size).plus(linear(least), -1)
    match gap.terms:
        case ((Extent() as extent, 1),) if gap.constant <= 0:
            return frozenset({extent})
    return frozenset()


def implied(test: Expr) -> frozenset[Expr]:
    """The extents that are not zero where `test` holds."""
    match test:
        case Extent():
            return frozenset({test})
        case Call("and", (a, b)):
            return implied(a) | implied(b)
        case Call(">" | "!=", (Extent() as size, Const(0))):
            return frozenset({size})
        case Call(">=", (Extent() as size, Const(int(k)))) if k > 0:
            return frozenset({size})
    return frozenset()


def _rule(primitive: Primitive) -> Rule:
    args, texts = zip(*primitive.partials, strict=True)
    parsed = tuple(map(parse_expr, texts))
    return Rule(args, parsed, primitive.domain, primitive.singular)


RULES = {op: _rule(p) for op, p in PRIMITIVES.items() if p.partials}
