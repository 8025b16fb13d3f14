"""A call of a function of arrays that runs as it is."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass

import gast

from pyrev.ir.nodes import ZERO, Alloc, Const, Dtype, Expr, Load, Loc, Var
from pyrev.ir.opaque import Opaque
from pyrev.parse import fence, views
from pyrev.parse.array_rules import ArrayRule
from pyrev.parse.for_kinds import of_kinds
from pyrev.parse.helpers import enter, helper_of
from pyrev.parse.names import own_name
from pyrev.parse.operands import read_operands
from pyrev.parse.rewriting.starred import as_definition
from pyrev.parse.ruled_calls import parts_of_result
from pyrev.parse.scopes import Helper, Runs, Scope, parameter_ids
from pyrev.parse.shapes import RankFact
from pyrev.parse.values import (
    Array,
    Nothing,
    Operand,
    Refused,
    Tuple,
    Value,
    whole_array,
)
from pyrev.parse.walk import Walk
from pyrev.parse.whole_arrays import allocate, make
from pyrev.runtime.opaque import Handle


def opaque_call(w: Walk, rule: ArrayRule, node: gast.Call, scope: Scope) -> Value:
    """Lower a call: a new array for each of its results."""
    at = scope.source.loc(node)
    bound = _bound(w, rule, node, at)
    if bound is None:
        return Refused()
    name = rule.function.__name__
    nodes = [a for a in bound.values() if isinstance(a, gast.AST)]
    read = iter(read_operands(w, nodes, scope))
    values = {n: next(read) if isinstance(a, gast.AST) else a for n, a in bound.items()}
    given: dict[str, Operand] = {}
    for n, value in values.items():
        if not isinstance(value, Array):
            given[n] = w.emit.keep(value, n)
        elif value.name is None or value.name in w.storage.lengths:
            given[n] = make(w, value, n, at)
        else:
            given[n] = value
    first = next((v.name for v in given.values() if isinstance(v, Array)), None)
    if first is None:
        if not w.known.exact:
            # Something is one: the arguments of a call will say what.
            w.found.lenient = True
            for a in nodes:
                if isinstance(a, gast.Name) and a.id in parameter_ids(scope):
                    _taken_for_array(w, a.id, at, scope)
        w.refuse(
            "P203",
            at,
            f"`{name}`, which runs as it is, is given no array",
            "give it an array that decides about its results",
        )
        return Refused()
    results = _results(w, rule, given, scope, at)
    if results is None:
        return Refused()
    arguments = tuple(
        Var(v.name or "", loc=at) if isinstance(v, Array) else v for v in given.values()
    )
    ranks = tuple(v.rank if isinstance(v, Array) else 0 for v in given.values())
    names = [_parameter(w, rule, h) for h in (rule.primal, rule.reverse, rule.forward)]
    found: list[Operand] = []
    for k, one in enumerate(results.values):
        own = w.emit.fresh(f"{name}_result")
        opaque = Opaque(
            names[0],
            arguments,
            ranks,
            k,
            len(results.values),
            one.number,
            names[1],
            names[2],
        )
        allocate(w, own, one.shape, None, one.dtype, at, source=first, opaque=opaque)
        found.append(
            Load(own, (ZERO,), loc=at)
            if one.number
            else whole_array(own, len(one.shape), at)
        )
    found = [
        w.emit.temp(v, f"{name}_value") if isinstance(v, Load) else v for v in found
    ]
    return Tuple(tuple(found), True) if results.several else found[0]


def _taken_for_array(w: Walk, name: str, at: Loc, scope: Scope) -> None:
    """A parameter whose rank nothing shows has one axis, until a call says more."""
    match scope.bound.get(name, Var(name)):
        case Var(own):
            w.found.facts.append(RankFact(own, 1, at, least=True))


def _bound(
    w: Walk, rule: ArrayRule, node: gast.Call, at: Loc
) -> dict[str, gast.AST | Const] | None:
    """Each parameter with its argument, in the order of the parameters."""
    signature = inspect.signature(rule.function)
    named = {k.arg: k.value for k in node.keywords}
    try:
        if any(isinstance(a, gast.Starred) for a in node.args):
            raise TypeError("`*` spreads arguments")
        bound = signature.bind(*node.args, **named)
    except TypeError as error:
        what = f"`{rule.function.__name__}`: {error}"
        helps = f"its parameters are {', '.join(signature.parameters)}"
        w.refuse("P108", at, what, helps)
        return None
    bound.apply_defaults()
    found: dict[str, gast.AST | Const] = {}
    for name, value in bound.arguments.items():
        if isinstance(value, gast.AST):
            found[name] = value
        elif type(value) in (bool, int, float):
            found[name] = Const(value)
        else:
            function = rule.function.__name__
            what = f"`{function}` needs `{name}`, and a default is a number"
            w.refuse("P108", at, what, f"give `{name}` in the call")
            return None
    return found


@dataclass(frozen=True, slots=True)
class _Like:
    """What a result is like."""

    shape: tuple[Expr, ...]
    dtype: Dtype
    number: bool


@dataclass(frozen=True, slots=True)
class _Results:
    values: tuple[_Like, ...]
    several: bool


def _results(
    w: Walk, rule: ArrayRule, given: Mapping[str, Operand], scope: Scope, at: Loc
) -> _Results | None:
    """What the results are like, as `result=` says; None if refused."""
    made = helper_of(w, rule.result, at)
    if not isinstance(made, Helper):
        return None
    if isinstance(made.source.node, gast.Lambda):  # which may return a tuple
        made = made.made(as_definition(made.source.node))
    if made.key not in w.env.fenced:
        w.env.fenced.append(made.key)
        fence.check(made.source, w.findings)
    named = [p.id for p in made.source.node.args.args]
    name = rule.function.__name__
    if len(named) != len(given):
        _refuse(w, name, at, f"has {len(given)} parameters, and result= {len(named)}")
        return None
    values = dict(zip(named, given.values(), strict=True))
    made = of_kinds(w, made, values, scope)
    with w.emit.aside() as emitted:
        inner = enter(w, made, values, {}, scope, True, at)
        returned = w.readers.body(w, inner)
    w.emit.extend(emitted)
    parts = parts_of_result(returned)
    if len(parts) != rule.results:
        what = f"returns {len(parts)} by result=, and its rule is about {rule.results}"
        _refuse(w, name, at, what)
        return None
    found: list[_Like] = []
    for part in parts:
        match part:
            case Array():
                dtype = part.dtype or views.dtype_of(views.kinds(part.element))
                found.append(_Like(part.shape, dtype, False))
            case Tuple() | Nothing() | Refused():
                _refuse(w, name, at, "returns neither arrays nor numbers by result=")
                return None
            case Const(bool() | int()):
                found.append(_Like((Const(1),), "int64", True))
            case _:
                found.append(_Like((Const(1),), "float64", True))
    return _Results(tuple(found), isinstance(returned, Tuple))


def _refuse(w: Walk, name: str, at: Loc, because: str) -> None:
    helps = "let result= return something like each result, given the same arguments"
    w.refuse("P117", at, f"`{name}`, which runs as it is, {because}", helps)


def _parameter(w: Walk, rule: ArrayRule, handle: Handle | None) -> str:
    """The hidden parameter for a function; none for none."""
    if handle is None:
        return ""
    key = ("runs", int(handle))
    if key not in w.found.captures:
        name = own_name(w, handle.checked.name)
        w.found.captures[key] = Runs(name, handle)
    return w.found.captures[key].name


def made_by_opaque(s: object) -> bool:
    """Does a statement call such a function?"""
    return isinstance(s, Alloc) and s.opaque is not None
