"""Expressions over whole arrays: an element's expression for all iterations at once.

What the loop would not evaluate, for a test says so, is evaluated here and dropped:
it must not fail, nor warn. Subscripts point somewhere inside then, and arguments are
numbers at which nothing happens.
"""

from __future__ import annotations

import ast

from pyrev.emit.numpy.elements import Elements, inverted
from pyrev.emit.numpy.place import Guard, Value
from pyrev.ir.dtypes import expr_dtype, is_float
from pyrev.ir.nodes import (
    ZERO,
    Call,
    Const,
    Expr,
    Load,
    Var,
    map_expr,
    names,
    walk_expr,
)
from pyrev.ir.primitives import ABOVE_ONE, CASTS, POSITIVE, PRIMITIVES
from pyrev.ir.text import (
    BINARY,
    COMPARE,
    call,
    expr_tree,
    minus,
    name,
    negated,
    numpy_name,
)


class Values(Elements):
    """The values of one statement."""

    def value(self, e: Expr) -> Value:
        """`e` for all iterations."""
        if not self.axes_of(e):
            return self.once(e)
        match e:
            case Var(n) if n in self.at.spread:
                return self.scalar(n)
            case Var(n):
                self.at.indices[n] = self.by_name[n]
                return Value(name(n), (n,))
            case Load():
                return self.load(e)
            case Call(op, args):
                return self.call(e, op, args)
        raise AssertionError(e)

    def call(self, e: Call, op: str, args: tuple[Expr, ...]) -> Value:
        """An operation on whole arrays."""
        match op:
            case "where":
                return self.where(*args)
            case "and" | "or":
                return self.logical(op, *args)
            case "not":
                (x,) = args
                if self.dtype(x) == "bool":
                    return self.joined(
                        lambda t: ast.UnaryOp(ast.Invert(), t), self.value(x)
                    )
                return self.value(Call("==", (x, ZERO)))
            case "min" | "max":
                return self.extreme(op, args)
            case "neg":
                return self.joined(minus, self.number(args[0]))
            case "stop_gradient" | "by_rule" | "value" | "once" | "probe":
                return self.value(args[0])
            case "along" | "along_steep" | "drawn":
                return self.value(args[0])
            case "int" | "round":
                return self.integer(op, args[0])
            case "float":
                (x,) = args
                if is_float(self.dtype(x)):
                    return self.value(x)
                return self.cast("float64", self.value(x))
            case "bool":
                return self.truth(args[0])
            case "abs":
                return self.joined(lambda t: call("np.abs", t), self.number(args[0]))
            case "+" | "-":
                a, b = args
                positive = negated(b)
                if positive is not None and self.dtype(positive) != "bool":
                    flipped = ast.Sub() if op == "+" else ast.Add()
                    return self.binary(flipped, self.number(a), self.number(positive))
        if op in CASTS:
            return self.cast(op, self.value(args[0]))
        if op in ("//", "%", "<<", ">>") and not is_float(self.dtype(e)):
            self.divided(op, args[1])
        if op in BINARY:
            bits = op in ("&", "|", "^")
            one, two = (self.value(x) if bits else self.number(x) for x in args)
            if op in ("/", "//", "%"):
                two = self.quietly(args[1], two, 1)
            if op == "**" and not (isinstance(args[1], Const) and args[1].value >= 0):
                one = self.quietly(args[0], one, 1)
            return self.binary(BINARY[op](), one, two)
        if op in COMPARE:
            sides = map(self.value, args)
            return self.joined(
                lambda s, t: ast.Compare(s, [COMPARE[op]()], [t]), *sides
            )
        if op == "~":
            return self.joined(
                lambda t: ast.UnaryOp(ast.Invert(), t), self.value(args[0])
            )
        return self.function(op, args)

    def function(self, op: str, args: tuple[Expr, ...]) -> Value:
        """A function of NumPy's, of whole arrays."""
        known = PRIMITIVES.get(op)
        called = known.python if known is not None else op
        if known is None or not called.startswith("np."):
            self.refuse(f"NumPy has no `{called}` of whole arrays")
        found = [self.number(a) for a in args]
        if op in _NOISY:
            low = {POSITIVE: 1.0, ABOVE_ONE: 2.0}.get(known.domain, 0.0)
            found[-1] = self.quietly(args[-1], found[-1], low)
        return self.joined(lambda *t: call(called, *t), *found)

    def binary(self, op: ast.operator, a: Value, b: Value) -> Value:
        """``a op b``"""
        return self.joined(lambda s, t: ast.BinOp(s, op, t), a, b)

    def dtype(self, e: Expr) -> str:
        """The dtype of an element's expression."""
        return expr_dtype(e, self.at.types)

    def number(self, e: Expr) -> Value:
        """`e` in arithmetic, where a truth value is a number."""
        found = self.value(e)
        if found.axes and self.dtype(e) == "bool":
            return self.cast("int64", found)
        return found

    def cast(self, dtype: str, v: Value) -> Value:
        """`v` as an array, or a number, of this dtype."""
        if not v.axes:
            return Value(call(numpy_name(dtype), v.tree))
        attribute = ast.Attribute(v.tree, "astype", ast.Load())
        return Value(ast.Call(attribute, [name(numpy_name(dtype))], []), v.axes)

    def integer(self, op: str, x: Expr) -> Value:
        """``int(x)`` or ``round(x)``."""
        found = self.number(x)
        if not is_float(self.dtype(x)):
            return found
        found = self.quietly(x, found, 0.0)
        if op == "round":
            found = self.joined(lambda t: call("np.rint", t), found)
        return self.cast("int64", found)

    def divided(self, op: str, divisor: Expr) -> None:
        """See that no integer is divided by zero: whole arrays go on then."""
        if op in ("<<", ">>") or isinstance(divisor, Const) and divisor.value:
            return
        if not self.at.sizes.is_size(divisor):
            self.refuse("whole arrays pass over integers that are divided by zero")
        if not self.at.is_never_zero(divisor):
            self.at.divisors.append(divisor)

    def truth(self, test: Expr) -> Value:
        """`test` as an array of truth values."""
        if self.dtype(test) == "bool":
            return self.value(test)
        return self.value(Call("!=", (test, ZERO)))

    def logical(self, op: str, a: Expr, b: Expr) -> Value:
        """``a and b`` or ``a or b``, of truth values with ``&`` and ``|``."""
        guard = a if op == "and" else Call("not", (a,))
        if self.dtype(a) == self.dtype(b) == "bool":
            first = self.value(a)
            second = self.under(guard, b)
            return self.binary(BINARY["&" if op == "and" else "|"](), first, second)
        yes, no = (b, a) if op == "and" else (a, b)
        return self.where(Call("!=", (a, ZERO)), yes, no)

    def extreme(self, op: str, args: tuple[Expr, ...]) -> Value:
        """Python's ``min`` or ``max``: of two, the first, but where that is worse."""
        first, *rest = args
        found, kind = self.value(first), self.dtype(first)
        for e in rest:
            other = self.value(e)
            floats = is_float(kind) and is_float(self.dtype(e))
            if not floats or isinstance(e, Const):
                ufunc = "np.minimum" if op == "min" else "np.maximum"
                found = self.joined(lambda s, t, u=ufunc: call(u, s, t), found, other)
            else:
                # A comparison with nan is false: then the first is the one.
                less = ast.Lt() if op == "min" else ast.Gt()
                found = self.joined(
                    lambda s, t, o=less: call(
                        "np.where", ast.Compare(t, [o], [s]), t, s
                    ),
                    found,
                    other,
                )
            kind = expr_dtype(Call(op, args), self.at.types)
        return found

    def where(self, test: Expr, yes: Expr, no: Expr) -> Value:
        """``np.where``; a test that the branches need has a name."""
        if not self.axes_of(test):
            return self.one_of(test, yes, no)
        tested, label = self.truth(test), ast.Name("", ast.Load())

        def naming() -> None:
            if not label.id:
                label.id = self.at.label(test, tested)

        told = Value(label, tested.axes)
        of_indices = self.of_indices(test)
        a = self.guarded(Guard(told, test, of_indices, naming), yes)
        fails = Guard(inverted(told), Call("not", (test,)), of_indices, naming)
        b = self.guarded(fails, no)
        first = told if label.id else tested
        return self.joined(lambda *t: call("np.where", *t), first, a, b)

    def one_of(self, test: Expr, yes: Expr, no: Expr) -> Value:
        """A choice that is the same for all iterations."""
        self.once(test)
        parts = [self.value(yes), self.value(no)]
        axes = self.sorted({a for v in parts for a in v.axes})
        trees = [v.over(axes) for v in parts]
        for k, v in enumerate(parts):
            if v.axes != axes:  # both are arrays of one shape
                size = [expr_tree(self.at.sizes.length(self.by_name[a])) for a in axes]
                shape = size[0] if len(size) == 1 else ast.Tuple(size, ast.Load())
                trees[k] = call("np.full", shape, trees[k])
        tree = expr_tree(self.at.plain(map_expr(test, self.fixed)))
        of = parts[0].of or parts[1].of
        return Value(ast.IfExp(tree, trees[0], trees[1]), axes, of=of)

    def under(self, test: Expr, e: Expr) -> Value:
        """`e`, which is used where `test` holds."""
        if not self.axes_of(test):
            return self.value(e)
        return self.guarded(Guard(self.truth(test), test, self.of_indices(test)), e)

    def guarded(self, guard: Guard, e: Expr) -> Value:
        """`e`, which is used under one more test."""
        self.guards.append(guard)
        found = self.value(e)
        self.guards.pop()
        return found

    def of_indices(self, test: Expr) -> bool:
        """Is a test about indices and sizes alone?"""
        found = names(test)
        return not found & self.at.spread.keys() and not any(
            isinstance(p, Load) for p in walk_expr(test)
        )

    def quietly(self, e: Expr, v: Value, instead: float) -> Value:
        """An argument, `instead` where the result is dropped."""
        if not self.guards or not v.axes:
            return v
        mask = self.mask()
        assert mask is not None
        return self.joined(
            lambda m, t: call("np.where", m, t, ast.Constant(instead)), mask, v
        )


#: What warns at some numbers, or has no value there.
_NOISY = frozenset(
    "sqrt exp expm1 log log1p log2 log10 asin acos acosh atanh sinh cosh fmod".split()
)
