"""Arithmetic of NumPy's truth values: ``True + True`` is True there, not 2.

An element of a bool array, and a comparison of NumPy's numbers, is a `np.bool_`, whose
``+`` is *or* and whose ``*`` is *and*. Compiled code has one kind of bool, so they are
written as such; differences, which NumPy refuses, and increments are refused. Python's
own truth values (comparisons of Python numbers) do count.
"""

from __future__ import annotations

from dataclasses import replace

from pyrev.ir.diagnostics import Findings
from pyrev.ir.dtypes import WEAK_FLOAT, WEAK_INT, expr_dtype, infer
from pyrev.ir.nodes import (
    Add,
    Assign,
    Call,
    Expr,
    Extent,
    Load,
    Program,
    Var,
    exprs,
    map_block,
    walk,
    walk_expr,
)

_COMPARE = frozenset({"<", "<=", ">", ">=", "==", "!="})
_ASK = frozenset({"isnan", "isinf", "isfinite"})
_PASS = frozenset({"and", "or", "&", "|", "^"})


#: What NumPy's operators of truth values are.
_MEANS = {"+": "|", "*": "&"}


def with_truths(program: Program) -> Program:
    """The program with *and* and *or* where two truth values of NumPy's are multiplied
    and added. Raises `UnsupportedError` where they meet in other arithmetic.

    A scalar parameter is taken for a Python number.
    """
    scalars = {
        p.name: WEAK_FLOAT if p.is_float else WEAK_INT
        for p in program.params
        if not p.rank and p.dtype != "bool"
    }
    truths = _Truths(program, infer(program, scalars))
    truths.check()
    return replace(program, body=map_block(program.body, truths.meant))


class _Truths:
    def __init__(self, program: Program, types: dict[str, str]) -> None:
        self.program, self.types = program, types
        self.ours: set[str] = set()
        values = [
            (s.target.name, s.value)
            for s in walk(program.body)
            if isinstance(s, Assign) and isinstance(s.target, Var)
        ]
        while True:
            more = {n for n, e in values if n not in self.ours and self.numpy(e)}
            if not more:
                break
            self.ours |= more

    def numpy(self, e: Expr) -> bool:
        """Is `e` a truth value of NumPy's kind?"""
        match e:
            case Var(name):
                return name in self.ours
            case Load(array):
                return self.types[array] == "bool"
            case Call(op, args) if op in _COMPARE or op in _ASK:
                return any(self.strong(a) for a in args)
            case Call(op, args) if op in _PASS:
                return any(map(self.numpy, args))
            case Call("abs", (a,)):
                return self.truth(a) and self.numpy(a)
            case Call("where", (_, a, b)):
                return self.numpy(a) or self.numpy(b)
        return False

    def strong(self, e: Expr) -> bool:
        """Is `e` a number of NumPy's kind?"""
        if isinstance(e, Extent):
            return False
        dtype = expr_dtype(e, self.types)
        return self.numpy(e) or dtype not in (WEAK_INT, WEAK_FLOAT, "bool")

    def truth(self, e: Expr) -> bool:
        if isinstance(e, Call) and e.op == "abs":
            return self.numpy(e)
        return expr_dtype(e, self.types) == "bool"

    def meet(self, parts: tuple[Expr, ...]) -> bool:
        """Are all truth values, and not all of Python's kind?"""
        return all(map(self.truth, parts)) and any(map(self.numpy, parts))

    def meant(self, e: Expr) -> Expr:
        """An operation of truth values as what it is."""
        if isinstance(e, Call) and e.op in _MEANS and self.meet(e.args):
            return replace(e, op=_MEANS[e.op])
        return e

    def check(self) -> None:
        findings = Findings()
        for s in walk(self.program.body):
            if isinstance(s, Add) and self.meet((s.target, s.value)):
                because = "NumPy's truth values do not count: `True + True` is True"
                helps = "join them with `or`, or count with `int(...)`"
                findings.add("P210", s.value.loc, because, helps)
            for e in (part for top in exprs(s) for part in walk_expr(top)):
                if not isinstance(e, Call) or not self.meet(e.args):
                    continue
                if e.op in ("-", "neg"):
                    because = "NumPy's truth values have no difference"
                    helps = 'write `!=` for "one of both", or count with `int(...)`'
                    findings.add("P210", e.loc, because, helps)
                elif e.op in _MEANS and e.loc == s.loc:
                    # Not the user's operator: what stands for a call of NumPy's, which
                    # may count.
                    because = "this is computed of truth values"
                    helps = "give it numbers, `mask.astype(int)`"
                    findings.add("P210", e.loc, because, helps)
        findings.check()
