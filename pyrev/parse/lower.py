"""From a Python definition to a block of the IR: what reads each kind of node.

What is refused goes to a collector and a placeholder stands for it, so that one walk
reports everything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import FunctionType

import gast

from pyrev.ir.nodes import NOWHERE, Block, Loc, Return
from pyrev.ir.renaming import rename
from pyrev.ir.special import SPECIAL
from pyrev.parse import (
    assignments,
    calls,
    expressions,
    fence,
    loops,
    paths,
    statements,
    subscripts,
)
from pyrev.parse.bindings import identifiers, parameters
from pyrev.parse.blocks import read_statement
from pyrev.parse.draws import with_counts
from pyrev.parse.helpers import helper_of
from pyrev.parse.names import stored_as
from pyrev.parse.paths import read_body, read_return
from pyrev.parse.resized import with_lengths
from pyrev.parse.scopes import RESERVED, Helper, Scope
from pyrev.parse.source import Source
from pyrev.parse.streams import Stream
from pyrev.parse.values import Nothing, Refused, Tuple, Value
from pyrev.parse.walk import Readers, Walk
from pyrev.parse.whole_arrays import returned_expr


def lower_function(
    w: Walk,
    source: Source,
    python: FunctionType | None,
    functions: Mapping[str, object],
) -> Block:
    """Lower a whole definition, its final `return` included.

    The `functions` are arguments of the call that it is read for.
    """
    node = source.node
    fence.check(source, w.findings)
    w.emit.taken |= identifiers(node)
    w.env.refused |= fence.bound_by_refused(node)
    flat = w.flattened(source, python)
    w.emit.taken |= identifiers(flat)
    text = w.names(flat)
    w.emit.occupied |= text.local
    source = replace(source, node=flat)
    scope = Scope(source, python, text, text.local, None, (), False)
    scope.stack = (node if python is None else python.__code__,)
    w.env.outermost = scope
    w.found.scopes.append(scope)
    for name, function in functions.items():
        helper = helper_of(w, function, source.loc(node))
        scope.helpers[name] = helper if isinstance(helper, Helper) else function
        if isinstance(function, Stream):
            scope.helpers[name] = Stream(name, function.legacy)
    if getattr(node, "name", "") in RESERVED - SPECIAL.keys():
        w.refuse(
            "P116",
            source.loc(node),
            f"the function `{node.name}` hides what the derivative calls",
            f"give it another name, such as `{node.name}_`",
        )
    for parameter in parameters(node):
        if parameter.id in RESERVED:
            w.refuse(
                "P116",
                source.loc(parameter),
                f"parameter `{parameter.id}` hides what the derivative calls",
                f"give it another name, such as `{parameter.id}_`",
            )
        scope.bound[parameter.id] = stored_as(w, parameter.id, NOWHERE)
    emit_return(w, read_body(w, scope), w.env.returned_at)
    w.found.spelt()
    block = with_counts(w, with_lengths(w.emit.out, w.storage.lengths))
    return tuple(rename(s, w.found.spelling) for s in block)


def lower_statements(w: Walk, source: Source) -> Block:
    """Lower bare statements: free names are parameters."""
    fence.check(source, w.findings)
    source = replace(source, node=w.flattened(source, None))
    w.emit.taken |= identifiers(source.node)
    text = w.names(source.node)
    scope = Scope(source, None, text, text.local, None, (), False)
    w.env.running.append(scope)
    w.found.scopes.append(scope)
    for node in source.node.body:
        if isinstance(node, gast.Return):
            emit_return(w, *read_return(w, node, scope))
        else:
            read_statement(w, node, scope)
    w.found.spelt()
    block = with_lengths(w.emit.out, w.storage.lengths)
    return tuple(rename(s, w.found.spelling) for s in block)


def emit_return(w: Walk, value: Value, at: Loc) -> None:
    """The `return` of the program itself."""
    single = not isinstance(value, Tuple)
    parts = value.elements if isinstance(value, Tuple) else (value,)
    results = tuple(
        returned_expr(w, v, at)
        for v in parts
        if not isinstance(v, (Tuple, Nothing, Refused))
    )
    if results:
        w.emit.add(Return(results, single, loc=at))


READERS = Readers(
    expressions={
        gast.Constant: expressions.read_constant,
        gast.Name: expressions.read_name,
        gast.Attribute: expressions.read_attribute,
        gast.Subscript: subscripts.read_subscript,
        gast.BinOp: expressions.read_binary,
        gast.UnaryOp: expressions.read_unary,
        gast.Compare: expressions.read_compare,
        gast.BoolOp: expressions.read_boolean,
        gast.IfExp: expressions.read_conditional,
        gast.Call: calls.read_call,
    },
    truths={gast.BoolOp: expressions.read_boolean_truth},
    statements={
        gast.Expr: statements.read_expression_statement,
        gast.Assign: statements.read_assign,
        gast.AnnAssign: statements.read_annotated,
        gast.AugAssign: assignments.read_augmented,
        gast.For: loops.read_for,
        gast.While: loops.read_while,
        gast.If: statements.read_if,
        gast.Assert: statements.read_assert,
        gast.Break: statements.refuse_jump,
        gast.Continue: statements.refuse_jump,
        gast.Return: statements.refuse_return,
        gast.FunctionDef: statements.read_definition,
    },
    body=paths.read_body,
)
