"""What each known Python function means, as data.

Most are one operation of the IR, which names them (`ir.primitives`). Of the others a
line here says ``parameters: expression``; the expression is in the operations of the
IR, and the parameters carry NumPy's names, so that keywords work.
"""

from __future__ import annotations

import builtins
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from types import FunctionType

import gast
import numpy as np

from pyrev.ir.dtypes import DTYPES
from pyrev.ir.nodes import Call, Expr, Var
from pyrev.ir.primitives import PRIMITIVES
from pyrev.ir.special import SPECIAL
from pyrev.parse.directives import MARKS, mark
from pyrev.parse.expression import parse_expr
from pyrev.parse.library.sorting import in_order
from pyrev.parse.library.statistics import true_places

#: What is made of several operations, or has names of its own for its arguments.
TABLE: dict[str, str] = {
    "math.atan2": "y, x: atan2(y, x)",
    "np.where": "condition, x, y: where(condition, x, y)",
    "math.floor": "x: int(floor(x))",
    "math.ceil": "x: int(ceil(x))",
    "math.trunc": "x: int(trunc(x))",
    "math.exp2": "x: 2.0 ** x",
    "np.exp2": "x: 2.0 ** x",
    "np.square": "x: x * x",
    "np.reciprocal": "x: 1 / x",
    "np.float_power": "x1, x2: float(x1) ** x2",
    "np.logical_and": "x1, x2: (x1 != 0) & (x2 != 0)",
    "np.logical_or": "x1, x2: (x1 != 0) | (x2 != 0)",
    "np.logical_xor": "x1, x2: (x1 != 0) ^ (x2 != 0)",
    "np.logical_not": "x: x == 0",
    "np.bitwise_and": "x1, x2: x1 & x2",
    "np.bitwise_or": "x1, x2: x1 | x2",
    "np.bitwise_xor": "x1, x2: x1 ^ x2",
    "np.invert": "x: ~x",
    "np.left_shift": "x1, x2: x1 << x2",
    "np.right_shift": "x1, x2: x1 >> x2",
    "np.equal": "x1, x2: x1 == x2",
    "np.not_equal": "x1, x2: x1 != x2",
    "np.less": "x1, x2: x1 < x2",
    "np.less_equal": "x1, x2: x1 <= x2",
    "np.greater": "x1, x2: x1 > x2",
    "np.greater_equal": "x1, x2: x1 >= x2",
    "np.heaviside": (
        "x1, x2: where(x1 != x1, x1, where(x1 < 0, 0.0, where(x1 > 0, 1.0, x2)))"
    ),
    # Equal numbers apart: a difference of infinities is none, and half belongs to each.
    "np.logaddexp": (
        "x1, x2: where(x1 == x2, 0.5 * x1 + 0.5 * x2 + log(2.0),"
        " where(x1 > x2, x1 + log1p(exp(x2 - x1)), x2 + log1p(exp(x1 - x2))))"
    ),
    "np.logaddexp2": (
        "x1, x2: where(x1 == x2, 0.5 * x1 + 0.5 * x2 + 1.0, where(x1 > x2,"
        " x1 + 1.4426950408889634 * log1p(2.0 ** (x2 - x1)),"
        " x2 + 1.4426950408889634 * log1p(2.0 ** (x1 - x2))))"
    ),
    "np.fix": "x: trunc(x)",
    "np.signbit": "x: copysign(1.0, x) < 0",
    "np.isposinf": "x: isinf(x) & (x > 0)",
    "np.isneginf": "x: isinf(x) & (x < 0)",
    "np.isreal": "x: (x == x) | (x != x)",
    "np.iscomplex": "x: (x == x) & (x != x)",
    "np.angle": "z: atan2(0.0, z)",  # that of a complex number is another
    "np.positive": "x: -(-x)",  # which no truth value has
    "np.around": "a: rint(a)",
    "np.round": "a: rint(a)",
    "np.clip": "a, a_min, a_max: minimum(maximum(a, a_min), a_max)",
    "builtins.round": "number: round(number)",
    "builtins.pow": "base, exp: base ** exp",
}

