"""Shapes with stars in them, ``(n, *x.shape[1:])``, as sums of tuples."""

from __future__ import annotations

import copy
from functools import reduce

import gast

from pyrev.parse.bindings import mapped


def with_shapes_joined(node: gast.AST) -> gast.AST:
    """The definition with sums of tuples where stars spread shapes of arrays; itself if
    there are none.

    >>> text = "def f(x, n): return np.zeros((n, *x.shape[1:], 2))"
    >>> print(gast.unparse(with_shapes_joined(gast.parse(text).body[0])).strip())
    def f(x, n):
        return np.zeros((n,) + x.shape[1:] + (2,))
    """
    match node:
        case gast.Tuple(elts=elts, ctx=gast.Load()) if any(map(_spreads_shape, elts)):
            return _joined(elts, node)
        case gast.Call(func=gast.Attribute(attr="reshape"), args=args) if any(
            map(_spreads_shape, args)
        ):
            made = copy.copy(node)
            made.args = [_joined(args, node)]
            return made
    return mapped(node, with_shapes_joined)


def _spreads_shape(e: gast.AST) -> bool:
    """Does a star spread ``x.shape``, or a part of it?"""
    match e:
        case gast.Starred(value=gast.Attribute(attr="shape")):
            return True
        case gast.Starred(
            value=gast.Subscript(value=gast.Attribute(attr="shape"), slice=gast.Slice())
        ):
            return True
    return False


def _joined(elts: list[gast.AST], at: gast.AST) -> gast.AST:
    parts: list[gast.AST] = []
    for e in elts:
        if _spreads_shape(e):
            parts.append(e.value)
        elif parts and isinstance(parts[-1], gast.Tuple):
            parts[-1].elts.append(e)
        else:
            parts.append(gast.copy_location(gast.Tuple([e], gast.Load()), at))
    return reduce(
        lambda a, b: gast.copy_location(gast.BinOp(a, gast.Add(), b), at), parts
    )
