"""Which features of the language a function uses, and the list of all of them.

Most features are read off the source, so that no list of tags can drift from the code;
what the syntax does not show, an entry declares in `covers`.
"""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

import pyrev
from tests.corpora.entry import Entry

# The bullets of the contract's section on the language, and what each one names.
BULLETS: Mapping[str, tuple[str, ...]] = {
    "loops": (
        "range with a start",
        "range with a step",
        "negative step",
        "prange",
        "enumerate",
        "zip",
        "reversed",
        "iteration over an array",
        "for else",
        "while else",
        "three loops deep",
        "imperfect nest",
        "triangular",
        "bounds from data",
        "trip count from data",
    ),
    "control": (
        "while",
        "break",
        "continue",
        "pass",
        "early return",
        "return inside a loop",
        "elif",
        "conditional expression",
        "chained comparison",
        "and",
        "or",
        "not",
        "assert",
        "raise",
    ),
    "assignment": (
        "annotated assignment",
        *(f"element {op}=" for op in ("+", "-", "*", "/", "//", "%", "**")),
        *(f"scalar {op}=" for op in ("+", "-", "*", "/", "//", "%", "**")),
        "tuple assignment",
        "swap",
        "several targets",
        "overwrites what was read",
        "in-place recurrence",
        "time stepping",
        "buffers swapped by name",
        "rebound array",
    ),
    "arithmetic": (
        *("**", "//", "%", "&", "|", "^", "<<", ">>", "~"),
        "bools as numbers",
        "weak scalars",
    ),
    "local arrays": (
        *(f"np.{n}" for n in ("zeros", "ones", "empty", "full", "array")),
        *(f"np.{n}" for n in ("zeros_like", "empty_like", "ones_like", "full_like")),
        "dtype=",
        ".copy()",
        "integer local array",
    ),
    "indices": (
        "// in an index",
        "% in an index",
        "min max index",
        "reflected index",
        "wrapped index",
        "flattened index",
        "index from an array",
        "index from a float",
        "index from a search",
        "index carried through a loop",
        "negative index",
        "row view",
        "a[i][j]",
    ),
    "functions": (
        *("exp", "expm1", "log", "log1p", "log2", "log10", "sqrt", "cbrt", "pow"),
        *("sin", "cos", "tan", "arcsin", "arccos", "arctan", "arctan2"),
        *("sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh", "erf", "erfc"),
        *("hypot", "abs", "sign", "copysign", "floor", "ceil", "trunc", "round"),
        *("fmod", "min", "max", "minimum", "maximum", "fmin", "fmax", "clip", "where"),
        *("isnan", "isinf", "isfinite", "degrees", "radians", "pi", "inf"),
    ),
    "builtins": (
        *("float()", "int()", "bool()", "len()"),
        *(".shape", ".size", ".ndim", ".T", ".dtype"),
    ),
    "calls": (
        "scalar helper",
        "tuple helper",
        "array helper",
        "helper with a default",
        "keyword argument",
        "lambda",
        "nested function",
        "differentiable helper",
        "module constant",
        "module array",
        "closure",
    ),
    "whole arrays": (
        "slice",
        "strided slice",
        "negative step slice",
        "broadcasting",
        "whole-array expression",
        "right side first",
        "view",
        "np.sum",
        "np.dot",
        "@",
        "whole-array min",
        "whole-array max",
        "np.mean",
    ),
    "compiled functions": ("njit",),
}

FEATURES = tuple(feature for found in BULLETS.values() for feature in found)

