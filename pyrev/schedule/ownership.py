"""The CPU's form: rows and blocks that own what they write, contiguous loops innermost.

Element gathers are what a reader wants and the slowest thing a CPU can run. Here only
the outermost coordinates of a target get loops of their own (rows; for one axis, blocks
of elements); below them the user's loops stay, with the one that walks memory
innermost. Small targets are summed in private copies, over a fixed number of chunks of
the outermost loop, combined in order: the number of threads never changes a bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pyrev.analysis.dependence import Access, Leaf, Region
from pyrev.analysis.loop_trees import Unknown
from pyrev.analysis.poly import Timed, conj, disj, integer_names, pieces
from pyrev.ir.affine import slope
from pyrev.ir.liveness import live_inside, with_live
from pyrev.ir.nodes import (
    ONE,
    ZERO,
    Add,
    Alloc,
    Assign,
    Block,
    Call,
    Check,
    Const,
    Expr,
    Extent,
    For,
    Grow,
    If,
    Load,
    Stmt,
    Var,
    all_names,
    assigned_scalars,
    blocks,
    exprs,
    fresh,
    like,
    names,
    walk,
    walk_expr,
    with_blocks,
    written,
)
from pyrev.ir.simplify import sub_int
from pyrev.ir.text import expr_text
from pyrev.schedule.costs import Costs, CpuCosts
from pyrev.schedule.distribute import DtypeOf, Readable
from pyrev.schedule.expand import Own, in_rows
from pyrev.schedule.gather import NoGather, Part, box_around, realise, target_of
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
from pyrev.schedule.report import Decision, Kind
from pyrev.schedule.trip_counts import trip_count
from pyrev.schedule.verify import debugging, same_instances
from pyrev.schedule.work import Choose, of_arguments, operations

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
    def __init__(
        self,
        taken: frozenset[str],
        block: Block,
        dtype_of: DtypeOf,
        choose: Choose,
        costs: Costs,
        own: Own,
    ) -> None:
        super().__init__(taken, integer_names(block), dtype_of, costs)
        self.choose, self.own, self.cpu = choose, own, costs.cpu
        self.used = set(taken) | set(all_names(block))
        self.shapes = {s.array: s.shape for s in walk(block) if isinstance(s, Alloc)}

    # ---------------------------------------------------------------- kept nests

    def nest(self, loop: For, outer: tuple[For, ...], live: frozenset[str]) -> Block:
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
        """A nest that is parallel as it stands: inside, the contiguous loop goes
        last.
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
        around = (*outer, loop)
        # A gather per element is no faster in a row, and rows cost loads and stores.
        wanted = self.walks_memory(loop) and not _gathers(loop)
        if wanted and any(isinstance(s, For) for s in loop.body):
            proof = prove_parallel(loop, outer, live, self.integers)
            if proof is not None:
                pushed = _Push(loop, self.used, self.dtype_of, self.own).run()
                if pushed is not None:
                    return pushed
        body = self.inward(loop.body, around, live_inside(loop, live))
        return (replace(loop, body=body),)

    def walks_memory(self, loop: For) -> bool:
        """Is `loop`, of all loops in it and itself, the one with the most contiguous
        accesses?
        """
        loops = [s for s in walk((loop,)) if isinstance(s, For)]
        scores = {s.index: _score(s.index, (loop,)) for s in loops}
        best = max(scores.values())
        return scores[loop.index] == best and best > 0

    # ---------------------------------------------------------------- scatters

    def scatter(
        self, loop: For, g: Group, outer: tuple[For, ...], live: frozenset[str]
    ) -> Block:
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
        copies = self.copies(loop, g, outer, live)
        return super().reduction(loop, g, outer, live) if copies is None else copies

    def copies(
        self, loop: For, g: Group, outer: tuple[For, ...], live: frozenset[str]
    ) -> Block | None:
        assert g.target is not None
        if outer and not any(isinstance(s, For) for s in walk(loop.body)):
            return None  # a short row in a loop that runs often: not worth a launch
        return self.chunked(loop, (g.target,), outer, live)

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
            case Load(array, index):
                own = tuple(Extent(array, k) for k in range(len(index)))
        size: Expr = ONE
        for extent in self.shapes.get(array, own):
            size = Call("*", (size, extent))
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
        count = _chunks(length, self.costs.chunks)
        copies = [_Copy.of(t, loop, chunk, count, used, self.dtype_of) for t in targets]
        first, last = chunk_ends(loop.lo, length, Var(chunk), count)
        body = loop.body
        for c in copies:
            body = _renamed_target(body, c.target, c.own)
        inner = replace(loop, lo=first, hi=last, body=body, reverse=False)
        inside = live | {c.own for c in copies}
        self.used, before = used, self.used
        moved = sink(inner)
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


