"""Statements over chunks in a form that blocks can share, with the same meaning.

What a nest writes into an array in one piece becomes a sum: zero first, then each block
adds what it has. A nest in which one statement reads at other elements what another one
writes becomes several.
"""

from __future__ import annotations

from collections.abc import Mapping, Set

from pyrev.analysis.dependence import Leaf, Region
from pyrev.ir.nodes import (
    ZERO,
    Add,
    Assign,
    Block,
    Const,
    Expr,
    For,
    Load,
    Stmt,
    While,
    all_names,
    blocks,
    loop_indices,
    walk,
    with_blocks,
    written,
)
from pyrev.schedule.groups import distribute
from pyrev.schedule.restrict import restrict

#: What a zero is written into, and added to, without a change of its dtype.
_ZEROS: Mapping[str, Expr] = {"float64": Const(0.0), "int64": ZERO}
_ELEMENTS: Mapping[str, Expr] = {
    **_ZEROS,
    "float32": Const(0.0),
    "int32": ZERO,
}


def separated(nest: Stmt, tracked: Set[str], live: frozenset[str]) -> Block:
    """A nest as several, where a leaf reads others' elements of `tracked` arrays.

    `live` are the names that matter after it. What adds to one array stays in one nest,
    so that the terms come in the order of the program.
    """
    if not isinstance(nest, For):
        return (nest,)
    region = Region((nest,), live)
    if not any(_shifted(region, name) for name in sorted(written((nest,)) & tracked)):
        return (nest,)
    parts = tuple(g.nest for g in distribute(nest, live_out=live))
    added = [{s.target_name for s in walk(p) if isinstance(s, Add)} for p in parts]
    if sum(map(len, added)) > len(frozenset[str]().union(*added)):
        return (nest,)
    return tuple(s for p in parts for s in p)


def _shifted(region: Region, name: str) -> bool:
    """Is an element of an array read by one leaf and another one written by others?"""
    stored = {
        (leaf.number, a.index)
        for leaf in region.leaves
        for a in leaf.accesses
        if a.name == name and a.kind != "read"
    }
    return any(
        leaf.number != number and a.index != index
        for leaf in region.leaves
        for a in leaf.accesses
        if a.name == name and a.kind == "read"
        for number, index in stored
    )


def as_sums(
    stmt: Stmt,
    lost: Set[str],
    tracked: Set[str],
    live: frozenset[str],
    dtypes: Mapping[str, str],
) -> Block | None:
    """A statement that writes to names in one piece, as zeros and what is added to them.

    None if that is another program: where an element is written twice, or read, or
    where it depends on chunks which elements are written.
    """
    region = Region((stmt,), live)
    own = [leaf for leaf in region.leaves if _target(leaf) in lost]
    if {_target(leaf) for leaf in own} != lost:
        return None
    for leaf in own:
        target = _target(leaf)
        if not isinstance(leaf.stmt, Assign):
            return None
        known = _ELEMENTS if isinstance(leaf.stmt.target, Load) else _ZEROS
        if dtypes.get(target) not in known:
            return None
        touching = [o for o in region.leaves for a in o.accesses if a.name == target]
        if touching != [leaf] or region.depends(leaf, leaf):
            return None
    if any(isinstance(s, While) for s in walk((stmt,))):
        return None
    zeros = _zeroed(restrict((stmt,), {leaf.number for leaf in own}), dtypes)
    known_names = all_names(zeros) - loop_indices(zeros) - lost
    if known_names & (tracked | written((stmt,))):
        return None
    return (*zeros, _adding(stmt, lost))


def _target(leaf: Leaf) -> str:
    return leaf.stmt.target_name if isinstance(leaf.stmt, (Assign, Add)) else ""


def _zeroed(block: Block, dtypes: Mapping[str, str]) -> Block:
    """The writes of a block, of zeros."""
    found: list[Stmt] = []
    for s in block:
        if isinstance(s, Assign):
            zero = _ELEMENTS[dtypes[s.target_name]]
            found.append(Assign(s.target, zero, loc=s.loc))
        else:
            inner = tuple(_zeroed(b, dtypes) for b in blocks(s))
            found.append(with_blocks(s, inner))
    return tuple(found)


def _adding(s: Stmt, targets: Set[str]) -> Stmt:
    """The statement with its writes to some names as increments."""
    if isinstance(s, Assign) and s.target_name in targets:
        return Add(s.target, s.value, loc=s.loc)
    inner = tuple(tuple(_adding(t, targets) for t in b) for b in blocks(s))
    return with_blocks(s, inner)
