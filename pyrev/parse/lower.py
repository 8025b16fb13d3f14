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

from pyrev.algebra import add_int, sub_int
from pyrev.hints import checkpointed
from pyrev.ir import (
    FALSE,
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
    blocks,
    map_block,
    names,
    walk_expr,
    with_blocks,
    with_value,
    written,
)
from pyrev.parse import fence, views
from pyrev.parse.control import LEAVE, RETURNED, structured
from pyrev.parse.expression import BINARY, assigned, conjunction
from pyrev.parse.functions import is_range
from pyrev.parse.iteration import Iteration
from pyrev.parse.names import REFUSED, RESERVED, Helper, Scope
from pyrev.parse.shapes import RankFact
from pyrev.parse.source import Source
from pyrev.parse.tree import (
    bindings,
    identifiers,
    local_names,
    loose,
    parameters,
    tail_form,
)
from pyrev.parse.views import Whole
from pyrev.show import negation

# A cycle of swapped names longer than this is no ring of buffers.
_LONGEST_CYCLE = 8


@dataclass(frozen=True, slots=True)
class _Header:
    """What a `for` runs over; `bind` gives the targets their values at an index."""

    index: str
    lo: Expr
    hi: Expr
    step: Expr
    reverse: bool
    bind: Callable[[Expr], None]
    slots: int | None = None


