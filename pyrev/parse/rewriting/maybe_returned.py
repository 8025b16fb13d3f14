"""Helpers that return None on some paths: they give a truth value besides.

Python text in, Python text out. Where what ``hit(ray)`` gives is compared with None::

    t = hit(ray)                      t_known, t = hit(ray)
    if t is None:             ->      if not t_known:
        continue                          continue
    s += t                            s += t

and `hit` returns ``(True, t)`` for `t`, and ``(False, 0)`` for None. Here the calls are
noted, and the names of several values taken apart; the flag is given by `maybe_none`.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator

import gast

from pyrev.ir.nodes import fresh
from pyrev.parse.bindings import (
    bindings,
    identifiers,
    is_none,
    literal_integer,
    local_names,
    mapped,
    nodes_of,
)
from pyrev.parse.rewriting.found_calls import MAYBE_FOUND, WITH_FOUND
from pyrev.parse.rewriting.helper_texts import definition_of, looking_at
from pyrev.parse.rewriting.lists.uses import is_named
from pyrev.parse.rewriting.made_texts import (
    Lookup,
    assign,
    name_of,
    object_named,
    placed,
)
from pyrev.parse.rewriting.maybe_none import may_be_set_to_none
from pyrev.parse.rewriting.structures.nodes import own_returns


def with_found(node: gast.AST, lookup: Lookup) -> gast.AST:
    """The definition with truth values from calls that may give None, where that is
    asked for; itself if there are none.
    """
    if not isinstance(getattr(node, "body", None), list):
        return node
    calls = _Calls(node, lookup)
    asked = {n: k for n in _asked(node) if (k := calls.values_of(n, node)) is not None}
    if not asked:
        return node
    taken = {*identifiers(node)}
    several = {
        n: [fresh(f"{n}_{k}", taken) for k in range(count)]
        for n, count in asked.items()
        if count > 1
    }
    if not all(_is_taken_apart(node, n, len(own)) for n, own in several.items()):
        return node
    made = copy.copy(node)
    made.body = _Caller(calls, {*asked}, several, taken).block(node.body)
    return made


def finding(node: gast.AST, lookup: Lookup) -> gast.AST:
    """The definition of a helper that gives a truth value besides: see above."""
    calls = _Calls(node, lookup)
    count = calls.values(node)
    if count is None:  # what is around it has been decided: it gives one value now
        return node
    made = copy.copy(node)
    made.body = [r for s in node.body for r in _found(s, calls, count, node)]
    if not _ends(node.body):
        made.body.append(placed(_nothing(count), node.body[-1]))
    return made


def values_found(node: gast.AST, lookup: Lookup) -> int:
    """How many values a function gives, if it gives None on some paths; else zero."""
    body = getattr(node, "body", None)
    if not isinstance(body, list):
        return 0
    return _Calls(node, lookup).values(node) or 0


class _Calls:
    """Which calls in a definition may give None, and how many values otherwise."""

    def __init__(self, node: gast.AST, lookup: Lookup) -> None:
        self.lookup, self.local = lookup, local_names(node)
        every = bindings(node)
        self.inner = {
            n.name: n
            for n in nodes_of(node)
            if isinstance(n, gast.FunctionDef)
            and n is not node
            and every.count(n.name) == 1
        }

    def of(self, e: gast.AST | None) -> int | None:
        """How many values a call gives that may give None; None for other things."""
        if not isinstance(e, gast.Call):
            return None
        name = getattr(e.func, "id", None)
        if name in self.inner:
            return self._looked_at(self.inner[name], self.inner[name])
        function = object_named(e.func, self.local, self.lookup)
        definition = definition_of(function)
        if definition is None:
            return None
        return self._looked_at(function, definition)

    def _looked_at(self, key: object, definition: gast.AST) -> int | None:
        with looking_at(key, "found") as first:
            return self.values(definition) if first else None

    def values(self, definition: gast.AST) -> int | None:
        """How many values a function gives that may give None; None of others."""
        unset = may_be_set_to_none(definition)
        none, counts = not _ends(definition.body), set()
        for r in own_returns(definition):
            for value in _ways(r.value):
                if _is_none(value):
                    none = True
                elif any(map(_is_truth, getattr(value, "elts", [value]))):
                    return None  # what stands for None is a number
                elif isinstance(value, gast.Tuple):
                    counts.add(len(value.elts))
                elif (inner := self.of(value)) is not None:
                    none = True
                    counts.add(inner)
                else:
                    none = none or is_maybe(value, unset)
                    counts.add(1)
        return counts.pop() if none and len(counts) == 1 else None

    def values_of(self, name: str, node: gast.AST) -> int | None:
        """How many values a name gets from such calls; None if it gets others."""
        found: set[int | None] = set()
        for s in nodes_of(node):
            match s:
                case gast.Assign(targets=[gast.Name(id=own)], value=value) if (
                    own == name
                ):
                    if not _is_none(value):
                        found.add(self.of(value))
        # Of a number or an array the name may get others, too.
        if found - {None} == {1}:
            return 1
        count = found.pop() if len(found) == 1 else None
        stores = sum(
            is_named(n, name) and isinstance(n.ctx, gast.Store) for n in nodes_of(node)
        )
        assigned = sum(
            isinstance(s, gast.Assign) and [*map(_id, s.targets)] == [name]
            for s in nodes_of(node)
        )
        return count if stores == assigned else None


def is_maybe(value: gast.AST, unset: set[str]) -> bool:
    """Is this a name that is None on some paths?"""
    return isinstance(value, gast.Name) and value.id in unset


class _Caller:
    """The statements of a definition with the names of what was found."""

    def __init__(
        self,
        calls: _Calls,
        asked: set[str],
        several: dict[str, list[str]],
        taken: set[str],
    ) -> None:
        self.calls, self.asked, self.several = calls, asked, several
        self.taken = taken

    def block(self, stmts: list[gast.AST]) -> list[gast.AST]:
        return [made for s in stmts for made in self._statement(s)]

    def _statement(self, s: gast.AST) -> list[gast.AST]:
        if isinstance(s, (gast.FunctionDef, gast.ClassDef)):
            return [s]
        match s:
            case gast.Assign(targets=[gast.Name(id=name)], value=value) if (
                name in self.asked and self.calls.of(value) is not None
            ):
                return self._called(s, name, value)
            case gast.Assign(targets=[gast.Name(id=name)], value=value) if (
                name in self.several and _is_none(value)
            ):
                return [
                    placed(assign([name_of(n, ctx=gast.Store())], _none()), s)
                    for n in self.several[name]
                ]
        s = mapped(s, self._expression)
        for part in ("body", "orelse"):
            inner = getattr(s, part, None)
            if isinstance(inner, list):
                setattr(s, part, self.block(inner))
        return [s]

    def _called(self, s: gast.AST, name: str, call: gast.AST) -> list[gast.AST]:
        call = copy.copy(mapped(call, self._expression))
        setattr(call, WITH_FOUND, True)
        names = [name_of(n, ctx=gast.Store()) for n in self.several.get(name, [name])]
        whole = gast.Tuple(names, gast.Store()) if len(names) > 1 else names[0]
        made = assign([whole], call)
        setattr(made, MAYBE_FOUND, True)
        return [placed(made, s)]

    def _expression(self, e: gast.AST) -> gast.AST:
        """An expression with the names of several values for the one of all."""
        if isinstance(e, (gast.stmt, gast.FunctionDef)):
            return e
        match e:
            case gast.Subscript(value=gast.Name(id=name), slice=index) if (
                name in self.several
            ):
                k = literal_integer(index)
                assert k is not None
                return placed(name_of(self.several[name][k]), e)
            case gast.Compare(left=gast.Name(id=name)) if name in self.several:
                made = copy.copy(e)
                made.left = placed(name_of(self.several[name][0]), e.left)
                return made
            case gast.Name(id=name) if name in self.several:
                parts = [name_of(n) for n in self.several[name]]
                return placed(gast.Tuple(parts, gast.Load()), e)
        return mapped(e, self._expression)


# ------------------------------------------------------------------ what is asked


def _asked(node: gast.AST) -> set[str]:
    """The names that are compared with None."""
    return {
        n.left.id
        for n in nodes_of(node)
        if isinstance(n, gast.Compare)
        and isinstance(n.left, gast.Name)
        and all(isinstance(op, (gast.Is, gast.IsNot)) for op in n.ops)
        and all(map(_is_none, n.comparators))
    }


def _is_taken_apart(node: gast.AST, name: str, count: int) -> bool:
    """Is a name of several values only compared with None and taken apart?"""
    fitting = 0
    for n in nodes_of(node):
        match n:
            case gast.Assign(targets=[gast.Name(id=own)]) if own == name:
                fitting += 1
            case gast.Assign(
                targets=[gast.Tuple(elts=elts)], value=gast.Name(id=own)
            ) if own == name and len(elts) == count:
                fitting += 1
            case gast.Compare(left=gast.Name(id=own), comparators=[other]) if (
                own == name and _is_none(other)
            ):
                fitting += 1
            case gast.Subscript(
                value=gast.Name(id=own), slice=index, ctx=gast.Load()
            ) if own == name:
                k = literal_integer(index)
                fitting += k is not None and -count <= k < count
    return fitting == sum(is_named(n, name) for n in nodes_of(node))


# ------------------------------------------------------------------ what is given


def _found(s: gast.AST, calls: _Calls, count: int, node: gast.AST) -> list[gast.AST]:
    """A statement of a helper that gives a truth value besides."""
    if isinstance(s, (gast.FunctionDef, gast.ClassDef)):
        return [s]
    if isinstance(s, gast.Return):
        return [placed(r, s) for r in _given(s.value, calls, count, node)]
    s = copy.copy(s)
    for part in ("body", "orelse"):
        inner = getattr(s, part, None)
        if isinstance(inner, list):
            setattr(s, part, [r for t in inner for r in _found(t, calls, count, node)])
    return [s]


def _given(
    value: gast.AST | None, calls: _Calls, count: int, node: gast.AST
) -> list[gast.AST]:
    if _is_none(value):
        return [_nothing(count)]
    if isinstance(value, gast.IfExp):
        ways = [_given(v, calls, count, node) for v in (value.body, value.orelse)]
        return [gast.If(value.test, *ways)]
    if calls.of(value) is not None:
        call = copy.copy(value)
        setattr(call, WITH_FOUND, True)
        return [gast.Return(call)]
    values = value.elts if isinstance(value, gast.Tuple) else [value]
    there = gast.Return(gast.Tuple([_truth(True), *values], gast.Load()))
    if not is_maybe(value, may_be_set_to_none(node)):
        return [there]
    test = gast.Compare(copy.copy(value), [gast.Is()], [_none()])
    return [gast.If(test, [_nothing(count)], [there])]


def _nothing(count: int) -> gast.AST:
    zeros = [gast.Constant(0, None) for _ in range(count)]
    return gast.Return(gast.Tuple([_truth(False), *zeros], gast.Load()))


def _truth(value: bool) -> gast.AST:
    return gast.Constant(value, None)


def _is_truth(value: gast.AST) -> bool:
    match value:
        case gast.Compare() | gast.BoolOp() | gast.UnaryOp(op=gast.Not()):
            return True
        case gast.Constant(value=bool()):
            return True
    return False


def _none() -> gast.AST:
    return gast.Constant(None, None)


def _is_none(value: gast.AST | None) -> bool:
    return value is None or is_none(value)


def _ways(value: gast.AST | None) -> Iterator[gast.AST | None]:
    if isinstance(value, gast.IfExp):
        yield from _ways(value.body)
        yield from _ways(value.orelse)
    else:
        yield value


def _ends(body: list[gast.AST]) -> bool:
    """Does a block end with a `return` or a `raise` on every path?"""
    match body[-1:]:
        case [gast.Return() | gast.Raise()]:
            return True
        case [gast.If(body=then, orelse=[_, *_] as other)]:
            return _ends(then) and _ends(other)
        case [gast.While(test=gast.Constant(value=test), body=inner)] if test:
            return not any(
                isinstance(n, gast.Break) for s in inner for n in nodes_of(s)
            )
    return False


def _id(target: gast.AST) -> object:
    return getattr(target, "id", None)
