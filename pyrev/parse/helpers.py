"""A helper whose body stands in place of its call: found, given arguments, entered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import gast
import numpy as np

from pyrev.ir.diagnostics import UnsupportedError
from pyrev.ir.nodes import Assign, Call, Const, Load, Loc, Var
from pyrev.parse.array_rules import array_rule_of
from pyrev.parse.bindings import (
    default_nodes,
    is_one_expression,
)
from pyrev.parse.functions import is_dtype
from pyrev.parse.grounds import MISSING
from pyrev.parse.known_calls import is_known
from pyrev.parse.library import entries_of
from pyrev.parse.names import object_of, scalar_for
from pyrev.parse.points_to import is_reachable
from pyrev.parse.scopes import Helper, Scope
from pyrev.parse.source import Source, default_values, plain, read
from pyrev.parse.streams import Stream
from pyrev.parse.ufuncs import behind_ufunc
from pyrev.parse.values import Array, Operand, Refused
from pyrev.parse.walk import Walk


def helper_of(w: Walk, function: object, at: Loc) -> Helper | Refused | None:
    """The helper that a Python function is, None if it is no plain function."""
    python = plain(function, w.env.grounds)
    loops: tuple[str, ...] = ()
    if python is None:
        python, loops = behind_ufunc(function, w.env.grounds)
    if python is None:
        return None
    try:
        source = read(python, w.env.texts)
    except UnsupportedError as error:
        for f in error.findings:
            w.refuse(f.code, at, f.because, f.help)
        return Refused()
    return Helper(python.__name__, source, python, None, loops=loops)


def function_argument(w: Walk, node: gast.AST, scope: Scope) -> object | None:
    """The helper, or the known function, that an argument names, so that functions can
    be passed on.
    """
    if isinstance(node, gast.Lambda):
        inner = Source(scope.source.file, scope.source.lines, node)
        return Helper("<lambda>", inner, None, scope)
    found = object_of(w, node, scope)
    if isinstance(found, Helper):
        return found
    helper = helper_of(w, found, scope.source.loc(node))
    if isinstance(helper, Helper):
        return helper
    if isinstance(found, Stream):
        return found
    known = is_known(found) or entries_of(found) or array_rule_of(found)
    return found if known else None


def bind_arguments(
    w: Walk, helper: Helper, node: gast.Call, scope: Scope
) -> list[tuple[str, gast.AST | Const | Call | Dtyped]] | None:
    """Each parameter with its argument, in the order of evaluation."""
    at = scope.source.loc(node)
    spec = helper.source.node.args

    def refuse(because: str, helps: str) -> None:
        w.refuse("P108", at, because, helps)

    positional = [*spec.posonlyargs, *spec.args]
    named = [p.id for p in [*spec.args, *spec.kwonlyargs]]
    every = [p.id for p in [*positional, *spec.kwonlyargs]]
    if len(node.args) > len(positional):
        refuse(
            f"`{helper.name}` takes {len(positional)} by position, and there are"
            f" {len(node.args)}",
            "leave out the others, or give them by name",
        )
        return None
    bound: list[tuple[str, gast.AST | Const | Call | Dtyped]] = [
        (p.id, a) for p, a in zip(positional, node.args, strict=False)
    ]
    for argument in node.keywords:
        if argument.arg not in named or argument.arg in dict(bound):
            refuse(
                f"`{helper.name}` cannot take `{argument.arg}` here",
                f"its parameters are {', '.join(every)}",
            )
            return None
        bound.append((argument.arg, argument.value))
    for name in every:
        if name in dict(bound):
            continue
        default = default_value(helper, name) or _default_dtype(helper, name)
        if default is None:
            refuse(
                f"`{helper.name}` needs `{name}`, and a default is a number",
                f"give `{name}` in the call",
            )
            return None
        bound.append((name, default))
    return bound


@dataclass(frozen=True, slots=True)
class Dtyped:
    """A dtype, or a class of numbers, as an argument."""

    dtype: object


def _default_dtype(helper: Helper, name: str) -> Dtyped | None:
    """The default of a parameter, None unless it is a dtype."""
    if helper.python is None:
        return None
    found = default_values(helper.python).get(name, MISSING)
    return Dtyped(found) if is_dtype(found) else None


def default_value(helper: Helper, name: str) -> Const | Call | None:
    """The default of a parameter, None unless it is a number.

    Those of a Python function belong to its own parameters: the text may have fewer by
    now, or others.
    """
    if helper.python is not None:
        return _number(default_values(helper.python).get(name, MISSING))
    return _number(_literal(default_nodes(helper.source.node).get(name)))


def enter(
    w: Walk,
    helper: Helper,
    values: Mapping[str, Operand],
    functions: Mapping[str, object],
    caller: Scope,
    cheap: bool,
    at: Loc,
) -> Scope:
    """The scope of an inlined helper: each parameter bound to its argument.

    An argument stands for the parameter where that changes nothing: a constant or
    a name that the helper does not assign, and in a helper that is one expression
    an element or a value used once. Others are evaluated first.
    """
    node = w.flattened(helper.source, helper.python)
    text = w.names(node)
    scope = Scope(
        replace(helper.source, node=node),
        helper.python,
        text,
        text.local - functions.keys(),
        helper.scope,
        (*caller.stack, helper.key),
        True,
        (*caller.site, at),
    )
    w.found.scopes.append(scope)
    scope.helpers.update(functions)
    scope.start = w.emit.path
    simple = is_one_expression(node) and cheap
    for name, value in values.items():
        lent = (
            isinstance(value, (Const, Var))
            or (simple and isinstance(value, Load))
            or (simple and text.met[name] <= 2)
        )
        if isinstance(value, Array):
            # What the helper calls otherwise later is the caller's array now.
            scope.bound[name] = value
            scope.paths[name] = scope.start
        elif lent and name not in text.assigned:
            scope.bound[name] = value
        else:
            variable = replace(scalar_for(w, name, scope), loc=value.loc)
            w.found.resembles(variable.name, value)
            w.emit.add(Assign(variable, value, loc=value.loc))
    return scope


def unseen(w: Walk, values: Iterable[Operand]) -> set[str]:
    """The arrays that were made for this call: it may do with them as it likes."""
    arrays = [v.name for v in values if isinstance(v, Array)]
    given = [name for name in arrays if name is not None]
    return {
        name
        for name in given
        if given.count(name) == 1
        and name in w.storage.allocated
        and name not in w.aliases.copies
        and not is_reachable(w, name)
    }


def _number(value: object) -> Const | Call | None:
    """A number of Python's, or one of NumPy's, which does not adapt to what is beside
    it; None for what only behaves like a number.
    """
    if isinstance(value, (np.float64, np.float32, np.int64)):
        return Call(value.dtype.name, (Const(value.item()),))
    if isinstance(value, (bool, int, float)) and type(value) in (bool, int, float):
        return Const(value)
    return None


def _literal(node: gast.AST | None) -> object:
    """The number that a literal with its signs is."""
    match node:
        case gast.Constant(value=bool() | int() | float() as value):
            return value
        case gast.UnaryOp(op=gast.USub() | gast.UAdd() as op, operand=operand):
            inner = _literal(operand)
            if isinstance(inner, (bool, int, float)):
                return -inner if isinstance(op, gast.USub) else +inner
    return MISSING
