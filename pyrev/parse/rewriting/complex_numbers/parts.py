"""The formulas of complex arithmetic, for the real and the imaginary part.

They are those of CPython and NumPy: a real operand has the imaginary part 0.0, so that
zeros get the signs that decide on which side of a cut a number is.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import gast

from pyrev.parse.rewriting.made_texts import placed
from pyrev.parse.scopes import NUMPY


@dataclass(frozen=True, slots=True)
class Pair:
    """The real and the imaginary part of a complex value."""

    re: gast.AST
    im: gast.AST


#: A value: in parts if it is complex.
Value: TypeAlias = Pair | gast.AST

#: Of ``a + b i`` alone, then of that and ``c + d i``.
FORMULAS: dict[str, tuple[str, str]] = {
    "+": ("a + c", "b + d"),
    "-": ("a - c", "b - d"),
    "*": ("a * c - b * d", "a * d + b * c"),
    "@": ("a @ c - b @ d", "a @ d + b @ c"),
    # Divided by the modulus first, neither overflows.
    "/": ("(a * u + b * v) / m", "(b * u - a * v) / m"),
    "/ real": ("(a + b * 0.0) / c", "(b - a * 0.0) / c"),
    "neg": ("-a", "-b"),
    "conj": ("a", "-b"),
    "exp": ("np.exp(a) * np.cos(b)", "np.exp(a) * np.sin(b)"),
    "unit": ("np.cos(b)", "np.sin(b)"),
    "log": ("np.log(np.hypot(a, b))", "np.arctan2(b, a)"),
    "log10": (
        "np.log10(np.hypot(a, b))",
        "np.arctan2(b, a) * 0.4342944819032518",
    ),
    "sin": ("np.sin(a) * np.cosh(b)", "np.cos(a) * np.sinh(b)"),
    "cos": ("np.cos(a) * np.cosh(b)", "-(np.sin(a) * np.sinh(b))"),
    "sinh": ("np.sinh(a) * np.cos(b)", "np.cosh(a) * np.sin(b)"),
    "cosh": ("np.cosh(a) * np.cos(b)", "np.sinh(a) * np.sin(b)"),
    # With m = cos(b)**2 + (tanh(a) * sin(b))**2 there is no overflow.
    "tanh": ("u / m", "np.sin(b) * np.cos(b) * (1.0 - u * u) / m"),
    "tan": ("np.sin(a) * np.cos(a) * (1.0 - u * u) / m", "u / m"),
    # The root of the half of |z| + |a| is one part, b over twice that is the other.
    "sqrt": (
        "np.where(a >= 0.0, m, np.abs(u))",
        "np.where(a >= 0.0, u, np.copysign(m, b))",
    ),
    "rect": ("a * np.cos(b)", "a * np.sin(b)"),
    "** real": ("m * np.cos(t)", "m * np.sin(t)"),
    "**": ("m * np.cos(t)", "m * np.sin(t)"),
}
#: What is named first, in order.
FIRST: dict[str, tuple[tuple[str, str], ...]] = {
    "/": (("m", "np.hypot(c, d)"), ("u", "c / m"), ("v", "d / m")),
    "tanh": (
        ("u", "np.tanh(a)"),
        ("m", "np.cos(b) ** 2 + u * u * np.sin(b) ** 2"),
    ),
    "tan": (
        ("u", "np.tanh(b)"),
        ("m", "np.cos(a) ** 2 + u * u * np.sin(a) ** 2"),
    ),
    "sqrt": (
        ("m", "np.sqrt(0.5 * (np.hypot(a, b) + np.abs(a)))"),
        ("u", "b / np.where(m > 0.0, 2.0 * m, 1.0)"),
    ),
    # Zero to a positive power is zero, and nothing to others.
    "** real": (
        ("h", "np.hypot(a, b)"),
        ("u", "np.where(c > 0.0, 0.0, np.where(c < 0.0, np.nan, 1.0))"),
        ("m", "np.where(h == 0.0, u, h ** c)"),
        ("t", "np.where(c == 0.0, 0.0, np.arctan2(b, a) * c)"),
    ),
    "**": (
        ("h", "np.hypot(a, b)"),
        ("v", "np.arctan2(b, a)"),
        ("l", "np.log(np.where(h == 0.0, 1.0, h))"),
        ("u", "np.where(c > 0.0, 0.0, np.nan)"),
        ("m", "np.where(h == 0.0, u, np.exp(c * l - d * v))"),
        ("t", "d * l + c * v"),
    ),
}
REAL: dict[str, str] = {"abs": "np.hypot(a, b)", "angle": "np.arctan2(b, a)"}


def made(text: str, parts: dict[str, gast.AST], at: gast.AST) -> gast.AST:
    """The expression of a formula with these values for its letters.

    >>> one, two = gast.Constant(1.5, None), gast.parse("x[i]").body[0].value
    >>> gast.unparse(made("a * c - b", {"a": one, "b": one, "c": two}, one)).strip()
    '1.5 * x[i] - 1.5'
    """
    return placed(_filled(_formula(text), parts), at)


@lru_cache(None)
def _formula(text: str) -> gast.AST:
    return gast.parse(text).body[0].value


def _filled(e: gast.AST, parts: dict[str, gast.AST]) -> gast.AST:
    match e:
        case gast.Name(id="np"):
            return gast.Name(NUMPY, gast.Load(), None, None)
        case gast.Name(id=name):
            return copy.deepcopy(parts[name])
        case gast.Constant(value=value):
            return gast.Constant(value, None)
        case gast.BinOp(left=a, op=op, right=b):
            return _folded(_filled(a, parts), op, _filled(b, parts))
        case gast.UnaryOp(op=op, operand=a):
            return _negative(_filled(a, parts))
        case gast.Attribute(value=base, attr=attr):
            return gast.Attribute(_filled(base, parts), attr, gast.Load())
        case gast.Call(func=func, args=args):
            new = [_filled(a, parts) for a in args]
            return gast.Call(_filled(func, parts), new, [])
        case gast.Compare(left=a, ops=ops, comparators=[b]):
            return gast.Compare(_filled(a, parts), ops, [_filled(b, parts)])
    raise AssertionError(gast.dump(e))


def constant(e: gast.AST) -> float | None:
    """The number that is written out; None if it is none."""
    match e:
        case gast.Constant(value=bool()):
            return None
        case gast.Constant(value=int() | float() as value):
            return value
        case gast.UnaryOp(op=gast.USub(), operand=a):
            inner = constant(a)
            # There is no negative zero among integers.
            return None if inner is None else -float(inner)
    return None


def number(value: float) -> gast.AST:
    """A number that is written out, with its sign."""
    if str(value).startswith("-"):
        return gast.UnaryOp(gast.USub(), gast.Constant(-value, None))
    return gast.Constant(value, None)


def _negative(e: gast.AST) -> gast.AST:
    known = constant(e)
    return gast.UnaryOp(gast.USub(), e) if known is None else number(-float(known))


def _folded(a: gast.AST, op: gast.AST, b: gast.AST) -> gast.AST:
    """An operation, carried out where both operands are written out."""
    x, y = constant(a), constant(b)
    if x is not None and y is not None:
        x, y = float(x), float(y)
        match op:
            case gast.Add():
                return number(x + y)
            case gast.Sub():
                return number(x - y)
            case gast.Mult():
                return number(x * y)
    return gast.BinOp(a, op, b)


def is_zero(e: gast.AST, zeros: set[str]) -> bool:
    """Is a part zero, whatever its sign, where all numbers are finite?"""
    match e:
        case gast.Name(id=name):
            return name in zeros
        case gast.UnaryOp(op=gast.USub(), operand=a):
            return is_zero(a, zeros)
        case gast.BinOp(left=a, op=gast.Mult(), right=b):
            return is_zero(a, zeros) or is_zero(b, zeros)
        case gast.BinOp(left=a, op=gast.Add() | gast.Sub(), right=b):
            return is_zero(a, zeros) and is_zero(b, zeros)
    return constant(e) == 0.0


def is_simple(e: gast.AST) -> bool:
    """May an expression stand twice? It is a name, an element, or nearly so."""
    match e:
        case gast.Name() | gast.Constant() | gast.Slice(lower=None, upper=None):
            return True
        case None:
            return True
        case gast.Attribute(value=base):
            return is_simple(base)
        case gast.Subscript(value=base, slice=index):
            return is_simple(base) and is_index(index)
        case gast.UnaryOp(operand=a):
            return is_simple(a)
    return False


def is_index(e: gast.AST | None) -> bool:
    """Is a subscript made of names and numbers?"""
    match e:
        case None:
            return True
        case gast.BinOp(left=a, right=b):
            return is_index(a) and is_index(b)
        case gast.Tuple(elts=elts):
            return all(map(is_index, elts))
        case gast.Slice(lower=a, upper=b, step=c):
            return is_index(a) and is_index(b) and is_index(c)
    return is_simple(e)
