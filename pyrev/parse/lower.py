"""What a Python definition means in the IR: statements, expressions and inlined calls.

The only file that reads gast for meaning. Calls of helpers become their statements in
front of the statement that calls, so every place that evaluates several operands keeps
their order (`_values`). What is refused goes to a collector and a placeholder stands for
it, so that one walk reports everything.
"""

from __future__ import annotations

import builtins
import keyword
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import CodeType, FunctionType, ModuleType

import gast
import numpy as np

from pyrev.diagnostics import Findings, UnsupportedError
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
    fresh,
    names,
    substitute,
    walk_expr,
    written,
)
from pyrev.parse import fence
from pyrev.parse.expression import BINARY, BOOLEAN, COMPARE, UNARY, negated
from pyrev.parse.functions import (
    CREATORS,
    DTYPES,
    FOLDED,
    Meaning,
    dtype_name,
    is_range,
    meaning,
)
from pyrev.parse.shapes import RankFact
from pyrev.parse.source import Source, plain, read

# Names that the printed form of a program uses itself.
RESERVED = frozenset(
    [*keyword.kwlist, "np", "math", "range", "reversed", "len", "min", "max", "abs"]
    + ["int", "float", "bool", "round", "numba", "prange"]
)

_PREDICATES = frozenset(
    ["<", "<=", ">", ">=", "==", "!=", "not", "and", "or", "bool"]
    + ["isnan", "isinf", "isfinite"]
)


class _Missing:
    """What a name that stands for nothing resolves to."""


_MISSING = _Missing()


@dataclass(frozen=True, slots=True)
class Capture:
    """A parameter that holds a global or closure value, and where that value is now."""

    name: str
    holder: FunctionType
    path: tuple[str, ...]

    def read(self) -> object:
        """The present value."""
        value = lookup(self.holder, self.path[0])
        for attribute in self.path[1:]:
            value = getattr(value, attribute)
        if isinstance(value, _Missing):
            raise NameError(f"name '{self.path[0]}' is not defined")
        return value


@dataclass(frozen=True, slots=True)
class Inlined:
    """A helper whose body is part of the program: calls check that it is still bound."""

    holder: FunctionType
    path: tuple[str, ...]
    code: CodeType

    def current(self) -> bool:
        """Whether the name still stands for the code that was inlined."""
        try:
            value = Capture("", self.holder, self.path).read()
        except (NameError, AttributeError):
            return False
        python = plain(value)
        return python is not None and python.__code__ is self.code


def lookup(f: FunctionType, name: str) -> object:
    """What a free name of `f` stands for now: closure, then module, then builtins."""
    if name in f.__code__.co_freevars:
        assert f.__closure__ is not None
        cell = f.__closure__[f.__code__.co_freevars.index(name)]
        try:
            return cell.cell_contents
        except ValueError:
            return _MISSING
    if name in f.__globals__:
        return f.__globals__[name]
    return getattr(builtins, name, _MISSING)


@dataclass(slots=True)
class Scope:
    """One function being lowered: what its names stand for."""

    source: Source
    python: FunctionType | None
    local: frozenset[str]
    outer: Scope | None
    stack: tuple[object, ...]
    inlined: bool
    bound: dict[str, Expr] = field(default_factory=dict)
    helpers: dict[str, Helper] = field(default_factory=dict)

    @property
    def home(self) -> FunctionType | None:
        """The function whose free names this scope's free names are."""
        if self.python is None and self.outer is not None:
            return self.outer.home
        return self.python


@dataclass(frozen=True, slots=True)
class Helper:
    """A function that can be inlined; `scope` is where it was defined, if here."""

    name: str
    source: Source
    python: FunctionType | None
    scope: Scope | None

    @property
    def key(self) -> object:
        return self.source.node if self.python is None else self.python.__code__


