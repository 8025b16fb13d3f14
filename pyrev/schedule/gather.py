"""How a scatter becomes loops that own what they write: the domain is sheared.

`poly.generate` makes loops of statements with a time each. `gather` chooses the times:
first the subscripts of the target, so that every write has bare loop indices, then the
loops that the target leaves free, in the user's order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from pyrev.analysis.dependence import Access, Leaf, Region
from pyrev.analysis.loop_trees import Instance, Unknown
from pyrev.analysis.poly import (
    Piece,
    Space,
    Timed,
    bounding_box,
    conj,
    disj,
    generate,
    pieces,
    relaxed,
)
from pyrev.ir.affine import integer, linear, tidy
from pyrev.ir.nodes import (
    Add,
    Assign,
    Block,
    Call,
    Const,
    Expr,
    Extent,
    For,
    If,
    Load,
    Stmt,
    Var,
    exprs,
    fresh,
    walk,
    walk_expr,
)
from pyrev.ir.text import expr_text
from pyrev.schedule.verify import debugging, same_instances, writes_agree

FRESH = ("u", "v", "w", "p", "q")
BOX = "B"  # a statement that does nothing, in every element of a box
TOO_LONG = "its loops as a gather would be too long to read"
LONGEST = 60  # statements and loops: a longer text is no help to its reader


class NoGather(Exception):
    """A scatter stays as it is; the message says why, as the end of a sentence."""


@dataclass(frozen=True)
class Part:
    """A leaf on one piece of its domain, with its place in time.

    `pivots` are the loops that the target's subscripts replace and `kept` the ones that
    remain, as positions in the leaf's loops.
    """

    name: str
    leaf: Leaf
    piece: Piece
    pivots: tuple[int, ...]
    kept: tuple[int, ...]


@dataclass(frozen=True)
class Gathered:
    """Loops for a scatter, and for each new index the equation that defines it.

    `skeleton` is the same loops with a marker for each statement, for the checks.
    """

    block: Block
    equations: tuple[str, ...]
    skeleton: Block


def gather(
    region: Region, scatter: Sequence[Leaf], taken: frozenset[str]
) -> tuple[Gathered, ...]:
    """Loops over the elements of the array that all of `scatter` increments.

    Law: every instance of `scatter` runs exactly once. Raises `NoGather` where bounds
    are opaque, no subscript is affine, ISL gives up or the text would be too long. It
    proves nothing about parallel loops.

    >>> from pyrev.parse import parse_block
    >>> from pyrev.ir.text import block_text
    >>> region = Region(parse_block('''
    ... for i in range(1, n - 1):
    ...     d_u[i - 1] += c[i] * d_r[i]
    ... '''), frozenset({"d_u"}))
    >>> (found,) = gather(region, region.leaves, frozenset())
    >>> print(block_text(found.block))
    for i in range(n - 2):
        d_u[i] += c[i + 1] * d_r[i + 1]
    """
    try:
        return _gather(region, scatter, taken)
    except Unknown as error:
        raise NoGather("its index is too hard to invert") from error


def _gather(
    region: Region, scatter: Sequence[Leaf], taken: frozenset[str]
) -> tuple[Gathered, ...]:
    parts: list[Part] = []
    found = axes(region, scatter)
    if not found:
        raise NoGather(_opaque(region, scatter))
    for leaf in scatter:
        parts += _parts(region, leaf, found, len(parts))
    choice: list[Gathered] = []
    for plane in _planes(parts, found):
        choice += _one_plane(region, plane, found, taken)
    if sum(1 for g in choice for _ in walk(g.block)) > LONGEST:
        raise NoGather(TOO_LONG)
    if debugging():
        skeleton = tuple(s for g in choice for s in g.skeleton)
        right = same_instances(skeleton, region, _claims(parts, found))
        assert right, "generated loops do not run the original instances"
    return tuple(choice)


def _opaque(region: Region, scatter: Sequence[Leaf]) -> str:
    """Why no subscript of the target can get a loop."""
    for leaf in scatter:
        found = region.subscripts(leaf, _access(leaf), "i") or ()
        for k, cases in zip(target_of(leaf).index, found, strict=False):
            if cases is None:
                data = any(isinstance(e, Load) for e in walk_expr(k))
                return (
                    f"its index `{expr_text(k)}` is {'data' if data else 'not affine'}"
                )
    return "its index is data"


def _planes(parts: Sequence[Part], axes: Sequence[int]) -> list[list[Part]]:
    """Parts whose targets can meet: subscripts that never move keep others apart."""
    still = [
        n
        for n in range(len(axes))
        if not any(any(p.piece.coefficients[n]) or p.piece.divides[n] for p in parts)
    ]
    planes: dict[tuple[object, ...], list[Part]] = {}
    for p in parts:
        key = tuple(linear_key(target_of(p.leaf).index[axes[n]]) for n in still)
        planes.setdefault(key, []).append(p)
    return list(planes.values())


def _one_plane(
    region: Region, parts: Sequence[Part], axes: Sequence[int], taken: frozenset[str]
) -> tuple[Gathered, ...]:
    fused = _together(region, parts, axes, taken)
    if len(parts) == 1 or _uniform(parts):
        return (fused,)
    apart = tuple(_together(region, [p], axes, taken) for p in parts)
    return min((fused,), apart, key=lambda gs: sum(_length(g.block) for g in gs))


def _claims(
    parts: Sequence[Part], axes: Sequence[int]
) -> dict[str, tuple[Leaf, tuple[Expr, ...]]]:
    """Per part the leaf and the subscripts that its markers must agree with."""
    return {
        p.name: (p.leaf, tuple(target_of(p.leaf).index[k] for k in axes)) for p in parts
    }


def _length(block: Block) -> int:
    return sum(3 if isinstance(s, If) else 1 for s in walk(block))


def _uniform(parts: Sequence[Part]) -> bool:
    """Do all targets have one linear part, as the points of a stencil do?"""
    first = parts[0]
    names = [at.loop.index for at in first.leaf.loops]
    return all(
        p.piece.coefficients == first.piece.coefficients
        and not any(p.piece.divides)
        and not any(
            shift is None and any(row)
            for row, shift in zip(p.piece.coefficients, p.piece.shifts, strict=True)
        )
        and [at.loop.index for at in p.leaf.loops] == names
        for p in parts
    )


# ------------------------------------------------------------------ pieces and pivots


def target_of(leaf: Leaf) -> Load:
    stmt = leaf.stmt
    assert isinstance(stmt, (Add, Assign)) and isinstance(stmt.target, Load)
    return stmt.target


def _access(leaf: Leaf) -> Access:
    return Access("add", target_of(leaf).array, target_of(leaf).index, 0, leaf.depth)


def axes(region: Region, scatter: Sequence[Leaf]) -> tuple[int, ...]:
    """The subscripts of the target that are affine in every leaf."""
    known = None
    for leaf in scatter:
        found = region.subscripts(leaf, _access(leaf), "i")
        assert found is not None
        here = [k for k, cases in enumerate(found) if cases is not None]
        known = here if known is None else [k for k in known if k in here]
    return tuple(known or ())


def _parts(region: Region, leaf: Leaf, affine: Sequence[int], first: int) -> list[Part]:
    if not region.exact(leaf):
        raise NoGather("a loop bound is data")
    if region.private_depth(leaf, target_of(leaf).array):
        raise NoGather("it is made anew in each iteration")
    found = region.subscripts(leaf, _access(leaf), "i")
    assert found is not None
    index = [
        disj(conj((c.when, f"t{n} = {c.term}")) for c in found[k] or ())
        for n, k in enumerate(affine)
    ]
    variables = region.variables(leaf, "i")
    name = f"S{first}"
    # A subscript below 0 is an error (`analysis.bounds`), whatever the loops say.
    inside = (f"t{n} >= 0" for n in range(len(affine)))
    domain = conj((region.domain(leaf, "i"), *inside))
    result = []
    for n, piece in enumerate(pieces(region.space, name, variables, domain, index)):
        named = piece._replace(
            domain=piece.domain.replace(f"{name}[", f"S{first + n}["),
            mapping=piece.mapping.replace(f"{name}[", f"S{first + n}["),
        )
        pivots = _pivots(piece)
        kept = tuple(k for k in range(leaf.depth) if k not in pivots)
        result.append(Part(f"S{first + n}", leaf, named, pivots, kept))
    return result


def _pivots(piece: Piece) -> tuple[int, ...]:
    """One loop per subscript to be replaced by it: the outermost of factor 1."""
    order = sorted(
        range(len(piece.coefficients)),
        key=lambda k: sum(c != 0 for c in piece.coefficients[k]),
    )
    chosen: list[int] = []
    for k in order:
        if not piece.divides[k]:
            row = piece.coefficients[k]
            found = [v for v, c in enumerate(row) if c]
            units = [v for v in found if abs(row[v]) == 1]
            if found and not any(row[v] for v in chosen):
                chosen.append((units or found)[0])
    return tuple(chosen)


# ------------------------------------------------------------------ one nest


def _together(
    region: Region,
    parts: Sequence[Part],
    axes: Sequence[int],
    taken: frozenset[str],
) -> Gathered:
    """One nest for `parts`: subscripts first, then the parts one after the other."""
    rank = len(axes)
    used = set(taken)
    index, equations = _index_names(parts, axes, used)
    several = len(parts) > 1
    timed, names = [], {}
    width = max(p.leaf.depth for p in parts)
    space = region.space
    for number, p in enumerate(parts):
        rest = [*p.kept, *p.pivots]
        variables = region.variables(p.leaf, "i")
        times = ([str(number)] if several else []) + [variables[k] for k in rest]
        times += ["0"] * (width - len(rest))
        timed.append(
            Timed(p.name, variables, p.piece.domain, p.piece.mapping, tuple(times))
        )
        here = set(used)
        inner = []
        clash = set(index)
        for k in rest:
            name = p.leaf.loops[k].loop.index
            inner.append(fresh(name, here) if name in clash else name)
        padding = ["_"] * (width - len(rest))
        names[p.name] = [*index, *(["_"] if several else []), *inner, *padding]
    if several and _uniform(parts):
        # Without it the loops would run over the exact union of the targets, whose
        # bounds are harder to read than the tests that the parts need anyway.
        box = box_around(space, parts, rank, width + 1)
        timed += box
        names |= {b.name: names[parts[0].name] for b in box}
    elif not several and _lattice(parts[0]):
        # Likewise: a test of divisibility is easier to read than the bounds and the
        # step of a loop over the multiples only.
        depth = rank + len(parts[0].kept)
        whole = relaxed(space, BOX, timed[0], depth)
        timed.append(_nothing(whole, depth, width - len(parts[0].kept)))
        names[BOX] = names[parts[0].name]

    block, skeleton = realise(
        region, timed, names, parts, axes, _claims(parts, axes), _divisible
    )
    return Gathered(_merge_tests(block), equations, skeleton)


def realise(
    region: Region,
    timed: Sequence[Timed],
    names: Mapping[str, Sequence[str]],
    parts: Sequence[Part],
    axes: Sequence[int],
    claims: Mapping[str, tuple[Leaf, tuple[Expr, ...]]],
    polish: Callable[[Block], Block] = lambda block: block,
) -> tuple[Block, Block]:
    """Loops that run `parts` at their times, and the same with markers for statements.

    `claims` says, per part, what its owned coordinates are in terms of its own loops;
    raises `NoGather` unless that is proven of every statement in the new loops.
    """
    outer = tuple(f.index for f in region.outer)
    skeleton = generate(region.space, timed, names, _marker, outer)
    if not writes_agree(skeleton, region, claims):
        raise NoGather("and no proof was found that its gather writes the same ones")
    by_name = {p.name: p for p in parts}

    def filled(stmts: Block) -> Block:
        result: list[Stmt] = []
        for s in stmts:
            match s:
                case For():
                    result.append(replace(s, body=filled(s.body)))
                case If():
                    then, orelse = filled(s.then), filled(s.orelse)
                    result.append(replace(s, then=then, orelse=orelse))
                case Assign(Load(name, args), Load(_, target)):
                    instance = Instance(name, args, target)
                    result += at_instance(region, by_name[name], axes, instance)
        return tuple(result)

    return filled(polish(skeleton)), skeleton


def _divisible(block: Block) -> Block:
    """Tests of divisibility name what is divided: ``(u - 2 * j) % 3 == 0``."""

    def whole(test: Expr, quotients: Sequence[Call]) -> Expr:
        match test:
            case Call("and", args):
                return replace(test, args=tuple(whole(a, quotients) for a in args))
            case Call("==", (Call("%", (rest, d)), zero)):
                for q in quotients:
                    apart = linear(q.args[0]).plus(linear(rest), -1)
                    factors = [k for _, k in apart.terms] + [apart.constant]
                    size = integer(d)
                    if q.args[1] == d and size and all(k % size == 0 for k in factors):
                        return Call("==", (Call("%", q.args), zero))
        return test

    result: list[Stmt] = []
    for s in block:
        match s:
            case For():
                s = replace(s, body=_divisible(s.body))
            case If():
                found = [
                    e
                    for inner in walk(s.then)
                    for top in exprs(inner)
                    for e in walk_expr(top)
                    if isinstance(e, Call) and e.op == "//"
                ]
                then, orelse = _divisible(s.then), _divisible(s.orelse)
                s = replace(s, test=whole(s.test, found), then=then, orelse=orelse)
        result.append(s)
    return tuple(result)


def _marker(instance: Instance) -> Block:
    """The instance as ``statement[variables] = element[subscripts]``."""
    if instance.name == BOX:
        return ()
    here, element = Load(instance.name, instance.args), Load("", instance.target)
    return (Assign(here, element),)


def box_around(
    space: Space, parts: Sequence[Part], rank: int, rest: int
) -> list[Timed]:
    """What does nothing in the box around the targets, if there is a bounded one."""
    targets = [(p.piece.domain, p.piece.mapping) for p in parts]
    whole = bounding_box(space, BOX, targets, rank)
    return [] if whole is None else [_nothing(whole, rank, rest)]


def _nothing(domain: str, rank: int, rest: int) -> Timed:
    """The statement that does nothing at each point of `domain`."""
    box = tuple(f"b{k}" for k in range(rank))
    names = ", ".join(box)
    return Timed(BOX, box, domain, f"{{ {BOX}[{names}] -> [{names}] }}", ("0",) * rest)


def _lattice(p: Part) -> bool:
    """Must a pivot be a whole quotient, or a value that its loop steps on?"""
    rows = p.piece.coefficients
    factor = any(all(abs(row[k]) != 1 for row in rows) for k in p.pivots)
    return factor or any(
        abs(integer(p.leaf.loops[k].loop.step) or 1) != 1 for k in p.pivots
    )


def _index_names(
    parts: Sequence[Part], axes: Sequence[int], used: set[str]
) -> tuple[list[str], tuple[str, ...]]:
    """A name per subscript: the user's where it is that index plus a number."""
    names: list[str] = []
    equations: list[str] = []
    new = iter(FRESH)
    for n, axis in enumerate(axes):
        moving = [
            p for p in parts if any(p.piece.coefficients[n]) or p.piece.divides[n]
        ]
        if not moving:
            names.append("_")
            continue
        own = {_shifted(p, n) for p in parts}
        kept = {p.leaf.loops[k].loop.index for p in parts for k in p.kept}
        name = next(iter(own)) if len(own) == 1 else None
        if name is not None and name in names:
            # The other subscript has the loop; this one follows it.
            names.append(fresh(name, used))
            continue
        if name is None or name in kept:
            name = fresh(next(new, "u"), used)
            texts = dict.fromkeys(
                expr_text(target_of(p.leaf).index[axis]) for p in moving
            )
            equations += [f"{name} = {t}" for t in texts]
        else:
            shifts = dict.fromkeys(p.piece.shifts[n] or 0 for p in parts)
            moved = [k for k in shifts if k]
            if moved:
                equations.append(
                    ", ".join(f"{name} {'+' if k > 0 else '-'} {abs(k)}" for k in moved)
                    + f" renamed to {name}"
                )
        names.append(name)
    return names, tuple(equations)


