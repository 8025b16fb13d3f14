"""Helpers that return a parameter on some path: which one, where that is asked for.

``return clean(x)`` gives `x` itself where `clean` gives back what it is given. The
helper is told twice then, once for what it computes and once for what it gives back::

    def clean_object(v, v_object):
        if len(v) == 0:
            return v_object
        return -1

Only helpers that write to nothing and draw nothing are, for what they do is done twice.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from types import FunctionType

import gast

from pyrev.parse.bindings import identifiers, local_names, parameters
from pyrev.parse.grounds import lookup as stands_for
from pyrev.parse.rewriting.effects import draws, writes
from pyrev.parse.rewriting.helper_texts import definition_of
from pyrev.parse.rewriting.made_texts import Lookup, name_of, placed
from pyrev.parse.source import plain


@dataclass(frozen=True, slots=True)
class Given:
    """A call of a helper: its definition, and the arguments by parameter."""

    function: FunctionType
    node: gast.AST
    lookup: Lookup
    arguments: dict[str, gast.AST]
    #: Can't it be told which of them it gives back?
    unknown: bool


def given(call: gast.AST, local: frozenset[str], lookup: Lookup) -> Given | None:
    """The helper that is called by its name; None where none is."""
    match call:
        case gast.Call(func=gast.Name(id=name)) if name not in local:
            function = plain(lookup(name))
        case _:
            return None
    node = None if function is None else definition_of(function)
    if function is None or node is None:
        return None
    spec = node.args
    order = [p.id for p in parameters(node)]
    stars = spec.vararg is not None or spec.kwarg is not None
    stars |= any(isinstance(a, gast.Starred) for a in call.args)
    stars |= any(k.arg is None for k in call.keywords)
    arguments = dict(zip(order, call.args, strict=False))
    arguments |= {k.arg: k.value for k in call.keywords}
    look = partial(stands_for, function)
    free = identifiers(node) - local_names(node) - {node.name}
    other = any(n in local or look(n) is not lookup(n) for n in free)
    acts = writes(function) or draws(function)
    return Given(function, node, look, arguments, stars or other or acts)


def called_again(
    call: gast.Call, helper: Given, name: str, codes: Mapping[str, gast.AST]
) -> gast.Call:
    """The call of the second definition, `name`, of a helper: `codes` say which of the
    caller's parameters the arguments are.
    """
    again = gast.Call(
        name_of(name),
        [copy.deepcopy(a) for a in call.args],
        [copy.deepcopy(k) for k in call.keywords],
    )
    known = [(p, e) for p, e in codes.items() if p in helper.arguments]
    again.keywords += [gast.keyword(code_name(p), e) for p, e in known]
    return placed(again, call)


def code_name(parameter: str) -> str:
    """The parameter of a second definition that says which object another one is."""
    return f"{parameter}_object"
