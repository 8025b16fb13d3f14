"""Names of ranges: the numbers that a range is made of get names of their own.

Python text in, Python text out, before anything is lowered::

    rows = range(1, n - 1)               rows_first, rows_end = 1, n - 1
    for k in range(steps):        ->     for k in range(steps):
        for i in rows:                       for i in range(rows_first, rows_end):
            ...                                  ...
"""

from __future__ import annotations

import copy

import gast

from pyrev.ir.nodes import fresh
from pyrev.parse.bindings import (
    bound_alone,
    children,
    identifiers,
    literal_integer,
    local_names,
)
from pyrev.parse.rewriting.made_texts import (
    Lookup,
    assign,
    name_of,
    number_of,
    numpy_call,
    placed,
)


def without_ranges(node: gast.AST, lookup: Lookup) -> gast.AST:
    """The definition `node` without names of ranges; itself if it has none.

    A name of a range is bound by assignments of ranges alone, whose steps are one
    integer that is written out, and is what loops run over (`reversed` and `enumerate`
    of it too). Others stay.

    >>> import gast
    >>> text = '''
    ... def f(x, n):
    ...     rows = range(1, n)
    ...     for i in rows:
    ...         x[i] += x[i - 1]
    ... '''
    >>> definition = gast.parse(text).body[0]
    >>> print(gast.unparse(without_ranges(definition, {"range": range}.get)).strip())
    def f(x, n):
        rows_first, rows_end = (1, n)
        for i in range(rows_first, rows_end):
            x[i] += x[i - 1]
    """
    local = local_names(node)
    if "range" in local or lookup("range") is not range or "len" in local:
        return node
    steps = {n: s for n, s in _assigned(node).items() if s and _looped(node, n, s)}
    if not steps:
        return node
    taken = {*identifiers(node)}
    names = {
        n: (fresh(f"{n}_first", taken), fresh(f"{n}_end", taken), step)
        for n, step in steps.items()
    }
    return _Ranges(names).visit(copy.deepcopy(node))


def _assigned(node: gast.AST) -> dict[str, int]:
    """The step of the ranges that a name is given to; 0 if there are several."""
    found = bound_alone(node, _is_range)
    steps = {name: {*map(_step, calls)} for name, calls in found.items()}
    return {n: own.pop() if len(own) == 1 else 0 for n, own in steps.items()}


def _is_range(value: gast.AST) -> bool:
    match value:
        case gast.Call(func=gast.Name(id="range")):
            return True
    return False


def _step(call: gast.Call) -> int:
    if call.keywords or any(isinstance(a, gast.Starred) for a in call.args):
        return 0
    if len(call.args) in (1, 2):
        return 1
    return (literal_integer(call.args[2]) or 0) if len(call.args) == 3 else 0


def _looped(around: gast.AST, name: str, step: int) -> bool:
    """Is a name of ranges read by loops alone, and by `len` where that is easy?"""
    for child in children(around):
        if isinstance(child, gast.Name) and child.id == name:
            if isinstance(child.ctx, gast.Load) and not _is_known(around, child, step):
                return False
        elif not _looped(child, name, step):
            return False
    return True


def _is_known(around: gast.AST, name: gast.Name, step: int) -> bool:
    match around:
        case gast.For(iter=over) | gast.comprehension(iter=over):
            return over is name
        case gast.Call(func=gast.Name(id=word), args=[own], keywords=[]):
            known = ("reversed", "enumerate") if step != 1 else _READERS
            return own is name and word in known
    return False


_READERS = ("reversed", "enumerate", "len")


class _Ranges(gast.NodeTransformer):  # type: ignore[misc]
    """Puts ranges in the place of their names."""

    def __init__(self, names: dict[str, tuple[str, str, int]]) -> None:
        self.names = names

    def visit_Assign(self, node: gast.Assign) -> gast.AST:
        match node.targets:
            case [gast.Name(id=name)] if name in self.names:
                first, end, _ = self.names[name]
                args = list(node.value.args)
                if len(args) == 1:
                    args.insert(0, gast.Constant(0, None))
                both = [name_of(n, None, gast.Store()) for n in (first, end)]
                pair = gast.Tuple(args[:2], gast.Load())
                made = assign([gast.Tuple(both, gast.Store())], pair)
                return placed(made, node)
        return self.generic_visit(node)

    def visit_Call(self, node: gast.Call) -> gast.AST:
        match node:
            case gast.Call(func=gast.Name(id="len"), args=[gast.Name(id=name)]) if (
                name in self.names
            ):
                first, end, _ = self.names[name]
                count = gast.BinOp(name_of(end), gast.Sub(), name_of(first))
                return numpy_call("maximum", [count, gast.Constant(0, None)], at=node)
        return self.generic_visit(node)

    def visit_Name(self, node: gast.Name) -> gast.AST:
        if node.id not in self.names:
            return node
        first, end, step = self.names[node.id]
        args: list[gast.AST] = [name_of(first), name_of(end)]
        if step != 1:
            args.append(number_of(step))
        return placed(gast.Call(name_of("range"), args, []), node)
