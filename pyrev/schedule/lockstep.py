"""Which loops of a nest are axes of whole arrays: their iterations run in lockstep.

In lockstep a statement runs for all iterations before the next one does, and reads all
that it reads before it writes anything. That is what a statement about whole arrays
does. A loop that is no axis stays a loop, and a statement in it runs for all iterations
of the axes around.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from pyrev.analysis.dependence import Access, Leaf, Region, conjuncts
from pyrev.analysis.poly import conj
from pyrev.ir.affine import integer, linear
from pyrev.ir.liveness import occurs
from pyrev.ir.nodes import (
    Add,
    Alloc,
    Assign,
    Block,
    Call,
    Check,
    Expr,
    For,
    Grow,
    If,
    Load,
    Return,
    Stmt,
    Tell,
    Var,
    While,
    assignments,
    blocks,
    children,
    exprs,
    loop_indices,
    names,
    rebuild,
    walk,
    walk_expr,
    with_blocks,
    with_value,
    written,
)
from pyrev.schedule.scalars import inline_integers


@dataclass(frozen=True)
class Nest:
    """A nest whose loops with the numbers in `axes` run in lockstep; its own is one."""

    loop: For
    region: Region
    axes: frozenset[int]


@dataclass(frozen=True)
class Serial:
    """A loop whose iterations run one after the other, and why."""

    loop: For
    why: str


def lockstep(
    loop: For,
    outer: tuple[For, ...],
    live: frozenset[str],
    integers: frozenset[str],
) -> Nest | Serial:
    """The loops of `loop` that may run in lockstep, as many as there can be.

    Law: for loops in lockstep every element has the value that it has in the order of
    the text, up to the order of increments of one element. `live` are the names that
    are read behind the loop.
    """
    made = _made_inside(loop)
    if made is not None:
        return Serial(loop, made)
    loop = _spelled_out(loop, live)
    found: Nest | Serial = Serial(loop, "")
    for affine in (True, False):
        plain = inline_integers(loop, outer, live, integers, affine)
        body = IndexTests.of(plain).parted(plain.body)
        # A statement is known by its identity: no two may be one.
        plain = replace(plain, body=_again(body))
        region = Region((plain,), live, outer, integers)
        found = _Chooser(region, live).chosen(plain)
        if isinstance(found, Nest):
            break
    return found


def _made_inside(loop: For) -> str | None:
    """Why the iterations of `loop` can't be side by side, whatever they touch."""
    for s in walk(loop.body):
        match s:
            case While():
                return "it contains a `while` or a `break`"
            case Alloc(array) | Grow(array):
                return f"each iteration makes an array, `{array}`"
            case Check() | Return():
                return "an iteration may leave it"
            case Tell():
                return "each iteration calls a function"
    return None


# ------------------------------------------------------------------ products


def _spelled_out(loop: For, live: frozenset[str]) -> For:
    """`loop` with products of elements written out in the sums that they are part of.

    As arrays they would have more axes than any of their factors: `d[i, j] * b[k, j]`
    is one for each `i`, `j` and `k`, and in a sum a product of matrices.
    """
    times = assignments(loop.body)
    once = frozenset(n for n in times if times[n] == 1) - live
    return replace(loop, body=_products(loop.body, once, loop_indices((loop,)), loop))


def _products(
    block: Block, once: frozenset[str], indices: frozenset[str], loop: For
) -> Block:
    """`block` with the products in it written out, of the scalars in `once`."""
    found: list[Stmt] = []
    rest = block
    while rest:
        s, *behind = rest
        rest = tuple(behind)
        match s:
            case Assign(Var(name), value) if name in once:
                parts = [
                    names(f) & indices for f in _factors(value) if isinstance(f, Load)
                ]
                wide = frozenset().union(*parts)
                if len(parts) > 1 and all(p < wide for p in parts):
                    last = max(
                        (k for k, t in enumerate(rest) if occurs((t,), name)),
                        default=-1,
                    )
                    steady = not names(value) & written(rest[: last + 1])
                    if steady and _only_a_factor(loop, rest, name):
                        rest = with_value(rest, name, value)
                        continue
        inner = tuple(_products(b, once, indices, loop) for b in blocks(s))
        found.append(with_blocks(s, inner))
    return tuple(found)


def _factors(e: Expr) -> tuple[Expr, ...]:
    match e:
        case Call("neg", (x,)):
            return _factors(x)
        case Call("*", args):
            return tuple(f for a in args for f in _factors(a))
    return (e,)


def _only_a_factor(loop: For, rest: Block, name: str) -> bool:
    """Is a scalar read in increments of `rest` alone, as a factor of what is added?"""
    every = sum(
        e == Var(name)
        for s in walk(loop.body)
        for top in exprs(s)
        for e in walk_expr(top)
    )
    added = sum(
        f == Var(name)
        for s in walk(rest)
        if isinstance(s, Add)
        for f in _factors(s.value)
    )
    return every == added + 1


