"""Loops over tuples of structures: one copy of the body for each element.

How many elements there are, and what they are made of, says the call::

    for orbit in orbits:                 a = orbits[0].period
        a = orbit.period          ->     v += a * orbits[0].k
        v += a * orbit.k                 a = orbits[1].period
                                         v += a * orbits[1].k

So do `enumerate`, `zip` and `reversed` of them, and ``for i in range(len(orbits))``.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence

import gast

from pyrev.parse.bindings import identifiers, literal_integer, nodes_of, returns
from pyrev.parse.rewriting.control import structured
from pyrev.parse.rewriting.made_texts import Lookup, object_named, root_of
from pyrev.parse.rewriting.structures.nodes import element
from pyrev.parse.rewriting.structures.shapes import Missing, Shape
from pyrev.parse.rewriting.tuple_loops import Loops

#: How many statements the copies of one body may have here.
MOST_COPIED = 256

#: The structure that an expression names, the path behind it, and what is there.
Place = Callable[[gast.AST], "tuple[str, tuple[str | int, ...], Found] | None"]
Found = Shape | Missing | None


#: The attribute of such a loop that has to stay: over how many elements it goes.
LEFT = "pyrev_elements"


def loops_left(node: gast.AST) -> Iterator[tuple[gast.AST, str]]:
    """The loops of a definition that get no copies, and what each goes over."""
    for n in nodes_of(node):
        if hasattr(n, LEFT):
            count = getattr(n, LEFT)
            yield n, f"this loop over {count} structures cannot be written out"


#: What is written instead.
HELP = "give an array for each field, or an array of records (at most {} statements)"
HELP = HELP.format(MOST_COPIED)


def with_copies(
    node: gast.AST, local: frozenset[str], lookup: Lookup, place: Place
) -> gast.AST:
    """The definition with copies in the place of such loops; itself if it has none."""
    loops = [n for n in nodes_of(node) if isinstance(n, gast.For)]
    loops = [n for n in loops if is_turn(n.iter, local, lookup, place)]
    if not loops:
        return node
    if any(returns(s) for n in loops for s in n.body):
        node = structured(node, {*identifiers(node)})
    made = _Jumps(local, lookup, place, {*identifiers(node)}).visit(copy.deepcopy(node))
    return _Turns(made, local, lookup, {*identifiers(made)}, place).seen(made)


def is_turn(
    over: gast.AST, local: frozenset[str], lookup: Lookup, place: Place
) -> bool:
    """Is it a tuple with structures in it that a loop goes over?"""
    if _elements(over, place) is not None:
        return True
    match over:
        case gast.Call(func=func, args=args, keywords=[]):
            found = object_named(func, local, lookup)
            if found in (reversed, enumerate, zip):
                return any(is_turn(a, local, lookup, place) for a in args)
            if found is range and len(args) == 1:
                return _counted(args[0], local, lookup, place) is not None
    return False


def _elements(e: gast.AST, place: Place) -> list[gast.AST] | None:
    """The elements of a tuple with structures in it, or of one without anything in it;
    None if it is neither.
    """
    found = place(e)
    shape = None if found is None else found[2]
    if not isinstance(shape, Shape) or shape.kind != "tuple":
        return None
    inside = [field for _, field in shape.fields]
    if inside and not any(isinstance(field, Shape) for field in inside):
        return None
    return [_element(e, k) for k, _ in enumerate(shape.fields)]


def _element(e: gast.AST, k: int) -> gast.AST:
    index = gast.copy_location(gast.Constant(k, None), e)
    return element(e, copy.deepcopy(e), index)


def _counted(
    e: gast.AST, local: frozenset[str], lookup: Lookup, place: Place
) -> int | None:
    """The number of elements of such a tuple, if this is its length."""
    match e:
        case gast.Call(func=func, args=[inner], keywords=[]):
            if object_named(func, local, lookup) is len:
                found = _elements(inner, place)
                return None if found is None else len(found)
    return None


def _tuple(parts: Sequence[gast.AST], at: gast.AST) -> gast.AST:
    return gast.copy_location(gast.Tuple([*parts], gast.Load()), at)


class _Jumps(gast.NodeTransformer):  # type: ignore[misc]
    """Takes `break` and `continue` out of the loops that get copies."""

    def __init__(
        self, local: frozenset[str], lookup: Lookup, place: Place, taken: set[str]
    ) -> None:
        self.local, self.lookup, self.place, self.taken = local, lookup, place, taken

    def visit_For(self, node: gast.For) -> gast.AST | list[gast.AST]:
        self.generic_visit(node)
        over = is_turn(node.iter, self.local, self.lookup, self.place)
        if not over or any(map(returns, node.body)):
            return node
        (alone,) = gast.parse("def f(): pass").body
        alone.body = [node]
        made = structured(alone, self.taken)
        self.taken |= identifiers(made)
        return list(made.body)


class _Turns(Loops):
    """Copies the bodies of loops over tuples of structures."""

    #: There is no array for these, and tests of texts leave less of each.
    most = MOST_COPIED

    def __init__(
        self,
        whole: gast.AST,
        local: frozenset[str],
        lookup: Lookup,
        taken: set[str],
        place: Place,
    ) -> None:
        super().__init__(whole, local, lookup, taken)
        self.outside, self.place = lookup, place

    def unrolled(self, loop: gast.For, original: gast.AST) -> list[gast.AST]:
        if not is_turn(loop.iter, self.local, self.outside, self.place):
            return [loop]
        if loop.orelse or any(map(returns, loop.body)):
            return [loop]
        values = self.values(loop.iter)
        if values is None:
            return [loop]
        if not values:
            return [gast.copy_location(gast.Pass(), loop)]
        values = [self._spelt(loop.target, v) for v in values]
        made = self.copies(loop, values, original)
        if made[0] is loop:
            setattr(loop, LEFT, len(values))
        return made

    def values(self, node: gast.AST) -> list[gast.AST] | None:
        found = _elements(node, self.place)
        if found is not None:
            return found
        match node:
            case gast.Call(func=func, args=[inner], keywords=[]):
                function = object_named(func, self.local, self.outside)
                if function is range:
                    count = _counted(inner, self.local, self.outside, self.place)
                    numbers = map(lambda k: gast.Constant(k, None), range(count or 0))
                    return [gast.copy_location(n, node) for n in numbers]
                if function is reversed:
                    found = _elements(inner, self.place)
                    return None if found is None else found[::-1]
            case gast.Call(func=func, args=args, keywords=[]):
                parts = [_elements(a, self.place) for a in args]
                known = [p for p in parts if p is not None]
                if object_named(func, self.local, self.outside) is zip:
                    if len(known) == len(parts):  # as many as the shortest has
                        rows = zip(*known, strict=False)
                        return [_tuple(row, node) for row in rows]
        return super().values(node)

    def _spelt(self, target: gast.AST, value: gast.AST) -> gast.AST:
        """A value in as many parts as the target has."""
        if not isinstance(target, (gast.Tuple, gast.List)):
            return value
        if isinstance(value, (gast.Tuple, gast.List)):
            parts = list(value.elts)
        else:
            found = self.place(value)
            shape = None if found is None else found[2]
            if not isinstance(shape, Shape):
                return value
            if shape.kind not in ("tuple", "named tuple"):
                return value
            parts = [_element(value, k) for k, _ in enumerate(shape.fields)]
        if len(parts) == len(target.elts):
            pairs = zip(target.elts, parts, strict=True)
            parts = [self._spelt(t, p) for t, p in pairs]
        return _tuple(parts, value)

    def is_steady(self, value: gast.AST, stored: set[str]) -> bool:
        e = value
        while isinstance(e, gast.Subscript) and literal_integer(e.slice) is not None:
            e = e.value
        return isinstance(e, gast.Name) and root_of(value) not in stored
