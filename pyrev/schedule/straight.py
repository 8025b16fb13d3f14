"""Long straight lines of code in pieces, each for a function of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pyrev.ir.nodes import Add, Assign, Block, If, Load, Stmt, exprs, walk, walk_expr


def pieces(block: Block, most: int, fails: Callable[[Block], bool]) -> Iterator[Block]:
    """The statements of `block`, long runs of accesses of elements in pieces.

    A piece has at most `most` accesses, and nothing of which `fails` says that it may
    leave early. LLVM takes more than quadratic time in the accesses of one straight
    line.
    """
    run: list[Stmt] = []

    def cut() -> Iterator[Block]:
        if sum(map(_elements, run)) <= most:
            yield from ((s,) for s in run)
            return
        piece: list[Stmt] = []
        count = 0
        for s in run:
            if piece and count + _elements(s) > most:
                yield tuple(piece)
                piece, count = [], 0
            piece.append(s)
            count += _elements(s)
        yield tuple(piece)

    for s in block:
        plain = all(isinstance(x, (Assign, Add, If)) for x in walk((s,)))
        if plain and not fails((s,)):
            run.append(s)
            continue
        yield from cut()
        run.clear()
        yield (s,)
    yield from cut()


def _elements(stmt: Stmt) -> int:
    """How many elements of arrays the text of a statement names."""
    return sum(
        isinstance(e, Load)
        for s in walk((stmt,))
        for top in exprs(s)
        for e in walk_expr(top)
    )
