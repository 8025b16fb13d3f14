"""What raises in CPython and would not in compiled code, and the tests for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pyrev.ir.dtypes import expr_dtype, is_float
from pyrev.ir.memo import by_identity
from pyrev.ir.nodes import TRUE, ZERO, Call, Const, Expr, Load, risky

#: For each kind the error, and what it says.
FAULTS = {
    "division": ("ZeroDivisionError", "integer division or modulo by zero"),
    "power": ("ValueError", "an integer to a negative power: make it a float"),
    "conversion": ("ValueError", "this float is not a 64-bit integer"),
}
_FAR = 2.0**63


class Faults:
    """Questions about expressions whose names have these dtypes."""

    def __init__(self, types: Mapping[str, str]) -> None:
        self.types = types

    def fails(self, e: Expr) -> bool:
        """May evaluating `e` raise, beside what `analysis.bounds` sees to?"""
        return any(self.sound(e, fault) is not None for fault in FAULTS)

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
    for test in tests:
        if test is not None and test != TRUE:
            out = test if out is None else Call("and", (out, test))
    return out
