"""Which methods of generators are known, and what NumPy makes of a standard number.

A number of a distribution is a standard one that is moved, stretched or bent by the
parameters, as NumPy's C code does it, operation by operation: derivatives pass through
these. What decides how a number is drawn is given to NumPy, and no derivative passes
through it: of integers there is none, of the shape of a distribution it is refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pyrev.ir.nodes import Call, Check, Const, Expr, Loc

if TYPE_CHECKING:
    from pyrev.parse.walk import Walk

#: What a number is made of a standard one by.
Form = Callable[[Expr], Expr]
#: What asks of the parameters what NumPy asks, where the program runs, and gives that.
Forms = Callable[["Walk", Sequence[Expr], bool, Loc], Form]


def plain(w: Walk, given: Sequence[Expr], legacy: bool, at: Loc) -> Form:
    """The number as it is drawn."""
    return lambda drawn: drawn


def _moved(first: Expr, factor: Expr, at: Loc) -> Form:
    """NumPy's ``loc + scale * drawn``."""

    def form(drawn: Expr) -> Expr:
        if factor != Const(1.0, loc=factor.loc):
            drawn = Call("*", (factor, drawn), loc=at)
        if first != Const(0.0, loc=first.loc):
            drawn = Call("+", (first, drawn), loc=at)
        return drawn

    return form


def _between(w: Walk, given: Sequence[Expr], legacy: bool, at: Loc) -> Form:
    """``uniform``"""
    low, high = given
    width = w.emit.keep(_difference(high, low, at), "width")
    _check_finite(w, width, legacy, at)
    if not legacy:
        _check_sign(w, width, "high - low < 0", at)
    return _moved(low, width, at)


def _placed(w: Walk, given: Sequence[Expr], legacy: bool, at: Loc) -> Form:
    """``normal`` and its like."""
    _check_sign(w, given[1], "scale < 0", at)
    first, factor = given
    return _moved(first, factor, at)


def _scaled(w: Walk, given: Sequence[Expr], legacy: bool, at: Loc) -> Form:
    """``exponential`` and its like."""
    _check_sign(w, given[0], "scale < 0", at)
    return _moved(Const(0.0), given[0], at)


def _of_gamma(w: Walk, given: Sequence[Expr], legacy: bool, at: Loc) -> Form:
    """``gamma``, whose shape is asked about before its scale."""
    _check_sign(w, given[0], "shape < 0", at)
    return _scaled(w, given[1:], legacy, at)


def _lognormal(w: Walk, given: Sequence[Expr], legacy: bool, at: Loc) -> Form:
    _check_sign(w, given[1], "sigma < 0", at)
    first, factor = given
    moved = _moved(first, factor, at)
    return lambda drawn: _float(Call("exp", (moved(drawn),), loc=at), at)


def _weibull(w: Walk, given: Sequence[Expr], legacy: bool, at: Loc) -> Form:
    (a,) = given
    _check_sign(w, a, "a < 0", at)
    # NumPy's is 0 there, without a number that is drawn.
    other = Call("!=", (a, Const(0.0)), loc=at)
    message = "weibull(0) draws nothing: write 0.0"
    w.emit.add(Check(other, "ValueError", message, (message,), loc=at))
    return lambda drawn: _root(drawn, a, at)


def _pareto(w: Walk, given: Sequence[Expr], legacy: bool, at: Loc) -> Form:
    (a,) = given
    _check_above(w, a, "a <= 0", at)

    def form(drawn: Expr) -> Expr:
        exponent = Call("/", (drawn, a), loc=at)
        if not legacy:
            return _float(Call("expm1", (exponent,), loc=at), at)
        power = Call("exp", (exponent,), loc=at)
        return _float(Call("-", (power, Const(1.0)), loc=at), at)

    return form


def _power(w: Walk, given: Sequence[Expr], legacy: bool, at: Loc) -> Form:
    (a,) = given
    _check_above(w, a, "a <= 0", at)

    def form(drawn: Expr) -> Expr:
        less = Call("expm1", (Call("neg", (drawn,), loc=at),), loc=at)
        return _root(Call("neg", (less,), loc=at), a, at)

    return form


def _triangular(w: Walk, given: Sequence[Expr], legacy: bool, at: Loc) -> Form:
    """By the inverse of the distribution: a square root on either side of the mode."""
    left, mode, right = given
    for a, op, b, message in (
        (left, ">", mode, "left > mode"),
        (mode, ">", right, "mode > right"),
        (left, "==", right, "left == right"),
    ):
        test = Call("not", (Call(op, (a, b), loc=at),), loc=at)
        w.emit.add(Check(test, "ValueError", message, (message,), loc=at))
    width = w.emit.keep(_difference(right, left, at), "width")
    first = w.emit.keep(_difference(mode, left, at), "first")
    ratio = w.emit.temp(Call("/", (first, width), loc=at), "ratio")
    below = w.emit.temp(Call("*", (first, width), loc=at), "below")
    rest = _difference(right, mode, at)
    above = w.emit.temp(Call("*", (rest, width), loc=at), "above")

    def form(drawn: Expr) -> Expr:
        other = Call("-", (Const(1.0), drawn), loc=at)
        up = Call("sqrt", (Call("*", (drawn, below), loc=at),), loc=at)
        down = Call("sqrt", (Call("*", (other, above), loc=at),), loc=at)
        test = Call("<=", (drawn, ratio), loc=at)
        sides = Call("+", (left, up), loc=at), Call("-", (right, down), loc=at)
        return _float(Call("where", (test, *sides), loc=at), at)

    return form


