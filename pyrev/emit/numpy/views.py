"""Parts of arrays that several statements are about get a name: a view of the array."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any

from pyrev.emit.items import Header, Item, Line
from pyrev.ir.printer import write
from pyrev.ir.text import name, store, subscript

#: A part is named that has so many columns in all places together beyond the first.
LONG = 48


def with_views(items: Sequence[Item], fresh: Callable[[str], str]) -> tuple[Item, ...]:
    """`items` with names for the parts of arrays that are long to write.

    A view has the elements that its array has then. The law: the same values, for a
    part is named where neither its array nor its bounds get another value in between.
    """
    found: list[Item] = []
    for plain, run in groupby(items, lambda item: isinstance(item, Line)):
        if plain:
            found += _named([i for i in run if isinstance(i, Line)], fresh)
            continue
        for item in run:
            if isinstance(item, Header):
                bodies = tuple(with_views(b, fresh) for b in item.bodies)
                item = Header(item.stmt, bodies)
            found.append(item)
    return tuple(found)


def _named(lines: list[Line], fresh: Callable[[str], str]) -> list[Line]:
    places: dict[str, list[int]] = {}
    nodes: dict[str, ast.Subscript] = {}
    for k, line in enumerate(lines):
        for text, node in _parts(line.tree):
            places.setdefault(text, []).append(k)
            nodes.setdefault(text, node)
    before: dict[int, list[Line]] = {}
    for text, at in places.items():
        first, last = at[0], at[-1]
        if (len(at) - 1) * len(text) < LONG:
            continue
        used = {n.id for n in ast.walk(nodes[text]) if isinstance(n, ast.Name)}
        base = nodes[text].value
        assert isinstance(base, ast.Name)
        if any(_rebound(line.tree, base.id) & used for line in lines[first:last]):
            continue
        label = fresh(re.sub(r"_\d+$", "", base.id) + "_part")
        view = ast.parse(f"{label} = {text}").body[0]
        for line in lines[first : last + 1]:
            _Views(text, label).visit(line.tree)
        before.setdefault(first, []).append(Line(view, lines[first].loc))
    return [x for k, line in enumerate(lines) for x in (*before.get(k, ()), line)]


def _parts(tree: ast.stmt) -> Iterator[tuple[str, ast.Subscript]]:
    """The parts of arrays in a statement: slices of what has a name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            index = node.slice
            parts = index.elts if isinstance(index, ast.Tuple) else [index]
            if all(isinstance(p, (ast.Slice, ast.Constant, ast.Name)) for p in parts):
                if any(isinstance(p, ast.Slice) for p in parts):
                    yield write(node).text, node


def _rebound(tree: ast.stmt, array: str) -> set[str]:
    """The names that a statement gives another value; `array` changes in place."""
    if isinstance(tree, ast.AugAssign) and isinstance(tree.target, ast.Name):
        return {tree.target.id} - {array}
    if not isinstance(tree, ast.Assign):
        return set()
    return {t.id for t in tree.targets if isinstance(t, ast.Name)}


class _Views(ast.NodeTransformer):
    """Puts a name in the places of one part of an array."""

    def __init__(self, text: str, label: str) -> None:
        self.text, self.label = text, label

    def visit_Assign(self, node: ast.Assign) -> ast.Assign:
        (target,) = node.targets
        node.value = self.visit(node.value)
        if self._same(target):
            every: list[ast.expr] = [ast.Slice(None, None, None)]
            node.targets = [store(subscript(name(self.label), every))]
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AugAssign:
        node.value = self.visit(node.value)
        if self._same(node.target):
            node.target = ast.Name(self.label, ast.Store())
        return node

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        if self._same(node):
            return ast.Name(self.label, ast.Load())
        self.generic_visit(node)
        return node

    def _same(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Subscript) and write(node).text == self.text
