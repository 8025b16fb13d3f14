"""Loops over tuples that are written out: one copy of the body for each element.

``for r, c in ((1, c1), (2, c2)): s += c * u[i + r]`` is ``s += c1 * u[i + 1]`` and
``s += c2 * u[i + 2]``. A tuple keeps the dtype of each of its elements, which an array
of them would not; what is long is the array that the message asks for.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from operator import is_not

import gast

from pyrev.ir.nodes import fresh
from pyrev.parse.bindings import literal_integer, mapped, nodes_of
from pyrev.parse.rewriting.control import LEAVE, unless
from pyrev.parse.rewriting.made_texts import (
    Lookup,
    assign,
    name_of,
    object_named,
    stored_in,
)

#: How many statements the copies of one body may have.
MOST_STATEMENTS = 64

_INNER = (gast.FunctionDef, gast.Lambda, gast.ListComp, gast.GeneratorExp)


def without_tuple_loops(
    node: gast.AST, local: frozenset[str], lookup: Lookup | None, taken: set[str]
) -> gast.AST:
    """A definition without jumps and, where that is not too long, without such loops.

    `local` are the names of its own, `lookup` says what others stand for, `taken` names
    are not given again. Loops over numbers that are written out are left as they are:
    an array holds these.
    """
    return Loops(node, local, lookup, taken).seen(node)


class Loops:
    """Unrolls loops, the inner ones first."""

    #: How many statements the copies of one body may have.
    most = MOST_STATEMENTS

    def __init__(
        self,
        whole: gast.AST,
        local: frozenset[str],
        lookup: Lookup | None,
        taken: set[str],
    ) -> None:
        self.whole, self.local, self.lookup = whole, local, lookup
        self.taken = taken

    def seen(self, node: gast.AST) -> gast.AST:
        if not any(isinstance(n, gast.For) for n in nodes_of(node)):
            return node
        made = node
        for name in ("body", "orelse"):
            block = getattr(node, name, None)
            if not isinstance(block, list):
                continue
            new = [s for old in block for s in self.statement(old)]
            if len(new) != len(block) or any(map(is_not, new, block)):
                if made is node:
                    made = copy.copy(node)
                setattr(made, name, new)
        return made

    def statement(self, s: gast.AST) -> list[gast.AST]:
        if isinstance(s, gast.FunctionDef):
            return [s]  # it is read by itself
        inside = self.seen(s)
        return self.unrolled(inside, s) if isinstance(s, gast.For) else [inside]

    def unrolled(self, loop: gast.For, original: gast.AST) -> list[gast.AST]:
        """What stands in the place of a loop: itself if it stays."""
        values = self.values(loop.iter)
        if not values or _are_numbers(values) or loop.orelse:
            return [loop]
        return self.copies(loop, values, original)

    def copies(
        self, loop: gast.For, values: list[gast.AST], original: gast.AST
    ) -> list[gast.AST]:
        """A copy of the body for each of the values, or the loop."""
        if not all(_fits(loop.target, v) for v in values):
            return [loop]
        inside = [n for s in loop.body for n in nodes_of(s)]
        length = sum(isinstance(n, gast.stmt) for n in inside)
        if length * len(values) > self.most:
            return [loop]
        if any(isinstance(n, _INNER) for n in inside):
            return [loop]
        stored = {n for s in loop.body for n in stored_in(s)} | stored_in(loop.target)
        needed = stored_in(loop.target) & self._read_outside(original)
        before: list[gast.AST] = []
        values = [self._held(loop.target, v, stored, before) for v in values]
        out = before
        flags = getattr(loop, LEAVE, ())
        for k, value in enumerate(values):
            block = _copy(loop, value, needed)
            if flags and k:
                guarded = gast.If(unless(flags, loop), block, [])
                block = [gast.copy_location(guarded, loop)]
            out += block
        return out

    def values(self, node: gast.AST) -> list[gast.AST] | None:
        """The elements of what is looped over, None if they are not written out."""
        match node:
            case gast.Tuple(elts=elts) | gast.List(elts=elts):
                apart = any(isinstance(e, gast.Starred) for e in elts)
                return None if apart else list(elts)
            case gast.Call(func=func, args=args) if self.lookup is not None:
                function = object_named(func, self.local, self.lookup)
                if function is reversed and len(args) == 1 and not node.keywords:
                    found = self.values(args[0])
                    plain = isinstance(args[0], (gast.Tuple, gast.List))
                    return found[::-1] if found and plain else None
                if function is enumerate and 1 <= len(args) <= 2 and not node.keywords:
                    first = literal_integer(args[1]) if len(args) == 2 else 0
                    found = self.values(args[0])
                    if found is None or first is None:
                        return None
                    numbered = enumerate(found, first)
                    return [_pair((_integer(k, node), v), node) for k, v in numbered]
                if function is zip and args and not node.keywords:
                    parts = [self.values(a) for a in args]
                    found_parts = [p for p in parts if p is not None]
                    # What is longer than another one is evaluated all the same.
                    if (
                        len(found_parts) < len(parts)
                        or len({*map(len, found_parts)}) > 1
                    ):
                        return None
                    return [_pair(p, node) for p in zip(*found_parts, strict=True)]
        return None

    def is_steady(self, value: gast.AST, stored: set[str]) -> bool:
        """Is a value the same in all copies, which bind the names in `stored`?"""
        return False

    def _read_outside(self, loop: gast.AST) -> set[str]:
        """The names that the definition reads outside of a loop."""
        inner = {id(n) for n in nodes_of(loop)}
        return {
            n.id
            for n in nodes_of(self.whole)
            if isinstance(n, gast.Name) and id(n) not in inner
        }

    def _held(
        self,
        target: gast.AST,
        value: gast.AST,
        stored: set[str],
        before: list[gast.AST],
    ) -> gast.AST:
        """`value` as what no copy of the body changes: it is read `before` them."""
        if isinstance(target, (gast.Tuple, gast.List)):
            pairs = zip(target.elts, value.elts, strict=True)
            return _pair([self._held(t, v, stored, before) for t, v in pairs], value)
        match value:
            case gast.Constant() | gast.UnaryOp(operand=gast.Constant()):
                return value
            case gast.Name(id=name) if name not in stored:
                return value
        if self.is_steady(value, stored):
            return value
        name = fresh(f"{getattr(target, 'id', 'value')}_0", self.taken)
        made = assign([name_of(name, value, gast.Store())], value)
        before.append(gast.copy_location(made, value))
        return name_of(name, value)


def _copy(loop: gast.For, value: gast.AST, needed: set[str]) -> list[gast.AST]:
    """The body for one element, whose names are put in where it does not bind them;
    those that are `needed` behind the loop are bound all the same.
    """
    stored = {n for s in loop.body for n in stored_in(s)}
    known: dict[str, gast.AST] = {}
    first: list[gast.AST] = []
    for target, part in _parts(loop.target, value):
        if isinstance(target, gast.Name) and target.id not in stored:
            known[target.id] = part
            if target.id not in needed:
                continue
        made = assign([copy.deepcopy(target)], copy.deepcopy(part))
        first.append(gast.copy_location(made, loop))
    block = [copy.deepcopy(s) for s in loop.body]
    return [*first, *(_with(s, known) for s in block)]


def _with(node: gast.AST, known: dict[str, gast.AST]) -> gast.AST:
    if isinstance(node, gast.Name):
        if node.id in known and isinstance(node.ctx, gast.Load):
            return gast.copy_location(copy.deepcopy(known[node.id]), node)
        return node
    return mapped(node, lambda n: _with(n, known))


def _parts(target: gast.AST, value: gast.AST) -> list[tuple[gast.AST, gast.AST]]:
    """Each target of a loop with what it gets."""
    if isinstance(target, (gast.Tuple, gast.List)):
        pairs = zip(target.elts, value.elts, strict=True)
        return [part for t, v in pairs for part in _parts(t, v)]
    return [(target, value)]


def _fits(target: gast.AST, value: gast.AST) -> bool:
    """Has a tuple a value for each of the targets, and a target for each tuple?"""
    several = isinstance(value, (gast.Tuple, gast.List))
    if isinstance(target, (gast.Tuple, gast.List)):
        same = several and len(target.elts) == len(value.elts)
        return same and all(map(_fits, target.elts, value.elts))
    return isinstance(target, gast.Name) and not several


def _are_numbers(values: Sequence[gast.AST]) -> bool:
    """Are they numbers of one type, all written out?"""
    kinds = set()
    for v in values:
        rows = v.elts if isinstance(v, (gast.Tuple, gast.List)) else [v]
        for cell in rows:
            inner = cell.operand if isinstance(cell, gast.UnaryOp) else cell
            if not isinstance(inner, gast.Constant):
                return False
            kinds.add(type(inner.value))
    return len(kinds) == 1


def _integer(k: int, at: gast.AST) -> gast.AST:
    return gast.copy_location(gast.Constant(k, None), at)


def _pair(parts: Sequence[gast.AST], at: gast.AST) -> gast.AST:
    return gast.copy_location(gast.Tuple(list(parts), gast.Load()), at)
