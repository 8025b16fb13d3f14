"""Places of elements: by loops, for targets that have no function that finds them, and
without the loops that count how many there are, for those that have one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from pyrev.ir.nodes import (
    Add,
    Alloc,
    Assign,
    Block,
    Extent,
    If,
    Program,
    Return,
    Stmt,
    Var,
    all_names,
    blocks,
    exprs,
    free_ids,
    fresh,
    mentioned,
    walk,
    with_blocks,
)
from pyrev.ir.renaming import rename
from pyrev.ir.text import negation
from pyrev.parse import parse_text

_IN_ORDER = """
def argsort(a):
    order = np.empty(a.shape[0], dtype=np.int64)
    merged = np.empty(a.shape[0], dtype=np.int64)
    for k in range(a.shape[0]):
        order[k] = k
    width = 1
    while width < a.shape[0]:
        start = 0
        while start < a.shape[0]:
            middle = min(start + width, a.shape[0])
            end = min(middle + width, a.shape[0])
            left = start
            right = middle
            for k in range(start, end):
                from_left = right >= end
                if left < middle and right < end:
                    x = a[order[left]]
                    y = a[order[right]]
                    from_left = not (y < x or (np.isnan(x) and not np.isnan(y)))
                if from_left:
                    merged[k] = order[left]
                    left += 1
                else:
                    merged[k] = order[right]
                    right += 1
            start = end
        for k in range(a.shape[0]):
            order[k] = merged[k]
        width *= 2
    return order
"""
#: Into an array that is there: its size says how many they are.
_TRUE = """
def flatnonzero(a, order):
    count = 0
    for k in range(a.shape[0]):
        if a[k] != 0:
            order[count] = k
            count += 1
"""


def places_by_loops(program: Program) -> Program:
    """`program` with the places of arrays found by loops: those in order by a bottom-up
    merge sort (Knuth, The Art of Computer Programming 3, section 5.2.4).
    """
    if not any(isinstance(s, Alloc) and s.places for s in walk(program.body)):
        return program
    taken = {*all_names(program.body), *(p.name for p in program.params)}
    ids = free_ids(program.body)

    def spelled_out(block: Block) -> Block:
        out: list[Stmt] = []
        for s in block:
            s = with_blocks(s, tuple(map(spelled_out, blocks(s))))
            if not (isinstance(s, Alloc) and s.places and s.source is not None):
                out.append(s)
                continue
            body, names = _read(_TRUE if s.places == "true" else _IN_ORDER)
            if s.places == "true":
                out.append(replace(s, source=None, places=""))
            new = {n: fresh(n, taken) for n in sorted(names - {"a", "order"})}
            new |= {"a": s.source, "order": s.array}
            out += (_placed(rename(t, new), s, ids) for t in body)
        return tuple(out)

    return replace(program, body=spelled_out(program.body))


def without_counts(program: Program) -> Program:
    """`program` without numbers that say how long arrays of places are, and nothing
    else: an array of places is as long as it is.
    """
    counts: set[str] = set()
    others: set[str] = {p.name for p in program.params}
    for s in walk(program.body):
        match s:
            case Alloc(places="true", shape=(Var(count),)):
                counts.add(count)
            case Assign(Var(name), value) | Add(Var(name), value):
                others |= {*mentioned(value)} - {name}
            case _:
                others |= {n for e in exprs(s) for n in mentioned(e)}
    counts -= others
    if not counts:
        return program
    return replace(program, body=_without(program.body, frozenset(counts)))


def _without(block: Block, counts: frozenset[str]) -> Block:
    out: list[Stmt] = []
    for s in block:
        match s:
            case Assign(Var(name)) | Add(Var(name)) if name in counts:
                continue
            case Alloc(places="true", shape=(Var(name),)) if name in counts:
                out.append(replace(s, shape=(Extent(s.array, 0),)))
                continue
        inner = tuple(_without(b, counts) for b in blocks(s))
        if any(blocks(s)) and not any(inner):
            continue
        if isinstance(s, If) and not inner[0]:
            s, inner = replace(s, test=negation(s.test)), (inner[1], ())
        out.append(with_blocks(s, inner))
    return tuple(out)


@cache
def _read(text: str) -> tuple[Block, frozenset[str]]:
    body = tuple(s for s in parse_text(text).body if not isinstance(s, Return))
    return body, all_names(body)


def _placed(s: Stmt, at: Alloc, ids: Iterator[int]) -> Stmt:
    """A statement that stands where `at` does."""
    inner = tuple(tuple(_placed(t, at, ids) for t in b) for b in blocks(s))
    return replace(with_blocks(s, inner), loc=at.loc, id=next(ids))