# Any number of arguments, folded from the left as Python does.
FOLDED: dict[object, str] = {builtins.min: "min", builtins.max: "max"}

_MODULES: dict[str, object] = {"math": math, "np": np, "builtins": builtins}
#: What the two arguments of a function are called there.
_PAIRS = {"math": ("x", "y"), "np": ("x1", "x2"), "scipy": ("n", "x")}
_SCIPY = "scipy.special."


@dataclass(frozen=True, slots=True)
class Meaning:
    """The expression that a call of a known function stands for."""

    parameters: tuple[str, ...]
    body: Expr
    #: Of which the first argument, a literal, has to be one; empty: it may be anything.
    orders: range = range(0)

    @property
    def takes(self) -> str:
        """The arguments, in words."""
        names = ", ".join(self.parameters)
        if not self.orders:
            return names
        least, most = self.orders[0], self.orders[-1]
        return f"{names} with a literal {self.parameters[0]} from {least} to {most}"

    def fits(self, args: Sequence[gast.AST]) -> bool:
        """Is the first argument one of `orders`, if there are any?"""
        if not self.orders:
            return True
        match args:
            case [gast.Constant(value=int() as order), *_]:
                return order in self.orders and not isinstance(order, bool)
        return False


@cache
def _known() -> dict[object, Meaning]:
    """The meanings of all functions of `TABLE` and of the primitives."""
    found: dict[object, Meaning] = {}
    for key, what in {**_alone(), **_composed()}.items():
        module, _, name = key.rpartition(".")
        # `math.cbrt` came with CPython 3.11, but `math.isinf` and its like differ too.
        if module in _MODULES and hasattr(_MODULES[module], name):
            found[getattr(_MODULES[module], name)] = what
    return found


def _composed() -> dict[str, Meaning]:
    return {key: _parsed(text) for key, text in TABLE.items()}


@cache
def _alone() -> dict[str, Meaning]:
    """What means one primitive."""
    found: dict[str, Meaning] = {}
    for op, primitive in PRIMITIVES.items():
        for key in primitive.means:
            two = len(primitive.partials) == 2
            names = _PAIRS[key.split(".")[0]] if two else ("x",)
            body = Call(op, tuple(map(Var, names)))
            found[key] = Meaning(names, body, primitive.orders)
    return found


def _of_scipy(function: object) -> Meaning | None:
    """What means one primitive in SciPy, which pyrev itself never imports."""
    special = sys.modules.get("scipy.special")
    if special is None:
        return None
    for key, what in _alone().items():
        name = key.removeprefix(_SCIPY)
        if name != key and getattr(special, name, None) is function:
            return what
    return None


def _carried(function: object) -> Meaning | None:
    """What a function of `ir.special` means that a generated text defines again."""
    if not isinstance(function, FunctionType):
        return None
    own = SPECIAL.get(function.__name__)
    if not isinstance(own, FunctionType):
        return None
    code, same = function.__code__, own.__code__
    if (code.co_code, code.co_consts, code.co_names) != (
        *(same.co_code, same.co_consts, same.co_names),
    ):
        return None
    for op, primitive in PRIMITIVES.items():
        if own.__name__ in (primitive.python, primitive.numba):
            names = tuple(n for n, _ in primitive.partials)
            return Meaning(names, Call(op, tuple(map(Var, names))))
    return None


@cache
def _parsed(text: str) -> Meaning:
    parameters, body = text.split(":", 1)
    return Meaning(tuple(p.strip() for p in parameters.split(",")), parse_expr(body))


def meaning(function: object) -> Meaning | None:
    """What a call of `function` stands for, None if it is not known."""
    marked = mark(function)
    if marked is not None:
        given = ", ".join(MARKS[marked])
        return _parsed(f"{given}: {marked}({given})")
    try:
        known = _known().get(function)
    except TypeError:
        return None
    return known or _of_scipy(function) or _carried(function)


