"""Subscripts of generated modules, none of which counts from the end but those that say
so.

NumPy's subscripts may be negative, and Numba tests each of them. In the texts of pyrev
few may be, which are converted where they stand: of

    @njit(**SERIAL)
    def f(a, k, b, n):
        for i in range(n):
            b[i] = a[np.int64(k[i])]

the compiler takes `b[i]` and `k[i]` as they are (`runtime.compiler`), and in memory the
rest reads `a[from_end(np.int64(k[i]), a.shape[0])]`. The text, which people read and
other versions of Numba compile, stays what it is.
"""

from __future__ import annotations

import ast

#: The name of the function that adds the size of an axis to what is negative.
NAME = "from_end"


def are_in(text: str) -> bool:
    """Has the module with this text subscripts that may be negative?"""
    return "np.int64(" in text


class FromEnd(ast.NodeTransformer):
    """Writes out in compiled functions what subscripts mean that may be negative."""

    def visit_FunctionDef(self, function: ast.FunctionDef) -> ast.AST:
        # All others run as CPython has them.
        return self.generic_visit(function) if function.decorator_list else function

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        match node.slice:
            case ast.Tuple(elts):
                for axis, index in enumerate(elts):
                    elts[axis] = _from_end(node.value, axis, index)
            case index:
                node.slice = _from_end(node.value, 0, index)
        return node


def _from_end(array: ast.expr, axis: int, index: ast.expr) -> ast.expr:
    match index:
        case ast.Call(ast.Attribute(ast.Name("np"), "int64")):
            assert isinstance(array, ast.Name), "an array without a name"
            shape = ast.Attribute(ast.Name(array.id, ast.Load()), "shape", ast.Load())
            size = ast.Subscript(shape, ast.Constant(axis), ast.Load())
            call = ast.Call(ast.Name(NAME, ast.Load()), [index, size], [])
            return ast.copy_location(call, index)
    return index
