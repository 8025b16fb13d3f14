"""Expressions with the fields of tuples in the place of their names."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import gast
import numpy as np

from pyrev.parse.bindings import (
    literal_integer,
)
from pyrev.parse.rewriting.by_field.comparisons import compared
from pyrev.parse.rewriting.by_field.front import Front, Readings, Token, Unfit
from pyrev.parse.rewriting.by_field.kinds import (
    OPEN,
    Callee,
    Kinds,
    Pair,
    Rows,
    has_rows,
)
from pyrev.parse.rewriting.by_field.sorting import sorted_lists
from pyrev.parse.rewriting.by_field.trees import (
    Tree,
    flat,
    is_plain,
    loaded,
    mapped,
    named,
    paired,
    subscripted,
    together,
    written_out,
)
from pyrev.parse.rewriting.lists.uses import DEFINITION, SIBLINGS
from pyrev.parse.rewriting.made_texts import (
    assign,
    name_of,
    numpy_call,
    placed,
)

_LATER = (gast.Lambda, gast.ListComp, gast.GeneratorExp, gast.SetComp, gast.DictComp)


class Expressions(Front):
    """Rewrites the expressions of one definition."""

    def __init__(self, kinds: Kinds, readings: Readings) -> None:
        super().__init__(kinds)
        self.readings = readings

    def _later(self, e: gast.AST, *, truth: bool = False) -> gast.AST:
        """An expression that may not be evaluated, or more than once; of which only the
        `truth` counts, if said so.
        """
        before, self.before = self.before, None
        try:
            return self.test(e) if truth else self.leaf(e)
        finally:
            self.before = before

    # ------------------------------------------------------------ tuples

    def fields(self, e: gast.AST, kind: Pair | Rows | None = None) -> Tree:
        """The fields of a tuple, or of a list of tuples."""
        match e:
            case gast.Name(id=name):
                return loaded(self.names[name])
            case gast.Tuple(elts=elts):
                return [self.field(x) for x in elts]
            case gast.List(elts=elts):
                return self._listed(elts, kind or self.kinds.of(e))
            case gast.IfExp():
                return self._chosen(e)
            case gast.Subscript(value=whole, slice=index):
                return self._part(whole, index)
            case gast.Call():
                return self._called(e)
        self.unfit(e)

    def field(self, e: gast.AST) -> Tree:
        """An expression that may be a tuple."""
        kind = self.kinds.of(e)
        return self.leaf(e) if kind is None or kind == OPEN else self.fields(e)

    def _listed(self, elts: Sequence[gast.AST], kind: Pair | Rows | None) -> Tree:
        if not isinstance(kind, Rows) or kind.of is None:
            raise Unfit(self.kinds.names)
        shape = named("", kind, set())
        trees = [self.fields(x) for x in elts]
        token = Token()

        def begun(_: str) -> gast.AST:
            made = gast.List([], gast.Load())
            setattr(made, SIBLINGS, token)
            return made

        whole = mapped(shape, begun)
        for tree in trees:
            paired(whole, tree, lambda made, x: made.elts.append(x))
        return whole

    def _chosen(self, e: gast.IfExp) -> Tree:
        if self.has_effects(e):
            self.unfit(e)
        test = self.test(e.test)
        before, self.before = self.before, None
        one, other = self.fields(e.body), self.fields(e.orelse)
        self.before = before
        return paired(one, other, lambda a, b: gast.IfExp(copy.deepcopy(test), a, b))

    def _part(self, whole: gast.AST, index: gast.AST) -> Tree:
        """An element or a slice of a list, or a field of a tuple."""
        kind = self.kinds.of(whole)
        if isinstance(kind, Rows):
            lists = self.fields(whole)
            if self.has_effects(whole) or self.has_effects(index):
                self.unfit(whole)
            place = self.leaf(index)
            return mapped(lists, lambda e: subscripted(e, place, gast.Load()))
        k = literal_integer(index)
        if not isinstance(kind, Pair) or k is None:
            self.unfit(whole)
        if not -len(kind.fields) <= k < len(kind.fields):
            self.unfit(whole)
        tree = self.fields(whole)
        direct = isinstance(whole, gast.Name) or (
            isinstance(whole, gast.Subscript) and not self.has_effects(whole)
        )
        if not direct:
            own = self.has_effects(whole)
            tree = mapped(tree, lambda e: self.held(e, own))
        return tree[k]

    def _called(self, e: gast.Call) -> Tree:
        """The fields of what a call gives."""
        match e.func:
            case gast.Attribute(value=base, attr="pop") if isinstance(
                self.kinds.of(base), Rows
            ):
                if any(map(self.has_effects, e.args)):
                    self.unfit(e)
                args = [self.leaf(a) for a in e.args]
                return mapped(self.fields(base), lambda x: _method(x, "pop", args))
            case gast.Attribute(value=base, attr="copy") if isinstance(
                self.kinds.of(base), Rows
            ):
                return self._copy(base)
        found = self.object(e.func)
        if found is list:
            return self._copy(e.args[0])
        if self.is_sorted(e):
            names = named("ordered", self.kinds.of(e), self.taken)
            self.sort(e, names)
            return loaded(names)
        if found is min or found is max:
            return self._extreme(e, found is min)
        kind = self.kinds.of(e)
        own = self.has_effects(e)
        self.front(own)
        names = named("value", kind, self.taken)
        self.given_to(names, self.leaf_call(e))
        return loaded(names)

    def given_to(self, names: Tree, call: gast.AST) -> None:
        """Give the names what a call returns, before the statement."""
        assert self.before is not None
        targets = [name_of(n, ctx=gast.Store()) for n in flat(names)]
        self.before.append(assign([together(targets, gast.Store())], call))

    def _copy(self, e: gast.AST) -> Tree:
        whole = gast.Slice(None, None, None)
        return mapped(
            self.fields(e),
            lambda x: gast.Subscript(x, copy.deepcopy(whole), gast.Load()),
        )

    def _extreme(self, e: gast.Call, least: bool) -> Tree:
        """The least or the greatest tuple: the first of several that are equal."""
        own = self.has_effects(e)
        self.front(own)
        assert self.before is not None
        op = gast.Lt() if least else gast.Gt()
        kind = self.kinds.of(e)
        names = named("chosen", kind, self.taken)
        if len(e.args) > 1:
            others = [self._named(self.fields(a), own) for a in e.args]
            self.before += _stores(names, others[0])
            for other in others[1:]:
                self.before.append(_if_better(op, other, names))
            return loaded(names)
        lists = self._named(self.fields(e.args[0]), own)
        each = named("each", kind, self.taken)
        word = "min" if least else "max"
        self.before.append(_refuse_empty(flat(lists)[0], word))
        zero = gast.Constant(0, None)
        first = mapped(lists, lambda x: subscripted(x, zero, gast.Load()))
        self.before += _stores(names, first)
        targets = [name_of(n, ctx=gast.Store()) for n in flat(each)]
        rows: gast.AST = gast.Call(name_of("zip"), flat(lists), [])
        if len(targets) == 1:
            (rows,) = flat(lists)
        body = [_if_better(op, loaded(each), names)]
        loop = gast.For(together(targets, gast.Store()), rows, body, [], None)
        self.before.append(loop)
        return loaded(names)

    def sort(self, e: gast.Call, names: Tree) -> None:
        """``names = sorted(pts)``, before the statement: lists of their own."""
        own = self.has_effects(e)
        self.front(own)
        assert self.before is not None
        lists = flat(self.fields(e.args[0]))
        self.before += sorted_lists(lists, flat(names), self.taken)

    def _named(self, tree: Tree, own: int) -> Tree:
        return mapped(tree, lambda e: self.held(e, own))

    # ------------------------------------------------------------ other values

    def leaf(self, e: gast.AST) -> gast.AST:
        """An expression that is no tuple."""
        kind = self.kinds.of(e)
        if kind is not None and kind != OPEN and self.mentioned(e):
            self.unfit(e)
        match e:
            case gast.Name() if e.id in self.kinds.names:
                self.unfit(e)
            case gast.Subscript(value=whole, slice=index) if self.has_tuples(e):
                if self.kinds.of(whole) is not None:
                    found: gast.AST = self._part(whole, index)
                    return found
                return self.subscript(e)
            case gast.Compare(left=left, ops=[op], comparators=[right]):
                made = self._compare(op, left, right)
                if made is not None:
                    return placed(made, e)
            case gast.BoolOp(values=[first, *rest]):
                later = [self._later(v, truth=True) for v in rest]
                e.values = [self.test(first), *later]
                return e
            case gast.UnaryOp(op=gast.Not(), operand=inner):
                e.operand = self.test(inner)
                return e
            case gast.IfExp(test=test, body=body, orelse=orelse):
                e.test = self.test(test)
                e.body, e.orelse = self._later(body), self._later(orelse)
                return e
            case gast.Call():
                return self.leaf_call(e)
        if isinstance(e, _LATER):
            inside = self.mentioned(e)
            if inside:
                raise Unfit(inside)
            return e
        return self._inside(e)

    def _inside(self, e: gast.AST) -> gast.AST:
        for part, value in gast.iter_fields(e):
            if part == "ctx":
                continue
            if isinstance(value, gast.expr) or isinstance(value, gast.Slice):
                setattr(e, part, self.leaf(value))
            elif isinstance(value, list):
                new = [self.leaf(v) if isinstance(v, gast.expr) else v for v in value]
                setattr(e, part, new)
        return e

    def subscript(self, e: gast.Subscript) -> gast.AST:
        """An element of an array: ``grid[at]`` is ``grid[at_0, at_1]``."""
        index = e.slice
        kind = self.kinds.of(index)
        if isinstance(kind, Pair):
            parts = self.fields(index)
            if any(f is not None for f in kind.fields):
                self.unfit(index)
            index = gast.copy_location(gast.Tuple(parts, gast.Load()), index)
        else:
            index = self.leaf(index)
        e.value, e.slice = self.leaf(e.value), index
        return placed(e, e)

    def test(self, e: gast.AST) -> gast.AST:
        """An expression of which only the truth counts: a list is true if it has
        elements.
        """
        if isinstance(e, gast.Name) and isinstance(self.kinds.of(e), Rows):
            length = _length(flat(self.fields(e))[0])
            made = gast.Compare(length, [gast.Gt()], [gast.Constant(0, None)])
            return placed(made, e)
        return self.leaf(e)

    def _compare(
        self, op: gast.AST, left: gast.AST, right: gast.AST
    ) -> gast.AST | None:
        """The test of two tuples; None for one of other values."""
        if isinstance(op, (gast.In, gast.NotIn)):
            return self._among(op, left, right)
        one, other = self.kinds.of(left), self.kinds.of(right)
        if not isinstance(one, Pair) and not isinstance(other, Pair):
            return None
        if one != other or has_rows(one):
            raise Unfit(self.mentioned(left) | self.mentioned(right))
        sides = [self._steady(self.fields(x)) for x in (left, right)]
        made = compared(op, flat(sides[0]), flat(sides[1]))
        if made is None:
            raise Unfit(self.mentioned(left) | self.mentioned(right))
        return made

    def _among(self, op: gast.AST, left: gast.AST, right: gast.AST) -> gast.AST | None:
        """``p in ((0, 1), (1, 0))``"""
        kind = self.kinds.of(left)
        if not isinstance(kind, Pair):
            return None
        if not isinstance(right, (gast.Tuple, gast.List)) or has_rows(kind):
            raise Unfit(self.mentioned(left) | self.mentioned(right))
        if any(self.kinds.of(x) != kind for x in right.elts):
            raise Unfit(self.mentioned(left) | self.mentioned(right))
        one = flat(self._steady(self.fields(left)))
        others = [flat(self._steady(self.fields(x))) for x in right.elts]
        tests = [compared(gast.Eq(), one, other) for other in others]
        found = tests[0] if len(tests) == 1 else gast.BoolOp(gast.Or(), tests)
        return gast.UnaryOp(gast.Not(), found) if isinstance(op, gast.NotIn) else found

    def _steady(self, tree: Tree) -> Tree:
        """The fields as what may be evaluated twice, or not at all."""
        leaves = flat(tree)
        alike = {
            gast.unparse(e.slice) if isinstance(e, gast.Subscript) else ""
            for e in leaves
        }
        own = {n for names in map(self.names.get, self.lists) for n in flat(names)}
        rows = all(
            isinstance(e, gast.Subscript)
            and isinstance(e.value, gast.Name)
            and e.value.id in own
            and is_plain(e.slice)
            for e in leaves
        )
        if rows and len(alike) == 1:
            return tree  # one index, which is in all lists or in none
        if all(map(is_plain, leaves)):
            return tree
        return mapped(tree, self.held)

    # ------------------------------------------------------------ calls

    def leaf_call(self, e: gast.Call) -> gast.AST:
        """A call with what it is given."""
        match e:
            case gast.Call(func=func, args=[inner], keywords=[]) if (
                self.object(func) is len
            ):
                kind = self.kinds.of(inner)
                if isinstance(kind, Rows) and kind != OPEN:
                    return placed(_length(flat(self.fields(inner))[0]), e)
                if isinstance(kind, Pair) and isinstance(inner, gast.Name):
                    count = gast.Constant(len(kind.fields), None)
                    return gast.copy_location(count, e)
        if self.object(e.func) in _ARRAYS and len(e.args) == 1:
            kind = self.kinds.of(e.args[0])
            if isinstance(kind, Rows) and self.has_tuples(e.args[0]):
                return self._stacked(e, kind)
        callee = self.kinds.callee(e)
        if callee is not None:
            return self._to_helper(e, callee)
        e.func = self.leaf(e.func)
        e.args = [self.argument(a) for a in e.args]
        for k in e.keywords:
            k.value = self.argument(k.value)
        return e

    def argument(self, e: gast.AST) -> gast.AST:
        """What is handed on: a tuple is written out."""
        kind = self.kinds.of(e)
        if isinstance(kind, Pair) and self.mentioned(e) and not has_rows(kind):
            return placed(written_out(self.fields(e), kind), e)
        return self.leaf(e)

    def _stacked(self, e: gast.Call, kind: Rows) -> gast.AST:
        """``np.array(pts)``: a row for each tuple."""
        if kind.of is None or any(f is not None for f in kind.of.fields):
            self.unfit(e)
        if any(k.arg != "dtype" for k in e.keywords):
            self.unfit(e)
        lists = self.fields(e.args[0])
        arrays = [
            gast.Call(copy.deepcopy(e.func), [x], copy.deepcopy(e.keywords))
            for x in lists
        ]
        whole = gast.Tuple(arrays, gast.Load())
        return placed(numpy_call("stack", [whole, gast.Constant(1, None)]), e)

    def _to_helper(self, e: gast.Call, callee: Callee) -> gast.AST:
        """A call of a function whose parameters have a name for each field, too."""
        given = self.kinds.arguments(callee, e)
        made = self.readings.definition(callee, given)
        if made is None:
            e.args = [self.argument(a) for a in e.args]
            for k in e.keywords:
                k.value = self.argument(k.value)
            return e
        spec = callee.node.args
        positional = [p.id for p in [*spec.posonlyargs, *spec.args]]
        args: list[gast.AST] = []
        for k, a in enumerate(e.args):
            apart = k < len(positional) and positional[k] in given
            args += flat(self.fields(a)) if apart else [self.argument(a)]
        keywords: list[gast.AST] = []
        for keyword in e.keywords:
            if keyword.arg in given:
                (own,) = [n for n in [made.names[keyword.arg]]]
                values = flat(self.fields(keyword.value))
                for n, v in zip(flat(own), values, strict=True):
                    keywords.append(gast.keyword(n, v))
            else:
                keyword.value = self.argument(keyword.value)
                keywords.append(keyword)
        e.args, e.keywords = args, keywords
        if made.node is not callee.node:
            setattr(e, DEFINITION, made)
        return placed(e, e)


_ARRAYS = (np.array, np.asarray)


def _method(e: gast.AST, name: str, args: Sequence[gast.AST] = ()) -> gast.AST:
    func = gast.Attribute(e, name, gast.Load())
    return gast.Call(func, copy.deepcopy([*args]), [])


def _length(e: gast.AST) -> gast.AST:
    return gast.Call(name_of("len"), [e], [])


def _stores(names: Tree, values: Tree) -> list[gast.AST]:
    return [
        assign([name_of(n, ctx=gast.Store())], v)
        for n, v in zip(flat(names), flat(values), strict=True)
    ]


def _if_better(op: gast.AST, other: Tree, names: Tree) -> gast.AST:
    """``if other < chosen: chosen = other``"""
    test = compared(op, flat(other), flat(loaded(names)))
    return gast.If(test, _stores(names, copy.deepcopy(other)), [])


def _refuse_empty(of: gast.AST, word: str) -> gast.AST:
    try:
        (min if word == "min" else max)(())
    except ValueError as error:
        message = gast.Constant(str(error), None)
    raised = gast.Call(name_of("ValueError"), [message], [])
    zero = gast.Constant(0, None)
    empty = gast.Compare(_length(copy.deepcopy(of)), [gast.Eq()], [zero])
    return gast.If(empty, [gast.Raise(raised, None)], [])
