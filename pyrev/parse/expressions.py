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
from pyrev.parse import fence, views
from pyrev.parse.arrays import Arrays, Given
from pyrev.parse.bindings import what
from pyrev.parse.expression import BINARY, BOOLEAN, COMPARE, UNARY, negated
from pyrev.parse.grounds import Missing
from pyrev.parse.names import Scope, kind_of, module_name
from pyrev.parse.values import Array, Nothing, Operand, Refused, Tuple, Value, placed

_PREDICATES = frozenset(
    ["<", "<=", ">", ">=", "==", "!=", "not", "and", "or", "bool"]
    + ["isnan", "isinf", "isfinite"]
)


@dataclass(slots=True)
class Values(Arrays):
    """The part of the walk that reads expressions; calls are `Calls`'s."""

    def _call(
        self,
        node: gast.Call,
        scope: Scope,
        *,
        dropped: bool = False,
    ) -> Value:
        raise NotImplementedError

    def _values(self, nodes: Sequence[gast.AST], scope: Scope) -> list[Operand]:
        """Operands from left to right, and the statements that they need.

        An inlined call may write what an earlier operand reads: that operand is then
        evaluated into a temporary in front of the call.
        """
        values: list[Operand] = []
        for node in nodes:
            with self._aside() as emitted:
                value = self._value(node, scope)
            values = self._before(values, emitted)
            self.out.extend(emitted)
            values.append(value)
        return values

    def _numbers(self, nodes: Sequence[gast.AST], scope: Scope) -> list[Expr]:
        """The same, of numbers."""
        values: list[Expr] = []
        for node in nodes:
            with self._aside() as emitted:
                value = self._number_of(node, scope)
            values = [self._held(v, emitted) for v in values]
            self.out.extend(emitted)
            values.append(value)
        return values

    def _before(
        self, values: Sequence[Operand], emitted: Sequence[Stmt]
    ) -> list[Operand]:
        """The values as they are in front of statements that go behind them."""
        if not emitted:
            return list(values)
        changed = written(tuple(emitted))
        found: list[Operand] = []
        for value in values:
            if not isinstance(value, Array):
                found.append(self._held(value, emitted))
            elif not value.view and changed & value.reads():
                found.append(self._made(value, "value", value.loc))
            else:
                found.append(value)
        return found

    def _held(self, value: Expr, emitted: Sequence[Stmt]) -> Expr:
        """A number as it is in front of statements that go behind it."""
        changed = written(tuple(emitted)) if emitted else frozenset()
        return self._temp(value, "value") if changed & names(value) else value

    def _number_of(self, node: gast.AST, scope: Scope, *, test: bool = False) -> Expr:
        """Lower an expression that gives a number; `test`: only its truth counts."""
        value = self._any(node, scope, test)
        if isinstance(value, Array):
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

    def _value(self, node: gast.AST, scope: Scope) -> Operand:
        """Lower an expression that gives a number or an array."""
        return self._any(node, scope, False)

    def _any(self, node: gast.AST, scope: Scope, test: bool) -> Operand:
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
                left, right = self._values([node.left, node.right], scope)
                return self._product(left, right, at)
            case gast.BinOp(left=left, op=op, right=right):
                args = self._values([left, right], scope)
                word = BINARY[type(op)]
                return self._elementwise(
                    args, lambda e: Call(word, tuple(e), loc=at), at
                )
            case gast.UnaryOp(op=gast.USub(), operand=operand):
                inner = self._value(operand, scope)
                return self._elementwise(
                    [inner], lambda e: replace(negated(e[0]), loc=at), at
                )
            case gast.UnaryOp(op=gast.UAdd(), operand=operand):
                inner = self._value(operand, scope)
                return self._elementwise([inner], lambda e: e[0], at)
            case gast.UnaryOp(op=gast.Not(), operand=operand):
                truth = self._number_of(operand, scope, test=True)
                return Call("not", (truth,), loc=at)
            case gast.UnaryOp(op=op, operand=operand):
                inner = self._value(operand, scope)
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
                return self._only(self._call(node, scope), at)
        if type(node) not in fence.REJECTED:
            self.findings.add(
                "P106", at, what(node), "use numbers, arrays and their elements"
            )
        return ZERO

    def _only(self, value: Value, at: Loc) -> Operand:
        """What a call gives where one value is needed."""
        match value:
            case Tuple(elements):
                self.findings.add(
                    "P108",
                    at,
                    f"this call gives {len(elements)} values, not one",
                    "assign them to names first: `a, b = f(x)`",
                )
                return ZERO
            case Nothing() | Refused():
                assert self.findings.found
                return ZERO
        return value

    def _name(self, node: gast.Name, scope: Scope) -> Operand:
        """The value that a name stands for."""
        at = scope.source.loc(node)
        found = self._find(node.id, scope)
        if isinstance(found, Scope):
            self._used(node.id, found, at)
            return self._seen(self._variable(node.id, found), at)
        return self._captured(found, node.id, (node.id,), node, scope)

    def _captured(
        self,
        found: object,
        text: str,
        path: tuple[str, ...],
        node: gast.AST,
        scope: Scope,
    ) -> Operand:
        """A number or an array from a module or an enclosing function."""
        at = scope.source.loc(node)
        if isinstance(found, Missing):
            if self.loose and len(path) == 1:
                return self._seen(self._stored(text, at), at)
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
                name = self._capture(self._holder(scope), path, found)
                return self._seen(self._stored(name, at), at)
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

    def _attribute(self, node: gast.Attribute, scope: Scope) -> Operand:
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

    def _measure(self, attribute: str, whole: Array, at: Loc) -> Operand:
        if attribute == "T":
            return self._located(views.transposed(whole), at)
        if attribute == "ndim":
            return Const(whole.rank, loc=at)
        first, *rest = whole.shape
        for extent in rest:
            first = Call("*", (first, extent), loc=at)
        return first

    def _subscript(
        self, node: gast.Subscript, scope: Scope, store: bool = False
    ) -> Operand:
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
            given = iter(self._values(nodes, scope))
        (value,) = self._before([value], emitted)
        self.out.extend(emitted)
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
                    if isinstance(e, Array):
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

    def _base(self, base: gast.AST, scope: Scope) -> Operand | None:
        """What stands before the brackets."""
        at = scope.source.loc(base)
        array = self._referred(base, scope)
        if array is not None:
            return placed(array, at)
        if isinstance(base, gast.Name):
            found = self._find(base.id, scope)
            if isinstance(found, Scope):
                return self._variable(base.id, found)
        elif type(base) not in fence.REJECTED:
            known = len(self.findings.found)
            value = self._value(base, scope)
            if isinstance(value, (Array, Load)):
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
        value = self._number_of(node, scope)
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
        if self._referred(base, scope) is None and isinstance(base, gast.Name):
            return None
        axis = self._number_of(node.slice, scope)
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

    def _compare(self, node: gast.Compare, scope: Scope) -> Operand:
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
        pair = [node.left, node.comparators[0]]
        if len(node.ops) == 1:
            word = COMPARE[type(node.ops[0])]
            return self._elementwise(
                self._values(pair, scope), lambda e: Call(word, tuple(e), loc=at), at
            )
        values = self._numbers(pair, scope)
        for other in node.comparators[1:]:
            with self._block() as emitted:
                values.append(self._number_of(other, scope))
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
        first = self._number_of(node.values[0], scope, test=test)
        for other in node.values[1:]:
            with self._block() as emitted:
                value = self._number_of(other, scope, test=test)
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

    def _conditional(self, node: gast.IfExp, scope: Scope) -> Operand:
        at = scope.source.loc(node)
        condition = self._number_of(node.test, scope, test=True)
        with self._block() as then:
            yes = self._value(node.body, scope)
        with self._block() as other:
            no = self._value(node.orelse, scope)
        if isinstance(yes, Array) or isinstance(no, Array):
            computed = not any(isinstance(v, Array) and v.view for v in (yes, no))
            both = isinstance(yes, Array) and isinstance(no, Array)
            if then or other or not both or not computed:
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
            return op in _PREDICATES
    return False
