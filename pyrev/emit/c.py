"""Expressions in CUDA C, with every conversion written out.

A text comes with how tightly it binds (16 is a name or a call, 3 a choice), so that
parentheses stand where C needs them and nowhere else. The dtypes are those that NumPy
gives (`pyrev.ir.dtypes`): what C would promote never decides.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import assert_never

import numpy as np

from pyrev.emit.helpers import HELPERS
from pyrev.ir.dtypes import NARROW, concrete, expr_dtype, is_float, promote
from pyrev.ir.nodes import ZERO, Call, Const, Expr, Extent, Load, Saved, Var
from pyrev.ir.primitives import PRIMITIVES, UNKNOWN
from pyrev.ir.special import SPECIAL

#: What a dtype is in C.
C_TYPES = {
    "bool": "bool",
    "int8": "signed char",
    "int16": "short",
    "int32": "int",
    "int64": "long long",
    "uint8": "unsigned char",
    "uint16": "unsigned short",
    "uint32": "unsigned int",
    "uint64": "unsigned long long",
    "float32": "float",
    "float64": "double",
}
_BINARY = {"+": 12, "-": 12, "*": 13, "/": 13}
_COMPARE = {"<": 10, "<=": 10, ">": 10, ">=": 10, "==": 9, "!=": 9}
_BITS = {"&": 8, "^": 7, "|": 6}
C_WORDS = (
    frozenset(
        """
    auto bool break case catch char class const continue default delete do double else
    enum extern false float for goto if inline int long namespace new operator private
    protected public register return short signed sizeof static struct switch template
    this throw true try typedef union unsigned using virtual void volatile while asm
    threadIdx blockIdx blockDim gridDim warpSize status pow fma fmaf fabs malloc free
    assert printf main isnan isinf isfinite NAN INFINITY atomicAdd nullptr
    thread_x thread_y thread_z threads_x threads_y threads_z make
    """.split()
    )
    | {p.c for p in PRIMITIVES.values() if p.c}
    | frozenset(HELPERS)
    | frozenset(SPECIAL)
)


#: A text, and how tightly it binds.
Tight = tuple[str, int]


class Expressions:
    """Prints expressions; whoever derives from it says what names are called."""

    def __init__(self, types: dict[str, str], helpers: dict[str, None]) -> None:
        self.types = types
        #: The functions of `emit.helpers` and `ir.special` that are called.
        self.helpers = helpers

    def scalar(self, name: str) -> str:
        """What a scalar is called."""
        raise NotImplementedError

    def array(self, name: str) -> str:
        """What an array is called."""
        raise NotImplementedError

    def extent(self, array: str, axis: int) -> str:
        """``array.shape[axis]``."""
        raise NotImplementedError

    def natural(self, index: Expr) -> bool:
        """Is a subscript never negative?"""
        raise NotImplementedError

    def goes_around(self, op: str, args: Sequence[Expr]) -> bool:
        """Must a sum or a product of int64 go around at 64 bits, as NumPy's do?"""
        raise NotImplementedError

    # ---------------------------------------------------------------- expressions

    def truth(self, e: Expr) -> Tight:
        if isinstance(e, Call) and e.op == "added":  # made by `emit.cuda` alone
            self.helpers["added"] = None
            return f"added({self.expr(e.args[0])[0][0]})", 16
        text, kind = self.expr(e)
        if kind == "bool":
            return text
        return f"{inside(text, 10)} != 0", 9

    def as_(self, e: Expr, want: str) -> Tight:
        """`e` as a value of the NumPy dtype `want`, and how tightly it binds."""
        if isinstance(e, Const) and not isinstance(e.value, bool) and want != "bool":
            return literal(e.value, want)
        text, kind = self.expr(e)
        if concrete(kind) == want:
            return text
        if want == "bool":
            return f"{inside(text, 10)} != 0", 9
        return f"({C_TYPES[want]}){inside(text, 15)}", 15

    def expr(self, e: Expr) -> tuple[Tight, str]:
        """The text of `e`, how tightly it binds, and its dtype."""
        dtype = expr_dtype(e, self.types)
        match e:
            case Const(value):
                if isinstance(value, bool):
                    return ("true" if value else "false", 16), "bool"
                return literal(value, concrete(dtype)), dtype
            case Var(n):
                return (self.scalar(n), 16), dtype
            case Extent(a, k):
                return (self.extent(a, k), 16), dtype
            case Load(a, index):
                return (f"{self.array(a)}[{self.flat(a, index)}]", 16), dtype
            case Call(op, args):
                return self.call(op, args, dtype), dtype
            case Saved():
                raise AssertionError("a saved value is left over")
        assert_never(e)

    def flat(self, a: str, index: Sequence[Expr]) -> str:
        """The place of an element among those of its array."""
        if index == (ZERO,):
            return "0"
        place = self.subscript(a, 0, index[0])
        for k, e in enumerate(index[1:], 1):
            own = self.subscript(a, k, e)
            if place[0] != "0":
                place = f"{inside(place, 13)} * {self.extent(a, k)}", 13
                if own[0] != "0":
                    place = f"{place[0]} + {inside(own, 12)}", 12
            else:
                place = own
        return place[0]

    def subscript(self, a: str, k: int, e: Expr) -> Tight:
        text = self.as_(e, "int64")
        if self.natural(e):
            return text
        self.helpers["from_end"] = None
        return f"from_end({text[0]}, {self.extent(a, k)})", 16

    def helper(self, name: str, kind: str, args: Sequence[Expr]) -> Tight:
        self.helpers[name] = None
        texts = ", ".join(self.as_(a, kind)[0] for a in args)
        if name in ("floor_div", "py_mod") and kind in ("float32", "float64"):
            return f"{name}({texts})", 16
        return f"{name}<{C_TYPES[kind]}>({texts})", 16

    def call(self, op: str, args: tuple[Expr, ...], dtype: str) -> Tight:
        kind = concrete(dtype)
        match op, args:
            case (("+" | "-" | "*" | "/"), (a, b)):
                level = _BINARY[op]
                left, right = self.as_(a, kind), self.as_(b, kind)
                if kind == "int64" and self.goes_around(op, args):
                    # Unsigned: a compiler may take it that signed ones never do.
                    ab = (left, right)
                    unsigned = [f"(unsigned long long){inside(x, 15)}" for x in ab]
                    return f"(long long)({f' {op} '.join(unsigned)})", 15
                if kind == "int32":
                    both = (f"(unsigned){inside(x, 15)}" for x in (left, right))
                    return f"(int)({f' {op} '.join(both)})", 15
                text = f"{inside(left, level)} {op} {inside(right, level + 1)}"
                return self.narrow((text, level), kind)
            case "neg", (x,):
                return self.narrow((f"-{inside(self.as_(x, kind), 16)}", 15), kind)
            case (("//" | "%"), _):
                name = "floor_div" if op == "//" else "py_mod"
                return self.narrow(self.helper(name, kind, args), kind)
            case "abs", (x,):
                if is_float(dtype):
                    return f"fabs({self.as_(x, kind)[0]})", 16
                if kind.startswith("uint") or kind == "bool":
                    return self.as_(x, kind)
                return self.helper("magnitude", kind, args)
            case "**", (base, exponent):
                return self.power(base, exponent, dtype)
            case "where", (test, a, b):
                left, right = self.as_(a, kind), self.as_(b, kind)
                return _choice(self.truth(test), left, right)
            case _, (a, b) if op in _COMPARE:
                met = concrete(
                    promote(expr_dtype(a, self.types), expr_dtype(b, self.types))
                )
                left, right = self.as_(a, met), self.as_(b, met)
                return _operation(left, op, right, _COMPARE[op])
            case (("and" | "or"), (a, b)):
                if kind == "bool":
                    word, level = ("&&", 5) if op == "and" else ("||", 4)
                    return _operation(self.truth(a), word, self.truth(b), level)
                left, right = self.as_(a, kind), self.as_(b, kind)
                first, second = (right, left) if op == "and" else (left, right)
                return _choice(self.truth(a), first, second)
            case "not", (x,):
                return f"!{inside(self.truth(x), 16)}", 15
            case "bool", (x,):
                return self.truth(x)
            case "~", (x,):
                if kind == "bool":
                    return f"!{inside(self.truth(x), 16)}", 15
                return self.narrow((f"~{inside(self.as_(x, kind), 16)}", 15), kind)
            case (("&" | "|" | "^"), (a, b)):
                left, right = self.as_(a, kind), self.as_(b, kind)
                bits = _operation(left, op, right, _BITS[op])
                if kind == "bool":
                    return f"(bool)({bits[0]})", 15
                return self.narrow(bits, kind)
            case (("<<" | ">>"), (a, b)):
                name = "shift_left" if op == "<<" else "shift_right"
                self.helpers[name] = None
                value, by = self.as_(a, kind)[0], self.as_(b, "int64")[0]
                return f"{name}<{C_TYPES[kind]}>({value}, {by})", 16
        return self.conversion(op, args, dtype)

    def conversion(self, op: str, args: tuple[Expr, ...], dtype: str) -> Tight:
        """A call that takes a value to another kind or unit, or leaves it as it is."""
        kind = concrete(dtype)
        match op, args:
            case "round", (x,):
                if is_float(expr_dtype(x, self.types)):
                    return f"(long long)rint({self.expr(x)[0][0]})", 15
                return self.as_(x, "int64")
            case "int", (x,):
                return self.as_(x, "int64")
            case "stop_gradient" | "by_rule", (x,):
                return self.as_(x, kind)
            case "probe", (x, _):
                return self.as_(x, kind)
            case "float", (x,):
                return self.as_(x, "float64")
            case _, (x,) if op in C_TYPES:
                return self.as_(x, op)
            case (("isnan" | "isinf" | "isfinite"), (x,)):
                inner, own = self.expr(x)
                if not is_float(own):
                    return ("true" if op == "isfinite" else "false"), 16
                return f"(bool){op}({inner[0]})", 15
            case "degrees", (x,):
                factor = literal(180.0 / math.pi, kind)
                return f"{inside(self.as_(x, kind), 13)} * {factor[0]}", 13
            case "radians", (x,):
                factor = literal(math.pi / 180.0, kind)
                return f"{inside(self.as_(x, kind), 13)} * {factor[0]}", 13
        return self.function(op, args, dtype)

    def function(self, op: str, args: tuple[Expr, ...], dtype: str) -> Tight:
        """A call of what is a function in C, or one of ours."""
        name = op if op in SPECIAL else PRIMITIVES.get(op, UNKNOWN).c
        assert name, f"no C for {op}"
        kind = concrete(dtype)
        if name in HELPERS:
            return self.helper(name, kind, args)
        if name in SPECIAL:
            self.helpers[name] = None
            text = f"{name}({', '.join(self.as_(a, 'float64')[0] for a in args)})"
            return (f"(float){text}", 15) if kind == "float32" else (text, 16)
        if not is_float(dtype):  # the floor of an integer is that integer
            return self.as_(args[0], kind)
        return f"{name}({', '.join(self.as_(a, kind)[0] for a in args)})", 16

    def narrow(self, text: Tight, kind: str) -> Tight:
        """C computes narrow integers in an int: back to their own bits."""
        if kind in NARROW and kind not in ("int32", "uint32"):
            return f"({C_TYPES[kind]}){inside(text, 15)}", 15
        return text

    def power(self, base: Expr, exponent: Expr, dtype: str) -> Tight:
        kind = concrete(dtype)
        match exponent:
            case Const(int(n)) if abs(n) <= 64:
                self.helpers["power"] = None
                text = f"power<{C_TYPES[kind]}>({self.as_(base, kind)[0]}, {abs(n)})"
                if n >= 0:
                    return text, 16
                return f"{literal(1.0, kind)[0]} / {text}", 13
        if is_float(dtype):
            return f"pow({self.as_(base, kind)[0]}, {self.as_(exponent, kind)[0]})", 16
        self.helpers["power"] = None
        by = self.as_(exponent, "int64")[0]
        return f"power<{C_TYPES[kind]}>({self.as_(base, kind)[0]}, {by})", 16


