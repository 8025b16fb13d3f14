"""Sorting as loops, for targets that have no function for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from pyrev.ir.nodes import (
    Alloc,
    Block,
    Program,
    Return,
    Stmt,
    all_names,
    blocks,
    free_ids,
    fresh,
    walk,
    with_blocks,
)
from pyrev.ir.renaming import rename
from pyrev.parse import parse_text

_TEXT = """
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


def orders_by_loops(program: Program) -> Program:
    """`program` with each `ordered` array filled by a bottom-up merge sort (Knuth, The
    Art of Computer Programming 3, section 5.2.4).
    """
    if not any(isinstance(s, Alloc) and s.ordered for s in walk(program.body)):
        return program
    taken = {*all_names(program.body), *(p.name for p in program.params)}
    ids = free_ids(program.body)

    def spelled_out(block: Block) -> Block:
        out: list[Stmt] = []
        for s in block:
            s = with_blocks(s, tuple(map(spelled_out, blocks(s))))
            if not (isinstance(s, Alloc) and s.ordered and s.source is not None):
                out.append(s)
                continue
            body, names = _merge_sort()
            new = {n: fresh(n, taken) for n in sorted(names - {"a", "order"})}
            new |= {"a": s.source, "order": s.array}
            out += (_placed(rename(t, new), s, ids) for t in body)
        return tuple(out)

    return replace(program, body=spelled_out(program.body))


@cache
def _merge_sort() -> tuple[Block, frozenset[str]]:
    body = tuple(s for s in parse_text(_TEXT).body if not isinstance(s, Return))
    return body, all_names(body)


def _placed(s: Stmt, at: Alloc, ids: Iterator[int]) -> Stmt:
    """A statement that stands where `at` does."""
    inner = tuple(tuple(_placed(t, at, ids) for t in b) for b in blocks(s))
    return replace(with_blocks(s, inner), loc=at.loc, id=next(ids))
