"""Helpers that are ufuncs of Numba's: which of their loops is taken, and what stands
for it where it is given arrays.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import FunctionType
from typing import TypeVar

import gast
import numpy as np

from pyrev.ir.nodes import Call, Expr, Load, Loc, fresh
from pyrev.parse.bindings import nodes_of
from pyrev.parse.grounds import Grounds
from pyrev.parse.scopes import Helper
from pyrev.parse.source import Standing, plain
from pyrev.parse.values import Array, Operand, Value
from pyrev.parse.walk import Walk

#: The dtypes of the loops that are read, by NumPy's letters.
_DTYPES = {"d": "float64", "f": "float32"}


def behind_ufunc(
    f: object, grounds: Grounds
) -> tuple[FunctionType | None, tuple[str, ...]]:
    """The plain function behind a ufunc of Numba's whose loops are all of floats, with
    their dtypes.

    One that compiles loops when it is called is for floats of 64 bits: which loop
    others take depends on the calls before.
    """
    if type(f).__name__ != "DUFunc":
        return None, ()
    loops = [{*loop} - {*"->"} for loop in f.types] if f._frozen else [{"d"}]  # type: ignore[attr-defined]
    if not loops or any(len(s) != 1 or not s <= _DTYPES.keys() for s in loops):
        return None, ()
    python = plain(grounds.attribute(f, "_dispatcher"), grounds)
    return python, tuple(_DTYPES[letter] for s in loops for letter in s)


def taken(helper: Helper) -> str:
    """The dtype of the loop that is taken: that of 64 bits if there is one."""
    return "float64" if "float64" in helper.loops else "float32"


def note_loop(w: Walk, helper: Helper, values: Mapping[str, Operand], at: Loc) -> None:
    """Let the arrays be checked to hold what that loop takes."""
    for value in values.values():
        asked = isinstance(value, Array) or helper.loops != ("float64",)
        for name in _held(value) if asked else ():
            w.found.alike_kinds.append((name, taken(helper), at))


def _held(value: Operand) -> Iterator[str]:
    """The arrays whose elements a value is."""
    element = value.element if isinstance(value, Array) else value
    if isinstance(element, Load):
        yield element.array


V = TypeVar("V", bound=Value)


def of_dtype(helper: Helper, value: V) -> V | Call:
    """A number as the loop takes it, or gives it."""
    if isinstance(value, Expr):
        return Call(taken(helper), (value,), loc=value.loc)
    return value


def by_element(definition: gast.AST) -> bool:
    """May a function be one of numbers alone, which means something else of arrays: is
    it more than arithmetic and NumPy's functions?
    """
    nodes = [*nodes_of(definition)]
    *ahead, last = definition.body
    return (
        any(isinstance(n, (gast.IfExp, gast.BoolOp, gast.Compare)) for n in nodes)
        or any(isinstance(n, gast.Call) and not _is_numpy(n.func) for n in nodes)
        or any(not isinstance(s, (gast.Assign, gast.Expr)) for s in ahead)
        or not isinstance(last, gast.Return)
        or not isinstance(last.value, (gast.BinOp, gast.Call))
    )


def _is_numpy(func: gast.AST) -> bool:
    return (
        isinstance(func, gast.Attribute)
        and isinstance(func.value, gast.Name)
        and func.value.id in ("np", "numpy")
    )


def mapped(
    helper: Helper, values: Mapping[str, Operand], at: Loc
) -> tuple[Helper, str]:
    """The function of arrays that calls a helper for each element, and its parameter
    that stands for this helper.
    """
    ranks = {n: v.rank for n, v in values.items() if isinstance(v, Array)}
    most = max(ranks, key=lambda name: ranks[name])
    taken_ = {*values, "np", "range", "ValueError"}
    each, found = fresh("each", taken_), fresh("found", taken_)
    index = [fresh(f"i{k}", taken_) for k in range(ranks[most])]
    number = f"np.{taken(helper)}"
    lines = []
    for name, rank in ranks.items():
        for k in range(1, rank + 1) if name != most else ():
            here, there = f"{name}.shape[{rank - k}]", f"{most}.shape[{len(index) - k}]"
            lines += [f"if {here} != {there}:"]
            lines += [f"    raise ValueError({_SHAPES!r})"]
    lines += [f"{found} = np.empty({most}.shape, {number})"]
    for k, i in enumerate(index):
        lines += [f"{'    ' * k}for {i} in range({most}.shape[{k}]):"]
    given = [
        f"{number}({n}[{', '.join(index[-ranks[n] :])}])" if n in ranks else n
        for n in values
    ]
    inner = "    " * len(index)
    lines += [f"{inner}{found}[{', '.join(index)}] = {each}({', '.join(given)})"]
    lines += [f"return {found}"]
    head = f"def {helper.name}({each}, {', '.join(values)}):\n    "
    node = gast.parse(head + "\n    ".join(lines)).body[0]
    own = helper.source
    source = Standing(own.file, own.lines, node, at)
    return Helper(helper.name, source, _KNOWING, None), each


_SHAPES = "these arrays have different shapes"

# The function whose text is `mapped`: it knows `np`.
_KNOWING = FunctionType((lambda: np).__code__, {"np": np})
