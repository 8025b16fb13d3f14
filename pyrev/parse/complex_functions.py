"""What functions of complex numbers are in terms of real and imaginary parts."""

from __future__ import annotations

import cmath
import copy
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import gast
import numpy as np

from pyrev.parse.list_room import NotThisWay
from pyrev.parse.made_texts import numpy_call

#: The real and the imaginary part of a value.
Pair = tuple[gast.AST, gast.AST]


class Pairs(Protocol):
    """What takes expressions apart: see `complex_pairs`."""

    def held(self, e: gast.AST) -> gast.AST:
        """The value under a name, so that it is evaluated once."""

    def pair(self, e: gast.AST, whole: bool = False) -> Pair:
        """The parts of a value."""

    def real(self, e: gast.AST) -> gast.AST:
        """An expression whose value is not complex."""

    def is_complex(self, e: gast.AST) -> bool:
        """Is the value of an expression complex?"""


#: New arrays: which argument is the dtype.
CREATORS: dict[object, int] = {
    np.zeros: 1,
    np.ones: 1,
    np.empty: 1,
    np.full: 2,
    np.zeros_like: 1,
    np.ones_like: 1,
    np.empty_like: 1,
    np.full_like: 2,
}

LIKE = (np.zeros_like, np.ones_like, np.empty_like)

#: The methods of complex arrays and numbers that give such.
METHODS = frozenset(
    ["conj", "conjugate", "copy", "sum", "mean", "reshape", "ravel", "flatten"]
    + ["transpose", "astype", "dot", "cumsum"]
)


def combined(op: gast.AST, a: gast.AST, b: gast.AST) -> gast.AST:
    """``a + b`` or ``a - b``, without zeros."""
    if is_zero(b):
        return a
    if is_zero(a):
        return b if isinstance(op, gast.Add) else negated(b)
    return gast.BinOp(a, op, b)


def is_zero(e: gast.AST) -> bool:
    """Is this the literal?"""
    return isinstance(e, gast.Constant) and e.value == 0


def negated(e: gast.AST) -> gast.AST:
    """``-e``"""
    if isinstance(e, gast.Constant):
        return gast.Constant(-e.value, None)
    return gast.UnaryOp(gast.USub(), e)


def _times(op: gast.AST, a: gast.AST, b: gast.AST) -> gast.AST:
    if is_zero(a) or is_zero(b):
        return gast.Constant(0.0, None)
    if isinstance(op, gast.Mult):
        for x, y in ((a, b), (b, a)):
            if isinstance(x, gast.Constant) and x.value == 1.0:
                return copy.deepcopy(y)
    return gast.BinOp(copy.deepcopy(a), op, copy.deepcopy(b))


def product(op: gast.AST, one: Sequence[Any], two: Sequence[Any], *both: bool) -> Pair:
    """``(a + ib) * (c + id)``, also of matrices."""
    (a, b), (c, d) = one, two
    if not both[0]:
        return _times(op, a, c), _times(op, a, d)
    if not both[1]:
        return _times(op, a, c), _times(op, b, c)
    return (
        combined(gast.Sub(), _times(op, a, c), _times(op, b, d)),
        combined(gast.Add(), _times(op, a, d), _times(op, b, c)),
    )


def quotient(
    one: Sequence[Any],
    two: Sequence[Any],
    by_complex: bool,
    held: Callable[[gast.AST], gast.AST],
) -> Pair:
    """``(a + ib) / (c + id)``"""
    (a, b), (c, d) = one, two
    div, mult = gast.Div(), gast.Mult()
    if not by_complex:
        return gast.BinOp(a, div, c), gast.BinOp(b, div, copy.deepcopy(c))
    square = combined(gast.Add(), _times(mult, c, c), _times(mult, d, d))
    below = held(square)
    real = combined(gast.Add(), _times(mult, a, c), _times(mult, b, d))
    imag = combined(gast.Sub(), _times(mult, b, c), _times(mult, a, d))
    return gast.BinOp(real, div, below), gast.BinOp(imag, div, copy.deepcopy(below))