_ALIASES = {
    **{f"a{f}": f"arc{f}" for f in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    "atan2": "arctan2",
    "power": "pow",
    "fabs": "abs",
    "absolute": "abs",
    "rint": "round",
    "deg2rad": "radians",
    "rad2deg": "degrees",
}
_OPERATORS: Mapping[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.Invert: "~",
    ast.MatMult: "@",
}
_STATEMENTS: Mapping[type[ast.AST], str] = {
    ast.While: "while",
    ast.Break: "break",
    ast.Continue: "continue",
    ast.Pass: "pass",
    ast.IfExp: "conditional expression",
    ast.And: "and",
    ast.Or: "or",
    ast.Not: "not",
    ast.Assert: "assert",
    ast.Raise: "raise",
    ast.AnnAssign: "annotated assignment",
    ast.Lambda: "lambda",
}


def features(entry: Entry) -> frozenset[str]:
    """All features of one entry: those its source shows and those it declares."""
    unknown = set(entry.covers) - set(FEATURES)
    assert not unknown, f"{entry.name} covers {sorted(unknown)}, which no bullet names"
    found = {*entry.covers, *_shown(entry.plain)}
    if entry.plain is not entry.function:
        found.add("njit")
    return frozenset(found & set(FEATURES))


@functools.cache
def _shown(function: Callable[..., Any]) -> frozenset[str]:
    return frozenset(_found(function))


def _found(function: Callable[..., Any]) -> Iterator[str]:
    source = textwrap.dedent(inspect.getsource(function))
    tree = ast.parse(source).body[0]
    assert isinstance(tree, ast.FunctionDef)
    for node in ast.walk(tree):
        yield from _node(node)
    for inner in ast.walk(tree):
        if isinstance(inner, ast.FunctionDef) and inner is not tree:
            yield "nested function"
    returns = [n for n in ast.walk(tree) if isinstance(n, ast.Return)]
    if any(n is not tree.body[-1] for n in returns):
        yield "early return"
    loops = [n for n in ast.walk(tree) if isinstance(n, ast.For | ast.While)]
    if any(isinstance(n, ast.Return) for loop in loops for n in ast.walk(loop)):
        yield "return inside a loop"
    if _depth(tree) >= 3:
        yield "three loops deep"
    outside = inspect.getclosurevars(function)
    if outside.nonlocals:
        yield "closure"
    for value in outside.globals.values():
        if isinstance(value, int | float):
            yield "module constant"
        elif isinstance(value, np.ndarray):
            yield "module array"
        elif isinstance(value, pyrev.Differentiable):
            yield "differentiable helper"


def _depth(node: ast.AST) -> int:
    below = max(map(_depth, ast.iter_child_nodes(node)), default=0)
    return below + isinstance(node, ast.For | ast.While)


def _node(node: ast.AST) -> Iterator[str]:
    if type(node) in _STATEMENTS:
        yield _STATEMENTS[type(node)]
    match node:
        case ast.For(iter=over, orelse=orelse):
            yield from _iteration(over)
            if orelse:
                yield "for else"
        case ast.While(orelse=[_, *_]):
            yield "while else"
        case ast.If(orelse=[ast.If()]):
            yield "elif"
        case ast.Compare(ops=[_, _, *_]):
            yield "chained comparison"
        case ast.Assign(targets=targets, value=value):
            if len(targets) > 1:
                yield "several targets"
            if any(isinstance(t, ast.Tuple) for t in targets):
                yield "tuple assignment"
                names = {ast.unparse(e) for e in getattr(value, "elts", ())}
                if any(
                    {ast.unparse(e) for e in t.elts} == names
                    for t in targets
                    if isinstance(t, ast.Tuple)
                ):
                    yield "swap"
        case ast.AugAssign(target=target, op=op):
            kind = "element" if isinstance(target, ast.Subscript) else "scalar"
            yield f"{kind} {_OPERATORS.get(type(op), '')}="
        case ast.BinOp(op=op) | ast.UnaryOp(op=op) if type(op) in _OPERATORS:
            yield _OPERATORS[type(op)]
        case ast.Subscript(value=value, slice=index):
            yield from _subscript(value, index)
        case ast.Call():
            yield from _call(node)
        case ast.Attribute(attr=attr):
            if attr in ("pi", "inf"):
                yield attr
            else:
                yield f".{attr}"


def _iteration(over: ast.expr) -> Iterator[str]:
    match over:
        case ast.Call(func=ast.Name(id="range" | "prange" as name), args=args):
            if name == "prange":
                yield "prange"
            if len(args) > 1:
                yield "range with a start"
            if len(args) > 2:
                yield "range with a step"
                if isinstance(args[2], ast.UnaryOp):
                    yield "negative step"
        case ast.Call(func=ast.Attribute(attr="prange")):
            yield "prange"
        case ast.Call(func=ast.Name(id=name)):
            yield name
        case ast.Name() | ast.Subscript():
            yield "iteration over an array"


def _subscript(value: ast.expr, index: ast.expr) -> Iterator[str]:
    if isinstance(value, ast.Subscript):
        yield "a[i][j]"
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    for part in parts:
        if isinstance(part, ast.Slice):
            yield "slice"
            if part.step is not None:
                negative = isinstance(part.step, ast.UnaryOp)
                yield "negative step slice" if negative else "strided slice"
            continue
        for node in ast.walk(part):
            match node:
                case ast.BinOp(op=ast.FloorDiv()):
                    yield "// in an index"
                case ast.BinOp(op=ast.Mod()):
                    yield "% in an index"
                case ast.Call(func=ast.Name(id="min" | "max")):
                    yield "min max index"
        match part:
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant()):
                yield "negative index"


def _call(node: ast.Call) -> Iterator[str]:
    for keyword in node.keywords:
        if keyword.arg == "dtype":
            yield "dtype="
        elif keyword.arg != "axis":
            yield "keyword argument"
    match node.func:
        case ast.Name(id=name):
            yield f"{name}()"
            yield _ALIASES.get(name, name)
        case ast.Attribute(value=ast.Name(id="np" | "math" as module), attr=name):
            if module == "np":
                yield f"np.{name}"
                if name in ("min", "max", "amin", "amax"):
                    yield f"whole-array {name[-3:]}"
                    return
            yield _ALIASES.get(name, name)
        case ast.Attribute(attr=name):
            yield f".{name}()"
            if name in ("sum", "mean", "dot"):
                yield f"np.{name}"
            if name in ("min", "max"):
                yield f"whole-array {name}"
