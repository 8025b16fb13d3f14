"""Arrays without axes: pyrev has numbers in their place, NumPy has objects.

A part like ``y[..., 0]`` of a vector is a view, and ``np.where`` of numbers gives an
array. It shows where one is changed in place and read by another name, or where what
it is a view of is written to. Which names may stand for which of them is found without
the order of the statements; what may show is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import gast

from pyrev.ir.nodes import Load, Loc
from pyrev.parse.bindings import children, nodes_of
from pyrev.parse.names import object_of
from pyrev.parse.points_to import origins_of
from pyrev.parse.rewriting.lists.sharing import IN_PLACE, LISTED
from pyrev.parse.rewriting.made_texts import root_of
from pyrev.parse.scopes import Scope, home, module_name
from pyrev.parse.values import Array, Operand
from pyrev.parse.walk import BARE, Walk, WithoutAxes

#: A place in the text, behind the calls that lead there.
Place = tuple[tuple[Loc, ...], Loc]
#: What a function that is called there gives back, or a name of such a function.
Key = tuple[tuple[Loc, ...], str]

_GIVEN = "return"
#: Where nothing keeps what it is given, and Python's own functions that do neither.
_LIBRARIES = ("numpy", "math", "scipy")
_NEW = ("float", "int", "abs", "bool", "round", "pow", "print")
#: What gives the array itself that it is given, or a view of it.
_PASSING = frozenset(
    ["real", "imag", "T", "asarray", "asanyarray", "squeeze", "reshape"]
    + ["ravel", "transpose", "broadcast_to", "min", "max"]
)


def note_without_axes(
    w: Walk, node: gast.AST, value: Operand | None, scope: Scope
) -> None:
    """Where what is read is a number, NumPy has an array without axes, maybe a view."""
    if isinstance(value, Array) or module_name(home(scope)) == "pyrev":
        return  # a text of the library, which gives what NumPy's function gives
    w.ask(BARE)
    base = value.array if isinstance(value, Load) else None
    inside = any(not isinstance(c.node, gast.If) for c in w.env.compounds)
    since = 0 if inside else len(w.storage.changed)
    at = scope.source.loc(node)
    w.found.without_axes.append(WithoutAxes(scope.site, at, base, since))


def refuse_shared(w: Walk) -> None:
    """Refuse what would show that an array without axes is none of pyrev's."""
    if not w.found.without_axes:
        return
    flows = _Flows(w)
    for one in w.found.without_axes:
        if (one.site, one.at) not in flows.kept:
            continue
        names = flows.names_of(one)
        changed = [flows.changed[n] for n in names if n in flows.changed]
        if one.base is not None:
            written = _written(w, one.base, one.since)
            for at in [*changed, *written][:1]:
                w.refuse("P206", at, *_VIEW)
        elif changed:
            w.refuse("P206", changed[0], *_OBJECT)


_VIEW = (
    "an element that a subscript with `...` gives is a view of its array, and one of"
    " the two is written to",
    "leave the `...` out, or write `float(...)` around it",
)
_OBJECT = (
    "what `np.where` gives for numbers is an array, which is changed in place here: it"
    " keeps its dtype, and shows it under its other names",
    "write `a = a + ...`, or `float(...)` around the call",
)


def _written(w: Walk, base: str, since: int) -> list[Loc]:
    """Where elements of an array, or of what may be it, are written to since."""
    copies = w.aliases.copies
    every = {base, *origins_of(w, base)}
    every |= {own for own, copy in copies.items() if every & copy.points_to}
    return [w.storage.changed_at[a] for a in w.storage.changed[since:] if a in every]


