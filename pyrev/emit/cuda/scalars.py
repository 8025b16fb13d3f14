"""Where a kernel declares its scalars."""

from __future__ import annotations

from pyrev.ir.liveness import names_in, occurs
from pyrev.ir.nodes import Add, Assign, Block, Var, blocks, exprs, names, walk


def counts(block: Block) -> dict[str, int]:
    """How often each scalar is assigned or added to."""
    found: dict[str, int] = {}
    for s in walk(block):
        if isinstance(s, (Assign, Add)) and isinstance(s.target, Var):
            found[s.target.name] = found.get(s.target.name, 0) + 1
    return found


def inline(block: Block, scalars: frozenset[str]) -> frozenset[str]:
    """The scalars that can be declared where they are first assigned.

    All that mentions one stands in one block, behind an assignment in that block.
    """
    found: set[str] = set()

    def visit(stmts: Block, mine: frozenset[str]) -> None:
        for n in mine:
            holders = [s for s in stmts if n in names_in(s)]
            match holders:
                case [Assign(Var(first), value), *_] if first == n and n not in names(
                    value
                ):
                    found.add(n)
                case [only] if blocks(only) and not any(
                    n in names(e) for e in exprs(only)
                ):
                    inner = [b for b in blocks(only) if occurs(b, n)]
                    if len(inner) == 1:
                        visit(inner[0], frozenset({n}))

    visit(block, scalars)
    return frozenset(found)
