"""Tests that ask the same one after the other are one, and zeros stand in the branch.

An iteration is made again under the user's tests, and reversed under the same tests: a
person writes each of them once, and begins a sum with its first term.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, replace

from pyrev.ir.dtypes import wraps
from pyrev.ir.liveness import live_inside, live_out, names_in, occurs, with_live
from pyrev.ir.nodes import (
    Add,
    Alloc,
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
    map_expr,
    mentioned,
    names,
    walk,
    with_blocks,
    written,
)
from pyrev.ir.simplify import ZERO_F


def joined_tests(program: Program, users: Set[str]) -> Program:
    """`program` with neighbours under one test in one branch.

    Numbers that scalars get between them come before, or into the branch if it alone
    reads them and they have none of the `users` names; those that nobody reads any more
    are gone.

    Law: the same values.

    >>> from pyrev.parse import parse_text
    >>> from pyrev.ir.text import program_text
    >>> f = parse_text('''
    ... def f(x, d_x, d_out):
    ...     for i in range(x.shape[0]):
    ...         v = 0.0
    ...         if x[i] > 0.0:
    ...             v = x[i] * x[i]
    ...         d_v = 0.0
    ...         if x[i] > 0.0:
    ...             d_v += d_out[i] * v
    ...             d_x[i] += 2.0 * d_v * x[i]
    ... ''')
    >>> print(program_text(joined_tests(f, frozenset("xvi"))))
    def f(x, d_x, d_out):
        for i in range(x.shape[0]):
            if x[i] > 0.0:
                d_v = 0.0
                v = x[i] * x[i]
                d_v += d_out[i] * v
                d_x[i] += 2.0 * d_v * x[i]
    """
    body = _joined(program.body)
    body = _placed(body, live_out(program), users, _into_branch)
    return program if body == program.body else replace(program, body=body)


def arrays_in_one_branch(program: Program) -> Program:
    """`program` with neighbours under one test in one branch, where the first of them
    makes an array that the other one uses: it belongs to an iteration then.

    Law: the same values.
    """
    body = _joined(program.body, _makes_for)
    return program if body == program.body else replace(program, body=body)


def _makes_for(first: If, second: If) -> bool:
    made = {s.array for s in walk((first,)) if isinstance(s, Alloc)}
    return not made.isdisjoint(names_in(second))


def _joined(
    block: Block, when: Callable[[If, If], bool] = lambda first, second: True
) -> Block:
    out: list[Stmt] = []
    for s in block:
        at = _partner(out, s) if isinstance(s, If) else None
        if at is not None and isinstance(s, If):
            first = out[at]
            assert isinstance(first, If)
            at = at if when(first, s) else None
        if at is None:
            out.append(s)
            continue
        first = out.pop(at)
        assert isinstance(first, If) and isinstance(s, If)
        both = (*first.then, *s.then), (*first.orelse, *s.orelse)
        out.append(replace(first, then=both[0], orelse=both[1]))
    return tuple(
        with_blocks(s, tuple(_joined(b, when) for b in blocks(s))) for s in out
    )


def _partner(out: list[Stmt], s: If) -> int | None:
    """Where the branch stands that `s` can join: only numbers are set behind it."""
    between: set[str] = set()
    for at in reversed(range(len(out))):
        match out[at]:
            case Assign(Var(name), Const()):
                between.add(name)
            case If(test) as first if test == s.test:
                asked = frozenset(mentioned(test))  # an extent, too
                steady = not asked & (written((first,)) | between)
                return at if steady and not names_in(first) & between else None
            case _:
                return None
    return None


def first_terms(program: Program, users: Set[str], types: Mapping[str, str]) -> Program:
    """`program` with sums that begin with their first term, not with zero, but for
    those with one of the `users` names. A sign stands before a test. `types` are the
    dtypes of all names.

    Law: the same values but for the sign of zeros.

    >>> from pyrev.parse import parse_text
    >>> from pyrev.ir.text import program_text
    >>> f = parse_text('''
    ... def f(x, d_x, d_out):
    ...     d_v = 0.0
    ...     d_x[0] = 1.0
    ...     d_v += d_out[0] * x[0]
    ...     d_v += d_out[1]
    ...     d_x[0] += d_v
    ... ''')
    >>> print(program_text(first_terms(f, frozenset("x"), {})))
    def f(x, d_x, d_out):
        d_x[0] = 1.0
        d_v = d_out[0] * x[0]
        d_v += d_out[1]
        d_x[0] += d_v
    """
    body = _placed(program.body, live_out(program), users, _into_term)
    body = _Signs(users, types).outside(body)
    return program if body == program.body else replace(program, body=body)


@dataclass(frozen=True, slots=True)
class _Signs:
    """Signs that cancel, or that can stand before a line.

    None leaves an integer that may go around: ``d * -k`` is not ``-(d * k)`` then.
    """

    users: Set[str]
    types: Mapping[str, str]

    def outside(self, block: Block) -> Block:
        """``x -= e if test else 0.0`` for what adds ``-e``, and no sign that another
        one cancels, but for statements about names of the user's.
        """
        out: list[Stmt] = []
        for s in block:
            s = with_blocks(s, tuple(map(self.outside, blocks(s))))
            if isinstance(s, (Assign, Add)) and s.target_name not in self.users:
                s = self.before(replace(s, value=map_expr(s.value, self.cancelled)))
            out.append(s)
        return tuple(out)

    def before(self, s: Assign | Add) -> Assign | Add:
        """An increment with its sign before it."""
        match s:
            case Add(_, Call("where", (test, e, Const(0.0) as zero))):
                if (opposite := self.opposite(e)) is not None:
                    chosen = Call("where", (test, opposite, zero))
                    return replace(s, value=Call("neg", (chosen,)))
            case Add(_, Call("*" | "/") as e):
                if (opposite := self.opposite(e)) is not None:
                    return replace(s, value=Call("neg", (opposite,)))
        return s

    def cancelled(self, e: Expr) -> Expr:
        """``e`` for ``-(-e)``."""
        match e:
            case Call("neg", (x,)):
                return self.opposite(x) or e
        return e

    def opposite(self, e: Expr) -> Expr | None:
        """``-e``, bit by bit, if `e` or a factor of it begins with a sign."""
        if wraps(e, self.types):
            return None
        match e:
            case Call("neg", (x,)) if not wraps(x, self.types):
                return x
            case Const(float(k)) if k < 0:
                return Const(-k)
            case Call("*" | "/" as op, (first, *others)):
                if (opposite := self.opposite(first)) is not None:
                    return Call(op, (opposite, *others))
                match op, others:
                    case "*", [Call("neg", (x,))] if not wraps(x, self.types):
                        return Call(op, (first, x))
        return None


#: Statements, each with what is read behind it.
Rest = list[tuple[Stmt, frozenset[str]]]


def _placed(
    block: Block,
    after: frozenset[str],
    users: Set[str],
    into: Callable[[Assign, str, Rest, int], bool],
) -> Block:
    """`block` with each number where it is read; `after` is read behind it.

    `into` moves it to the first statement that has the name, if it can.
    """
    rest = list(with_live(block, after))
    out: list[Stmt] = []
    while rest:
        s, live = rest.pop(0)
        match s:
            case Assign(Var(name), Const()) if name not in live:
                continue
            case Assign(Var(name), Const()) if name not in users:
                at = [k for k, (t, _) in enumerate(rest) if name in names_in(t)]
                if at and into(s, name, rest, at[0]):
                    continue
            case For() | While():
                live = live_inside(s, live)
        inner = tuple(_placed(b, live, users, into) for b in blocks(s))
        out.append(with_blocks(s, inner))
    return tuple(out)


def _into_branch(s: Assign, name: str, rest: Rest, at: int) -> bool:
    """Move a number into the branch that alone reads it."""
    match rest[at]:
        case If(test, then, orelse) as branch, live if name not in names(test) | live:
            inside = occurs(then, name), occurs(orelse, name)
            if all(inside):
                return False
            new = _begun(then, s), orelse
            if inside[1]:
                new = then, _begun(orelse, s)
            rest[at] = with_blocks(branch, new), live
            return True
    return False


def _begun(block: Block, s: Assign) -> Block:
    """`block` with `s` behind the numbers of other scalars with which it begins."""
    k = 0
    for other in block:
        match other:
            case Assign(Var(), Const()) if other.target != s.target:
                k += 1
            case _:
                break
    return (*block[:k], s, *block[k:])


def _into_term(s: Assign, name: str, rest: Rest, at: int) -> bool:
    """Make the first term that is added to a zero the value that there is first."""
    match rest[at]:
        case Add(Var(own), value) as term, live if (
            own == name and name not in names(value) and s.value == ZERO_F
        ):
            rest[at] = Assign(term.target, value, loc=term.loc, id=term.id), live
            return True
    return False