@dataclass(frozen=True, slots=True)
class Method:
    """What a method draws: by which method of NumPy, which may be the same, and its
    parameters with their defaults in front of `size`; the first `required` have none.

    `form`: what is made of what is drawn, by the parameters; None: integers are drawn,
    and all parameters are given to NumPy. So are those that `shape` floats.
    """

    draws: str
    defaults: dict[str, float | None] = field(default_factory=dict)
    form: Forms | None = plain
    required: int = 0
    shape: tuple[str, ...] = ()


def _standard(name: str) -> Method:
    return Method(name, {"loc": 0.0, "scale": 1.0}, _placed)


def _shaped(name: str, *parameters: str) -> Method:
    """All of whose parameters shape it."""
    defaults = dict.fromkeys(parameters)
    return Method(name, defaults, plain, len(parameters), parameters)


def _integers(name: str, *parameters: str) -> Method:
    return Method(name, dict.fromkeys(parameters), None, len(parameters))


_BOTH = {
    "random": Method("random"),
    "uniform": Method("random", {"low": 0.0, "high": 1.0}, _between),
    "standard_normal": Method("standard_normal"),
    "normal": Method("standard_normal", {"loc": 0.0, "scale": 1.0}, _placed),
    "standard_exponential": Method("standard_exponential"),
    "exponential": Method("standard_exponential", {"scale": 1.0}, _scaled),
    "standard_cauchy": Method("standard_cauchy"),
    **{name: _standard(name) for name in ("laplace", "logistic", "gumbel")},
    "rayleigh": Method("rayleigh", {"scale": 1.0}, _scaled),
    "lognormal": Method("standard_normal", {"mean": 0.0, "sigma": 1.0}, _lognormal),
    "weibull": Method("standard_exponential", {"a": None}, _weibull, 1),
    "pareto": Method("standard_exponential", {"a": None}, _pareto, 1),
    "power": Method("standard_exponential", {"a": None}, _power, 1),
    "triangular": Method(
        "random", dict.fromkeys(("left", "mode", "right")), _triangular, 3
    ),
    "standard_gamma": _shaped("standard_gamma", "shape"),
    "gamma": Method(
        "standard_gamma", {"shape": None, "scale": 1.0}, _of_gamma, 1, ("shape",)
    ),
    "beta": _shaped("beta", "a", "b"),
    "chisquare": _shaped("chisquare", "df"),
    "standard_t": _shaped("standard_t", "df"),
    "f": _shaped("f", "dfnum", "dfden"),
    "poisson": Method("poisson", {"lam": 1.0}, None),
    "binomial": _integers("binomial", "n", "p"),
    "negative_binomial": _integers("negative_binomial", "n", "p"),
    "geometric": _integers("geometric", "p"),
    "hypergeometric": _integers("hypergeometric", "ngood", "nbad", "nsample"),
}
_NEW = {**_BOTH, "integers": Method("integers", {"low": 0, "high": None}, None, 1)}
_LEGACY = {
    **_BOTH,
    "random_sample": Method("random"),
    "rand": Method("random"),
    "randn": Method("standard_normal"),
    "randint": Method("randint", {"low": 0, "high": None}, None, 1),
}


def method_of(name: str, legacy: bool) -> Method | None:
    """What a method of a generator draws, if it is known."""
    return (_LEGACY if legacy else _NEW).get(name)


def known_methods(legacy: bool) -> str:
    """What to draw with instead."""
    return _KNOWN.format("randint" if legacy else "integers")


_KNOWN = (
    "`random`, `uniform`, `normal`, `exponential`, `{}`, `choice` and others that the"
    " page on the language lists, with `size=`"
)


def _float(value: Expr, at: Loc) -> Expr:
    return Call("float", (value,), loc=at)


def _root(value: Expr, a: Expr, at: Loc) -> Expr:
    """``value ** (1 / a)``, which is infinite where Python's floats raise."""
    exponent = Call("/", (Const(1.0), a), loc=at)
    base = Call("float64", (value,), loc=at)
    return _float(Call("**", (base, exponent), loc=at), at)


def _difference(high: Expr, low: Expr, at: Loc) -> Expr:
    if isinstance(high, Const) and isinstance(low, Const):
        return Const(high.value - low.value, loc=at)
    return Call("-", (high, low), loc=at)


def _check_sign(w: Walk, value: Expr, message: str, at: Loc) -> None:
    """`ValueError` where the sign bit of a number is set, as NumPy has it."""
    if isinstance(value, Const):
        if math.copysign(1.0, value.value) > 0.0:
            return
        test: Expr = Const(False)
    else:
        sign = Call("copysign", (Const(1.0), value), loc=at)
        positive = Call(">", (sign, Const(0.0)), loc=at)
        nan = Call("!=", (value, value), loc=at)
        test = Call("or", (positive, nan), loc=at)
    w.emit.add(Check(test, "ValueError", message, (message,), loc=at))


def _check_above(w: Walk, value: Expr, message: str, at: Loc) -> None:
    """`ValueError` where a number is zero or below; nan is not."""
    test = Call("not", (Call("<=", (value, Const(0.0)), loc=at),), loc=at)
    w.emit.add(Check(test, "ValueError", message, (message,), loc=at))


def _check_finite(w: Walk, value: Expr, legacy: bool, at: Loc) -> None:
    message = "Range exceeds valid bounds"
    if not legacy:
        message = "high - low range exceeds valid bounds"
    if isinstance(value, Const):
        if math.isfinite(value.value):
            return
        test: Expr = Const(False)
    else:
        test = Call("isfinite", (value,), loc=at)
    w.emit.add(Check(test, "OverflowError", message, (message,), loc=at))
