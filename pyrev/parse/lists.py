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
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import gast
import numpy as np

from pyrev.ir.nodes import fresh
from pyrev.parse.bindings import (
    bindings,
    identifiers,
    literal_integer,
    local_names,
    nodes_of,
    parameters,
)
from pyrev.parse.comprehensions import Comprehensions, Start, start_of
from pyrev.parse.list_room import NotThisWay, Room
from pyrev.parse.list_uses import (
    LIST,
    is_named,
    reads_elements,
    takes_elements,
    without_list_results,
)
from pyrev.parse.made_texts import (
    Lookup,
    assign,
    copied,
    name_of,
    numpy_call,
    object_named,
    placed,
    up_to,
)
from pyrev.parse.structure_shapes import SHAPE, Shape


def without_lists(node: gast.AST, lookup: Lookup, helper: bool = False) -> gast.AST:
    """The definition `node` without lists that grow and list comprehensions; itself if
    it has none. Lists that are used in other ways are left as they are. What a helper
    returns is an array.

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
    node = _tuples_as_lists(node, lookup)
    if not any(map(_may_grow, nodes_of(node))):
        return without_list_results(node, lookup, helper)
    node = without_list_results(Comprehensions(node, lookup).done(), lookup, helper)
    left = _candidates(node, lookup)
    for name in left:
        try:
            node = _Growing(node, name, lookup, helper).done()
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


# ------------------------------------------------------------------ which lists


def _candidates(node: gast.AST, lookup: Lookup) -> list[str]:
    """The names of lists that grow, or that are written to."""
    local = local_names(node)
    found: dict[str, None] = {}
    grown = {
        n.func.value.id
        for n in nodes_of(node)
        if isinstance(n, gast.Call)
        and isinstance(n.func, gast.Attribute)
        and n.func.attr == "append"
        and isinstance(n.func.value, gast.Name)
    }
    stored = _stored(node)
    looped = {
        n.iter.id
        for n in nodes_of(node)
        if isinstance(n, gast.For) and isinstance(n.iter, gast.Name)
    }
    chosen = grown | stored | _indexed(node)
    for n in nodes_of(node):
        match n:
            case gast.Assign(targets=[gast.Name(id=name)], value=value):
                start = start_of(value, local, lookup)
                repeated = start is not None and start.times is not None
                if start is None:
                    continue
                # Loops over numbers of unlike dtypes have a copy for each of them.
                alike = name in looped and all(map(_is_float, start.elements))
                if name in chosen or repeated or alike:
                    found[name] = None
    own = {p.id for p in parameters(node)}
    times = Counter(bindings(node))
    return [n for n in found if n not in own and times[n] == 1]


def _stored(node: gast.AST) -> set[str]:
    """The names of which elements are written."""
    return {
        n.value.id
        for n in nodes_of(node)
        if isinstance(n, gast.Subscript)
        and isinstance(n.ctx, gast.Store)
        and isinstance(n.value, gast.Name)
    }


def _indexed(node: gast.AST) -> set[str]:
    """The names of which elements are read whose number is only known at run time."""
    return {
        n.value.id
        for n in nodes_of(node)
        if isinstance(n, gast.Subscript)
        and isinstance(n.value, gast.Name)
        and not isinstance(n.slice, (gast.Slice, gast.Tuple))
        and literal_integer(n.slice) is None
    }


def _is_float(e: gast.AST) -> bool:
    """Is it a float that no name has a say in, and more than a literal?"""
    parts = nodes_of(e)
    called = [n.func for n in parts if isinstance(n, gast.Call)]
    modules = {id(n) for f in called for n in nodes_of(f)}
    free = any(isinstance(n, gast.Name) and id(n) not in modules for n in parts)
    divided = any(
        isinstance(n, gast.BinOp) and isinstance(n.op, gast.Div) for n in parts
    )
    return not free and divided


def _tuples_as_lists(node: gast.AST, lookup: Lookup) -> gast.AST:
    """The definition with lists for the tuples of which only elements are read, by
    numbers that are only known at run time.
    """
    times = Counter(bindings(node))

    def fits(s: gast.AST, indexed: set[str]) -> bool:
        match s:
            case gast.Assign(
                targets=[gast.Name(id=name)], value=gast.Tuple(elts=elts)
            ) if name in indexed and times[name] == 1:
                nested = (gast.Starred, gast.List, gast.Tuple)
                plain = not any(isinstance(e, nested) for e in elts)
                return plain and reads_elements(node, name, lookup)
        return False

    if not any(isinstance(n, gast.Tuple) for n in nodes_of(node)):
        return node
    indexed = _indexed(node)
    if not any(fits(s, indexed) for s in nodes_of(node)):
        return node
    node = copy.deepcopy(node)
    for s in nodes_of(node):
        if fits(s, indexed):
            made = gast.List(s.value.elts, gast.Load())
            s.value = gast.copy_location(made, s.value)
    return node


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


class _Growing:
    """Makes arrays of one list."""

    def __init__(self, node: gast.AST, name: str, lookup: Lookup, helper: bool) -> None:
        self.node, self.name = copy.deepcopy(node), name
        self.helper = helper
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
        steady = not any(self._is_pop(n) for n in nodes_of(self.node))
        same = len(appended) == len(start.elements)
        return len(appended) if steady and same else None

    def done(self) -> gast.AST:
        self.node.body = self._block(self.node.body)
        if self.parts.tuples and self._mentions(self.node):
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
            case gast.For(iter=gast.Name(id=name)) if name == self.name:
                # A loop over a list ends where the list does by then.
                if any(self.added(n) or self._is_pop(n) for n in nodes_of(s)):
                    raise NotThisWay
                s.iter = self._whole(s.iter)
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
                more = gast.BinOp(place, op, self._expression(value))
                return self._stored(index, more, s)
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
                s.value.elts = [
                    self._returned(e) if is_named(e, self.name) else self._expression(e)
                    for e in elts
                ]
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
        parts = self.parts
        match s:
            case gast.FunctionDef() | gast.ClassDef():
                if self._mentions(s):
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
            case gast.Assign(targets=[gast.Name() as target], value=value) if (
                self._is_pop(value) and not parts.tuples
            ):
                last = gast.Subscript(
                    name_of(parts.arrays[0]), name_of(parts.count), gast.Load()
                )
                return [*self._shorter(s), placed(assign([target], last), s)]
            case gast.Expr(value=value) if self._is_pop(value):
                return self._shorter(s)
        return None

    def _shorter(self, at: gast.AST) -> list[gast.AST]:
        """One element less, or an `IndexError`."""
        count, zero = name_of(self.parts.count), gast.Constant(0, None)
        message = gast.Constant("pop from empty list", None)
        error = gast.Call(name_of("IndexError"), [message], [])
        empty = gast.Compare(count, [gast.Eq()], [zero])
        test = gast.If(empty, [gast.Raise(error, None)], [])
        stored = name_of(self.parts.count, ctx=gast.Store())
        less = gast.AugAssign(stored, gast.Sub(), gast.Constant(1, None))
        return [placed(test, at), placed(less, at)]

    def _mentions(self, e: gast.AST) -> bool:
        return any(is_named(n, self.name) for n in nodes_of(e))

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

    def _is_pop(self, e: gast.AST) -> bool:
        match e:
            case gast.Call(
                func=gast.Attribute(value=gast.Name(id=name), attr="pop"), args=[]
            ):
                return bool(name == self.name)
        return False

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
            out.append(assign([place], name_of(item)))
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
            assign([place], name_of(item)),
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
        terms, before, sites = [], [], len(start.elements)
        for k, later in enumerate(behind):
            own = Room(self, later, behind[: k + 1])
            room, stmts = own.needed()
            sites += own.sites
            terms += room
            before += stmts
        if sites != self._places:
            raise NotThisWay  # some is appended elsewhere
        total = _sum([first, *terms] if not _is_zero(first) else terms or [first])
        out: list[gast.AST] = [
            assign([name_of(self.room, ctx=gast.Store())], total),
            *before,
            assign([name_of(parts.count, ctx=gast.Store())], gast.Constant(0, None)),
        ]
        for array, item in zip(parts.arrays, parts.items, strict=True):
            dtype = gast.keyword("dtype", numpy_call("result_type", [name_of(item)]))
            made = numpy_call("empty", [name_of(self.room)], [dtype])
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
        (array,), stored = self.parts.arrays, self.parts.items
        values = [self._expression(e) for e in elements]
        items = [fresh(f"{array}_{k}", self.taken) for k in range(len(values))]
        out: list[gast.AST] = []
        for item, value in zip(items, values, strict=True):
            out.append(assign([name_of(item, ctx=gast.Store())], value))
        changed = self.name in _stored(self.node)
        kinds = [name_of(n) for n in [*items, *(stored if changed else [])]]
        dtype = gast.keyword("dtype", numpy_call("result_type", kinds))
        size = gast.Constant(self.size, None)
        made = numpy_call("empty", [size], [dtype])
        out.append(assign([name_of(array, ctx=gast.Store())], made))
        for k, item in enumerate(items):
            index = gast.Constant(k, None)
            place = gast.Subscript(name_of(array), index, gast.Store())
            out.append(assign([place], name_of(item)))
        return [placed(x, s) for x in out]

    # ---------------------------------------------------------------- expressions

    def _there(self, array: str) -> gast.AST:
        """The elements that are there of one of the arrays."""
        return (
            name_of(array) if self.size is not None else up_to(array, self.parts.count)
        )

    def _count(self) -> gast.AST:
        if self.size is not None:
            return gast.Constant(self.size, None)
        return name_of(self.parts.count)

    def _whole(self, at: gast.AST) -> gast.AST:
        """The elements that are there, as an array or as a tuple of arrays."""
        views = [self._there(a) for a in self.parts.arrays]
        if not self.parts.tuples:
            return placed(views[0], at)
        stacked = gast.Tuple(views, gast.Load())
        made = numpy_call("stack", [stacked, gast.Constant(1, None)])
        return placed(made, at)

    def _returned(self, at: gast.AST) -> gast.AST:
        if self.helper:
            whole = self._whole(at)
            return whole if self.parts.tuples else placed(copied(whole), at)
        if self.parts.tuples:
            copies = [copied(up_to(a, self.parts.count)) for a in self.parts.arrays]
            made: gast.AST = gast.Tuple(copies, gast.Load())
            fields = tuple((k, None) for k in range(len(copies)))
            shape = Shape("list of tuples", fields)
        else:
            made, shape = copied(self._there(self.parts.arrays[0])), LIST
        made = placed(made, at)
        setattr(made, SHAPE, shape)
        return made

    def _takes_elements(self, call: gast.Call) -> bool:
        """Is the list for a call what an array is, of which it reads elements?"""
        function = object_named(call.func, self.local, self.lookup)
        given = [k for k, a in enumerate(call.args) if is_named(a, self.name)]
        return all(takes_elements(function, k) for k in given)

    def _makes_array(self, func: gast.AST) -> bool:
        found = object_named(func, self.local, self.lookup)
        return found is np.array or found is np.asarray

    def _expression(self, e: gast.AST) -> gast.AST:
        """An expression with the array in the place of the list."""
        if not self._mentions(e):
            return e
        parts = self.parts
        match e:
            case gast.Name(id=name) if name == self.name:
                raise NotThisWay
            case gast.Call(
                func=gast.Name(id="len"), args=[gast.Name(id=name)], keywords=[]
            ) if name == self.name:
                return gast.copy_location(self._count(), e)
            case gast.Subscript(value=gast.Name(id=name), slice=index) if (
                name == self.name
            ):
                if isinstance(index, (gast.Slice, gast.Tuple)):
                    raise NotThisWay  # a list of its own
                index = self._expression(index)
                made = [
                    gast.copy_location(
                        gast.Subscript(
                            placed(self._there(a), e),
                            copy.deepcopy(index),
                            e.ctx,
                        ),
                        e,
                    )
                    for a in parts.arrays
                ]
                if not parts.tuples:
                    return made[0]
                if isinstance(e.ctx, gast.Store):
                    raise NotThisWay
                return gast.copy_location(gast.Tuple(made, gast.Load()), e)
            case gast.Call(func=func, args=[gast.Name(id=name), *rest]) if (
                name == self.name and self._makes_array(func)
            ):
                rest = [self._expression(a) for a in rest]
                keywords = list(e.keywords)
                if not rest and not keywords:
                    whole = self._whole(e)
                    return whole if parts.tuples else placed(copied(whole), e)
                dtypes = rest or [k.value for k in keywords if k.arg == "dtype"]
                if len(dtypes) != 1 or len(keywords) > 1 - len(rest):
                    raise NotThisWay
                cast = gast.Attribute(self._whole(e), "astype", gast.Load())
                return placed(gast.Call(cast, dtypes, []), e)
            case gast.Call(func=func, args=args):
                if self._mentions(func) or not self._takes_elements(e):
                    raise NotThisWay
                made_ = copy.copy(e)
                made_.args = [
                    self._whole(a) if is_named(a, self.name) else self._expression(a)
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


def _sum(terms: Sequence[gast.AST]) -> gast.AST:
    found = terms[0]
    for t in terms[1:]:
        found = gast.BinOp(found, gast.Add(), t)
    return found


def _is_zero(e: gast.AST) -> bool:
    return isinstance(e, gast.Constant) and e.value == 0


def _more(node: gast.AST, name: str) -> int:
    """How many elements are added by ``name += [...]`` in the text."""
    return sum(
        len(n.value.elts)
        for n in nodes_of(node)
        if isinstance(n, gast.AugAssign)
        and is_named(n.target, name)
        and isinstance(n.value, gast.List)
    )
