"""Which helpers lead back to themselves, and the text with an end that they get."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping

import gast

from pyrev.ir.diagnostics import UnsupportedError
from pyrev.ir.nodes import Const
from pyrev.parse.bindings import nodes_of
from pyrev.parse.custom import rule_of
from pyrev.parse.grounds import Missing
from pyrev.parse.known_calls import is_known
from pyrev.parse.library import entries_of
from pyrev.parse.names import find
from pyrev.parse.rewriting.recursion import (
    Cycle,
    always_stops,
    as_loop,
    loops_around,
    repeats_after,
    stopped,
    with_numbers,
)
from pyrev.parse.scopes import Helper, Scope
from pyrev.parse.source import plain, read
from pyrev.parse.values import Array, Operand
from pyrev.parse.walk import Walk


def cycle_of(w: Walk, helper: Helper, scope: Scope) -> Cycle | None:
    """The functions that a helper calls and that call it, itself included; None if it
    does not lead back to itself.
    """
    if rule_of(helper.python) is not None:
        return None
    if helper.python is None or helper.original is not None:
        # What it calls may be an argument of what is around, or a method of one.
        return _found(w, helper, scope)
    if helper.key not in w.env.cycles:
        w.env.cycles[helper.key] = _found(w, helper, scope)
    return w.env.cycles[helper.key]


def with_end(
    w: Walk,
    helper: Helper,
    cycle: Cycle,
    values: Mapping[str, Operand],
    scope: Scope,
) -> Helper | None:
    """A helper of a cycle, with a loop or with an error in place of calls that would
    go on without end; None if every path of it is an error by now.
    """

    def called(e: gast.AST) -> object:
        found = _called(w, helper, e, scope)
        return None if found is None else found.key

    node = helper.source.node
    if helper.original is None and len(cycle.nodes) == 1 and cycle.least is None:
        arrays = [n for n, v in values.items() if isinstance(v, Array)]
        loop = as_loop(node, lambda e: called(e) == helper.key, arrays)
        if loop is not None:
            return helper.made(loop)
    numbers = {
        n: v.value
        for n, v in values.items()
        if isinstance(v, Const) and type(v.value) is int
    }
    node, known = with_numbers(node, numbers)
    if not known:
        levels = cycle.levels(False)
        stack = (*scope.stack, helper.key)
        keys = {k for k in cycle.keys if stack.count(k) >= levels}
        said = cycle.said(helper.name, levels)
        node = stopped(node, lambda e: called(e) in keys, said)
    if always_stops(node):
        return None
    return helper.made(node)


def _found(w: Walk, helper: Helper, scope: Scope) -> Cycle | None:
    callees: dict[object, list[Helper]] = {}
    known = {helper.key: helper}
    open_ = [helper]
    while open_:
        one = open_.pop()
        calls = [n.func for n in nodes_of(one.source.node) if isinstance(n, gast.Call)]
        found = [_called(w, one, e, scope) for e in calls]
        callees[one.key] = [f for f in found if f is not None]
        for f in callees[one.key]:
            if f.key not in known:
                known[f.key] = f
                open_.append(f)
    reach = {k: _reached(k, callees) for k in known}
    if helper.key not in reach[helper.key]:
        return None
    keys = tuple(k for k in reach[helper.key] if helper.key in reach[k])

    def leads_back(one: Helper) -> Callable[[gast.AST], bool]:
        def asked(e: gast.AST) -> bool:
            called = _called(w, one, e, scope)
            return called is not None and called.key in keys

        return asked

    nodes = tuple(known[k].source.node for k in keys)
    alone = len(keys) == 1
    return Cycle(
        keys,
        nodes,
        tuple(sum(f.key in keys for f in callees[k]) for k in keys),
        repeats_after(nodes[0], leads_back(helper)) if alone else None,
        sum(
            loops_around(n, leads_back(known[k]))
            for k, n in zip(keys, nodes, strict=True)
        ),
    )


def _reached(key: object, callees: Mapping[object, list[Helper]]) -> list[object]:
    found: list[object] = []
    open_ = [key]
    while open_:
        for f in callees[open_.pop()]:
            if f.key not in found:
                found.append(f.key)
                open_.append(f.key)
    return found


def _called(w: Walk, helper: Helper, named: gast.AST, scope: Scope) -> Helper | None:
    """The function of the language that a name in the text of a helper stands for."""
    written = helper.source.node
    if not isinstance(named, gast.Name) or named.id in w.names(written).local:
        return None
    if helper.python is not None:
        found = w.env.grounds.lookup(helper.python, named.id)
    else:
        found = find(w, named.id, helper.scope or scope)
    if isinstance(found, Helper):
        return found
    if isinstance(found, Missing):
        itself = unnamed(w, named.id, helper.python)
        return helper if itself else None
    if isinstance(found, Scope) or is_known(found) or entries_of(found):
        return None
    python = plain(found, w.env.grounds)
    if python is None or rule_of(python) is not None:
        return None
    with contextlib.suppress(UnsupportedError):
        return Helper(python.__name__, read(python, w.env.texts), python, None)
    return None


def unnamed(w: Walk, name: str, python: object) -> bool:
    """Is this the function that is read, before its name stands for anything?

    So it is while it is decorated. A call finds the name, or nothing, as CPython does.
    """
    outermost = w.env.outermost
    own = None if outermost is None else outermost.python
    return (
        not w.known.exact and own is not None and own is python and own.__name__ == name
    )
