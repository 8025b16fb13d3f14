"""Which arrays decide what a program does, and which only what it computes.

Other elements in an array that steers (a table of subscripts, what a loop waits for)
can lead outside of arrays, into a loop without end or to an error. Other elements in
the rest change numbers.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyrev.ir.nodes import (
    RISKY,
    Add,
    Alloc,
    Assign,
    Call,
    Check,
    Expr,
    For,
    If,
    Load,
    Program,
    Stmt,
    While,
    exprs,
    names,
    walk,
    walk_expr,
)


def steering(program: Program) -> frozenset[str]:
    """The names whose values reach a subscript, a size, a range, a statement's test, a
    test that keeps something from being read, or an operation that may raise.

    >>> from pyrev.parse import parse
    >>> def f(x, index, out):
    ...     for i in range(out.shape[0]):
    ...         k = index[i] + 1
    ...         out[i] = 2 * x[k]
    >>> sorted(steering(parse(f).program))
    ['i', 'index', 'k']
    """
    made_of: dict[str, set[str]] = {}
    found: set[str] = set()
    for stmt in walk(program.body):
        for e in _deciding(stmt):
            found |= names(e)
        if isinstance(stmt, (Assign, Add)):
            target = stmt.target
            name = target.array if isinstance(target, Load) else target.name
            made_of.setdefault(name, set()).update(names(stmt.value))
        elif isinstance(stmt, Alloc):
            parts = names(stmt.fill) if stmt.fill is not None else frozenset[str]()
            if stmt.opaque is not None:
                parts = parts.union(*map(names, stmt.opaque.numbers))
            made_of.setdefault(stmt.array, set()).update(parts.union(stmt.sources))
    todo = [*found]
    while todo:
        new = made_of.get(todo.pop(), set()) - found
        found |= new
        todo += new
    return frozenset(found)


def _may_fail(e: Expr) -> bool:
    """Is there what a test may have to keep from running, or only arithmetic?"""
    return any(
        isinstance(part, Load) or (isinstance(part, Call) and part.op in RISKY)
        for part in walk_expr(e)
    )


def _deciding(stmt: Stmt) -> Iterator[Expr]:
    """The expressions in `stmt` whose values decide more than numbers."""
    match stmt:
        case For() | While() | If() | Check():
            yield from exprs(stmt)
        case Alloc(_, shape):
            yield from shape
    for top in exprs(stmt):
        for e in walk_expr(top):
            match e:
                case Load(_, index):
                    yield from index
                case Call("where", (test, *arms)) if any(map(_may_fail, arms)):
                    yield test
                case Call("and" | "or", (_, *later)) if any(map(_may_fail, later)):
                    yield from e.args
                case Call(op, parts) if op in RISKY:
                    yield from parts
