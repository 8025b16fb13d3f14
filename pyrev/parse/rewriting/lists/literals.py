"""Lists that grow, as arrays with room and a count, before anything is read.

Python text in, Python text out::

    out = []                              out_room = max(0, n - 1)
    for i in range(1, n):                 out_count = 0
        if x[i] > x[i - 1]:        ->     out = np.empty(out_room, dtype=...)
            out.append(x[i])              for i in range(1, n):
    return np.array(out)                      if x[i] > x[i - 1]:
                                                  out_item = x[i]
                                                  out[out_count] = out_item
                                                  out_count += 1
                                          return out[:out_count].copy()

Room is what the loops around `append` do at most. Where that is not known before, as of
`while`, what decides it is run once more in front, and counts. A list of tuples is an
array for each place of them.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass

import gast
import numpy as np

from pyrev.ir.nodes import fresh
from pyrev.parse.bindings import (
    identifiers,
    literal_integer,
    local_names,
    nodes_of,
)
from pyrev.parse.rewriting.comprehensions import Comprehensions, Start, start_of
from pyrev.parse.rewriting.evaluated_once import evaluated_once
from pyrev.parse.rewriting.lists.candidates import candidates, stored, tuples_as_lists
from pyrev.parse.rewriting.lists.iterables import with_iterables
from pyrev.parse.rewriting.lists.nested import without_nested
from pyrev.parse.rewriting.lists.ragged import without_ragged
from pyrev.parse.rewriting.lists.regions import with_regions
from pyrev.parse.rewriting.lists.results import (
    without_list_results,
    without_literal_results,
)
from pyrev.parse.rewriting.lists.room import NotThisWay
from pyrev.parse.rewriting.lists.sharing import GIVEN, LISTED, in_place, listed
from pyrev.parse.rewriting.lists.siblings import (
    backwards,
    counted,
    is_reversed,
    siblings,
)
from pyrev.parse.rewriting.lists.snapshots import with_snapshots
from pyrev.parse.rewriting.lists.uses import (
    LIST,
    is_named,
    loops_over_fields,
    reads_elements,
    takes_elements,
)
from pyrev.parse.rewriting.made_texts import (
    Lookup,
    assign,
    copied,
    name_of,
    numpy_call,
    object_named,
    placed,
    up_to,
)
from pyrev.parse.rewriting.ranges import without_ranges
from pyrev.parse.rewriting.structures.shapes import SHAPE, Shape
from pyrev.parse.source import plain


def without_lists(
    node: gast.AST, lookup: Lookup, helper: bool = False, ragged: bool = False
) -> gast.AST:
    """The definition `node` without lists that grow and list comprehensions; itself if
    it has none. Lists that are used in other ways are left as they are. What a helper
    returns is an array. In lists of arrays these may be `ragged`: of several lengths.

    >>> import gast
    >>> text = '''
    ... def f(x, n):
    ...     out = []
    ...     for i in range(1, n):
    ...         out.append(x[i] - x[i - 1])
    ...     return len(out), out[-1]
    ... '''
    >>> definition = gast.parse(text).body[0]
    >>> made = gast.unparse(without_lists(definition, {}.get))
    >>> print(made.replace("@", "").strip())
    def f(x, n):
        out_room = max(0, n - 1)
        out_count = 0
        out = np.empty(out_room, dtype=np.result_type(out_item))
        for i in range(1, n):
            out_item = x[i] - x[i - 1]
            out[out_count] = out_item
            out_count += 1
        return (out_count, out[:out_count][-1])
    """
    if not isinstance(getattr(node, "body", None), list):
        return node
    node = without_ranges(node, lookup)
    node = without_literal_results(tuples_as_lists(node, lookup), helper)
    node = with_snapshots(with_regions(node, lookup), lookup)
    if not any(map(_may_grow, nodes_of(node))):
        return without_list_results(node, lookup, helper)
    node = evaluated_once(Comprehensions(node, lookup).done(), lookup)
    node = with_iterables(node, lookup)
    node = without_nested(node)
    if ragged:
        node = without_ragged(node, lookup, helper)
    node = without_list_results(node, lookup, helper)
    left, whole = candidates(node, lookup), node
    for name in left:
        try:
            node = _Growing(node, name, lookup, helper, whole).done()
        except NotThisWay:
            continue
    return node


def _may_grow(n: gast.AST) -> bool:
    match n:
        case gast.ListComp() | gast.GeneratorExp() | gast.List():
            return True
        case gast.Call(func=gast.Attribute(attr="append")):
            return True
    return False


# ------------------------------------------------------------------ one list


@dataclass
class _Parts:
    """The names for one list: an array for each place of its tuples, a scalar that has
    the dtype of each, and how many elements there are.
    """

    arrays: list[str]
    items: list[str]
    count: str
    tuples: bool
    #: The number of the first element, where elements are taken off the front.
    first: str | None = None


class _Growing:
    """Makes arrays of one list."""

    def __init__(
        self,
        node: gast.AST,
        name: str,
        lookup: Lookup,
        helper: bool,
        whole: gast.AST,
    ) -> None:
        self.node, self.name = copy.deepcopy(node), name
        self.helper = helper
        #: What is known of it in the `whole` definition, with all its lists.
        self.listed = listed(whole, name, lookup, helper)
        #: What the list begins with.
        self.first: list[gast.AST] = []
        self.taken = {*identifiers(node)}
        self.local = local_names(node)
        self.lookup = lookup
        self._places = len(self._appended()) + _more(node, name)
        width = self._width()
        several = width is not None

        def own(word: str, k: int) -> str:
            ending = f"_{k}" if several else ""
            return fresh(f"{name}{word}{ending}", self.taken)

        many = range(width or 1)
        self.parts = _Parts(
            [own("", k) for k in many] if several else [name],
            [own("_item", k) for k in many],
            fresh(f"{name}_count", self.taken),
            several,
        )
        self.siblings, self.known_room = siblings(node, name, self.local, lookup)
        if any(popped(n, name) == "first" for n in nodes_of(node)):
            self.parts.first = fresh(f"{name}_first", self.taken)
        self.room = fresh(f"{name}_room", self.taken)
        #: How many elements there are where none is added or taken away.
        self.size = None if several else self._fixed_size()

    def _fixed_size(self) -> int | None:
        appended = self._appended()
        (start,) = [
            start_of(n.value, self.local, self.lookup)
            for n in nodes_of(self.node)
            if isinstance(n, gast.Assign) and is_named(n.targets[0], self.name)
        ]
        if start is None or start.times is not None or _more(self.node, self.name):
            return None
        steady = not any(popped(n, self.name) for n in nodes_of(self.node))
        same = len(appended) == len(start.elements)
        return len(appended) if steady and same else None

    def done(self) -> gast.AST:
        self.node.body = self._block(self.node.body)
        if self.parts.tuples and mentions(self.node, self.name):
            raise NotThisWay
        return self.node

    def _appended(self) -> list[gast.AST]:
        """What is appended, in the order of the text."""
        found = []
        for n in nodes_of(self.node):
            match n:
                case gast.Call(
                    func=gast.Attribute(value=gast.Name(id=name), attr="append"),
                    args=[value],
                    keywords=[],
                ) if name == self.name:
                    found.append(value)
                case gast.Assign(targets=[gast.Name(id=name)], value=value) if (
                    name == self.name
                ):
                    start = start_of(value, self.local, self.lookup)
                    if start is None:
                        raise NotThisWay
                    found += start.elements
        return found

    def _width(self) -> int | None:
        """Of how many values the elements are tuples; None for single values."""
        widths = {
            len(v.elts) if isinstance(v, (gast.Tuple, gast.List)) else None
            for v in self._appended()
        }
        if len(widths) != 1:
            raise NotThisWay
        (width,) = widths
        return width

    # ---------------------------------------------------------------- statements

    def _block(self, stmts: Sequence[gast.AST]) -> list[gast.AST]:
        out: list[gast.AST] = []
        for k, s in enumerate(stmts):
            match s:
                case gast.Assign(targets=[gast.Name(id=name)], value=value) if (
                    name == self.name
                ):
                    start = start_of(value, self.local, self.lookup)
                    if start is None:
                        raise NotThisWay
                    out += self._begun(s, start, stmts[k + 1 :])
                case _:
                    out += self._statement(s)
        return out

    def _statement(self, s: gast.AST) -> list[gast.AST]:
        made = self._about(s)
        if made is not None:
            return made
        match s:
            case gast.For(iter=it) if any(map(self._is_part, nodes_of(it))):
                # A loop over a list ends where the list does by then, and one over a
                # slice does not see what is written to the list.
                changed = any(
                    self.added(n) or popped(n, self.name) or is_reversed(n, self.name)
                    for n in nodes_of(s)
                )
                slices = [n for n in nodes_of(it) if isinstance(n, gast.Slice)]
                if (changed and not _counts(it)) or (slices and self.name in stored(s)):
                    raise NotThisWay
                if self.parts.tuples and not loops_over_fields(
                    s, self.name, self.node, self.lookup
                ):
                    raise NotThisWay  # a tuple is no row of an array
                s.iter = self._part(it) if self._is_part(it) else self._expression(it)
                s.body = self._block(s.body)
                s.orelse = self._block(s.orelse)
                return [s]
            case gast.Assign(
                targets=[gast.Subscript(value=gast.Name(id=name), slice=index)],
                value=value,
            ) if name == self.name:
                return self._stored(index, self._expression(value), s)
            case gast.AugAssign(
                target=gast.Subscript(value=gast.Name(id=name), slice=index),
                op=op,
                value=value,
            ) if name == self.name:
                index = self._expression(index)
                whole = self._whole(s)
                place = gast.Subscript(whole, copy.deepcopy(index), gast.Load())
                more = in_place(place, op, self._expression(value))
                return self._stored(index, more, s)
            case gast.Assign(targets=[gast.Name(id=other)], value=value) if (
                self._is_part(value)
                and not is_named(value, self.name)
                and reads_elements(self.node, other, self.lookup)
                and other not in stored(self.node)
            ):
                # What is stored in a list has a say in its dtype.
                s.value = placed(copied(self._part(value)), value)
                return [s]
            case gast.Return(value=value) if self._is_part(value) and not is_named(
                value, self.name
            ):
                s.value = placed(copied(self._part(value)), value)
                if not self.helper:
                    setattr(s.value, SHAPE, LIST)
                return [s]
            case gast.Assign(targets=[gast.Subscript()], value=gast.Name(id=name)) if (
                name == self.name
            ):
                s.targets = [self._expression(t) for t in s.targets]
                s.value = self._whole(s.value)
                return [s]
            case gast.Return(value=gast.Name(id=name)) if name == self.name:
                s.value = self._returned(s.value)
                return [s]
            case gast.Return(value=gast.Tuple(elts=elts)):
                whole = hasattr(s.value, SHAPE)
                s.value.elts = [_result(self, e, whole) for e in elts]
                return [s]
        for part, value in gast.iter_fields(s):
            if isinstance(value, gast.AST):
                setattr(s, part, self._expression(value))
            elif isinstance(value, list):
                if part in ("body", "orelse"):
                    setattr(s, part, self._block(value))
                else:
                    new = [
                        self._expression(v) if isinstance(v, gast.AST) else v
                        for v in value
                    ]
                    setattr(s, part, new)
        return [s]

    def _about(self, s: gast.AST) -> list[gast.AST] | None:
        """What stands for a statement that changes the list; None for others."""
        match s:
            case gast.FunctionDef() | gast.ClassDef():
                if mentions(s, self.name):
                    raise NotThisWay
                return [s]
            case gast.Expr(value=gast.Call() as call) if (
                value := self.added(call)
            ) is not None:
                return self._put(value, s)
            case gast.AugAssign(target=gast.Name(id=name), value=value) if (
                name == self.name
            ):
                if not isinstance(value, gast.List):
                    raise NotThisWay
                return [x for e in value.elts for x in self._put(e, s)]
            case gast.Expr(value=value) if popped(value, self.name):
                return self._shorter(value, s)
            case gast.Expr(value=value) if is_reversed(value, self.name):
                return backwards([self._there(a) for a in self.parts.arrays], s)
            case gast.Assign() | gast.AugAssign() | gast.Return() | gast.Expr():
                # It is taken off before what else there is in the statement, which
                # does not see the list.
                pop = _only_pop(s, self.name)
                if pop is not None:
                    made = Replaced(pop, self._taken(pop)).visit(s)
                    return [*self._shorter(pop, s), placed(made, s)]
        return None

    def _shorter(self, pop: gast.AST, at: gast.AST) -> list[gast.AST]:
        """One element less, or an `IndexError`."""
        parts = self.parts
        zero = gast.Constant(0, None) if parts.first is None else name_of(parts.first)
        message = gast.Constant("pop from empty list", None)
        error = gast.Call(name_of("IndexError"), [message], [])
        empty = gast.Compare(name_of(parts.count), [gast.Eq()], [zero])
        test = gast.If(empty, [gast.Raise(error, None)], [])
        front = popped(pop, self.name) == "first"
        moved = parts.first if front and parts.first is not None else parts.count
        step = gast.Add() if front else gast.Sub()
        number = name_of(moved, ctx=gast.Store())
        less = gast.AugAssign(number, step, gast.Constant(1, None))
        return [placed(test, at), placed(less, at)]

    def _taken(self, pop: gast.AST) -> gast.AST:
        """The element that was taken off."""
        parts = self.parts
        place = name_of(parts.count)
        if popped(pop, self.name) == "first" and parts.first is not None:
            place = gast.BinOp(name_of(parts.first), gast.Sub(), gast.Constant(1, None))
        found = [
            gast.Subscript(name_of(a), copy.deepcopy(place), gast.Load())
            for a in parts.arrays
        ]
        return gast.Tuple(found, gast.Load()) if parts.tuples else found[0]

    def added(self, call: gast.AST) -> gast.AST | None:
        """What a call appends to the list; None if it is another call."""
        match call:
            case gast.Call(
                func=gast.Attribute(value=gast.Name(id=name), attr="append"),
                args=[value],
                keywords=[],
            ) if name == self.name:
                return value
        return None

    def _put(self, value: gast.AST, at: gast.AST) -> list[gast.AST]:
        """The statements that append a value."""
        parts = self.parts
        values = value.elts if parts.tuples else [value]
        if len(values) != len(parts.arrays):
            raise NotThisWay
        values = [self._expression(v) for v in values]
        out: list[gast.AST] = []
        for item, v in zip(parts.items, values, strict=True):
            out.append(assign([name_of(item, ctx=gast.Store())], v))
        for item, array in zip(parts.items, parts.arrays, strict=True):
            place = gast.Subscript(name_of(array), name_of(parts.count), gast.Store())
            out.append(assign([self._told(place)], name_of(item)))
        more = gast.AugAssign(
            name_of(parts.count, ctx=gast.Store()), gast.Add(), gast.Constant(1, None)
        )
        return [placed(s, at) for s in (*out, more)]

    def _stored(self, index: gast.AST, value: gast.AST, at: gast.AST) -> list[gast.AST]:
        """``out[i] = value``: what is stored has a say in the dtype, too."""
        if self.parts.tuples or isinstance(index, (gast.Slice, gast.Tuple)):
            raise NotThisWay
        (item,), (array,) = self.parts.items, self.parts.arrays
        whole = self._there(array)
        place = gast.Subscript(whole, self._expression(index), gast.Store())
        out = [
            assign([name_of(item, ctx=gast.Store())], value),
            assign([self._told(place)], name_of(item)),
        ]
        return [placed(x, at) for x in out]

    def _begun(
        self, s: gast.Assign, start: Start, behind: Sequence[gast.AST]
    ) -> list[gast.AST]:
        """What makes the arrays, with room for all that is appended `behind` it."""
        if self.size is not None:
            return self._filled(s, start.elements)
        parts = self.parts
        self.first = start.elements
        first: gast.AST = gast.Constant(len(start.elements), None)
        if start.times is not None:
            first = start.times
        out: list[gast.AST] = [
            *counted(self, first, self._places - len(start.elements), behind),
            assign([name_of(parts.count, ctx=gast.Store())], gast.Constant(0, None)),
        ]
        if parts.first is not None:
            begins = name_of(parts.first, ctx=gast.Store())
            out.append(assign([begins], gast.Constant(0, None)))
        for array, item in zip(parts.arrays, parts.items, strict=True):
            dtype = gast.keyword("dtype", numpy_call("result_type", [name_of(item)]))
            made = self._told(numpy_call("empty", [name_of(self.room)], [dtype]))
            out.append(assign([name_of(array, ctx=gast.Store())], made))
        out = [placed(x, s) for x in out]
        if start.times is None:
            for e in start.elements:
                out += self._put(e, s)
            return out
        index = fresh("i", self.taken)
        body = self._put(start.elements[0], s)
        turns = gast.Call(name_of("range"), [copy.deepcopy(start.times)], [])
        loop = gast.For(name_of(index, ctx=gast.Store()), turns, body, [], None)
        return [*out, placed(loop, s)]

    def _filled(self, s: gast.Assign, elements: Sequence[gast.AST]) -> list[gast.AST]:
        """The array of a list that stays as long as it is when it is made."""
        (array,), later = self.parts.arrays, self.parts.items
        values = [self._expression(e) for e in elements]
        items = [fresh(f"{array}_{k}", self.taken) for k in range(len(values))]
        out: list[gast.AST] = []
        for item, value in zip(items, values, strict=True):
            out.append(assign([name_of(item, ctx=gast.Store())], value))
        changed = self.name in stored(self.node)
        kinds = [name_of(n) for n in [*items, *(later if changed else [])]]
        dtype = gast.keyword("dtype", numpy_call("result_type", kinds))
        size = gast.Constant(self.size, None)
        made = self._told(numpy_call("empty", [size], [dtype]))
        out.append(assign([name_of(array, ctx=gast.Store())], made))
        for k, item in enumerate(items):
            index = gast.Constant(k, None)
            place = gast.Subscript(name_of(array), index, gast.Store())
            out.append(assign([self._told(place)], name_of(item)))
        return [placed(x, s) for x in out]

    def _told(self, node: gast.AST) -> gast.AST:
        """A node that knows which list of single values it is of."""
        if not self.parts.tuples:
            setattr(node, LISTED, self.listed)
        return node

    # ---------------------------------------------------------------- expressions

    def _there(self, array: str) -> gast.AST:
        """The elements that are there of one of the arrays."""
        if self.size is not None:
            return name_of(array)
        return up_to(array, self.parts.count, self.parts.first)

    def _count(self) -> gast.AST:
        parts = self.parts
        if self.size is not None:
            return gast.Constant(self.size, None)
        if parts.first is not None:
            return gast.BinOp(name_of(parts.count), gast.Sub(), name_of(parts.first))
        return name_of(parts.count)

    def _is_part(self, e: gast.AST) -> bool:
        """Is it the list, or a slice of one of single values?"""
        match e:
            case gast.Name(id=name):
                return bool(name == self.name)
            case gast.Subscript(
                value=gast.Name(id=name), slice=gast.Slice(), ctx=gast.Load()
            ):
                return bool(name == self.name) and not self.parts.tuples
        return False

    def _part(self, e: gast.AST) -> gast.AST:
        """The elements of the list or of a slice, as an array."""
        if isinstance(e, gast.Name):
            return self._whole(e)
        made = gast.Subscript(
            self._whole(e.value), self._expression(e.slice), gast.Load()
        )
        return placed(gast.copy_location(made, e), e)

    def _whole(self, at: gast.AST) -> gast.AST:
        """The elements that are there, as an array or as a tuple of arrays."""
        views = [self._there(a) for a in self.parts.arrays]
        if not self.parts.tuples:
            return self._told(placed(views[0], at))
        stacked = gast.Tuple(views, gast.Load())
        made = numpy_call("stack", [stacked, gast.Constant(1, None)])
        return placed(made, at)

    def _returned(self, at: gast.AST) -> gast.AST:
        if self.helper:
            if self.parts.tuples:
                raise NotThisWay  # its tuples are no rows of an array
            return placed(copied(self._whole(at)), at)
        if self.parts.tuples:
            copies = [copied(self._there(a)) for a in self.parts.arrays]
            made: gast.AST = gast.Tuple(copies, gast.Load())
            fields = tuple((k, None) for k in range(len(copies)))
            shape = Shape("list of tuples", fields)
        else:
            made, shape = copied(self._there(self.parts.arrays[0])), LIST
        made = placed(made, at)
        setattr(made, SHAPE, shape)
        return made

    def _called(self, func: gast.AST) -> object:
        return object_named(func, self.local, self.lookup)

    def _takes_elements(self, call: gast.Call) -> bool:
        """Is the list for a call what an array is, of which it reads elements?"""
        function = self._called(call.func)
        extremes = any(function is f for f in (min, max, sum))
        if self.parts.tuples and (extremes or plain(function) is not None):
            return False  # its tuples are no rows of an array
        given = [k for k, a in enumerate(call.args) if self._is_part(a)]
        return all(takes_elements(function, k, call) for k in given)

    def _expression(self, e: gast.AST) -> gast.AST:
        """An expression with the array in the place of the list."""
        if not mentions(e, self.name):
            return e
        parts = self.parts
        match e:
            case gast.Name(id=name) if name == self.name:
                raise NotThisWay
            case gast.Call(
                func=gast.Name(id="len"), args=[gast.Name(id=name)], keywords=[]
            ) if name == self.name:
                return placed(gast.copy_location(self._count(), e), e)
            case gast.Subscript(value=gast.Name(id=name), slice=index) if (
                name == self.name
            ):
                if isinstance(index, (gast.Slice, gast.Tuple)):
                    raise NotThisWay  # a list of its own
                return _element(self, e, self._expression(index))
            case gast.Subscript(value=part, slice=index) if (
                self._is_part(part)
                and isinstance(e.ctx, gast.Load)
                and not isinstance(index, (gast.Slice, gast.Tuple))
            ):
                e.value, e.slice = self._part(part), self._expression(index)
                return e
            case gast.Call(func=func, args=[part, *rest]) if self._is_part(
                part
            ) and self._called(func) in (np.array, np.asarray):
                rest = [self._expression(a) for a in rest]
                keywords = list(e.keywords)
                if not rest and not keywords:
                    whole = _given(self._part(part))
                    return whole if parts.tuples else placed(copied(whole), e)
                dtypes = rest or [k.value for k in keywords if k.arg == "dtype"]
                if len(dtypes) != 1 or len(keywords) > 1 - len(rest):
                    raise NotThisWay
                cast = gast.Attribute(_given(self._part(part)), "astype", gast.Load())
                return placed(gast.Call(cast, dtypes, []), e)
            case gast.Call(func=func, args=args):
                if mentions(func, self.name) or not self._takes_elements(e):
                    raise NotThisWay
                made_ = copy.copy(e)
                loops = any(self._called(func) is f for f in _LOOPED)
                made_.args = [
                    (self._part(a) if loops else _given(self._part(a)))
                    if self._is_part(a)
                    else self._expression(a)
                    for a in args
                ]
                for k in e.keywords:
                    k.value = self._expression(k.value)
                return made_
            case gast.UnaryOp(op=gast.Not(), operand=gast.Name(id=name)) if (
                name == self.name
            ):
                test = gast.Compare(
                    self._count(), [gast.Eq()], [gast.Constant(0, None)]
                )
                return placed(test, e)
            case gast.Lambda() | gast.ListComp() | gast.GeneratorExp():
                raise NotThisWay
        for part, value in gast.iter_fields(e):
            if isinstance(value, gast.AST):
                setattr(e, part, self._expression(value))
            elif isinstance(value, list):
                new = [
                    self._expression(v) if isinstance(v, gast.AST) else v for v in value
                ]
                setattr(e, part, new)
        return e


def _element(grown: _Growing, e: gast.Subscript, index: gast.AST) -> gast.AST:
    """One element of the list, of each array if it is a tuple."""
    made = [
        gast.copy_location(
            gast.Subscript(placed(grown._there(a), e), copy.deepcopy(index), e.ctx),
            e,
        )
        for a in grown.parts.arrays
    ]
    if not grown.parts.tuples:
        return made[0]
    if isinstance(e.ctx, gast.Store):
        raise NotThisWay
    return gast.copy_location(gast.Tuple(made, gast.Load()), e)


def _result(grown: _Growing, e: gast.AST, part: bool) -> gast.AST:
    """One of several values that are returned, or `part` of a list of tuples."""
    if is_named(e, grown.name):
        if part and not grown.parts.tuples:
            return placed(copied(grown._whole(e)), e)
        return grown._returned(e)
    if isinstance(e, gast.Tuple) and hasattr(e, SHAPE):
        e.elts = [_result(grown, x, True) for x in e.elts]
        return e
    return grown._expression(e)


def _given(elements: gast.AST) -> gast.AST:
    """The elements of a list as an array that a call is given."""
    setattr(elements, GIVEN, True)
    return elements


#: What is given a list to loop over it.
_LOOPED = (enumerate, zip, reversed)


def mentions(e: gast.AST, name: str) -> bool:
    """Is a list named in a node?"""
    return any(is_named(n, name) for n in nodes_of(e))


def popped(e: gast.AST, of: str) -> str | None:
    """Which element of a list a call takes off, the "first" or the "last"; None if it
    is another call.
    """
    match e:
        case gast.Call(
            func=gast.Attribute(value=gast.Name(id=name), attr="pop"),
            args=args,
            keywords=[],
        ) if name == of:
            match [literal_integer(a) for a in args]:
                case [] | [-1]:
                    return "last"
                case [0]:
                    return "first"
    return None


def _only_pop(s: gast.AST, name: str) -> gast.AST | None:
    """The one call in a statement that takes an element off a list, if it is always
    evaluated and nothing else in the statement names the list.
    """
    named = [n for n in nodes_of(s) if is_named(n, name)]
    found = [n for n in nodes_of(s) if popped(n, name)]
    later = (*(gast.IfExp, gast.BoolOp, gast.Compare, gast.Lambda), gast.ListComp)
    inside = [m for n in nodes_of(s) if isinstance(n, later) for m in nodes_of(n)]
    if len(named) != 1 or len(found) != 1 or any(n is found[0] for n in inside):
        return None
    return found[0]


class Replaced(gast.NodeTransformer):  # type: ignore[misc]
    """Puts another node in the place of one."""

    def __init__(self, old: gast.AST, new: gast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: gast.AST) -> gast.AST:
        return self.new if node is self.old else self.generic_visit(node)


def _counts(it: gast.AST) -> bool:
    """Is a loop over numbers that were computed before it?"""
    match it:
        case gast.Call(func=gast.Name(id="range" | "prange")):
            return True
    return False


def _more(node: gast.AST, name: str) -> int:
    """How many elements are added by ``name += [...]`` in the text."""
    return sum(
        len(n.value.elts)
        for n in nodes_of(node)
        if isinstance(n, gast.AugAssign)
        and is_named(n.target, name)
        and isinstance(n.value, gast.List)
    )
