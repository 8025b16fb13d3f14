"""What a Python definition means in the IR: statements, targets and new arrays.

Names, expressions and calls are `names`, `values` and `calls`; the walk is one object
because each needs the others. What is refused goes to a collector and a placeholder
stands for it, so that one walk reports everything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import FunctionType

import gast

from pyrev.ir.nodes import (
    FALSE,
    NOWHERE,
    ONE,
    TRUE,
    ZERO,
    Add,
    Alloc,
    Assign,
    Block,
    Call,
    Check,
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
    While,
    map_expr,
    mentioned,
    names,
    with_value,
    written,
)
from pyrev.ir.simplify import add_int, sub_int
from pyrev.ir.text import negation
from pyrev.parse import fence, views
from pyrev.parse.bindings import (
    bindings,
    identifiers,
    local_names,
    loose,
    parameters,
    tail_form,
)
from pyrev.parse.control import LEAVE, RETURNED, structured
from pyrev.parse.directives import checkpointed
from pyrev.parse.expression import BINARY, assigned, conjunction
from pyrev.parse.functions import is_range
from pyrev.parse.names import RESERVED, Helper, Scope
from pyrev.parse.rebinding import Compound, Phases, Rebinding, parameter_ids
from pyrev.parse.shapes import RankFact
from pyrev.parse.source import Source
from pyrev.parse.values import (
    Array,
    Nothing,
    Operand,
    Refused,
    Tuple,
    Value,
    same,
    stored_in,
    whole_array,
)

#: What a body returns, and where.
Returned = tuple[Value, Loc]


@dataclass(frozen=True, slots=True)
class _Header:
    """What a `for` runs over; `bind` gives the targets their values at an index."""

    index: str
    lo: Expr
    hi: Expr
    step: Const
    reverse: bool
    bind: Callable[[Expr], None]
    slots: int | None = None


@dataclass(slots=True)
class _Differing:
    """The array that receives what paths of a helper return, and what that is.

    Which of them it was is a number when the program runs.
    """

    name: str
    which: str
    at: Loc
    wholes: list[Array] = field(default_factory=list)
    choices: list[Array | None] = field(default_factory=list)


@dataclass(slots=True)
class Lowering(Rebinding):
    """The whole walk: `function` lowers a definition, `statements` a bare block."""

    #: The flags that end the loops around, innermost last.
    _leaving: list[tuple[str, ...]] = field(default_factory=list)
    #: Of the function that is read, by position: results that differ from path to path.
    _differing: dict[int, _Differing] = field(default_factory=dict)
    #: Where the last body that was read returns.
    _returned_at: Loc = NOWHERE

    def function(self, source: Source, python: FunctionType | None) -> Block:
        """Lower a whole definition, its final `return` included."""
        node = source.node
        fence.check(source, self.findings)
        self.taken |= identifiers(node)
        self.refused |= fence.bound_by_refused(node)
        flat = structured(node, self.taken)
        self.taken |= identifiers(flat)
        self.occupied |= local_names(flat)
        source = replace(source, node=flat)
        scope = Scope(source, python, local_names(flat), None, (), False)
        scope.stack = (node if python is None else python.__code__,)
        self.outermost = scope
        for parameter in parameters(node):
            if parameter.id in RESERVED:
                self.findings.add(
                    "P116",
                    source.loc(parameter),
                    f"parameter `{parameter.id}` hides what the derivative calls",
                    f"give it another name, such as `{parameter.id}_`",
                )
            scope.bound[parameter.id] = self._stored(parameter.id, NOWHERE)
        self._return(self._body(scope), self._returned_at)
        return self._spelt()

    def statements(self, source: Source) -> Block:
        """Lower bare statements: free names are parameters."""
        fence.check(source, self.findings)
        source = replace(source, node=structured(source.node, self.taken))
        self.taken |= identifiers(source.node)
        scope = Scope(source, None, local_names(source.node), None, (), False)
        self.running.append(scope)
        for node in source.node.body:
            if isinstance(node, gast.Return):
                self._return(*self._returned(node, scope))
            else:
                self._statement(node, scope)
        return self._spelt()

    def _return(self, value: Value, at: Loc) -> None:
        """The `return` of the program itself."""
        single = not isinstance(value, Tuple)
        parts = value.elements if isinstance(value, Tuple) else (value,)
        results = tuple(
            self._read_back(v, at)
            for v in parts
            if not isinstance(v, (Tuple, Nothing, Refused))
        )
        if results:
            self.out.append(Return(results, single, loc=at))

    def _body(self, scope: Scope) -> Value:
        """Lower a definition's statements; what it returns comes back."""
        around, self._exchanges = self._exchanges, []
        first, self._first = self._first, len(self.allocated)
        mark, writes = len(self.out), len(self.changed)
        self.running.append(scope)
        result, at = self._lowered(scope)
        self.running.pop()
        if self._exchanges:
            self._writes_elsewhere(scope)
        self._function_ends(scope, writes, False)
        if self._exchanges:
            result = self._finished(result, scope, mark)
            self._function_ends(scope, writes, True)
        self._exchanges, self._first = around, first
        self._returned_at = at
        return result

    def _lowered(self, scope: Scope) -> Returned:
        node = scope.source.node
        if isinstance(node, gast.Lambda):
            at = scope.source.loc(node.body)
            return self._value(node.body, scope), at
        body = tail_form(node.body)
        if body is not None and isinstance(body[-1], gast.If):
            return self._paths(body, scope)
        *rest, last = node.body
        for child in rest:
            self._statement(child, scope)
        if isinstance(last, gast.Return):
            return self._returned(last, scope)
        self._statement(last, scope)
        return Nothing(), scope.source.loc(last)

    def _paths(self, body: Sequence[gast.AST], scope: Scope) -> Returned:
        """A body whose `if`s end in `return`s: each path assigns the same variables."""
        results: list[Operand] = []
        returns: list[tuple[int, bool]] = []
        mark = len(self.out)
        around, self._differing = self._differing, {}
        self._path(body, scope, results, returns)
        for differing in self._differing.values():
            self._make_room(differing, mark)
            self._choose(differing)
        self._differing = around
        if len(set(returns)) != 1:
            self.findings.add(
                "P110",
                scope.source.loc(body[-1]),
                "the paths through this `if` return different numbers of values",
                "return equally many values on every path",
            )
            return ZERO, scope.source.loc(body[-1])
        if returns[0] == (0, False):
            return Nothing(), scope.source.loc(body[-1])
        at = results[0].loc
        last = self.out[-1]
        if len(results) == 1 and isinstance(last, Assign) and last.target == results[0]:
            # Every path was an expression: so is the call.
            self.out.pop()
            return last.value, at
        return results[0] if returns[0][1] else Tuple(tuple(results)), at

    def _path(
        self,
        body: Sequence[gast.AST],
        scope: Scope,
        results: list[Operand],
        returns: list[tuple[int, bool]],
    ) -> None:
        *rest, last = body
        for child in rest:
            self._statement(child, scope)
        at = scope.source.loc(last)
        self._begin(last, scope)
        if isinstance(last, gast.If):
            condition = self._number_of(last.test, scope, test=True)
            helpers = dict(scope.helpers)
            self.depth += 1
            before = self._standing(scope)
            with self._block() as then:
                self._path(last.body, scope, results, returns)
            self._stand(scope, before)
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
        returned, _ = self._returned(last, scope)
        values: tuple[Value, ...] = ()
        if isinstance(returned, Tuple):
            values = returned.elements
        elif not isinstance(returned, Nothing):
            values = (returned,)
        single = not isinstance(returned, (Tuple, Nothing))
        returns.append((len(values), single))
        for k, value in enumerate(values):
            assert not isinstance(value, (Tuple, Nothing, Refused))
            first = results[k] if k < len(results) else value
            if isinstance(value, Array) or isinstance(first, Array):
                own = self._array_result(k, value, first, scope, at)
                if k == len(results):
                    results.append(own)
                continue
            if k == len(results):
                results.append(Var(self._fresh("result"), loc=at))
            place = results[k]
            assert isinstance(place, Var)
            self.out.append(Assign(place, value, loc=at))

    def _array_result(
        self, k: int, value: Operand, first: Operand, scope: Scope, at: Loc
    ) -> Var | Array:
        """The k-th result of a path, an array; a path before it returned `first`.

        One array that every path returns is that array. That paths return different
        ones shows at the second; the next walk copies each into a new one.
        """
        differ = f"@result {k}", scope.source.loc(scope.source.node)
        foreign = (
            isinstance(value, Array) and value.view and value.base not in self.allocated
        )
        if not isinstance(value, Array) or not isinstance(first, Array):
            self._refuse_paths(at, "one path returns an array, and another a number")
        elif differ not in self.wanted:
            if not same(value, first):
                self.asked.add(differ)
        elif foreign and not scope.inlined:
            # Its caller would get another object than in Python.
            self._refuse_paths(at, "another path returns another array")
        else:
            found = self._differing.get(k)
            if found is None:
                names_ = self._fresh("result"), self._fresh("which")
                found = self._differing[k] = _Differing(*names_, at)
                self.allocated[found.name] = at
                self.made_in[found.name] = scope.start
                shape = tuple(Extent(found.name, j) for j in range(value.rank))
                self.sizes[found.name] = shape
            found.wholes.append(value)
            target = whole_array(found.name, self._rank(found.name), at)
            self._takes_over(target, value, "", at)
            self._fill(target, value, at, replaces=True)
            if value.view and value.base is not None:
                self._may_be(found.name, {value.base}, scope, at)
            number, choice = self._identity(value, len(found.wholes) - 1)
            found.choices.append(choice)
            self.out.append(Assign(Var(found.which, loc=at), number, loc=at))
            return target
        if isinstance(value, (Array, Var)):
            return value
        return Var(self._fresh("result"), loc=at)

    def _refuse_paths(self, at: Loc, because: str) -> None:
        self.findings.add(
            "P110",
            at,
            because,
            "return one array on every path: the paths may fill it",
        )

    def _choose(self, differing: _Differing) -> None:
        """Which array the paths have returned is known when the program runs."""
        lent = self.lent.get(differing.name)
        given = [w for w in differing.choices if w is not None]
        if lent is not None and all(w.name == w.base for w in given):
            lent.which = Var(differing.which, loc=differing.at)
            lent.choices = tuple(differing.choices)

    def _make_room(self, differing: _Differing, mark: int) -> None:
        """Allocate, in front of the paths, the array that each of them fills."""
        new = written(tuple(self.out[mark:]))

        def known(e: Expr) -> Expr:
            if isinstance(e, Extent) and e.array in new and e.array in self.sizes:
                size = self.sizes[e.array][e.axis]
                return e if size == e else map_expr(size, known)
            return e

        for whole in differing.wholes:
            shape = tuple(map_expr(n, known) for n in whole.shape)
            if not any({*mentioned(n)} & new for n in shape):
                break
        else:
            self._refuse_paths(differing.at, "the paths return arrays of unlike shapes")
            return
        dtype = whole.dtype or views.dtype_of(views.kinds(whole.element))
        room = Alloc(differing.name, shape, None, dtype, loc=differing.at)
        self.facts.append(RankFact(differing.name, whole.rank, differing.at))
        self.out.insert(mark, room)

    def _returned(self, node: gast.Return, scope: Scope) -> Returned:
        at = scope.source.loc(node)
        self._begin(node, scope)
        match node.value:
            case None | gast.Constant(value=None):
                return Nothing(), at
            case gast.Tuple(elts=elements) if elements:
                return Tuple(tuple(self._values(elements, scope))), at
            case gast.Call() as call:
                result = self._call(call, scope)
                return ZERO if isinstance(result, Refused) else result, at
            case value:
                return self._value(value, scope), at

    def _statement(self, node: gast.AST, scope: Scope) -> None:
        around = scope.current, scope.since
        self._begin(node, scope)
        self._read_statement(node, scope)
        self._is_done(node)
        scope.current, scope.since = around

    def _begin(self, node: gast.AST, scope: Scope) -> None:
        scope.current, scope.since = node, len(self.allocated)

    def _read_statement(self, node: gast.AST, scope: Scope) -> None:
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
                with self._compound(scope, node) as around, self._inner():
                    self._for(node, scope, around)
            case gast.If():
                with self._compound(scope, node) as around:
                    self._branch(node, scope, around)
            case gast.Assert(test=test, msg=message):
                condition = self._number_of(test, scope, test=True)
                text = gast.unparse(test).strip()
                if isinstance(message, gast.Constant):
                    text = str(message.value)
                self.out.append(Check(condition, "AssertionError", text, loc=loc(node)))
            case gast.Break() | gast.Continue():
                # Only a definition whose `return`s are refused keeps its jumps.
                self.findings.add(
                    "P110",
                    loc(node),
                    "a path of this function returns another number of values, or none",
                    "return equally many values on every path, at the end too",
                )
            case gast.Return():
                self.findings.add(
                    "P110",
                    loc(node),
                    "another path returns another number of values, or none",
                    "return equally many values on every path, at the end too",
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
            case gast.While():
                with self._compound(scope, node) as around, self._inner():
                    self._while(node, scope, around)

    def _branch(self, node: gast.If, scope: Scope, around: Compound) -> None:
        condition = self._number_of(node.test, scope, test=True)
        before, seen = self._standing(scope), self._visible(scope)
        with self._block() as then:
            self._all(node.body, scope)
            self._carried(scope, seen, around)
            ways = [tuple(self.open)]
        taken = self._stand(scope, before)
        with self._block() as other:
            self._all(node.orelse, scope)
            self._carried(scope, seen, around)
            ways.append(tuple(self.open))
        self._is_new_behind(tuple(self.open), *ways)
        # Names that changed places are as they were before, or, where one branch leaves
        # the loop, as the one that goes on has them.
        target = seen[0]
        if self._leaves_loop(node.body) != self._leaves_loop(node.orelse):
            target = taken[0]
            if not self._leaves_loop(node.orelse):
                target = self._standing(scope)[0]
        target = {n: target[n] for n in seen[0]}
        passed = self._standing(scope)
        self._stand(scope, taken)
        self._put(then, target, scope, around)
        self._stand(scope, passed)
        self._put(other, target, scope, around)
        self._join(scope, before, taken)
        at = scope.source.loc(node)
        if other and not then:
            condition, then, other = negation(condition), other, then
        self.out.append(If(condition, tuple(then), tuple(other), loc=at))

    def _leaves_loop(self, body: Sequence[gast.AST]) -> bool:
        """Does this branch end the loop that it stands in?"""
        match body:
            case [*_, gast.Assign(targets=[gast.Name(id=flag)], value=value)]:
                true = isinstance(value, gast.Constant) and value.value is True
                return true and flag in (self._leaving or [()])[-1]
        return False

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
            case gast.Tuple() | gast.List(), _ if len(targets) == 1:
                self._unpack(first.elts, value, at, scope)
                return
        single = len(targets) == 1 and isinstance(first, gast.Name)
        mark = len(self.out), len(self.allocated)
        result = self._value(value, scope)
        if isinstance(result, Array):
            if len(targets) > 1:
                result = self._named(result, scope, "value")
            for target in targets:
                if isinstance(target, gast.Name):
                    self._name_array(target, result, mark, at, scope)
                    bound = scope.bound.get(target.id)
                    result = bound if isinstance(bound, Array) else result
                    mark = len(self.out), len(self.allocated)
                elif isinstance(target, (gast.Tuple, gast.List)):
                    self._refuse_target(target, scope)
                else:
                    self._store(target, result, at, scope)
            return
        variable = stored_in(self._variable(first.id, scope)) if single else None
        if variable is not None:
            if isinstance(result, (Var, Load)) and not hasattr(first, RETURNED):
                self._resembles(variable, result)
            elif isinstance(result, (Call, Const)) and not any(
                self._open_parts(result)
            ):
                self.sums.add(variable)
            elif (
                isinstance(result, Call)
                and self.ranks.get(variable)
                and not self._is_bound(first.id, scope)
            ):
                # It is used as an array: so is what it is computed from.
                self._spread_rank(variable, result)
        if len(targets) > 1 and not isinstance(result, Const):
            result = self._temp(result, "value")
        for target in targets:
            if isinstance(target, (gast.Tuple, gast.List)):
                self._refuse_target(target, scope)
            else:
                self._store(target, result, at, scope)

    def _bound_last(
        self, targets: Sequence[gast.AST], values: Sequence[Operand], scope: Scope
    ) -> list[int]:
        """In which order names get their values: last those whose arrays others get.

        In a loop the array of a name may take over the elements of a new one.
        """
        left = list(range(len(targets)))
        names_ = [t.id for t in targets if isinstance(t, gast.Name)]
        if len({*names_}) < len(targets):
            return left

        def is_free(k: int) -> bool:
            bound = scope.bound.get(names_[k])
            base = bound.base if isinstance(bound, Array) else None
            return base is None or not any(
                self._shares(values[j], {base}) for j in left if j != k
            )

        order: list[int] = []
        while left:
            free = next((k for k in left if is_free(k)), left[0])
            order.append(free)
            left.remove(free)
        return order

    def _is_bound(self, name: str, scope: Scope) -> bool:
        """Has the name stood for a number or an array before?"""
        return name in scope.numbers or name in scope.paths

    def _spread_rank(self, name: str, value: Expr) -> None:
        """`name` is an array: one that `value` is computed from has its axes too."""
        parts = list(self._open_parts(value))
        reads = [e for e in parts if isinstance(e, Load)]
        if reads:
            first = reads[0]
            self.rows.append((name, first.array, len(first.index), 32))
            return
        for e in parts:
            if isinstance(e, Var):
                self.alike.append((name, e.name))

    def _store(self, target: gast.AST, value: Operand, at: Loc, scope: Scope) -> None:
        with self._aside() as emitted:
            place = self._target(target, scope)
        # Python evaluates the value before the subscripts of the target.
        (value,) = self._before([value], emitted)
        self.out.extend(emitted)
        if isinstance(place, Array):
            self._fill(place, value, at)
        elif place is None:
            return
        elif isinstance(value, Array):
            self.findings.add(
                "P201",
                at,
                "an array is stored in one element",
                "assign to a slice, or store a number",
            )
        else:
            self.out.append(Assign(place, value, loc=at))

    def _unpack(
        self, targets: Sequence[gast.AST], value: gast.AST, at: Loc, scope: Scope
    ) -> None:
        given: Sequence[Value]
        mark = len(self.out), len(self.allocated)
        match value:
            case gast.Tuple(elts=elements) | gast.List(elts=elements):
                given = self._values(elements, scope)
            case gast.Attribute(value=base, attr="shape") if (
                whole := self._measured(base, scope, len(targets))
            ) is not None:
                given = whole.shape
            case gast.Call():
                result = self._call(value, scope)
                if isinstance(result, (Nothing, Refused)):
                    return
                given = result.elements if isinstance(result, Tuple) else (result,)
            case _:
                operand = self._value(value, scope)
                if not isinstance(operand, Array):
                    self.findings.add(
                        "P112",
                        scope.source.loc(value),
                        "this is not a tuple whose length is known",
                        "assign the elements one by one",
                    )
                    return
                given = self._taken_apart(operand, len(targets), at)
        values = [v for v in given if not isinstance(v, (Tuple, Nothing, Refused))]
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
        if all(isinstance(n, gast.Name) for n in (*targets, *_elements(value))):
            # Names that change places are arrays if one of them is.
            stored = [s for s in map(stored_in, values) if s is not None]
            self.alike += [(stored[0], name) for name in stored[1:]]
        if self._rotated(targets, values, scope):
            return
        # All values are there before the first name is bound.
        values = [
            self._named(v, scope, "value") if isinstance(v, Array) else v
            for v in values
        ]
        order = self._bound_last(targets, values, scope)
        targets, values = [targets[k] for k in order], [values[k] for k in order]
        for k, target in enumerate(targets):
            one = values[k]
            if isinstance(one, Array):
                if isinstance(target, gast.Name):
                    self._name_array(target, one, mark, at, scope)
                    continue
                with self._aside() as emitted:
                    if isinstance(target, (gast.Tuple, gast.List)):
                        self._spread(target, one, at, scope)
                    else:
                        self._store(target, one, at, scope)
                self._keep_later(values, k, emitted)
                continue
            with self._aside() as emitted:
                place = self._target(target, scope)
            values[:] = self._before(values, emitted)
            self.out.extend(emitted)
            one = values[k]
            assert not isinstance(one, Array)
            if place is None:
                continue
            if isinstance(place, Array):
                with self._aside() as emitted:
                    self._fill(place, one, at)
                self._keep_later(values, k, emitted)
                continue
            if isinstance(place, Var):
                self._resembles(place.name, one)
            name = place.name if isinstance(place, Var) else place.array
            for j, later in enumerate(values[k + 1 :], k + 1):
                if isinstance(later, Array):
                    continue
                if name in names(later):
                    values[j] = self._temp(later, name)
            self.out.append(Assign(place, one, loc=at))

    def _keep_later(
        self, values: list[Operand], k: int, emitted: Sequence[Stmt]
    ) -> None:
        """`emitted` assigns value `k`; later values are those from before it."""
        values[k + 1 :] = self._before(values[k + 1 :], emitted)
        self.out.extend(emitted)

    def _augment(self, node: gast.AugAssign, scope: Scope) -> None:
        at = scope.source.loc(node)
        # Python reads the target before it evaluates the value.
        place = self._target(node.target, scope, augmented=True)
        mark = len(self.out)
        value = self._value(node.value, scope)
        if place is None:
            return
        if isinstance(place, Array):
            if isinstance(node.op, gast.MatMult):
                value = self._product(place, value, at)
                self._fill(place, value, at)
                return
            self._fill(place, value, at, BINARY[type(node.op)])
            return
        if isinstance(value, Array) or isinstance(node.op, gast.MatMult):
            self._augment_number(node, place, value, mark, at, scope)
            return
        if written(tuple(self.out[mark:])) & names(place):
            late = self.out[mark:]
            del self.out[mark:]
            if isinstance(place, Load):
                index = tuple(self._kept(e, "index") for e in place.index)
                place = replace(place, index=index)
            old: Expr = self._temp(place, "old")
            self.out.extend(late)
        else:
            old = place
        result = Call(BINARY[type(node.op)], (old, value), loc=at)
        self.out.append(assigned(place, result, at))

    def _augment_number(
        self,
        node: gast.AugAssign,
        place: Var | Load,
        value: Operand,
        mark: int,
        at: Loc,
        scope: Scope,
    ) -> None:
        """``s += array`` where `s` is a number: `s` becomes an array."""
        if isinstance(node.op, gast.MatMult) or not isinstance(node.target, gast.Name):
            self.findings.add(
                "P201",
                at,
                "an array is added to a number",
                "assign to a slice, or reduce the array first",
            )
            return
        word = BINARY[type(node.op)]
        result = self._elementwise(
            [place, value], lambda e: Call(word, tuple(e), loc=at), at
        )
        assert isinstance(result, Array)
        self._name_array(node.target, result, (mark, len(self.allocated)), at, scope)

    # ---------------------------------------------------------------- loops

    def _for(self, node: gast.For, scope: Scope, around: Compound) -> None:
        at = scope.source.loc(node)
        iterated = len(self.iterated)
        header = self._header(node, scope)
        if header is None:
            with self._block():
                self._all(node.body, scope)
            return
        leave = [self._number(f, scope) for f in getattr(node, LEAVE, ())]
        index = header.index
        start = self._visible(scope)[0]
        ways: list[tuple[int, ...]] = []
        lent = {n: e for n, e in scope.bound.items() if e == Var(index)}

        def copy(offset: int) -> list[Stmt]:
            place: Expr = Var(index, loc=at)
            if offset:
                stride = -header.step.value if header.reverse else header.step.value
                jump = Const(offset * stride, loc=at)
                place = Call("+", (place, jump), loc=at)
            entry = self._visible(scope)
            with self._block() as made:
                header.bind(place)
                self._all(node.body, scope)
                self._carried(scope, entry, around)
                ways.append(tuple(self.open))
            return made

        self._leaving.append(getattr(node, LEAVE, ()))
        body = copy(0)
        copies, phases = self._rotations(scope, start, body, copy)
        self._leaving.pop()
        del self.iterated[iterated:]
        # Each copy has another number of the iteration for the index.
        scope.bound |= lent
        lo, hi, step = header.lo, header.hi, header.step
        changed = written(tuple(s for c in copies for s in c)) | {index}
        # A range is evaluated once: what the body changes is read before it.
        if names(lo) & changed:
            lo = self._temp(lo, "start")
        if names(hi) & changed:
            hi = self._temp(hi, "stop")
        known = _range_of(lo, hi, step)
        if not leave and known:
            self._is_new_behind(tuple(self.open[:-1]), ways[0])
        if header.reverse and (leave or len(copies) > 1):
            lo, hi, step = self._from_the_end(lo, hi, step)
        if not leave and len(copies) == 1:
            made = For(index, lo, hi, step, tuple(body), header.reverse, loc=at)
            self.out.append(replace(made, slots=header.slots))
            return
        if not leave:
            self._unrolled(index, lo, hi, step, copies, phases, scope, at, header.slots)
            return
        test = none_of(leave)
        self._counted(copies, test, phases, scope, at, index, lo, hi, step)

    def _from_the_end(
        self, lo: Expr, hi: Expr, step: Const
    ) -> tuple[Expr, Expr, Const]:
        """The range that counts as ``reversed(range(lo, hi, step))`` does."""
        by = int(step.value)
        last = add_int(hi, -by)
        if abs(by) > 1:
            lo = self._steady(lo, "start")
            gap = sub_int(hi, lo) if by > 0 else sub_int(lo, hi)
            size = Const(abs(by), loc=hi.loc)
            trips = Call("//", (add_int(gap, abs(by) - 1), size), loc=hi.loc)
            most = Call("max", (trips, ZERO), loc=hi.loc)
            behind = Call("*", (add_int(most, -1), step), loc=hi.loc)
            last = Call("+", (lo, behind), loc=hi.loc)
        return last, add_int(lo, -by), Const(-by, loc=step.loc)

    def _while(self, node: gast.While, scope: Scope, around: Compound) -> None:
        at = scope.source.loc(node)
        leave = [self._number(f, scope) for f in getattr(node, LEAVE, ())]
        start = self._visible(scope)[0]

        def test() -> tuple[list[Stmt], Expr]:
            with self._block() as made:
                found = self._number_of(node.test, scope, test=True)
            if found == TRUE and leave:
                return made, none_of(leave)
            if leave:
                found = Call("and", (none_of(leave), found), loc=found.loc)
            return made, found

        before, condition = test()

        def copy(offset: int) -> list[Stmt]:
            entry = self._visible(scope)
            with self._block() as made:
                self._all(node.body, scope)
                self._carried(scope, entry, around)
            return made

        self._leaving.append(getattr(node, LEAVE, ()))
        body = copy(0)
        copies, phases = self._rotations(scope, start, body, copy)
        self._leaving.pop()
        if not before and len(copies) == 1:
            self._counted(copies, condition, phases, scope, at)
            return
        # The test needs statements, or other arrays each time: a flag holds its value.
        go = Var(self._fresh("go"), loc=at)

        def tested(mapping: Mapping[str, Array]) -> list[Stmt]:
            now = self._standing(scope)[0]
            scope.bound |= mapping
            made, found = test()
            scope.bound |= now
            if made and leave:
                # After a jump Python does not come to the test.
                inner = If(
                    none_of(leave),
                    (*made, Assign(go, found, loc=at)),
                    (Assign(go, FALSE, loc=at),),
                    loc=at,
                )
                return [inner]
            return [*made, Assign(go, found, loc=at)]

        self.out += tested(phases[0])
        done: list[list[Stmt]] = []
        for k, one in enumerate(copies):
            done.append([*one, *tested(phases[(k + 1) % len(copies)])])
        self._counted(done, go, phases, scope, at)

    def _counted(
        self,
        copies: Sequence[Sequence[Stmt]],
        test: Expr,
        phases: Phases,
        scope: Scope,
        at: Loc,
        index: str = "",
        lo: Expr = ZERO,
        hi: Expr = ZERO,
        step: Const = ONE,
    ) -> None:
        """A loop that ends when `test` fails, and how often it ran.

        The counter is what the reverse sweep needs of it; the assignment behind the
        loop is where it reads it.
        """
        count = Var(self._fresh("count"), loc=at)
        phase: Var | None = None
        if len(copies) > 1:
            phase = Var(self._fresh("phase"), loc=at)
            self.out.append(Assign(phase, Const(0), loc=at))
        body: list[Stmt] = []
        for k in reversed(range(len(copies))):
            one = list(copies[k])
            if phase is not None:
                after = Const((k + 1) % len(copies))
                one.append(Assign(phase, after, loc=at))
            if k:
                again = test
                if index:
                    jump = Const(k * step.value, loc=at)
                    place = Call("+", (Var(index, loc=at), jump), loc=at)
                    inside = Call("<" if step.value > 0 else ">", (place, hi), loc=at)
                    again = Call("and", (test, inside), loc=at)
                body = [If(again, (*one, *body), loc=at)]
            else:
                body = [*one, *body]
        if index and len(copies) > 1:
            step = Const(len(copies) * step.value, loc=at)
        body.append(Add(count, Const(1), loc=at))
        self.out.append(Assign(count, Const(0), loc=at))
        self.out.append(
            While(test, tuple(body), index, lo, hi, step, count.name, loc=at)
        )
        self.out.append(Assign(Var(self._fresh("ran"), loc=at), count, loc=at))
        if phase is not None:
            self._restored(phase, phases, scope, self.compounds[-1])

    def _unrolled(
        self,
        index: str,
        lo: Expr,
        hi: Expr,
        step: Const,
        copies: Sequence[Sequence[Stmt]],
        phases: Phases,
        scope: Scope,
        at: Loc,
        slots: int | None,
    ) -> None:
        """A loop over a range, several of its iterations at a time."""
        width = len(copies)
        known = _range_of(lo, hi, step)
        last = add_int(hi, -(width - 1) * int(step.value))
        body = tuple(s for c in copies for s in c)
        wide = Const(width * step.value, loc=at)
        if known is not None:
            over = len(known) % width
            if len(known) >= width:
                self.out.append(For(index, lo, last, wide, body, slots=slots, loc=at))
            # What is left, one by one: each copy counts from the first of them.
            for one in copies[:over]:
                self.out += with_value(one, index, Const(known[-over], loc=at))
            self._restored(Const(over), phases, scope, self.compounds[-1])
            return
        gap = sub_int(hi, lo) if step.value > 0 else sub_int(lo, hi)
        size = abs(int(step.value))
        trips = gap if size == 1 else Call("//", (add_int(gap, size - 1), Const(size)))
        left = Var(self._fresh("left"), loc=at)
        trips = Call("max", (trips, ZERO), loc=at)
        self.out.append(Assign(left, Call("%", (trips, Const(width)), loc=at), loc=at))
        base = Call("-", (trips, left), loc=at)
        first = lo
        self.out.append(For(index, lo, last, wide, body, slots=slots, loc=at))
        place = base if step == Const(1) else Call("*", (base, step), loc=at)
        begin = place if first == ZERO else Call("+", (first, place), loc=at)
        here = Var(self._fresh(index), loc=at)
        rest: Block = ()
        for k in reversed(range(width - 1)):
            one = with_value(copies[k], index, here)
            rest = (If(Call(">", (left, Const(k)), loc=at), (*one, *rest), loc=at),)
        self.out.append(Assign(here, begin, loc=at))
        self.out += rest
        self._restored(left, phases, scope, self.compounds[-1])

    # ---------------------------------------------------------------- headers

    def _header(self, node: gast.For, scope: Scope) -> _Header | None:
        """What a `for` runs over: a range, or the elements of arrays."""
        at = scope.source.loc(node)
        leave = bool(getattr(node, LEAVE, ()))
        over, slots = self._checkpointed(node.iter, scope)
        if slots is not None and (scope.inlined or self.depth or leave):
            self.findings.add(
                "P111",
                at,
                "only a loop of the function itself, without `break`, is checkpointed",
                "leave out `pyrev.checkpointed`, or move the loop",
            )
        bounds = self._range(over, scope)
        if bounds is None:
            found = self._iterable(node, scope)
            if found is None:
                return None
            count, bind = found
            return _Header(self._fresh("k"), ZERO, count, Const(1), False, bind)
        lo, hi, step, reverse = bounds
        if not isinstance(node.target, gast.Name):
            self.findings.add(
                "P112",
                scope.source.loc(node.target),
                f"`{gast.unparse(node.target).strip()}` cannot count the iterations",
                "give the index a name",
            )
            return None
        name = node.target.id
        if isinstance(step, Const):
            if not loose(name, scope.source.node):
                variable = self._number(name, scope)

                def lend(place: Expr) -> None:
                    scope.bound[name] = place

                return _Header(variable.name, lo, hi, step, reverse, lend, slots)

            def put(place: Expr) -> None:
                self._store(node.target, place, at, scope)

            return _Header(self._fresh(name), lo, hi, step, reverse, put, slots)
        index = self._fresh(name)
        # The numbers of the iterations, from 0: ``lo + k * step``.
        lo, step = self._steady(lo, "start"), self._steady(step, "step")
        hi = self._steady(hi, "stop")
        self.out.append(
            Check(
                Call("!=", (step, ZERO), loc=at),
                "ValueError",
                "range() arg 3 must not be zero",
                loc=at,
            )
        )
        gap = Call("//", (sub_int(lo, hi), step), loc=at)
        trips: Expr = Call("max", (Call("neg", (gap,), loc=at), ZERO), loc=at)
        trips = self._temp(trips, "trips")

        def number(place: Expr) -> None:
            k = place
            if reverse:
                k = sub_int(add_int(trips, -1), place)
            value = Call("+", (lo, Call("*", (k, step), loc=at)), loc=at)
            self._store(node.target, value, at, scope)

        return _Header(index, ZERO, trips, Const(1), False, number, slots)

    def _checkpointed(
        self, node: gast.AST, scope: Scope
    ) -> tuple[gast.AST, int | None]:
        """The range inside ``pyrev.checkpointed(...)``, and how many states to keep."""
        if not isinstance(node, gast.Call):
            return node, None
        if self._object(node.func, scope) is not checkpointed or not node.args:
            return node, None
        given = [*node.args[1:], *(k.value for k in node.keywords)]
        if not given:
            return node.args[0], 0
        match given:
            case [gast.Constant(value=int() as slots)] if slots > 0:
                return node.args[0], slots
        self.findings.add(
            "P111",
            scope.source.loc(node),
            "the number of states is not a positive integer literal",
            "write `pyrev.checkpointed(range(n), slots=8)`",
        )
        return node.args[0], 0

    def _steady(self, value: Expr, name: str) -> Expr:
        return value if isinstance(value, (Const, Extent)) else self._temp(value, name)

    def _range(
        self, node: gast.AST, scope: Scope, reverse: bool = False
    ) -> tuple[Expr, Expr, Expr, bool] | None:
        """The bounds of ``range(...)``, maybe reversed; None if it is none."""
        function: object = None
        if isinstance(node, gast.Call) and not node.keywords:
            function = self._object(node.func, scope)
        if function is reversed and not reverse and len(node.args) == 1:
            return self._range(node.args[0], scope, True)
        if not is_range(function) or not 1 <= len(node.args) <= 3:
            return None
        values = self._numbers(node.args, scope)
        at = scope.source.loc(node)
        step: Expr = Const(1, loc=at)
        if len(values) == 3:
            step = values[2]
            if isinstance(step, Const) and (
                type(step.value) is not int or step.value == 0
            ):
                self.findings.add(
                    "P207",
                    scope.source.loc(node.args[2]),
                    "a step of zero never arrives"
                    if step.value == 0
                    else "a step is an integer",
                    "use an integer step other than zero",
                )
                step = Const(1)
        if len(values) == 1:
            return Const(0, loc=at), values[0], step, reverse
        return values[0], values[1], step, reverse

    def _target(
        self, node: gast.AST, scope: Scope, augmented: bool = False
    ) -> Var | Load | Array | None:
        """What is assigned to: a number by name, an element, or a part of an array."""
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
                bound = self._seen(self._variable(name, scope), at)
                if isinstance(bound, Array) and augmented:
                    self._used(name, scope, at)
                    self._changes(bound.base or "", at, place=bound)
                    return bound
                place = Var(stored_in(bound) or "", loc=at)
                if isinstance(bound, Array) and (
                    bound.name is None
                    or bound.name in self.allocated
                    or name in parameter_ids(scope)
                ):
                    if self._deeper(name, scope):
                        self._refuse_rebinding(name, at, "`{}` is an array before")
                        return None
                    place = Var(self._fresh(name), loc=at)
                    scope.bound[name] = place
                if name not in scope.numbers:
                    scope.numbers.add(name)
                    scope.paths[name] = tuple(self.open)
                return place
            case gast.Subscript():
                load = self._subscript(node, scope, store=True)
                if isinstance(load, Array):
                    if load.view:
                        return load
                    self._refuse_target(node, scope)
                    return None
                if isinstance(load, (Extent, Call)):
                    self._refuse_target(node, scope)
                if not isinstance(load, Load):
                    assert self.findings.found or self.unsettled
                    return None
                self._changes(load.array, at, place=load)
                return load
        self._refuse_target(node, scope)
        return None

    def _refuse_target(self, node: gast.AST, scope: Scope) -> None:
        if type(node) in fence.REJECTED:
            return
        self.findings.add(
            "P112",
            scope.source.loc(node),
            f"`{gast.unparse(node).strip()}` is neither a name nor an array element",
            "assign to a name or to an element such as `a[i]`",
        )


def _range_of(lo: Expr, hi: Expr, step: Expr) -> range | None:
    """The range itself where its ends are literals."""
    match lo, hi, step:
        case Const(int(a)), Const(int(b)), Const(int(c)):
            return range(a, b, c)
    return None


def none_of(flags: Sequence[Var]) -> Expr:
    """``not a and not b``"""
    tests: list[Expr] = [Call("not", (f,), loc=f.loc) for f in flags]
    return conjunction(tests)


def _elements(node: gast.AST) -> list[gast.AST]:
    return list(node.elts) if isinstance(node, (gast.Tuple, gast.List)) else [node]
