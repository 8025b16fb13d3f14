"""Names of structures: each field gets a name of its own before anything is read.

A structure is a dictionary with literal keys, a named tuple, an object of a dataclass,
a tuple of a call, and what consists of these. Python text in, Python text out::

    p = {"k": 2.0, "w": w}               p_k = 2.0
    s = p["k"] * x[0]              ->    p_w = w
    p["k"] = s                           s = p_k * x[0]
    return rate(p, s)                    p_k = s
                                         return rate({"k": p_k, "w": p_w}, s)

A parameter that is one in a call becomes a parameter for each field. What a helper is
given, and what it returns, is taken apart in the same way.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import FunctionType

import gast

from pyrev.parse.bindings import (
    bindings,
    functions_inside,
    identifiers,
    local_names,
    nodes_of,
)
from pyrev.parse.grounds import lookup as stands_for
from pyrev.parse.rewriting.effects import may_write
from pyrev.parse.rewriting.helper_texts import definition_of, looked
from pyrev.parse.rewriting.made_texts import Lookup, assign, name_of, read_in
from pyrev.parse.rewriting.starred import (
    as_definition,
    collecting_by_name,
    given_to,
    is_taken,
    starred_names,
)
from pyrev.parse.rewriting.structures.captured import Fixed, captured
from pyrev.parse.rewriting.structures.methods import (
    may_have_methods,
    with_methods,
)
from pyrev.parse.rewriting.structures.nested_calls import may_nest, with_named_results
from pyrev.parse.rewriting.structures.nodes import (
    Returned,
    assigned,
    element,
    elements_of,
    key_of,
    literal,
    may_change,
    names_in_tuples,
    own_returns,
    read_field,
    with_fields,
)
from pyrev.parse.rewriting.structures.places import Fields
from pyrev.parse.rewriting.structures.record_views import (
    arrays_of,
    has_records,
    holds_record,
    names_of_view,
    place_in,
    same_arrays,
    turn_of,
    turned,
    view_of,
)
from pyrev.parse.rewriting.structures.shapes import (
    AT,
    SHAPE,
    TAKEN_APART,
    Key,
    Missing,
    Names,
    Shape,
    Structured,
    can_be_made,
    class_called,
    field_of,
    filled_fields,
    is_new,
    may_build,
    may_have,
    names_for,
)
from pyrev.parse.rewriting.structures.tuple_turns import with_copies
from pyrev.parse.rewriting.structures.unpacking import unpacks, with_unpacked
from pyrev.parse.rewriting.structures.uses import uses_of
from pyrev.parse.source import default_values, plain

#: The parameters that are plain functions in a call.
Functions = tuple[tuple[str, FunctionType], ...]


def without_structures(
    node: gast.AST,
    lookup: Lookup,
    given: Mapping[str, Shape] | None = None,
    functions: Functions = (),
) -> Structured:
    """The definition `node`, for parameters of these shapes, without names of
    structures; itself if it has none. Parameters that are `functions` are known.

    What is left as it is, since a structure is used in another way than by its fields,
    is refused elsewhere.

    >>> import gast
    >>> text = '''
    ... def f(x, p):
    ...     q = {"k": p["k"] + 1.0, "w": x}
    ...     for i in range(3):
    ...         q["k"] = q["k"] * p["rate"]
    ...     return q
    ... '''
    >>> definition = gast.parse(text).body[0]
    >>> shape = Shape("dict", (("k", None), ("rate", None)))
    >>> found = without_structures(definition, {}.get, {"p": shape})
    >>> print(gast.unparse(found.node).strip())
    def f(x, p_k, p_rate):
        q_k = p_k + 1.0
        q_w = x
        for i in range(3):
            q_k = q_k * p_rate
        return (q_k, q_w)
    >>> found.result
    Shape(kind='dict', fields=(('k', None), ('w', None)), cls=None, cells=frozenset())
    """
    given = dict(given or {})
    if isinstance(node, gast.Lambda) and given:
        node = as_definition(node)
    if not isinstance(getattr(node, "body", None), list):
        return Structured(node, {})
    if not (given or functions or _may_have(node, lookup)):
        return Structured(node, {})
    return _taken_apart(node, lookup, given, functions).done()


def _may_have(node: gast.AST, lookup: Lookup) -> bool:
    """Is there anything in a definition that may be a structure, or one of outside?"""
    return may_have(node, lookup) or bool(captured(node, lookup))


def _taken_apart(
    node: gast.AST, lookup: Lookup, given: Mapping[str, Shape], functions: Functions
) -> Expansion:
    """What takes the structures of a definition apart, before it has looked at it."""
    node = with_functions(collecting_by_name(node, given), lookup, given, functions)
    if unpacks(node):
        known = Expansion(node, lookup, given, functions)
        known.find()
        node = with_unpacked(node, known.shape, partial(_counted, known))
    turned = _turned(node, lookup, given, functions)
    if turned is not node:  # what loops went over has its methods now
        turned = with_functions(turned, lookup, given, functions)
    return Expansion(turned, lookup, given, functions)


def with_functions(
    node: gast.AST,
    lookup: Lookup,
    given: Mapping[str, Shape],
    functions: Functions = (),
) -> gast.AST:
    """The definition with functions for the methods of what is known of its structures,
    for parameters of these shapes, and with names for the structures that helpers
    return where they are used at once.
    """
    nested = may_nest(node)
    if not (nested or may_have_methods(node)):
        return node
    if not (given or _may_have(node, lookup)):
        return node
    for _ in range(_CHAINED):
        known = Expansion(node, lookup, given, functions)
        known.turning = True
        known.find()
        made = with_methods(node, known)
        if nested or made is not node:
            made = with_named_results(made, known.shape, known.taken, known.lookup)
        if made is node:
            break
        node = made
    return node


#: Methods of what methods return, ``a.b().c().d()``, and so on.
_CHAINED = 8


def _turned(
    node: gast.AST, lookup: Lookup, given: Mapping[str, Shape], functions: Functions
) -> gast.AST:
    """The definition with copies of what loops over tuples of structures do."""
    if not any(isinstance(n, gast.For) for n in nodes_of(node)):
        return node
    for _ in range(_TURNS):
        known = Expansion(node, lookup, given, functions)
        known.turning = True
        known.find()
        made = with_copies(node, known.local, lookup, known.place)
        if made is node:
            break
        node = made
    return node


#: Loops in loops over such tuples, where the inner ones depend on the outer ones.
_TURNS = 4


class Expansion:
    """Takes the structures of one definition apart."""

    def __init__(
        self,
        node: gast.AST,
        lookup: Lookup,
        given: Mapping[str, Shape],
        functions: Functions = (),
    ) -> None:
        self.node = node
        times = Counter(bindings(node))
        #: The parameters that are functions, as names from outside.
        self.functions = {n: f for n, f in functions if times[n] == 1}
        self.lookup = lookup
        if self.functions:
            self.lookup = lambda n: self.functions.get(n) or lookup(n)
        self.local = local_names(node) - self.functions.keys()
        self.taken = {*identifiers(node)}
        self.given = {n: names_for(n, shape, self.taken) for n, shape in given.items()}
        self.times = Counter(bindings(node))
        #: The names of tuples that are taken apart as structures are.
        self.starred = starred_names(node)
        self.in_tuples = names_in_tuples(node)
        #: The names that functions inside have for something of their own.
        self.inside = {
            n for inner in functions_inside(node) for n in local_names(inner)
        }
        #: The shapes of names, and the names of their fields.
        self.asked = given
        self.shapes: dict[str, Shape] = dict(given)
        self.names: dict[str, Names] = dict(self.given)
        #: Those from outside.
        self.captured = captured(node, self.lookup)
        self.shapes |= {n: c.shape for n, c in self.captured.items()}
        self.names |= {n: c.names for n, c in self.captured.items()}
        #: Is a record of an array a view of it, since somebody may write to it?
        records = {n for n, shape in given.items() if has_records(shape)}
        self.views = bool(records) and may_write(node, records, lookup)
        #: Are loops over tuples to be found?
        self.turning = False
        #: What loops over records go over, with the name for each of them.
        self.turns: dict[gast.AST, str] = {}

    def done(self) -> Structured:
        """The definition, and what it returned."""
        self.find()
        result = self._result()
        parts = (gast.Dict, gast.Starred)
        written_out = any(isinstance(n, parts) for n in nodes_of(self.node))
        if not (self.shapes or self.given or written_out) and result is None:
            return Structured(self.node, {})
        made = copy.deepcopy(self.node)
        made.args = with_fields(made.args, self.given)
        made.body = [*self._whole_again(made), *self._block(made.body)]
        if self.captured:
            made = Fixed(self.captured.values()).visit(made)
        if result is not None:
            inner = Expansion(gast.parse("def f(): pass").body[0], self.lookup, {})
            inner.local = self.local
            returned = Returned(inner.values, [*result.leaves()])
            made.body = [returned.visit(s) for s in made.body]
            setattr(made, TAKEN_APART, result)
        return Structured(made, self.given, result)

    def _whole_again(self, at: gast.AST) -> Iterator[gast.AST]:
        """What keeps the names of structures that are used in other ways too, which
        would stand for something outside: tuples are made of their elements again, and
        others are declared, as names that have no value.
        """
        first = at.body[0]
        for name, names in self.given.items():
            if name in self.shapes:
                continue
            target = name_of(name, first, gast.Store())
            shape = self.asked[name]
            made = gast.AnnAssign(target, name_of(shape.kind, first), None, 1)
            if shape.kind == "tuple":
                made = assign([target], literal(first, shape, names, ()))
            yield gast.copy_location(made, first)

    # ---------------------------------------------------------------- which

    def find(self) -> None:
        """The names that are structures wherever they are bound."""
        values: dict[str, list[gast.AST]] = {}
        for n in nodes_of(self.node):
            match n:
                case gast.Assign(targets=[gast.Name(id=name)], value=value):
                    values.setdefault(name, []).append(value)
                case gast.For():
                    turn = turn_of(n, self.local, self.lookup)
                    if turn is not None and self.view(turn.one) is not None:
                        values.setdefault(turn.name, []).append(turn.one)
                        self.turns[turn.over] = turn.name
        # A loop over records goes over their places, also where nobody writes.
        self.views = self.views or bool(self.turns)
        own = {n: len(found) + (n in self.given) for n, found in values.items()}
        values = {n: found for n, found in values.items() if self.times[n] == own[n]}
        while True:
            before = len(self.shapes)
            for name, found in values.items():
                if name in self.shapes:
                    continue
                shapes = [self.shape(v, name) for v in found]
                known = {s for s in shapes if s is not None}
                if len(known) == 1:  # what rests on it is looked at again
                    (shape,) = known
                    self.shapes[name] = shape
                    self.names[name] = self._own_names(name, shape, found[0])
            if len(self.shapes) == before:
                break
        self._keep_what_fits(values)

    def _own_names(self, name: str, shape: Shape, value: gast.AST) -> Names:
        """The names of the fields of a name: those of a view are the array's."""
        if shape.kind != "view":
            return names_for(name, shape, self.taken)
        return names_of_view(name, arrays_of(self.values(value)), self.taken)

    def _keep_what_fits(self, values: Mapping[str, list[gast.AST]]) -> None:
        while True:
            bad = {n for n in self.shapes if not self._fits(n, values)}
            if not bad:
                break
            for n in bad:
                del self.shapes[n]

    def _fits(self, name: str, values: Mapping[str, list[gast.AST]]) -> bool:
        """Is a structure used in ways only that can be told field by field?"""
        shape = self.shapes[name]
        if self.times[name] != len(values.get(name, ())) + (name in self.given):
            return False
        for value in values.get(name, ()):
            if self.shape(value, name) != shape:
                return False
            if shape.kind == "view" and not same_arrays(
                arrays_of(self.values(value)), self.names[name]
            ):
                return False
            names = read_in(value) & self.shapes.keys()
            if shape.kind == "record" and may_change(self.node, names):
                return False
        stores = whole = inner = False
        for use in uses_of(self, name):
            inner = inner or use.inner
            if use.stored is not None and not shape.is_cell(use.stored):
                stores = True
                # What is inside of another one may have another name.
                alone = len(use.stored) == 1 and shape.at(use.stored) is None
                if not alone or shape.kind not in ("dict", "object", "view"):
                    return False
            whole = whole or (use.whole and not use.returned)
            if use.bad:
                return False
        if stores and shape.kind != "view":
            if name in self.given or name in self.captured or whole:
                return False
            if not all(
                is_new(v, self.local, self.lookup) for v in values.get(name, ())
            ):
                return False
        once = self.times[name] == 1 or name in self.captured
        steady = once and not stores
        return not inner or (steady and name not in self.inside)

    # ---------------------------------------------------------------- shapes

    def shape(self, e: gast.AST, name: str = "") -> Shape | None:
        """What kind of structure an expression gives; None if it gives none.

        `name` is what it is given to: its shape does not rest on itself.
        """
        tagged: Shape | None = getattr(e, SHAPE, None)
        if tagged is not None:
            return tagged
        match e:
            case gast.Dict(keys=keys, values=values) if keys:
                return _of_dict(self, keys, values)
            case gast.Call():
                return self._of_call(e)
            case gast.Tuple(elts=elts):
                elts = self.written_out(elts)
                fields = tuple((k, self.shape(x)) for k, x in enumerate(elts))
                if any(isinstance(x, gast.Starred) for x in elts):
                    return None
                if name not in {"", *self.starred}:
                    inner = [field for _, field in fields if field is not None]
                    # Other names of tuples are told later on (`rewriting.tuples`).
                    if not inner and name not in self.in_tuples:
                        return None
                    if any(map(holds_record, inner)):  # they may change behind it
                        return None
                return Shape("tuple", fields)
        place = self.place(e)
        if place is not None and isinstance(place[2], Shape):
            return place[2]
        if self.views and self.of_record(e) is not None:
            view = self.view(e)
            return None if view is None else view[0]
        return self.of_record(e)

    def written_out(self, elts: Sequence[gast.AST]) -> list[gast.AST]:
        """The elements of a tuple, or the arguments of a call, in which what a star
        spreads is written out where it is known.
        """
        out: list[gast.AST] = []
        for e in elts:
            parts = self._spread(e.value) if isinstance(e, gast.Starred) else [e]
            out += [e] if parts is None else parts
        return out

    def _spread(self, e: gast.AST) -> list[gast.AST] | None:
        """The elements of a tuple; None if it is none, or another function's."""
        if isinstance(e, gast.Tuple):
            return self.written_out(e.elts)
        place = self.place(e)
        if place is None or not isinstance(place[2], Shape):
            return None
        if place[2].kind not in ("tuple", "named tuple"):
            return None
        return [read_field(e, place[2].kind, k) for k, _ in place[2].fields]

    def of_record(self, e: gast.AST) -> Shape | None:
        """What one element of an array of records is."""
        match e:
            case gast.Subscript(value=base, slice=index):
                place = self.place(base)
                whole = None if place is None else place[2]
                if isinstance(whole, Shape) and whole.kind == "records":
                    slices = (gast.Slice, gast.Tuple)
                    if not isinstance(index, slices) and key_of(index) is None:
                        return Shape("record", whole.fields)
                    if isinstance(key_of(index), int):
                        return Shape("record", whole.fields)
        return None

    def view(self, e: gast.AST) -> tuple[Shape, dict[tuple[Key, ...], gast.AST]] | None:
        """One element of an array of records, as a view of it: the place, and the
        arrays of the fields; None if it is none, or if the array may be another later.
        """
        if self.of_record(e) is None:
            return None
        name, path, whole = self.place(e.value) or ("", (), None)
        if not isinstance(whole, Shape):
            return None
        shape = view_of(whole)
        if shape is None or name not in self.given or self.times[name] != 1:
            return None
        index = Fields(self).visit(copy.deepcopy(e.slice))
        arrays = {p: self.names[name][(*path, *p)] for p in whole.leaves()}
        fields = {p: name_of(n, e) for p, n in arrays.items()}
        return shape, {(AT,): place_in(e, arrays, index), **fields}

    def _of_call(self, e: gast.Call) -> Shape | None:
        cls = class_called(e.func, self.local, self.lookup)
        if cls is dict:
            given = [(k.arg, self.shape(k.value)) for k in e.keywords]
            named = not e.args and all(n is not None for n, _ in given)
            return Shape("dict", tuple(given)) if given and named else None
        if cls is not None:
            fields = filled_fields(e, cls)
            if fields is None:
                return None
            kind = "named tuple" if issubclass(cls, tuple) else "object"
            own = tuple((n, self.shape(v)) for n, v in fields.items())
            return Shape(kind, own, cls)
        match e.func:
            case gast.Attribute(value=base, attr="_replace"):
                found = self.shape(base)
                named = all(
                    k.arg is not None and found is not None and found.get(k.arg) is None
                    for k in e.keywords
                )
                return found if named and not e.args else None
            case gast.Name():
                function = self.called(e.func)
                if function is not None:
                    return self._returned(function, e)
        return None

    def _returned(self, function: FunctionType, e: gast.Call) -> Shape | None:
        """The structure that a call of a plain function gives."""
        given = _given_to(self, function, e)
        return None if given is None else returned_shape(function, *given)

    def called(self, e: gast.AST) -> FunctionType | None:
        """The plain function that a name stands for."""
        if isinstance(e, gast.Name) and e.id not in self.local:
            return plain(self.lookup(e.id))
        return None

    def leaf(self, at: gast.AST, name: str, path: tuple[Key, ...]) -> gast.AST:
        """The value at the end of a path in the structure `name`."""
        own = self.names[name][path]
        around = self.shapes[name].at(path[:-1])
        ctx = getattr(at, "ctx", None)
        if isinstance(around, Shape) and around.kind == "view":
            index = name_of(self.names[name][(*path[:-1], AT)], at)
            return element(at, name_of(own, at), index, ctx)
        if self.shapes[name].is_cell(path):
            first = gast.copy_location(gast.Constant(0, None), at)
            return element(at, name_of(own, at), first, ctx)
        return name_of(own, at, ctx)

    def place(
        self, e: gast.AST
    ) -> tuple[str, tuple[Key, ...], Shape | Missing | None] | None:
        """The structure that an expression names, the path behind it, and what is
        there; None if it names none.
        """
        match e:
            case gast.Name(id=name) if name in self.shapes:
                return name, (), self.shapes[name]
            case gast.Subscript(value=base, slice=index):
                found = self.place(base)
                if found is None or not isinstance(found[2], Shape):
                    return None
                if found[2].kind == "records" and not isinstance(key_of(index), str):
                    return None  # a record, or an array of some of them
                return field_of(found[0], found[1], found[2], key_of(index), True)
            case gast.Attribute(value=base, attr=attr):
                found = self.place(base)
                if found is None or not isinstance(found[2], Shape):
                    return None
                if attr in ("_replace", "get", "keys"):
                    return None
                if found[2].kind == "records" and attr in ("shape", "size", "ndim"):
                    return None
                return field_of(found[0], found[1], found[2], attr, False)
        return None

    # ---------------------------------------------------------------- in their place

    def _block(self, block: Sequence[gast.AST]) -> list[gast.AST]:
        out: list[gast.AST] = []
        for s in block:
            for part in ("body", "orelse"):
                inner = getattr(s, part, None)
                if isinstance(inner, list) and not isinstance(s, gast.FunctionDef):
                    setattr(s, part, self._block(inner))
            out += self._statement(s)
        return out

    def _statement(self, s: gast.AST) -> list[gast.AST]:
        match s:
            case gast.FunctionDef():
                return [Fields(self).visit(s)]
            case gast.Assign(targets=[gast.Name(id=name)], value=value) if (
                name in self.shapes
            ):
                return self._bound(s, name, value)
            case gast.For():
                turn = turn_of(s, self.local, self.lookup)
                if turn is not None and turn.name in self.shapes:
                    if turn.stop is not None:
                        turn = replace(turn, stop=Fields(self).visit(turn.stop))
                    return [turned(s, turn, self.names[turn.name])]
            case gast.Assign(targets=[gast.Tuple(elts=elts)], value=value) if (
                self.place(value) is not None
            ):
                made = Fields(self).visit(s)
                values = elements_of(made.value)
                if len(values) != len(elts):
                    return [made]
                pairs = zip(made.targets[0].elts, values, strict=True)
                return [gast.copy_location(assign([t], v), s) for t, v in pairs]
        for part, value in gast.iter_fields(s):
            if part in ("body", "orelse"):
                continue
            if isinstance(value, gast.AST):
                setattr(s, part, Fields(self).visit(value))
            elif isinstance(value, list):
                new = [
                    Fields(self).visit(v) if isinstance(v, gast.AST) else v
                    for v in value
                ]
                setattr(s, part, new)
        return [s]

    def _bound(self, s: gast.Assign, name: str, value: gast.AST) -> list[gast.AST]:
        """The assignments of the fields for one of a structure."""
        names = self.names[name]
        values = self.values(value)
        if self.shapes[name].kind == "view" and values is not None:
            return [assigned(s, [(names[(AT,)], values[(AT,)])])]
        if values is None:  # what a helper returns
            targets = [name_of(n, s, gast.Store()) for n in names.values()]
            whole: gast.AST = gast.copy_location(gast.Tuple(targets, gast.Store()), s)
            if len(targets) == 1:
                (whole,) = targets
            made = assign([whole], Fields(self).visit(value))
            return [gast.copy_location(made, s)]
        # In a loop it may be made of what it was.
        own = any(isinstance(n, gast.Name) and n.id == name for n in nodes_of(value))
        alone = self.times[name] == 1 and not own
        fixed = [p for p, v in values.items() if alone or isinstance(v, gast.Constant)]
        out = [assigned(s, [(names[p], values[p])]) for p in fixed]
        rest = [(names[p], v) for p, v in values.items() if p not in fixed]
        if rest:
            out.append(assigned(s, rest))
        return out

    def values(self, e: gast.AST) -> dict[tuple[Key, ...], gast.AST] | None:
        """The values of the fields of what an expression builds, by path; None for what
        another function builds.
        """
        place = self.place(e)
        if place is not None and isinstance(place[2], Shape):
            name, path, shape = place[0], place[1], place[2]
            names = self.names[name]
            return {p: name_of(names[(*path, *p)], e) for p in shape.leaves()}
        fields: dict[Key, gast.AST] = {}
        tagged: Shape | None = getattr(e, SHAPE, None)
        if tagged is not None and tagged.kind == "list":
            return {(0,): Fields(self).visit(copy.deepcopy(e))}
        match e:
            case gast.Subscript(value=base, slice=index):
                view = self.view(e) if self.views else None
                if view is not None:
                    return view[1]
                found = self.values(base)
                if found is None or self.of_record(e) is None:
                    return None
                return {
                    p: element(e, v, Fields(self).visit(copy.deepcopy(index)))
                    for p, v in found.items()
                }
            case gast.Dict(keys=keys, values=values):
                fields = {k.value: v for k, v in zip(keys, values, strict=True)}
            case gast.Tuple(elts=elts) | gast.List(elts=elts):
                fields = dict(enumerate(self.written_out(elts)))
            case gast.Call(func=gast.Attribute(value=base, attr="_replace")):
                found = self.values(base)
                if found is None:
                    return None
                new = {(k.arg,): Fields(self).visit(k.value) for k in e.keywords}
                return {**found, **new}
            case gast.Call() if hasattr(e, SHAPE):
                fields = {str(k.arg): k.value for k in e.keywords}
            case gast.Call():
                cls = class_called(e.func, self.local, self.lookup)
                if cls is None:
                    return None
                if cls is dict:
                    fields = {str(k.arg): k.value for k in e.keywords}
                else:
                    fields = dict((filled_fields(e, cls) or {}).items())
        out: dict[tuple[Key, ...], gast.AST] = {}
        for key, value in fields.items():
            if self.shape(value) is None:
                out[(key,)] = Fields(self).visit(copy.deepcopy(value))
                continue
            inner = self.values(value)
            if inner is None:
                return None
            out |= {(key, *p): v for p, v in inner.items()}
        return out

    # ---------------------------------------------------------------- results

    def _result(self) -> Shape | None:
        """What every `return` gives, if that is a structure, or a tuple with one."""
        found: list[Shape | None] = [
            None if n.value is None else self.shape(n.value)
            for n in own_returns(self.node)
        ]
        shape = found[0] if found else None
        if shape is None or len({*found}) != 1:
            return None
        if shape.kind == "tuple" and all(f is None for _, f in shape.fields):
            return None
        returned = [n.value for n in own_returns(self.node)]
        if any(self.of_record(e) is not None for e in returned):
            return None
        places = [self.place(e) for e in returned]
        if any(p is not None and p[0] in self.captured for p in places):
            return None  # the very object would be returned
        values = [self.values(n.value) for n in own_returns(self.node)]
        return None if None in values or not can_be_made(shape) else shape