def _shifted(p: Part, n: int) -> str | None:
    """The loop index that subscript `n` is, up to a number added."""
    row = p.piece.coefficients[n]
    found = [k for k, c in enumerate(row) if c]
    if p.piece.divides[n] or p.piece.shifts[n] is None:
        return None
    if len(found) != 1 or row[found[0]] != 1:
        return None
    return p.leaf.loops[found[0]].loop.index


def at_instance(
    region: Region, p: Part, axes: Sequence[int], instance: Instance
) -> Block:
    """The leaf with its variables replaced by what they are at this point in time."""
    stmt = p.leaf.stmt
    assert isinstance(stmt, (Add, Assign))
    target = target_of(p.leaf)
    env = {
        at.loop.index: arg for at, arg in zip(p.leaf.loops, instance.args, strict=True)
    }
    owned = {
        linear_key(target.index[k]): instance.target[n] for n, k in enumerate(axes)
    }
    order = tuple(
        e.name for e in (*instance.target, *instance.args) if isinstance(e, Var)
    )
    move = _Mover(env, owned, tuple(dict.fromkeys(order)))
    index = list(map(move.subscript, target.index))
    for n, k in enumerate(axes):
        index[k] = instance.target[n]
    new: Stmt = replace(
        stmt, target=replace(target, index=tuple(index)), value=move.value(stmt.value)
    )
    for t in reversed(region.opaque_tests(p.leaf)):
        test = move.value(t.test)
        new = If(test if t.holds else Call("not", (test,)), (new,))
    return (new,)


