"""Partial derivatives of the primitives: this table is the calculus, and all of it.

`y` names the result. A partial is an expression, never code, because three passes read
it: `reverse` multiplies by it, `tangent` transposes it, and the primal values it
mentions
are the ones that the reverse sweep asks to have saved. A rule that needs a value cannot
forget to have it recorded. A partial that is a truth value selects (`c if p else 0.0`)
instead of multiplying. Sides chosen at kinks are the documented ones (docs/kinks.md).
Nothing in a partial overflows, underflows or cancels where the partial itself does not:
it is right over the range of float32 and of float64.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyrev.ir.affine import integer, linear
from pyrev.ir.dtypes import as_float
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
from pyrev.ir.simplify import fold, number
from pyrev.parse import parse_expr

REALS = (-3.0, 3.0)
POSITIVE = (0.1, 3.0)
UNIT = (-0.9, 0.9)
ABOVE_ONE = (1.1, 3.0)

#: Calls whose value is a truth value: partials made of these select.
PREDICATES = frozenset(
    {"<", "<=", ">", ">=", "==", "!=", "and", "or", "not", "isnan", "isinf", "isfinite"}
)


@dataclass(frozen=True, slots=True)
class Rule:
    """One primitive: its argument names, one partial each, where tests may sample it.

    `singular` rules have an infinite partial somewhere in or at the edge of their
    domain;
    the reverse sweep emits them so that a zero cotangent gives an exact zero.
    """

    args: tuple[str, ...]
    partials: tuple[Expr, ...]
    domain: tuple[float, float] = REALS
    singular: bool = False

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
    for name in moved & env.keys():
        values[name] = as_float(env[name], types, beside)
    return substitute(shape, values)


#: What takes an integer as it is. The others leave its range, or are computed by NumPy
#: in as few bits: the logarithm of an int8 is a float16.
_EXACT = PREDICATES | {"/", "//", "%", "sign", "where"}


def is_tame(
    op: str, args: tuple[Expr, ...], positive: frozenset[Expr] = frozenset()
) -> bool:
    """A singular rule whose arguments here keep every partial finite.

    `positive` are extents known not to be zero (`nonempty`, `implied`).
    """
    match op, args:
        case "/", (_, Const(k)):
            return k != 0
        case "/", (_, Extent() as size):
            return size in positive
        case "**", (_, Const()):
            power = number(args[1])
            return power is not None and power >= 1
    return False


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


def rule(
    domain: tuple[float, float] = REALS, singular: bool = False, **partials: str
) -> Rule:
    """A rule from the text of its partials, in the order of the arguments."""
    parsed = tuple(map(parse_expr, partials.values()))
    return Rule(tuple(partials), parsed, domain, singular)


RULES: dict[str, Rule] = {
    # arithmetic
    "+": rule(a="1", b="1"),
    "-": rule(a="1", b="-1"),
    "*": rule(a="b", b="a"),
    "/": rule(a="1 / b", b="-y / b", domain=POSITIVE, singular=True),
    "//": rule(a="0", b="0", domain=POSITIVE),
    "%": rule(a="1", b="-(a // b)", domain=POSITIVE),
    "fmod": rule(a="1", b="-trunc(a / b)", domain=POSITIVE),
    "**": rule(
        a="0 if b == 0 else b * a ** (b - 1)",
        b="0 if a == 0 else y * log(a)",  # 0**b stays 0 (or 1) when b moves
        domain=POSITIVE,
        singular=True,
    ),
    "neg": rule(x="-1"),
    "abs": rule(x="sign(x)"),  # 0 at 0
    "copysign": rule(a="sign(a) * copysign(1.0, b)", b="0"),
    "float": rule(x="1"),
    "float32": rule(x="1"),
    "float64": rule(x="1"),
    # roots, exponentials, logarithms
    "sqrt": rule(x="0.5 / y", domain=POSITIVE, singular=True),
    "cbrt": rule(x="1 / (3 * y * y)", domain=POSITIVE, singular=True),
    "exp": rule(x="y"),
    "expm1": rule(x="exp(x)"),
    "log": rule(x="1 / x", domain=POSITIVE, singular=True),
    "log1p": rule(x="1 / (1 + x)", domain=POSITIVE, singular=True),
    "log2": rule(x="1.4426950408889634 / x", domain=POSITIVE, singular=True),
    "log10": rule(x="0.4342944819032518 / x", domain=POSITIVE, singular=True),
    "erf": rule(x="1.1283791670955126 * exp(-(x * x))"),
    "erfc": rule(x="-1.1283791670955126 * exp(-(x * x))"),
    # trigonometry
    "sin": rule(x="cos(x)"),
    "cos": rule(x="-sin(x)"),
    "tan": rule(x="1 + y * y", domain=UNIT),
    "asin": rule(x="1 / sqrt((1 - x) * (1 + x))", domain=UNIT, singular=True),
    "acos": rule(x="-1 / sqrt((1 - x) * (1 + x))", domain=UNIT, singular=True),
    "atan": rule(x="1 / (1 + x * x)"),
    "atan2": rule(
        a="0 if a == 0 and b == 0 else b / a / (a + b * (b / a))"
        " if abs(a) > abs(b) else 1 / (b + a * (a / b))",
        b="0 if a == 0 and b == 0 else -(a / b / (b + a * (a / b)))"
        " if abs(b) > abs(a) else -1 / (a + b * (b / a))",
        domain=POSITIVE,
        singular=True,
    ),
    "hypot": rule(
        a="0 if a == 0 and b == 0 else copysign(1.0, a) / sqrt(1 + b / a * (b / a))"
        " if abs(a) > abs(b) else a / abs(b) / sqrt(1 + a / b * (a / b))",
        b="0 if a == 0 and b == 0 else copysign(1.0, b) / sqrt(1 + a / b * (a / b))"
        " if abs(b) > abs(a) else b / abs(a) / sqrt(1 + b / a * (b / a))",
        domain=POSITIVE,
        singular=True,
    ),
    "degrees": rule(x="57.29577951308232"),
    "radians": rule(x="0.017453292519943295"),
    # hyperbolic
    "sinh": rule(x="cosh(x)"),
    "cosh": rule(x="sinh(x)"),
    "tanh": rule(x="1 - y * y"),
    "asinh": rule(x="1 / hypot(1.0, x)"),
    "acosh": rule(x="1 / (sqrt(x - 1) * sqrt(x + 1))", domain=ABOVE_ONE, singular=True),
    "atanh": rule(x="1 / ((1 - x) * (1 + x))", domain=UNIT, singular=True),
    # selections: a tie goes to the first argument
    "min": rule(a="not b < a", b="b < a"),
    "max": rule(a="not b > a", b="b > a"),
    "minimum": rule(a="a <= b or isnan(a)", b="not (a <= b or isnan(a))"),
    "maximum": rule(a="a >= b or isnan(a)", b="not (a >= b or isnan(a))"),
    "fmin": rule(a="a <= b or isnan(b)", b="not (a <= b or isnan(b))"),
    "fmax": rule(a="a >= b or isnan(b)", b="not (a >= b or isnan(b))"),
    "where": rule(t="0", a="t != 0", b="t == 0"),  # `reverse` emits a real `if`
    "and": rule(a="not a", b="a != 0"),  # Python's `and` is one of its operands
    "or": rule(a="a != 0", b="not a"),
    "stop_gradient": rule(x="0"),  # what the user asked for
    "probe": rule(x="1", callback="0"),  # `reverse` tells the user the cotangent
    "along": rule(value="1", slope="0", x="slope"),  # a rule of the user's
    "along_steep": rule(value="1", slope="0", x="slope", singular=True),
    "value": rule(x="0"),  # what `preaccumulate` has found the slopes of
    "once": rule(x="0"),  # a value whose rule has no derivative
    "by_rule": rule(x="1"),  # the same in a derivative, where one is refused
    # flat: the derivative is zero wherever it exists
    "sign": rule(x="0"),
    "floor": rule(x="0"),
    "ceil": rule(x="0"),
    "trunc": rule(x="0"),
    "round": rule(x="0"),
    "rint": rule(x="0"),
    "int": rule(x="0"),
    "int64": rule(x="0"),
    "bool": rule(x="0"),
    "isnan": rule(x="0"),
    "isinf": rule(x="0"),
    "isfinite": rule(x="0"),
    "not": rule(x="0"),
    "~": rule(x="0"),
    **{
        op: rule(a="0", b="0")
        for op in ("<", "<=", ">", ">=", "==", "!=", "&", "|", "^", "<<")
    },
    ">>": rule(a="0", b="0"),
}
