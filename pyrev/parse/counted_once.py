"""What is counted or found again with the same outcome is so once.

Each ``x[mask]`` counts the true elements of the mask, and finds their places; several
with one mask need that once, and are as long as each other as everybody can see then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from pyrev.ir.counting import step_of
from pyrev.ir.liveness import found_places
from pyrev.ir.nodes import (
    ZERO,
    Alloc,
    Assign,
    Block,
    For,
    Stmt,
    Var,
    all_names,
    assignments,
    blocks,
    exprs,
    loop_indices,
    walk,
    walk_expr,
    with_blocks,
    written,
)
from pyrev.ir.renaming import rename

#: What stands for the counter in a loop that is compared with others.
_ANY = "@count"


def counted_once(body: Block) -> Block:
    """The statements without the loops that count what the same block counted before,
    and without places that it found, if nothing has changed since.
    """
    return _Once(body).block(body)


class _Once:
    def __init__(self, body: Block) -> None:
        self.times = assignments(body)
        self.reads = _reads(body)
        # What is put there later would show in the other one.
        places = found_places(body)
        self.places = {a for a, made in places.items() if len(made) == 1}

    def block(self, block: Block) -> Block:
        out: list[Stmt] = []
        #: The loops that count, the counter of each, and what the count rests on.
        known: dict[Stmt, tuple[str, frozenset[str]]] = {}
        #: The places that are found: of which array, and what they are called.
        found: dict[tuple[str, str], str] = {}
        again: dict[str, str] = {}
        k = 0
        while k < len(block):
            counter = self.counter(block[k : k + 2], block[k + 2 :])
            if counter is not None:
                first, loop = (rename(s, again) for s in block[k : k + 2])
                any_ = rename(loop, {counter: _ANY})
                k += 2
                if any_ in known:
                    again[counter] = known[any_][0]
                    continue
                rests = all_names((any_,)) - loop_indices((loop,))
                known[any_] = counter, rests
                out += [first, loop]
                continue
            s = rename(block[k], again)
            known = {e: v for e, v in known.items() if not written((s,)) & v[1]}
            if isinstance(s, Alloc) and s.array in self.places:
                key = s.source or "", s.places
                if key in found:
                    again[s.array] = found[key]
                    k += 1
                    continue
                found[key] = s.array
            else:
                new = written((s,))
                found = {e: a for e, a in found.items() if not {e[0], a} & new}
            out.append(with_blocks(s, tuple(map(self.block, blocks(s)))))
            k += 1
        return tuple(out)

    def counter(self, pair: Block, behind: Block) -> str | None:
        """The scalar that the first of two statements makes zero and the other one, a
        loop that does nothing else, counts, and that only what is behind them reads.
        """
        match pair:
            case (Assign(Var(name), value), For() as loop) if value == ZERO:
                inner = [s for s in walk((loop,)) if not blocks(s)]
                counts = len(inner) == 1 and step_of(inner[0]) == (name, 1)
                reads = _reads((*pair, *behind))[name]
                if counts and self.times[name] == 2 and reads == self.reads[name]:
                    return name
        return None


def _reads(block: Block) -> Mapping[str, int]:
    """How often each name stands in statements."""
    return Counter(
        part.name
        for s in walk(block)
        for e in exprs(s)
        for part in walk_expr(e)
        if isinstance(part, Var)
    )
