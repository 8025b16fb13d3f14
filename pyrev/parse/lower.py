"""What a Python definition means in the IR: statements, targets and new arrays.

Names, expressions and calls are `names`, `values` and `calls`; the walk is one object
because each needs the others. What is refused goes to a collector and a placeholder
stands for it, so that one walk reports everything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import FunctionType

import gast
import numpy as np

from pyrev.ir import (
    ZERO,
    Add,
    Alloc,
    Assign,
    Block,
    Call,
    Const,
    Expr,
    Extent,
    For,
    If,
    Load,
    Loc,
    Return,
    Stmt,
    Var,
    blocks,
    map_block,
    names,
    walk,
    with_blocks,
    written,
)
from pyrev.parse import fence
from pyrev.parse.calls import Calls
from pyrev.parse.expression import BINARY, negated
from pyrev.parse.functions import CREATORS, DTYPES, dtype_name, is_range
from pyrev.parse.names import REFUSED, RESERVED, Helper, Scope
from pyrev.parse.shapes import RankFact
from pyrev.parse.source import Source
from pyrev.parse.tree import (
    bindings,
    identifiers,
    is_shape,
    local_names,
    parameters,
    tail_form,
)


@dataclass(slots=True)
class Lowering(Calls):
    """The whole walk: `function` lowers a definition, `statements` a bare block."""

    def function(self, source: Source, python: FunctionType | None) -> Block:
        """Lower a whole definition, its final `return` included."""
        node = source.node
        fence.check(source, self.findings)
        self.taken |= identifiers(node)
        self.occupied |= local_names(node)
        self.refused |= fence.bound_by_refused(node)
        scope = Scope(source, python, local_names(node), None, (), False)
        scope.stack = (node if python is None else python.__code__,)
        for parameter in parameters(node):
            if parameter.id in RESERVED:
                self.findings.add(
                    "P116",
                    source.loc(parameter),
                    f"parameter `{parameter.id}` hides what the derivative calls",
                    f"give it another name, such as `{parameter.id}_`",
                )
            scope.bound[parameter.id] = Var(parameter.id)
        values = self._body(scope)
        if values is not None:
            results, single, at = values
            self.out.append(Return(results, single, loc=at))
        return tuple(self.out)

    def statements(self, source: Source) -> Block:
        """Lower bare statements: free names are parameters."""
        fence.check(source, self.findings)
        self.taken |= identifiers(source.node)
        scope = Scope(source, None, local_names(source.node), None, (), False)
        for node in source.node.body:
            if isinstance(node, gast.Return):
                values = self._returned(node, scope)
                if values is not None:
                    self.out.append(Return(values[0], values[1], loc=values[2]))
            else:
                self._statement(node, scope)
        return tuple(self.out)

    def _body(self, scope: Scope) -> tuple[tuple[Expr, ...], bool, Loc] | None:
        """Lower a definition's statements; what it returns comes back."""
        node = scope.source.node
        if isinstance(node, gast.Lambda):
            at = scope.source.loc(node.body)
            return (self._value(node.body, scope),), True, at
        body = tail_form(node.body)
        if body is not None and isinstance(body[-1], gast.If):
            return self._paths(body, scope)
        *rest, last = node.body
        for child in rest:
            self._statement(child, scope)
        if isinstance(last, gast.Return):
            return self._returned(last, scope)
        self._statement(last, scope)
        return None

    def _paths(
        self, body: Sequence[gast.AST], scope: Scope
    ) -> tuple[tuple[Expr, ...], bool, Loc] | None:
        """A body whose `if`s end in `return`s: each path assigns the same variables."""
        results: list[Var] = []
        returns: list[tuple[int, bool]] = []
        self._path(body, scope, results, returns)
        if len(set(returns)) != 1:
            self.findings.add(
                "P110",
                scope.source.loc(body[-1]),
                "the paths through this `if` return different numbers of values",
                "return equally many values on every path",
            )
            return (ZERO,), True, scope.source.loc(body[-1])
        if returns[0] == (0, False):
            return None
        at = results[0].loc
        last = self.out[-1]
        if len(results) == 1 and isinstance(last, Assign) and last.target == results[0]:
            # Every path was an expression: so is the call.
            self.out.pop()
            return (last.value,), True, at
        return tuple(results), returns[0][1], at

    def _path(
        self,
        body: Sequence[gast.AST],
        scope: Scope,
        results: list[Var],
        returns: list[tuple[int, bool]],
    ) -> None:
        *rest, last = body
        for child in rest:
            self._statement(child, scope)
        at = scope.source.loc(last)
        if isinstance(last, gast.If):
            condition = self._value(last.test, scope, test=True)
            helpers = dict(scope.helpers)
            self.depth += 1
            with self._block() as then:
                self._path(last.body, scope, results, returns)
            scope.helpers = dict(helpers)
            with self._block() as other:
                self._path(last.orelse, scope, results, returns)
            self.depth -= 1
            scope.helpers = helpers
            match then, other:
                case [Assign(Var(one), a)], [Assign(Var(two), b)] if one == two:
                    chosen = Call("where", (condition, a, b), loc=at)
                    self.out.append(Assign(Var(one, loc=at), chosen, loc=at))
                case _:
                    self.out.append(If(condition, tuple(then), tuple(other), loc=at))
            return
        returned = self._returned(last, scope)
        values, single, _ = returned if returned is not None else ((), False, at)
        returns.append((len(values), single))
        for k, value in enumerate(values):
            if self._is_array_var(value):
                self.findings.add(
                    "P110",
                    at,
                    "an early `return` of an array is not supported yet",
                    "return the array once, at the end",
                )
            if k == len(results):
                results.append(Var(self._fresh("result"), loc=at))
            self.out.append(Assign(results[k], value, loc=at))

    def _returned(
        self, node: gast.Return, scope: Scope
    ) -> tuple[tuple[Expr, ...], bool, Loc] | None:
        at = scope.source.loc(node)
        match node.value:
            case None | gast.Constant(value=None):
                return None
            case gast.Tuple(elts=elements) if elements:
                values = self._values(elements, scope, whole=True)
                return tuple(values), False, at
            case gast.Call() as call:
                results = self._call(call, scope)
                if results == REFUSED:
                    return (ZERO,), True, at
                return (*results, at) if results is not None else None
            case value:
                return (self._value(value, scope, whole=True),), True, at

    def _statement(self, node: gast.AST, scope: Scope) -> None:
        loc = scope.source.loc
        match node:
            case gast.Pass() | gast.Expr(value=gast.Constant(value=str())):
                pass
            case gast.Expr(value=gast.Constant(value=value)) if value is Ellipsis:
                pass
            case gast.Expr(value=gast.Call() as call):
                self._call(call, scope, dropped=True)
            case gast.Expr(value=value):
                if type(value) not in fence.REJECTED:
                    self.findings.add(
                        "P115",
                        loc(node),
                        "the value is not used",
                        "assign it, or remove the line",
                    )
            case gast.Assign(targets=targets, value=value):
                self._assign(targets, value, loc(node), scope)
            case gast.AnnAssign(value=None):
                pass
            case gast.AnnAssign(target=target, value=value):
                self._assign([target], value, loc(node), scope)
            case gast.AugAssign():
                self._augment(node, scope)
            case gast.For():
                self._for(node, scope)
            case gast.If(test=test, body=body, orelse=orelse):
                condition = self._value(test, scope, test=True)
                with self._block() as then:
                    self._all(body, scope)
                with self._block() as other:
                    self._all(orelse, scope)
                at = loc(node)
                self.out.append(If(condition, tuple(then), tuple(other), loc=at))
            case gast.Return():
                self.findings.add(
                    "P110",
                    loc(node),
                    "an early `return` is not supported yet",
                    "assign the value to a variable and return it at the end",
                )
            case gast.FunctionDef(name=name):
                if node.decorator_list:
                    self.findings.add(
                        "P102",
                        loc(node.decorator_list[0]),
                        f"`{name}` is decorated inside a function",
                        "define it at the top of the module, or without the decorator",
                    )
                self._define(name, node, loc(node), scope)
            case gast.While(test=test, body=body):
                # Refused by the fence; the body is read for its own findings.
                self._value(test, scope, test=True)
                self._all(body, scope)

    def _all(self, body: Sequence[gast.AST], scope: Scope) -> None:
        """The statements of an inner block: a helper defined here ends with it."""
        helpers = dict(scope.helpers)
        self.depth += 1
        for node in body:
            self._statement(node, scope)
        self.depth -= 1
        scope.helpers = helpers

    def _define(self, name: str, node: gast.AST, at: Loc, scope: Scope) -> None:
        """A nested definition, or a lambda that is given a name."""
        if bindings(scope.source.node).count(name) > 1:
            self.findings.add(
                "P206",
                at,
                f"`{name}` is bound more than once",
                "give each function a name of its own",
            )
            self.refused.add(name)
        inner = Source(scope.source.file, scope.source.lines, node)
        scope.helpers[name] = Helper(name, inner, None, scope)

    def _assign(
        self, targets: Sequence[gast.AST], value: gast.AST, at: Loc, scope: Scope
    ) -> None:
        first = targets[0]
        match first, value:
            case gast.Name(id=name), gast.Lambda() if len(targets) == 1:
                self._define(name, value, at, scope)
                return
            case gast.Name(), _ if len(targets) == 1 and self._alloc(
                first, value, at, scope
            ):
                return
            case gast.Tuple() | gast.List(), _ if len(targets) == 1:
                self._unpack(first.elts, value, at, scope)
                return
        single = len(targets) == 1 and isinstance(first, gast.Name)
        mark = len(self.out), len(self.allocated)
        result = self._value(value, scope, whole=single)
        if isinstance(result, Var) and self._is_array_var(result):
            self._alias(first, result, mark, at, scope)
            return
        if single and isinstance(result, Var) and isinstance(value, gast.Name):
            # Should one of them be an array, the next walk knows that both are.
            variable = self._variable(first.id, scope)
            if isinstance(variable, Var):
                self.alike.append((variable.name, result.name))
        if len(targets) > 1 and not isinstance(result, Const):
            result = self._temp(result, "value")
        for target in targets:
            if isinstance(target, (gast.Tuple, gast.List)):
                self._refuse_target(target, scope)
            else:
                self._store(target, result, at, scope)

    def _alias(
        self,
        target: gast.AST,
        array: Var,
        mark: tuple[int, int],
        at: Loc,
        scope: Scope,
    ) -> None:
        """``v = u`` for an array: two names of one array, if `v` names nothing else.

        An array that the value itself made (since `mark`) takes the new name.
        """
        name = target.id if isinstance(target, gast.Name) else ""
        statements, allocations = mark
        new = array.name in list(self.allocated)[allocations:]
        if (
            not name
            or (self.depth and not new)
            or name in scope.bound
            or bindings(scope.source.node).count(name) > 1
        ):
            if name and isinstance(unbound := self._variable(name, scope), Var):
                self.alike.append((unbound.name, array.name))
            self.findings.add(
                "P206",
                at,
                f"this would be another name of the array `{array.name}`",
                "use one name, or write `.copy()`; this is not supported yet",
            )
            return
        if new and not scope.inlined and name not in RESERVED:
            self.out[statements:] = renamed(
                tuple(self.out[statements:]), array.name, name
            )
            self.facts = [
                replace(f, array=name) if f.array == array.name else f
                for f in self.facts
            ]
            self.same = [
                (name if a == array.name else a, name if b == array.name else b)
                for a, b in self.same
            ]
            self.allocated[name] = self.allocated.pop(array.name)
            array = Var(name)
        scope.bound[name] = array

    def _store(self, target: gast.AST, value: Expr, at: Loc, scope: Scope) -> None:
        with self._block() as emitted:
            place = self._target(target, scope)
        # Python evaluates the value before the subscripts of the target.
        if written(tuple(emitted)) & names(value):
            value = self._temp(value, "value")
        self.out.extend(emitted)
        if place is not None:
            self.out.append(Assign(place, value, loc=at))

    def _unpack(
        self, targets: Sequence[gast.AST], value: gast.AST, at: Loc, scope: Scope
    ) -> None:
        values: Sequence[Expr]
        mark = len(self.out), len(self.allocated)
        match value:
            case gast.Tuple(elts=elements) | gast.List(elts=elements):
                values = self._values(elements, scope, whole=True)
            case gast.Attribute(value=base, attr="shape") if (
                array := self._array(base, scope)
            ) is not None:
                self.facts.append(
                    RankFact(array, len(targets), scope.source.loc(value))
                )
                at_value = scope.source.loc(value)
                values = [Extent(array, k, loc=at_value) for k in range(len(targets))]
            case gast.Call():
                results = self._call(value, scope)
                if results is None or results == REFUSED:
                    return
                values = results[0]
            case _:
                self._value(value, scope)
                self.findings.add(
                    "P112",
                    scope.source.loc(value),
                    "this is not a tuple whose length is known",
                    "assign the elements one by one",
                )
                return
        if len(values) != len(targets):
            if any(isinstance(t, gast.Starred) for t in targets):
                return
            self.findings.add(
                "P112",
                at,
                f"{len(values)} values for {len(targets)} names",
                "make the two sides equally long",
            )
            return
        values = list(values)
        for k, target in enumerate(targets):
            given = values[k]
            if isinstance(given, Var) and self._is_array_var(given):
                self._alias(target, given, mark, at, scope)
                continue
            place = self._target(target, scope)
            if place is None:
                continue
            name = place.name if isinstance(place, Var) else place.array
            for later in range(k + 1, len(values)):
                if name in names(values[later]):
                    values[later] = self._temp(values[later], name)
            self.out.append(Assign(place, values[k], loc=at))

    def _augment(self, node: gast.AugAssign, scope: Scope) -> None:
        at = scope.source.loc(node)
        if isinstance(node.op, gast.MatMult):
            self._refuse_matmul(node, scope)
            return
        # Python reads the target before it evaluates the value.
        place = self._target(node.target, scope, augmented=True)
        mark = len(self.out)
        value = self._value(node.value, scope)
        if place is None:
            return
        if written(tuple(self.out[mark:])) & names(place):
            late = self.out[mark:]
            del self.out[mark:]
            if isinstance(place, Load):
                index = tuple(self._kept(e, "index") for e in place.index)
                place = replace(place, index=index)
            old: Expr = self._temp(place, "old")
            self.out.extend(late)
        elif isinstance(node.op, gast.Add):
            self.out.append(Add(place, value, loc=at))
            return
        elif isinstance(node.op, gast.Sub):
            self.out.append(Add(place, negated(value), loc=at))
            return
        else:
            old = place
        result = Call(BINARY[type(node.op)], (old, value), loc=at)
        self.out.append(Assign(place, result, loc=at))

    def _for(self, node: gast.For, scope: Scope) -> None:
        at = scope.source.loc(node)
        bounds = self._range(node.iter, scope)
        index = "index"
        if isinstance(node.target, gast.Name):
            variable = self._variable(node.target.id, scope)
            assert isinstance(variable, Var)
            index = variable.name
        elif bounds is not None:
            self._refuse_target(node.target, scope)
        with self._block() as body:
            self._all(node.body, scope)
        if bounds is None:
            return
        lo, hi, step, reverse = bounds
        changed = written(tuple(body)) | {index}
        # A range is evaluated once: what the body changes is read before it.
        if names(lo) & changed:
            lo = self._temp(lo, "start")
        if names(hi) & changed:
            hi = self._temp(hi, "stop")
        for inner in walk(tuple(body)):
            if isinstance(inner, For) and inner.index == index:
                self.findings.add(
                    "P205",
                    inner.loc,
                    f"the outer loop uses the index `{index}` too",
                    "give each of the two loops its own index",
                )
        self.out.append(For(index, lo, hi, step, tuple(body), reverse, loc=at))

    def _range(
        self, node: gast.AST, scope: Scope, reverse: bool = False
    ) -> tuple[Expr, Expr, Expr, bool] | None:
        function: object = None
        if isinstance(node, gast.Call) and not node.keywords:
            function = self._object(node.func, scope)
        if function is reversed and not reverse and len(node.args) == 1:
            return self._range(node.args[0], scope, True)
        if not is_range(function) or not 1 <= len(node.args) <= 3:
            if type(node) not in fence.REJECTED:
                later = ""
                if function in (enumerate, zip) or self._array(node, scope) is not None:
                    later = "; this form is not supported yet"
                self.findings.add(
                    "P111",
                    scope.source.loc(node),
                    f"`{gast.unparse(node).strip()}` is not a range",
                    "write `for i in range(...)` and index the arrays" + later,
                )
            return None
        step: Expr = Const(1, loc=scope.source.loc(node))
        if len(node.args) == 3:
            step = self._value(node.args[2], scope)
            if not isinstance(step, Const) or type(step.value) is not int:
                self.findings.add(
                    "P207",
                    scope.source.loc(node.args[2]),
                    "the sign of this step is not known in the text",
                    "write the step as a number; other steps are not supported yet",
                )
                step = Const(1)
            elif step.value == 0:
                self.findings.add(
                    "P207",
                    scope.source.loc(node.args[2]),
                    "a step of zero never arrives",
                    "use a step other than zero",
                )
                step = Const(1)
        values = self._values(node.args[:2], scope)
        if len(values) == 1:
            zero = Const(0, loc=scope.source.loc(node))
            return zero, values[0], step, reverse
        return values[0], values[1], step, reverse

    def _target(
        self, node: gast.AST, scope: Scope, augmented: bool = False
    ) -> Var | Load | None:
        at = scope.source.loc(node)
        match node:
            case gast.Name(id=name):
                if name in scope.helpers:
                    self.findings.add(
                        "P206",
                        at,
                        f"`{name}` is a function here",
                        "give the number another name",
                    )
                    return None
                place = self._variable(name, scope)
                assert isinstance(place, Var)
                if place.name in self.allocated or (
                    self._is_array(place.name) and name in _parameter_ids(scope)
                ):
                    self._refuse_rebinding(place.name, name, at, augmented)
                    return None
                return replace(place, loc=at)
            case gast.Subscript():
                load = self._value(node, scope)
                if isinstance(load, Extent):
                    self._refuse_target(node, scope)
                if not isinstance(load, Load):
                    assert self.findings.found
                    return None
                if any(c.name == load.array for c in self.captures.values()):
                    self.findings.add(
                        "P112",
                        at,
                        f"`{load.array}` is not a parameter",
                        "pass the array as a parameter to write to it",
                    )
                return load
        self._refuse_target(node, scope)
        return None

    def _refuse_rebinding(
        self, array: str, name: str, at: Loc, augmented: bool
    ) -> None:
        if augmented:
            self.findings.add(
                "P201",
                at,
                f"`{name}` is a whole array",
                "write the loop over its elements" + fence.LATER,
            )
            return
        self.findings.add(
            "P206",
            at,
            f"`{name}` already names an array",
            "use another name; rebinding an array is not supported yet",
        )

    def _refuse_target(self, node: gast.AST, scope: Scope) -> None:
        if type(node) in fence.REJECTED:
            return
        self.findings.add(
            "P112",
            scope.source.loc(node),
            f"`{gast.unparse(node).strip()}` is neither a name nor an array element",
            "assign to a name or to an element such as `a[i]`",
        )

    def _alloc(self, target: gast.Name, value: gast.AST, at: Loc, scope: Scope) -> bool:
        """``name = np.zeros(...)`` and its like; False if `value` is something else."""
        if not isinstance(value, gast.Call):
            return False
        arguments = list(value.args)
        keywords = {k.arg: k.value for k in value.keywords}
        match value.func:
            case gast.Attribute(value=base, attr="copy") if (
                self._array(base, scope) is not None
            ):
                function: object = np.copy
                arguments.insert(0, base)
            case _:
                function = self._object(value.func, scope)
        try:
            kind, constant = CREATORS[function]  # type: ignore[index]
        except (KeyError, TypeError):
            return False

        def argument(position: int, *spellings: str) -> gast.AST | None:
            if position < len(arguments):
                return arguments[position]
            found = [keywords.pop(s) for s in spellings if s in keywords]
            return found[0] if found else None

        full = function in (np.full, np.full_like)
        if function is np.copy:
            source_node, fill_node, dtype_node = argument(0, "a"), None, None
        else:
            source_node = argument(0, "shape", "a", "prototype")
            fill_node = argument(1, "fill_value") if full else None
            dtype_node = argument(2 if full else 1, "dtype")
        if source_node is None or keywords or len(arguments) > 2 + full:
            self._refuse_alloc(value, "these arguments", scope)
            return True
        # Python evaluates the shape first, then the fill value.
        mark = len(self.out)
        source: str | None = None
        if kind == "shape":
            shape = self._shape(source_node, target.id, scope)
            dtype = "float64"
        else:
            source = self._array(source_node, scope)
            if source is None:
                self._refuse_alloc(source_node, "what is not an array's name", scope)
                return True
            shape = self._extents(source, scope.source.loc(source_node))
            dtype = f"like:{source}"
        fill: Expr | None = None if constant is None else Const(constant)
        if full:
            if fill_node is None:
                self._refuse_alloc(value, "no fill value", scope)
                return True
            fill = self._value(fill_node, scope)
            if kind == "shape":
                dtype = self._dtype_of(fill)
                if dtype.startswith("like:") and not isinstance(fill, (Var, Load)):
                    fill = self._temp(fill, "fill")
                    dtype = f"like:{fill.name}"
        if dtype_node is not None:
            named = self._dtype(dtype_node, scope)
            if named is None:
                self._refuse_alloc(dtype_node, "this dtype", scope)
                return True
            dtype = named
        if shape is None:
            return True
        if any(written(tuple(self.out[mark:])) & names(e) for e in shape):
            self._refuse_alloc(value, "a fill value that changes the shape", scope)
            return True
        place = self._variable(target.id, scope)
        assert isinstance(place, Var)
        name = place.name
        if name in self.allocated or target.id in _parameter_ids(scope):
            self._refuse_rebinding(name, target.id, scope.source.loc(target), False)
            return True
        self.allocated[name] = at
        if kind == "shape":
            if not is_shape(source_node):
                self.facts.append(RankFact(name, len(shape), at))
        else:
            assert source is not None
            self.same.append((name, source))
        copied = source if function is np.copy else None
        self.out.append(Alloc(name, shape, fill, dtype, copied, loc=at))
        return True

    def _shape(
        self, node: gast.AST, target: str, scope: Scope
    ) -> tuple[Expr, ...] | None:
        match node:
            case gast.Tuple(elts=[]) | gast.List(elts=[]):
                self._refuse_alloc(node, "an array without axes", scope)
                return None
            case gast.Tuple(elts=elements) | gast.List(elts=elements):
                return tuple(self._values(elements, scope))
            case gast.Attribute(value=base, attr="shape") if (
                array := self._array(base, scope)
            ) is not None:
                place = self._variable(target, scope)
                assert isinstance(place, Var)
                self.same.append((place.name, array))
                return self._extents(array, scope.source.loc(node))
            case _:
                return (self._value(node, scope),)

    def _dtype(self, node: gast.AST, scope: Scope) -> str | None:
        match node:
            case gast.Attribute(value=base, attr="dtype") if (
                array := self._array(base, scope)
            ) is not None:
                return f"like:{array}"
            case gast.Constant(value=str() as text):
                return dtype_name(text)
        if self.loose and isinstance(node, gast.Attribute) and node.attr in DTYPES:
            return str(node.attr)
        return dtype_name(self._object(node, scope))

    def _dtype_of(self, fill: Expr) -> str:
        match fill:
            case Const(bool()):
                return "bool"
            case Const(int()):
                return "int64"
            case Const():
                return "float64"
            case Var(name):
                return f"like:{name}"
            case Load(array):
                return f"like:{array}"
        return "like:"

    def _refuse_alloc(self, node: gast.AST, what: str, scope: Scope) -> None:
        self.findings.add(
            "P208",
            scope.source.loc(node),
            f"a new array cannot be made from {what}",
            "write `np.zeros(shape, dtype)` with integers or `a.shape`, and a dtype",
        )


def _parameter_ids(scope: Scope) -> tuple[str, ...]:
    return tuple(p.id for p in parameters(scope.source.node))


def renamed(block: Block, old: str, new: str) -> Block:
    """`block` with the array `old` called `new`."""

    def visit(e: Expr) -> Expr:
        match e:
            case Var(name) if name == old:
                return replace(e, name=new)
            case Load(name) | Extent(name) if name == old:
                return replace(e, array=new)
        return e

    def allocs(s: Stmt) -> Stmt:
        if isinstance(s, Alloc):
            return replace(
                s,
                array=new if s.array == old else s.array,
                source=new if s.source == old else s.source,
                dtype=f"like:{new}" if s.dtype == f"like:{old}" else s.dtype,
            )
        return with_blocks(s, tuple(tuple(map(allocs, b)) for b in blocks(s)))

    return tuple(map(allocs, map_block(block, visit)))
