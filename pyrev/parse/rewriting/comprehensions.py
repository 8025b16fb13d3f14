"""Comprehensions as loops in front of the statements that they stand in, and what lists
begin with.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass

import gast

from pyrev.ir.nodes import fresh
from pyrev.parse.bindings import children, identifiers, local_names, nodes_of
from pyrev.parse.rewriting.effects import draws
from pyrev.parse.rewriting.made_texts import (
    Lookup,
    Renamed,
    assign,
    name_of,
    numpy_call,
    object_named,
    placed,
    read_in,
    root_of,
)
from pyrev.parse.source import plain
from pyrev.parse.streams import may_draw

#: Statements that stand in others, and are asked by themselves.
_BLOCKS = (
    *(gast.For, gast.While, gast.If, gast.Assign, gast.AugAssign, gast.Expr),
    *(gast.Return, gast.FunctionDef),
)


class Comprehensions:
    """Writes comprehensions as loops in front of the statements that they stand in."""

    def __init__(self, node: gast.AST, lookup: Lookup) -> None:
        self.node, self.taken = copy.deepcopy(node), {*identifiers(node)}
        self.lookup, self.local = lookup, local_names(node)

    def done(self) -> gast.AST:
        self.node.body = self.block(self.node.body)
        return self.node

    def block(self, stmts: Sequence[gast.AST]) -> list[gast.AST]:
        out: list[gast.AST] = []
        for s in stmts:
            for part in ("body", "orelse"):
                inner = getattr(s, part, None)
                if isinstance(inner, list) and not isinstance(s, gast.FunctionDef):
                    setattr(s, part, self.block(inner))
            before: list[gast.AST] = []
            alone = self.split(s)
            if alone:
                out += self.block(alone)
                continue
            if self.calls_helpers(s) or self.draws_in_front(s):
                out.append(s)
                continue
            match s:
                case gast.Assign(targets=[gast.Name(id=name)], value=gast.ListComp()):
                    filled = self.matrix(s.value)
                    if filled is None:
                        out += self.filled(s.value, name, s)
                        continue
                    s.value = filled
                case gast.Assign() | gast.AugAssign() | gast.Return() | gast.Expr():
                    s.value = self.within(s.value, before, s)
                case gast.For():
                    s.iter = self.within(s.iter, before, s)
                case gast.If():
                    s.test = self.within(s.test, before, s)
            out += [*before, s]
        return out

    def calls_helpers(self, s: gast.AST) -> bool:
        """Does a statement call what may change something, besides comprehensions?"""

        def visit(e: gast.AST) -> bool:
            if isinstance(e, (gast.ListComp, gast.GeneratorExp)):
                return False
            match e:
                case gast.Call(func=gast.Name(id=name)):
                    found = None if name in self.local else self.lookup(name)
                    if name in self.local or plain(found) is not None:
                        return True
            inner = [c for c in children(e) if not isinstance(c, _BLOCKS)]
            return any(map(visit, inner))

        return visit(s)

    def draws_in_front(self, s: gast.AST) -> bool:
        """Is a number drawn in front of a comprehension that draws, too?

        A loop in front of the statement would draw before it.
        """
        within: list[bool] = []
        generators: set[str] = set()

        def visit(e: gast.AST, inside: bool) -> None:
            inside = inside or isinstance(e, (gast.ListComp, gast.GeneratorExp))
            if isinstance(e, gast.Call):
                known = object_named(e.func, self.local, self.lookup)
                own = plain(known)
                if may_draw(e.func, known):
                    within.append(inside)
                    generators.update({root_of(e.func)} & self.local)
                elif inside and (
                    any(generators & read_in(a) for a in e.args)
                    or (own is not None and draws(own))
                ):
                    within.append(True)  # a helper that draws
            for c in children(e):
                if not isinstance(c, _BLOCKS):
                    visit(c, inside)

        visit(s, False)
        return False in within and True in within[within.index(False) :]

    def split(self, s: gast.AST) -> list[gast.AST]:
        """``a, b = [], []`` as two assignments; nothing for other statements."""
        match s:
            case gast.Assign(
                targets=[gast.Tuple(elts=names)], value=gast.Tuple(elts=values)
            ) if len(names) == len(values) and any(
                start_of(v, self.local, self.lookup) is not None for v in values
            ):
                bound = {n.id for n in names if isinstance(n, gast.Name)}
                if len(bound) == len(names) and not read_in(s.value) & bound:
                    return [
                        gast.copy_location(assign([n], v), s)
                        for n, v in zip(names, values, strict=True)
                    ]
        return []

    def within(
        self, e: gast.AST | None, before: list[gast.AST], s: gast.AST
    ) -> gast.AST | None:
        """The expression with names for comprehensions that are always evaluated."""
        match e:
            case gast.ListComp() | gast.GeneratorExp():
                filled = self.matrix(e)
                if filled is not None:
                    return filled
                name = fresh("values", self.taken)
                before += self.filled(e, name, s)
                return name_of(name, e)
            case gast.Call(func=func, args=args):
                if isinstance(func, gast.Attribute):
                    func.value = self.within(func.value, before, s)
                e.args = [self.within(a, before, s) for a in args]
            case gast.Subscript(value=value):
                e.value = self.within(value, before, s)
            case gast.BinOp() | gast.UnaryOp() | gast.Compare() | gast.Tuple():
                for part, value in gast.iter_fields(e):
                    if isinstance(value, list):
                        setattr(e, part, [self.within(v, before, s) for v in value])
                    elif isinstance(value, gast.AST):
                        setattr(e, part, self.within(value, before, s))
        return e

    def matrix(self, e: gast.AST) -> gast.AST | None:
        """``np.full((n, m), v)`` for ``[[v] * m for _ in range(n)]``"""
        match e:
            case gast.ListComp(
                elt=gast.BinOp(
                    left=gast.List(elts=[gast.Constant() as v]), op=gast.Mult(), right=m
                ),
                generators=[
                    gast.comprehension(
                        target=gast.Name(id=index),
                        iter=gast.Call(func=gast.Name(id="range"), args=[n]),
                        ifs=[],
                    )
                ],
            ) if index not in read_in(m) and isinstance(v.value, float):
                return numpy_call("full", [gast.Tuple([n, m], gast.Load()), v], at=e)
        return None

    def filled(self, e: gast.AST, name: str, at: gast.AST) -> list[gast.AST]:
        """The loops that append what a comprehension gives to a list of this name."""
        bound = {
            n.id
            for g in e.generators
            for n in nodes_of(g.target)
            if isinstance(n, gast.Name)
        }
        new = {n: fresh(n, self.taken) for n in bound}
        append = gast.Call(
            gast.Attribute(name_of(name), "append", gast.Load()), [e.elt], []
        )
        body: list[gast.AST] = [gast.Expr(append)]
        for g in reversed(e.generators):
            for test in reversed(g.ifs):
                body = [gast.If(test, body, [])]
            body = [gast.For(g.target, g.iter, body, [], None)]
        made = [Renamed(new).visit(s) for s in body]
        start = assign([name_of(name, ctx=gast.Store())], gast.List([], gast.Load()))
        return [placed(s, at) for s in (start, *made)]


@dataclass
class Start:
    """What a list begins with: these elements, once or several times."""

    elements: list[gast.AST]
    times: gast.AST | None = None


def start_of(value: gast.AST, local: frozenset[str], lookup: Lookup) -> Start | None:
    """What a list begins with that an expression makes; None if it makes none."""
    match value:
        case gast.List(elts=elts):
            nested = any(isinstance(e, (gast.Starred, gast.List)) for e in elts)
            return None if nested else Start(list(elts))
        case gast.BinOp(left=gast.List(elts=[one]), op=gast.Mult(), right=times):
            return (
                None
                if isinstance(one, (gast.List, gast.Tuple))
                else Start([one], times)
            )
        case gast.Call(func=func, args=args, keywords=[]):
            called = func
            if isinstance(func, gast.Attribute) and func.attr == "empty_list":
                called, args = func.value, []
            if not args and is_list_class(object_named(called, local, lookup)):
                return Start([])
    return None


def is_list_class(value: object) -> bool:
    """Is this `list`, or Numba's typed one?"""
    module = str(getattr(value, "__module__", ""))
    typed = module.startswith("numba.") and getattr(value, "__name__", "") == "List"
    return value is list or typed
