"""Which subscripts are known not to be negative: the others may count from the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyrev.ir.nodes import (
    Call,
    Const,
    Expr,
    Extent,
    Program,
    Var,
    assigned_scalars,
    loop_indices,
    map_expr,
)


class Subscripts:
    """Questions about the subscripts of a program.

    `known` are subscripts that are never negative, beside those of indices and sizes.
    `parts` are the names that parts of them have in the program.
    """

    def __init__(
        self,
        program: Program,
        known: frozenset[Expr],
        parts: Mapping[str, Expr] | None = None,
    ) -> None:
        self.known = known
        self.parts = parts or {}
        self.indices = loop_indices(program.body)
        self.indices |= {p.name for p in program.params if not p.rank}
        self.indices -= frozenset(assigned_scalars(program.body))

    def natural(self, index: Expr) -> bool:
        """Is a subscript never negative? Then it has its place without a test."""
        if index in self.known or self.is_affine(index):
            return True
        match index:
            case Var(n) if n in self.parts and self.parts[n] != index:
                return self.natural(self.parts[n])
        if _is_natural(index):
            return True
        return bool(self.parts) and self._spelt(index) in self.known

    def _spelt(self, e: Expr) -> Expr:
        """`e` without the names of parts."""

        def spelt(part: Expr) -> Expr:
            if isinstance(part, Var) and part.name in self.parts:
                return self._spelt(self.parts[part.name])
            return part

        return map_expr(e, spelt)

    def is_affine(self, e: Expr) -> bool:
        """Made of indices and sizes? Then `analysis.bounds` saw it is not below 0."""
        match e:
            case Const(value):
                return type(value) is int
            case Extent():
                return True
            case Var(n):
                return n in self.indices or (
                    n in self.parts and self.is_affine(self.parts[n])
                )
            case Call("+" | "-" | "min" | "max" | "neg", args):
                return all(map(self.is_affine, args))
            case Call("*", (Const(), a)) | Call("*" | "//" | "%", (a, Const())):
                return self.is_affine(a)
            case Call("where", (test, a, b)):
                return self._of_sizes(test) and self.is_affine(a) and self.is_affine(b)
        return False

    def _of_sizes(self, test: Expr) -> bool:
        """Does a test compare nothing but such expressions? ISL was told it, then."""
        match test:
            case Call("<" | "<=" | ">" | ">=" | "==" | "!=", (a, b)):
                return self.is_affine(a) and self.is_affine(b)
            case Call("and" | "or" | "not", tests):
                return all(map(self._of_sizes, tests))
        return False

    def may_wrap(self, op: str, args: Sequence[Expr]) -> bool:
        """Can a sum or a product of int64 pass 64 bits, for all that is known of it?"""
        return op in ("+", "-", "*") and not all(map(self.is_affine, args))


def _is_natural(e: Expr) -> bool:
    """Is it never negative, whatever the names in it are?"""
    match e:
        case Const(value):
            return type(value) is int and value >= 0
        case Extent() | Call("%", (_, Extent())):  # which has the sign of the size
            return True
        case Call("max", args):
            return any(map(_is_natural, args))
        case Call("min", args):
            return all(map(_is_natural, args))
    return False
