"""Names that are None first (see `rewriting.maybe_none`): what stands for that.

A number begins with zero, which nobody reads. An array has room in front of the loop or
the branch that makes the first, as soon as a walk knows that the name is one's.
"""

from __future__ import annotations

from pyrev.ir.nodes import Loc
from pyrev.parse.scopes import Scope
from pyrev.parse.values import Array
from pyrev.parse.walk import Walk, Wanted


def begins_unset(w: Walk, name: str, scope: Scope) -> bool:
    """From here on a name is None; True if it is one of arrays, which need no zero."""
    path = w.emit.path
    before = scope.unset.get(name, path)
    same = 0
    while same < min(len(path), len(before)) and path[same] == before[same]:
        same += 1
    scope.unset[name] = path[:same]
    bound = scope.bound.get(name)
    if isinstance(bound, Array):  # it was one's before
        return ask_unset(w, name, bound.rank, scope)
    return bool(_axes(w, name, scope))


def ask_unset(w: Walk, name: str, rank: int, scope: Scope) -> bool:
    """A name that is None before gets an array; False if that is new to this walk."""
    w.ask(Wanted(name, _definition(scope), "unset", rank))
    return bool(_axes(w, name, scope))


def ask_unset_room(w: Walk, name: str, scope: Scope) -> None:
    """Let the next walk have room for the arrays of a name, which is read in the text
    before the first is made, in front of the outermost loop between the two.
    """
    since, rank = scope.unset[name], _axes(w, name, scope)
    for compound in w.env.compounds if rank else ():
        if compound.scope is scope and compound.around[: len(since)] == since:
            w.ask(Wanted(name, compound.at, "room", rank))
            return


def refuse_equal_none(w: Walk, name: str, at: Loc, scope: Scope) -> None:
    """``name == None``: of an array it is asked element by element."""
    if name not in scope.unset or _axes(w, name, scope):
        because = f"`{name}` is an array: `==` compares each element with `None`"
        w.refuse("P106", at, because, f"write `{name} is None`")


def _axes(w: Walk, name: str, scope: Scope) -> int:
    """How many axes the arrays have that a name stands for which is None first; 0 if it
    stands for numbers, as far as the last walk knows.
    """
    at = _definition(scope)
    named = (e.rank for e in w.known.wanted if e[:3] == (name, at, "unset"))
    return max(named, default=0)


def _definition(scope: Scope) -> Loc:
    return scope.source.loc(scope.source.node)