@dataclass(slots=True)
class Lowering:
    """One walk over a function and its helpers.

    `ranks` are those the previous walk found: what depends on a rank (`a.size`,
    `np.zeros_like(a)`) is right once they no longer change.
    """

    ranks: Mapping[str, int]
    loose: bool = False
    findings: Findings = field(default_factory=Findings)
    taken: set[str] = field(default_factory=lambda: set(RESERVED))
    out: list[Stmt] = field(default_factory=list)
    captures: dict[tuple[object, ...], Capture] = field(default_factory=dict)
    inlined: dict[tuple[object, ...], Inlined] = field(default_factory=dict)
    facts: list[RankFact] = field(default_factory=list)
    same: list[tuple[str, str]] = field(default_factory=list)
    allocated: dict[str, Loc] = field(default_factory=dict)
    fenced: list[object] = field(default_factory=list)
    occupied: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)
    depth: int = 0

    # -------------------------------------------------------------- the function

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
        *rest, last = node.body
        for child in rest:
            self._statement(child, scope)
        if isinstance(last, gast.Return):
            return self._returned(last, scope)
        self._statement(last, scope)
        return None

    def _returned(
        self, node: gast.Return, scope: Scope
    ) -> tuple[tuple[Expr, ...], bool, Loc] | None:
        at = scope.source.loc(node)
        match node.value:
            case None | gast.Constant(value=None):
                return None
            case gast.Tuple(elts=elements):
                values = self._values(elements, scope, whole=True)
                return tuple(values), False, at
            case gast.Call() as call:
                results = self._call(call, scope, whole=True)
                return (*results, at) if results is not None else None
            case value:
                return (self._value(value, scope, whole=True),), True, at

    # -------------------------------------------------------------- statements

    @contextmanager
    def _block(self) -> Iterator[list[Stmt]]:
        """Statements lowered inside go to a new list."""
        outside, self.out = self.out, []
        try:
            yield self.out
        finally:
            self.out = outside

    def _statement(self, node: gast.AST, scope: Scope) -> None:
        loc = scope.source.loc
        match node:
            case gast.Pass() | gast.Expr(value=gast.Constant(value=str())):
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
                        "define it at the top of the module, or leave the decorator out",
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
        mark = len(self.allocated)
        result = self._value(value, scope, whole=single)
        if self._is_array_var(result):
            fresh_array = result.name in list(self.allocated)[mark:]
            self._alias(first, result, fresh_array, at, scope)
            return
        if len(targets) > 1 and not isinstance(result, Const):
            result = self._temp(result, "value")
        for target in targets:
            if isinstance(target, (gast.Tuple, gast.List)):
                self._refuse_target(target, scope)
            else:
                self._store(target, result, at, scope)

    def _alias(
        self, target: gast.Name, array: Var, new: bool, at: Loc, scope: Scope
    ) -> None:
        """``v = u`` for an array: two names of one array, if `v` names nothing else."""
        name = target.id
        if (
            (self.depth and not new)
            or name in scope.bound
            or bindings(scope.source.node).count(name) > 1
        ):
            self.findings.add(
                "P206",
                at,
                f"`{name}` would be another name of the array `{array.name}` here",
                "use one name, or write `.copy()`; this is not supported yet",
            )
            return
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
        match value:
            case gast.Tuple(elts=elements) | gast.List(elts=elements):
                values = self._values(elements, scope)
            case gast.Attribute(value=base, attr="shape") if (
                array := self._array(base, scope)
            ) is not None:
                self.facts.append(RankFact(array, len(targets), scope.source.loc(value)))
                at_value = scope.source.loc(value)
                values = [
                    Extent(array, k, loc=at_value) for k in range(len(targets))
                ]
            case gast.Call():
                results = self._call(value, scope)
                values = () if results is None else results[0]
                if results is None:
                    return
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
            self.findings.add(
                "P112",
                at,
                f"{len(values)} values for {len(targets)} names",
                "make the two sides equally long",
            )
            return
        values = list(values)
        for k, target in enumerate(targets):
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
        if index in written(tuple(body)):
            self.findings.add(
                "P205",
                scope.source.loc(node.target),
                f"the body assigns the loop index `{index}`",
                "assign to another name; writing to the index is not supported yet",
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

    # -------------------------------------------------------------- targets

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
                if not isinstance(load, Load):
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

    def _refuse_rebinding(self, array: str, name: str, at: Loc, augmented: bool) -> None:
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

    def _variable(self, name: str, scope: Scope) -> Expr:
        """What a local name stands for; its first mention gives it its IR name."""
        if name not in scope.bound:
            if scope.inlined or name in RESERVED:
                scope.bound[name] = Var(self._fresh(name))
            else:
                scope.bound[name] = Var(name)
        return scope.bound[name]

    # -------------------------------------------------------------- new arrays

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
            assert fill_node is not None or not full
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
            if not _is_shape(source_node):
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

    def _extents(self, array: str, at: Loc) -> tuple[Expr, ...]:
        self.facts.append(RankFact(array, 1, at, least=True))
        rank = self.ranks.get(array, 1)
        return tuple(Extent(array, k, loc=at) for k in range(rank))

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
            "write `np.zeros(shape, dtype)` with integers or `a.shape`, and a known dtype",
        )

    # -------------------------------------------------------------- expressions

    def _fresh(self, name: str) -> str:
        name = fresh(name, self.taken)
        self.occupied.add(name)
        return name

    def _temp(self, value: Expr, name: str) -> Var:
        variable = Var(self._fresh(name), loc=value.loc)
        self.out.append(Assign(variable, value, loc=value.loc))
        return variable

    def _kept(self, value: Expr, name: str) -> Expr:
        return value if isinstance(value, Const) else self._temp(value, name)

    def _values(
        self, nodes: Sequence[gast.AST], scope: Scope, whole: bool = False
    ) -> list[Expr]:
        """Operands from left to right; statements of a later one come after earlier ones.

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

    def _is_array_var(self, value: Expr) -> bool:
        return isinstance(value, Var) and self._is_array(value.name)

    def _is_array(self, name: str) -> bool:
        return self.ranks.get(name, 0) > 0 or name in self.allocated

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
                "P106", at, _what(node), "use numbers, arrays and their elements"
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
        holder = self._holder(path[0], scope)
        if isinstance(found, _Missing):
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
                return Var(self._capture(holder, path, found), loc=at)
            self.findings.add(
                "P201",
                at,
                f"`{text}` is a whole array, and a number is needed here",
                "write the loop over its elements" + fence.LATER,
            )
            return ZERO
        if isinstance(found, (bool, int, float, np.number, np.bool_)) and not isinstance(
            found, (np.complexfloating, np.float16, np.longdouble)
        ):
            return Var(self._capture(holder, path, found), loc=at)
        self.findings.add(
            "P113",
            at,
            f"`{text}` is {_kind(found)}",
            "use a number, an array, or a call of a function",
        )
        return ZERO

    def _holder(self, name: str, scope: Scope) -> FunctionType:
        home = scope.home
        assert home is not None or self.loose
        return home  # type: ignore[return-value]

    def _capture(
        self, holder: FunctionType, path: tuple[str, ...], value: object
    ) -> str:
        if path[0] in holder.__code__.co_freevars:
            assert holder.__closure__ is not None
            index = holder.__code__.co_freevars.index(path[0])
            key: tuple[object, ...] = (id(holder.__closure__[index]), *path[1:])
        else:
            key = (id(holder.__globals__), *path)
        if key not in self.captures:
            name = path[-1]
            # The user's own name, unless a local or another module's global has it.
            if name in RESERVED or name in self.occupied:
                name = self._fresh(name)
            self.taken.add(name)
            self.occupied.add(name)
            self.captures[key] = Capture(name, holder, path)
            if isinstance(value, np.ndarray):
                self.facts.append(RankFact(name, value.ndim, _NOWHERE, least=True))
        return self.captures[key].name

    def _find(self, name: str, scope: Scope) -> object:
        """What a name stands for: the `Scope` that binds it, a `Helper`, or a value."""
        place: Scope | None = scope
        while place is not None:
            if name in place.helpers:
                return place.helpers[name]
            if name in place.local:
                return place
            if place.python is not None:
                return lookup(place.python, name)
            if place.outer is None:
                break
            place = place.outer
        return _LOOSE.get(name, _MISSING) if self.loose else _MISSING

    def _object(self, node: gast.AST, scope: Scope) -> object:
        """The Python object that a name or a module's attribute stands for."""
        match node:
            case gast.Name(id=name):
                found = self._find(name, scope)
                if isinstance(found, Scope):
                    bound = found.bound.get(name)
                    return bound if isinstance(bound, Helper) else _MISSING
                return found
            case gast.Attribute(value=base, attr=attr):
                module = self._object(base, scope)
                if isinstance(module, ModuleType):
                    return getattr(module, attr, _MISSING)
        return _MISSING

    def _array(self, node: gast.AST, scope: Scope) -> str | None:
        """The array that a bare name (or a module's attribute) stands for."""
        match node:
            case gast.Name(id=name):
                found = self._find(name, scope)
                if isinstance(found, Scope):
                    bound = self._variable(name, found)
                    return bound.name if isinstance(bound, Var) else None
                if isinstance(found, _Missing) and self.loose:
                    return str(name)
                if isinstance(found, np.ndarray) and found.ndim > 0:
                    return self._capture(self._holder(name, scope), (name,), found)
            case gast.Attribute():
                found = self._object(node, scope)
                if isinstance(found, np.ndarray) and found.ndim > 0:
                    path = tuple(gast.unparse(node).strip().split("."))
                    return self._capture(self._holder(path[0], scope), path, found)
        return None

    def _attribute(self, node: gast.Attribute, scope: Scope) -> Expr:
        at = scope.source.loc(node)
        found = self._object(node, scope)
        if not isinstance(found, _Missing):
            module = self._object(node.value, scope)
            if isinstance(found, float) and _module_name(module) in ("math", "numpy"):
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

    def _subscript(self, node: gast.Subscript, scope: Scope) -> Expr:
        at = scope.source.loc(node)
        match node.value:
            case gast.Attribute(value=base, attr="shape") if (
                array := self._array(base, scope)
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
                    f"`{gast.unparse(node).strip()}` is a part of the array, not an element",
                    "write the loop over its elements" + fence.LATER,
                )
                return ZERO
        values = self._values(indices, scope)
        for k, value in enumerate(values):
            if isinstance(value, Const) and type(value.value) is int and value.value < 0:
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
        values = self._values([node.left, *node.comparators], scope)
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
        for k, other in enumerate(node.values[1:]):
            with self._block() as emitted:
                value = self._value(other, scope, test=test)
            truth = test or (_is_truth(first) and _is_truth(value))
            if not emitted and truth:
                first = Call(op, (first, value), loc=at)
                continue
            first = first if isinstance(first, (Const, Var)) else self._temp(first, "test")
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

    # -------------------------------------------------------------- calls

    def _call(
        self,
        node: gast.Call,
        scope: Scope,
        *,
        dropped: bool = False,
        whole: bool = False,
    ) -> tuple[tuple[Expr, ...], bool] | None:
        """Lower a call; None if it gives nothing (or was refused)."""
        at = scope.source.loc(node)
        function = self._object(node.func, scope)
        text = gast.unparse(node.func).strip()
        for argument in node.keywords:
            if argument.arg is None:
                self.findings.add(
                    "P108", at, "`**` spreads arguments", "write each argument out"
                )
                return None
        if isinstance(function, Helper):
            return self._inline(function, node, scope, dropped)
        single = self._known(function, text, node, scope)
        if single is not None:
            if dropped:
                self.findings.add(
                    "P115", at, "the value is not used", "assign it, or remove the line"
                )
            return (single,), True
        if self._is_known(function):
            return None
        python = plain(function)
        if python is not None:
            try:
                source = read(python)
            except UnsupportedError as error:
                for f in error.findings:
                    self.findings.add(f.code, at, f.because, f.help)
                return None
            holder, path = scope.home, tuple(text.split("."))
            if holder is not None:
                key = (id(holder), *path)
                self.inlined[key] = Inlined(holder, path, python.__code__)
            helper = Helper(python.__name__, source, python, None)
            return self._inline(helper, node, scope, dropped)
        if type(node.func) in fence.REJECTED:
            return None
        for argument in node.args:
            self._value(argument, scope, whole=True)
        self._refuse_call(function, text, node, scope)
        return None

    def _is_known(self, function: object) -> bool:
        if function is len or is_range(function) or meaning(function) is not None:
            return True
        try:
            return function in FOLDED or function in CREATORS
        except TypeError:
            return False

    def _refuse_call(
        self, function: object, text: str, node: gast.Call, scope: Scope
    ) -> None:
        if text.split(".")[0] in self.refused:
            return
        home = scope.home
        if isinstance(function, _Missing) and home is not None and text == home.__name__:
            self._refuse_recursion(text, scope.source.loc(node))
            return
        because = f"`{text}` is {_kind(function)} that pyrev does not know"
        helps = "write it as loops and arithmetic in a plain function"
        if isinstance(function, _Missing):
            because = f"`{text}` is not a function that is known here"
            helps = "define it before the function is differentiated"
            if isinstance(node.func, gast.Attribute):
                helps = "methods are outside the language: write it as loops"
        elif _module_name(function) == "numpy":
            helps = "whole-array functions are not supported yet: write the loop"
        self.findings.add("P107", scope.source.loc(node.func), because, helps)

    def _refuse_recursion(self, name: str, at: Loc) -> None:
        self.findings.add(
            "P109", at, f"`{name}` calls itself", "write the recursion as a loop"
        )

    def _known(
        self, function: object, text: str, node: gast.Call, scope: Scope
    ) -> Expr | None:
        """A call of a function of the table, or None."""
        at = scope.source.loc(node)
        if function is len and len(node.args) == 1 and not node.keywords:
            return self._len(node, scope)
        found = meaning(function)
        if found is not None:
            return self._apply(found, text, node, scope)
        if is_range(function):
            self.findings.add(
                "P111", at, "a range outside a `for`", "write it in the `for` statement"
            )
            return None
        try:
            op = FOLDED.get(function)
            creates = function in CREATORS
        except TypeError:
            return None
        if creates:
            self.findings.add(
                "P208",
                at,
                "a new array must have a name of its own",
                "assign it first, as the only target: `u = np.zeros(n)`",
            )
            return None
        if op is None:
            if self.loose and isinstance(node.func, gast.Name):
                args = self._values(node.args, scope)
                return Call(node.func.id, tuple(args), loc=at)
            return None
        if len(node.args) < 2 or node.keywords:
            self.findings.add(
                "P108",
                at,
                f"`{text}` of one argument looks into an array",
                f"write the loop, or `{text}(a, b)` of numbers",
            )
            return None
        first, *rest = self._values(node.args, scope)
        for other in rest:
            first = Call(op, (first, other), loc=at)
        return first

    def _len(self, node: gast.Call, scope: Scope) -> Expr:
        at = scope.source.loc(node)
        match node.args[0]:
            case gast.Attribute(value=base, attr="shape") if (
                array := self._array(base, scope)
            ) is not None:
                self.facts.append(RankFact(array, 1, at, least=True))
                return Const(self.ranks.get(array, 1), loc=at)
        array = self._array(node.args[0], scope)
        if array is None:
            self.findings.add(
                "P203",
                scope.source.loc(node.args[0]),
                "`len` measures an array by its name",
                "give the array a name first",
            )
            return ZERO
        self.facts.append(RankFact(array, 1, at, least=True))
        return Extent(array, 0, loc=at)

    def _apply(
        self, found: Meaning, text: str, node: gast.Call, scope: Scope
    ) -> Expr | None:
        at = scope.source.loc(node)
        # float("inf") is how many write infinity.
        match node.args:
            case [gast.Constant(value=str() as word)] if text == "float":
                try:
                    return Const(float(word), loc=at)
                except ValueError:
                    pass
        keywords = {k.arg: k.value for k in node.keywords}
        rest = [p for p in found.parameters[len(node.args) :] if p in keywords]
        if (
            len(node.args) + len(rest) != len(found.parameters)
            or len(rest) != len(keywords)
            or not all(p in keywords for p in found.parameters[len(node.args) :])
        ):
            self.findings.add(
                "P108",
                at,
                f"`{text}` takes {', '.join(found.parameters)} here",
                "give exactly these arguments",
            )
            return None
        nodes = [*node.args, *(keywords[k.arg] for k in node.keywords)]
        order = [*found.parameters[: len(node.args)], *(k.arg for k in node.keywords)]
        bound = dict(zip(order, self._values(nodes, scope)))
        used = [e.name for e in walk_expr(found.body) if isinstance(e, Var)]
        for name, value in bound.items():
            if used.count(name) > 1 and not isinstance(value, (Const, Var, Load)):
                bound[name] = self._temp(value, name)
        return _at(substitute(found.body, bound), found.body, at)

    def _inline(
        self, helper: Helper, node: gast.Call, scope: Scope, dropped: bool
    ) -> tuple[tuple[Expr, ...], bool] | None:
        """The body of a helper, in place of its call."""
        at = scope.source.loc(node)
        if helper.key in scope.stack:
            self._refuse_recursion(helper.name, at)
            return None
        if helper.key not in self.fenced:
            self.fenced.append(helper.key)
            fence.check(helper.source, self.findings)
            self.refused |= fence.bound_by_refused(helper.source.node)
        arguments = self._bind(helper, node, scope)
        if arguments is None:
            return None
        bound: list[str] = []
        nodes: list[gast.AST] = []
        functions: dict[str, Helper] = {}
        fixed: dict[str, Expr] = {}
        for name, argument in arguments:
            if isinstance(argument, Const):
                fixed[name] = argument
                continue
            function = self._function(argument, scope)
            if function is not None:
                functions[name] = function
            else:
                bound.append(name)
                nodes.append(argument)
        values = dict(zip(bound, self._values(nodes, scope, whole=True))) | fixed
        mark = len(self.out)
        for cheap in (True, False):
            inner = self._enter(helper, values, functions, scope, cheap)
            lent = [e for e in inner.bound.values() if not isinstance(e, (Var, Const))]
            returned = self._body(inner)
            changed = written(tuple(self.out[mark:]))
            if not any(changed & names(e) for e in lent):
                break
            del self.out[mark:]
        if returned is None:
            if not dropped:
                self.findings.add(
                    "P108",
                    at,
                    f"`{helper.name}` returns nothing",
                    "end it with `return` and the value",
                )
            return None
        results, single, _ = returned
        return results, single

    def _function(self, node: gast.AST, scope: Scope) -> Helper | None:
        """The helper that an argument names, so that functions can be passed on."""
        if isinstance(node, gast.Lambda):
            inner = Source(scope.source.file, scope.source.lines, node)
            return Helper("<lambda>", inner, None, scope)
        found = self._object(node, scope)
        if isinstance(found, Helper):
            return found
        if isinstance(found, FunctionType) and meaning(found) is None:
            try:
                return Helper(found.__name__, read(found), found, None)
            except UnsupportedError:
                return None
        return None

    def _enter(
        self,
        helper: Helper,
        values: Mapping[str, Expr],
        functions: Mapping[str, Helper],
        caller: Scope,
        cheap: bool,
    ) -> Scope:
        """The scope of an inlined helper: each parameter bound to its argument.

        An argument stands for the parameter where that changes nothing: a constant or
        a name that the helper does not assign, and in a helper that is one expression
        an element or a value used once. Others are evaluated first.
        """
        node = helper.source.node
        scope = Scope(
            helper.source,
            helper.python,
            local_names(node) - functions.keys(),
            helper.scope,
            (*caller.stack, helper.key),
            True,
        )
        scope.helpers.update(functions)
        assigned = assigned_names(node)
        simple = _is_one_expression(node) and cheap
        uses = [n.id for n in gast.walk(node) if isinstance(n, gast.Name)]
        for name, value in values.items():
            lent = (
                isinstance(value, (Const, Var))
                or (simple and isinstance(value, Load))
                or (simple and uses.count(name) <= 2)
            )
            if lent and name not in assigned:
                scope.bound[name] = value
            else:
                variable = self._variable(name, scope)
                assert isinstance(variable, Var)
                at = value.loc
                self.out.append(Assign(replace(variable, loc=at), value, loc=at))
        return scope

    def _bind(
        self, helper: Helper, node: gast.Call, scope: Scope
    ) -> list[tuple[str, gast.AST | Const]] | None:
        """Each parameter with its argument, in the order of evaluation."""
        at = scope.source.loc(node)
        spec = helper.source.node.args

        def refuse(because: str, helps: str) -> None:
            self.findings.add("P108", at, because, helps)

        positional = [*spec.posonlyargs, *spec.args]
        named = [p.id for p in [*spec.args, *spec.kwonlyargs]]
        every = [p.id for p in [*positional, *spec.kwonlyargs]]
        if spec.vararg is not None or spec.kwarg is not None:
            return None
        if len(node.args) > len(positional):
            refuse(
                f"`{helper.name}` takes {len(positional)} positional arguments",
                "leave out the others",
            )
            return None
        bound: list[tuple[str, gast.AST | Const]] = [
            (p.id, a) for p, a in zip(positional, node.args)
        ]
        for argument in node.keywords:
            if argument.arg not in named or argument.arg in dict(bound):
                refuse(
                    f"`{helper.name}` cannot take `{argument.arg}` here",
                    f"its parameters are {', '.join(every)}",
                )
                return None
            bound.append((argument.arg, argument.value))
        for name in every:
            if name in dict(bound):
                continue
            default = self._default(helper, name)
            if default is None:
                refuse(
                    f"`{helper.name}` needs `{name}`, and a default is a number",
                    f"give `{name}` in the call",
                )
                return None
            bound.append((name, default))
        return bound

    def _default(self, helper: Helper, name: str) -> Const | None:
        spec = helper.source.node.args
        positional = [p.id for p in [*spec.posonlyargs, *spec.args]]
        value: object = _MISSING
        if helper.python is not None:
            given = helper.python.__defaults__ or ()
            defaults = dict(zip(positional[len(positional) - len(given) :], given))
            value = {**defaults, **(helper.python.__kwdefaults__ or {})}.get(
                name, _MISSING
            )
        else:
            given = spec.defaults
            nodes = dict(zip(positional[len(positional) - len(given) :], given))
            only = [p.id for p in spec.kwonlyargs]
            nodes |= {n: d for n, d in zip(only, spec.kw_defaults) if d is not None}
            default = nodes.get(name)
            if isinstance(default, gast.UnaryOp) and isinstance(default.op, gast.USub):
                inner = default.operand
                if isinstance(inner, gast.Constant):
                    return Const(-inner.value)
            if isinstance(default, gast.Constant):
                value = default.value
        return Const(value) if type(value) in (bool, int, float) else None