def linear_key(e: Expr) -> tuple[frozenset[tuple[Expr, int]], int]:
    """Equal for subscripts that are the same linear form."""
    form = linear(e)
    return frozenset(form.terms), form.constant


class _Mover:
    """Rewrites expressions of a leaf for a new place in time."""

    def __init__(
        self,
        env: Mapping[str, Expr],
        owned: Mapping[tuple[frozenset[tuple[Expr, int]], int], Expr],
        order: Sequence[str],
    ) -> None:
        self.env, self.owned, self.order = env, owned, order

    def subscript(self, e: Expr) -> Expr:
        key = linear_key(e)
        if key in self.owned and not isinstance(e, Const):
            return self.owned[key]
        moved = self.value(e)
        return moved if moved == e else tidy(moved, self.order)

    def value(self, e: Expr) -> Expr:
        match e:
            case Load(_, index):
                return replace(e, index=tuple(map(self.subscript, index)))
            case Var(name):
                return self.env.get(name, e)
            case Call(_, args):
                moved = replace(e, args=tuple(map(self.value, args)))
                return self.comparison(e, moved)
            case _:
                return e

    def comparison(self, old: Call, new: Call) -> Expr:
        """A comparison of loop indices, folded; float arithmetic is never touched."""
        if new == old or not all(map(self.integral, old.args)):
            return new
        return tidy(new, self.order)

    def integral(self, e: Expr) -> bool:
        match e:
            case Const(value):
                return type(value) is int
            case Var(name):
                return name in self.env
            case Call("+" | "-" | "neg", args):
                return all(map(self.integral, args))
            case _:
                return isinstance(e, Extent)


def _merge_tests(block: Block) -> Block:
    """Neighbouring statements under one test become one block."""
    result: list[Stmt] = []
    for s in block:
        match s:
            case For():
                s = replace(s, body=_merge_tests(s.body))
            case If():
                s = replace(s, then=_merge_tests(s.then), orelse=_merge_tests(s.orelse))
        last = result[-1] if result else None
        if (
            isinstance(s, If)
            and isinstance(last, If)
            and s.test == last.test
            and not s.orelse
            and not last.orelse
        ):
            result[-1] = replace(last, then=_merge_tests((*last.then, *s.then)))
        else:
            result.append(s)
    return tuple(result)
