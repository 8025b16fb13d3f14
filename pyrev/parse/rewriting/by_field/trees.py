"""Values of tuples, field by field: a tree whose leaves are expressions."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import gast

from pyrev.ir.nodes import fresh
from pyrev.parse.bindings import literal_integer
from pyrev.parse.rewriting.by_field.kinds import Pair, Rows
from pyrev.parse.rewriting.made_texts import name_of

#: An expression, or one such tree for each field of a tuple. That of a list of tuples
#: is one of lists.
Tree = Any


def named(name: str, kind: Pair | Rows | None, taken: set[str]) -> Tree:
    """A name of its own for each field of what `name` stands for."""
    inner = kind.of if isinstance(kind, Rows) else kind
    if inner is None:
        return fresh(name, taken)
    return [named(f"{name}_{k}", f, taken) for k, f in enumerate(inner.fields)]


def flat(tree: Tree) -> list[Any]:
    """The leaves, in order."""
    if isinstance(tree, list):
        return [leaf for part in tree for leaf in flat(part)]
    return [tree]


def mapped(tree: Tree, f: Callable[[Any], Any]) -> Tree:
    """A tree of what `f` gives of the leaves."""
    if isinstance(tree, list):
        return [mapped(part, f) for part in tree]
    return f(tree)


def paired(one: Tree, other: Tree, f: Callable[[Any, Any], Any]) -> Tree:
    """A tree of what `f` gives of the leaves of two trees of one form."""
    if isinstance(one, list):
        return [paired(a, b, f) for a, b in zip(one, other, strict=True)]
    return f(one, other)


def loaded(names: Tree) -> Tree:
    """The names as expressions."""
    return mapped(names, name_of)


def written_out(tree: Tree, kind: Pair | Rows | None) -> gast.AST:
    """The tuple of the fields as an expression."""
    if not isinstance(kind, Pair):
        return tree
    parts = [written_out(t, k) for t, k in zip(tree, kind.fields, strict=True)]
    return gast.Tuple(parts, gast.Load())


def together(parts: Sequence[gast.AST], ctx: gast.AST) -> gast.AST:
    """One expression, or a tuple of several."""
    return parts[0] if len(parts) == 1 else gast.Tuple([*parts], ctx)


def subscripted(e: gast.AST, index: gast.AST, ctx: gast.AST) -> gast.AST:
    """An element of an array or a list."""
    return gast.Subscript(copy.deepcopy(e), copy.deepcopy(index), ctx)


def is_plain(e: gast.AST) -> bool:
    """Does it cost nothing to evaluate it twice, and can that not raise?"""
    match e:
        case gast.Name() | gast.Constant():
            return True
        case gast.UnaryOp(operand=inner):
            return is_plain(inner)
        case gast.BinOp(left=left, op=gast.Add() | gast.Sub() | gast.Mult(), right=r):
            return is_plain(left) and is_plain(r)
        case gast.Subscript(value=gast.Attribute(value=gast.Name(), attr="shape")):
            return literal_integer(e.slice) is not None
        case gast.Call(func=gast.Name(id="len"), args=[gast.Name()]):
            return True
    return False