_NOWHERE = Loc("", 0, 0, 0, 0)

_LOOSE: dict[str, object] = {}


def _loose() -> dict[str, object]:
    import math

    known = ("range", "reversed", "len", "min", "max", "abs", "int", "float", "bool")
    return {
        **{name: getattr(builtins, name) for name in (*known, "round", "pow")},
        "np": np,
        "numpy": np,
        "math": math,
    }


_LOOSE.update(_loose())


# ------------------------------------------------------------------ the tree


def _is_shape(node: gast.AST) -> bool:
    return isinstance(node, gast.Attribute) and node.attr == "shape"


def _parameter_ids(scope: Scope) -> tuple[str, ...]:
    return tuple(p.id for p in parameters(scope.source.node))


def bindings(node: gast.AST) -> list[str]:
    """The name of each binding in the text of a definition, parameters included."""
    found = [p.id for p in parameters(node)]
    for child in gast.walk(node):
        if isinstance(child, gast.Name) and isinstance(child.ctx, gast.Store):
            found.append(child.id)
        elif isinstance(child, (gast.FunctionDef, gast.ClassDef)) and child is not node:
            found.append(child.name)
    return found


def parameters(node: gast.AST) -> list[gast.Name]:
    """The named parameters of a definition, in order."""
    spec = node.args
    return [*spec.posonlyargs, *spec.args, *spec.kwonlyargs]