def _operation(left: Tight, op: str, right: Tight, level: int) -> Tight:
    """A binary operation, with parentheses around operations that bind no tighter."""
    return f"{inside(left, level + 1)} {op} {inside(right, level + 1)}", level


def _choice(test: Tight, left: Tight, right: Tight) -> Tight:
    return f"{inside(test, 4)} ? {inside(left, 4)} : {inside(right, 3)}", 3


def inside(text: Tight, least: int) -> str:
    """The text, in parentheses if it binds less than it has to."""
    return text[0] if text[1] >= least else f"({text[0]})"


def literal(value: float, want: str) -> Tight:
    """A number as a literal of the NumPy dtype `want`."""
    if want in ("float32", "float64"):
        number = float(value)
        if math.isnan(number):
            return "NAN", 16
        if math.isinf(number):
            return ("INFINITY", 16) if number > 0 else ("-INFINITY", 15)
        text = str(np.float32(number)) if want == "float32" else repr(number)
        if "inf" in text:
            return ("INFINITY", 16) if number > 0 else ("-INFINITY", 15)
        if "." not in text and "e" not in text:
            text += ".0"
        text += "f" if want == "float32" else ""
        return text, 16 if math.copysign(1.0, number) > 0 else 15
    number = int(value)
    if number == -(2**63):
        return "(-9223372036854775807LL - 1)", 16
    text = str(number) if abs(number) < 2**31 else f"{number}LL"
    return text, 16 if number >= 0 else 15
