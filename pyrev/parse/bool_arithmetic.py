"""Where NumPy's truth values would be added: ``True + True`` is True there, not 2.

An element of a bool array, and a comparison of NumPy's numbers, is a `np.bool_`, whose
``+`` is *or* and whose ``*`` is *and*. Compiled code has one kind of bool, so such sums
are refused. Python's own truth values (comparisons of Python numbers) do count.
"""

from __future__ import annotations

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
    walk,
    walk_expr,
)

_COMPARE = frozenset({"<", "<=", ">", ">=", "==", "!="})
_ASK = frozenset({"isnan", "isinf", "isfinite"})
_PASS = frozenset({"and", "or", "&", "|", "^"})


def refuse_sums_of_truths(program: Program) -> None:
    """Raise `UnsupportedError` where two truth values meet in arithmetic.

    A scalar parameter is taken for a Python number.
    """
    scalars = {
        p.name: WEAK_FLOAT if p.is_float else WEAK_INT
        for p in program.params
        if not p.rank and p.dtype != "bool"
    }
    _Truths(program, infer(program, scalars)).check()


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
        return expr_dtype(e, self.types) == "bool"

    def check(self) -> None:
        findings = Findings()
        for s in walk(self.program.body):
            sums: list[tuple[Expr, tuple[Expr, ...]]] = []
            if isinstance(s, Add):
                sums.append((s.value, (s.target, s.value)))
            for top in exprs(s):
                for e in walk_expr(top):
                    if isinstance(e, Call) and e.op in ("+", "-", "*", "neg"):
                        sums.append((e, e.args))
            for e, parts in sums:
                if all(map(self.truth, parts)) and any(map(self.numpy, parts)):
                    findings.add(
                        "P210",
                        e.loc,
                        "NumPy's truth values do not count: `True + True` is True",
                        "join them with `and` and `or`, or count with `int(...)`",
                    )
        findings.check()