def assigned_names(node: gast.AST) -> frozenset[str]:
    """What the statements of a definition bind, nested definitions apart."""
    found: set[str] = set()
    body = node.body if isinstance(node.body, list) else [node.body]
    stack: list[gast.AST] = list(body)
    while stack:
        child = stack.pop()
        if isinstance(child, gast.Name) and isinstance(child.ctx, gast.Store):
            found.add(child.id)
        if isinstance(child, (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef)):
            found.add(child.name)
        elif not isinstance(child, gast.Lambda):
            stack.extend(gast.iter_child_nodes(child))
    return frozenset(found)


def local_names(node: gast.AST) -> frozenset[str]:
    """Every name that is local to a definition."""
    spec = node.args
    stars = [a for a in (spec.vararg, spec.kwarg) if a is not None]
    return assigned_names(node) | {p.id for p in [*parameters(node), *stars]}


def identifiers(node: gast.AST) -> frozenset[str]:
    """Every name in the text of a definition: none may be given to something new."""
    return frozenset(n.id for n in gast.walk(node) if isinstance(n, gast.Name))


def _is_one_expression(node: gast.AST) -> bool:
    if isinstance(node, gast.Lambda):
        return True
    body = [
        s
        for s in node.body
        if not (isinstance(s, gast.Expr) and isinstance(s.value, gast.Constant))
    ]
    return len(body) == 1 and isinstance(body[0], gast.Return)