@dataclass(frozen=True)
class _Copy:
    """What a private copy of a target needs: `own` in each chunk, `parts` for all."""

    target: str
    own: str
    parts: str
    room: Alloc
    make: Stmt
    give: Stmt
    combine: Stmt

    @staticmethod
    def of(
        target: str,
        loop: For,
        chunk: str,
        count: Const,
        used: set[str],
        dtype_of: DtypeOf,
    ) -> _Copy:
        own, parts = fresh(f"own_{target}", used), fresh(f"{target}_parts", used)
        add = next(
            s for s in walk((loop,)) if isinstance(s, Add) and s.target_name == target
        )
        rank = len(add.target.index) if isinstance(add.target, Load) else 0
        scope = set(used)
        index = tuple(Var(fresh(f"k{k}", scope)) for k in range(rank))
        part = Load(parts, (Var(chunk), *index))
        shape = tuple(Extent(target, k) for k in range(rank))
        dtype = like(target) if rank else dtype_of(target)
        make: Stmt = Assign(Var(own), Const(0.0))
        mine: Var | Load = Var(own)
        all_: Var | Load = Var(target)
        if rank:
            make = Alloc(own, shape, Const(0.0), like(target))
            mine, all_ = Load(own, index), Load(target, index)
        return _Copy(
            target,
            own,
            parts,
            Alloc(parts, (count, *shape), None, dtype, loc=loop.loc),
            make,
            _over(index, target, Assign(part, mine)),
            _over(index, target, Add(all_, part)),
        )


def _chunks(length: Expr, most: int) -> Const:
    """How many chunks a loop has: one per iteration if few are known to be."""
    match length:
        case Const(int(few)) if 0 < few < most:
            return Const(few)
    return Const(most)


