"""One name for each web of a scalar: for the uses of values that never meet.

A loop over `i` and a later one over `j` may both sum up in `acc`. Neither reads what
the other left, yet by its name alone the scalar belongs to the whole function and not
to an iteration of either: nothing of it could be made again there. (Webs: Muchnick,
Advanced Compiler Design and Implementation, section 16.3.3.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from pyrev.ir.liveness import live_before, live_inside, names_in, with_live
from pyrev.ir.nodes import (
    Add,
    Alloc,
    Assign,
    Block,
    For,
    Program,
    Stmt,
    Var,
    While,
    all_names,
    blocks,
    fresh,
    resembled,
    walk,
    with_blocks,
)
from pyrev.ir.renaming import rename


def separated(program: Program, avoid: frozenset[str]) -> Program:
    """`program` with another name for each further web of a scalar.

    Law: the same values for all arguments; statements keep their ids.

    >>> from pyrev.parse import parse_text
    >>> from pyrev.ir.text import program_text
    >>> f = parse_text('''
    ... def f(a, b, x):
    ...     for i in range(x.shape[0]):
    ...         s = x[i] * 2.0
    ...         a[i] = s * s
    ...     s = 0.0
    ...     for i in range(x.shape[0]):
    ...         s += x[i]
    ...     b[0] = s
    ... ''')
    >>> print(program_text(separated(f, frozenset())))
    def f(a, b, x):
        for i in range(x.shape[0]):
            s = x[i] * 2.0
            a[i] = s * s
        s_2 = 0.0
        for i in range(x.shape[0]):
            s_2 += x[i]
        b[0] = s_2
    """
    assigned: set[str] = set()
    fixed: set[str] = set()  # loops count in them, arrays have their dtypes
    for s in walk(program.body):
        match s:
            case Assign(Var(name), _) | Add(Var(name), _):
                assigned.add(name)
            case For(index):
                fixed.add(index)
            case While():
                fixed |= {s.index, s.count}
            case Alloc(dtype=dtype):
                fixed.update(resembled(dtype))
    split = _Split(program, frozenset(assigned - fixed), avoid)
    return replace(program, body=split.block(program.body, frozenset(), split.params))


@dataclass(slots=True)
class _Web:
    """Uses of one scalar that belong together. The first web to be named keeps it."""

    name: str = ""


class _Split:
    def __init__(
        self, program: Program, scalars: frozenset[str], avoid: frozenset[str]
    ) -> None:
        self.scalars = scalars
        params = {p.name for p in program.params}
        self.taken = set(all_names(program.body)) | params | avoid
        self.named = set(params)
        self.params = {s: _Web(s if s in params else "") for s in scalars}

    def block(
        self, block: Block, after: frozenset[str], around: Mapping[str, _Web]
    ) -> Block:
        """`block` renamed; a value that comes in or goes out is of the web `around`."""
        out: list[Stmt] = []
        webs = dict(around)
        ahead = live_before(block, after)
        for stmt, behind, leaves in _to_the_end(block, after):
            for s in self.scalars & names_in(stmt):
                if s not in ahead:  # no value comes here from before
                    webs[s] = around[s] if s in leaves else _Web()
            out.append(self.statement(stmt, behind, webs))
            ahead = behind
        return tuple(out)

    def statement(
        self, stmt: Stmt, behind: frozenset[str], webs: Mapping[str, _Web]
    ) -> Stmt:
        inner = blocks(stmt)
        if not inner:
            return rename(stmt, self.names(stmt, webs))
        if isinstance(stmt, (For, While)):
            behind = live_inside(stmt, behind)
        parts = tuple(self.block(b, behind, webs) for b in inner)
        bare = with_blocks(stmt, tuple(() for _ in inner))
        return with_blocks(rename(bare, self.names(bare, webs)), parts)

    def names(self, stmt: Stmt, webs: Mapping[str, _Web]) -> dict[str, str]:
        """What the scalars in `stmt` itself are called."""
        found = {}
        for s in sorted(self.scalars & names_in(stmt)):
            web = webs[s]
            if not web.name:
                web.name = fresh(s, self.taken) if s in self.named else s
                self.named.add(s)
            found[s] = web.name
        return found


def _to_the_end(
    block: Block, after: frozenset[str]
) -> list[tuple[Stmt, frozenset[str], frozenset[str]]]:
    """Each statement, what is live behind it, and which of that to the very end."""
    found: list[tuple[Stmt, frozenset[str], frozenset[str]]] = []
    leaves = after
    for stmt, behind in reversed(with_live(block, after)):
        leaves &= behind
        found.append((stmt, behind, leaves))
    return found[::-1]
