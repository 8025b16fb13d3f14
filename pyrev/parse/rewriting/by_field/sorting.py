"""Lists of tuples in order: the last field is sorted first, each time stably.

Python text in, Python text out::

    pts.sort()                    by_0 = np.array(pts_0)
                                  by_1 = np.array(pts_1)
                                  order = np.argsort(by_1)
                          ->      order = order[np.argsort(by_0[order])]
                                  for i in range(len(pts_0)):
                                      pts_0[i] = by_0[order[i]]
                                      pts_1[i] = by_1[order[i]]
"""

from __future__ import annotations

import copy
from collections.abc import Sequence

import gast

from pyrev.ir.nodes import fresh
from pyrev.parse.rewriting.made_texts import assign, name_of, numpy_call


def in_order(
    lists: Sequence[gast.AST], taken: set[str]
) -> tuple[list[gast.AST], list[str], str]:
    """The statements that find the order of tuples whose fields are in these lists; the
    names of arrays of the fields, and that of the places in order.

    `np.argsort` is stable in this language, whatever kind it is asked for.
    """
    arrays = [fresh(f"by_{k}", taken) for k in range(len(lists))]
    out = [
        _bound(a, numpy_call("array", [copy.deepcopy(e)]))
        for a, e in zip(arrays, lists, strict=True)
    ]
    order = ""
    for a in reversed(arrays):
        before, order = order, fresh("order", taken)
        if not before:
            out.append(_bound(order, numpy_call("argsort", [name_of(a)])))
            continue
        inner = numpy_call("argsort", [_at(a, name_of(before))])
        out.append(_bound(order, _at(before, inner)))
    return out, arrays, order


def put_in_order(names: Sequence[str], taken: set[str]) -> list[gast.AST]:
    """``pts.sort()`` for the lists of these names."""
    out, arrays, order = in_order([name_of(n) for n in names], taken)
    i = fresh("i", taken)
    body = [
        assign(
            [gast.Subscript(name_of(n), name_of(i), gast.Store())],
            _at(a, _at(order, name_of(i))),
        )
        for n, a in zip(names, arrays, strict=True)
    ]
    return [*out, _loop(i, _length(names[0]), body)]


def sorted_lists(
    lists: Sequence[gast.AST], names: Sequence[str], taken: set[str]
) -> list[gast.AST]:
    """Lists of these names, with the elements of the others in order."""
    out, arrays, order = in_order(lists, taken)
    i = fresh("i", taken)
    starts = [_bound(n, gast.List([], gast.Load())) for n in names]
    body = [
        gast.Expr(
            gast.Call(
                gast.Attribute(name_of(n), "append", gast.Load()),
                [_at(a, _at(order, name_of(i)))],
                [],
            )
        )
        for n, a in zip(names, arrays, strict=True)
    ]
    return [*out, *starts, _loop(i, _length(arrays[0]), body)]


def _bound(name: str, value: gast.AST) -> gast.AST:
    return assign([name_of(name, ctx=gast.Store())], value)


def _at(name: str, index: gast.AST) -> gast.AST:
    return gast.Subscript(name_of(name), index, gast.Load())


def _length(name: str) -> gast.AST:
    return gast.Call(name_of("len"), [name_of(name)], [])


def _loop(i: str, count: gast.AST, body: Sequence[gast.AST]) -> gast.AST:
    turns = gast.Call(name_of("range"), [count], [])
    return gast.For(name_of(i, ctx=gast.Store()), turns, [*body], [], None)
