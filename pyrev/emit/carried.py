"""Functions of pyrev's own that a generated module holds as text.

So it runs without pyrev: those of `ir.special`, and the forms for vector instructions
of `emit.vector`. Kernels hold the former in C (`emit.special_c`).
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Collection, Iterable

from pyrev.emit import vector
from pyrev.ir.special import SPECIAL

#: What a loop can be in vector instructions with, and only if it is part of the loop.
IN_VECTORS: tuple[Callable[..., object], ...] = (
    vector.exp_float32,
    vector.tanh_float32,
    vector.exp_float64,
    vector.tanh_float64,
)
CARRIED: dict[str, Callable[..., object]] = {
    **SPECIAL,
    **{f.__name__: f for f in IN_VECTORS},
}


def definitions(used: Collection[str]) -> list[ast.FunctionDef]:
    """Those of `CARRIED` that are used and those that they call, callees first."""
    return [_definition(name) for name in _needed(used)]


def _needed(used: Iterable[str]) -> list[str]:
    found: dict[str, None] = {}
    for name in CARRIED:
        if name in used:
            tree = _definition(name)
            calls = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
            found |= dict.fromkeys([*_needed(calls), name])
    return list(found)


def _definition(name: str) -> ast.FunctionDef:
    """The function's own text, read anew: a tree may be changed."""
    (tree,) = ast.parse(inspect.getsource(CARRIED[name])).body
    assert isinstance(tree, ast.FunctionDef)
    return tree
