"""Values are computed on the paths that use them, where that is one branch.

What a branch discards was computed for nothing, and so is its adjoint. In the branch
that uses it, it costs nothing elsewhere, and contributes nothing there, by the test
itself. (Knoop, Ruething and Steffen 1994 sink assignments along all paths; here they
sink into one branch of an `if`, as deep as there is one.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pyrev.adjoint.activity import activity
from pyrev.ir.liveness import (
    live_before,
    live_inside,
    live_out,
    occurs,
    touched,
    with_live,
)
from pyrev.ir.nodes import (
    RISKY,
    Assign,
    Block,
    Call,
    Const,
    Expr,
    For,
    If,
    Program,
    Stmt,
    Var,
    While,
    blocks,
    names,
    walk_expr,
    with_blocks,
    written,
)


def sunk(program: Program, wrt: tuple[str, ...], kept: frozenset[str]) -> Program:
    """`program` with active scalars that one branch uses computed in that branch.

    Law: the same values for all arguments; statements keep their ids. The scalars in
    `kept`, and those in `wrt`, stay where they are.

    >>> from pyrev.parse import parse_text
    >>> from pyrev.ir.text import program_text
    >>> f = parse_text('''
    ... def f(x, y):
    ...     s = 0.0
    ...     for i in range(x.shape[0]):
    ...         d = x[i] - y[i]
    ...         e = d * d
    ...         if y[i] > 0:
    ...             s += e
    ...     return s
    ... ''')
    >>> print(program_text(sunk(f, ("x",), frozenset())))
    def f(x, y):
        s = 0.0
        for i in range(x.shape[0]):
            if y[i] > 0:
                d = x[i] - y[i]
                e = d * d
                s += e
        return s
    """
    movable = activity(program, wrt) - kept - {*wrt, *(p.name for p in program.params)}
    body = _Sink(movable).block(program.body, live_out(program))
    return replace(program, body=body)


class _Sink:
    def __init__(self, movable: frozenset[str]) -> None:
        self.movable = movable

    def block(self, block: Block, after: frozenset[str]) -> Block:
        """`block` with what it sets moved into branches; `after` is read behind it."""
        behind: list[Stmt] = []  # the last first
        for stmt in reversed(block):
            at = self.place(stmt, behind, after)
            match stmt, at:
                case Assign(Var(name)), int():
                    branch = behind[at]
                    assert isinstance(branch, If)
                    one, two = blocks(branch)
                    inner = ((stmt, *one), two)
                    inner = inner if occurs(one, name) else (one, (stmt, *two))
                    behind[at] = with_blocks(branch, inner)
                case _:
                    behind.append(stmt)
        return tuple(
            self.inside(stmt, live)
            for stmt, live in with_live(tuple(reversed(behind)), after)
        )

    def inside(self, stmt: Stmt, live: frozenset[str]) -> Stmt:
        """`stmt` with its blocks done; `live` is read behind it."""
        if not blocks(stmt):
            return stmt
        if isinstance(stmt, (For, While)):
            live = live_inside(stmt, live)
        return with_blocks(stmt, tuple(self.block(b, live) for b in blocks(stmt)))

    def place(
        self, stmt: Stmt, behind: Sequence[Stmt], after: frozenset[str]
    ) -> int | None:
        """Which of the statements `behind` has the branch for `stmt`, if one has."""
        match stmt:
            case Assign(Var(name), value) if name in self.movable:
                read = names(value)
            case _:
                return None
        if name in read or isinstance(value, Const):
            return None
        if any(map(_stays, walk_expr(value))):
            return None
        for at in reversed(range(len(behind))):
            other = behind[at]
            if name not in touched(other):
                if read & written((other,)):
                    return None
                continue
            if not isinstance(other, If) or name in names(other.test):
                return None
            both = occurs(other.then, name) and occurs(other.orelse, name)
            later = live_before(tuple(reversed(behind[:at])), after)
            return None if both or name in later else at
        return None


def _stays(e: Expr) -> bool:
    """Does a part of a value say something of its place, or may it raise?"""
    match e:
        case Call("**", (_, Const(power))):
            return power < 0
        case Call(op):
            return op in _STAYS or op in RISKY
    return False


#: What says something of the place where it stands.
_STAYS = frozenset(
    {"probe", "along", "along_steep", "once", "value", "by_rule", "drawn"}
)