# ------------------------------------------------------------------ tests of indices


@dataclass(frozen=True)
class IndexTests:
    """Tests of loop indices and sizes alone, in a nest."""

    indices: frozenset[str]
    #: What the nest changes beside its indices.
    changing: frozenset[str]

    @classmethod
    def of(cls, nest: For) -> IndexTests:
        """The tests of a nest."""
        indices = loop_indices((nest,))
        return cls(indices, written((nest,)) - indices)

    def holds(self, test: Expr) -> bool:
        """Is `test` one?"""
        found = names(test)
        return (
            bool(found & self.indices)
            and not found & self.changing
            and not any(isinstance(e, Load) for e in walk_expr(test))
        )

    def parted(self, block: Block) -> Block:
        """`block` with one such test in each `if`, and none inside what is stored.

        What is read for some indices alone is then read for those alone.
        """
        return tuple(chain.from_iterable(map(self._parts, block)))

    def _parts(self, s: Stmt) -> Iterator[Stmt]:
        match s:
            case If(_, (*then, last), (*orelse, same)) if last == same:
                if then or orelse:
                    yield from self._parts(_either(s, then, orelse))
                yield from self._parts(last)
            case If(test, (Assign() as one,), (Assign() as two,)) if (
                one.target == two.target and not self.holds(test)
            ):
                value = Call("where", (test, one.value, two.value))
                yield replace(one, value=value)
            case If(Call("and", _) as test, then, orelse) if any(
                map(self.holds, conjuncts(test))
            ):
                first, *rest = conjuncts(test)
                for e in reversed(rest):
                    then = (replace(s, test=e, then=then, orelse=_again(orelse)),)
                yield from self._parts(replace(s, test=first, then=then))
            case Assign(target, Call("+" | "-" as op, (first, value))) if (
                first == target
            ):
                added = value if op == "+" else Call("neg", (value,))
                yield from self._parts(Add(target, added, loc=s.loc))
            case Assign() | Add():
                found = self._choice(s.value)
                if found is None:
                    yield s
                    return
                test, yes, no = found
                then = self.parted((replace(s, value=yes),))
                orelse = self.parted((replace(s, value=no),))
                yield from self._parts(If(test, then, orelse, loc=s.loc))
            case _:
                yield with_blocks(s, tuple(map(self.parted, blocks(s))))

    def _choice(self, e: Expr) -> tuple[Expr, Expr, Expr] | None:
        """A test in `e` that decides what is read, and `e` for both answers."""
        match e:
            case Call("where", (test, yes, no)) if self.holds(test) and any(
                isinstance(p, Load) for b in (yes, no) for p in walk_expr(b)
            ):
                return test, yes, no
            case Load():
                return None
        parts = children(e)
        for k, part in enumerate(parts):
            found = self._choice(part)
            if found is not None:
                test, yes, no = found
                one, two = ((*parts[:k], b, *parts[k + 1 :]) for b in (yes, no))
                return test, rebuild(e, one), rebuild(e, two)
        return None


def _either(s: If, then: Sequence[Stmt], orelse: Sequence[Stmt]) -> If:
    """`s` with other branches, of which one is not empty."""
    if then:
        return replace(s, then=tuple(then), orelse=tuple(orelse))
    test = Call("not", (s.test,))
    return replace(s, test=test, then=tuple(orelse), orelse=())


def _again(block: Block) -> Block:
    """The same statements as other objects."""
    return tuple(replace(with_blocks(s, tuple(map(_again, blocks(s))))) for s in block)


# ------------------------------------------------------------------ the choice


