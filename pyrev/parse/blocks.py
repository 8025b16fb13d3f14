"""Statements one by one, and the blocks of the program that they are written to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import gast

from pyrev.ir.nodes import Stmt
from pyrev.parse.copies import end_block, settle_due
from pyrev.parse.listed import end_lists
from pyrev.parse.scopes import Scope
from pyrev.parse.walk import Walk


@contextmanager
def new_block(w: Walk) -> Iterator[list[Stmt]]:
    """Statements written inside are a block of their own."""
    with w.emit.inner(), w.emit.aside() as made:
        yield made
        end_block(w)
        end_lists(w)


def read_statement(w: Walk, node: gast.AST, scope: Scope) -> None:
    """Read a statement; behind it copies and what they stand for are equal."""
    around = scope.current, scope.since
    begin(w, node, scope)
    reader = w.readers.statements.get(type(node))
    if reader is not None:
        reader(w, node, scope)
    settle_due(w, node)
    scope.current, scope.since = around


def begin(w: Walk, node: gast.AST, scope: Scope) -> None:
    """This is the statement of a function that is read now."""
    scope.current, scope.since = node, len(w.storage.allocated)


def read_block(w: Walk, body: Sequence[gast.AST], scope: Scope) -> None:
    """The statements of an inner block: a helper defined here ends with it."""
    helpers = dict(scope.helpers)
    w.env.depth += 1
    for node in body:
        read_statement(w, node, scope)
    w.env.depth -= 1
    scope.helpers = helpers
