"""Results of helpers get names where they are structures that are used at once::

    return norm(moved(p, 1.0))    ->    value = moved(p, 1.0)
                                        return norm(value)

only in statements whose calls write to nothing and draw no random numbers, so that
their order is nobody's.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence

import gast

from pyrev.ir.nodes import fresh
from pyrev.parse.bindings import local_names, nodes_of
from pyrev.parse.rewriting.effects import call_draws, call_writes
from pyrev.parse.rewriting.made_texts import Lookup, assign, name_of
from pyrev.parse.rewriting.structures.shapes import SHAPE, Shape, class_called


def with_named_results(
    node: gast.AST,
    shape: Callable[[gast.AST], Shape | None],
    taken: set[str],
    lookup: Lookup,
) -> gast.AST:
    """The definition with a name for each such result, of which `shape` tells what it
    is; itself if there are none.
    """
    named = _Named(shape, taken, local_names(node), lookup)
    made = copy.copy(node)
    made.body = named.block(node.body)
    return made if named.found else node


def may_nest(node: gast.AST) -> bool:
    """Is what a call gives used at once, as an argument or for an attribute of it?"""
    for n in nodes_of(node):
        match n:
            case gast.Call(args=args, keywords=keywords):
                given = [*args, *(k.value for k in keywords)]
                if any(_calls_name(a) for a in given):
                    return True
            case gast.Attribute(value=base) | gast.Subscript(value=base):
                if _calls_name(base):
                    return True
    return False


def _calls_name(e: gast.AST) -> bool:
    return isinstance(e, gast.Call) and isinstance(e.func, gast.Name)


class _Named:
    def __init__(
        self,
        shape: Callable[[gast.AST], Shape | None],
        taken: set[str],
        local: frozenset[str],
        lookup: Lookup,
    ) -> None:
        self.shape, self.taken = shape, taken
        self.local, self.lookup = local, lookup
        self.found = False

    def block(self, block: Sequence[gast.AST]) -> list[gast.AST]:
        return [made for s in block for made in self._statement(s)]

    def _statement(self, s: gast.AST) -> Iterator[gast.AST]:
        match s:
            case gast.Assign(value=e) | gast.AugAssign(value=e) | gast.Return(value=e):
                part = "value"
            case gast.Expr(value=e):
                part = "value"
            case gast.If(test=e):
                part = "test"
            case gast.For(iter=e):
                part = "iter"
            case _:
                part, e = "", None
        made = copy.copy(s)
        if part and e is not None and not self._acts(s, e):
            before: list[gast.AST] = []
            new = self._inside(e, before)
            yield from before
            setattr(made, part, new)
        if isinstance(s, (gast.If, gast.For, gast.While)):
            made.body, made.orelse = self.block(s.body), self.block(s.orelse)
        yield made

    def _acts(self, s: gast.AST, e: gast.AST) -> bool:
        """May a call in the expression of a statement write to something, or draw?"""
        calls = [n for n in nodes_of(e) if isinstance(n, gast.Call)]
        if any(call_draws(c, self.local, self.lookup) for c in calls):
            return True
        inner = [c for c in calls if c is not e or not isinstance(s, gast.Expr)]
        return any(call_writes(c, self.local, self.lookup, False) for c in inner)

    def _inside(self, e: gast.AST, before: list[gast.AST]) -> gast.AST:
        """An expression with names for what is in it; the calls go in front."""
        if isinstance(e, _LATER):
            return e
        made = copy.copy(e)
        for part, value in gast.iter_fields(e):
            if isinstance(e, gast.BoolOp) and part == "values":
                setattr(made, part, [self._part(value[0], before), *value[1:]])
            elif isinstance(e, gast.Compare) and len(e.ops) > 1:
                continue
            elif isinstance(value, gast.expr | gast.keyword | gast.Slice):
                setattr(made, part, self._part(value, before))
            elif isinstance(value, list):
                setattr(made, part, [self._part(v, before) for v in value])
        return made

    def _part(self, e: gast.AST, before: list[gast.AST]) -> gast.AST:
        if not isinstance(e, gast.expr | gast.keyword | gast.Slice):
            return e
        made = self._inside(e, before)
        if not isinstance(e, gast.Call) or hasattr(e, SHAPE) or not self._helper(e):
            return made
        if self.shape(e) is None:
            return made
        self.found = True
        name = fresh("made", self.taken)
        target = name_of(name, e, gast.Store())
        before.append(gast.copy_location(assign([target], made), e))
        return name_of(name, e)

    def _helper(self, e: gast.Call) -> bool:
        """Is a function called, and no class, by its name?"""
        if not isinstance(e.func, gast.Name):
            return False
        return class_called(e.func, self.local, self.lookup) is None


#: What is not evaluated, or not always, where the statement is.
_LATER = (
    *(gast.Lambda, gast.IfExp, gast.ListComp, gast.GeneratorExp, gast.SetComp),
    *(gast.DictComp, gast.NamedExpr),
)
