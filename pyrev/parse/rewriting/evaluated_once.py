"""Calls that act, in statements of their own where the text around them does not keep
their number and order.

A call that writes to what it is given, or draws, happens once, after all that stands in
front of it. Texts that are made of the user's evaluate places and arguments more than
once, later, or in another order; so where such a call stands in a place, a bound, a
display, a keyword or what a loop runs over, the parts of its statement get names first,
in the order in which Python computes them::

    m[k(a)] += h(a)            place = k(a)
                               before = m[place]
                         ->    value = h(a)
                               m[place] = before + value
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from types import BuiltinFunctionType, FunctionType

import gast
import numpy as np

from pyrev.ir.nodes import fresh
from pyrev.parse.bindings import (
    children,
    identifiers,
    local_names,
    nodes_of,
    parameters,
)
from pyrev.parse.rewriting.effects import call_writes, is_numpy, may_write
from pyrev.parse.rewriting.made_texts import (
    Lookup,
    assign,
    each_place,
    name_of,
    object_named,
    placed,
    read_in,
)
from pyrev.parse.source import plain
from pyrev.parse.streams import may_draw

_COMPREHENSIONS = (gast.ListComp, gast.GeneratorExp, gast.SetComp, gast.DictComp)
#: Functions of Python's that give a number of numbers, each argument taken once.
_NUMBERS = frozenset(
    ["abs", "float", "int", "bool", "round", "pow", "min", "max", "sum", "len", "print"]
    + ["complex"]
)


#: Methods whose call a made text has in other words.
_OF_OBJECTS = frozenset(["get", "setdefault", "pop", "_replace", "append", "extend"])


def evaluated_once(node: gast.AST, lookup: Lookup) -> gast.AST:
    """The definition with names for what calls that act give, and for what is computed
    before them, where more than arithmetic stands around these; itself where there are
    none.
    """
    if not isinstance(getattr(node, "body", None), list):
        return node
    rewriter = _Once(node, lookup)
    acts = any(isinstance(n, gast.Call) and rewriter.act(n) for n in nodes_of(node))
    if not acts and not rewriter.stores:
        return node
    made = copy.copy(node)
    made.body = rewriter.block(node.body)
    return made if rewriter.changed else node


class _Once:
    def __init__(self, node: gast.AST, lookup: Lookup) -> None:
        self.lookup, self.local = lookup, local_names(node)
        self.taken = {*identifiers(node)}
        self.changed = False
        #: The calls that were asked about, each with the answer.
        self.acting: dict[int, tuple[gast.Call, bool]] = {}
        self.before: list[gast.AST] = []
        #: Does it write to elements, among them those that places may rest on?
        self.stores = any(
            isinstance(n, gast.Subscript) and isinstance(n.ctx, gast.Store)
            for n in nodes_of(node)
        )
        #: The functions inside, by name.
        self.inner: dict[str, gast.AST] = {}
        for n in nodes_of(node):
            match n:
                case gast.FunctionDef(name=name):
                    self.inner[name] = n
                case gast.Assign(
                    targets=[gast.Name(id=name)], value=gast.Lambda() as f
                ):
                    self.inner[name] = f

    # ---------------------------------------------------------------- who acts

    def writes(self, call: gast.Call) -> bool:
        """May a call write to an array?"""
        match call.func:
            case gast.Name(id=name) if name in self.inner:
                inner = self.inner[name]
                own = local_names(inner) - {p.id for p in parameters(inner)}
                return may_write(inner, read_in(inner) - own, self.lookup)
        return call_writes(call, self.local, self.lookup, alone=False)

    def act(self, call: gast.Call) -> bool:
        found = self.acting.get(id(call))
        if found is None or found[0] is not call:
            known = object_named(call.func, self.local, self.lookup)
            found = call, may_draw(call.func, known) or self.writes(call)
            self.acting[id(call)] = found
        return found[1]

    def acts(self, e: gast.AST | None) -> bool:
        """Does something happen where an expression is computed?"""
        return e is not None and any(
            isinstance(n, gast.Call) and self.act(n) for n in nodes_of(e)
        )

    # ---------------------------------------------------------------- what is plain

    def is_plain(self, e: gast.AST | None, writes: bool) -> bool:
        """Is a call that acts only where it is computed once, in the order of the text;
        if one `writes`, does no place rest on what it may write to?
        """
        if e is None:
            return True
        inner = [c for c in children(e) if isinstance(c, gast.expr)]
        match e:
            case gast.Subscript(value=value, slice=index):
                if self.acts(index):
                    alone = not writes and not _has_slice(index)
                    return (
                        alone and not self.acts(value) and self.is_plain(index, False)
                    )
                if self.acts(value):
                    return False
                return not (writes and any(map(_is_read, nodes_of(index))))
            case _ if not self.acts(e):
                return all(self.is_plain(c, writes) for c in inner)
            case gast.BinOp(left=left, op=gast.Mult(), right=right):
                if any(isinstance(x, (gast.List, gast.Tuple)) for x in (left, right)):
                    return False
            case gast.Call(func=func, args=args, keywords=keywords):
                if not self.takes_once(func) and (
                    any(map(self.acts, args))
                    or any(self.acts(k.value) for k in keywords)
                ):
                    return False
                inner = [*args, *(k.value for k in keywords)]
                if isinstance(func, gast.Attribute):
                    inner.append(func.value)
            case gast.List() | gast.Tuple() | gast.Dict() | gast.Set():
                times = sum(map(self.acts, inner))
                return times < 2 and all(self.is_plain(c, writes) for c in inner)
            case (
                gast.ListComp() | gast.GeneratorExp() | gast.SetComp() | gast.DictComp()
            ):
                return self.is_plain_iterable(e.generators[0].iter)
            case gast.Lambda():
                return True
        return all(self.is_plain(c, writes) for c in inner)

    def is_plain_iterable(self, e: gast.AST) -> bool:
        """May a loop run over it as it stands?"""
        if not self.acts(e):
            return True
        if not isinstance(e, gast.Call) or not self.act(e):
            return False
        return not any(map(self.acts, [*e.args, *(k.value for k in e.keywords)]))

    def takes_once(self, func: gast.AST) -> bool:
        """Is this a function that has its arguments computed in the order of the text,
        each once, whatever text is made of its call?
        """
        known = object_named(func, self.local, self.lookup)
        if may_draw(func, known):
            return True
        if isinstance(func, gast.Name) and func.id in self.local:
            return True
        if is_numpy(known):
            return True
        if getattr(known, "__module__", None) == "math":
            return isinstance(known, BuiltinFunctionType)
        if plain(known) is not None or isinstance(known, FunctionType):
            return True
        if isinstance(func, gast.Attribute) and known is None:
            return func.attr not in _OF_OBJECTS
        name = getattr(known, "__name__", "")
        return (
            getattr(known, "__module__", "") == "builtins"
            and name in _NUMBERS
            or (isinstance(known, type) and issubclass(known, np.generic))
        )

    # ---------------------------------------------------------------- statements

    def block(self, stmts: Sequence[gast.AST]) -> list[gast.AST]:
        out: list[gast.AST] = []
        for s in stmts:
            around, self.before = self.before, []
            made = self.statement(s)
            out += [*self.before, *made]
            self.before = around
        return out

    def statement(self, s: gast.AST) -> list[gast.AST]:
        if isinstance(s, (gast.FunctionDef, gast.ClassDef)):
            return [s]
        new = copy.copy(s)
        for part in ("body", "orelse"):
            inner = getattr(s, part, None)
            if isinstance(inner, list):
                setattr(new, part, self.block(inner))
        if isinstance(s, gast.Return) and self.stores:
            new.value = self.given(s.value)
        heads = [c for c in children(s) if isinstance(c, gast.expr)]
        acting = [c for c in heads if self.acts(c)]
        if not acting:
            return [new]
        calls = [n for c in acting for n in nodes_of(c) if isinstance(n, gast.Call)]
        writes = any(map(self.writes, calls))
        match s:
            case gast.For(iter=over):
                if not self.is_plain_iterable(over):
                    new.iter = self.parts(over)
            case gast.While(test=test, orelse=[]):
                if not self.is_plain(test, writes):
                    return [self.endless(new)]
            case gast.If(test=test):
                if not self.is_plain(test, writes):
                    new.test = self.part(test)
            case gast.Assign(targets=[target], value=value):
                if self.acts(target) or not self.is_plain(value, writes):
                    return self.assigned(new, target, value)
            case gast.AugAssign(target=target, value=value):
                if not (self.is_plain(target, writes) and self.is_plain(value, writes)):
                    return self.augmented(new, target, value)
                if self.acts(target):
                    return self.augmented(new, target, value)
            case gast.Return(value=value) | gast.Expr(value=value):
                if not self.is_plain(value, writes):
                    new.value = self.parts(value)
        return [new]

    def given(self, e: gast.AST | None) -> gast.AST | None:
        """What is returned, a row perhaps, by the place that it has now."""
        match e:
            case gast.Subscript(slice=index) if any(map(_is_read, nodes_of(index))):
                if self.acts(e):
                    return e
                new = copy.copy(e)
                new.slice = self.index(index)
                return new
            case gast.Tuple(elts=elts):
                new = copy.copy(e)
                new.elts = [self.given(x) for x in elts]
                return new
        return e

    def endless(self, loop: gast.While) -> gast.AST:
        around, self.before = self.before, []
        test = self.part(loop.test)
        leave = gast.If(gast.UnaryOp(gast.Not(), test), [gast.Break()], [])
        loop.body = [*self.before, placed(leave, loop.test), *loop.body]
        loop.test = gast.copy_location(gast.Constant(True, None), loop.test)
        self.before = around
        return loop

    def assigned(
        self, s: gast.Assign, target: gast.AST, value: gast.AST
    ) -> list[gast.AST]:
        if not self.acts(target):
            s.value = self.parts(value)
            return [s]
        if isinstance(target, gast.Subscript):
            s.value = self.kept(self.part(value))
            s.targets = [self.place(target)]
        return [s]

    def augmented(
        self, s: gast.AugAssign, target: gast.AST, value: gast.AST
    ) -> list[gast.AST]:
        if not isinstance(target, gast.Subscript):
            s.value = self.part(value)
            return [s]
        own = self.place(target)
        read = copy.deepcopy(own)
        read.ctx = gast.Load()
        if not self.acts(value):
            s.target = own
            return [s]
        old = self.named(read, "before")
        new = gast.BinOp(old, s.op, self.part(value))
        return [placed(gast.copy_location(assign([own], new), s), s)]

    def place(self, target: gast.Subscript) -> gast.AST:
        """A target whose place is computed now."""
        own = copy.copy(target)
        if self.acts(target.value):
            own.value = self.part(target.value)
        own.slice = self.index(target.slice)
        return own

    # ---------------------------------------------------------------- expressions

    def index(self, e: gast.AST) -> gast.AST:
        """A subscript that is computed now."""
        return each_place(e, lambda x: self.kept(self.part(x), "place"))

    def named(self, e: gast.AST, base: str = "value") -> gast.AST:
        self.changed = True
        name = fresh(base, self.taken)
        store = name_of(name, e, gast.Store())
        self.before.append(gast.copy_location(assign([store], e), e))
        return name_of(name, e)

    def kept(self, e: gast.AST, base: str = "value") -> gast.AST:
        """A value as it is now."""
        if isinstance(e, (gast.Name, gast.Constant)):
            return e
        if isinstance(e, gast.UnaryOp) and isinstance(e.operand, gast.Constant):
            return e
        return self.named(e, base)

    def part(self, e: gast.AST) -> gast.AST:
        """An expression in which nothing acts any more: it has acted before."""
        if not self.acts(e):
            return e
        made = self.parts(e)
        return self.named(made) if self.acts(made) else made

    def operands(self, nodes: Sequence[gast.AST]) -> list[gast.AST]:
        """Expressions in the order in which they are computed: what comes before one
        that acts is named.
        """
        last = max((k for k, e in enumerate(nodes) if self.acts(e)), default=-1)
        return [
            self.kept(self.part(e)) if k < last else self.part(e)
            for k, e in enumerate(nodes)
        ]

    def parts(self, e: gast.AST) -> gast.AST:
        """The same with names for what acts in its parts."""
        if not self.acts(e):
            return e
        new = copy.copy(e)
        match e:
            case gast.BinOp(left=left, right=right):
                new.left, new.right = self.operands([left, right])
            case gast.UnaryOp(operand=operand):
                new.operand = self.part(operand)
            case gast.Compare(left=left, comparators=[right]):
                new.left, right = self.operands([left, right])
                new.comparators = [right]
            case gast.Attribute(value=value) | gast.Starred(value=value):
                new.value = self.part(value)
            case gast.Subscript(value=value, slice=index):
                new.value = self.part(value)
                if self.acts(index):
                    new.value = self.kept(new.value)
                    new.slice = self.index(index)
            case gast.List(elts=elts) | gast.Tuple(elts=elts) | gast.Set(elts=elts):
                new.elts = self.operands(elts)
            case gast.Dict(values=values):
                new.values = self.operands(values)
            case gast.Call():
                return self.called(e)
            case gast.IfExp(test=test, body=body, orelse=orelse):
                new.test = self.part(test)
                if self.acts(body) or self.acts(orelse):
                    return self.chosen(new)
            case (
                gast.ListComp() | gast.GeneratorExp() | gast.SetComp() | gast.DictComp()
            ):
                first = copy.copy(e.generators[0])
                first.iter = self.parts(first.iter)
                new.generators = [first, *e.generators[1:]]
        return new

    def called(self, e: gast.Call) -> gast.AST:
        new = copy.copy(e)
        func = e.func
        owner = [func.value] if isinstance(func, gast.Attribute) else []
        given = [*owner, *e.args, *(k.value for k in e.keywords)]
        if isinstance(func, gast.Attribute) and not self.acts(func.value):
            owner, given = [], given[1:]
        made = self.operands(given)
        if owner:
            new.func = copy.copy(func)
            new.func.value = made[0]
        made = made[len(owner) :]
        new.args = made[: len(e.args)]
        new.keywords = []
        for k, value in zip(e.keywords, made[len(e.args) :], strict=True):
            keyword = copy.copy(k)
            keyword.value = value
            new.keywords.append(keyword)
        return new

    def chosen(self, e: gast.IfExp) -> gast.AST:
        """``a if test else b`` as a statement."""
        name = fresh("value", self.taken)
        sides = []
        for side in (e.body, e.orelse):
            around, self.before = self.before, []
            value = self.part(side)
            store = name_of(name, side, gast.Store())
            sides.append([*self.before, placed(assign([store], value), side)])
            self.before = around
        self.changed = True
        self.before.append(placed(gast.If(e.test, *sides), e))
        return name_of(name, e)


def _has_slice(index: gast.AST) -> bool:
    return any(isinstance(n, gast.Slice) for n in nodes_of(index))


def _is_read(n: gast.AST) -> bool:
    return isinstance(n, (gast.Subscript, gast.Call))