@dataclass(slots=True)
class Lowering(Iteration):
    """The whole walk: `function` lowers a definition, `statements` a bare block."""

    #: Which name takes the array of which other from one iteration to the next.
    _moved: dict[str, str] = field(default_factory=dict)
    #: Arrays of the caller that change places, and how far they are turned.
    _turns: dict[frozenset[str], _Turn] = field(default_factory=dict)
    #: The arrays that took over the elements of new ones, and in which blocks.
    _replaced: list[tuple[str, tuple[int, ...]]] = field(default_factory=list)
    #: How many arrays there were when the present function began.
    _first: int = 0

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
            scope.bound[parameter.id] = Var(parameter.id)
        values = self._body(scope)
        if values is not None:
            results, single, at = values
            results = tuple(self._read_back(r, scope, at) for r in results)
            self.out.append(Return(results, single, loc=at))
        return tuple(self.out)

    def statements(self, source: Source) -> Block:
        """Lower bare statements: free names are parameters."""
        fence.check(source, self.findings)
        source = replace(source, node=structured(source.node, self.taken))
        self.taken |= identifiers(source.node)
        scope = Scope(source, None, local_names(source.node), None, (), False)
        for node in source.node.body:
            if isinstance(node, gast.Return):
                values = self._returned(node, scope)
                if values is not None:
                    results, single, at = values
                    results = tuple(self._read_back(r, scope, at) for r in results)
                    self.out.append(Return(results, single, loc=at))
            else:
                self._statement(node, scope)
        return tuple(self.out)

    def _body(self, scope: Scope) -> tuple[tuple[Expr, ...], bool, Loc] | None:
        """Lower a definition's statements; what it returns comes back."""
        around, self._turns = self._turns, {}
        first, self._first = self._first, len(self.allocated)
        mark = len(self.out)
        results = self._lowered(scope)
        if self._turns:
            results = self._unturned(results, mark)
        self._turns, self._first = around, first
        return results

    def _lowered(self, scope: Scope) -> tuple[tuple[Expr, ...], bool, Loc] | None:
        node = scope.source.node
        if isinstance(node, gast.Lambda):
            at = scope.source.loc(node.body)
            return (self._value(node.body, scope, whole=True),), True, at
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
        returned = self._returned(last, scope)
        values, single, _ = returned if returned is not None else ((), False, at)
        returns.append((len(values), single))
        for k, value in enumerate(values):
            first = results[k] if k < len(results) else value
            if self._is_array_var(value) or self._is_array_var(first):
                # One array, returned on every path, is that array.
                if k == len(results):
                    assert isinstance(value, Var)
                    results.append(value)
                if first != value:
                    self.findings.add(
                        "P110",
                        at,
                        "another path returns another array, or a number",
                        "return one array on every path: the paths may fill it",
                    )
                continue
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
                with self._compound(scope, loc(node)), self._inner():
                    self._for(node, scope)
            case gast.If():
                with self._compound(scope, loc(node)):
                    self._branch(node, scope)
            case gast.Assert(test=test, msg=message):
                condition = self._value(test, scope, test=True)
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
                with self._compound(scope, loc(node)), self._inner():
                    self._while(node, scope)

    def _branch(self, node: gast.If, scope: Scope) -> None:
        condition = self._value(node.test, scope, test=True)
        before = self._standing(scope)
        with self._block() as then:
            self._all(node.body, scope)
        taken = self._stand(scope, before)
        with self._block() as other:
            self._all(node.orelse, scope)
        self._join(scope, before, taken)
        at = scope.source.loc(node)
        if other and not then:
            condition, then, other = negation(condition), other, then
        self.out.append(If(condition, tuple(then), tuple(other), loc=at))

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
        result = self._value(value, scope, whole=True)
        if self._is_array_var(result):
            assert isinstance(result, Var)
            if len(targets) > 1:
                result = self._named(result, scope, "value")
            for target in targets:
                if isinstance(target, gast.Name):
                    self._name_array(target, result, mark, at, scope)
                    bound = scope.bound.get(target.id)
                    result = bound if isinstance(bound, Var) else result
                    mark = len(self.out), len(self.allocated)
                elif isinstance(target, (gast.Tuple, gast.List)):
                    self._refuse_target(target, scope)
                else:
                    self._store(target, result, at, scope)
            return
        variable = self._variable(first.id, scope) if single else None
        if isinstance(variable, Var):
            if isinstance(result, (Var, Load)) and not hasattr(first, RETURNED):
                self._resembles(variable, result)
            elif isinstance(result, Call) and self.ranks.get(variable.name):
                # It is used as an array: so is what it is computed from.
                self._spread_rank(variable.name, result)
        if len(targets) > 1 and not isinstance(result, Const):
            result = self._temp(result, "value")
        for target in targets:
            if isinstance(target, (gast.Tuple, gast.List)):
                self._refuse_target(target, scope)
            else:
                self._store(target, result, at, scope)

    def _spread_rank(self, name: str, value: Expr) -> None:
        """`name` is an array: one that `value` is computed from has its axes too."""
        reads = [e for e in walk_expr(value) if isinstance(e, Load)]
        if reads:
            first = reads[0]
            self.rows.append((name, first.array, len(first.index), 32))
            return
        for e in walk_expr(value):
            if isinstance(e, Var):
                self.alike.append((name, e.name))

    def _name_array(
        self,
        target: gast.Name,
        value: Var,
        mark: tuple[int, int],
        at: Loc,
        scope: Scope,
    ) -> None:
        """``name = array``: a new array takes the name, another gets one more."""
        name = target.id
        if name in scope.helpers:
            self._target(target, scope)
            return
        if hasattr(target, RETURNED):
            self.findings.add(
                "P110",
                at,
                "another path returns another array, or a number",
                "return one array on every path: the paths may fill it",
            )
            return
        current = scope.bound.get(name)
        if name in scope.numbers:
            if self._deeper(name, scope):
                self._refuse_rebinding(name, at, "`{}` is a number before")
                return
            scope.numbers.discard(name)
            current = None
        elif not (isinstance(current, Var) and self._is_array_var(current)):
            current = None
        elif name not in scope.paths and not scope.inlined:
            # A parameter, which is an array by what this walk knows already.
            current = current if name in _parameter_ids(scope) else None
        if current is not None:
            assert isinstance(current, Var)
            if self._overwritten(name, current, value, mark, at, scope):
                return
        whole = self._whole(value)
        assert whole is not None
        before = scope.bound.get(name)
        guessed = not self.exact and name in _parameter_ids(scope)
        if current is None and guessed and isinstance(before, Var):
            # A parameter, and maybe an array from the beginning.
            like = self._encoded(whole, at).name
            self.facts.append(RankFact(like, whole.rank, at, least=True))
            self.alike.append((before.name, like))
        if whole.name is None and not whole.view:
            made = self._made(whole, name, at, self._array_name(name, scope))
            scope.owned[name] = made.name or ""
            self._hold(name, self._encoded(made, at), scope)
            return
        statements, allocations = mark
        new = value.name in list(self.allocated)[allocations:]
        if new:
            own = self._array_name(name, scope)
            self._rename(value.name, own, statements)
            value = Var(own, loc=at)
            scope.owned[name] = own
        self._hold(name, self._named(value, scope, name), scope)

    def _array_name(self, name: str, scope: Scope) -> str:
        """What a new array is called in the program."""
        known = scope.bound.get(name)
        if known is None or (
            isinstance(known, Var)
            and name not in scope.paths
            and name not in _parameter_ids(scope)
            and known.name not in self.allocated
            and known.name not in self.views
        ):
            variable = self._variable(name, scope)
            assert isinstance(variable, Var)
            if variable.name not in self.allocated:
                return variable.name
        return self._fresh(name)

    def _rename(self, old: str, new: str, start: int) -> None:
        """Call an array that was made since statement `start` by another name."""
        self.out[start:] = renamed(tuple(self.out[start:]), old, new)
        self.facts = [
            replace(f, array=new) if f.array == old else f for f in self.facts
        ]
        self.same = [
            (new if a == old else a, new if b == old else b) for a, b in self.same
        ]
        self.allocated[new] = self.allocated.pop(old)
        self.sizes[new] = self.sizes.pop(old)

    def _overwritten(
        self,
        name: str,
        current: Var,
        value: Var,
        mark: tuple[int, int],
        at: Loc,
        scope: Scope,
    ) -> bool:
        """Rebind `name`: True if its array took over the elements of the new one.

        Where the name was bound in this very block it simply stands for the new array.
        Inside a loop or a branch that would leave open which array it is afterwards;
        the array that only this name has receives the new values then.
        """
        if not self._deeper(name, scope):
            return False
        bound = scope.paths.get(name, scope.start)
        path = tuple(self.open)
        whole = self._whole(value)
        assert whole is not None
        # What changed places with an array of the caller may be that array by now.
        turned = {a for arrays in self._turns for a in arrays}
        held = [a for a in scope.owned.values() if a not in turned]
        alone = current.name in held and not any(
            self._shares(e, current.name)
            for user, e in scope.bound.items()
            if user != name and path[: len(p := scope.paths.get(user, ()))] == p
        )
        statements, allocations = mark
        new = value.name in list(self.allocated)[allocations:]
        if alone and (new or not whole.view or self._leaves(value, bound, scope)):
            target = self._whole(current)
            assert target is not None
            if target.rank != whole.rank:
                self._refuse_rebinding(name, at, "`{}` has other axes here")
                return True
            for mine, theirs in zip(target.shape, whole.shape, strict=True):
                self._same_length(mine, theirs, at)
            dtype = whole.dtype or views.dtype_like(views.kinds(whole.element))
            self.alike_kinds.append((current.name, dtype, at))
            if current.name in self.lent:
                self.lent[current.name].append(path)
            self._replaced.append((current.name, path))
            if not whole.blank:
                self._fill(target, value, at)
            for user, e in scope.bound.items():
                if e == value and user != name:
                    scope.retired.add(user)
            return True
        origin = self._whole(current)
        if origin is not None and origin.name is not None and (new or not whole.view):
            # The next walk copies the array in front of the loop or the branch.
            for outside, place in self.compounds:
                if outside == bound and current.name not in held:
                    self.asked.add((name, place))
        used = [p for p in scope.uses.get(name, []) if len(p) > len(bound)]
        if any(p[: len(bound) + 1] == path[: len(bound) + 1] for p in used):
            self._refuse_rebinding(name, at, "`{}` names another array before")
            return True
        return False

    def _deeper(self, name: str, scope: Scope) -> bool:
        """Is this a loop or a branch inside the block where the name was bound?"""
        bound = scope.paths.get(name, scope.start)
        path = tuple(self.open)
        return len(path) > len(bound) and path[: len(bound)] == bound

    def _shares(self, bound: Expr, array: str) -> bool:
        """Is this the array, or a view of it?"""
        whole = self._whole(bound)
        return whole is not None and whole.view and whole.base == array

    def _leaves(self, value: Var, bound: tuple[int, ...], scope: Scope) -> bool:
        """Is this an array made since, in the block where a name takes it over?"""
        for user, e in scope.bound.items():
            path = scope.paths.get(user, scope.start)
            if e == replace(value, loc=e.loc) and len(path) > len(bound):
                return scope.owned.get(user) == value.name
        return False

    def _store(self, target: gast.AST, value: Expr, at: Loc, scope: Scope) -> None:
        with self._block() as emitted:
            place = self._target(target, scope)
        # Python evaluates the value before the subscripts of the target.
        held = [value]
        self._before(held, emitted)
        value = held[0]
        self.out.extend(emitted)
        if isinstance(place, Whole):
            self._fill(place, value, at)
        elif place is not None and self._is_array_var(value):
            self.findings.add(
                "P201",
                at,
                "an array is stored in one element",
                "assign to a slice, or store a number",
            )
        elif place is not None:
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
                whole := self._measured(base, scope, len(targets))
            ) is not None:
                values = whole.shape
            case gast.Call():
                results = self._call(value, scope)
                if results is None or results == REFUSED:
                    return
                values = results[0]
            case _:
                whole = self._whole(self._value(value, scope, whole=True))
                if whole is None:
                    self.findings.add(
                        "P112",
                        scope.source.loc(value),
                        "this is not a tuple whose length is known",
                        "assign the elements one by one",
                    )
                    return
                values = self._taken_apart(whole, len(targets), at)
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
        if all(isinstance(n, gast.Name) for n in (*targets, *_elements(value))):
            # Names that change places are arrays if one of them is.
            placed = [v.name for v in values if isinstance(v, Var)]
            self.alike += [(placed[0], name) for name in placed[1:]]
        if self._rotated(targets, values, scope):
            return
        # All values are there before the first name is bound.
        values = [
            self._named(v, scope, "value") if isinstance(v, Var) else v for v in values
        ]
        for k, target in enumerate(targets):
            given = values[k]
            if isinstance(given, Var) and self._is_array_var(given):
                if isinstance(target, (gast.Tuple, gast.List)):
                    self._spread(target, given, at, scope)
                elif isinstance(target, gast.Name):
                    self._name_array(target, given, mark, at, scope)
                else:
                    self._store(target, given, at, scope)
                continue
            with self._block() as emitted:
                place = self._target(target, scope)
            self._before(values, emitted)
            self.out.extend(emitted)
            if place is None:
                continue
            if isinstance(place, Whole):
                self._fill(place, values[k], at)
                continue
            name = place.name if isinstance(place, Var) else place.array
            for later in range(k + 1, len(values)):
                if name in names(values[later]):
                    values[later] = self._temp(values[later], name)
            self.out.append(Assign(place, values[k], loc=at))

    def _rotated(
        self, targets: Sequence[gast.AST], values: Sequence[Expr], scope: Scope
    ) -> bool:
        """``u, v = v, u`` of whole arrays: the names change places, nothing moves."""
        names_ = [t.id for t in targets if isinstance(t, gast.Name)]
        arrays = [v for v in values if isinstance(v, Var)]
        if len(names_) != len(targets) or len(arrays) != len(values):
            return False
        if not any(map(self._is_array_var, arrays)):
            return False
        bound = [scope.bound.get(n) for n in names_]
        if sorted(e.name for e in bound if isinstance(e, Var)) != sorted(
            a.name for a in arrays
        ) or len(set(names_)) != len(names_):
            return False
        for n, array in zip(names_, arrays, strict=True):
            scope.bound[n] = Var(array.name)
        # What changes places with an array is one, of the same rank.
        self.same += [(arrays[0].name, a.name) for a in arrays[1:]]
        return True

    def _augment(self, node: gast.AugAssign, scope: Scope) -> None:
        at = scope.source.loc(node)
        # Python reads the target before it evaluates the value.
        place = self._target(node.target, scope, augmented=True)
        mark = len(self.out)
        value = self._value(node.value, scope, whole=True)
        if place is None:
            return
        if isinstance(place, Whole):
            if isinstance(node.op, gast.MatMult):
                value = self._product(self._encoded(place, at), value, at)
                self._fill(place, value, at)
                return
            self._fill(place, value, at, BINARY[type(node.op)])
            return
        if self._is_array_var(value) or isinstance(node.op, gast.MatMult):
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
        value: Expr,
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
        assert isinstance(result, Var)
        self._name_array(node.target, result, (mark, len(self.allocated)), at, scope)

    # ---------------------------------------------------------------- loops

    def _for(self, node: gast.For, scope: Scope) -> None:
        at = scope.source.loc(node)
        header = self._header(node, scope)
        if header is None:
            with self._block():
                self._all(node.body, scope)
            return
        leave = [self._flag(f, scope) for f in getattr(node, LEAVE, ())]
        index = header.index
        start = arrays_bound(scope)

        def copy(offset: int) -> list[Stmt]:
            place: Expr = Var(index, loc=at)
            if offset:
                jump: Expr = Call("*", (Const(offset), header.step), loc=at)
                if isinstance(header.step, Const):
                    jump = Const(offset * header.step.value, loc=at)
                place = Call("+", (place, jump), loc=at)
            with self._block() as made:
                header.bind(place)
                self._all(node.body, scope)
            return made

        body = copy(0)
        copies = self._rotations(scope, start, body, copy)
        lo, hi, step = header.lo, header.hi, header.step
        changed = written(tuple(s for c in copies for s in c)) | {index}
        # A range is evaluated once: what the body changes is read before it.
        if names(lo) & changed:
            lo = self._temp(lo, "start")
        if names(hi) & changed:
            hi = self._temp(hi, "stop")
        if names(step) & changed:
            step = self._temp(step, "step")
        if not leave and len(copies) == 1:
            made = For(index, lo, hi, step, tuple(body), header.reverse, loc=at)
            self.out.append(replace(made, slots=header.slots))
            return
        if not leave:
            self._unrolled(index, lo, hi, step, copies, start, scope, at, header.slots)
            return
        test = none_of(leave)
        self._counted(copies, test, start, scope, at, index, lo, hi, step)

    def _while(self, node: gast.While, scope: Scope) -> None:
        at = scope.source.loc(node)
        leave = [self._flag(f, scope) for f in getattr(node, LEAVE, ())]
        start = arrays_bound(scope)

        def test() -> tuple[list[Stmt], Expr]:
            with self._block() as made:
                found = self._value(node.test, scope, test=True)
            if found == TRUE and leave:
                return made, none_of(leave)
            if leave:
                found = Call("and", (none_of(leave), found), loc=found.loc)
            return made, found

        before, condition = test()

        def copy(offset: int) -> list[Stmt]:
            with self._block() as made:
                self._all(node.body, scope)
            return made

        body = copy(0)
        copies = self._rotations(scope, start, body, copy)
        if not before and len(copies) == 1:
            self._counted(copies, condition, start, scope, at)
            return
        # The test needs statements, or other arrays each time: a flag holds its value.
        go = Var(self._fresh("go"), loc=at)

        def tested(mapping: Mapping[str, Expr]) -> list[Stmt]:
            now = arrays_bound(scope)
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

        mappings = self._mappings(start, copies)
        self.out += tested(mappings[0])
        done: list[list[Stmt]] = []
        for k, one in enumerate(copies):
            done.append([*one, *tested(mappings[(k + 1) % len(copies)])])
        self._counted(done, go, start, scope, at)

    def _flag(self, name: str, scope: Scope) -> Var:
        flag = self._variable(name, scope)
        assert isinstance(flag, Var)
        return flag

    def _counted(
        self,
        copies: Sequence[Sequence[Stmt]],
        test: Expr,
        start: Mapping[str, Expr],
        scope: Scope,
        at: Loc,
        index: str = "",
        lo: Expr = ZERO,
        hi: Expr = ZERO,
        step: Expr = ONE,
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
                    jump: Expr = Call("*", (Const(k), step), loc=at)
                    if isinstance(step, Const):
                        jump = Const(k * step.value, loc=at)
                    place = Call("+", (Var(index, loc=at), jump), loc=at)
                    up = not (isinstance(step, Const) and step.value < 0)
                    inside = Call("<" if up else ">", (place, hi), loc=at)
                    again = Call("and", (test, inside), loc=at)
                body = [If(again, (*one, *body), loc=at)]
            else:
                body = [*one, *body]
        if index and len(copies) > 1:
            assert isinstance(step, Const)
            step = Const(len(copies) * step.value, loc=at)
        body.append(Add(count, Const(1), loc=at))
        self.out.append(Assign(count, Const(0), loc=at))
        self.out.append(
            While(test, tuple(body), index, lo, hi, step, count.name, loc=at)
        )
        self.out.append(Assign(Var(self._fresh("ran"), loc=at), count, loc=at))
        if phase is not None:
            self._restored(phase, copies, start, scope, at)

    # ---------------------------------------------------------------- swapped names

    def _mappings(
        self, start: Mapping[str, Expr], copies: Sequence[object]
    ) -> list[Mapping[str, Expr]]:
        """What the names of arrays stand for before each copy of a body."""
        found = [start]
        for _ in copies[1:]:
            now = found[-1]
            found.append({n: now[self._moved.get(n, n)] for n in start})
        return found

    def _rotations(
        self,
        scope: Scope,
        start: Mapping[str, Expr],
        body: list[Stmt],
        copy: Callable[[int], list[Stmt]],
    ) -> list[list[Stmt]]:
        """The body as often as it takes for swapped names to come back.

        ``u, v = v, u`` at the end of a body exchanges two names: the next iteration is
        the same text with the names exchanged, so two of them are one without.
        """
        end = arrays_bound(scope)
        moved = {n for n, e in start.items() if end.get(n) != e}
        self._moved: dict[str, str] = {}
        if not moved:
            return [body]
        if len({start[n] for n in moved}) != len(moved) or {
            start[n] for n in moved
        } != {end.get(n) for n in moved}:
            self.findings.add(
                "P206",
                self.compounds[-1][1],
                f"`{min(moved)}` stands for another array in the next iteration",
                "swap whole names, as in `u, v = v, u`, or copy the elements",
            )
            scope.bound |= start
            return [body]
        of = {e: n for n, e in start.items() if n in moved}
        self._moved = {n: of[end[n]] for n in moved}
        copies = [body]
        moves = dict(self._moved)
        while any(end[n] != start[n] for n in moved):
            for name, value in list(scope.bound.items()):
                new = isinstance(value, Var) and value.name in self.allocated
                if new and name not in start:
                    scope.bound[name] = Var(self._fresh(name))
            copies.append(copy(len(copies)))
            end = arrays_bound(scope)
            if len(copies) > _LONGEST_CYCLE:
                break
        self._moved = moves
        return copies

    def _unrolled(
        self,
        index: str,
        lo: Expr,
        hi: Expr,
        step: Expr,
        copies: Sequence[Sequence[Stmt]],
        start: Mapping[str, Expr],
        scope: Scope,
        at: Loc,
        slots: int | None,
    ) -> None:
        """A loop over a range, several of its iterations at a time."""
        width = len(copies)
        assert isinstance(step, Const)
        known = _range_of(lo, hi, step)
        if known is not None and len(known) < width:
            # Too short for the loop: its iterations, one by one. Each copy counts from
            # the first.
            for one in copies[: len(known)]:
                self.out += with_value(one, index, Const(known[0], loc=at))
            if known:
                self._restored(Const(len(known)), copies, start, scope, at)
            else:
                scope.bound |= start
            return
        last = add_int(hi, -(width - 1) * int(step.value))
        body = tuple(s for c in copies for s in c)
        wide = Const(width * step.value, loc=at)
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
        self._restored(left, copies, start, scope, at)

    def _restored(
        self,
        phase: Var | Const,
        copies: Sequence[object],
        start: Mapping[str, Expr],
        scope: Scope,
        at: Loc,
    ) -> None:
        """Exchange contents, so that each name stands for its first array again.

        For an array of the caller that is undone at the end of the function, where
        Python, which exchanged names, would leave each array with its own contents.
        """
        mappings = self._mappings(start, copies)
        moved = sorted(self._moved)
        arrays = [start[n] for n in moved]
        for k, mapping in enumerate(mappings[1:], 1):
            source = {start[n]: mapping[n] for n in moved}
            test = Call("==", (phase, Const(k)), loc=at)
            if isinstance(phase, Var):
                swap = self._exchange(source, at)
                self.out.append(If(test, swap, loc=at))
            elif phase.value == k:
                self.out += self._exchange(source, at)
        own = {e.name for e in arrays if isinstance(e, Var)}
        if own - set(list(self.allocated)[self._first :]):
            path = tuple(self.open)
            for array, where in self._replaced:
                if array in own and set(where) & set(path):
                    self.findings.add(
                        "P206",
                        at,
                        f"`{array}`, which is made again around this loop, changes "
                        "places with an array of the caller",
                        f"write `{array}[:] = ...`, or copy the elements",
                    )
            turns = self._turns.setdefault(
                frozenset(own), (self._fresh("turns"), mappings, moved, start)
            )[0]
            total = Call("+", (Var(turns, loc=at), phase), loc=at)
            width = Const(len(copies))
            self.out.append(
                Assign(Var(turns, loc=at), Call("%", (total, width), loc=at), loc=at)
            )
        scope.bound |= start
        for name, value in list(scope.bound.items()):
            base = getattr(value, "array", getattr(value, "name", ""))
            if name not in moved and base in own:
                self.findings.add(
                    "P206",
                    at,
                    f"`{name}` is another name of an array that this loop exchanges",
                    "use one name, or write `.copy()`",
                )
        self.same += [
            (one.name, two.name)
            for one, two in zip(arrays, arrays[1:], strict=False)
            if isinstance(one, Var) and isinstance(two, Var)
        ]

    def _exchange(self, source: Mapping[Expr, Expr], at: Loc) -> Block:
        """``a[...], b[...] = b[...], a[...]`` for any number of arrays, as loops."""
        arrays = [a.name for a in source if isinstance(a, Var)]
        first = arrays[0]
        rank = self.ranks.get(first, 1)
        index = tuple(Var(self._fresh(n), loc=at) for n in "ijklmnop"[:rank])
        held = {a: Var(self._fresh(f"{a}_held"), loc=at) for a in arrays}
        body: Block = tuple(
            Assign(held[a], Load(a, index, loc=at), loc=at) for a in arrays
        )
        body += tuple(
            Assign(Load(a.name, index, loc=at), held[b.name], loc=at)
            for a, b in source.items()
            if isinstance(a, Var) and isinstance(b, Var)
        )
        for k in reversed(range(rank)):
            extent = Extent(first, k, loc=at)
            body = (For(index[k].name, ZERO, extent, Const(1), body, loc=at),)
        equal = tuple(
            Check(
                Call("==", (Extent(a, k), Extent(first, k)), loc=at),
                "ValueError",
                f"`{a}` and `{first}` change places and have different shapes",
                loc=at,
            )
            for a in arrays[1:]
            for k in range(rank)
        )
        self.alike_dtypes += [(first, a) for a in arrays[1:]]
        return (*equal, *body)

    def _unturned(
        self, results: tuple[tuple[Expr, ...], bool, Loc] | None, mark: int
    ) -> tuple[tuple[Expr, ...], bool, Loc] | None:
        """At the end each array that was there before gets its own contents back.

        What is returned is evaluated before that; an array among them is a copy, since
        which array a name stands for depends on how often the loop ran.
        """
        if results is not None:
            moved = {a for arrays in self._turns for a in arrays}
            values: list[Expr] = []
            for value in results[0]:
                if isinstance(value, Var) and value.name in moved:
                    rank = self.ranks.get(value.name, 1)
                    shape = tuple(Extent(value.name, k) for k in range(rank))
                    made = self._fresh("result")
                    self.allocated[made] = value.loc
                    self.same.append((made, value.name))
                    like = f"like:{value.name}"
                    self.out.append(
                        Alloc(made, shape, None, like, value.name, loc=value.loc)
                    )
                    values.append(Var(made, loc=value.loc))
                elif isinstance(value, Var) and value.name in self.views:
                    whole = self._made(self.views[value.name], "result", value.loc)
                    values.append(self._encoded(whole, value.loc))
                elif isinstance(value, (Const, Var)):
                    values.append(value)
                else:
                    values.append(self._temp(value, "result"))
            results = (tuple(values), *results[1:])
        for turns, mappings, moved_names, start in reversed(self._turns.values()):
            at = start[moved_names[0]].loc
            self.out.insert(mark, Assign(Var(turns), Const(0), loc=at))
            for k, mapping in enumerate(mappings[1:], 1):
                # The inverse of what `_restored` did.
                source = {mapping[n]: start[n] for n in moved_names}
                test = Call("==", (Var(turns), Const(k)), loc=at)
                self.out.append(If(test, self._exchange(source, at), loc=at))
        return results

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
        known = isinstance(step, Const)
        swapped = any(_swaps(s) for s in node.body)
        plain = known and not (reverse and (leave or swapped))
        if plain and not loose(name, scope.source.node):
            variable = self._variable(name, scope)
            assert isinstance(variable, Var)

            def lend(place: Expr) -> None:
                scope.bound[name] = place

            return _Header(variable.name, lo, hi, step, reverse, lend, slots)
        index = self._fresh(name)
        if plain:

            def put(place: Expr) -> None:
                self._store(node.target, place, at, scope)

            return _Header(index, lo, hi, step, reverse, put, slots)
        # The numbers of the iterations, from 0: ``lo + k * step``.
        lo, step = self._steady(lo, "start"), self._steady(step, "step")
        hi = self._steady(hi, "stop")
        if not known:
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
        values = self._values(node.args, scope)
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
    ) -> Var | Load | Whole | None:
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
                place = self._variable(name, scope)
                assert isinstance(place, Var)
                whole = self._whole(place)
                if whole is not None and augmented:
                    self._used(name, scope, at)
                    self._changes(whole.base or "", at)
                    return whole
                if whole is not None and (
                    place.name in self.allocated
                    or place.name in self.views
                    or name in _parameter_ids(scope)
                ):
                    if self._deeper(name, scope):
                        self._refuse_rebinding(name, at, "`{}` is an array before")
                        return None
                    place = Var(self._fresh(name), loc=at)
                    scope.bound[name] = place
                if name not in scope.numbers:
                    scope.numbers.add(name)
                    scope.paths[name] = tuple(self.open)
                return replace(place, loc=at)
            case gast.Subscript():
                load = self._subscript(node, scope, store=True)
                part = self._whole(load)
                if part is not None:
                    if part.view:
                        return part
                    self._refuse_target(node, scope)
                    return None
                if isinstance(load, Extent):
                    self._refuse_target(node, scope)
                if not isinstance(load, Load):
                    assert self.findings.found or self.unsettled
                    return None
                self._changes(load.array, at)
                return load
        self._refuse_target(node, scope)
        return None

    def _refuse_rebinding(self, name: str, at: Loc, because: str) -> None:
        self.findings.add(
            "P206",
            at,
            because.format(name) + " this loop or branch",
            f"use another name, or assign the elements, as in `{name}[:] = ...`",
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


_Turn = tuple[str, list[Mapping[str, Expr]], list[str], Mapping[str, Expr]]


def arrays_bound(scope: Scope) -> dict[str, Expr]:
    """The names of a scope and what they stand for, loop indices apart."""
    return {
        n: e
        for n, e in scope.bound.items()
        if isinstance(e, Var) and not e.name.startswith("@")
    }


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


def _swaps(node: gast.AST) -> bool:
    """Does a statement inside `node` exchange names, as in ``u, v = v, u``?"""
    return any(
        isinstance(s, gast.Assign)
        and isinstance(s.targets[0], gast.Tuple)
        and isinstance(s.value, gast.Tuple)
        and all(isinstance(e, gast.Name) for e in (*s.targets[0].elts, *s.value.elts))
        for s in gast.walk(node)
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


def _elements(node: gast.AST) -> list[gast.AST]:
    return list(node.elts) if isinstance(node, (gast.Tuple, gast.List)) else [node]
