"""Names that one branch gives None and the other a value: they have None in front.

Python text in, Python text out, before anything is lowered::

    if smooth:                             kernel = None
        kernel = np.ones(n)         ->     if smooth:
    else:                                      kernel = np.ones(n)
        kernel = None
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Sequence

import gast

from pyrev.parse.bindings import identifiers, is_none
from pyrev.parse.rewriting.made_texts import assign, name_of, placed


def with_none_first(
    stmts: Sequence[gast.AST], names: Collection[str]
) -> list[gast.AST]:
    """The statements with ``name = None`` in front of an `if` of which one branch has
    it, for these `names`, where nothing reads the name before it is bound there.

    >>> text = "y = x if c else None"
    >>> made = with_none_first(gast.parse(text).body, "y")
    >>> print(gast.unparse(gast.Module(made, [])).strip())
    y = None
    if c:
        y = x
    """
    out: list[gast.AST] = []
    for part in (part for whole in stmts for part in _apart(whole, names)):
        s = copy.copy(_chosen(part, names))
        for block in ("body", "orelse"):
            inner = getattr(s, block, None)
            if isinstance(inner, list):
                setattr(s, block, with_none_first(inner, names))
        if isinstance(s, gast.If):
            for name in sorted(names):
                out += _moved(s, name)
            s.body = s.body or [placed(gast.Pass(), s)]
        out.append(s)
    return out


def _apart(s: gast.AST, names: Collection[str]) -> list[gast.AST]:
    """An assignment for each of several names, if one of them is given None and none is
    read.
    """
    match s:
        case gast.Assign(
            targets=[gast.Tuple(elts=targets)], value=gast.Tuple(elts=values)
        ) if len(targets) == len(values):
            given = [t.id for t in targets if isinstance(t, gast.Name)]
            read = {n for v in values for n in identifiers(v)}
            if len({*given}) < len(targets) or not read.isdisjoint(given):
                return [s]
            if any(map(is_none, values)) and {*names} & {*given}:
                pairs = zip(targets, values, strict=True)
                return [placed(assign([t], v), s) for t, v in pairs]
    return [s]


def _chosen(s: gast.AST, names: Collection[str]) -> gast.AST:
    """An `if` for a name that is None or something else."""
    match s:
        case gast.Assign(
            targets=[gast.Name(id=name) as target],
            value=gast.IfExp(test=test, body=a, orelse=b),
        ) if name in names and is_none(a) != is_none(b):
            one, other = (_given(target, v, s) for v in (a, b))
            return placed(gast.If(test, [one], [other]), s)
    return s


def _given(target: gast.AST, value: gast.AST, at: gast.AST) -> gast.AST:
    return placed(assign([copy.copy(target)], value), at)


def _moved(s: gast.If, name: str) -> list[gast.AST]:
    """The ``name = None`` that stood in a branch of `s`, which loses it; nothing if it
    has to stay there.
    """
    if name in identifiers(s.test):
        return []
    for own, other in (("body", "orelse"), ("orelse", "body")):
        mine, theirs = getattr(s, own), getattr(s, other)
        k = _first(mine, name)
        if k is None or not is_none(mine[k].value):
            continue
        there = _first(theirs, name)
        if there is None or name in identifiers(theirs[there].value):
            continue
        setattr(s, own, [*mine[:k], *mine[k + 1 :]])
        return [_given(name_of(name, None, gast.Store()), mine[k].value, mine[k])]
    return []


def _first(stmts: Sequence[gast.AST], name: str) -> int | None:
    """The statement that mentions a name first, if it is one that binds it alone."""
    for k, s in enumerate(stmts):
        match s:
            case gast.Assign(targets=[gast.Name(id=own)]) if own == name:
                return k
        if name in identifiers(s):
            return None
    return None
