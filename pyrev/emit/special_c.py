"""The functions of `ir.special` in C, made of their text in Python.

They are assignments, `while`, `if` and one `return` at the end, of numbers that are all
doubles: a line of C for each line, and its expressions as the kernels print theirs.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator

import numpy as np

from pyrev.emit.c import Expressions
from pyrev.ir.dtypes import Floats
from pyrev.ir.nodes import Call, Expr
from pyrev.parse import parse_expr
from pyrev.parse.functions import meaning

_MODULES = {"np": np, "math": math}
_CONSTANTS = {"inf": "INFINITY", "nan": "NAN"}


def device_function(definition: ast.FunctionDef) -> str:
    """The function in C, for a kernel to call.

    >>> print(device_function(ast.parse('''
    ... def half(x):
    ...     while x > 1.0:
    ...         x = x * 0.5
    ...     return np.floor(x)
    ... ''').body[0]))
    __device__ double half(double x)
    {
        while (x > 1.0) {
            x = x * 0.5;
        }
        return floor(x);
    }
    """
    names = [a.arg for a in definition.args.args]
    stored = [
        n.id
        for n in ast.walk(definition)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    ]
    local = [n for n in dict.fromkeys(stored) if n not in names]
    params = ", ".join(f"double {n}" for n in names)
    lines = [f"    double {', '.join(local)};"] if local else []
    lines += _lines(definition.body, "    ")
    head = f"__device__ double {definition.name}({params})"
    return "\n".join([head, "{", *lines, "}"])


def _lines(body: list[ast.stmt], indent: str) -> Iterator[str]:
    printer = _Doubles()
    for s in body:
        match s:
            case ast.Expr(ast.Constant(str())):
                pass
            case ast.Assign([ast.Name(target)], value):
                text = printer.as_(_expression(value), "float64")[0]
                if text != target:  # what is a double already
                    yield f"{indent}{target} = {text};"
            case ast.Return(ast.expr() as value):
                yield f"{indent}return {printer.as_(_expression(value), 'float64')[0]};"
            case ast.While(test, inner):
                yield f"{indent}while ({printer.truth(_expression(test))[0]}) {{"
                yield from _lines(inner, indent + "    ")
                yield f"{indent}}}"
            case ast.If(test, inner, orelse):
                yield f"{indent}if ({printer.truth(_expression(test))[0]}) {{"
                yield from _lines(inner, indent + "    ")
                if orelse:
                    yield f"{indent}}} else {{"
                    yield from _lines(orelse, indent + "    ")
                yield f"{indent}}}"
            case _:
                raise AssertionError(f"no C for {ast.unparse(s)}")


def _expression(tree: ast.expr) -> Expr:
    """The expression in operations of the IR, as the parser reads a partial's text."""
    return parse_expr(ast.unparse(_Named().visit(tree)))


class _Named(ast.NodeTransformer):
    """``floor(x)`` for ``np.floor(x)``: functions by their operations."""

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        assert isinstance(node.value, ast.Name)
        value = getattr(_MODULES[node.value.id], node.attr)
        if isinstance(value, float):
            return (
                ast.Name(node.attr) if node.attr in _CONSTANTS else ast.Constant(value)
            )
        known = meaning(value)
        assert known is not None and isinstance(known.body, Call), node.attr
        return ast.Name(known.body.op)


class _Doubles(Expressions):
    """Expressions of numbers that are all doubles."""

    def __init__(self) -> None:
        super().__init__(Floats(), {})

    def scalar(self, name: str) -> str:
        return _CONSTANTS.get(name, name)
