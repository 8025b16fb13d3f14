"""A list of rows as three lists: one row behind the other, where each begins, and where
it ends.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence

import gast

from pyrev.ir.nodes import fresh
from pyrev.parse.bindings import nodes_of
from pyrev.parse.rewriting.lists.uses import is_named
from pyrev.parse.rewriting.made_texts import assign, name_of, placed


def is_index(index: gast.AST) -> bool:
    """Is it one number, which may be computed twice?"""
    kinds = (gast.Slice, gast.Tuple, gast.Call)
    return not any(isinstance(n, kinds) for n in nodes_of(index))


def bound(name: str, value: gast.AST) -> gast.AST:
    """An assignment to a name."""
    return assign([name_of(name, ctx=gast.Store())], value)


def length(name: str) -> gast.AST:
    """How many elements a list has."""
    return gast.Call(name_of("len"), [name_of(name)], [])


def append(name: str, value: gast.AST) -> gast.AST:
    """The statement that appends a value to a list."""
    func = gast.Attribute(name_of(name), "append", gast.Load())
    return gast.Expr(gast.Call(func, [value], []))


class Flat(gast.NodeTransformer):  # type: ignore[misc]
    """Writes the list of rows `name` as three lists of numbers; those who know how it
    grows say what stands for the statements that do.
    """

    def __init__(self, name: str, taken: set[str]) -> None:
        self.name = name
        self.flat = fresh(f"{name}_flat", taken)
        self.begins = fresh(f"{name}_begins", taken)
        self.ends = fresh(f"{name}_ends", taken)

    def grown(self, s: gast.AST) -> list[gast.AST] | None:
        """What stands for a statement in which a row grows or ends; None for others."""
        raise NotImplementedError

    def block(self, stmts: Sequence[gast.AST]) -> list[gast.AST]:
        """The statements with three lists for the one."""
        out: list[gast.AST] = []
        for s in stmts:
            out += [placed(x, s) for x in self._statement(s)]
        return out

    def _statement(self, s: gast.AST) -> list[gast.AST]:
        if isinstance(s, gast.Assign) and is_named(s.targets[0], self.name):
            names = (self.flat, self.begins, self.ends)
            return [bound(n, gast.List([], gast.Load())) for n in names]
        made = self.grown(s)
        if made is not None:
            return made
        for part, value in gast.iter_fields(s):
            if part in ("body", "orelse") and isinstance(value, list):
                if not isinstance(s, gast.FunctionDef):
                    setattr(s, part, self.block(value))
            elif isinstance(value, list):
                new = [self.visit(v) if isinstance(v, gast.AST) else v for v in value]
                setattr(s, part, new)
            elif isinstance(value, gast.AST):
                setattr(s, part, self.visit(value))
        return [s]

    def visit_Call(self, node: gast.Call) -> gast.AST:
        match node:
            case gast.Call(func=gast.Name(id="len"), args=[gast.Name(id=self.name)]):
                return placed(length(self.begins), node)
        return self.generic_visit(node)

    def visit_Subscript(self, node: gast.Subscript) -> gast.AST:
        """One of the rows: only read."""
        self.generic_visit(node)
        index = node.slice
        plain = isinstance(node.ctx, gast.Load) and is_index(index)
        if not is_named(node.value, self.name) or not plain:
            return node
        low = gast.Subscript(name_of(self.begins), index, gast.Load())
        high = gast.Subscript(name_of(self.ends), copy.deepcopy(index), gast.Load())
        whole = gast.Slice(low, high, None)
        made = gast.Subscript(name_of(self.flat), whole, gast.Load())
        return placed(gast.copy_location(made, node), node)
