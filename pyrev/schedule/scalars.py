"""Which scalars of a nest become expressions or arrays, so that it can be parted.

A scalar that every iteration sets before use ties the statements that use it to one
loop. Where one of them is to run in a loop of its own, a cheap scalar is written out in
place, and any other gets an element per iteration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import reduce
from typing import Literal

from pyrev.analysis.dependence import At, Leaf, Region
from pyrev.analysis.poly import is_empty
from pyrev.ir.affine import Linear, from_linear, integer, linear, plus
from pyrev.ir.dtypes import concrete, expr_dtype
from pyrev.ir.nodes import (
    ZERO,
    Add,
    Alloc,
    Assign,
    Block,
    Call,
    Const,
    Expr,
    Extent,
    For,
    If,
    Load,
    Restart,
    Stmt,
    Var,
    While,
    all_names,
    blocks,
    fresh,
    map_expr,
    map_stmt_exprs,
    names,
    substitute,
    walk_expr,
    with_blocks,
    written,
)
from pyrev.ir.primitives import PRIMITIVES, UNKNOWN
from pyrev.ir.simplify import divides
from pyrev.schedule.costs import Costs
from pyrev.schedule.restrict import restrict


@dataclass(frozen=True)
class Definition:
    """The only assignment of a private scalar, and the loop that it is private to."""

    leaf: Leaf
    at: At
    value: Expr


def inline_integers(
    loop: For,
    outer: tuple[For, ...],
    live: frozenset[str],
    integers: frozenset[str],
    affine: bool = False,
) -> For:
    """`loop` with private scalars written out where they are subscripts.

    If `affine`, only those that are affine, and in tests as well.

    >>> from pyrev.parse import parse_block
    >>> from pyrev.ir.text import block_text
    >>> (loop,) = parse_block("for i in range(n):\\n    k = i + 1\\n    a[k] += b[k]")
    >>> print(block_text((inline_integers(loop, (), frozenset("a"), frozenset()),)))
    for i in range(n):
        a[i + 1] += b[i + 1]
    """
    region = Region((loop,), live, outer, integers)
    for _ in range(20):
        found = next(_integer_uses(region, affine), None)
        if found is None:
            break
        name, definition, number = found
        block = _rewrite(region.block, {number: {name: definition.value}})
        region = _without_unused(Region(block, live, outer, integers), live)
    if not region.block:
        return loop  # nothing was left in it
    (plain,) = region.block
    assert isinstance(plain, For)
    return plain


def _integer_uses(
    region: Region, affine: bool
) -> Iterator[tuple[str, Definition, int]]:
    suits = _is_affine if affine else _like_a_subscript
    for leaf in region.leaves:
        for number, e in _places(leaf):
            tested = affine and number != leaf.number
            inside = names(e) if tested else _subscript_names(e)
            for name in sorted(inside):
                definition = _definition(region, leaf, number, name)
                if definition is not None and suits(definition.value):
                    yield name, definition, number


def _is_affine(e: Expr) -> bool:
    """Is `e` a sum of indices, sizes and numbers, each times a number?"""
    atoms = [atom for atom, _ in linear(e).terms]
    return all(isinstance(a, (Var, Extent)) for a in atoms) and not any(
        isinstance(p, Const) and type(p.value) is not int for p in walk_expr(e)
    )


def _like_a_subscript(e: Expr) -> bool:
    """Is `e` made of numbers that a loop knows, so that writing it out may help?"""
    match e:
        case Const() | Var() | Extent():
            return True
        case Call(op, args) if op in _INTEGER:
            return all(map(_like_a_subscript, args))
        case _:
            return False


_INTEGER = frozenset(
    ("+", "-", "*", "//", "%", "neg", "abs", "min", "max", "where", "and", "or", "not")
) | {"<", "<=", ">", ">=", "==", "!="}


def _places(leaf: Leaf) -> Iterator[tuple[int, Expr]]:
    """The expressions of a leaf and of the tests around it, each with its number."""
    for t in leaf.tests:
        yield t.number, t.test
    if isinstance(leaf.stmt, (Assign, Add)):
        if isinstance(leaf.stmt.target, Load):
            yield leaf.number, leaf.stmt.target
        yield leaf.number, leaf.stmt.value


def _subscript_names(e: Expr) -> set[str]:
    found: set[str] = set()
    for part in walk_expr(e):
        if isinstance(part, Load):
            for k in part.index:
                found |= {v.name for v in walk_expr(k) if isinstance(v, Var)}
    return found


def _definition(
    region: Region, leaf: Leaf, number: int, name: str
) -> Definition | None:
    """The assignment that gives `name` its value there, if the value may move."""
    depth = region.private_depth(leaf, name)
    if depth == 0:
        return None
    at = leaf.loops[depth - 1]
    writes = _writers_inside(region, leaf, name)
    if len(writes) != 1 or not isinstance(writes[0].stmt, Assign):
        return None
    (source,) = writes
    if source.number >= number or source.depth > depth:
        return None
    value = source.stmt.value  # type: ignore[union-attr]
    needed = names(value)
    if name in needed:
        return None
    inner = {loop.number for loop in leaf.loops[depth:]}
    for s in _writers(region, needed):
        if s.number == source.number or not _within(s, depth, at):
            continue
        again = any(loop.number in inner for loop in s.loops)
        if again or source.number < s.number < number:
            return None
    return Definition(source, at, value)


def _writers_inside(region: Region, leaf: Leaf, name: str) -> list[Leaf]:
    """What writes a private scalar in the loop that it is private to."""
    depth = region.private_depth(leaf, name)
    at = leaf.loops[depth - 1]
    touching = region.touching()[name]
    return [s for s in touching if _within(s, depth, at) and _writes(s) == name]


def _within(leaf: Leaf, depth: int, at: At) -> bool:
    """Is `leaf` inside loop `at`, which is the `depth`-th from outside?"""
    return leaf.depth >= depth and leaf.loops[depth - 1].number == at.number


def _writers(region: Region, wanted: frozenset[str]) -> Iterator[Leaf]:
    touching = region.touching()
    for name in wanted:
        for s in touching.get(name, ()):
            if _writes(s) == name:
                yield s


def _writes(leaf: Leaf) -> str | None:
    match leaf.stmt:
        case Assign() | Add():
            return leaf.stmt.target_name
        case Alloc(array):
            return array
        case _:
            return None


# ------------------------------------------------------------------ parting a nest


def part(
    loop: For,
    wanted: Callable[[Region], frozenset[int]],
    outer: tuple[For, ...],
    live: frozenset[str],
    integers: frozenset[str],
    taken: frozenset[str],
    dtype_of: Callable[[str], str],
    costs: Costs,
) -> tuple[tuple[Alloc, ...], For]:
    """`loop` after the scalars that tie the leaves in `wanted` to others are resolved.

    Law: together with the new arrays it computes what `loop` computes. A local array is
    never expanded, nor a scalar over loops whose bounds are data.
    """
    made: list[Alloc] = []
    used = set(taken)
    region = Region((loop,), live, outer, integers)
    for _ in range(60):
        step = _next_step(region, wanted(region), costs)
        if step is None:
            break
        kind, name, leaf, number, definition = step
        block = None
        if kind == "expand":
            block = _summed(region, leaf, name, dtype_of, made, costs)
        if block is not None:
            region = Region(block, live, outer, integers)
        elif kind == "inline":
            assert definition is not None
            block = _rewrite(region.block, {number: {name: definition.value}})
            region = _without_unused(Region(block, live, outer, integers), live)
        else:
            array = fresh(f"{name}_at", used)
            shape, index = _box(region, leaf, region.private_depth(leaf, name))
            at = leaf.loops[region.private_depth(leaf, name) - 1]
            made.append(Alloc(array, shape, None, dtype_of(name), loc=loop.loc))
            block = _expand(region.block, at.number, name, Load(array, index))
            region = Region(block, live, outer, integers)
    (parted,) = region.block
    assert isinstance(parted, For)
    return tuple(made), parted


Step = tuple[Literal["inline", "expand"], str, Leaf, int, Definition | None]


def _next_step(region: Region, wanted: frozenset[int], costs: Costs) -> Step | None:
    """What resolves the first scalar that ties a leaf in `wanted` to others."""
    most = costs.last_operations
    leaves = [leaf for leaf in region.leaves if leaf.number in wanted]
    for leaf in leaves:
        for number, e in _places(leaf):
            for name in dict.fromkeys(
                p.name for p in walk_expr(e) if isinstance(p, Var)
            ):
                depth = region.private_depth(leaf, name)
                if depth == 0 or not _shared(region, leaf, name, wanted):
                    continue
                definition = _definition(region, leaf, number, name)
                if definition is not None and _cheap(
                    region, leaf, leaves, definition, costs
                ):
                    return "inline", name, leaf, number, definition
                if depth <= costs.scalar_axes and _box_exists(region, leaf, depth):
                    return "expand", name, leaf, number, None
                if (
                    definition is not None
                    and _full_cost(region, definition, most) <= most
                ):
                    return "inline", name, leaf, number, definition
    return None


def _shared(region: Region, leaf: Leaf, name: str, wanted: frozenset[int]) -> bool:
    """Does a statement that is not to part with `leaf` set or use the scalar too?"""
    return any(
        s.number != leaf.number and region.private_depth(s, name)
        for s in region.touching().get(name, ())
    )


def _cheap(
    region: Region,
    leaf: Leaf,
    leaves: list[Leaf],
    definition: Definition,
    costs: Costs,
) -> bool:
    cost = _full_cost(region, definition, costs.last_operations)
    if cost <= costs.inner_operations:
        return True
    name = definition.leaf.stmt.target.name  # type: ignore[union-attr]
    uses = sum(
        isinstance(p, Var) and p.name == name
        for other in leaves
        for _, e in _places(other)
        for p in walk_expr(e)
    )
    same_depth = leaf.loops[-1].number == definition.at.number
    return same_depth and uses * cost <= costs.repeated_operations


def _full_cost(region: Region, definition: Definition, most: int) -> int:
    """The operations of a definition, the private scalars in it written out.

    More than `most` are too many for any use, and are not counted to the end.
    """
    leaf = definition.leaf
    total = cost_of(definition.value)
    for p in walk_expr(definition.value):
        if total > most:
            break
        if isinstance(p, Var) and region.private_depth(leaf, p.name):
            inner = _definition(region, leaf, leaf.number, p.name)
            total += most if inner is None else _full_cost(region, inner, most)
    return total


def cost_of(e: Expr) -> int:
    """Operations on values: what a subscript costs is paid for any element."""
    match e:
        case Call(op, args):
            return PRIMITIVES.get(op, UNKNOWN).work + sum(map(cost_of, args))
        case _:
            return 0


# ------------------------------------------------------------------ rewriting


def _rewrite(block: Block, changes: Mapping[int, Mapping[str, Expr]]) -> Block:
    """`block` with scalars written out in the statements and tests of these numbers."""
    return _Rewriter(changes).run(block)


class _Rewriter:
    def __init__(self, changes: Mapping[int, Mapping[str, Expr]]) -> None:
        self.changes, self.count = changes, 0

    def run(self, block: Block) -> Block:
        result: list[Stmt] = []
        for s in block:
            if isinstance(s, Restart):
                result.append(s)
                continue
            self.count += 1
            change = self.changes.get(self.count)
            match s:
                case For() | While():
                    s = replace(s, body=self.run(s.body))
                case If():
                    test = s.test if change is None else substitute(s.test, change)
                    then = self.run(s.then)
                    s = replace(s, test=test, then=then, orelse=self.run(s.orelse))
                case Assign() | Add() if change is not None:
                    target = s.target
                    if isinstance(target, Load):
                        index = tuple(substitute(k, change) for k in target.index)
                        target = replace(target, index=index)
                    value = map_expr(substitute(s.value, change), _one_sign)
                    s = replace(s, target=target, value=value)
            result.append(s)
        return tuple(result)


def _one_sign(e: Expr) -> Expr:
    match e:
        case Call("neg", (Call("neg", (a,)),)):
            return a
        case _:
            return e


def _without_unused(region: Region, live: frozenset[str]) -> Region:
    """`region` without assignments of private scalars that nothing reads any more."""
    while unused := {s.number for s in region.leaves if _unused(region, s)}:
        kept = {s.number for s in region.leaves} - unused
        block = restrict(region.block, kept)
        region = Region(block, live, region.outer, region.given)
    return region


def _summed(
    region: Region,
    leaf: Leaf,
    name: str,
    dtype_of: Callable[[str], str],
    made: Sequence[Alloc],
    costs: Costs,
) -> Block | None:
    """The nest with a scalar that is set and added to in a row set once, to the sum.

    None where the sum is too long to be written out, something uses a part of it, or
    an expression would round it more than the scalar does.
    """
    steps = [s.stmt for s in _writers_inside(region, leaf, name)]
    added = [isinstance(s, Add) for s in steps[1:]]
    if not (added and all(added) and isinstance(steps[0], Assign)):
        return None
    values = [s.value for s in steps if isinstance(s, (Assign, Add))]
    total = reduce(lambda a, b: Call("+", (a, b)), values)
    if cost_of(total) > costs.repeated_operations or name in names(total):
        return None
    if not _as_wide(values, name, dtype_of, made):
        return None

    def visit(block: Block) -> Block:
        here = [k for k, s in enumerate(block) if any(s is t for t in steps)]
        if len(here) < len(steps):
            inner = (tuple(map(visit, blocks(s))) for s in block)
            return tuple(map(with_blocks, block, inner))
        start, stop = here[0], here[-1]
        others = tuple(block[k] for k in range(start, stop) if k not in here)
        late = any(
            names(value) & written(block[k + 1 : stop])
            for k, value in zip(here, values, strict=True)
        )
        if late or name in all_names(others):
            return block
        last = steps[-1]
        whole = Assign(Var(name), total, loc=last.loc, note=last.note)
        return (*block[:start], *others, whole, *block[stop + 1 :])

    new = visit(region.block)
    return None if new == region.block else new


def _as_wide(
    values: Sequence[Expr],
    name: str,
    dtype_of: Callable[[str], str],
    made: Sequence[Alloc],
) -> bool:
    """Has each term of `name` its dtype? A sum of narrower ones would lose digits."""
    known = {a.array: a.dtype for a in made if isinstance(a.dtype, str)}
    for n in {name}.union(*map(names, values)) - known.keys():
        with suppress(KeyError):  # what another step of the scheduling made
            known[n] = dtype_of(n)
    try:
        return all(concrete(expr_dtype(e, known)) == known[name] for e in values)
    except KeyError:
        return False


def _unused(region: Region, leaf: Leaf) -> bool:
    match leaf.stmt:
        case Assign(Var(name), _) if depth := region.private_depth(leaf, name):
            at = leaf.loops[depth - 1]
            return not any(
                a.name == name and (a.kind == "read" or s.number != leaf.number)
                for s in region.touching()[name]
                if _within(s, depth, at)
                for a in s.accesses
            )
        case _:
            return False


def _expand(block: Block, number: int, name: str, element: Load) -> Block:
    """`block` with `name` replaced by `element` inside the loop of this number."""
    return _Expander(number, name, element).run(block)


class _Expander:
    def __init__(self, number: int, name: str, element: Load) -> None:
        self.number, self.name, self.element, self.count = number, name, element, 0

    def run(self, block: Block) -> Block:
        result: list[Stmt] = []
        for s in block:
            if isinstance(s, Restart):
                result.append(s)
                continue
            self.count += 1
            match s:
                case For() | While():
                    here = self.count == self.number
                    body = self.run(s.body)
                    if here:
                        body = tuple(map_stmt_exprs(t, self.swap) for t in body)
                    result.append(replace(s, body=body))
                case If():
                    then = self.run(s.then)
                    result.append(replace(s, then=then, orelse=self.run(s.orelse)))
                case _:
                    result.append(s)
        return tuple(result)

    def swap(self, e: Expr) -> Expr:
        return self.element if isinstance(e, Var) and e.name == self.name else e


# ------------------------------------------------------------------ the box of a scalar


def _box_exists(region: Region, leaf: Leaf, depth: int) -> bool:
    return _sides(region, leaf, depth) is not None


def _box(
    region: Region, leaf: Leaf, depth: int
) -> tuple[tuple[Expr, ...], tuple[Expr, ...]]:
    sides = _sides(region, leaf, depth)
    assert sides is not None
    return tuple(s for s, _ in sides), tuple(i for _, i in sides)


def _sides(
    region: Region, leaf: Leaf, depth: int
) -> tuple[tuple[Expr, Expr], ...] | None:
    """Per loop an extent that holds all its values, and the subscript for its index."""
    bounds: dict[str, tuple[Expr, Expr]] = {}
    result = []
    for at in leaf.loops[:depth]:
        loop = at.loop
        step = integer(loop.step)
        if step is None:
            return None
        first, last = (
            (loop.lo, loop.hi) if step > 0 else (plus(loop.hi, 1), plus(loop.lo, 1))
        )
        low = _extreme(first, bounds, lowest=True, region=region)
        high = _extreme(last, bounds, lowest=False, region=region)
        if low is None or high is None or divides(low) or divides(high):
            return None
        bounds[loop.index] = (low, plus(high, -1))
        if _never_negative(region, low):
            index: Expr = Var(loop.index)
            extent = high
        else:
            index = from_linear(linear(Var(loop.index)).plus(linear(low), -1))
            extent = from_linear(linear(high).plus(linear(low), -1))
        result.append((_size(region, extent), index))
    return tuple(result)


def _size(region: Region, extent: Expr) -> Expr:
    """An extent that is never negative and no smaller than `extent`."""
    if _never_negative(region, extent):
        return extent
    form = linear(extent)
    if form.constant < 0:
        larger = from_linear(Linear(form.terms, 0))
        if isinstance(larger, Extent):
            return larger
    return Call("max", (extent, ZERO))


def _never_negative(region: Region, e: Expr) -> bool:
    cases = region.space.cases(e, {})
    return cases is not None and all(
        is_empty(region.space, (), f"({c.when}) and {c.term} < 0") for c in cases
    )


def _extreme(
    e: Expr, bounds: Mapping[str, tuple[Expr, Expr]], lowest: bool, region: Region
) -> Expr | None:
    """The lowest or highest value of `e` over a box, or a bound of it."""
    if not any(isinstance(v, Var) and v.name in bounds for v in walk_expr(e)):
        return e if region.space.cases(e, {}) is not None else None
    match e:
        case Call("min" | "max", args):
            parts = [_extreme(a, bounds, lowest, region) for a in args]
            if any(p is None for p in parts):
                return None
            return Call(e.op, tuple(p for p in parts if p is not None))
        case Call("//", (a, Const(int(d)))) if d > 0:
            inner = _extreme(a, bounds, lowest, region)
            return None if inner is None else Call("//", (inner, Const(d)))
    form = linear(e)
    total = Linear((), form.constant)
    for atom, k in form.terms:
        if isinstance(atom, Var) and atom.name in bounds:
            low, high = bounds[atom.name]
            total = total.plus(linear(low if (k > 0) == lowest else high), k)
        elif any(isinstance(v, Var) and v.name in bounds for v in walk_expr(atom)):
            return None
        else:
            total = total.plus(Linear(((atom, 1),), 0), k)
    found = from_linear(total)
    return found if region.space.cases(found, {}) is not None else None
