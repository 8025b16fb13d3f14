"""Expressions that are nested deep, cut into statements.

    y = x * 0.5 + x * 1.5 + ... + x * 699.5

becomes, with as many operations in each piece as may be nested::

    part = x * 0.5 + ... + x * 28.5
    part_2 = part + x * 29.5 + ... + x * 58.5
    ...

so that no pass recurses deeper than a piece, and the derivative, of which each level
may repeat the ones below it, stays as short as the function. What is evaluated, in
which order and under which condition is as before: an arm of a conditional expression
that is cut becomes a branch. Subscripts stay whole, which the analyses read, and so do
the tests of `while` loops, which are evaluated again and again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pyrev.ir.nodes import (
    Add,
    Alloc,
    Assign,
    Block,
    Call,
    Check,
    Const,
    Expr,
    Extent,
    For,
    If,
    Return,
    Stmt,
    Tell,
    Var,
    While,
    blocks,
    fresh,
    rebuild,
    with_blocks,
)

#: Operations inside each other that one expression may hold.
MOST = 30

#: Operations whose derivative repeats an operand: pieces of them are shorter.
_WEIGHTS = {"**": 6} | dict.fromkeys(["max", "min", "maximum", "minimum"], 4)


def shallow(block: Block, taken: set[str]) -> Block:
    """`block` with the expressions in it cut where they are nested deeper than `MOST`.

    New scalars get names that are not `taken`.
    """
    return _Cutter(taken).block(block)


@dataclass(slots=True)
class _Cutter:
    taken: set[str]

    def block(self, block: Block) -> Block:
        found: list[Stmt] = []
        for s in block:
            if inner := blocks(s):
                s = with_blocks(s, tuple(self.block(b) for b in inner))
            found += self.statement(s)
        return tuple(found)

    def statement(self, s: Stmt) -> list[Stmt]:
        """The pieces of the statement's expressions, and the statement."""
        out: list[Stmt] = []
        match s:
            case Assign() | Add() | Tell():
                s = replace(s, value=self.cut(s.value, out))
            case Alloc():
                shape = tuple(self.cut(e, out) for e in s.shape)
                fill = None if s.fill is None else self.cut(s.fill, out)
                opaque = s.opaque
                if opaque is not None:
                    opaque = opaque.mapped(lambda e: self.cut(e, out))
                s = replace(s, shape=shape, fill=fill, opaque=opaque)
            case For():
                lo, hi, step = (self.cut(e, out) for e in (s.lo, s.hi, s.step))
                s = replace(s, lo=lo, hi=hi, step=step)
            case If() | Check():
                s = replace(s, test=self.cut(s.test, out))
            case Return():
                s = replace(s, values=tuple(self.cut(e, out) for e in s.values))
            case While():
                pass
        return [*out, s]

    def cut(self, expr: Expr, out: list[Stmt]) -> Expr:
        """`expr` for a statement behind `out`, which receives the pieces."""
        return self._cut(expr, out)[0] if _is_deep(expr) else expr

    def _cut(self, expr: Expr, out: list[Stmt]) -> tuple[Expr, int]:
        """The expression, and how many operations in it are inside each other."""
        if not isinstance(expr, Call):
            return expr, 0
        if expr.op in ("and", "or", "where"):
            return self._decided(expr, out)
        args: list[Expr] = []
        depth = 0
        for arg in expr.args:
            pieces: list[Stmt] = []
            new, nested = self._cut(arg, pieces)
            if nested >= MOST:
                new, nested = self._piece(new, pieces), 0
            if pieces:  # what stands before it is evaluated before it
                args = [self._held(a, out) for a in args]
                out += pieces
            args.append(new)
            depth = max(depth, nested + _WEIGHTS.get(expr.op, 1))
        return _with(expr, args), depth

    def _decided(self, expr: Call, out: list[Stmt]) -> tuple[Expr, int]:
        """An operation whose first operand decides which others are evaluated."""
        first, depth = self._cut(expr.args[0], out)
        if depth >= MOST:
            first, depth = self._piece(first, out), 0
        arms: list[tuple[list[Stmt], Expr]] = []
        for arg in expr.args[1:]:
            pieces: list[Stmt] = []
            new, nested = self._cut(arg, pieces)
            if nested >= MOST:
                new, nested = self._piece(new, pieces), 0
            arms.append((pieces, new))
            depth = max(depth, nested)
        if not any(pieces for pieces, _ in arms):
            return _with(expr, [first, *(value for _, value in arms)]), depth + 1
        at = expr.loc
        result = Var(fresh("chosen", self.taken), loc=at)
        branches = [(*pieces, Assign(result, value, loc=at)) for pieces, value in arms]
        if expr.op == "where":
            out.append(If(first, branches[0], branches[1], loc=at))
        else:
            out.append(Assign(result, first, loc=at))
            go_on = result if expr.op == "and" else Call("not", (result,), loc=at)
            out.append(If(go_on, branches[0], loc=at))
        return result, 0

    def _held(self, value: Expr, out: list[Stmt]) -> Expr:
        if isinstance(value, (Const, Var, Extent)):
            return value
        return self._piece(value, out)

    def _piece(self, value: Expr, out: list[Stmt]) -> Var:
        piece = Var(fresh("part", self.taken), loc=value.loc)
        out.append(Assign(piece, value, loc=value.loc))
        return piece


def _with(expr: Call, args: Sequence[Expr]) -> Expr:
    same = all(a is b for a, b in zip(args, expr.args, strict=True))
    return expr if same else rebuild(expr, tuple(args))


def _is_deep(expr: Expr) -> bool:
    """Are more than `MOST` operations inside each other?"""
    todo = [(expr, 0)]
    while todo:
        e, around = todo.pop()
        if isinstance(e, Call):
            depth = around + _WEIGHTS.get(e.op, 1)
            if depth > MOST:
                return True
            todo += [(c, depth) for c in e.args]
    return False