class Owners:
    """A scatter whose outermost target coordinates become loops.

    `axes` are the subscripts that get one: all affine ones but the last, which stays a
    contiguous walk. `reduces` is how many loops the target does not mention.
    """

    def __init__(
        self, region: Region, scatter: Sequence[Leaf], used: set[str], cpu: CpuCosts
    ) -> None:
        self.region, self.scatter, self.used = region, scatter, used
        #: Elements of an array of one axis that one task owns.
        self.block = cpu.block_elements
        if not all(region.exact(leaf) for leaf in scatter):
            raise Unknown("a loop bound is data")
        affine = None
        for leaf in scatter:
            found = region.subscripts(leaf, _access(leaf), "i") or ()
            here = {k for k, cases in enumerate(found) if cases is not None}
            affine = here if affine is None else affine & here
        rank = len(target_of(scatter[0]).index)
        known = sorted(affine or ())
        self.axes = [k for k in known if k < rank - 1] if rank > 1 else []
        self.last = rank - 1 if rank - 1 in known else None
        mentioned = {
            n for leaf in scatter for e in target_of(leaf).index for n in names(e)
        }
        first = scatter[0]
        self.reduces = sum(at.loop.index not in mentioned for at in first.loops)

    @property
    def kind(self) -> Kind:
        """What owns elements: a row, or a block where there is only one subscript."""
        return "owner" if self.axes else "block owner"

    def sentence(self) -> str:
        target = target_of(self.scatter[0])
        if self.kind == "block owner":
            return f"block owner: {self.block} elements of {target.array} each"
        texts = [expr_text(target.index[k]) for k in self.axes]
        return f"row owner of {target.array}[{', '.join(texts)}]"

    def count(self, every: bool = False) -> Expr | None:
        """How many rows (or elements) there are, if all subscripts are loop indices."""
        leaf = self.scatter[0]
        loops = {at.loop.index: at.loop for at in leaf.loops}
        total: Expr | None = None
        whole = range(len(target_of(leaf).index))
        for k in whole if every else self.axes or whole:
            match target_of(leaf).index[k]:
                case Var(name) if name in loops:
                    trips = trip_count(loops[name])
                    total = trips if total is None else Call("*", (total, trips))
                case _:
                    return None
        if total is not None and not self.axes:
            total = Call("//", (total, Const(self.block)))
        return total

    def nest(self) -> Block:
        """One loop per owned subscript (or over blocks of the only one), then the
        user's.

        Of the user's loops the one that walks memory comes last.
        """
        region = self.region
        axes, size = list(self.axes), None
        if not axes:
            if self.last is None:
                raise Unknown("its index is data")
            axes, size = [self.last], self.block
        # Statements one after the other inside a row: guard-free contiguous loops.
        timed: list[Timed] = []
        loop_names: dict[str, Sequence[str]] = {}
        scope = set(self.used)
        heads = [fresh(n, scope) for n in ("u", "v", "w", "p", "q", "r")[: len(axes)]]
        if size is not None:
            heads = [fresh("b", scope)]
        parts: list[Part] = []
        for leaf in self.scatter:
            found = region.subscripts(leaf, _access(leaf), "i")
            assert found is not None
            index = []
            for n, k in enumerate(axes):
                cases = found[k]
                assert cases is not None, leaf
                # A subscript below zero is refused before any call (`analysis.bounds`).
                inside = [
                    conj((c.when, f"t{n} = {_owner(c.term, size)}", f"t{n} >= 0"))
                    for c in cases
                ]
                index.append(disj(inside))
            variables = region.variables(leaf, "i")
            name = f"S{len(parts)}"
            domain = region.domain(leaf, "i")
            for piece in pieces(region.space, name, variables, domain, index):
                own = f"S{len(parts)}"
                named = piece._replace(
                    domain=piece.domain.replace(f"{name}[", f"{own}["),
                    mapping=piece.mapping.replace(f"{name}[", f"{own}["),
                )
                parts.append(Part(own, leaf, named, (), ()))
        if not parts:
            return ()  # proven: no iteration ever runs
        width = max(leaf.depth for leaf in self.scatter)
        several = len(parts) > 1
        for n, part in enumerate(parts):
            own, leaf = part.name, part.leaf
            variables = region.variables(leaf, "i")
            rest = self.order(leaf, axes, size)
            times = [str(n)] * several + [variables[k] for k in rest]
            times += ["0"] * (width - len(rest))
            domain, mapping = part.piece.domain, part.piece.mapping
            timed.append(Timed(own, variables, domain, mapping, tuple(times)))
            inner = [leaf.loops[k].loop.index for k in rest]
            # An owned subscript that is a plain index keeps the user's name.
            head = [
                self.head(leaf, k, h) if size is None else h
                for k, h in zip(axes, heads, strict=True)
            ]
            clash = set(head)
            here = set(scope) | clash
            inner = [fresh(i, here) if i in clash else i for i in inner]
            padding = ["_"] * (width - len(rest))
            loop_names[own] = [*head, *(["_"] * several), *inner, *padding]

        if several and size is None:
            # The exact union of the rows is harder to read than the tests that the
            # statements need anyway, and its loops fit no other nest.
            box = box_around(region.space, parts, len(axes), width + 1)
            timed += box
            loop_names |= {b.name: loop_names[parts[0].name] for b in box}
        claims = {
            part.name: (part.leaf, tuple(self.owner(part.leaf, k, size) for k in axes))
            for part in parts
        }
        owned = axes if size is None else []
        made, skeleton = realise(region, timed, loop_names, parts, owned, claims)
        if debugging():
            assert same_instances(skeleton, region, claims), "instances lost or added"
        self.used |= set(heads)
        return made

    def owner(self, leaf: Leaf, axis: int, size: int | None) -> Expr:
        """What an owned coordinate is: a subscript, or the block that it falls in."""
        index = target_of(leaf).index[axis]
        return index if size is None else Call("//", (index, Const(size)))

    def head(self, leaf: Leaf, axis: int, fallback: str) -> str:
        """The index of an owned subscript: the user's, if all leaves have it bare."""
        target = target_of(leaf).index[axis]
        same = all(target_of(s).index[axis] == target for s in self.scatter)
        return target.name if same and isinstance(target, Var) else fallback

    def order(self, leaf: Leaf, axes: Sequence[int], size: int | None) -> list[int]:
        """The loops below the owned coordinates, the one that walks memory last."""
        loops = [at.loop for at in leaf.loops]
        target = target_of(leaf)
        pivots: set[int] = set()
        if size is None:
            for k in axes:
                candidates = [
                    n
                    for n, loop in enumerate(loops)
                    if slope(target.index[k], loop.index) in (1, -1) and n not in pivots
                ]
                if candidates:
                    pivots.add(candidates[0])
        rest = [n for n in range(len(loops)) if n not in pivots]
        rest += sorted(pivots)  # degenerate: one value each
        free = [n for n in rest if n not in pivots]
        scores = {n: _score(loops[n].index, (leaf.stmt,)) for n in free}
        if free:
            best = max(free, key=lambda n: (scores[n], -n))
            if scores[best] > 0:
                rest.remove(best)
                rest.insert(len(free) - 1, best)
        return rest


