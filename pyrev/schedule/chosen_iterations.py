"""A loop of which a test chooses one iteration is that iteration.

``for j in range(n): if j == 0: ...`` is what is left of a sweep with a first row of its
own when the rest of it has gone to another loop: nothing in it is worth other cores,
what stands under the test may be.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

from pyrev.analysis.dependence import conjuncts
from pyrev.ir.affine import comparison, integer, linear
from pyrev.ir.nodes import (
    FALSE,
    TRUE,
    Block,
    Call,
    Expr,
    Extent,
    For,
    If,
    Var,
    names,
    with_value,
    written,
)
from pyrev.parse.expression import conjunction


def chosen_iteration(loop: For, integers: Set[str]) -> Block | None:
    """What `loop` does, if all of it stands under a test that its index is one number.

    `integers` are the scalars known to be integers.

    Law: the same values.

    >>> from pyrev.parse import parse_block
    >>> from pyrev.ir.text import block_text
    >>> (loop,) = parse_block('''
    ... for j in range(n):
    ...     if j == n - 1 and x[j] > 0.0:
    ...         y[j] = x[j - 1]
    ... ''')
    >>> print(block_text(chosen_iteration(loop, {"n"})))
    if 0 <= n - 1:
        if x[n - 1] > 0.0:
            y[n - 1] = x[n - 1 - 1]
    """
    match loop.body:
        case (If(test, _, ()) as branch,):
            parts = conjuncts(test)
        case _:
            return None
    step = integer(loop.step)
    if step not in (1, -1):
        return None
    for k, part in enumerate(parts):
        at = _number(part, loop, integers)
        if at is None:
            continue
        first, last = ("<=", "<") if step > 0 else (">=", ">")
        inside = [_compared(first, loop.lo, at), _compared(last, at, loop.hi)]
        rest = [*parts[:k], *parts[k + 1 :]]
        body = branch.then
        if rest:
            body = (replace(branch, test=conjunction(rest)),)
        body = with_value(body, loop.index, at)
        if FALSE in inside:
            return ()
        asked = [t for t in inside if t != TRUE]
        if not asked:
            return body
        return (If(conjunction(asked), body, loc=branch.loc),)
    return None


def _number(part: Expr, loop: For, integers: Set[str]) -> Expr | None:
    """The number that the index is, if `part` says so: one of sizes and integers that
    the loop leaves as they are.
    """
    if not isinstance(part, Call) or part.op != "==":
        return None
    index, changed = Var(loop.index), {*written(loop.body), loop.index}
    for one, e in (part.args, part.args[::-1]):
        whole = all(
            isinstance(a, Extent) or (isinstance(a, Var) and a.name in integers)
            for a, _ in linear(e).terms
        )
        if one == index and whole and not names(e) & changed:
            return e
    return None


def _compared(op: str, a: Expr, b: Expr) -> Expr:
    """A comparison, decided where it does not depend on any size."""
    difference = linear(b).plus(linear(a), -1)
    if difference.terms:
        return comparison(op, a, b, ())
    c = difference.constant
    holds = {"<=": c >= 0, "<": c > 0, ">=": c <= 0, ">": c < 0}[op]
    return TRUE if holds else FALSE