def _of_dict(
    known: Expansion, keys: Sequence[gast.AST | None], values: Sequence[gast.AST]
) -> Shape | None:
    found: list[tuple[Key, Shape | None]] = []
    for key, value in zip(keys, values, strict=True):
        match key:
            case gast.Constant(value=str() | int() as own):
                found.append((own, known.shape(value)))
            case _:
                return None
    if len({k for k, _ in found}) != len(found):
        return None
    return Shape("dict", tuple(found))


def _given_to(
    known: Expansion, function: FunctionType, e: gast.Call
) -> tuple[tuple[tuple[str, Shape], ...], Functions] | None:
    """The structures and the functions that a call gives a plain function."""
    made = copy.copy(e)
    made.args = known.written_out(e.args)
    node = definition_of(function)
    if node is None or any(isinstance(a, gast.Starred) for a in made.args):
        return None
    shapes, functions = {}, {}
    for given in given_to(node, made, default_values(function)):
        shape = known.shape(given.value)
        if shape is not None and is_taken(node, given.name, given.value):
            shapes[given.name] = shape
        own = known.called(given.value)
        if own is not None:
            functions[given.name] = own
    return tuple(shapes.items()), tuple(functions.items())


def _counted(known: Expansion, e: gast.Call) -> int | None:
    """How many numbers and arrays a call of a plain function gives."""
    function = known.called(e.func)
    given = None if function is None else _given_to(known, function, e)
    if function is None or given is None:
        return None
    return returned_count(function, *given)


