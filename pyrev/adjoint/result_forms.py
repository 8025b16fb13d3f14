"""Results that partials are told from: ``-q / y`` for ``q = x / y``, ``e`` for ``exp``.

The reverse sweep would need the arguments, or work the result out again. Where it is
stored, in a scalar or in an array that keeps it, it is there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pyrev.adjoint.activity import activity, flows
from pyrev.adjoint.rules import RULES
from pyrev.ir.nodes import (
    Assign,
    Block,
    Call,
    Expr,
    For,
    Load,
    Program,
    Saved,
    Stmt,
    Var,
    all_names,
    blocks,
    exprs,
    fresh,
    names,
    walk,
    walk_expr,
    with_blocks,
    written,
)
from pyrev.parse.shapes import number


def results_named(
    program: Program, wrt: tuple[str, ...], avoid: frozenset[str]
) -> Program:
    """`program` with a scalar for each result that goes into an array and of which a
    partial is told.

    Law: the same values for all arguments.

    >>> from pyrev.parse import parse_text
    >>> from pyrev.ir.text import program_text
    >>> f = parse_text('''
    ... def f(a, b):
    ...     for i in range(1, a.shape[0]):
    ...         a[i] /= a[0]
    ...         b[i] = 2.0 * a[i]
    ... ''')
    >>> print(program_text(results_named(f, ("a", "b"), frozenset())))
    def f(a, b):
        for i in range(1, a.shape[0]):
            quotient = a[i] / a[0]
            a[i] = quotient
            b[i] = 2.0 * a[i]
    """
    active, changed = activity(program, wrt), written(program.body)
    taken = {*all_names(program.body), *(p.name for p in program.params), *avoid}
    made = False

    def block(stmts: Block) -> Block:
        nonlocal made
        out: list[Stmt] = []
        for s in stmts:
            s = with_blocks(s, tuple(map(block, blocks(s))))
            match s:
                case Assign(Load(), Call(op) as value) if _tells(
                    value, active, changed
                ):
                    own = Var(fresh(_NAMES.get(op, op), taken))
                    out.append(Assign(own, value, loc=s.loc))
                    s, made = replace(s, value=own), True
            out.append(s)
        return tuple(out)

    body = block(program.body)
    return replace(program, body=number(body)) if made else program


_NAMES = {"/": "quotient", "**": "power", "sqrt": "root", "exp": "grown"}


def results(program: Program, active: frozenset[str]) -> Mapping[int, Expr]:
    """By the statements that make a result of which a partial is told: how it is read
    behind them.
    """
    found: dict[int, Expr] = {}
    changed = written(program.body)
    carriers = {id(s.body): s for s in walk(program.body) if isinstance(s, For)}
    for stmts in (program.body, *(b for s in walk(program.body) for b in blocks(s))):
        for s, behind in zip(stmts, stmts[1:], strict=False):
            match s:
                case Assign(Var(name) as target, Call() as value) if not any(
                    map(_chooses, exprs(behind))
                ) and (
                    _carries(carriers.get(id(stmts)), target, value, active)
                    if name in names(value)
                    else _tells(value, active, changed)
                ):
                    found[s.id] = Saved(behind.id, target)
    return found


def _carries(
    loop: For | None, target: Var, value: Call, active: frozenset[str]
) -> bool:
    """Is a partial told from a result that the next iteration of `loop` reads anyway?

    What an iteration begins with and what it ends with are on one tape.
    """
    if loop is None or loop.reverse:
        return False
    makers = [s for s in walk(loop.body) if written((s,)) >= {target.name}]
    needed = _needed(value, active)
    return len(makers) == 1 and needed is not None and needed[0] and target in needed[1]


def _chooses(e: Expr) -> bool:
    """Is a part of it evaluated on some paths only, and recorded on these alone?"""
    return any(isinstance(p, Call) and p.op in _CHOICES for p in walk_expr(e))


_CHOICES = ("where", "and", "or")


def _tells(value: Call, active: frozenset[str], changed: frozenset[str]) -> bool:
    """Is a partial of this operation told from its result, in the place of something?

    That is what an argument reads, of what is `changed`, and no other partial needs.
    """
    needed = _needed(value, active)
    if needed is None:
        return False
    told, others = needed
    return told and any(
        isinstance(e, (Var, Load)) and e not in others and names(e) & changed
        for e in walk_expr(value)
    )


def _needed(value: Expr, active: frozenset[str]) -> tuple[bool, set[Expr]] | None:
    """Do the partials of the operation itself mention its result, and which leaves are
    mentioned by these and by those inside? None where there are no partials.
    """
    if not isinstance(value, Call):
        return False, set()
    rule = RULES.get(value.op)
    if rule is None:
        return None
    told, found = False, set[Expr]()
    for k, arg in enumerate(value.args):
        if not rule.flows(k) or not flows(arg) & active:
            continue
        mentioned = names(rule.partials[k])
        told = told or "y" in mentioned
        for name, other in zip(rule.args, value.args, strict=True):
            if name in mentioned:
                found |= {e for e in walk_expr(other) if isinstance(e, (Var, Load))}
        inner = _needed(arg, active)
        if inner is None:
            return None
        if inner[0]:  # worked out again from all that it is made of
            found |= {e for e in walk_expr(arg) if isinstance(e, (Var, Load))}
        found |= inner[1]
    return told, found
