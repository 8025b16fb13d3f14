"""The primitives: one entry says all that is known of an operation.

A new one is a line here. What reads the table: `adjoint.rules` (the calculus),
`parse.functions` (which functions of Python's mean it), `ir.dtypes`, `ir.text` and
the emitters (what it is called), and what weighs one program against another.

Partials are texts, which `adjoint.rules` parses: `y` names the result. A partial is an
expression, never code, because three passes read it: `reverse` multiplies by it,
`tangent` transposes it, and the primal values it mentions are the ones that the reverse
sweep asks to have saved. A rule that needs a value cannot forget to have it recorded. A
partial that is a truth value selects (`c if p else 0.0`) instead of multiplying. Sides
chosen at kinks are the documented ones (docs/kinks.md). Nothing in a partial overflows,
underflows or cancels where the partial itself does not: it is right over the range of
float32 and of float64.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

REALS = (-3.0, 3.0)
POSITIVE = (0.1, 3.0)
UNIT = (-0.9, 0.9)
ABOVE_ONE = (1.1, 3.0)

#: What dtype a result has: a truth value, the one that the operation is named after, a
#: Python int or float, that of the first argument, of both sides of a choice, of all
#: arguments joined, the same as a number, that of a power, a float.
Result = Literal[
    "truth",
    "own",
    "int",
    "real",
    "first",
    "choice",
    "joined",
    "number",
    "power",
    "float",
]


@dataclass(frozen=True, slots=True)
class Primitive:
    """One operation of the IR.

    `singular` ones have an infinite partial somewhere in or at the edge of their
    domain; the reverse sweep emits them so that a zero cotangent gives an exact zero.
    """

    #: Its arguments, and the partial in each; none where no derivative is ever taken.
    partials: tuple[tuple[str, str], ...] = ()
    #: Where tests may sample every argument.
    domain: tuple[float, float] = REALS
    singular: bool = False
    result: Result = "float"
    #: The functions of Python's that mean it.
    means: tuple[str, ...] = ()
    #: What it is called where it prints as a function: in Python, in text for Numba if
    #: that is another name, in C. Empty: each printer has a form of its own for it.
    python: str = ""
    numba: str = ""
    c: str = ""
    #: Its form in vector instructions, by its dtype (`emit.vector`).
    vector: str = ""
    #: What it takes beside an addition, where two adjoints are weighed.
    cost: int = 1
    #: The operations that it counts for where work is bounded from above, to be
    #: repeated or shared out: unlike `cost` it is large where little is known.
    work: int = 8
    #: Does it cost more than to keep its value, many times over?
    dear: bool = False
    #: Of which an argument that has to be a literal may be; empty: none has to.
    orders: range = range(0)


def _operator(
    result: Result = "number",
    means: str = "",
    *,
    domain: tuple[float, float] = REALS,
    singular: bool = False,
    cost: int = 1,
    work: int = 1,
    dear: bool = False,
    **partials: str,
) -> Primitive:
    """What Python writes as a sign or a word, and each printer in a form of its own."""
    return Primitive(
        partials=tuple(partials.items()),
        domain=domain,
        singular=singular,
        result=result,
        means=tuple(means.split()),
        cost=cost,
        work=work,
        dear=dear,
    )


def _call(
    result: Result,
    means: str = "",
    *,
    domain: tuple[float, float] = REALS,
    singular: bool = False,
    python: str = "",
    numba: str = "",
    c: str = "",
    work: int = 8,
    **partials: str,
) -> Primitive:
    """What Python writes as a call: of the first of `means` if nothing else is said."""
    known = tuple(means.split())
    return Primitive(
        partials=tuple(partials.items()),
        domain=domain,
        singular=singular,
        result=result,
        means=known,
        python=python or known[0].removeprefix("builtins."),
        numba=numba,
        c=c,
        work=work,
    )


def _function(
    means: str,
    *,
    domain: tuple[float, float] = REALS,
    singular: bool = False,
    own: str = "",
    python: str = "",
    numba: str = "",
    c: str = "",
    vector: str = "",
    cost: int = 12,
    orders: range = range(0),
    **partials: str,
) -> Primitive:
    """A function of real numbers, called in Python by the first of `means`.

    In C it has the name that it has in `math`, and for Numba it is the one of `math`,
    which it types and lowers several times as fast as the ufunc, to the same code:
    unlike CPython's it does not raise at infinities and poles. Where a target has none
    it is `own`, one of `ir.special`.
    """
    known = tuple(means.split())
    there = [m for m in known if m.startswith(("np.", "math."))]
    math = next((m for m in known if m.startswith("math.")), own or known[0])
    return Primitive(
        partials=tuple(partials.items()),
        domain=domain,
        singular=singular,
        means=known,
        python=python or (there[0] if there else own),
        numba=numba or math,
        c=c or math.removeprefix("math."),
        vector=vector,
        cost=cost,
        dear=True,
        orders=orders,
    )


_INTEGERS = [f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)]

PRIMITIVES: dict[str, Primitive] = {
    # arithmetic
    "+": _operator(means="np.add", a="1", b="1"),
    "-": _operator(means="np.subtract", a="1", b="-1"),
    "*": _operator(means="np.multiply", a="b", b="a"),
    "/": _operator(
        *("float", "np.divide"),
        domain=POSITIVE,
        singular=True,
        cost=4,
        work=2,
        a="1 / b",
        b="-y / b",
    ),
    "//": _operator(
        means="np.floor_divide", domain=POSITIVE, cost=4, work=8, a="0", b="0"
    ),
    "%": _operator(
        means="np.remainder", domain=POSITIVE, cost=4, work=8, a="1", b="-(a // b)"
    ),
    "fmod": _call(
        "number",
        "np.fmod math.fmod",
        c="fmod",
        domain=POSITIVE,
        a="1",
        b="-trunc(a / b)",
    ),
    "**": _operator(
        "power",
        "np.power math.pow",
        a="0 if b == 0 else b * a ** (b - 1)",
        b="0 if a == 0 else y * log(a)",  # 0**b stays 0 (or 1) when b moves
        domain=POSITIVE,
        singular=True,
        cost=12,
        work=8,
        dear=True,
    ),
    "neg": _operator(means="np.negative", work=0, x="-1"),
    "abs": _call(
        "number",
        "builtins.abs np.absolute np.fabs math.fabs",
        x="sign(x)",  # 0 at 0
    ),
    "copysign": _call(
        "float",
        "np.copysign math.copysign",
        numba="math.copysign",
        c="copysign",
        a="sign(a) * copysign(1.0, b)",
        b="0",
    ),
    "float": _call("real", "builtins.float", x="1"),
    "float32": _call("own", "np.float32", x="1"),
    "float64": _call("own", "np.float64", x="1"),
    # roots, exponentials, logarithms
    "sqrt": _function(
        "np.sqrt math.sqrt", x="0.5 / y", domain=POSITIVE, singular=True, cost=4
    ),
    "cbrt": _function(
        "np.cbrt math.cbrt",
        numba="np.cbrt",  # Numba knows no other
        x="1 / (3 * y * y)",
        domain=POSITIVE,
        singular=True,
        cost=8,
    ),
    "exp": _function("np.exp math.exp", vector="exp", x="y"),
    "expm1": _function("np.expm1 math.expm1", x="exp(x)"),
    "log": _function("np.log math.log", x="1 / x", domain=POSITIVE, singular=True),
    "log1p": _function(
        "np.log1p math.log1p", x="1 / (1 + x)", domain=POSITIVE, singular=True
    ),
    "log2": _function(
        "np.log2 math.log2",
        x="1.4426950408889634 / x",
        domain=POSITIVE,
        singular=True,
    ),
    "log10": _function(
        "np.log10 math.log10",
        x="0.4342944819032518 / x",
        domain=POSITIVE,
        singular=True,
    ),
    "erf": _function("math.erf", x="1.1283791670955126 * exp(-(x * x))"),
    "erfc": _function("math.erfc", x="-1.1283791670955126 * exp(-(x * x))"),
    # of SciPy's; where they are made of recurrences, poles or series: `ir.special`
    "lgamma": _function(
        "math.lgamma scipy.special.gammaln",
        x="digamma(x)",
        domain=POSITIVE,
        singular=True,
        python="special_lgamma",
    ),
    "digamma": _function(
        "scipy.special.digamma scipy.special.psi",
        x="polygamma(1, x)",
        domain=POSITIVE,
        singular=True,
        own="special_digamma",
    ),
    "polygamma": _function(
        "scipy.special.polygamma",
        n="0",
        x="polygamma(n + 1, x)",
        domain=POSITIVE,
        singular=True,
        own="special_polygamma",
        orders=range(1, 21),
    ),
    "sinc": _function(
        "np.sinc",
        x="x * (-3.289868133696453 + x * x * (3.2469697011334144"
        " + x * x * (-1.1445109447325053 + x * x * (0.2091827825412384"
        " + x * x * (-0.023460810354558236 + x * x * (0.001781145516372852"
        " + x * x * (-9.766223126318933e-05 + x * x * 4.049947846619244e-06)))))))"
        " if abs(x) < 0.25 else (cos(3.141592653589793 * x) - y) / x",
        own="special_sinc",
    ),
    "log_ndtr": _function(
        "scipy.special.log_ndtr", x="inverse_mills(x)", own="special_log_ndtr"
    ),
    # below, where `x + y` cancels, the continued fraction of its difference
    "inverse_mills": _function(
        "",
        x="-y * (x + y) if x > -10 else y / (x + 2 / (x + 3 / (x + 4 / (x + 5 / (x + 6"
        " / (x + 7 / (x + 8 / (x + 9 / (x + 10 / x)))))))))",
        own="special_inverse_mills",
    ),
    "j0": _function("scipy.special.j0", x="-j1(x)", own="special_j0"),
    "j1": _function(
        "scipy.special.j1",
        x="j0(x) - y / x if abs(x) > 0.1 else 0.5 - x * x * (0.1875 - x * x"
        " * (0.013020833333333334 - x * x * (0.00037977430555555556 - x * x"
        " * 6.103515625e-06)))",
        own="special_j1",
    ),
    # trigonometry
    "sin": _function("np.sin math.sin", x="cos(x)"),
    "cos": _function("np.cos math.cos", x="-sin(x)"),
    "tan": _function("np.tan math.tan", x="1 + y * y", domain=UNIT),
    "asin": _function(
        "np.arcsin math.asin",
        x="1 / sqrt((1 - x) * (1 + x))",
        domain=UNIT,
        singular=True,
    ),
    "acos": _function(
        "np.arccos math.acos",
        x="-1 / sqrt((1 - x) * (1 + x))",
        domain=UNIT,
        singular=True,
    ),
    "atan": _function("np.arctan math.atan", x="1 / (1 + x * x)"),
    "atan2": _function(
        "np.arctan2 math.atan2",
        a="0 if a == 0 and b == 0 else b / a / (a + b * (b / a))"
        " if abs(a) > abs(b) else 1 / (b + a * (a / b))",
        b="0 if a == 0 and b == 0 else -(a / b / (b + a * (a / b)))"
        " if abs(b) > abs(a) else -1 / (a + b * (b / a))",
        domain=POSITIVE,
        singular=True,
    ),
    "hypot": _function(
        "np.hypot math.hypot",
        a="0 if a == 0 and b == 0 else copysign(1.0, a) / sqrt(1 + b / a * (b / a))"
        " if abs(a) > abs(b) else a / abs(b) / sqrt(1 + a / b * (a / b))",
        b="0 if a == 0 and b == 0 else copysign(1.0, b) / sqrt(1 + a / b * (a / b))"
        " if abs(b) > abs(a) else b / abs(a) / sqrt(1 + b / a * (b / a))",
        domain=POSITIVE,
        singular=True,
        cost=8,
    ),
    "degrees": _call(
        "float",
        "np.degrees np.rad2deg math.degrees",
        numba="math.degrees",
        x="57.29577951308232",
    ),
    "radians": _call(
        "float",
        "np.radians np.deg2rad math.radians",
        numba="math.radians",
        x="0.017453292519943295",
    ),
    # hyperbolic
    "sinh": _function("np.sinh math.sinh", x="cosh(x)"),
    "cosh": _function("np.cosh math.cosh", x="sinh(x)"),
    "tanh": _function("np.tanh math.tanh", vector="tanh", x="1 - y * y"),
    "asinh": _function("np.arcsinh math.asinh", x="1 / hypot(1.0, x)"),
    "acosh": _function(
        "np.arccosh math.acosh",
        x="1 / (sqrt(x - 1) * sqrt(x + 1))",
        domain=ABOVE_ONE,
        singular=True,
    ),
    "atanh": _function(
        "np.arctanh math.atanh",
        x="1 / ((1 - x) * (1 + x))",
        domain=UNIT,
        singular=True,
    ),
    # selections: a tie goes to the first argument
    "min": _call("joined", python="min", c="py_min", work=1, a="not b < a", b="b < a"),
    "max": _call("joined", python="max", c="py_max", work=1, a="not b > a", b="b > a"),
    "minimum": _call(
        "joined",
        "np.minimum",
        c="np_minimum",
        a="a <= b or isnan(a)",
        b="not (a <= b or isnan(a))",
    ),
    "maximum": _call(
        "joined",
        "np.maximum",
        c="np_maximum",
        a="a >= b or isnan(a)",
        b="not (a >= b or isnan(a))",
    ),
    "fmin": _call(
        "joined",
        "np.fmin",
        c="np_fmin",
        a="a <= b or isnan(b)",
        b="not (a <= b or isnan(b))",
    ),
    "fmax": _call(
        "joined",
        "np.fmax",
        c="np_fmax",
        a="a >= b or isnan(b)",
        b="not (a >= b or isnan(b))",
    ),
    # `reverse` emits a real `if`
    "where": _operator("choice", t="0", a="t != 0", b="t == 0"),
    "and": _operator("joined", a="not a", b="a != 0"),  # Python's is an operand
    "or": _operator("joined", a="a != 0", b="not a"),
    # what is a number, and says something of its derivative
    "stop_gradient": _call("joined", python="stop_gradient", x="0"),
    "probe": _operator("first", work=8, x="1", callback="0"),  # `reverse` tells it
    "along": _call("first", python="along", value="1", slope="0", x="slope"),
    "along_steep": _operator(
        "first", work=8, singular=True, value="1", slope="0", x="slope"
    ),
    "value": _operator("joined", work=8, x="0"),  # `preaccumulate` found its slopes
    "once": _operator("joined", work=8, x="0"),  # differentiable once
    # drawn with a parameter, by which there is no derivative: that one is refused
    "drawn": _operator("first", work=8, value="1", parameter="1"),
    "by_rule": _call(
        "joined", python="by_rule", x="1"
    ),  # in a derivative it is refused
    # flat: the derivative is zero wherever it exists
    "sign": _call("number", "np.sign", c="sign", x="0"),
    "floor": _call("float", "np.floor", c="floor", x="0"),
    "ceil": _call("float", "np.ceil", c="ceil", x="0"),
    "trunc": _call("float", "np.trunc", c="trunc", x="0"),
    "round": _call("int", python="round", x="0"),
    "rint": _call("float", "np.rint", c="rint", x="0"),
    "int": _call("int", "builtins.int", x="0"),
    "bool": _call("truth", "builtins.bool np.bool_", x="0"),
    "isnan": _call("truth", "np.isnan math.isnan", numba="math.isnan", x="0"),
    "isinf": _call("truth", "np.isinf math.isinf", numba="math.isinf", x="0"),
    "isfinite": _call(
        "truth", "np.isfinite math.isfinite", numba="math.isfinite", x="0"
    ),
    "not": _operator("truth", x="0"),
    **{
        op: _operator("truth", a="0", b="0")
        for op in ("<", "<=", ">", ">=", "==", "!=")
    },
    **{op: _operator("joined", work=8, a="0", b="0") for op in "&|^"},
    "~": _operator("joined", work=8, x="0"),
    "<<": _operator(work=8, a="0", b="0"),
    ">>": _operator(work=8, a="0", b="0"),
    "int64": _call("own", "np.int64", x="0"),
    # made where arithmetic of few bits is written out, of what has its derivative
    **{
        kind: _call("own", python=f"np.{kind}", x="0")
        for kind in _INTEGERS
        if kind != "int64"
    },
}

#: What gives a truth value; Python's `and` and `or` give one of what they are given.
TRUTHS = frozenset(op for op, p in PRIMITIVES.items() if p.result == "truth")
LOGICAL = TRUTHS | {"and", "or"}
#: What makes a value of the dtype that it is named after.
CASTS = frozenset(op for op, p in PRIMITIVES.items() if p.result == "own")


#: A function of a generated module: all that is known of it is that it is one.
UNKNOWN = Primitive()