def power(one: Any, exponent: gast.AST, by_complex: bool, pairs: Pairs) -> Pair:
    """``z ** w``: products for small integers, else by the logarithm."""
    match exponent:
        case gast.Constant(value=int(n)) if 1 <= n <= 8:
            found: Any = one
            for _ in range(n - 1):
                found = product(gast.Mult(), found, one, True, True)
                found = tuple(map(pairs.held, found))
            return found[0], found[1]
    a, b = one
    radius = pairs.held(numpy_call("hypot", [a, b]))
    angle = pairs.held(numpy_call("arctan2", [copy.deepcopy(b), copy.deepcopy(a)]))
    if by_complex:
        log = pairs.held(numpy_call("log", [radius]))
        w = tuple(map(pairs.held, pairs.pair(exponent)))
        made = product(gast.Mult(), (log, angle), w, True, True)
        return _exp(pairs.held(made[0]), pairs.held(made[1]), pairs)
    n = pairs.held(pairs.real(exponent))
    size = pairs.held(gast.BinOp(radius, gast.Pow(), n))
    turned = pairs.held(_times(gast.Mult(), angle, n))
    return _polar(size, turned)


def _polar(radius: gast.AST, angle: gast.AST) -> Pair:
    mult = gast.Mult()
    return (
        _times(mult, radius, numpy_call("cos", [angle])),
        _times(mult, radius, numpy_call("sin", [copy.deepcopy(angle)])),
    )


def _exp(a: gast.AST, b: gast.AST, pairs: Pairs) -> Pair:
    if is_zero(a):
        return numpy_call("cos", [b]), numpy_call("sin", [copy.deepcopy(b)])
    return _polar(pairs.held(numpy_call("exp", [a])), b)


# ------------------------------------------------------------------ by their names

Convert = Callable[[gast.Call, Pairs], Pair]


def _elementwise(make: Callable[[gast.AST, gast.AST, Pairs], Pair]) -> Convert:
    def convert(e: gast.Call, pairs: Pairs) -> Pair:
        if len(e.args) != 1 or e.keywords:
            raise NotThisWay
        a, b = map(pairs.held, pairs.pair(e.args[0]))
        return make(a, b, pairs)

    return convert


def _log(a: gast.AST, b: gast.AST, _: Pairs) -> Pair:
    size = numpy_call("log", [numpy_call("hypot", [a, b])])
    return size, numpy_call("arctan2", [copy.deepcopy(b), copy.deepcopy(a)])


def _mixed(one: str, two: str, three: str, four: str, sign: int) -> Convert:
    """``f(a) g(b) + i h(a) k(b)``"""

    def make(a: gast.AST, b: gast.AST, pairs: Pairs) -> Pair:
        mult = gast.Mult()

        def f(name: str, e: gast.AST) -> gast.AST:
            return numpy_call(name, [copy.deepcopy(e)])

        imag = _times(mult, f(three, a), f(four, b))
        return (
            _times(mult, f(one, a), f(two, b)),
            imag if sign > 0 else negated(imag),
        )

    return _elementwise(make)


_SIN = _mixed("sin", "cosh", "cos", "sinh", 1)
_COS = _mixed("cos", "cosh", "sin", "sinh", -1)
_SINH = _mixed("sinh", "cos", "cosh", "sin", 1)
_COSH = _mixed("cosh", "cos", "sinh", "sin", 1)


def _ratio(above: Convert, below: Convert) -> Convert:
    def convert(e: gast.Call, pairs: Pairs) -> Pair:
        one = tuple(map(pairs.held, above(copy.deepcopy(e), pairs)))
        two = tuple(map(pairs.held, below(e, pairs)))
        return quotient(one, two, True, pairs.held)

    return convert


def _sqrt(a: gast.AST, b: gast.AST, pairs: Pairs) -> Pair:
    """The principal root, without cancellation (Kahan 1987): the larger part is the
    root of a sum, and the other one ``b`` over twice that.
    """
    again = copy.deepcopy
    zero, half, two = (gast.Constant(v, None) for v in (0.0, 0.5, 2.0))
    size = numpy_call("hypot", [a, b])
    total = gast.BinOp(size, gast.Add(), numpy_call("abs", [again(a)]))
    larger = pairs.held(numpy_call("sqrt", [gast.BinOp(half, gast.Mult(), total)]))
    some = gast.Compare(again(larger), [gast.Gt()], [zero])
    safe = numpy_call("where", [some, again(larger), gast.Constant(1.0, None)])
    twice = gast.BinOp(two, gast.Mult(), pairs.held(safe))
    smaller = pairs.held(gast.BinOp(again(b), gast.Div(), twice))
    right = gast.Compare(again(a), [gast.GtE()], [again(zero)])
    real = numpy_call("where", [right, larger, numpy_call("abs", [again(smaller)])])
    signed = numpy_call("copysign", [again(larger), again(b)])
    imag = numpy_call("where", [again(right), smaller, signed])
    return real, imag


