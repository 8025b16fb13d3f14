"""What stars collect and spread, and which parameter of a helper a call gives what."""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import gast

from pyrev.parse.bindings import nodes_of, parameters
from pyrev.parse.rewriting.structures.counted_tuples import reads_by_number
from pyrev.parse.rewriting.structures.nodes import is_nested


def starred_names(node: gast.AST) -> frozenset[str]:
    """The names that stars spread in a definition."""
    return frozenset(
        n.value.id
        for n in nodes_of(node)
        if isinstance(n, gast.Starred)
        and isinstance(n.value, gast.Name)
        and isinstance(n.value.ctx, gast.Load)
    )


def as_definition(node: gast.Lambda) -> gast.AST:
    """A lambda as a `def`."""
    (made,) = gast.parse("def f(): pass").body
    body = gast.copy_location(gast.Return(node.body), node.body)
    made.args, made.body = node.args, [body]
    return gast.copy_location(made, node)


def collecting_by_name(node: gast.AST, names: Collection[str]) -> gast.AST:
    """The definition with its ``*args`` as a parameter that is given by name, if it is
    among these `names`; itself if not.
    """
    star = node.args.vararg
    if star is None or star.id not in names:
        return node
    made = copy.copy(node)
    made.args = copy.copy(node.args)
    made.args.vararg = None
    made.args.kwonlyargs = [star, *node.args.kwonlyargs]
    made.args.kw_defaults = [None, *node.args.kw_defaults]
    return made


@dataclass(frozen=True, slots=True)
class Given:
    """A parameter, and what a call gives it: by position, or `by_name`.

    The `name` is empty where there is no such parameter.
    """

    name: str
    value: gast.AST
    by_name: bool


def given_to(
    node: gast.AST, call: gast.Call, defaults: Mapping[str, object]
) -> Iterator[Given]:
    """What a call gives the parameters of a definition, in order; `defaults` that are
    tuples included. What ``*args`` collects is a tuple that is given by name.
    """
    spec = node.args
    positional = [p.id for p in [*spec.posonlyargs, *spec.args]]
    own, more = call.args[: len(positional)], call.args[len(positional) :]
    named = {k.arg for k in call.keywords}
    for name, value in zip(positional, own, strict=False):
        yield Given(name, value, False)
    if spec.vararg is not None and spec.vararg.id not in named:
        yield Given(spec.vararg.id, _tuple(more, call), True)
    else:
        yield from (Given("", a, False) for a in more)
    yield from (Given(k.arg or "", k.value, True) for k in call.keywords)
    left_out = {p.id for p in parameters(node)} - named - {*positional[: len(own)]}
    for name, value in defaults.items():
        if name not in left_out or not isinstance(value, tuple):
            continue
        if type(value) is tuple and all(type(v) in _NUMBERS for v in value):
            constants = [gast.Constant(v, None) for v in value]
            parts = [gast.copy_location(c, call) for c in constants]
            yield Given(name, _tuple(parts, call), True)


#: What a default that is a tuple may consist of.
_NUMBERS = (bool, int, float)


def is_taken(node: gast.AST, name: str, value: gast.AST) -> bool:
    """Is a parameter that is given `value` taken apart with the structures? A plain
    tuple is, where the text spreads it, reads its elements by a number of the run, or
    where it may be left out.
    """
    if not name:
        return False
    if not isinstance(value, gast.Tuple) or is_nested(value) or not value.elts:
        return True
    star = node.args.vararg
    if name in starred_names(node) or (star is not None and star.id == name):
        return True
    if reads_by_number(node, name):
        return True
    return name in {p.id for p in _with_defaults(node)}


def _with_defaults(node: gast.AST) -> list[gast.Name]:
    """The parameters of a definition that have defaults."""
    spec = node.args
    positional = [*spec.posonlyargs, *spec.args]
    pairs = zip(spec.kwonlyargs, spec.kw_defaults, strict=True)
    own = [p for p, default in pairs if default is not None]
    return [*positional[len(positional) - len(spec.defaults) :], *own]


def _tuple(elts: list[gast.AST], at: gast.AST) -> gast.AST:
    return gast.copy_location(gast.Tuple(elts, gast.Load()), at)
