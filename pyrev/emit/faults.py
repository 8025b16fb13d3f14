"""What raises in CPython and would not in compiled code, and the tests for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pyrev.analysis.divisors import nonzero
from pyrev.ir.dtypes import expr_dtype, is_float
from pyrev.ir.memo import by_identity
from pyrev.ir.nodes import (
    TRUE,
    ZERO,
    Block,
    Call,
    Const,
    Expr,
    Load,
    Stmt,
    exprs,
    risky,
    walk,
)

#: For each kind the error, and what it says.
FAULTS = {
    "division": ("ZeroDivisionError", "integer division or modulo by zero"),
    "power": ("ValueError", "an integer to a negative power: make it a float"),
    "conversion": ("ValueError", "this float is not a 64-bit integer"),
}
_FAR = 2.0**63


class Faults:
    """Questions about the expressions of `block`, whose names have these dtypes."""

    def __init__(self, types: Mapping[str, str], block: Block) -> None:
        self.types = types
        self._nonzero = nonzero(block)
        self._followed: list[Block] = []

    def follow(self, new: Block, old: Block) -> None:
        """Know of each statement in `new` what is known of its like in `old`."""
        for a, b in zip(walk(new), walk(old), strict=True):
            self._nonzero[id(a)] = self._nonzero.get(id(b), frozenset())
        self._followed.append(new)  # an identity is one only while its object lives

    def fails(self, e: Expr) -> bool:
        """May evaluating `e` raise, beside what `analysis.bounds` sees to?"""
        return any(self.sound(e, fault) is not None for fault in FAULTS)

    def can_fail(self, s: Stmt) -> bool:
        """May evaluating what stands directly in `s` raise?"""
        parts = exprs(s)
        return any(self.tests(s, parts, fault) is not None for fault in FAULTS)

    def tests(self, s: Stmt, parts: Iterable[Expr], fault: str) -> Expr | None:
        """A test that `parts` of the statement `s` do not fail so, if they can."""
        tests = all_of(self.sound(p, fault) for p in parts)
        return None if tests is None else self._left(s, tests)

    def _left(self, s: Stmt, tests: Expr) -> Expr | None:
        """Without what is known where `s` runs."""
        known = self._nonzero.get(id(s), frozenset())

        def left(test: Expr) -> Expr:
            match test:
                case Call("!=", (divisor, Const(0))) if divisor in known:
                    return TRUE
                case Call("and", (a, b)):
                    return all_of((left(a), left(b))) or TRUE
                case Call("or", (a, b)):
                    b = left(b)
                    return b if b == TRUE else Call("or", (a, b))
                case Call("where", (test, a, b)):
                    a, b = left(a), left(b)
                    return TRUE if a == b == TRUE else Call("where", (test, a, b))
            return test

        found = left(tests)
        return None if found == TRUE else found

    def sound(self, e: Expr, fault: str) -> Expr | None:
        """A test that evaluating `e` cannot fail so; None if it cannot anyway."""
        if not _risky(e):
            return None

        def go(part: Expr) -> Expr | None:
            return self.sound(part, fault)

        match e:
            case Call("where", (test, a, b)):
                first, one, two = go(test), go(a), go(b)
                if one is None and two is None:
                    return first
                chosen = Call("where", (test, one or TRUE, two or TRUE))
                return all_of((first, chosen))
            case Call(("and" | "or") as op, (a, b)):
                first, second = go(a), go(b)
                if second is None:
                    return first
                skipped = Call("not", (a,)) if op == "and" else a
                return all_of((first, Call("or", (skipped, second))))
            case Call(_, args):
                return all_of([*map(go, args), self.own_test(e, fault)])
            case Load(_, index) if fault != "conversion":
                # What a subscript is converted from is seen to before the call.
                return all_of(map(go, index))
        return None

    def own_test(self, e: Call, fault: str) -> Expr | None:
        """The test that the operation `e` itself does not fail so."""
        match fault, e.op, e.args:
            case "division", "//" | "%", (_, b):
                whole = not is_float(expr_dtype(e, self.types))
                if whole and not (isinstance(b, Const) and b.value):
                    return Call("!=", (b, ZERO))
            case "power", "**", (_, b):
                whole = not is_float(expr_dtype(e, self.types))
                if whole and not (isinstance(b, Const) and b.value >= 0):
                    return Call(">=", (b, ZERO))
            case "conversion", "int" | "round", (x,):
                if is_float(expr_dtype(x, self.types)):
                    low, high = (
                        Call(">", (x, Const(-_FAR))),
                        Call("<", (x, Const(_FAR))),
                    )
                    return Call("and", (low, high))
        return None


#: Is there an operation that has an `own_test`?
_risky = by_identity(risky)


def all_of(tests: Iterable[Expr | None]) -> Expr | None:
    """All of these tests in one; None if there is none."""
    out: Expr | None = None
    for test in dict.fromkeys(tests):
        if test is not None and test != TRUE:
            out = test if out is None else Call("and", (out, test))
    return out
