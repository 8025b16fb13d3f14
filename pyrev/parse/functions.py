"""What each known Python function means, as data: one line per function.

A line is ``parameters: expression``; the expression is in the operations of the IR, and
the parameters carry NumPy's names, so that keywords work.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from pyrev.ir.dtypes import DTYPES
from pyrev.ir.nodes import Expr
from pyrev.parse.directives import MARKS, mark
from pyrev.parse.expression import parse_expr

_SAME = """
    acos acosh asin asinh atan atanh cbrt cos cosh degrees erf erfc exp expm1 isfinite
    isinf isnan log10 log1p log2 radians sin sinh sqrt tan tanh
"""

TABLE: dict[str, str] = {
    **{f"math.{op}": f"x: {op}(x)" for op in _SAME.split()},
    "math.log": "x: log(x)",
    "math.pow": "x, y: x ** y",
    "math.atan2": "y, x: atan2(y, x)",
    "math.hypot": "x, y: hypot(x, y)",
    "math.copysign": "x, y: copysign(x, y)",
    "math.fmod": "x, y: fmod(x, y)",
    "math.fabs": "x: abs(x)",
    "math.floor": "x: int(floor(x))",
    "math.ceil": "x: int(ceil(x))",
    "math.trunc": "x: int(trunc(x))",
    "np.exp": "x: exp(x)",
    "np.expm1": "x: expm1(x)",
    "np.log": "x: log(x)",
    "np.log1p": "x: log1p(x)",
    "np.log2": "x: log2(x)",
    "np.log10": "x: log10(x)",
    "np.sqrt": "x: sqrt(x)",
    "np.cbrt": "x: cbrt(x)",
    "np.square": "x: x * x",
    "np.reciprocal": "x: 1 / x",
    "np.power": "x1, x2: x1 ** x2",
    "np.float_power": "x1, x2: float(x1) ** x2",
    "np.sin": "x: sin(x)",
    "np.cos": "x: cos(x)",
    "np.tan": "x: tan(x)",
    "np.arcsin": "x: asin(x)",
    "np.arccos": "x: acos(x)",
    "np.arctan": "x: atan(x)",
    "np.arctan2": "x1, x2: atan2(x1, x2)",
    "np.sinh": "x: sinh(x)",
    "np.cosh": "x: cosh(x)",
    "np.tanh": "x: tanh(x)",
    "np.arcsinh": "x: asinh(x)",
    "np.arccosh": "x: acosh(x)",
    "np.arctanh": "x: atanh(x)",
    "np.hypot": "x1, x2: hypot(x1, x2)",
    "np.copysign": "x1, x2: copysign(x1, x2)",
    "np.fmod": "x1, x2: fmod(x1, x2)",
    "np.degrees": "x: degrees(x)",
    "np.rad2deg": "x: degrees(x)",
    "np.radians": "x: radians(x)",
    "np.deg2rad": "x: radians(x)",
    "np.absolute": "x: abs(x)",
    "np.fabs": "x: abs(x)",
    "np.sign": "x: sign(x)",
    "np.floor": "x: floor(x)",
    "np.ceil": "x: ceil(x)",
    "np.trunc": "x: trunc(x)",
    "np.rint": "x: rint(x)",
    "np.round": "a: rint(a)",
    "np.minimum": "x1, x2: minimum(x1, x2)",
    "np.maximum": "x1, x2: maximum(x1, x2)",
    "np.fmin": "x1, x2: fmin(x1, x2)",
    "np.fmax": "x1, x2: fmax(x1, x2)",
    "np.clip": "a, a_min, a_max: minimum(maximum(a, a_min), a_max)",
    "np.where": "condition, x, y: where(condition, x, y)",
    "np.isnan": "x: isnan(x)",
    "np.isinf": "x: isinf(x)",
    "np.isfinite": "x: isfinite(x)",
    "np.add": "x1, x2: x1 + x2",
    "np.subtract": "x1, x2: x1 - x2",
    "np.multiply": "x1, x2: x1 * x2",
    "np.divide": "x1, x2: x1 / x2",
    "np.floor_divide": "x1, x2: x1 // x2",
    "np.remainder": "x1, x2: x1 % x2",
    "np.negative": "x: -x",
    "np.float32": "x: float32(x)",
    "np.float64": "x: float64(x)",
    "np.int64": "x: int64(x)",
    "np.bool_": "x: bool(x)",
    "builtins.abs": "x: abs(x)",
    "builtins.float": "x: float(x)",
    "builtins.int": "x: int(x)",
    "builtins.bool": "x: bool(x)",
    "builtins.round": "number: round(number)",
    "builtins.pow": "base, exp: base ** exp",
}

# Any number of arguments, folded from the left as Python does.
FOLDED: dict[object, str] = {builtins.min: "min", builtins.max: "max"}

_MODULES: dict[str, object] = {"math": math, "np": np, "builtins": builtins}


@dataclass(frozen=True, slots=True)
class Meaning:
    """The expression that a call of a known function stands for."""

    parameters: tuple[str, ...]
    body: Expr


@cache
def _texts() -> dict[object, str]:
    found: dict[object, str] = {}
    for key, text in TABLE.items():
        module, name = key.split(".")
        # `math.cbrt` came with CPython 3.11, but `math.isinf` and its like differ too.
        if hasattr(_MODULES[module], name):
            found[getattr(_MODULES[module], name)] = text
    return found


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
        text = _texts().get(function)
    except TypeError:
        return None
    return None if text is None else _parsed(text)


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
    np.identity: ("eye", None),
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
}
REDUCING = frozenset(
    ["sum", "mean", "prod", "min", "max", "var", "std", "any", "all"]
    + ["argmin", "argmax"]
)

# What gives an array from whole arrays, other than element by element.
ARRANGED: dict[object, str] = {
    np.diff: "diff",
    np.flip: "flip",
    np.cumsum: "cumsum",
    np.roll: "roll",
    np.concatenate: "concatenate",
    np.transpose: "transpose",
    np.trace: "trace",
    np.linalg.norm: "norm",
}


def dtype_name(value: object) -> str | None:
    """The NumPy name of a dtype-like Python object, None if it is none of ours."""
    if not isinstance(value, (type, np.dtype, str)):
        return None
    try:
        dtype = np.dtype(value)
    except Exception:  # NumPy reads texts, and asks a class of the user's
        return None
    return dtype.name if dtype.name in DTYPES and dtype.isnative else None
