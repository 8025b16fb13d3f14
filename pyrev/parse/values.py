"""What an expression means: operands in Python's order, elements, sizes, conditions.

A helper's call becomes statements in front of the statement that calls, so every place
that evaluates several operands keeps their order (`_values`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import gast
import numpy as np

from pyrev.ir.nodes import (
    ZERO,
    Assign,
    Call,
    Const,
    Expr,
    If,
    Load,
    Loc,
    Stmt,
    Var,
    names,
    written,
)
from pyrev.ir.primitives import LOGICAL
from pyrev.parse import fence, views
from pyrev.parse.arrays import Arrays, Given
from pyrev.parse.bindings import what
from pyrev.parse.expression import BINARY, BOOLEAN, COMPARE, UNARY, negated
from pyrev.parse.grounds import Missing
from pyrev.parse.names import REFUSED, Scope, kind_of, module_name


@dataclass(slots=True)
class Values(Arrays):
    """The part of the walk that reads expressions; calls are `Calls`'s."""

    def _call(
        self,
        node: gast.Call,
        scope: Scope,
        *,
        dropped: bool = False,
    ) -> tuple[tuple[Expr, ...], bool] | None:
        raise NotImplementedError

    def _values(
        self, nodes: Sequence[gast.AST], scope: Scope, whole: bool = False
    ) -> list[Expr]:
        """Operands from left to right, and the statements that they need.

        An inlined call may write what an earlier operand reads: that operand is then
        evaluated into a temporary in front of the call.
        """
        values: list[Expr] = []
        for node in nodes:
            with self._aside() as emitted:
                value = self._value(node, scope, whole=whole)
            self._before(values, emitted)
            self.out.extend(emitted)
            values.append(value)
        return values

    def _before(self, values: list[Expr], emitted: Sequence[Stmt]) -> None:
        if not emitted:
            return
        changed = written(tuple(emitted))
        for k, earlier in enumerate(values):
            whole = self._whole(earlier)
            if whole is None:
                if changed & names(earlier):
                    values[k] = self._temp(earlier, "value")
            elif not whole.view and changed & whole.reads():
                made = self._made(whole, "value", earlier.loc)
                values[k] = self._encoded(made, earlier.loc)

    def _value(
        self, node: gast.AST, scope: Scope, *, test: bool = False, whole: bool = False
    ) -> Expr:
        """Lower an expression.

        `test`: only its truth counts; `whole`: an array may stand here by name.
        """
        value = self._any(node, scope, test)
        if not whole and self._is_array_var(value):
            self.findings.add(
                "P201",
                scope.source.loc(node),
                f"`{gast.unparse(node).strip()}` is an array, and a number is needed"
                " here",
                "take an element of it, or reduce it, as `np.sum` does",
            )
            return ZERO
        if test:
            self.sums |= {e.name for e in self._open_parts(value) if isinstance(e, Var)}
        return value

    def _any(self, node: gast.AST, scope: Scope, test: bool) -> Expr:
        """The value of an expression, be it a number or an array."""
        at = scope.source.loc(node)
        match node:
            case gast.Constant(value=bool() | int() | float() as value):
                return Const(value, loc=at)
            case gast.Name():
                return self._name(node, scope)
            case gast.Attribute():
                return self._attribute(node, scope)
            case gast.Subscript():
                return self._subscript(node, scope)
            case gast.BinOp(op=gast.MatMult()):
                left, right = self._values([node.left, node.right], scope, whole=True)
                return self._product(left, right, at)
            case gast.BinOp(left=left, op=op, right=right):
                args = self._values([left, right], scope, whole=True)
                word = BINARY[type(op)]
                return self._elementwise(
                    args, lambda e: Call(word, tuple(e), loc=at), at
                )
            case gast.UnaryOp(op=gast.USub(), operand=operand):
                inner = self._value(operand, scope, whole=True)
                return self._elementwise(
                    [inner], lambda e: replace(negated(e[0]), loc=at), at
                )
            case gast.UnaryOp(op=gast.UAdd(), operand=operand):
                inner = self._value(operand, scope, whole=True)
                return self._elementwise([inner], lambda e: e[0], at)
            case gast.UnaryOp(op=gast.Not(), operand=operand):
                inner = self._value(operand, scope, test=True)
                return Call("not", (inner,), loc=at)
            case gast.UnaryOp(op=op, operand=operand):
                inner = self._value(operand, scope, whole=True)
                word = UNARY[type(op)]
                return self._elementwise(
                    [inner], lambda e: Call(word, tuple(e), loc=at), at
                )
            case gast.Compare():
                return self._compare(node, scope)
            case gast.BoolOp():
                return self._boolean(node, scope, test)
            case gast.IfExp():
                return self._conditional(node, scope)
            case gast.Call():
                results = self._call(node, scope)
                if results is None:
                    return ZERO
                values, single = results
                if results == REFUSED:
                    assert self.findings.found
                    return ZERO
                if not single:
                    self.findings.add(
                        "P108",
                        at,
                        f"this call gives {len(values)} values, not one",
                        "assign them to names first: `a, b = f(x)`",
                    )
                    return ZERO
                return values[0]
        if type(node) not in fence.REJECTED:
            self.findings.add(
                "P106", at, what(node), "use numbers, arrays and their elements"
            )
        return ZERO

    def _name(self, node: gast.Name, scope: Scope) -> Expr:
        at = scope.source.loc(node)
        found = self._find(node.id, scope)
        if isinstance(found, Scope):
            self._used(node.id, found, at)
            return replace(self._variable(node.id, found), loc=at)
        return self._captured(found, node.id, (node.id,), node, scope)

    def _captured(
        self,
        found: object,
        text: str,
        path: tuple[str, ...],
        node: gast.AST,
        scope: Scope,
    ) -> Expr:
        """A number (or array, by name) from a module or an enclosing function."""
        at = scope.source.loc(node)
        if isinstance(found, Missing):
            if self.loose and len(path) == 1:
                return Var(text, loc=at)
            if path[0] in self.refused:
                return ZERO
            self.findings.add(
                "P113",
                at,
                f"`{text}` is not defined",
                "define it before the function is differentiated, or pass it in",
            )
            return ZERO
        if isinstance(found, np.ndarray):
            if found.ndim > 0:
                return Var(self._capture(self._holder(scope), path, found), loc=at)
            self.findings.add(
                "P113",
                at,
                f"`{text}` is {kind_of(found)}",
                "make it a number, with `float(...)`",
            )
            return ZERO
        if isinstance(
            found, (bool, int, float, np.number, np.bool_)
        ) and not isinstance(found, (np.complexfloating, np.float16, np.longdouble)):
            return Var(self._capture(self._holder(scope), path, found), loc=at)
        self.findings.add(
            "P113",
            at,
            f"`{text}` is {kind_of(found)}",
            "use a number, an array, or a call of a function",
        )
        return ZERO

    def _attribute(self, node: gast.Attribute, scope: Scope) -> Expr:
        at = scope.source.loc(node)
        found = self._object(node, scope)
        if not isinstance(found, Missing):
            module = self._object(node.value, scope)
            if isinstance(found, float) and module_name(module) in ("math", "numpy"):
                return Const(found, loc=at)
            text = gast.unparse(node).strip()
            return self._captured(found, text, tuple(text.split(".")), node, scope)
        if node.attr in ("ndim", "size", "T"):
            whole = self._measured(node.value, scope)
            if whole is not None:
                return self._measure(node.attr, whole, at)
        helps = "use `shape`, `size`, `ndim`, or the array's elements"
        if node.attr == "shape":
            helps = "take one entry, `a.shape[0]`, or unpack it, `h, w = a.shape`"
        elif node.attr == "dtype":
            helps = "give it to a new array: `np.zeros(n, dtype=a.dtype)`"
        self.findings.add(
            "P209", at, f"`{gast.unparse(node).strip()}` cannot be used here", helps
        )
        return ZERO

    def _measure(self, attribute: str, whole: views.Whole, at: Loc) -> Expr:
        if attribute == "T":
            return self._encoded(views.transposed(whole), at)
        if attribute == "ndim":
            return Const(whole.rank, loc=at)
        first, *rest = whole.shape
        for extent in rest:
            first = Call("*", (first, extent), loc=at)
        return first

    def _subscript(
        self, node: gast.Subscript, scope: Scope, store: bool = False
    ) -> Expr:
        at = scope.source.loc(node)
        if isinstance(node.value, gast.Attribute) and node.value.attr == "shape":
            found = self._extent(node.value.value, node, scope)
            if found is not None:
                return found
        levels: list[list[gast.AST]] = []
        base: gast.AST = node
        while isinstance(base, gast.Subscript):
            index = base.slice
            parts = index.elts if isinstance(index, gast.Tuple) else [index]
            levels.insert(0, list(parts))
            base = base.value
        value = self._base(base, scope)
        if value is None:
            return ZERO
        nodes = [
            n
            for parts in levels
            for part in parts
            for n in (
                (part.lower, part.upper) if isinstance(part, gast.Slice) else (part,)
            )
            if n is not None and not self._is_new_axis(n, scope)
        ]
        with self._aside() as emitted:
            given = iter(self._values(nodes, scope, whole=True))
        held = [value]
        self._before(held, emitted)
        self.out.extend(emitted)
        value = held[0]
        for parts in levels:
            last = parts is levels[-1]
            items: list[Given] = []
            for part in parts:
                match part:
                    case gast.Slice(lower=lower, upper=upper):
                        low = None if lower is None else next(given)
                        high = None if upper is None else next(given)
                        items.append((low, high, self._step(part.step, scope)))
                    case gast.Constant(value=word) if word is Ellipsis:
                        items.append(Ellipsis)
                    case _ if self._is_new_axis(part, scope):
                        items.append(None)
                    case _:
                        items.append(next(given))
            if store and last and len(items) == 1:
                masked = self._masked(value, items[0], at)
                if masked is not None:
                    return masked
            for item in items:
                for e in item[:2] if isinstance(item, tuple) else (item,):
                    if isinstance(e, Var) and self._is_array_var(e):
                        self.findings.add(
                            "P211",
                            at,
                            "an array is the index here",
                            "write the loop over its elements: `x[k[i]]`, or `if` for"
                            " a mask",
                        )
                        return ZERO
            value = self._part(value, items, at)
        return value

    def _is_new_axis(self, node: gast.AST, scope: Scope) -> bool:
        match node:
            case gast.Constant(value=value):
                return value is None or value is Ellipsis
            case gast.Attribute():
                return self._object(node, scope) is None
        return False

    def _base(self, base: gast.AST, scope: Scope) -> Expr | None:
        """What stands before the brackets."""
        at = scope.source.loc(base)
        array = self._array(base, scope)
        if array is not None:
            return Var(array, loc=at)
        if isinstance(base, gast.Name):
            found = self._find(base.id, scope)
            if isinstance(found, Scope):
                return self._variable(base.id, found)
        elif type(base) not in fence.REJECTED:
            known = len(self.findings.found)
            value = self._value(base, scope, whole=True)
            if self._whole(value) is not None or isinstance(value, Load):
                return value
            if len(self.findings.found) > known:
                return None
        if type(base) not in fence.REJECTED:
            self.findings.add(
                "P203",
                at,
                f"`{gast.unparse(base).strip()}` is not an array",
                "leave the subscripts out",
            )
        return None

    def _step(self, node: gast.AST | None, scope: Scope) -> int:
        """The step of a slice."""
        if node is None or (isinstance(node, gast.Constant) and node.value is None):
            return 1
        value = self._value(node, scope)
        if isinstance(value, Const) and type(value.value) is int and value.value:
            return value.value
        self.findings.add(
            "P207",
            scope.source.loc(node),
            "the step of this slice is not known in the text",
            "write it as an integer other than zero",
        )
        return 1

    def _extent(
        self, base: gast.AST, node: gast.Subscript, scope: Scope
    ) -> Expr | None:
        at = scope.source.loc(node)
        if self._array(base, scope) is None and isinstance(base, gast.Name):
            return None
        axis = self._value(node.slice, scope)
        if not isinstance(axis, Const) or type(axis.value) is not int:
            self.findings.add(
                "P209",
                at,
                "which axis is meant is not known in the text",
                "write the axis as a number: `a.shape[0]`",
            )
            return ZERO
        k = axis.value
        whole = self._measured(base, scope, k + 1 if k >= 0 else -k)
        if whole is None:
            return None
        if not -whole.rank <= k < whole.rank:
            self.findings.add(
                "P202",
                at,
                f"this array is of rank {whole.rank}",
                "count the axes from zero",
            )
            return ZERO
        return replace(whole.shape[k], loc=at)

    def _compare(self, node: gast.Compare, scope: Scope) -> Expr:
        at = scope.source.loc(node)
        for op in node.ops:
            if type(op) not in COMPARE:
                self.findings.add(
                    "P106",
                    at,
                    "`is` and `in` compare objects, not numbers",
                    "compare numbers with `==`, `!=`, `<`, `<=`, `>` or `>=`",
                )
                return ZERO
        single = len(node.ops) == 1
        values = self._values([node.left, node.comparators[0]], scope, whole=single)
        if single:
            word = COMPARE[type(node.ops[0])]
            return self._elementwise(values, lambda e: Call(word, tuple(e), loc=at), at)
        for other in node.comparators[1:]:
            with self._block() as emitted:
                values.append(self._value(other, scope))
            if emitted:
                # Python may not come to evaluate it.
                self.findings.add(
                    "P108",
                    scope.source.loc(other),
                    "this call needs statements of its own in a chained comparison",
                    "write the comparisons with `and`",
                )
                return ZERO
        result: Expr | None = None
        for k, op in enumerate(node.ops):
            test = Call(COMPARE[type(op)], (values[k], values[k + 1]), loc=at)
            result = test if result is None else Call("and", (result, test), loc=at)
        assert result is not None
        return result

    def _boolean(self, node: gast.BoolOp, scope: Scope, test: bool) -> Expr:
        """``a and b``: its truth in a test; elsewhere the operand that decides."""
        at = scope.source.loc(node)
        op = BOOLEAN[type(node.op)]
        first = self._value(node.values[0], scope, test=test)
        for other in node.values[1:]:
            with self._block() as emitted:
                value = self._value(other, scope, test=test)
            truth = test or (_is_truth(first) and _is_truth(value))
            if not emitted and truth:
                first = Call(op, (first, value), loc=at)
                continue
            first = (
                first if isinstance(first, (Const, Var)) else self._temp(first, "test")
            )
            go_on = first if op == "and" else Call("not", (first,), loc=at)
            if not emitted:
                keep = (value, first) if op == "and" else (first, value)
                first = Call("where", (first, *keep), loc=at)
                continue
            result = Var(self._fresh("test"), loc=at)
            self.out.append(Assign(result, first, loc=at))
            emitted.append(Assign(result, value, loc=at))
            self.out.append(If(go_on, tuple(emitted), loc=at))
            first = result
        return first

    def _conditional(self, node: gast.IfExp, scope: Scope) -> Expr:
        at = scope.source.loc(node)
        condition = self._value(node.test, scope, test=True)
        with self._block() as then:
            yes = self._value(node.body, scope, whole=True)
        with self._block() as other:
            no = self._value(node.orelse, scope, whole=True)
        wholes = [w for w in (self._whole(yes), self._whole(no)) if w is not None]
        if wholes:
            if then or other or len(wholes) < 2 or any(w.view for w in wholes):
                self.findings.add(
                    "P206",
                    at,
                    "this may stand for one array or another",
                    "write an `if` whose branches assign the elements",
                )
                return ZERO
            return self._elementwise(
                [self._temp(condition, "test"), yes, no],
                lambda e: Call("where", tuple(e), loc=at),
                at,
            )
        if not then and not other:
            return Call("where", (condition, yes, no), loc=at)
        # A branch that calls a helper with statements runs only when it is chosen.
        chosen = Var(self._fresh("chosen"), loc=at)
        then.append(Assign(chosen, yes, loc=at))
        other.append(Assign(chosen, no, loc=at))
        self.out.append(If(condition, tuple(then), tuple(other), loc=at))
        return chosen

    def _kept(self, value: Expr, name: str) -> Expr:
        return value if isinstance(value, Const) else self._temp(value, name)


def _is_truth(value: Expr) -> bool:
    match value:
        case Const(bool()):
            return True
        case Call(op):
            return op in LOGICAL
    return False