def returned_count(
    function: FunctionType, given: tuple[tuple[str, Shape], ...], functions: Functions
) -> int | None:
    """How many numbers and arrays a plain function returns, if that is a tuple of as
    many on every path, and holds no structure.
    """

    def look() -> int | None:
        node = definition_of(function)
        if node is None:
            return None
        lookup = partial(stands_for, function)
        known = _taken_apart(node, lookup, dict(given), functions)
        known.find()
        counts: set[int | None] = set()
        for r in own_returns(known.node):
            found = None
            if isinstance(r.value, gast.Tuple):
                elts = known.written_out(r.value.elts)
                inner = (gast.Tuple, gast.List, gast.Dict, gast.Starred)
                if not any(isinstance(e, inner) or known.shape(e) for e in elts):
                    found = len(elts)
            counts.add(found)
        return counts.pop() if len(counts) == 1 else None

    return looked(function, "count", look, None, given, functions)


def returned_shape(
    function: FunctionType,
    given: tuple[tuple[str, Shape], ...],
    functions: Functions = (),
) -> Shape | None:
    """The structure that a plain function returns for parameters of these shapes, of
    which some are `functions`, if it is one on every path.
    """

    def look() -> Shape | None:
        node = definition_of(function)
        if node is None or not may_build(function):
            return None
        lookup = partial(stands_for, function)
        return without_structures(node, lookup, dict(given), functions).result

    # What calls itself is no structure.
    return looked(function, "structure", look, None, given, functions)
