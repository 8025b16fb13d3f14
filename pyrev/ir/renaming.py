"""Two small services on statements: other names, and the tests around a
subexpression.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pyrev.ir.nodes import (
    Alloc,
    Call,
    Dtype,
    Expr,
    Extent,
    For,
    Grow,
    If,
    Load,
    Promoted,
    Stmt,
    Var,
    While,
    changed,
    like,
    map_stmt_exprs,
)


def renamed_dtype(dtype: Dtype, new: Mapping[str, str]) -> Dtype:
    """A dtype with the values that it comes from renamed."""
    if isinstance(dtype, str):
        return dtype
    return Promoted(
        tuple(
            Var(new.get(p.name, p.name)) if isinstance(p, Var) else p
            for p in dtype.parts
        )
    )


def rename(stmt: Stmt, new: Mapping[str, str], extents: bool = True) -> Stmt:
    """Rename scalars and arrays in `stmt`; where they are only measured if
    `extents`.
    """

    def node(e: Expr) -> Expr:
        if isinstance(e, Var):
            return Var(new[e.name], loc=e.loc) if e.name in new else e
        if isinstance(e, Load):
            return Load(new[e.array], e.index, loc=e.loc) if e.array in new else e
        if isinstance(e, Extent) and extents and e.array in new:
            return Extent(new[e.array], e.axis, loc=e.loc)
        return e

    def target(s: Stmt) -> Stmt:
        match s:
            case Alloc():
                kind = s.dtype
                if extents or (s.source is not None and kind == like(s.source)):
                    kind = renamed_dtype(kind, new)
                source = None if s.source is None else new.get(s.source, s.source)
                array = new.get(s.array, s.array)
                opaque = s.opaque
                if opaque is not None:
                    opaque = opaque.renamed(lambda n: new.get(n, n))
                kinds = {"dtype": kind, "source": source, "opaque": opaque}
                return changed(s, array=array, **kinds)
            case Grow(array):
                return changed(s, array=new.get(array, array))
            case For() | While():
                body = tuple(map(target, s.body))
                return changed(s, index=new.get(s.index, s.index), body=body)
            case If():
                then, orelse = tuple(map(target, s.then)), tuple(map(target, s.orelse))
                return changed(s, then=then, orelse=orelse)
        return s

    return target(map_stmt_exprs(stmt, node))


def guarded_leaves(
    expr: Expr, path: tuple[Expr, ...]
) -> Iterator[tuple[tuple[Expr, ...], Expr]]:
    """Every subexpression with the tests that must hold for it to be evaluated."""
    yield path, expr
    match expr:
        case Call("where", (test, a, b)):
            yield from guarded_leaves(test, path)
            yield from guarded_leaves(a, (*path, test))
            yield from guarded_leaves(b, (*path, Call("not", (test,))))
        case Call("and", (a, b)):
            yield from guarded_leaves(a, path)
            yield from guarded_leaves(b, (*path, a))
        case Call("or", (a, b)):
            yield from guarded_leaves(a, path)
            yield from guarded_leaves(b, (*path, Call("not", (a,))))
        case Call(_, args) | Load(_, args):
            for a in args:
                yield from guarded_leaves(a, path)