def rounding(decimals: int) -> Meaning:
    """``np.round(a, decimals)``: NumPy rounds a multiple, and divides again."""
    if not decimals:
        return _parsed(TABLE["np.round"])
    times, by = ("*", "/") if decimals > 0 else ("/", "*")
    power = 10.0 ** abs(decimals)
    return _parsed(f"a: rint(a {times} {power!r}) {by} {power!r}")


def is_range(function: object) -> bool:
    """``range`` or ``numba.prange``, which is told by name: numba need not be there."""
    return function is range or (
        getattr(function, "__name__", "") == "prange"
        and str(getattr(function, "__module__", "")).split(".")[0] == "numba"
    )


# How a new array is made: which argument gives the shape, what fills it.
CREATORS: dict[Callable[..., object], tuple[str, float | None]] = {
    np.zeros: ("shape", 0.0),
    np.ones: ("shape", 1.0),
    np.empty: ("shape", None),
    np.full: ("shape", None),
    np.zeros_like: ("like", 0.0),
    np.ones_like: ("like", 1.0),
    np.empty_like: ("like", None),
    np.full_like: ("like", None),
    np.copy: ("copy", None),
    np.array: ("array", None),
    np.asarray: ("same", None),
    np.arange: ("arange", None),
    np.linspace: ("linspace", None),
    np.eye: ("eye", None),
    np.identity: ("identity", None),
    in_order: ("order", None),
    true_places: ("true", None),
}

# What looks at a whole array and gives a number, or an array of fewer axes.
REDUCTIONS: dict[object, str] = {
    np.sum: "sum",
    np.mean: "mean",
    np.prod: "prod",
    np.min: "min",
    np.amin: "min",
    np.max: "max",
    np.amax: "max",
    np.var: "var",
    np.std: "std",
    np.any: "any",
    np.all: "all",
    np.argmin: "argmin",
    np.argmax: "argmax",
    builtins.sum: "sum",
}
PRODUCTS: dict[object, str] = {
    np.dot: "dot",
    np.matmul: "dot",
    np.vdot: "vdot",
    np.inner: "inner",
    np.outer: "outer",
    np.einsum: "einsum",
}
REDUCING = frozenset(
    ["sum", "mean", "prod", "min", "max", "var", "std", "any", "all"]
    + ["argmin", "argmax"]
)

# What gives an array from whole arrays, other than element by element.
ARRANGED: dict[object, str] = {
    np.diff: "diff",
    np.flip: "flip",
    np.flipud: "flipud",
    np.fliplr: "fliplr",
    np.ravel: "ravel",
    np.reshape: "reshape",
    np.squeeze: "squeeze",
    np.expand_dims: "expand_dims",
    np.swapaxes: "swapaxes",
    np.moveaxis: "moveaxis",
    np.ascontiguousarray: "contiguous",
    np.atleast_1d: "atleast_1d",
    np.atleast_2d: "atleast_2d",
    np.stack: "stack",
    np.vstack: "vstack",
    np.hstack: "hstack",
    np.column_stack: "column_stack",
    np.cumsum: "cumsum",
    np.cumprod: "cumprod",
    np.diagonal: "diagonal",
    np.diag: "diag",
    np.roll: "roll",
    np.concatenate: "concatenate",
    np.transpose: "transpose",
    np.trace: "trace",
    np.linalg.norm: "norm",
}


def is_dtype(value: object) -> bool:
    """Is it one of NumPy's classes of numbers, a class of Python's, or a dtype?"""
    return not isinstance(value, str) and dtype_name(value) is not None


def dtype_name(value: object) -> str | None:
    """The NumPy name of a dtype-like Python object, None if it is none of ours."""
    if not isinstance(value, (type, np.dtype, str)):
        return None
    try:
        dtype = np.dtype(value)
    except Exception:  # NumPy reads texts, and asks a class of the user's
        return None
    return dtype.name if dtype.name in DTYPES and dtype.isnative else None
