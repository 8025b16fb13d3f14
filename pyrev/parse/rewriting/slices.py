"""Names of slices: what a slice is made of gets names of its own.

Python text in, Python text out, before anything is lowered::

    part = slice(p[j], p[j + 1])         part_start, part_stop = p[j], p[j + 1]
    y[part] += v[j] * a[part]      ->    y[part_start:part_stop] += (
                                             v[j] * a[part_start:part_stop])
    inner = np.s_[1:-1, 1:-1]
    u[inner] = w[inner]            ->    u[1:-1, 1:-1] = w[1:-1, 1:-1]
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass

import gast
import numpy as np

from pyrev.ir.nodes import fresh
from pyrev.parse.bindings import (
    bound_alone,
    children,
    identifiers,
    is_none,
    literal_integer,
    local_names,
    nodes_of,
)
from pyrev.parse.rewriting.made_texts import (
    Lookup,
    assign,
    name_of,
    object_named,
    placed,
)

#: The parts of a slice, in order, as its attributes are called.
PARTS = ("start", "stop", "step")


def without_slices(node: gast.AST, lookup: Lookup) -> gast.AST:
    """The definition `node` without names and calls of slices; itself if it has none.

    A name of a slice, or of a tuple of slices and places, is bound by assignments of
    these alone, which leave out the same parts, and is a subscript wherever it is read,
    or asked for a part that was given. Others stay.

    >>> import gast
    >>> text = '''
    ... def f(x, n):
    ...     rows = slice(1, n)
    ...     x[rows] = 2.0 * x[rows]
    ... '''
    >>> definition = gast.parse(text).body[0]
    >>> print(gast.unparse(without_slices(definition, {"slice": slice}.get)).strip())
    def f(x, n):
        rows_stop = n
        x[1:rows_stop] = 2.0 * x[1:rows_stop]
    """
    local = local_names(node)
    look = _Look(local, lookup)
    if not any(map(look.makes_one, nodes_of(node))):
        return node
    named = {n: v for n, v in _assigned(node, look).items() if _is_subscript(node, n)}
    taken = {*identifiers(node)}
    forms = {name: _form(name, values, taken) for name, values in named.items()}
    return _Slices(look, forms).visit(copy.deepcopy(node))


@dataclass(frozen=True, slots=True)
class _Look:
    """What is called where slices are made."""

    local: frozenset[str]
    lookup: Lookup

    def makes_one(self, e: gast.AST) -> bool:
        made = isinstance(e, gast.Call) and self.parts(e) is not None
        return made or self.spelt(e) is not None

    def parts(self, e: gast.AST) -> tuple[gast.AST | None, ...] | None:
        """The three parts of a slice, None for those left out; None for others."""
        match e:
            case gast.Slice(lower=lower, upper=upper, step=step):
                return tuple(None if is_none(p) else p for p in (lower, upper, step))
            case gast.Call(func=gast.Name() as func, args=args, keywords=[]):
                if object_named(func, self.local, self.lookup) is not slice:
                    return None
                if not 1 <= len(args) <= 3:
                    return None
                if any(isinstance(a, gast.Starred) for a in args):
                    return None
                given = [None, *args] if len(args) == 1 else [*args]
                given += [None] * (3 - len(given))
                return tuple(None if is_none(p) else p for p in given)
        return None

    def spelt(self, e: gast.AST) -> gast.AST | None:
        """What stands between the brackets of ``np.s_[...]``; None for others."""
        match e:
            case gast.Subscript(value=gast.Attribute(attr="s_") as value, slice=index):
                if object_named(value, self.local, self.lookup) is np.s_:
                    return index
        return None

    def entries(self, value: gast.AST) -> list[gast.AST] | None:
        """The places and slices of a subscript, if there is a slice among them."""
        inside = self.spelt(value)
        whole = value if inside is None else inside
        found = [*whole.elts] if isinstance(whole, gast.Tuple) else [whole]
        if not any(self.parts(e) for e in found) or (
            found != [whole] and len(found) < 2
        ):
            return None
        if any(self.spelt(e) or isinstance(e, (gast.Tuple, gast.List)) for e in found):
            return None
        return found


#: One binding of a name: its entries, each the parts of a slice or a single place.
_Entry = tuple[gast.AST | None, ...]


def _assigned(node: gast.AST, look: _Look) -> dict[str, list[list[_Entry]]]:
    """What every name of slices is bound to, if nothing else is."""
    found: dict[str, list[list[_Entry]]] = {}
    for name, values in bound_alone(node, lambda v: bool(look.entries(v))).items():
        every = [look.entries(value) or [] for value in values]
        bound = [[look.parts(e) or (e,) for e in entries] for entries in every]
        if len({*map(_shape, bound)}) == 1:
            found[name] = bound
    return found


def _shape(bound: Sequence[_Entry]) -> tuple[tuple[bool, ...], ...]:
    """Which parts of which entries are given."""
    return tuple(tuple(p is not None for p in entry) for entry in bound)


def _is_subscript(around: gast.AST, name: str) -> bool:
    """Is a name between brackets wherever it is read, or asked for a part?"""
    for child in children(around):
        if isinstance(child, gast.Name) and child.id == name:
            if isinstance(child.ctx, gast.Load) and not _is_known(around, child):
                return False
        elif isinstance(around, gast.Subscript) and child is around.slice:
            whole = child.elts if isinstance(child, gast.Tuple) else [child]
            inner = [e for e in whole if not isinstance(e, gast.Name)]
            if not all(_is_subscript(e, name) for e in inner):
                return False
        elif not _is_subscript(child, name):
            return False
    return True


def _is_known(around: gast.AST, name: gast.Name) -> bool:
    match around:
        case gast.Subscript(slice=index):
            return index is name
        case gast.Attribute(value=value, attr=attr):
            return value is name and attr in PARTS
    return False


#: What stands for each part of each entry: its literal or its name.
_Form = list[list[gast.AST | None]]


def _form(name: str, bound: Sequence[list[_Entry]], taken: set[str]) -> _Form:
    form: _Form = []
    for k, entry in enumerate(bound[0]):
        row: list[gast.AST | None] = []
        for j, part in enumerate(entry):
            every = {literal_integer(b[k][j]) for b in bound if b[k][j] is not None}
            if part is None:
                row.append(None)
            elif len(every) == 1 and None not in every:
                row.append(part)
            else:
                word = PARTS[j] if len(entry) > 1 else "place"
                number = k if len(bound[0]) > 1 else ""
                row.append(name_of(fresh(f"{name}_{word}{number}", taken)))
        form.append(row)
    return form


class _Slices(gast.NodeTransformer):  # type: ignore[misc]
    """Puts slices in the place of their names and calls."""

    def __init__(self, look: _Look, forms: dict[str, _Form]) -> None:
        self.look, self.forms = look, forms

    def visit_Assign(self, node: gast.Assign) -> gast.AST:
        match node.targets:
            case [gast.Name(id=name)] if name in self.forms:
                entries = self.look.entries(node.value) or []
                targets: list[gast.AST] = []
                values: list[gast.AST] = []
                for entry, row in zip(entries, self.forms[name], strict=True):
                    for part, own in zip(
                        self.look.parts(entry) or (entry,), row, strict=True
                    ):
                        if isinstance(own, gast.Name):
                            targets.append(name_of(own.id, None, gast.Store()))
                            values.append(self.visit(part))
                return _bound(targets, values, node)
        return self.generic_visit(node)

    def visit_Attribute(self, node: gast.Attribute) -> gast.AST:
        match node.value:
            case gast.Name(id=name) if name in self.forms and node.attr in PARTS:
                form = self.forms[name]
                part = form[0][PARTS.index(node.attr)] if len(form) == 1 else None
                if part is not None:
                    return placed(copy.deepcopy(part), node)
        return self.generic_visit(node)

    def visit_Subscript(self, node: gast.Subscript) -> gast.AST:
        index = node.slice
        whole = [*index.elts] if isinstance(index, gast.Tuple) else [index]
        made: list[gast.AST] = []
        for e in whole:
            made += self._entry(e, len(whole) == 1)
        new = copy.copy(node)
        new.value = self.visit(node.value)
        if len(made) == 1 and not isinstance(index, gast.Tuple):
            new.slice = made[0]
        else:
            new.slice = gast.copy_location(gast.Tuple(made, gast.Load()), index)
        return new

    def _entry(self, e: gast.AST, alone: bool) -> list[gast.AST]:
        """What a place of a subscript is, in whose names of slices are not any more."""
        if isinstance(e, gast.Name) and e.id in self.forms:
            rows = self.forms[e.id]
            if len(rows) == 1 or alone:
                return [_entry_of(row, e) for row in rows]
        parts = self.look.parts(e)
        if parts is not None:
            return [_entry_of([None if p is None else self.visit(p) for p in parts], e)]
        return [self.visit(e)]


def _entry_of(row: Sequence[gast.AST | None], at: gast.AST) -> gast.AST:
    given = [None if p is None else copy.deepcopy(p) for p in row]
    if len(given) == 1:
        assert given[0] is not None
        return placed(given[0], at)
    return placed(gast.Slice(*given), at)


def _bound(targets: list[gast.AST], values: list[gast.AST], at: gast.AST) -> gast.AST:
    """The assignment of the parts that have names, if any has."""
    if not targets:
        return placed(gast.Pass(), at)
    if len(targets) == 1:
        return placed(assign(targets, values[0]), at)
    both = gast.Tuple(targets, gast.Store())
    return placed(assign([both], gast.Tuple(values, gast.Load())), at)
