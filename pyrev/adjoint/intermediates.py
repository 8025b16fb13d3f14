"""Gradients with respect to what a function makes itself: when they mean one thing.

The gradient of a local value is the derivative with respect to a number added to it
(to each element of an array) where it is written for the last time. That is what its
adjoint holds in the reverse sweep just before that write, if nothing reads a value that
is still to be written: ISL proves it, or it is refused.
"""

from __future__ import annotations

from pyrev.analysis.dependence import Access, Leaf, Region
from pyrev.analysis.poly import conj
from pyrev.ir.nodes import Alloc, Assign, Program, Stmt, all_names, walk


def why_not(program: Program, name: str) -> str | None:
    """Why the local value `name` has no gradient of its own; None if it has.

    >>> from pyrev.parse import parse_text
    >>> f = parse_text('''
    ... def f(x):
    ...     u = np.zeros(len(x))
    ...     for i in range(1, len(x)):
    ...         u[i] = u[i - 1] * x[i]
    ...     v = np.zeros(len(x))
    ...     for k in range(2):
    ...         for i in range(len(x)):
    ...             v[i] = v[i] + u[i]
    ...     return v[0]
    ... ''')
    >>> why_not(f, "u"), why_not(f, "v")
    (None, 'line 8 may read a value of it that line 8 overwrites')
    """
    every = tuple(walk(program.body))
    made: list[Stmt] = [s for s in every if isinstance(s, Alloc) and s.array == name]
    if not made:
        made = [s for s in every if isinstance(s, Assign) and s.target_name == name]
    if len(made) != 1:
        lines = ", ".join(str(s.loc.line) for s in made)
        return f"lines {lines} make it anew" if made else "no line makes it"
    if not any(s is made[0] for s in program.body):
        return f"line {made[0].loc.line} makes it in a loop or under an `if`"
    region = Region(program.body, all_names(program.body))
    for s, a in _accesses(region, name):
        for t, b in _accesses(region, name) if a.kind == "read" else ():
            if b.kind != "read" and _meet(region, s, a, t, b, or_same=True):
                one, two = s.stmt.loc.line, t.stmt.loc.line
                return f"line {one} may read a value of it that line {two} overwrites"
    return None


def assigned_again(program: Program, name: str) -> bool:
    """May an element of the array `name` be assigned after another write of it?"""
    region = Region(program.body, all_names(program.body))
    writes = [(s, a) for s, a in _accesses(region, name) if a.kind != "read"]
    return any(
        b.kind == "write" and _meet(region, s, a, t, b)
        for s, a in writes
        for t, b in writes
    )


def _accesses(region: Region, name: str) -> list[tuple[Leaf, Access]]:
    """What reads or writes `name`, but for what makes it."""
    return [
        (leaf, a)
        for leaf in region.touching().get(name, ())
        for a in region.changed(leaf)[name]
        if a.kind == "read" or not isinstance(leaf.stmt, Alloc)
    ]


def _meet(
    region: Region, s: Leaf, a: Access, t: Leaf, b: Access, or_same: bool = False
) -> bool:
    """May `a` of `s` come before `b` of `t` and touch the same element?"""
    ways = region.before(s, a, t, b, or_same=or_same)
    same = region.same_element(s, a, t, b) if ways else None
    return same is not None and any(
        region.possible(s, t, conj((way, same))) for way in ways
    )
