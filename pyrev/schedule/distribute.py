"""The readable form: every nest gathers if it can, and says why if it cannot.

A nest that is parallel as it stands keeps its structure. Otherwise it is distributed:
scatters become loops over what they write, the rest keeps the user's loops. What still
orders its iterations stays serial, and its body is scheduled in turn. Where the parts
would need arrays for what they share, or one of them stays serial, a reader is better
off with the loop in one piece.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pyrev.analysis.dependence import Leaf, Region, private_names
from pyrev.analysis.poly import known_numbers
from pyrev.ir.liveness import live_before, live_inside, with_live
from pyrev.ir.nodes import (
    Add,
    Alloc,
    Assign,
    Block,
    For,
    If,
    Load,
    Stmt,
    Var,
    While,
    exprs,
    names,
    walk,
    walk_expr,
)
from pyrev.schedule.chosen_iterations import chosen_iteration
from pyrev.schedule.costs import SHIPPED, Costs
from pyrev.schedule.gather import Gathered, NoGather, axes, gather
from pyrev.schedule.groups import Group, distribute, merge
from pyrev.schedule.legality import (
    forward,
    free_order,
    parallelise,
    prove_parallel,
    races,
)
from pyrev.schedule.report import Decision, Kind
from pyrev.schedule.scalars import inline_integers, part

DtypeOf = Callable[[str], str]


def _float64(name: str) -> str:
    return "float64"


def schedule_readable(
    block: Block,
    taken: frozenset[str],
    live_out: frozenset[str],
    dtype_of: DtypeOf = _float64,
    costs: Costs = SHIPPED,
) -> tuple[Block, tuple[Decision, ...]]:
    """`block` with its nests turned into gathers where that is proven, and the reasons.

    Law: for all inputs the names in `live_out` end up with the same values, up to the
    order in which increments of one element are added. `taken` are names that new ones
    must not take; `dtype_of` tells the dtype of a scalar that becomes an array. It does
    not tile, privatise or reorder for speed.

    >>> from pyrev.parse import parse_block
    >>> from pyrev.ir.text import block_text, proof_text
    >>> nest = parse_block('''
    ... for x in reversed(range(n)):
    ...     for r in reversed(range(m)):
    ...         d_a[x + r] += d_b[x] * w[r]
    ... ''')
    >>> block, (decision,) = schedule_readable(nest, frozenset(), frozenset({"d_a"}))
    >>> print(block_text(block))
    for u in range(n + m - 1):  # gather: u = x + r
        for r in range(max(0, u - n + 1), min(m, u + 1)):
            d_a[u] += d_b[u - r] * w[r]
    >>> proof_text(decision.proof)
    'no two iterations of u write the same element of d_a: [u]'
    """
    scheduler = _Text(taken, known_numbers(block), dtype_of, costs)
    result = scheduler.block(block, (), live_out)
    return result, tuple(scheduler.decisions)


class Readable:
    """Distribution and gathers, for schedulers that choose forms for the parts."""

    def __init__(
        self,
        taken: frozenset[str],
        integers: frozenset[str],
        dtype_of: DtypeOf,
        costs: Costs,
    ) -> None:
        self.taken = taken
        self.integers = integers
        self.dtype_of = dtype_of
        self.costs = costs
        self.decisions: list[Decision] = []

    def block(
        self, stmts: Block, outer: tuple[For, ...], live_out: frozenset[str]
    ) -> Block:
        result: list[Stmt] = []
        for s, live in with_live(stmts, live_out):
            match s:
                case For():
                    result += self.nest(s, outer, live)
                case If():
                    then = self.block(s.then, outer, live)
                    orelse = self.block(s.orelse, outer, live)
                    result.append(replace(s, then=then, orelse=orelse))
                case While():
                    again = live | live_before((s,), live)
                    result.append(replace(s, body=self.block(s.body, outer, again)))
                case _:
                    result.append(s)
        return tuple(result)

    def nest(self, loop: For, outer: tuple[For, ...], live: frozenset[str]) -> Block:
        if (once := self.once(loop, live)) is not None:
            return self.block(once, outer, live)
        kept = parallelise(loop, outer, live, self.integers)
        if kept.parallel:
            again = forward(kept, outer, live, self.integers)
            return self.kept(again, outer, live)
        made, parted, groups = self.distributed(loop, outer, live)
        whole = self.whole(loop, made, groups, outer, live)
        if whole is not None:
            return whole
        self.taken |= {a.array for a in made}
        result: list[Stmt] = list(made)
        for group, parallel in self.merged(parted, groups, outer, live):
            result += self.group(group, parallel, outer, live)
        return tuple(result)

    def once(self, loop: For, live: frozenset[str]) -> Block | None:
        """The only iteration of `loop` that does anything, if there is such a one."""
        if loop.index in live:
            return None
        return chosen_iteration(loop, self.integers)

    def whole(
        self,
        loop: For,
        made: tuple[Alloc, ...],
        groups: tuple[Group, ...],
        outer: tuple[For, ...],
        live: frozenset[str],
    ) -> Block | None:
        """The loop in one piece, where that is better than in these groups."""
        return None

    def distributed(
        self, loop: For, outer: tuple[For, ...], live: frozenset[str]
    ) -> tuple[tuple[Alloc, ...], For, tuple[Group, ...]]:
        """The groups of `loop`, the loop that they make up, and arrays for its scalars.

        Scalars that keep scatters and sums among other statements are resolved where
        that sets the scatter free, and only there.
        """
        ordered = not free_order(loop, outer, live, self.integers)
        plain = inline_integers(loop, outer, live, self.integers)
        stuck: frozenset[str] = frozenset()
        while not ordered:
            chosen = stuck

            def wanted(
                region: Region, stuck: frozenset[str] = chosen
            ) -> frozenset[int]:
                return self.wanted(region, stuck)

            made, parted = part(
                plain,
                wanted,
                outer,
                live,
                self.integers,
                self.taken,
                self.dtype_of,
                self.costs,
            )
            groups = distribute(parted, outer, live, self.integers)
            held = self.held(groups, self.wanted_targets(parted, outer, live, stuck))
            if not held:
                if len(groups) > 1 or groups[0].target is not None:
                    return made, parted, groups
                break
            stuck |= held
        # Where the order stays whatever is taken out, arrays would only take memory.
        groups = distribute(plain, outer, live, self.integers)
        if len(groups) > 1 or groups[0].target is not None:
            return (), plain, groups
        return (), loop, distribute(loop, outer, live, self.integers)

    def wanted_targets(
        self,
        loop: For,
        outer: tuple[For, ...],
        live: frozenset[str],
        stuck: frozenset[str],
    ) -> frozenset[str]:
        region = Region((loop,), live, outer, self.integers)
        numbers = self.wanted(region, stuck)
        return frozenset(
            leaf.stmt.target_name
            for leaf in region.leaves
            if leaf.number in numbers and isinstance(leaf.stmt, Add)
        )

    def held(
        self, groups: tuple[Group, ...], targets: frozenset[str]
    ) -> frozenset[str]:
        """The targets whose increments are still in one group with other statements."""
        return targets & {
            leaf.stmt.target_name
            for g in groups
            if g.target is None
            for leaf in g.leaves
            if isinstance(leaf.stmt, Add)
        }

    def wanted(self, region: Region, stuck: frozenset[str]) -> frozenset[int]:
        """The increments that need a loop of their own: scatters and sums."""
        found: set[int] = set()
        by_target: dict[str, list[Leaf]] = {}
        for leaf in region.leaves:
            if isinstance(leaf.stmt, Add) and not region.private_depth(
                leaf, leaf.stmt.target_name
            ):
                by_target.setdefault(leaf.stmt.target_name, []).append(leaf)
        for target, leaves in by_target.items():
            if target not in stuck and self.turns(region, leaves):
                found |= {leaf.number for leaf in leaves}
        return frozenset(found)

    def turns(self, region: Region, leaves: list[Leaf]) -> bool:
        """Is this a sum, or a scatter that can become a gather and has to?"""
        stmt = leaves[0].stmt
        assert isinstance(stmt, Add)
        if isinstance(stmt.target, Var):
            return True
        if not all(map(region.exact, leaves)) or not axes(region, leaves):
            return False
        return races(region, leaves)

    def merged(
        self,
        loop: For,
        groups: tuple[Group, ...],
        outer: tuple[For, ...],
        live: frozenset[str],
    ) -> list[tuple[Group, bool | None]]:
        """Neighbours that no gather needs apart, together again.

        Each with the answer to "parallel as it stands?", None for a true scatter.
        """
        result: list[tuple[Group, bool | None]] = []
        for g in groups:
            parallel = self.parallel(g, outer, live)
            kind = None if g.target is not None and not parallel else parallel
            if result and kind is not None and kind == result[-1][1]:
                both = merge(loop, (result[-1][0], g))
                if not kind or self.parallel(both, outer, live):
                    result[-1] = (both, kind)
                    continue
            result.append((g, kind))
        return result

    def parallel(self, g: Group, outer: tuple[For, ...], live: frozenset[str]) -> bool:
        (loop,) = g.nest
        assert isinstance(loop, For)
        return prove_parallel(loop, outer, live | g.shared, self.integers) is not None

    def group(
        self,
        g: Group,
        parallel: bool | None,
        outer: tuple[For, ...],
        live: frozenset[str],
    ) -> Block:
        (loop,) = g.nest
        assert isinstance(loop, For)
        once = self.once(loop, live)
        live = live | g.shared
        if once is not None:
            return self.block(once, outer, live)
        loop = forward(loop, outer, live, self.integers)
        if parallel:
            loop = parallelise(loop, outer, live, self.integers)
            return self.kept(loop, outer, live)
        if g.target is None:
            return self.serial(loop, outer, live, self.why(loop, outer, live))
        stmt = g.leaves[0].stmt
        if isinstance(stmt, Add) and isinstance(stmt.target, Var):
            return self.reduction(loop, g, outer, live)
        return self.scatter(loop, g, outer, live)

    def reduction(
        self, loop: For, g: Group, outer: tuple[For, ...], live: frozenset[str]
    ) -> Block:
        target = g.target or ""
        reason = f"{target} is one number: its terms are added in order"
        self.decisions.append(
            Decision(loop.index, target, "reduction", reason, loc=loop.loc)
        )
        return (loop,)

    def scatter(
        self, loop: For, g: Group, outer: tuple[For, ...], live: frozenset[str]
    ) -> Block:
        assert g.target is not None
        region = Region(g.nest, live, outer, self.integers)
        try:
            found = gather(region, region.leaves, self.taken)
        except NoGather as why:
            reason = f"two iterations may write the same element of {g.target}, {why}"
            return self.serial(loop, outer, live, reason)
        result: list[Stmt] = []
        for one in found:
            result += self.proven(one, loop, g.target, outer, live)
        return tuple(result)

    def proven(
        self,
        found: Gathered,
        loop: For,
        target: str,
        outer: tuple[For, ...],
        live: frozenset[str],
    ) -> Block:
        """Gathered loops, each outermost one with its proof."""
        note = "; ".join(found.equations)

        def prove(stmts: Block) -> Block:
            result: list[Stmt] = []
            for s in stmts:
                match s:
                    case For():
                        s = parallelise(s, outer, live, self.integers)
                        s = replace(s, loc=loop.loc)
                        if note:
                            s = replace(s, note=f"gather: {note}")
                        kind: Kind = "gather" if s.parallel else "reduction"
                        own = note or f"{s.index} and the loops in it own {target}"
                        self.decisions.append(
                            Decision(s.index, target, kind, own, s.parallel, loop.loc)
                        )
                    case If():
                        s = replace(s, then=prove(s.then), orelse=prove(s.orelse))
                result.append(s)
            return tuple(result)

        return prove(found.block)

    def serial(
        self, loop: For, outer: tuple[For, ...], live: frozenset[str], reason: str
    ) -> Block:
        kept = self.told(loop, reason)
        if self.descends(loop, outer, live):
            body = self.block(loop.body, (*outer, loop), live_inside(loop, live))
            kept = replace(kept, body=body)
        return (kept,)

    def told(self, loop: For, reason: str, kind: Kind = "serial") -> For:
        """`loop` with the reason why it is serial, which is reported too."""
        targets = _targets((loop,)) or ("",)
        for array in targets if kind == "reduction" else targets[:1]:
            self.decisions.append(
                Decision(loop.index, array, kind, reason, loc=loop.loc)
            )
        return replace(loop, note=loop.note or f"serial: {reason}")

    def descends(self, loop: For, outer: tuple[For, ...], live: frozenset[str]) -> bool:
        """Is the body of a serial loop worth a schedule of its own?

        Where increments meet, what is inside them is no easier to read for it.
        """
        inner = any(isinstance(s, For) for s in walk(loop.body))
        return inner and not free_order(loop, outer, live, self.integers)

    def why(self, loop: For, outer: tuple[For, ...], live: frozenset[str]) -> str:
        """Why the iterations of `loop` cannot run apart, naming one array."""
        for made in walk(loop.body):
            if isinstance(made, Alloc) and made.opaque is not None:
                return f"{made.opaque.function} runs as it is, one call after another"
        region = Region((loop,), live, outer, self.integers)
        private = private_names(loop, live)
        if free_order(loop, outer, live, self.integers):
            shared: dict[str, list[Leaf]] = {}
            for s in region.leaves:
                if isinstance(s.stmt, Add) and s.stmt.target_name not in private:
                    shared.setdefault(s.stmt.target_name, []).append(s)
            met = [name for name, leaves in shared.items() if races(region, leaves)]
            return (
                f"two iterations of {loop.index} may write the same element of "
                f"{', '.join(met)}"
            )
        for s in region.leaves:
            for t in region.partners(s):
                for a, b in region.dependences(s, t, apart=True):
                    if a.depth > 0 and b.depth > 0 and a.name not in private:
                        verb = "reads" if b.kind == "read" else "overwrites"
                        done = "reads" if a.kind == "read" else "writes"
                        return (
                            f"an iteration of {loop.index} {verb} what an earlier one "
                            f"{done} in {a.name}"
                        )
        return f"the iterations of {loop.index} depend on each other"

    def kept(self, loop: For, outer: tuple[For, ...], live: frozenset[str]) -> Block:
        """A nest that is parallel as it stands."""
        self.report_kept(loop)
        return (loop,)

    def report_kept(self, loop: For) -> None:
        for array in _targets((loop,)):
            self.decisions.append(
                Decision(
                    loop.index,
                    array,
                    "kept",
                    "every iteration writes elements of its own",
                    loop.parallel,
                    loop.loc,
                )
            )


class _Text(Readable):
    """For a reader: the loop where it is shorter than its parts, and they serial; parts
    that have the same loops, if in another order, are one nest.
    """

    def once(self, loop: For, live: frozenset[str]) -> Block | None:
        return None  # the user's loop, and its test

    def nest(self, loop: For, outer: tuple[For, ...], live: frozenset[str]) -> Block:
        told, taken = len(self.decisions), self.taken
        parted = super().nest(loop, outer, live)
        own = {s.array for s in walk((loop,)) if isinstance(s, Alloc)}
        made = [
            s.array for s in walk(parted) if isinstance(s, Alloc) and s.array not in own
        ]
        kinds = {d.kind for d in self.decisions[told:]}
        serial = "serial" in kinds or ("reduction" in kinds and "gather" not in kinds)
        if not made and (len(parted) == 1 or not serial):
            return parted
        whole = forward(loop, outer, live, self.integers)
        if _length(parted) <= _length((whole,)):
            return parted
        del self.decisions[told:]
        self.taken = taken
        reason = self.why(whole, outer, live)
        if made:
            reason += f", and its parts would need {', '.join(made)}"
        return self.serial(whole, outer, live, reason)

    def merged(
        self,
        loop: For,
        groups: tuple[Group, ...],
        outer: tuple[For, ...],
        live: frozenset[str],
    ) -> list[tuple[Group, bool | None]]:
        result: list[tuple[Group, bool | None]] = []
        for g, kind in super().merged(loop, groups, outer, live):
            before, other = result[-1] if result else (None, None)
            if (
                before is not None
                and _keeps_loops(before, other)
                and _keeps_loops(g, kind)
            ):
                both = merge(loop, (before, g))
                if _length(both.nest) < _length(before.nest) + _length(g.nest):
                    result[-1] = both, self.parallel(both, outer, live) or None
                    continue
            result.append((g, kind))
        return result

    def group(
        self,
        g: Group,
        parallel: bool | None,
        outer: tuple[For, ...],
        live: frozenset[str],
    ) -> Block:
        if parallel is not None or g.target is not None:
            return super().group(g, parallel, outer, live)
        (loop,) = g.nest
        assert isinstance(loop, For)
        live = live | g.shared
        loop = forward(loop, outer, live, self.integers)
        return (self.told(loop, self.why(loop, outer, live), "reduction"),)


def _keeps_loops(g: Group, parallel: bool | None) -> bool:
    """Are its loops those that it had, even if it is turned round?

    `parallel` is false for what stays serial, and None for a scatter and for parts that
    were put together already.
    """
    if parallel is not None:
        return parallel
    if g.target is None:
        return True
    for leaf in g.leaves:
        indices = {at.loop.index for at in leaf.loops}
        target = leaf.stmt.target if isinstance(leaf.stmt, (Assign, Add)) else None
        own = target.index if isinstance(target, Load) else ()
        moving = [e for e in own if not indices.isdisjoint(names(e))]
        if len({*moving}) < len(moving) or not all(isinstance(e, Var) for e in moving):
            return False
    return True


def _length(block: Block) -> int:
    """How much there is to read, in names and operations."""
    return sum(
        1 + sum(1 for top in exprs(s) for _ in walk_expr(top)) for s in walk(block)
    )


def _targets(block: Block) -> tuple[str, ...]:
    """The arrays and scalars that a block writes, in order."""
    found: dict[str, None] = {}
    for s in walk(block):
        match s:
            case Assign(Load(name, _), _) | Add(Load(name, _), _) | Alloc(name):
                found[name] = None
            case Add(Var(name), _):
                found[name] = None
    return tuple(found)