class _Chooser:
    """Chooses the loops of one region that run in lockstep."""

    def __init__(self, region: Region, live: frozenset[str]) -> None:
        self.region, self.live = region, live
        self.loops = {at.number: at.loop for s in region.leaves for at in s.loops}
        self.around: dict[int, tuple[int, ...]] = {}
        for s in region.leaves:
            numbers = tuple(at.number for at in s.loops)
            for k, n in enumerate(numbers):
                self.around[n] = numbers[: k + 1]

    def chosen(self, loop: For) -> Nest | Serial:
        """The axes of the nest of `loop`."""
        if not self.loops:
            return Serial(loop, "it does nothing")
        top = min(self.loops)
        for inner in self.loops.values():
            if inner.index in self.live:
                return Serial(loop, f"`{inner.index}` is read behind it")
        found = self.conflict(frozenset({top}))
        if found is not None:
            return Serial(loop, _carried(*found))
        axes = frozenset(self.loops)
        while top in axes:
            unfit = self.unfit(axes)
            if unfit is None:
                found = self.conflict(axes)
                if found is None:
                    return Nest(loop, self.region, axes)
                unfit = self.giving_way(axes - {top}, *found), _carried(*found)
            number, why = unfit
            axes -= {number}
        return Serial(loop, why)

    def giving_way(
        self, axes: frozenset[int], s: Leaf, a: Access, t: Leaf, b: Access
    ) -> int:
        """The innermost axis around two accesses in conflict, or else any other."""
        inside = [at.number for at in (*s.loops, *t.loops) if at.number in axes]
        common = self.region.common(s, t)
        shared = [at.number for at in s.loops[:common] if at.number in axes]
        return max(shared or inside or axes or {min(self.loops)})

    # ---------------------------------------------------------------- fitness

    def unfit(self, axes: frozenset[int]) -> tuple[int, str] | None:
        """An axis that arrays can't have beside the others, and why."""
        for n, around in self.around.items():
            loop = self.loops[n]
            read = names(loop.lo) | names(loop.hi) | names(loop.step)
            for m in around[:-1]:
                own = {self.loops[m].index} | written(self.loops[m].body)
                if m in axes and read & own:
                    return m, f"the range of `{loop.index}` in it changes"
        for s in self.region.leaves:
            at = {f.loop.index: f.number for f in s.loops if f.number in axes}
            for k in self.subscripts(s):
                met = names(k) & at.keys()
                if len(met) > 1 and not any(isinstance(e, Load) for e in walk_expr(k)):
                    number = self.yields(k, {at[n] for n in met})
                    return number, "its index meets another one in a subscript"
        return None

    def subscripts(self, s: Leaf) -> Iterator[Expr]:
        """The subscripts in a leaf, and the integer that it may find for others."""
        for a in s.accesses:
            yield from a.index or ()
        match s.stmt:
            case Assign(Var(name), value) if name in self.region.space.integers:
                yield value

    def yields(self, subscript: Expr, met: set[int]) -> int:
        """Which of the loops whose indices meet in a subscript stays a loop."""
        form = linear(subscript)

        def rank(n: int) -> tuple[bool, bool, bool, int]:
            loop = self.loops[n]
            scaled = form.coefficient(Var(loop.index)) == 0
            short = integer(loop.lo) is not None and integer(loop.hi) is not None
            summed = loop.index not in self.owners()
            return scaled, short, summed, n

        return max(met, key=rank)

    def owners(self) -> frozenset[str]:
        """The indices by which every write tells its elements apart."""
        targets = [
            s.stmt.target
            for s in self.region.leaves
            if isinstance(s.stmt, (Assign, Add)) and isinstance(s.stmt.target, Load)
        ]
        alone = [{k.name for k in t.index if isinstance(k, Var)} for t in targets]
        return frozenset.intersection(*map(frozenset, alone)) if alone else frozenset()

    # ---------------------------------------------------------------- legality

    def conflict(
        self, axes: frozenset[int]
    ) -> tuple[Leaf, Access, Leaf, Access] | None:
        """Two accesses that come in the wrong order if `axes` run in lockstep."""
        region = self.region
        for s in region.leaves:
            for t in region.partners(s):
                for a, b in region.conflicts(s, t):
                    wrong = self.disorder(s, a, t, b, axes)
                    ways = region.before(s, a, t, b) if wrong else ()
                    same = region.same_element(s, a, t, b) if ways else None
                    if same is not None and any(
                        region.possible(s, t, conj((way, same, w)))
                        for way in ways
                        for w in wrong
                    ):
                        return s, a, t, b
        return None

    def disorder(
        self, s: Leaf, a: Access, t: Leaf, b: Access, axes: frozenset[int]
    ) -> tuple[str, ...]:
        """Formulas, one per way in which `a`, which came first, no longer does."""
        shared = min(self.region.common(s, t), a.depth, b.depth)
        ways: list[str] = []
        equal: list[str] = []
        for k in range(shared):
            at = s.loops[k]
            if at.number in axes:
                continue
            step = integer(at.loop.step)
            if step is None:
                ways.append(conj((*equal, f"a{k} != b{k}")))
            else:
                less = "<" if (step > 0) != at.loop.reverse else ">"
                ways.append(conj((*equal, f"b{k} {less} a{k}")))
            equal.append(f"a{k} = b{k}")
        together = a.number == b.number and not (a.kind == "read" != b.kind)
        if b.number < a.number or together:
            ways.append(conj(equal))
        return tuple(ways)


def _carried(s: Leaf, a: Access, t: Leaf, b: Access) -> str:
    """What keeps two accesses in their order, in words."""
    match a.kind, b.kind:
        case "read", _:
            what = "an iteration overwrites what an earlier one reads in"
        case _, "read":
            what = "it carries a value from one iteration to the next through"
        case _:
            what = "two iterations write the same element of"
    return f"{what} `{a.name}`"


def runs_over_elements(loop: For | While) -> bool:
    """Does an iteration of `loop` have elements of arrays of its own?"""
    changing = written(loop.body) | ({loop.index} if loop.index else set())
    return any(
        isinstance(e, Load) and any(names(k) & changing for k in e.index)
        for s in walk((loop,))
        for top in exprs(s)
        for e in walk_expr(top)
    )
