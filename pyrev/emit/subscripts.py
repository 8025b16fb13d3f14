"""Which subscripts are known not to be negative: the others may count from the end."""

from __future__ import annotations

from collections.abc import Sequence

from pyrev.ir.nodes import (
    Call,
    Const,
    Expr,
    Extent,
    Program,
    Var,
    assigned_scalars,
    loop_indices,
)


class Subscripts:
    """Questions about the subscripts of a program.

    `known` are subscripts that are never negative, beside those of indices and sizes.
    """

    def __init__(self, program: Program, known: frozenset[Expr]) -> None:
        self.known = known
        self.indices = loop_indices(program.body)
        self.indices |= {p.name for p in program.params if not p.rank}
        self.indices -= frozenset(assigned_scalars(program.body))

    def natural(self, index: Expr) -> bool:
        """Is a subscript never negative? Then it has its place without a test."""
        return index in self.known or self.is_affine(index)

    def is_affine(self, e: Expr) -> bool:
        """Made of indices and sizes? Then `analysis.bounds` saw it is not below 0."""
        match e:
            case Const(value):
                return type(value) is int
            case Extent():
                return True
            case Var(n):
                return n in self.indices
            case Call("+" | "-" | "min" | "max" | "neg", args):
                return all(map(self.is_affine, args))
            case Call("*", (Const(), a)) | Call("*" | "//" | "%", (a, Const())):
                return self.is_affine(a)
        return False

    def may_wrap(self, op: str, args: Sequence[Expr]) -> bool:
        """Can a sum or a product of int64 pass 64 bits, for all that is known of it?"""
        return op in ("+", "-", "*") and not all(map(self.is_affine, args))