def _owner(term: str, size: int | None) -> str:
    return term if size is None else f"floor(({term}) / {size})"


def _access(leaf: Leaf) -> Access:
    target = target_of(leaf)
    return Access("add", target.array, target.index, 0, leaf.depth)


def _over(index: tuple[Var, ...], array: str, stmt: Stmt) -> Stmt:
    for k in reversed(range(len(index))):
        stmt = For(index[k].name, ZERO, Extent(array, k), ONE, (stmt,))
    return stmt


def _renamed_target(block: Block, old: str, new: str) -> Block:
    """Increments of `old` become increments of `new`; nothing else mentions `old`."""
    result: list[Stmt] = []
    for s in block:
        match s:
            case Add(Load(array, index), _) if array == old:
                result.append(replace(s, target=Load(new, index)))
            case Add(Var(name), _) if name == old:
                result.append(replace(s, target=Var(new)))
            case _:
                inner = tuple(_renamed_target(b, old, new) for b in blocks(s))
                result.append(with_blocks(s, inner))
    return tuple(result)


# ------------------------------------------------------------------ contiguous walks


def _score(index: str, block: Sequence[Stmt]) -> int:
    """How many accesses in `block` walk memory with `index`, minus those that jump."""
    total = 0
    for s in walk(tuple(block)):
        for top in exprs(s):
            for e in walk_expr(top):
                if isinstance(e, Load):
                    total += _walk(index, e)
    return total


def _walk(index: str, load: Load) -> int:
    *leading, last = load.index
    if any(index in names(e) for e in leading):
        return -2
    step = slope(last, index)
    if step == 0:
        return 0
    return 1 if step == 1 else -1


def sink(nest: For) -> Block | None:
    """A perfect nest of increments with the loop that walks memory moved innermost.

    Legal because increments commute and read nothing that they write; None where the
    nest is not of that form or nothing is to be moved.

    >>> from pyrev.parse import parse_block
    >>> from pyrev.ir.text import block_text
    >>> (nest,) = parse_block('''
    ... for x in range(n):
    ...     for r in range(m):
    ...         own[r] += d_out[x] * a[x + r]
    ... ''')
    >>> print(block_text(sink(nest)))
    for r in range(m):
        for x in range(n):
            own[r] += d_out[x] * a[x + r]
    """
    loops = [nest]
    while len(loops[-1].body) == 1 and isinstance(loops[-1].body[0], For):
        loops.append(loops[-1].body[0])
    body = loops[-1].body
    added = {s.target_name for s in body if isinstance(s, Add)}
    if len(loops) < 2 or not all(isinstance(s, Add) for s in body):
        return None
    if any(added & names(s.value) for s in body if isinstance(s, Add)):
        return None
    scores = [_score(loop.index, body) for loop in loops]
    best = max(range(len(loops)), key=lambda k: (scores[k], -k))
    if scores[best] <= 0 or best == len(loops) - 1:
        return None
    moved = loops[best]
    if any(moved.index in names(e) for f in loops[best + 1 :] for e in (f.lo, f.hi)):
        return None
    inner: Block = (replace(moved, body=body),)
    for k in reversed(range(len(loops))):
        if k != best:
            inner = (replace(loops[k], body=inner),)
    return inner