def _linear(e: gast.Call, pairs: Pairs) -> Pair:
    """The function of both parts."""
    name = _name(e.func)
    parts: list[gast.AST] = []
    for k in (0, 1):
        args: list[gast.AST] = []
        for a in e.args:
            if isinstance(a, (gast.Tuple, gast.List)) and any(
                map(pairs.is_complex, a.elts)
            ):
                own = [pairs.pair(v, whole=True)[k] for v in a.elts]
                args.append(type(a)(own, gast.Load()))
            elif pairs.is_complex(a):
                args.append(pairs.pair(a)[k])
            else:
                args.append(pairs.real(copy.deepcopy(a)))
        parts.append(numpy_call(name, args, copy.deepcopy(e.keywords)))
    return parts[0], parts[1]


def _name(func: gast.AST) -> str:
    return str(func.attr if isinstance(func, gast.Attribute) else func.id)


def _bilinear(e: gast.Call, pairs: Pairs) -> Pair:
    """``np.dot(z, w)`` and its like."""
    if len(e.args) != 2 or e.keywords:
        raise NotThisWay
    one, two = (tuple(map(pairs.held, pairs.pair(a))) for a in e.args)
    both = [pairs.is_complex(a) for a in e.args]
    name = _name(e.func)
    if name == "vdot":
        one = (one[0], pairs.held(negated(one[1])))
        name = "dot"

    def f(a: gast.AST, b: gast.AST) -> gast.AST:
        return numpy_call(name, [copy.deepcopy(a), copy.deepcopy(b)])

    (a, b), (c, d) = one, two
    if not both[0]:
        return f(a, c), f(a, d)
    if not both[1]:
        return f(a, c), f(b, c)
    return (
        gast.BinOp(f(a, c), gast.Sub(), f(b, d)),
        gast.BinOp(f(a, d), gast.Add(), f(b, c)),
    )


def _conj(a: gast.AST, b: gast.AST, _: Pairs) -> Pair:
    return a, negated(b)


def _square(a: gast.AST, b: gast.AST, _: Pairs) -> Pair:
    return product(gast.Mult(), (a, b), (a, b), True, True)


_EXP = _elementwise(_exp)
_LOG = _elementwise(_log)
_SQRT = _elementwise(_sqrt)
_LINEAR = (
    [np.sum, np.mean, np.cumsum, np.diff, np.roll, np.flip, np.reshape, np.ravel]
    + [np.transpose, np.copy, np.concatenate, np.stack, np.vstack, np.hstack]
    + [np.trace, np.diag, np.where, np.ascontiguousarray, np.expand_dims, sum]
)

#: What gives complex values of complex ones.
KNOWN: dict[object, Convert] = {
    np.exp: _EXP,
    np.log: _LOG,
    np.sqrt: _SQRT,
    np.sin: _SIN,
    np.cos: _COS,
    np.sinh: _SINH,
    np.cosh: _COSH,
    np.tan: _ratio(_SIN, _COS),
    np.tanh: _ratio(_SINH, _COSH),
    np.conj: _elementwise(_conj),
    np.conjugate: _elementwise(_conj),
    np.square: _elementwise(_square),
    np.dot: _bilinear,
    np.matmul: _bilinear,
    np.vdot: _bilinear,
    np.outer: _bilinear,
    np.inner: _bilinear,
    **dict.fromkeys(_LINEAR, _linear),
}

_CMATH: dict[object, Convert] = {
    cmath.exp: _EXP,
    cmath.log: _LOG,
    cmath.sqrt: _SQRT,
    cmath.sin: _SIN,
    cmath.cos: _COS,
    cmath.sinh: _SINH,
    cmath.cosh: _COSH,
    cmath.tan: _ratio(_SIN, _COS),
    cmath.tanh: _ratio(_SINH, _COSH),
}


def _rect(e: gast.Call, pairs: Pairs) -> Pair:
    radius, angle = (pairs.held(pairs.real(a)) for a in e.args)
    return _polar(radius, angle)


_CMATH[cmath.rect] = _rect


def of_cmath(function: object) -> Convert | None:
    """What a function of `cmath` is."""
    try:
        return _CMATH.get(function)
    except TypeError:
        return None


#: What gives real values of complex ones.
REAL: dict[object, Callable[[Pair], gast.AST]] = {
    abs: lambda p: numpy_call("hypot", list(p)),
    np.abs: lambda p: numpy_call("hypot", list(p)),
    np.real: lambda p: p[0],
    np.imag: lambda p: p[1],
    np.angle: lambda p: numpy_call("arctan2", [p[1], p[0]]),
    cmath.phase: lambda p: numpy_call("arctan2", [p[1], p[0]]),
}
