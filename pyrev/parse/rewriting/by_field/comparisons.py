"""Tests of tuples, as tests of their fields."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import gast


def compared(
    op: gast.AST, one: Sequence[gast.AST], other: Sequence[gast.AST]
) -> gast.AST | None:
    """The test that Python makes of two tuples with these fields: the first two that
    are not equal decide; None for a test that is no comparison.

    >>> import gast
    >>> a, b, c, d = (gast.parse(n).body[0].value for n in "abcd")
    >>> print(gast.unparse(compared(gast.Lt(), [a, b], [c, d])).strip())
    a < c or (a == c and b < d)
    """
    match op:
        case gast.Eq():
            return _joined(gast.And(), gast.Eq(), one, other)
        case gast.NotEq():
            return _joined(gast.Or(), gast.NotEq(), one, other)
        case gast.Lt() | gast.LtE():
            return _ordered(gast.Lt, op, one, other)
        case gast.Gt() | gast.GtE():
            return _ordered(gast.Gt, op, one, other)
    return None


def _test(op: gast.AST, one: gast.AST, other: gast.AST) -> gast.AST:
    return gast.Compare(copy.deepcopy(one), [op], [copy.deepcopy(other)])


def _joined(
    how: gast.AST, op: gast.AST, one: Sequence[gast.AST], other: Sequence[gast.AST]
) -> gast.AST:
    tests = [_test(op, a, b) for a, b in zip(one, other, strict=True)]
    return tests[0] if len(tests) == 1 else gast.BoolOp(how, tests)


def _ordered(
    strict: type[gast.AST],
    op: gast.AST,
    one: Sequence[gast.AST],
    other: Sequence[gast.AST],
) -> gast.AST:
    if len(one) == 1:
        return _test(op, one[0], other[0])
    rest = _ordered(strict, op, one[1:], other[1:])
    equal = _test(gast.Eq(), one[0], other[0])
    later = gast.BoolOp(gast.And(), [equal, rest])
    return gast.BoolOp(gast.Or(), [_test(strict(), one[0], other[0]), later])