class _Push:
    """Runs a parallel loop inside each statement of its body: `for x` goes innermost.

    The loop carries no dependence, so its body may be run statement by statement; the
    scalars that one iteration hands on become rows, one element per iteration.
    """

    def __init__(self, loop: For, used: set[str], dtype_of: DtypeOf, own: Own) -> None:
        self.loop, self.used, self.dtype_of, self.own = loop, used, dtype_of, own
        self.rows: dict[str, str] = {}

    def run(self) -> Block | None:
        loop = self.loop
        if loop.step != ONE or any(
            isinstance(s, (Alloc, Check, Grow)) for s in walk(loop.body)
        ):
            return None
        handed = [n for n in assigned_scalars(loop.body) if self.crosses(n)]
        trial = set(self.used)
        self.rows = {n: fresh(f"{n}_row", trial) for n in handed}
        pushed = self.push(loop.body)
        if not any(isinstance(s, For) and s.index != loop.index for s in pushed):
            return None
        self.used |= trial
        length = trip_count(loop)
        room = [
            Alloc(row, (length,), None, self.dtype_of(n), loc=loop.loc)
            for n, row in self.rows.items()
        ]
        return (*room, *pushed)

    def crosses(self, name: str) -> bool:
        """Is scalar `name` used in more than one piece of the loop's body?"""
        return sum(name in all_names(p) for p in self.pieces(self.loop.body)) > 1

    def pieces(self, block: Block) -> list[Block]:
        """The runs of statements that will each get a loop of their own."""
        found: list[Block] = [()]
        for s in block:
            if isinstance(s, For) and not self.stays(s):
                found += [*self.pieces(s.body), ()]
            else:
                found[-1] = (*found[-1], s)
        return [p for p in found if p]

    def stays(self, inner: For) -> bool:
        """Must `inner` stay inside one iteration: do its bounds depend on it?"""
        own = {self.loop.index, *assigned_scalars(self.loop.body)}
        return any(names(e) & own for e in (inner.lo, inner.hi, inner.step))

    def push(self, block: Block) -> list[Stmt]:
        result: list[Stmt] = []
        waiting: list[Stmt] = []

        def flush() -> None:
            if waiting:
                body = self.with_rows(tuple(waiting))
                result.append(replace(self.loop, body=body, parallel=None, note=""))
                waiting.clear()

        for s in block:
            if isinstance(s, For) and not self.stays(s):
                flush()
                result.append(replace(s, body=tuple(self.push(s.body))))
            else:
                waiting.append(s)
        flush()
        return result

    def with_rows(self, block: Block) -> Block:
        at = sub_int(Var(self.loop.index), self.loop.lo)
        if self.loop.lo == ZERO:
            at = Var(self.loop.index)
        elements = {n: Load(row, (at,)) for n, row in self.rows.items()}
        return in_rows(block, elements, self.own)


def _gathers(loop: For) -> bool:
    """Do the loops in `loop` read where a scalar of its iteration says?"""
    own = set(assigned_scalars(loop.body))
    return any(
        names(k) & own
        for f in walk(loop.body)
        if isinstance(f, For)
        for s in walk(f.body)
        for top in exprs(s)
        for e in walk_expr(top)
        if isinstance(e, Load)
        for k in e.index
    )


def _adds(s: Stmt) -> bool:
    return isinstance(s, Add) and isinstance(s.target, Load)