@dataclass(slots=True)
class _Flows:
    """From where to where the texts that were read pass values on as they are."""

    w: Walk
    flows: dict[Key | Place, set[Key]] = field(default_factory=dict)
    #: The expressions whose values are not just computed with.
    kept: set[Place] = field(default_factory=set)
    #: The names that are changed in place, and where.
    changed: dict[Key, Loc] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for scope in self.w.found.scopes:
            body = scope.source.node.body
            if not isinstance(body, list):
                self._passes(body, scope, (scope.site, _GIVEN))
                self._inside(body, scope)
                continue
            for s in body:
                self._inside(s, scope)
        for call in self.w.found.passed:
            inner = (*call.scope.site, call.at)
            for name, value in call.arguments.items():
                self._passes(value, call.scope, (inner, name))

    def names_of(self, one: WithoutAxes) -> list[Key]:
        """The names that may stand for it."""
        found: dict[Key | Place, None] = {(one.site, one.at): None}
        stack: list[Key | Place] = [*found]
        while stack:
            for key in self.flows.get(stack.pop(), ()):
                if key not in found:
                    found[key] = None
                    stack.append(key)
        return [k for k in found if isinstance(k[1], str) and k[1] != _GIVEN]

    def _passes(self, value: gast.AST, scope: Scope, to: Key) -> None:
        """A value is given to a name, or back."""
        for key in self._sources(value, scope):
            self.flows.setdefault(key, set()).add(to)
            if not isinstance(key[1], str):
                self.kept.add((key[0], key[1]))

    def _sources(self, value: gast.AST, scope: Scope) -> Iterator[Key | Place]:
        at = scope.source.loc(value)
        match value:
            case gast.Name(id=name):
                yield _owner(scope, name).site, name
            case gast.IfExp(body=body, orelse=orelse):
                yield from self._sources(body, scope)
                yield from self._sources(orelse, scope)
            case (
                gast.BoolOp(values=values)
                | gast.Tuple(elts=values)
                | gast.List(elts=values)
            ):
                for v in values:
                    yield from self._sources(v, scope)
            case (
                gast.NamedExpr(value=inner)
                | gast.Starred(value=inner)
                | gast.ListComp(elt=inner)
                | gast.GeneratorExp(elt=inner)
            ):
                yield from self._sources(inner, scope)
            case gast.Attribute(value=inner):
                yield from self._sources(inner, scope)
            case gast.Subscript():
                yield scope.site, at
                yield from self._sources(value.value, scope)
            case gast.Call(func=func, args=args):
                yield scope.site, at
                yield (*scope.site, at), _GIVEN
                name = func.attr if isinstance(func, gast.Attribute) else None
                name = func.id if isinstance(func, gast.Name) else name
                if name in _PASSING:
                    for a in args:
                        if not isinstance(a, (gast.List, gast.ListComp)):
                            yield from self._sources(a, scope)
                    if isinstance(func, gast.Attribute):
                        yield from self._sources(func.value, scope)

    def _inside(self, node: gast.AST, scope: Scope) -> None:
        """What a statement or an expression passes on."""
        site = scope.site
        if self._may_write_between(node, scope):
            for part in nodes_of(node):
                if isinstance(part, (gast.Subscript, gast.Call)):
                    self.kept.add((site, scope.source.loc(part)))
        match node:
            case gast.FunctionDef() | gast.Lambda():
                return
            case gast.Assign(targets=targets, value=value):
                for target in targets:
                    self._bound(target, value, node, scope)
            case gast.NamedExpr(target=target, value=value):
                self._bound(target, value, node, scope)
            case gast.AugAssign(target=target):
                self._changes(target, node, scope)
            case gast.BinOp(left=left) if hasattr(node, IN_PLACE):
                self._changes(left, node, scope)
            case gast.Return(value=value) if value is not None and site:
                self._passes(value, scope, (site, _GIVEN))
            case gast.For(target=target, iter=it):
                self._bound(target, it, node, scope)
            case gast.Call(args=args) if self._is_users(node, scope):
                for a in args:
                    self._passes(a, scope, (site, f"a call at {node.lineno}"))
        for child in children(node):
            self._inside(child, scope)

    def _is_users(self, call: gast.Call, scope: Scope) -> bool:
        """Is it a call of what may keep what it is given, or write to it?"""
        named = isinstance(call.func, gast.Name) and call.func.id in _NEW
        found = object_of(self.w, call.func, scope)
        return not named and module_name(found) not in _LIBRARIES

    def _may_write_between(self, node: gast.AST, scope: Scope) -> bool:
        """May something be written between what it reads, and what is made of that?"""
        match node:
            case gast.If() | gast.For() | gast.While() | gast.FunctionDef():
                return False
            case gast.Assign(targets=targets) if any(
                isinstance(part, gast.Subscript)
                for t in targets
                if isinstance(t, (gast.Tuple, gast.List)) or len(targets) > 1
                for part in nodes_of(t)
            ):
                return True
        calls = (n for n in nodes_of(node) if isinstance(n, gast.Call))
        return any(self._is_users(call, scope) for call in calls)

    def _changes(self, target: gast.AST, node: gast.AST, scope: Scope) -> None:
        name = root_of(target)
        key = _owner(scope, name).site, name
        self.changed.setdefault(key, scope.source.loc(node))

    def _bound(
        self, target: gast.AST, value: gast.AST, node: gast.AST, scope: Scope
    ) -> None:
        match target, value:
            case gast.Name(id=name), _:
                self._passes(value, scope, (_owner(scope, name).site, name))
            case (
                gast.Tuple(elts=targets) | gast.List(elts=targets),
                gast.Tuple(elts=values) | gast.List(elts=values),
            ) if len(targets) == len(values):
                for t, v in zip(targets, values, strict=True):
                    self._bound(t, v, node, scope)
            case ((gast.Tuple(elts=targets) | gast.List(elts=targets)), _):
                for t in targets:
                    self._bound(t, value, node, scope)
            case gast.Starred(value=inner), _:
                self._bound(inner, value, node, scope)
            case gast.Attribute(), _ if root_of(target):
                name = root_of(target)
                self._passes(value, scope, (_owner(scope, name).site, name))
            case gast.Subscript(), _ if hasattr(target, LISTED):
                # An element of a list is an object, one of an array is a number.
                name = root_of(target)
                self._passes(value, scope, (_owner(scope, name).site, name))


def _owner(scope: Scope, name: str) -> Scope:
    """The function whose name it is."""
    place = scope
    while name not in place.local and place.outer is not None:
        place = place.outer
    return place
