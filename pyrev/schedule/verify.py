"""Do generated loops run every instance of the original statements exactly once?

Two checks that share nothing with the generator. `writes_agree` proves on every run
that each generated statement writes the element that the original would.
`same_instances` enumerates both sides at small sizes, when `PYREV_DEBUG` is set.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from random import Random

from pyrev.analysis.dependence import Leaf, Region
from pyrev.analysis.poly import conj, disj, negated
from pyrev.ir.nodes import (
    Assign,
    Block,
    Call,
    Const,
    Expr,
    Extent,
    For,
    If,
    Load,
    Var,
    substitute,
)

SIZES = (0, 1, 2, 3, 5, -1, 4, 7)
COMBINATIONS = 120

Symbols = Mapping[Expr, int]


def debugging() -> bool:
    """Did the user ask for the slow checks?"""
    return os.environ.get("PYREV_DEBUG", "") not in ("", "0")


def writes_agree(
    skeleton: Block,
    region: Region,
    originals: Mapping[str, tuple[Leaf, tuple[Expr, ...]]],
) -> bool:
    """Is it proven that every marker in `skeleton` names the element it says?

    A marker is ``statement[variables] = element[subscripts]``, and `originals` maps the
    statement's name to its leaf and to the subscripts in terms of the leaf's indices.
    """
    made = Region(skeleton, frozenset(), region.outer, region.space.integers)
    for leaf in made.leaves:
        assert isinstance(leaf.stmt, Assign) and isinstance(leaf.stmt.target, Load)
        assert isinstance(leaf.stmt.value, Load)
        original, target = originals[leaf.stmt.target.array]
        names = [at.loop.index for at in original.loops]
        env = dict(zip(names, leaf.stmt.target.index, strict=True))
        here = made.domain(leaf, "i")
        at = made.env(leaf, "i")
        for e, says in zip(target, leaf.stmt.value.index, strict=True):
            one = made.space.cases(substitute(e, env), at, here)
            two = made.space.cases(says, at, here)
            if one is None or two is None:
                return False
            equal = disj(
                conj((c.when, d.when, f"{c.term} = {d.term}")) for c in one for d in two
            )
            if not made.space.excluded(at, conj((here, negated(equal)))):
                return False
    return True


def same_instances(
    skeleton: Block,
    region: Region,
    originals: Mapping[str, tuple[Leaf, tuple[Expr, ...]]],
) -> bool:
    """Do both sides run the same instances, at every small size that is tried?

    Tests that are data are left out on both sides, and so are instances that write
    below the start of an array: no run that is not refused has any. None ends in a
    division by zero, either.
    """
    leaves = {leaf.number: leaf for leaf, _ in originals.values()}
    targets = {leaf.number: target for leaf, target in originals.values()}
    symbols = list(region.space.params().values())
    draw = Random(0)
    for _ in range(COMBINATIONS):
        at: dict[Expr, int] = {e: draw.choice(SIZES) for e in symbols}
        if any(v < 0 for e, v in at.items() if isinstance(e, Extent)):
            continue
        try:
            if not all(_inside(loop, at) for loop in region.outer):
                continue
            expected = Counter(
                (number, point)
                for number, leaf in leaves.items()
                for point in _points(region, leaf, at)
                if _inside_array(leaf, targets[number], point, at)
            )
        except ZeroDivisionError:
            continue
        got = Counter(
            (originals[name][0].number, point) for name, point in _run(skeleton, {}, at)
        )
        if expected != got:
            return False
    return True


def _inside(loop: For, at: Symbols) -> bool:
    """Is the index of a loop around the statements in its range, as far as is known?"""
    try:
        return at[Var(loop.index)] in _values(loop, {}, at)
    except (KeyError, ValueError):
        return True


def _inside_array(
    leaf: Leaf, target: tuple[Expr, ...], point: tuple[int, ...], at: Symbols
) -> bool:
    env = {f.loop.index: v for f, v in zip(leaf.loops, point, strict=True)}
    return all(evaluate(k, env, at) >= 0 for k in target)


def _points(region: Region, leaf: Leaf, at: Symbols) -> Iterator[tuple[int, ...]]:
    opaque = region.opaque_tests(leaf)

    def descend(k: int, env: dict[str, int]) -> Iterator[tuple[int, ...]]:
        for t in leaf.tests:
            if t.depth == k and t not in opaque:
                if bool(evaluate(t.test, env, at)) != t.holds:
                    return
        if k == leaf.depth:
            yield tuple(env[f.loop.index] for f in leaf.loops)
            return
        loop = leaf.loops[k].loop
        for v in _values(loop, env, at):
            yield from descend(k + 1, {**env, loop.index: v})

    return descend(0, {})


def _values(loop: For, env: Mapping[str, int], at: Symbols) -> range:
    lo, hi, step = (evaluate(e, env, at) for e in (loop.lo, loop.hi, loop.step))
    return range(lo, hi, step)


def _run(
    block: Block, env: Mapping[str, int], at: Symbols
) -> Iterator[tuple[str, tuple[int, ...]]]:
    for s in block:
        match s:
            case For():
                for v in _values(s, env, at):
                    yield from _run(s.body, {**env, s.index: v}, at)
            case If():
                holds = evaluate(s.test, env, at)
                yield from _run(s.then if holds else s.orelse, env, at)
            case Assign(Load(name, index), _):
                yield name, tuple(evaluate(k, env, at) for k in index)


_OPERATORS: Mapping[str, Callable[..., int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "neg": lambda a: -a,
    "abs": abs,
    "min": min,
    "max": max,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "not": lambda a: not a,
}


def evaluate(e: Expr, env: Mapping[str, int], at: Symbols) -> int:
    """An integer expression as Python computes it."""
    match e:
        case Const(value):
            return int(value)
        case Var(name) if name in env:
            return env[name]
        case Var() | Extent():
            return at[e]
        case Call("and", args):
            return all(evaluate(a, env, at) for a in args)
        case Call("or", args):
            return any(evaluate(a, env, at) for a in args)
        case Call("where", (test, a, b)):
            return evaluate(a if evaluate(test, env, at) else b, env, at)
        case Call(op, args):
            return _OPERATORS[op](*(evaluate(a, env, at) for a in args))
        case _:
            raise ValueError(f"not an integer expression: {e}")
