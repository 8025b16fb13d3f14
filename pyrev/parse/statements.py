"""What a statement means, loops and assignments apart."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence

import gast

from pyrev.ir.nodes import Check, Expr, If
from pyrev.ir.text import negation
from pyrev.parse import fence
from pyrev.parse.assignments import assign, define
from pyrev.parse.blocks import new_block, read_block
from pyrev.parse.calls import read_call
from pyrev.parse.exchanges import exchange_into
from pyrev.parse.grounds import Missing
from pyrev.parse.joins import (
    array_bindings,
    gives_arrays,
    inside_compound,
    join_bindings,
    rebind_arrays,
    restore_bindings,
    visible_arrays,
)
from pyrev.parse.messages import literal, message_of
from pyrev.parse.names import object_of
from pyrev.parse.points_to import note_new_behind
from pyrev.parse.reading import read_truth
from pyrev.parse.rewriting.control import EMPTY
from pyrev.parse.rewriting.maybe_none import UNSET
from pyrev.parse.rewriting.raising import RAISE
from pyrev.parse.scopes import Scope
from pyrev.parse.unset import begins_unset
from pyrev.parse.walk import Compound, Walk


def read_expression_statement(w: Walk, node: gast.Expr, scope: Scope) -> None:
    """A call whose value is dropped; a text that says what something is."""
    match node.value:
        case gast.Call() as call if fence.only_tells(call) and is_told(
            object_of(w, call.func, scope)
        ):
            pass  # what is told is no result
        case gast.Call() as call:
            read_call(w, call, scope, dropped=True)
        case gast.Constant(value=value) if value is Ellipsis or isinstance(value, str):
            pass
        case value if not fence.has_told(value):
            at = scope.source.loc(node)
            helps = "assign it, or remove the line"
            w.refuse("P115", at, "the value is not used", helps)


def is_told(function: object) -> bool:
    """Does a function only tell the user something, or Numba how many threads to use?

    Numba's functions are told by name: it need not be there.
    """
    if function is print or function is warnings.warn:
        return True
    module = str(getattr(function, "__module__", "")).split(".")[0]
    return module == "numba" and getattr(function, "__name__", "") in fence.THREADS


def read_assign(w: Walk, node: gast.Assign, scope: Scope) -> None:
    """``a = b = value``"""
    first = node.targets[0]
    if hasattr(first, EMPTY) and gives_arrays(w, first.id, scope):
        return
    if hasattr(first, UNSET) and begins_unset(w, first.id, scope):
        return
    assign(w, node.targets, node.value, scope.source.loc(node), scope)


def read_annotated(w: Walk, node: gast.AnnAssign, scope: Scope) -> None:
    """``a: int``, which binds nothing."""


def read_assert(w: Walk, node: gast.Assert, scope: Scope) -> None:
    """``assert test, message``: a check when the program runs. Or what stands for a
    `raise`.
    """
    condition = read_truth(w, node.test, scope)
    raised = getattr(node, RAISE, None)
    if raised is not None:
        read_raise(w, raised, node.msg, condition, scope)
        return
    text = gast.unparse(node.test).strip()
    if isinstance(node.msg, gast.Constant):
        text = str(node.msg.value)
    at = scope.source.loc(node)
    w.emit.add(Check(condition, "AssertionError", text, loc=at))


def read_raise(
    w: Walk, node: gast.Raise, raised: gast.AST | None, unless: Expr, scope: Scope
) -> None:
    """``raise ValueError("a message")``, unless a test holds."""
    at = scope.source.loc(node)
    match raised:
        case gast.Call(func=named, args=args, keywords=[]):
            pass
        case named:
            args = []
    kind = None if named is None else object_of(w, named, scope)
    if not (isinstance(kind, type) and issubclass(kind, Exception)):
        what = "an exception is raised again"
        if named is not None:
            what = f"`{gast.unparse(named).strip()}` is no class of exceptions"
        helps = "name the class: `raise ValueError(...)`"
        w.refuse("P102", at, what, helps)
        return
    given = [literal(w, a, scope) for a in args]
    said = None
    if any(isinstance(g, Missing) for g in given):
        said = message_of(w, args[0], unless, scope) if len(args) == 1 else None
        if said is None:
            because = "the exception is made of values of the run"
            helps = "write one text, as f-string, of numbers that have names"
            w.refuse("P102", at, because, helps)
            return
    module, name = getattr(kind, "__module__", ""), kind.__name__
    if module != "builtins":
        if getattr(sys.modules.get(module), name, None) is not kind:
            because = f"`{name}` is no name of a module"
            w.refuse("P102", at, because, "define it at the top of a module")
            return
        name = f"{module}.{name}"
    if said is not None:
        pattern, values = said
        w.emit.add(Check(unless, name, pattern, (pattern,), values, loc=at))
        return
    parts = tuple(g for g in given if not isinstance(g, Missing))
    message = str(parts[0]) if parts else ""
    w.emit.add(Check(unless, name, message, parts, loc=at))


def refuse_jump(w: Walk, node: gast.AST, scope: Scope) -> None:
    """Only a definition whose `return`s are refused keeps its jumps."""
    w.refuse(
        "P110",
        scope.source.loc(node),
        "a path of this function returns another number of values, or none",
        "return equally many values on every path, at the end too",
    )


def refuse_return(w: Walk, node: gast.Return, scope: Scope) -> None:
    """A `return` that is not at the end of a path."""
    w.refuse(
        "P110",
        scope.source.loc(node),
        "another path returns another number of values, or none",
        "return equally many values on every path, at the end too",
    )


def read_definition(w: Walk, node: gast.FunctionDef, scope: Scope) -> None:
    """A helper that is defined inside."""
    if node.decorator_list:
        w.refuse(
            "P102",
            scope.source.loc(node.decorator_list[0]),
            f"`{node.name}` is decorated inside a function",
            "define it at the top of the module, or without the decorator",
        )
    define(w, node.name, node, scope.source.loc(node), scope)


def read_if(w: Walk, node: gast.If, scope: Scope) -> None:
    """A branch, and the join behind it."""
    with inside_compound(w, scope, node) as around:
        read_branch(w, node, scope, around)


def read_branch(w: Walk, node: gast.If, scope: Scope, around: Compound) -> None:
    """Both branches of an `if`, and what names of arrays stand for behind them."""
    condition = read_truth(w, node.test, scope)
    before, seen = array_bindings(scope), visible_arrays(w, scope)
    with new_block(w) as then:
        read_block(w, node.body, scope)
        restore_bindings(w, scope, seen, around)
        ways = [w.emit.path]
    taken = rebind_arrays(scope, before)
    with new_block(w) as other:
        read_block(w, node.orelse, scope)
        restore_bindings(w, scope, seen, around)
        ways.append(w.emit.path)
    note_new_behind(w, w.emit.path, *ways)
    # Names that changed places are as they were before, or, where one branch leaves
    # the loop, as the one that goes on has them.
    target = seen[0]
    if leaves_loop(w, node.body) != leaves_loop(w, node.orelse):
        target = taken[0]
        if not leaves_loop(w, node.orelse):
            target = array_bindings(scope)[0]
    target = {n: target[n] for n in seen[0]}
    passed = array_bindings(scope)
    rebind_arrays(scope, taken)
    exchange_into(w, then, target, scope, around)
    rebind_arrays(scope, passed)
    exchange_into(w, other, target, scope, around)
    join_bindings(scope, before, taken)
    at = scope.source.loc(node)
    if other and not then:
        condition, then, other = negation(condition), other, then
    w.emit.add(If(condition, tuple(then), tuple(other), loc=at))


def leaves_loop(w: Walk, body: Sequence[gast.AST]) -> bool:
    """Does this branch end the loop that it stands in?"""
    match body:
        case [*_, gast.Assign(targets=[gast.Name(id=flag)], value=value)]:
            true = isinstance(value, gast.Constant) and value.value is True
            return true and flag in (w.env.leaving or [()])[-1]
    return False
