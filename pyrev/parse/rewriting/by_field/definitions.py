"""Definitions by fields: each tuple, and each list of tuples, as its fields.

Python text in, Python text out, before anything is read::

    at = (n - 1, m - 1)                   at_0 = n - 1
    path = [at]                           at_1 = m - 1
    while at != (0, 0):                   path_0 = [at_0]
        at = step(at)             ->      path_1 = [at_1]
        path.append(at)                   while at_0 != 0 or at_1 != 0:
    for i, j in path:                         at_0, at_1 = step(at_0, at_1)
        s += a[i, j]                          path_0.append(at_0)
                                              path_1.append(at_1)
                                          for i, j in zip(path_0, path_1):
                                              s += a[i, j]

A tuple never changes, and so has no identity that matters. A list has: one that gets
another name is two lists with other names, as it is one with another name.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence

import gast

from pyrev.ir.nodes import fresh
from pyrev.parse.bindings import local_names, nodes_of
from pyrev.parse.rewriting.by_field.expressions import Expressions
from pyrev.parse.rewriting.by_field.front import Reading, Readings, Unfit
from pyrev.parse.rewriting.by_field.kinds import (
    OPEN,
    Callee,
    Kinds,
    Pair,
    Rows,
    has_rows,
    is_flat,
    returned,
)
from pyrev.parse.rewriting.by_field.sorting import put_in_order
from pyrev.parse.rewriting.by_field.trees import (
    Tree,
    flat,
    is_plain,
    mapped,
    named,
    subscripted,
    together,
    written_out,
)
from pyrev.parse.rewriting.comprehensions import Comprehensions
from pyrev.parse.rewriting.helper_texts import looked
from pyrev.parse.rewriting.made_texts import (
    Lookup,
    assign,
    name_of,
    placed,
    read_in,
    root_of,
)
from pyrev.parse.rewriting.structures.shapes import SHAPE, Shape


def with_fields(node: gast.AST, lookup: Lookup) -> gast.AST:
    """The definition of a function by fields; itself if it has no tuples that need it.

    >>> import gast
    >>> text = '''
    ... def f(x):
    ...     best = (x[0], 0)
    ...     for i in range(1, 5):
    ...         if (x[i], i) < best:
    ...             best = (x[i], i)
    ...     return best[0]
    ... '''
    >>> definition = gast.parse(text).body[0]
    >>> print(gast.unparse(with_fields(definition, {"range": range}.get)).strip())
    def f(x):
        best_0 = x[0]
        best_1 = 0
        for i in range(1, 5):
            value = x[i]
            if value < best_0 or (value == best_0 and i < best_1):
                best_0 = x[i]
                best_1 = i
        return best_0
    """
    return Definitions().read(node, lookup, {}, False).node


def helper_with_fields(node: gast.AST, lookup: Lookup) -> gast.AST:
    """The same of a helper that is called where nothing was known of it: itself, too,
    if what it returns would be taken apart.
    """
    made = Definitions().read(node, lookup, {}, True)
    return node if _apart(made.result) else made.node


def _apart(result: Pair | Rows | None) -> bool:
    """Does a helper return more, or fewer, values than its text says?"""
    return result is not None and not is_flat(result)


class Definitions(Readings):
    """The definitions that are read, for parameters of these kinds."""

    def definition(
        self, callee: Callee, given: Mapping[str, Pair | Rows]
    ) -> Reading | None:
        def look() -> Reading | None:
            return self.read(callee.node, callee.lookup, given, True)

        kinds = tuple(sorted(given.items(), key=str))
        return looked(callee.key, "tuples", look, None, kinds)

    def read(
        self,
        node: gast.AST,
        lookup: Lookup,
        given: Mapping[str, Pair | Rows],
        helper: bool,
    ) -> Reading:
        """The definition for parameters of these kinds."""
        if not isinstance(getattr(node, "body", None), list):
            return Reading(node, {}, None)
        whole = _without_comprehensions(node, lookup)
        banned: set[str] = set()
        while True:
            made = copy.deepcopy(whole)
            kinds = Kinds(made, lookup, given, banned, self._result)
            try:
                return Statements(kinds, self, helper).done(node)
            except Unfit as error:
                left = error.names & kinds.names.keys()
                if not left or left & given.keys():
                    return Reading(node, {}, None)
                banned |= left

    def _result(
        self, callee: Callee, given: Mapping[str, Pair | Rows]
    ) -> Pair | Rows | None:
        made = self.definition(callee, given)
        return None if made is None else made.result


def _without_comprehensions(node: gast.AST, lookup: Lookup) -> gast.AST:
    """The definition with loops for comprehensions; itself if one reads what it gives
    another list to: the loop would read the new one.
    """
    kinds = (gast.ListComp, gast.GeneratorExp)
    every = nodes_of(node)
    if not any(isinstance(n, kinds) for n in every):
        return node
    for n in every:
        match n:
            case gast.Assign(targets=[gast.Name(id=name)], value=value):
                if isinstance(value, gast.ListComp) and name in read_in(value):
                    return node
    return Comprehensions(node, lookup).done()


class Statements(Expressions):
    """Rewrites the statements of one definition."""

    def __init__(self, kinds: Kinds, readings: Readings, helper: bool) -> None:
        super().__init__(kinds, readings)
        self.helper = helper
        self.result = returned(kinds)

    def done(self, original: gast.AST) -> Reading:
        """What was made; the original if nothing was."""
        node = self.kinds.node
        before = gast.dump(node)
        node.body = self.block(node.body)
        spec = node.args
        for group in (spec.posonlyargs, spec.args, spec.kwonlyargs):
            group[:] = [x for p in group for x in self._parameters(p)]
        attached = any(hasattr(n, "pyrev_definition") for n in nodes_of(node))
        same = not attached and gast.dump(node) == before
        return Reading(original if same else node, self.names, self.result)

    def _parameters(self, p: gast.Name) -> list[gast.AST]:
        if p.id not in self.kinds.given:
            return [p]
        return [name_of(n, p, gast.Param()) for n in flat(self.names[p.id])]

    # ------------------------------------------------------------ statements

    def block(self, stmts: Sequence[gast.AST]) -> list[gast.AST]:
        out: list[gast.AST] = []
        for s in stmts:
            self.before, self.effects = [], 0
            made = self._statement(s)
            out += [placed(x, s) for x in made]
        return out

    def _statement(self, s: gast.AST) -> list[gast.AST]:
        before: list[gast.AST] = []
        self.before = before
        match s:
            case gast.FunctionDef() | gast.ClassDef():
                inside = self.mentioned(s) - local_names(s)
                if inside:
                    raise Unfit(inside)
                return [s]
            case gast.Assign(targets=targets, value=value):
                self.effects = self.has_effects(s)
                made = self._assigned(s, targets, value)
            case gast.AugAssign(target=gast.Name() as target, value=value) if (
                target.id in self.kinds.names
            ):
                made = self._more(s, target, value)
            case gast.For():
                made = self._loop(s)
            case gast.While():
                self.before = None
                s.test = self.test(s.test)
                s.body, s.orelse = self.block(s.body), self.block(s.orelse)
                made = [s]
            case gast.If():
                self.effects = self.has_effects(s.test)
                s.test = self.test(s.test)
                s.body, s.orelse = self.block(s.body), self.block(s.orelse)
                made = [s]
            case gast.Return(value=value) if value is not None:
                self.effects = self.has_effects(s)
                s.value = self._returned(value)
                made = [s]
            case gast.AugAssign(target=target, value=value):
                self.effects = self.has_effects(s)
                s.value, s.target = self.argument(value), self._place(target)
                made = [s]
            case gast.Expr(value=gast.Call() as call):
                # What is called comes last.
                self.effects = self.has_effects(s) - self.acts(call)
                made = self._done(s, call)
            case _:
                self.before = None
                made = [self._inside(s)]
        return [*before, *made]

    def _assigned(
        self, s: gast.AST, targets: Sequence[gast.AST], value: gast.AST
    ) -> list[gast.AST]:
        names = set().union(*map(self.mentioned, targets))
        kind = self.kinds.of(value)
        if len(targets) > 1:
            if not names:
                s.value, s.targets = self.argument(value), [*map(self._place, targets)]
                return [s]
            if not isinstance(kind, Pair):
                raise Unfit(names)
            tree = mapped(self.fields(value), self.held)
            every = [self.pairs(t, kind, copy.deepcopy(tree)) for t in targets]
            return [x for pairs in every for x in self._stored(pairs)]
        (target,) = targets
        match target:
            case gast.Name(id=name) if name in self.kinds.names:
                kind = self.kinds.names[name]
                return self._named_value(target, kind, value)
            case gast.Tuple() | gast.List() if isinstance(kind, Pair) and (
                self.mentioned(s) or not is_flat(kind)
            ):
                if isinstance(value, gast.Call):
                    made = self._from_helper(target, kind, value)
                    if made is not None:
                        return [made]
                return self._stored(self.pairs(target, kind, self.fields(value)))
            case gast.Subscript(value=gast.Name(id=name)) if name in self.lists:
                if not isinstance(kind, Pair):
                    raise Unfit({name})
                return self._stored(self.pairs(target, kind, self.fields(value)))
        if names and kind is None:
            if isinstance(target, (gast.Tuple, gast.List)):
                raise Unfit(names)
        s.value = self.argument(value)
        s.targets = [self._place(target)]
        return [s]

    def _named_value(
        self, target: gast.Name, kind: Pair | Rows, value: gast.AST
    ) -> list[gast.AST]:
        """``p = (x, y)``, ``pts = []``, ``pts = hull(x)``"""
        names = self.names[target.id]
        if self.callee_of(value) is not None:
            call = self.leaf_call(value)
            targets = [name_of(n, ctx=gast.Store()) for n in flat(names)]
            return [assign([together(targets, gast.Store())], call)]
        if self.is_sorted(value):
            self.sort(value, names)
            return []
        if kind == OPEN:
            raise Unfit({target.id})
        tree = self.fields(value, kind)
        targets = mapped(names, lambda n: name_of(n, ctx=gast.Store()))
        return self._stored([*zip(flat(targets), flat(tree), strict=True)])

    def _from_helper(
        self, target: gast.AST, kind: Pair, call: gast.Call
    ) -> gast.AST | None:
        """``pts, area = hull(x)``; None where the call is of no helper."""
        if self.callee_of(call) is None:
            return None
        tree = named("", kind, set())
        targets = [t for t, _ in self.pairs(target, kind, tree)]
        if len(targets) != len(flat(tree)) or not all(map(_is_name, targets)):
            return None
        whole = together(targets, gast.Store())
        return assign([whole], self.leaf_call(call))

    def _place(self, target: gast.AST) -> gast.AST:
        """A target that is no tuple."""
        if isinstance(target, gast.Name):
            if target.id in self.kinds.names:
                self.unfit(target)
            return target
        return self.leaf(target)

    def pairs(
        self, target: gast.AST, kind: Pair | Rows | None, tree: Tree
    ) -> list[tuple[gast.AST, gast.AST]]:
        """What is stored where, field by field."""
        match target:
            case gast.Name(id=name) if name in self.kinds.names:
                if self.kinds.names[name] != kind:
                    raise Unfit({name})
                names = mapped(self.names[name], lambda n: name_of(n, ctx=gast.Store()))
                return [*zip(flat(names), flat(tree), strict=True)]
            case gast.Tuple(elts=elts) | gast.List(elts=elts) if isinstance(kind, Pair):
                if len(elts) != len(kind.fields):
                    raise Unfit(self.kinds.names)
                parts = zip(elts, kind.fields, tree, strict=True)
                return [p for t, k, v in parts for p in self.pairs(t, k, v)]
            case gast.Subscript(value=gast.Name(id=name), slice=index) if (
                name in self.lists
            ):
                if self.kinds.names[name] != Rows(kind):  # type: ignore[arg-type]
                    raise Unfit({name})
                if self.has_effects(index) or isinstance(index, gast.Slice):
                    raise Unfit({name})
                place = self.leaf(index)
                wholes = mapped(self.names[name], name_of)
                targets = mapped(wholes, lambda e: subscripted(e, place, gast.Store()))
                return [*zip(flat(targets), flat(tree), strict=True)]
        if kind is None:
            return [(self._place(target), tree)]
        if is_flat(kind) and isinstance(target, gast.Subscript):
            return [(self._place(target), written_out(tree, kind))]
        raise Unfit(self.kinds.names)

    def _stored(self, pairs: Sequence[tuple[gast.AST, gast.AST]]) -> list[gast.AST]:
        """One assignment after the other, where none sees what another one stored; all
        at once else.
        """
        pairs = [p for p in pairs if not _is_same(*p)]
        done: set[str] = set()
        apart = True
        for target, value in pairs:
            apart = apart and not done & (read_in(value) | read_in(target))
            if isinstance(target, (gast.Tuple, gast.List)):
                apart = apart and len(pairs) == 1
            if not isinstance(target, gast.Name):
                apart = apart and not self.effects
            done |= {target.id} if isinstance(target, gast.Name) else {root_of(target)}
        if apart:
            return [assign([t], v) for t, v in pairs]
        targets, values = zip(*pairs, strict=True)
        return [
            assign(
                [gast.Tuple([*targets], gast.Store())],
                gast.Tuple([*values], gast.Load()),
            )
        ]

    def _more(self, s: gast.AST, target: gast.Name, value: gast.AST) -> list[gast.AST]:
        """``pts += [(a, b)]``"""
        if not isinstance(value, gast.List) or target.id not in self.lists:
            raise Unfit({target.id})
        if not isinstance(s.op, gast.Add):
            raise Unfit({target.id})
        self.effects = self.has_effects(value)
        trees = [self._item(target.id, e) for e in value.elts]
        return [x for tree in trees for x in self._appended(target.id, tree)]

    def _done(self, s: gast.Expr, call: gast.Call) -> list[gast.AST]:
        """A call that stands alone."""
        match call.func:
            case gast.Attribute(value=gast.Name(id=name), attr=attr) if (
                name in self.lists
            ):
                if call.keywords or not isinstance(self.kinds.names[name], Rows):
                    raise Unfit({name})
                if attr == "append" and len(call.args) == 1:
                    return self._appended(name, self._item(name, call.args[0]))
                if attr == "sort" and not call.args:
                    return put_in_order(flat(self.names[name]), self.taken)
                if attr in ("pop", "reverse") and not any(
                    map(self.has_effects, call.args)
                ):
                    args = [self.leaf(a) for a in call.args]
                    names = flat(self.names[name])
                    return [gast.Expr(_called_on(n, attr, args)) for n in names]
                raise Unfit({name})
        s.value = self.leaf_call(call)
        return [s]

    def _item(self, name: str, value: gast.AST) -> Tree:
        """The fields of what is put into a list: evaluated before that, if it could
        see the list.
        """
        tree = self.fields(value)
        if all(is_plain(e) for e in flat(tree)) and not (
            {n for e in flat(tree) for n in read_in(e)} & self._own_lists()
        ):
            return tree
        lists = self._own_lists()
        if not self.has_effects(value) and not any(
            read_in(e) & lists for e in flat(tree)
        ):
            return tree
        assert self.before is not None

        def held(e: gast.AST) -> gast.AST:
            if isinstance(e, (gast.Name, gast.Constant)):
                return e
            own = fresh(f"{name}_new", self.taken)
            assert self.before is not None
            self.before.append(assign([name_of(own, ctx=gast.Store())], e))
            return name_of(own)

        return mapped(tree, held)

    def _own_lists(self) -> set[str]:
        return {n for name in self.lists for n in flat(self.names[name])}

    def _appended(self, name: str, tree: Tree) -> list[gast.AST]:
        lists = flat(self.names[name])
        return [
            gast.Expr(_called_on(n, "append", [v]))
            for n, v in zip(lists, flat(tree), strict=True)
        ]

    # ------------------------------------------------------------ loops

    def _loop(self, s: gast.For) -> list[gast.AST]:
        self.effects = self.has_effects(s.iter)
        s.iter, s.target = self._over(s.iter, s.target)
        s.body, s.orelse = self.block(s.body), self.block(s.orelse)
        return [s]

    def _over(self, it: gast.AST, target: gast.AST) -> tuple[gast.AST, gast.AST]:
        """What a loop goes over, and its target."""
        kind = self.kinds.of(it)
        if isinstance(kind, Rows) and kind.of is not None and self.has_tuples(it):
            lists = flat(self.fields(it))
            targets = [*self._targets(target, kind.of)]
            if len(lists) == 1:
                return lists[0], targets[0]
            return gast.Call(name_of("zip"), lists, []), together(targets, gast.Store())
        if isinstance(kind, Pair) and self.mentioned(it):
            item = self.kinds.item(it)
            if any(map(has_rows, kind.fields)):
                self.unfit(it)
            over = written_out(self.fields(it), kind)
            return over, self._pattern(target, item)
        match it:
            case gast.Call(func=func, args=args, keywords=[]) if args:
                found = self.object(func)
                if found is reversed:
                    return self._reversed(it, target)
                if found is enumerate and isinstance(target, gast.Tuple):
                    if len(target.elts) == 2:
                        first, rest = target.elts
                        inner, rest = self._over(args[0], rest)
                        it.args = [inner, *map(self.leaf, args[1:])]
                        pair = gast.Tuple([self._place(first), rest], gast.Store())
                        return it, pair
                if found is zip and isinstance(target, (gast.Tuple, gast.List)):
                    if len(target.elts) == len(args):
                        return self._zipped(it, target)
        if self.mentioned(target):
            return self.leaf(it), self._pattern(target, self.kinds.item(it))
        return self.argument(it), self.leaf(target)

    def _reversed(self, it: gast.Call, target: gast.AST) -> tuple[gast.AST, gast.AST]:
        inner, made = self._over(it.args[0], target)
        match inner:
            case gast.Call(func=gast.Name(id="zip"), args=args) if (
                inner is not it.args[0]
            ):
                inner.args = [gast.Call(it.func, [a], []) for a in args]
                return inner, made
        it.args = [inner]
        return it, made

    def _zipped(self, it: gast.Call, target: gast.AST) -> tuple[gast.AST, gast.AST]:
        lists: list[gast.AST] = []
        targets: list[gast.AST] = []
        for a, t in zip(it.args, target.elts, strict=True):
            kind = self.kinds.of(a)
            if isinstance(kind, Rows) and kind.of is not None and self.has_tuples(a):
                lists += flat(self.fields(a))
                targets += self._targets(t, kind.of)
            else:
                inner, made = self._over(a, t)
                lists.append(inner)
                targets.append(made)
        it.args = lists
        return it, gast.Tuple(targets, gast.Store())

    def _targets(
        self, target: gast.AST, kind: Pair | Rows | None
    ) -> Iterator[gast.AST]:
        """The targets of the fields of each tuple, in order."""
        match target:
            case gast.Name(id=name) if name in self.kinds.names:
                if self.kinds.names[name] != kind:
                    raise Unfit({name})
                for n in flat(self.names[name]):
                    yield name_of(n, target, gast.Store())
            case gast.Tuple(elts=elts) | gast.List(elts=elts) if isinstance(kind, Pair):
                if len(elts) != len(kind.fields):
                    raise Unfit(self.kinds.names)
                for t, k in zip(elts, kind.fields, strict=True):
                    yield from self._targets(t, k)
            case _:
                if kind is not None:
                    raise Unfit(self.kinds.names)
                yield self._place(target)

    def _pattern(self, target: gast.AST, kind: Pair | Rows | None) -> gast.AST:
        """A target with a name for each field."""
        match target:
            case gast.Name(id=name) if name in self.kinds.names:
                if self.kinds.names[name] != kind or not isinstance(kind, Pair):
                    raise Unfit({name})
                names = mapped(
                    self.names[name], lambda n: name_of(n, target, gast.Store())
                )
                return _nested(names)
            case gast.Tuple(elts=elts) if isinstance(kind, Pair):
                if len(elts) == len(kind.fields):
                    parts = zip(elts, kind.fields, strict=True)
                    target.elts = [self._pattern(t, k) for t, k in parts]
                    return target
        if kind is not None:
            raise Unfit(self.kinds.names)
        return self._place(target)

    # ------------------------------------------------------------ results

    def _returned(self, value: gast.AST) -> gast.AST:
        """What is returned: field by field by a helper, as it is else."""
        kind = self.kinds.of(value)
        if kind is None or (not self.mentioned(value) and not _apart(kind)):
            return self.argument(value)
        if self.helper and _apart(self.result):
            if kind == OPEN and self.result is not None:
                kind = self.result
            if self.callee_of(value) is not None:
                return self.leaf_call(value)
            tree = self.fields(value, kind)
            return together(flat(tree), gast.Load())
        if not self.helper:
            tree = self.fields(value, kind)
            made = self._whole(tree, kind)
            return gast.copy_location(made, value)
        return self.argument(value)

    def _whole(self, tree: Tree, kind: Pair | Rows | None) -> gast.AST:
        """A tuple, or a list of tuples, as the function itself returns it."""
        if isinstance(kind, Pair):
            parts = zip(tree, kind.fields, strict=True)
            return gast.Tuple([self._whole(t, k) for t, k in parts], gast.Load())
        if not isinstance(kind, Rows):
            return tree
        if kind.of is None or not is_flat(kind.of):
            raise Unfit(self.kinds.names)
        made = gast.Tuple([*tree], gast.Load())
        fields = tuple((k, None) for k in range(len(tree)))
        setattr(made, SHAPE, Shape("list of tuples", fields))
        return made


def _is_name(e: gast.AST) -> bool:
    return isinstance(e, gast.Name)


def _is_same(target: gast.AST, value: gast.AST) -> bool:
    """Does an assignment change nothing?"""
    match target, value:
        case gast.Name(id=one), gast.Name(id=other):
            return bool(one == other)
    return False


def _nested(names: Tree) -> gast.AST:
    if isinstance(names, list):
        return gast.Tuple([_nested(n) for n in names], gast.Store())
    return names


def _called_on(name: str, attr: str, args: Sequence[gast.AST]) -> gast.AST:
    func = gast.Attribute(name_of(name), attr, gast.Load())
    return gast.Call(func, copy.deepcopy([*args]), [])
