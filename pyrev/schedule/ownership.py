"""The CPU's form: rows and blocks that own what they write, contiguous loops innermost.

Element gathers are what a reader wants and the slowest thing a CPU can run. Here only
the outermost coordinates of a target get loops of their own (rows; for one axis, blocks
of elements); below them the user's loops stay, with the one that walks memory
innermost. Small targets are summed in private copies, over a fixed number of chunks of
the outermost loop, combined in order: the number of threads never changes a bit.

Here is the policy: which form a nest gets, by costs and sizes. `row_owners`,
`private_copies` and `contiguous` make the forms; every loop is proved by `legality` as
it was made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pyrev.analysis.array_shapes import of_arguments
from pyrev.analysis.dependence import Leaf, Region
from pyrev.analysis.loop_trees import Unknown
from pyrev.analysis.poly import known_numbers
from pyrev.ir.liveness import live_inside, with_live
from pyrev.ir.nodes import (
    ONE,
    ZERO,
    Add,
    Alloc,
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
    all_names,
    fresh,
    names,
    walk,
    written,
)
from pyrev.ir.trip_counts import trip_count
from pyrev.schedule.contiguous import gathers, pushed, sink, walks_memory
from pyrev.schedule.costs import Costs
from pyrev.schedule.distribute import DtypeOf, Readable
from pyrev.schedule.expand import Own
from pyrev.schedule.gather import NoGather
from pyrev.schedule.groups import Group
from pyrev.schedule.invariant import once_for_several
from pyrev.schedule.legality import (
    chunk_ends,
    forward,
    parallelise,
    parallelise_chunks,
    prove_parallel,
    races,
)
from pyrev.schedule.outer_vectors import Side, in_lanes
from pyrev.schedule.private_copies import PrivateCopy, chunk_count, renamed_target
from pyrev.schedule.report import Decision
from pyrev.schedule.row_owners import Owners
from pyrev.schedule.work import Choose, operations, product

LITTLE = "too little work to start other cores"


def schedule_cpu(
    block: Block,
    taken: frozenset[str],
    live_out: frozenset[str],
    dtype_of: DtypeOf,
    choose: Choose,
    costs: Costs,
    own: Own = lambda name: "",
) -> tuple[Block, tuple[Decision, ...]]:
    """`block` scheduled for CPU cores.

    Law: as for `schedule_readable`; besides, results do not depend on the number of
    threads. `choose(count, least)` says whether there are so many of something;
    None if that is not known yet.
    """
    scheduler = _Cpu(taken, block, dtype_of, choose, costs, own)
    result = scheduler.block(block, (), live_out)
    return result, tuple(scheduler.decisions)


class _Cpu(Readable):
    """The readable form's distribution, with other forms for its parts."""

    def __init__(
        self,
        taken: frozenset[str],
        block: Block,
        dtype_of: DtypeOf,
        choose: Choose,
        costs: Costs,
        own: Own,
    ) -> None:
        super().__init__(taken, known_numbers(block), dtype_of, costs)
        self.choose, self.own, self.cpu = choose, own, costs.cpu
        self.used = set(taken) | set(all_names(block))
        self.shapes = {s.array: s.shape for s in walk(block) if isinstance(s, Alloc)}

    # ---------------------------------------------------------------- kept nests

    def nest(self, loop: For, outer: tuple[For, ...], live: frozenset[str]) -> Block:
        """As it is written, serially, if other cores would start too late to help."""
        if not self.little(loop, outer):
            return super().nest(loop, outer, live)
        return (self.told(forward(loop, outer, live, self.integers), LITTLE),)

    def little(self, loop: For, outer: tuple[For, ...]) -> bool:
        """Is `loop` known to be done before all cores have started?"""
        total = operations(loop, self.costs, outer)
        if total is None:
            return False
        least = self.cpu.parallel_operations
        return self.choose(of_arguments(total, self.shapes), least) is False

    def kept(self, loop: For, outer: tuple[For, ...], live: frozenset[str]) -> Block:
        """The form of a nest that is parallel as it stands. The first that applies:

        - rows, if it only increments one array and nothing in it depends on anything;
        - outer-loop vectorisation, where the inner loops cannot be vectorised;
        - the loop that walks memory innermost, after rows for what is invariant in one
          of the loops, if that is worth them.
        """
        scatter = self.one_scatter(loop, outer, live)
        if scatter is not None:
            return scatter
        side = self.lanes(loop, outer, live)
        if side is not None:
            apart = parallelise(side.loop, outer, live, self.integers)
            if apart.parallel:
                self.report_kept(apart)
                return (side.named(apart),)
        shared = once_for_several(
            loop,
            outer,
            live,
            self.integers,
            self.used,
            self.dtype_of,
            self.own,
            self.cpu,
        )
        if shared is not None:
            proven = parallelise(shared, outer, live, self.integers)
            loop = proven if proven.parallel else loop
        inner = self.inward(loop.body, (*outer, loop), live_inside(loop, live))
        changed = replace(loop, body=self.collapsible(inner, loop, outer, live))
        proven = parallelise(changed, outer, live, self.integers)
        if not proven.parallel:
            proven = loop
        self.report_kept(proven)
        return (proven,)

    def lanes(
        self,
        loop: For,
        outer: tuple[For, ...],
        live: frozenset[str],
        trips: Expr | None = None,
    ) -> Side | None:
        """`loop` vectorised across its iterations, if that is possible and pays."""
        return in_lanes(
            loop,
            outer,
            live,
            self.integers,
            self.used,
            self.dtype_of,
            self.own,
            self.choose,
            self.cpu,
            trips,
        )

    def one_scatter(
        self, loop: For, outer: tuple[For, ...], live: frozenset[str]
    ) -> Block | None:
        """Rows, if the nest does nothing but increment one array; else None."""
        region = Region((loop,), live, outer, self.integers)
        targets = {
            leaf.stmt.target_name if isinstance(leaf.stmt, Add) else ""
            for leaf in region.leaves
        }
        if len(targets) != 1 or not all(_adds(leaf.stmt) for leaf in region.leaves):
            return None
        if any(region.depends(s, t) for s in region.leaves for t in region.partners(s)):
            return None
        try:
            plan = Owners(region, region.leaves, self.used, self.cpu)
            if not plan.axes or not self.enough(plan):
                return None
            (target,) = targets
            found = plan.nest()
            return self.owned(found, loop, target, outer, live, plan)
        except (Unknown, NoGather):
            return None

    def collapsible(
        self, body: Block, loop: For, outer: tuple[For, ...], live: frozenset[str]
    ) -> Block:
        """Prove the loop directly inside too, if it is alone and its range is fixed.

        The emitter then runs both as one loop, so that a short outer loop does not
        leave cores idle.
        """
        inner = body[0] if len(body) == 1 else None
        if not isinstance(inner, For):
            return body
        if loop.index in names(inner.lo) | names(inner.hi):
            return body
        if not any(isinstance(s, For) for s in inner.body):
            return body  # the innermost loop is for vector instructions
        around = (*outer, loop)
        tasks: Expr = ONE
        for f in around:
            if f.parallel:
                tasks = Call("*", (tasks, trip_count(f)))
        enough = self.cpu.enough_tasks
        if self.choose(of_arguments(tasks, self.shapes), enough) is True:
            return body  # one more loop would only make the tasks smaller
        live = live_inside(loop, live)
        proven = parallelise(inner, around, live, self.integers)
        if not proven.parallel:
            return body
        return (
            replace(proven, body=self.collapsible(proven.body, proven, around, live)),
        )

    def inward(
        self, body: Block, outer: tuple[For, ...], live: frozenset[str]
    ) -> Block:
        """Move the loop that walks memory to the innermost place, where that is
        legal.
        """
        result: list[Stmt] = []
        for s, after in with_live(body, live):
            match s:
                case For():
                    result += self.inward_loop(s, outer, after)
                case If():
                    then = self.inward(s.then, outer, after)
                    orelse = self.inward(s.orelse, outer, after)
                    result.append(replace(s, then=then, orelse=orelse))
                case _:
                    result.append(s)
        return tuple(result)

    def inward_loop(
        self, loop: For, outer: tuple[For, ...], live: frozenset[str]
    ) -> Block:
        """`loop` innermost if it walks memory and is parallel; else as it is, and so on
        inside.
        """
        around = (*outer, loop)
        # A gather per element is no faster in a row, and rows cost loads and stores.
        wanted = walks_memory(loop, self.cpu.vector_iterations) and not gathers(loop)
        if wanted and any(isinstance(s, For) for s in loop.body):
            proof = prove_parallel(loop, outer, live, self.integers)
            if proof is not None:
                inside = pushed(loop, self.used, self.dtype_of, self.own)
                if inside is not None:
                    return inside
        body = self.inward(loop.body, around, live_inside(loop, live))
        return (replace(loop, body=body),)

    # ---------------------------------------------------------------- scatters

    def scatter(
        self, loop: For, g: Group, outer: tuple[For, ...], live: frozenset[str]
    ) -> Block:
        """The form of a nest whose iterations meet in what they add to.

        Rows (or blocks) that own elements, if there are enough of them for all cores
        and their sums are not better cached; else private copies, where these are
        legal and worth it; else rows after all; else it stays serial, with the reason.
        """
        assert g.target is not None
        region = Region(g.nest, live, outer, self.integers)
        reason = "its index is not understood"
        plan = None
        try:
            plan = Owners(region, region.leaves, self.used, self.cpu)
            if self.enough(plan) and not self.cached(plan, outer):
                return self.owned(plan.nest(), loop, g.target, outer, live, plan)
        except (Unknown, NoGather) as why:
            reason = str(why) if " " in str(why) else reason
        copies = self.copies(loop, g, outer, live)
        if copies is not None:
            return copies
        if plan is not None:
            try:
                return self.owned(plan.nest(), loop, g.target, outer, live, plan)
            except (Unknown, NoGather) as why:
                reason = str(why) if " " in str(why) else reason
        reason = f"two iterations may write the same element of {g.target}, {reason}"
        return self.serial(loop, outer, live, reason)

    def enough(self, plan: Owners) -> bool:
        """Are there owners for every core? If unknown: unless the sum runs over two
        loops.
        """
        if not plan.reduces:
            return True
        count = plan.count()
        known = None if count is None else self.choose(count, self.cpu.least_owners)
        return plan.axes != [] and plan.reduces < 2 if known is None else known

    def cached(self, plan: Owners, outer: tuple[For, ...]) -> bool:
        """Is the target small, and its sums so long that every owner reads all data?

        Then each core reads a share of the data once, into a copy of the target.
        """
        if outer or plan.reduces < 2 or not plan.axes:
            return False
        total = plan.count(every=True)
        most = self.cpu.cached_elements
        return total is not None and self.choose(total, most) is False

    def owned(
        self,
        block: Block,
        loop: For,
        target: str,
        outer: tuple[For, ...],
        live: frozenset[str],
        plan: Owners,
    ) -> Block:
        """The loops that `plan` made, proved, with what is noted of them."""
        result: list[Stmt] = []
        for s in block:
            if isinstance(s, If):
                then = self.owned(s.then, loop, target, outer, live, plan)
                orelse = self.owned(s.orelse, loop, target, outer, live, plan)
                s = replace(s, then=then, orelse=orelse)
            if isinstance(s, For):
                body = self.collapsible(s.body, s, outer, live)
                s = parallelise(replace(s, body=body), outer, live, self.integers)
                sentence = plan.sentence()
                s = replace(s, loc=loop.loc, note=sentence)
                kind = plan.kind if s.parallel else "serial"
                self.decisions.append(
                    Decision(s.index, target, kind, sentence, s.parallel, loop.loc)
                )
            result.append(s)
        return tuple(result)

    # ---------------------------------------------------------------- private copies

    def reduction(
        self, loop: For, g: Group, outer: tuple[For, ...], live: frozenset[str]
    ) -> Block:
        """Private copies for a sum, else what the readable form has."""
        copies = self.copies(loop, g, outer, live)
        return super().reduction(loop, g, outer, live) if copies is None else copies

    def copies(
        self, loop: For, g: Group, outer: tuple[For, ...], live: frozenset[str]
    ) -> Block | None:
        """Private copies of the target of `g`, unless its loop is a short inner one."""
        assert g.target is not None
        if outer and not any(isinstance(s, For) for s in walk(loop.body)):
            return None  # a short row in a loop that runs often: not worth a launch
        return self.chunked(loop, (g.target,), outer, live)

    def pays(self, loop: For, targets: Sequence[str], outer: tuple[For, ...]) -> bool:
        """Do copies of the targets cost less than the loop, as far as is known?

        Each is set to zero, written out and added. What is done at once is not asked.
        """
        places = {
            s.target_name: s.target
            for s in walk((loop,))
            if isinstance(s, Add) and isinstance(s.target, Load)
        }
        gain = operations(loop, self.costs, outer, self.cpu.unknown_iterations)
        if gain is None or (not outer and self.little(loop, outer)):
            return True
        chunks = chunk_count(trip_count(loop), self.costs.chunks)
        each = Const(self.cpu.copy_operations * int(chunks.value))
        for name in set(targets) & set(places):
            copied = product(self.extents(places[name]))
            gain = Call("-", (gain, Call("*", (each, copied))))
        return self.choose(of_arguments(gain, self.shapes), 0) is not False

    def extents(self, place: Load) -> tuple[Expr, ...]:
        own = tuple(Extent(place.array, k) for k in range(len(place.index)))
        return self.shapes.get(place.array, own)

    def whole(
        self,
        loop: For,
        made: tuple[Alloc, ...],
        groups: tuple[Group, ...],
        outer: tuple[For, ...],
        live: frozenset[str],
    ) -> Block | None:
        """Copies of all targets for chunks of the loop as it is.

        Taken where its parts would run serially, or with an array for each scalar that
        they share, and the targets are small.
        """
        apart = all(g.target or self.parallel(g, outer, live) for g in groups)
        if outer or (apart and not made):
            return None
        region = Region((loop,), live, outer, self.integers)
        adds: dict[str, list[Leaf]] = {}
        for leaf in region.leaves:
            if isinstance(leaf.stmt, Add):
                name = leaf.stmt.target_name
                if not region.private_depth(leaf, name):
                    adds.setdefault(name, []).append(leaf)
        targets = [n for n, found in adds.items() if races(region, found)]
        if not targets or any(
            a.name in targets and (leaf not in adds[a.name] or a.kind != "add")
            for leaf in region.leaves
            for a in leaf.accesses
        ):
            return None
        if not all(self.small(adds[name][0]) for name in targets):
            return None
        return self.chunked(loop, targets, outer, live)

    def small(self, add: Leaf) -> bool:
        """Is it known that a core keeps the target of `add` in its cache?"""
        assert isinstance(add.stmt, Add)
        match add.stmt.target:
            case Var():
                return True
            case Load() as place:
                size = product(self.extents(place))
        return self.choose(size, self.cpu.cached_elements) is False

    def chunked(
        self,
        loop: For,
        targets: Sequence[str],
        outer: tuple[For, ...],
        live: frozenset[str],
    ) -> Block | None:
        """Sum chunks of the outermost loop in private copies; None if that is not
        legal.
        """
        if loop.step != ONE or loop.index in written(loop.body):
            return None
        used = set(self.used)
        chunk = fresh("chunk", used)
        length = trip_count(loop)
        count = chunk_count(length, self.costs.chunks)
        if not self.pays(loop, targets, outer):
            return None
        copies = [
            PrivateCopy.of(t, loop, chunk, count, used, self.dtype_of) for t in targets
        ]
        first, last = chunk_ends(loop.lo, length, Var(chunk), count)
        body = loop.body
        for c in copies:
            body = renamed_target(body, c.target, c.own)
        inner = replace(loop, lo=first, hi=last, body=body, reverse=False)
        inside = live | {c.own for c in copies}
        self.used, before = used, self.used
        moved = sink(inner, self.cpu.vector_iterations)
        if moved is None:
            side = self.lanes(inner, outer, inside, length)
            if side is None:
                moved = self.inward((inner,), outer, inside)
            else:
                moved = (side.named(side.loop),)
        make, give = tuple(c.make for c in copies), tuple(c.give for c in copies)
        body = (*make, *moved, *give)
        chunks = For(chunk, ZERO, count, ONE, body, loc=loop.loc)
        known = live | {c.parts for c in copies}
        plain = replace(chunks, body=(*make, inner, *give))
        chunks = parallelise_chunks(
            chunks, plain, loop, (first, last), outer, known, self.integers
        )
        if not chunks.parallel:
            self.used = before
            return None
        sentence = (
            f"private copies: {count.value} chunks of {loop.index}, summed in order"
        )
        for c in copies:
            self.decisions.append(
                Decision(
                    chunk,
                    c.target,
                    "private copies",
                    sentence,
                    chunks.parallel,
                    loop.loc,
                )
            )
        return (
            *(c.room for c in copies),
            replace(chunks, note=sentence),
            *(For(chunk, ZERO, count, ONE, (c.combine,), loc=loop.loc) for c in copies),
        )


def _adds(s: Stmt) -> bool:
    return isinstance(s, Add) and isinstance(s.target, Load)
