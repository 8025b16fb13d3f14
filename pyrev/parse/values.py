"""What an expression means: operands in Python's order, elements, sizes, conditions.

A helper's call becomes statements in front of the statement that calls, so every place
that evaluates several operands keeps their order (`_values`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import gast
import numpy as np

from pyrev.ir import (
    ZERO,
    Assign,
    Call,
    Const,
    Expr,
    Extent,
    If,
    Load,
    Loc,
    Stmt,
    Var,
    names,
    written,
)
from pyrev.parse import fence
from pyrev.parse.expression import BINARY, BOOLEAN, COMPARE, UNARY, negated
from pyrev.parse.names import REFUSED, Missing, Names, Scope, kind_of, module_name
from pyrev.parse.shapes import RankFact
from pyrev.parse.tree import what

_PREDICATES = frozenset(
    ["<", "<=", ">", ">=", "==", "!=", "not", "and", "or", "bool"]
    + ["isnan", "isinf", "isfinite"]
)


@dataclass(slots=True)
class Values(Names):
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
            with self._block() as emitted:
                value = self._value(node, scope, whole=whole)
            self._before(values, emitted)
            self.out.extend(emitted)
            values.append(value)
        return values

    def _before(self, values: list[Expr], emitted: Sequence[Stmt]) -> None:
        changed = written(tuple(emitted))
        for k, earlier in enumerate(values):
            if changed & names(earlier) and not self._is_array_var(earlier):
                values[k] = self._temp(earlier, "value")

    def _value(
        self, node: gast.AST, scope: Scope, *, test: bool = False, whole: bool = False
    ) -> Expr:
        """Lower an expression.

        `test`: only its truth counts; `whole`: an array may stand here by name.
        """
        at = scope.source.loc(node)
        match node:
            case gast.Constant(value=bool() | int() | float() as value):
                return Const(value, loc=at)
            case gast.Name():
                return self._name(node, scope, whole)
            case gast.Attribute():
                return self._attribute(node, scope)
            case gast.Subscript():
                return self._subscript(node, scope)
            case gast.BinOp(op=gast.MatMult()):
                self._refuse_matmul(node, scope)
                return ZERO
            case gast.BinOp(left=left, op=op, right=right):
                args = self._values([left, right], scope)
                return Call(BINARY[type(op)], tuple(args), loc=at)
            case gast.UnaryOp(op=gast.USub(), operand=operand):
                return replace(negated(self._value(operand, scope)), loc=at)
            case gast.UnaryOp(op=gast.UAdd(), operand=operand):
                return self._value(operand, scope)
            case gast.UnaryOp(op=op, operand=operand):
                negates = isinstance(op, gast.Not)
                inner = self._value(operand, scope, test=negates)
                return Call(UNARY[type(op)], (inner,), loc=at)
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
                if single and self._is_array_var(values[0]) and not whole:
                    self.findings.add(
                        "P201",
                        at,
                        "this call gives an array, and a number is needed here",
                        "give the array a name first, then write the loop",
                    )
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

    def _name(self, node: gast.Name, scope: Scope, whole: bool = False) -> Expr:
        at = scope.source.loc(node)
        found = self._find(node.id, scope)
        if isinstance(found, Scope):
            value = self._variable(node.id, found)
            if self._is_array_var(value) and not whole:
                self.findings.add(
                    "P201",
                    at,
                    f"`{node.id}` is a whole array, and a number is needed here",
                    "write the loop over its elements" + fence.LATER,
                )
                return ZERO
            return replace(value, loc=at)
        return self._captured(found, node.id, (node.id,), node, scope, whole)

    def _captured(
        self,
        found: object,
        text: str,
        path: tuple[str, ...],
        node: gast.AST,
        scope: Scope,
        whole: bool = False,
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
            if whole and found.ndim > 0:
                return Var(self._capture(self._holder(scope), path, found), loc=at)
            self.findings.add(
                "P201",
                at,
                f"`{text}` is a whole array, and a number is needed here",
                "write the loop over its elements" + fence.LATER,
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
        array = self._array(node.value, scope)
        if array is not None and node.attr == "ndim":
            self.facts.append(RankFact(array, 1, at, least=True))
            return Const(self.ranks.get(array, 1), loc=at)
        if array is not None and node.attr == "size":
            first, *rest = self._extents(array, at)
            for extent in rest:
                first = Call("*", (first, extent), loc=at)
            return first
        helps = "use `shape`, `size`, `ndim`, or the array's elements"
        if node.attr == "shape":
            helps = "take one entry, `a.shape[0]`, or unpack it, `h, w = a.shape`"
        elif node.attr in ("T", "dtype"):
            helps = f"`.{node.attr}` is not supported here yet; " + helps
        self.findings.add(
            "P209", at, f"`{gast.unparse(node).strip()}` cannot be used here", helps
        )
        return ZERO

    def _extents(self, array: str, at: Loc) -> tuple[Expr, ...]:
        self.facts.append(RankFact(array, 1, at, least=True))
        rank = self.ranks.get(array, 1)
        return tuple(Extent(array, k, loc=at) for k in range(rank))

    def _subscript(self, node: gast.Subscript, scope: Scope) -> Expr:
        at = scope.source.loc(node)
        match node.value:
            case gast.Attribute(value=measured, attr="shape") if (
                array := self._array(measured, scope)
            ) is not None:
                return self._extent(array, node, scope)
        indices: list[gast.AST] = []
        base: gast.AST = node
        while isinstance(base, gast.Subscript):
            index = base.slice
            parts = index.elts if isinstance(index, gast.Tuple) else [index]
            indices[:0] = parts
            base = base.value
        array = self._array(base, scope)
        if array is None:
            if type(base) not in fence.REJECTED:
                self.findings.add(
                    "P203",
                    scope.source.loc(base),
                    f"`{gast.unparse(base).strip()}` is not the name of an array",
                    "subscript an array by its name",
                )
            return ZERO
        for index in indices:
            if isinstance(index, gast.Slice) or (
                isinstance(index, gast.Constant) and index.value in (None, Ellipsis)
            ):
                self.findings.add(
                    "P201",
                    scope.source.loc(node),
                    f"`{gast.unparse(node).strip()}` is a part of the array",
                    "write the loop over its elements" + fence.LATER,
                )
                return ZERO
        values = self._values(indices, scope)
        for k, value in enumerate(values):
            if (
                isinstance(value, Const)
                and type(value.value) is int
                and value.value < 0
            ):
                extent = Extent(array, k, loc=value.loc)
                values[k] = Call("-", (extent, Const(-value.value)), loc=value.loc)
        self.facts.append(RankFact(array, len(values), at))
        return Load(array, tuple(values), loc=at)

    def _extent(self, array: str, node: gast.Subscript, scope: Scope) -> Expr:
        at = scope.source.loc(node)
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
        if k < 0:
            k += self.ranks.get(array, -k)
            self.facts.append(RankFact(array, -axis.value, at, least=True))
        else:
            self.facts.append(RankFact(array, k + 1, at, least=True))
        return Extent(array, max(k, 0), loc=at)

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
        values = self._values([node.left, node.comparators[0]], scope)
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
            yes = self._value(node.body, scope)
        with self._block() as other:
            no = self._value(node.orelse, scope)
        if not then and not other:
            return Call("where", (condition, yes, no), loc=at)
        # A branch that calls a helper with statements runs only when it is chosen.
        chosen = Var(self._fresh("chosen"), loc=at)
        then.append(Assign(chosen, yes, loc=at))
        other.append(Assign(chosen, no, loc=at))
        self.out.append(If(condition, tuple(then), tuple(other), loc=at))
        return chosen

    def _refuse_matmul(self, node: gast.AST, scope: Scope) -> None:
        self.findings.add(
            "P201",
            scope.source.loc(node),
            "`@` multiplies whole arrays",
            "write the product as loops" + fence.LATER,
        )

    def _kept(self, value: Expr, name: str) -> Expr:
        return value if isinstance(value, Const) else self._temp(value, name)


def _is_truth(value: Expr) -> bool:
    match value:
        case Const(bool()):
            return True
        case Call(op):
            return op in _PREDICATES
    return False
