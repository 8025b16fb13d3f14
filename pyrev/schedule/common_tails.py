"""What all branches of a test end with stands behind the test.

Each branch of the reverse sweep ends by setting the cotangent of what its branch of the
primal stored to zero; a person does so once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pyrev.ir.nodes import Add, Assign, Block, If, Program, Stmt, blocks, with_blocks
from pyrev.ir.text import negation


def common_tails(program: Program) -> Program:
    """`program` with the last statements that all branches share behind them.

    Law: the same statements run in the same order.

    >>> from pyrev.parse import parse_text
    >>> from pyrev.ir.text import program_text
    >>> f = parse_text('''
    ... def f(x, d_x, d_y):
    ...     for i in range(x.shape[0]):
    ...         if x[i] > 1.0:
    ...             d_x[i] += 2 * d_y[i]
    ...             d_y[i] = 0.0
    ...         elif x[i] > 0.0:
    ...             d_x[i] += d_y[i]
    ...             d_y[i] = 0.0
    ...         else:
    ...             d_y[i] = 0.0
    ... ''')
    >>> print(program_text(common_tails(f)))
    def f(x, d_x, d_y):
        for i in range(x.shape[0]):
            if x[i] > 1.0:
                d_x[i] += 2 * d_y[i]
            elif x[i] > 0.0:
                d_x[i] += d_y[i]
            d_y[i] = 0.0
    """
    return replace(program, body=_block(program.body))


def _block(block: Block) -> Block:
    out: list[Stmt] = []
    for s in block:
        if not isinstance(s, If):
            out.append(with_blocks(s, tuple(map(_block, blocks(s)))))
            continue
        branches = [_block(b) for b in _branches(s)]
        shared: list[Stmt] = []
        while (last := _same_last(branches)) is not None:
            shared.insert(0, last)
            branches = [b[:-1] for b in branches]
        made = _chain(s, branches)
        if made is not None:
            out.append(made)
        out += shared
    return tuple(out)


def _branches(s: If) -> list[Block]:
    """The blocks of ``if``, of each ``elif`` and of ``else``."""
    match s.orelse:
        case (If() as inner,):
            return [s.then, *_branches(inner)]
    return [s.then, s.orelse]


def _same_last(branches: Sequence[Block]) -> Stmt | None:
    """The last statement of all, if it is one."""
    if not all(branches):
        return None
    first, *others = (b[-1] for b in branches)
    if not isinstance(first, (Assign, Add)):
        return None
    same = all(
        type(s) is type(first) and (s.target, s.value) == (first.target, first.value)
        for s in others
    )
    return first if same else None


def _chain(s: If, branches: Sequence[Block]) -> If | None:
    """The test with other blocks; None if nothing is left to do."""
    then, *rest = branches
    orelse = rest[0]
    match s.orelse:
        case (If() as inner,):
            made = _chain(inner, rest)
            orelse = () if made is None else (made,)
    if then:
        return replace(s, then=then, orelse=orelse)
    if orelse:
        return replace(s, test=negation(s.test), then=orelse, orelse=())
    return None