def _at(value: Expr, pattern: Expr, at: Loc) -> Expr:
    """Give the nodes that come from `pattern` the position of the call."""
    if isinstance(pattern, Call) and isinstance(value, Call):
        args = tuple(_at(v, p, at) for v, p in zip(value.args, pattern.args))
        return replace(value, args=args, loc=at)
    return value


def _is_truth(value: Expr) -> bool:
    match value:
        case Const(bool()):
            return True
        case Call(op):
            return op in _PREDICATES
    return False


def _module_name(value: object) -> str:
    if isinstance(value, ModuleType):
        return value.__name__
    if isinstance(value, np.ufunc):
        return "numpy"
    return str(getattr(value, "__module__", "")).split(".")[0]


def _kind(value: object) -> str:
    """What a Python object is, in words."""
    match value:
        case Helper() | FunctionType():
            return "a function"
        case ModuleType():
            return "a module"
        case type():
            return "a class"
        case None:
            return "None"
        case str():
            return "a string"
        case np.ndarray():
            return "an array without axes"
        case np.generic() | complex():
            return f"a number of type {type(value).__name__}"
    if callable(value):
        return "a function"
    return f"an object of type {type(value).__name__}"


def _what(node: gast.AST) -> str:
    match node:
        case gast.Constant(value=str()):
            return "a string"
        case gast.Constant(value=None):
            return "`None`"
        case gast.Constant(value=complex()):
            return "a complex number"
        case gast.Constant(value=bytes()):
            return "bytes"
        case gast.Tuple():
            return "a tuple where a number is needed"
        case gast.List():
            return "a list"
        case gast.Lambda():
            return "a function where a number is needed"
    return "not a number"
