"""What a GPU runs: a scheduled program as launches, with the host's part between them.

A nest becomes one kernel. Its threads share out every loop whose iterations meet
nowhere, or only in what they add to: then a sum is made by the threads of a block in a
fixed order, and where data decides what is added to, by atomics. The rest is in the
body of a thread. A loop whose iterations wait for each other stays on the host if it
launches something worth it, and nothing of the arrays comes back for it; anything else
runs in a single thread, which is slow and right.

The sums are those of Blelloch, "Prefix sums and their applications" (1990), without the
prefix: each thread its own terms, then a tree; so the bits are the same in every run.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pyrev.analysis.poly import integer_names
from pyrev.ir.dtypes import concrete
from pyrev.ir.liveness import exposed, live_inside, names_in, with_live
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
    Loc,
    Program,
    Proof,
    Return,
    Stmt,
    Var,
    While,
    all_names,
    assigned_scalars,
    blocks,
    exprs,
    fresh,
    loop_indices,
    map_block,
    map_expr,
    names,
    risky,
    walk,
    walk_expr,
    with_blocks,
    written,
)
from pyrev.ir.simplify import iterations
from pyrev.ir.text import proof_text
from pyrev.schedule.costs import Costs, GpuCosts
from pyrev.schedule.distribute import Readable
from pyrev.schedule.inverse import Inverse, inverted
from pyrev.schedule.legality import forward, prove_parallel
from pyrev.schedule.report import Decision
from pyrev.schedule.work import product

#: What the hardware adds to atomically.
ATOMIC = frozenset({"float32", "float64", "int32", "uint32", "int64"})

# Are there so many, by the sizes of the call? None: not known.
Enough = Callable[[Expr, int], bool | None]


@dataclass(frozen=True, slots=True)
class Kernel:
    """One launch: `block` for every iteration of `loops`, a thread each.

    With `over`, the threads of a block share out those loops for one iteration of
    `loops`, and what they add to `sums` is added up before it goes there. Increments of
    the arrays in `atomic` are atomic. Without `loops` and `over` one thread runs it.
    """

    block: Block
    loops: tuple[For, ...] = ()
    over: tuple[For, ...] = ()
    sums: tuple[Var | Load, ...] = ()
    atomic: frozenset[str] = frozenset()
    #: The scalars whose values come from before it or are read after it.
    crossing: frozenset[str] = frozenset()
    #: Why it runs as it does: a proof, or what stands against one.
    why: str = ""

    @property
    def loc(self) -> Loc:
        """Where its first statement comes from."""
        return (*self.loops, *self.over, *self.block)[0].loc

    @property
    def whole(self) -> Block:
        """The nest as one statement again."""
        inner = self.block
        for loop in reversed((*self.loops, *self.over)):
            inner = (replace(loop, body=inner),)
        return inner


@dataclass(frozen=True, slots=True)
class Repeat:
    """A loop on the host around launches."""

    loop: For
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Choose:
    """A test of sizes and numbers on the host."""

    test: Expr
    then: tuple[Step, ...]
    orelse: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Plain:
    """A statement of the host: memory, a number, the return."""

    stmt: Alloc | Assign | Check | Return


@dataclass(frozen=True, slots=True)
class Sort:
    """Terms put in the order of the elements that they are added to."""

    terms: Inverse


Step = Kernel | Repeat | Choose | Plain | Sort


@dataclass(frozen=True, slots=True)
class Launches:
    """The steps of a program.

    `resident` are the scalars that kernels make: arrays of one element on the device.
    """

    steps: tuple[Step, ...]
    resident: tuple[str, ...]


class NotOnDevice(Exception):
    """Something of the program that the CUDA target has no form for, in words."""

    def __init__(self, what: str, loc: Loc) -> None:
        super().__init__(what)
        self.loc = loc


def every(steps: Sequence[Step]) -> Iterator[Step]:
    """The steps and those inside them."""
    for s in steps:
        yield s
        match s:
            case Repeat(_, inner):
                yield from every(inner)
            case Choose(_, then, orelse):
                yield from every((*then, *orelse))


# -------------------------------------------------------------------- nests


@dataclass(frozen=True, slots=True)
class Shared:
    """The loops of a nest that threads may share out, the first `free` without sums.

    Of all of them `sums` are sums, owned by the loops in `owners`; what is added to
    `others` meets anywhere.
    """

    chain: tuple[For, ...]
    free: int
    sums: tuple[Var | Load, ...] = ()
    owners: frozenset[str] = frozenset()
    others: frozenset[str] = frozenset()


class Nests:
    """Questions about nests: which of their loops threads may share out."""

    def __init__(
        self,
        types: Mapping[str, str],
        integers: frozenset[str],
        numbers: frozenset[str],
    ) -> None:
        self.types, self.integers, self.numbers = types, integers, numbers

    def known(self, e: Expr) -> bool:
        """Does the host know the value of `e`?"""
        return _known(e, self.numbers)

    def shared(
        self, loop: For, outer: tuple[For, ...], live: frozenset[str]
    ) -> Shared | None:
        """How threads may share out the nest of `loop`; None if it has an order."""
        chain = self.chain(loop)
        added = _only_added(chain[-1].body if chain else ())
        depth = self.depth(chain, added, outer, live)
        if not depth:
            return None
        chain = chain[:depth]
        free = self.depth(chain, frozenset(), outer, live)
        if free == depth:
            return Shared(chain, free)
        met = frozenset(
            a for a in added if self.depth(chain, added - {a}, outer, live) < depth
        )
        sums, owners = self.sums(chain, met)
        others = met - {t.name if isinstance(t, Var) else t.array for t in sums}
        return Shared(chain, free, sums, owners, others)

    def atomic(self, found: Shared) -> bool:
        """Can what is left be added to atomically?"""
        scalars = set(assigned_scalars(found.chain[-1].body))
        return not found.others & scalars and all(
            self.types[a] in ATOMIC for a in found.others
        )

    def chain(self, loop: For) -> tuple[For, ...]:
        """`loop` and the loops directly in it, as far as their ranges are a box."""
        found: list[For] = []
        changed = written((loop,))
        while True:
            bounds = (loop.lo, loop.hi, loop.step)
            if not all(map(self.known, bounds)):
                break
            if found and any(map(risky, bounds)):
                break  # where the loops around it are empty nothing asks for it
            if changed & frozenset().union(*map(names, bounds)):
                break
            found.append(replace(loop, reverse=False))
            match loop.body:
                case (For() as inner,):
                    loop = inner
                case _:
                    break
        return tuple(found)

    def depth(
        self,
        chain: tuple[For, ...],
        without: frozenset[str],
        outer: tuple[For, ...],
        live: frozenset[str],
    ) -> int:
        """How many loops of `chain` may run in parallel, what is added to `without`
        apart.
        """
        if not chain:
            return 0
        dummy = fresh("term", set(all_names(chain)))
        for k, f in enumerate(chain):
            plain = replace(f, body=_stripped(f.body, without, dummy))
            if prove_parallel(plain, outer, live, self.integers) is None:
                return k
            outer, live = (*outer, f), live_inside(f, live)
        return len(chain)

    def sums(
        self, chain: tuple[For, ...], met: frozenset[str]
    ) -> tuple[tuple[Var | Load, ...], frozenset[str]]:
        """What of `met` is a sum over some of the loops, and which loops own it."""
        indices = {f.index for f in chain}
        body = chain[-1].body
        inside = written(body)
        owners: frozenset[str] | None = None
        found: list[Var | Load] = []
        for array in sorted(met):
            targets = {
                s.target: None
                for s in walk(body)
                if isinstance(s, Add) and s.target_name == array
            }
            used: set[str] = set()
            for t in targets:
                if isinstance(t, Load):
                    used |= {n for e in t.index for n in names(e)}
            own = frozenset(used & indices)
            parts = (e for t in targets if isinstance(t, Load) for e in t.index)
            if any(isinstance(e, Load) for p in parts for e in walk_expr(p)):
                continue  # where nothing is added there may be no such element
            if used & inside or len(own) == len(indices):
                continue
            if own and len({_owned(t, own) for t in targets}) > 1:
                continue  # an element may have several owners
            if owners is not None and own != owners:
                continue
            if own and not self.apart(chain, own, next(iter(targets))):
                continue
            owners = own
            found += targets
        return tuple(found), owners or frozenset()

    def apart(
        self, chain: tuple[For, ...], own: frozenset[str], target: Var | Load
    ) -> bool:
        """Is `target` another element for every iteration of the loops in `own`?"""
        loops = [f for f in chain if f.index in own]
        body: Block = (Add(target, Const(1.0)),)
        for f in reversed(loops):
            body = (replace(f, body=body),)
        (whole,) = body
        assert isinstance(whole, For)
        live = frozenset({target.array}) if isinstance(target, Load) else frozenset()
        return self.depth(self.chain(whole), frozenset(), (), live) == len(loops)


class Device(Readable):
    """The readable form, gathers inside parallel loops too: one thread an element."""

    def __init__(
        self,
        taken: frozenset[str],
        program: Program,
        types: Mapping[str, str],
        deterministic: bool,
        costs: Costs,
    ) -> None:
        integers = integer_names(program.body)
        super().__init__(taken, integers, lambda name: concrete(types[name]), costs)
        self.nests = Nests(types, integers, _numbers(program))
        self.deterministic = deterministic

    def nest(self, loop: For, outer: tuple[For, ...], live: frozenset[str]) -> Block:
        """As in the readable form, unless it is better in one piece.

        A scatter is turned into a gather if that takes no memory for what its terms
        are made of; else its terms are added where they are made.
        """
        whole = self.nests.shared(loop, outer, live)
        told, taken = len(self.decisions), self.taken
        parted = super().nest(loop, outer, live)
        if whole is None or not self.nests.atomic(whole):
            return parted
        if whole.others and self.deterministic:
            return parted
        own = {s.array for s in walk((loop,)) if isinstance(s, Alloc)}
        made = {s.array for s in walk(parted) if isinstance(s, Alloc)} - own
        if not made and (whole.others or _long(whole.chain[-1].body)):
            return parted
        del self.decisions[told:]
        self.taken = taken
        return (forward(loop, outer, live, self.integers),)

    def kept(self, loop: For, outer: tuple[For, ...], live: frozenset[str]) -> Block:
        self.report_kept(loop)
        inside = live_inside(loop, live)
        body = self.block(loop.body, (*outer, loop), inside)
        whole = replace(loop, body=body)
        proof = prove_parallel(whole, outer, live, self.integers)
        # What was taken apart inside may have tied the iterations together.
        return (replace(whole, parallel=proof),) if proof else (loop,)


# -------------------------------------------------------------------- launches


def launches(
    program: Program,
    types: dict[str, str],
    enough: Enough,
    gpu: GpuCosts,
    deterministic: bool = False,
) -> tuple[Launches, tuple[Decision, ...]]:
    """The launches of a scheduled program, and how each nest runs.

    Law: they compute what the program computes, sums in another order. `enough` answers
    for the sizes of a call whether there are so many of something.

    Raises `NotOnDevice` where there is no form for it.
    """
    numbers = _numbers(program)
    while True:
        planner = _Planner(program, types, enough, gpu, deterministic, numbers)
        steps = planner.steps(program.body, (), frozenset())
        made = _made_on_device(steps)
        if not made & numbers:
            break
        numbers -= made
    _check_measured(steps)
    return Launches(steps, tuple(sorted(made))), tuple(planner.decisions)


def _numbers(program: Program) -> frozenset[str]:
    """The scalars that sizes and numbers decide, whatever the arrays hold."""
    found = {p.name for p in program.params if not p.rank}
    found |= loop_indices(program.body) | set(assigned_scalars(program.body))

    def unsure(block: Block, by_data: bool) -> Iterator[str]:
        for s in block:
            match s:
                case Assign(Var(n), value) | Add(Var(n), value):
                    if by_data or not _known(value, found):
                        yield n
                case For(index, lo, hi, step):
                    data = by_data or not all(_known(e, found) for e in (lo, hi, step))
                    if data:
                        yield index
                    yield from unsure(s.body, data)
                case While():
                    yield from unsure(s.body, True)
                    if s.index:
                        yield s.index
                case If(test, then, orelse):
                    data = by_data or not _known(test, found)
                    yield from unsure((*then, *orelse), data)

    while True:
        gone = set(unsure(program.body, False)) & found
        if not gone:
            return frozenset(found)
        found -= gone


def _known(e: Expr, numbers: frozenset[str] | set[str]) -> bool:
    """Is `e` made of sizes and of these numbers?"""
    return all(
        not isinstance(part, Load)
        and (not isinstance(part, Var) or part.name in numbers)
        for part in walk_expr(e)
    )


def _check_measured(steps: Sequence[Step]) -> None:
    """Raise `NotOnDevice` if the host measures an array that a kernel makes."""
    made = {
        a.array: a
        for s in every(steps)
        if isinstance(s, Kernel)
        for a in walk(s.block)
        if isinstance(a, Alloc)
    }
    for s in every(steps):
        match s:
            case Kernel():
                own = {a.array for a in walk(s.block) if isinstance(a, Alloc)}
                asked = all_names(s.whole) - own
            case Repeat(loop):
                asked = all_names((replace(loop, body=()),))
            case Choose(test):
                asked = all_names((If(test, ()),))
            case Plain(stmt):
                asked = all_names((stmt,))
                if isinstance(stmt, Alloc):
                    asked -= {stmt.array}
            case Sort(inverse):
                asked = frozenset({inverse.array})
        for a in asked & made.keys():
            what = f"`{a}` is made on the device and measured later"
            raise NotOnDevice(what, made[a].loc)


def _made_on_device(steps: Sequence[Step]) -> frozenset[str]:
    """The scalars that a kernel sets and something else reads."""
    kernels = [s for s in every(steps) if isinstance(s, Kernel)]
    return frozenset().union(*(k.crossing for k in kernels))


class _Planner:
    def __init__(
        self,
        program: Program,
        types: dict[str, str],
        enough: Enough,
        gpu: GpuCosts,
        deterministic: bool,
        numbers: frozenset[str],
    ) -> None:
        self.types = types
        self.enough, self.gpu = enough, gpu
        self.deterministic = deterministic
        self.numbers = numbers
        self.integers = integer_names(program.body)
        self.nests = Nests(types, self.integers, numbers)
        self.taken = {p.name for p in program.params} | set(written(program.body))
        self.live_out = frozenset(p.name for p in program.params if p.rank)
        self.decisions: list[Decision] = []

    # ---------------------------------------------------------------- the host

    def steps(
        self, block: Block, outer: tuple[For, ...], live: frozenset[str]
    ) -> tuple[Step, ...]:
        out: list[Step] = []
        alone: list[Stmt] = []

        def flush(after: frozenset[str]) -> None:
            if alone:
                out.append(_crossed(Kernel(tuple(alone)), after))
                alone.clear()

        last = frozenset[str]()
        block, together = self.together(block)
        for s, after in with_live(block, live | self.live_out):
            found = None if id(s) in together else self.step(s, outer, after)
            if found is None:
                alone.append(s)
            else:
                flush(last)
                out += [_crossed(x, after) for x in found]
            last = after
        flush(last)
        return tuple(out)

    def together(self, block: Block) -> tuple[Block, frozenset[int]]:
        """The block, and by identity what in it has to run in one kernel.

        Data decides how large some arrays are, so one thread makes them and all that
        uses them runs in it. What else is made there and read later is made before.
        """
        own = {s.array for s in walk(block) if isinstance(s, Grow)}
        own |= {
            s.array
            for s in walk(block)
            if isinstance(s, Alloc) and not all(map(self.known, s.shape))
        }
        here = [k for k, s in enumerate(block) if own & names_in(s)]
        direct = [k for k in here if isinstance(block[k], Alloc)]
        if not own or not direct:
            return block, frozenset()
        first, last = min(here), max(here)
        span = block[first : last + 1]
        if any(isinstance(s, Return) for s in walk(span)):
            what = f"data decides how large `{min(own)}` is, which is returned"
            raise NotOnDevice(what, block[first].loc)
        before = tuple(
            replace(s, fill=None, source=None) if s.source or _by(s.fill) else s
            for s in span
            if isinstance(s, Alloc) and s.array not in own
        )
        inside: Block = ()
        for s in span:
            if isinstance(s, Alloc) and s.array not in own:
                inside += self.refilled(s)
            else:
                inside += (s,)
        whole = (*block[:first], *before, *inside, *block[last + 1 :])
        return whole, frozenset(map(id, inside))

    def refilled(self, s: Alloc) -> Block:
        """What fills an array that is made before, where it was made."""
        if not s.source and not _by(s.fill):
            return ()
        loops, place = self.elements(s)
        value = Load(s.source, place.index) if s.source else s.fill
        assert value is not None
        inner: Block = (Assign(place, value, loc=s.loc),)
        for f in reversed(loops):
            inner = (replace(f, body=inner),)
        return inner

    def elements(self, s: Alloc) -> tuple[tuple[For, ...], Load]:
        """Loops over the elements of a new array, and the element."""
        loops: list[For] = []
        for k in range(len(s.shape)):
            index = fresh(f"k{k}", self.taken)
            self.types[index] = "weak int"
            loops.append(For(index, ZERO, Extent(s.array, k), ONE, (), loc=s.loc))
        return tuple(loops), Load(s.array, tuple(Var(f.index) for f in loops))

    def step(
        self, s: Stmt, outer: tuple[For, ...], live: frozenset[str]
    ) -> tuple[Step, ...] | None:
        """The steps of one statement; None if a single thread has to run it."""
        match s:
            case Alloc():
                parts = (*s.shape, *(() if s.fill is None else (s.fill,)))
                if not all(map(self.known, s.shape)):
                    raise NotOnDevice(f"data decides how large `{s.array}` is", s.loc)
                if not all(map(self.known, parts)):
                    return self.filled(s)
                return (Plain(s),)
            case Assign(Var(n), value) if n in self.numbers and self.known(value):
                return (Plain(s),)
            case Check(test) if self.known(test):
                return (Plain(s),)
            case Return():
                return (Plain(s),)
            case For():
                return self.nest(s, outer, live)
            case If(test, then, orelse) if self.known(test):
                return (
                    Choose(
                        test,
                        self.steps(then, outer, live),
                        self.steps(orelse, outer, live),
                    ),
                )
            case If(test, then, orelse):
                return self.guarded(s, outer, live)
        return None

    def filled(self, s: Alloc) -> tuple[Step, ...]:
        """An array filled with a number that the device has."""
        assert s.fill is not None
        loops, place = self.elements(s)
        body = (Assign(place, s.fill, loc=s.loc),)
        return (Plain(replace(s, fill=None)), Kernel(body, loops))

    def guarded(
        self, s: If, outer: tuple[For, ...], live: frozenset[str]
    ) -> tuple[Step, ...] | None:
        """A test of data around loops: each loop runs, and its iterations ask."""
        inside = (*s.then, *s.orelse)
        loops = [x for x in inside if isinstance(x, For)]
        if not loops or not all(isinstance(x, (For, Assign, Add, If)) for x in inside):
            return None
        if any(isinstance(x, (Alloc, Check, While, Return)) for x in walk(inside)):
            return None
        # Their ranges are asked for whatever the test says.
        ranges = [
            e for x in walk(inside) if isinstance(x, For) for e in (x.lo, x.hi, x.step)
        ]
        if not all(self.known(e) and not risky(e) for e in ranges):
            return None
        chosen = fresh("chosen", self.taken)
        self.types[chosen] = "bool"
        out: list[Stmt] = [Assign(Var(chosen), Call("bool", (s.test,)), loc=s.loc)]
        for block, test in (
            (s.then, Var(chosen)),
            (s.orelse, Call("not", (Var(chosen),))),
        ):
            out += [_pushed(test, x) for x in block]
        return self.steps(tuple(out), outer, live)

    def known(self, e: Expr) -> bool:
        return _known(e, self.numbers)

    # ---------------------------------------------------------------- nests

    def nest(
        self, loop: For, outer: tuple[For, ...], live: frozenset[str]
    ) -> tuple[Step, ...] | None:
        found = self.shared_out(loop, outer, live)
        if found is not None:
            return found
        bounds = (loop.lo, loop.hi, loop.step)
        inner = [s for s in walk(loop.body) if isinstance(s, For)]
        if inner and all(map(self.known, bounds)) and self.repeats(loop):
            body = self.steps(loop.body, (*outer, loop), live_inside(loop, live))
            if any(isinstance(s, Kernel) and s.loops for s in every(body)):
                self.tell(loop, "serial", "its iterations wait for each other")
                return (Repeat(loop, body),)
        self.tell(loop, "serial", "one thread runs it: its iterations depend on others")
        return None

    def repeats(self, loop: For) -> bool:
        """May the host run `loop` around launches?"""
        return not any(isinstance(s, (While, Return, Grow)) for s in walk(loop.body))

    def tell(
        self,
        loop: For,
        kind: str,
        reason: str,
        proof: Proof | None = None,
        about: Collection[str] | None = None,
    ) -> None:
        arrays = {
            s.target_name: None
            for s in walk((loop,))
            if isinstance(s, Add)
            or (isinstance(s, Assign) and isinstance(s.target, Load))
        }
        if about is not None:
            arrays = {n: None for n in arrays if n in about}
        for array in arrays or {"": None}:
            self.decisions.append(
                Decision(loop.index, array, kind, reason, proof, loop.loc)  # type: ignore[arg-type]
            )

    def shared_out(
        self, loop: For, outer: tuple[For, ...], live: frozenset[str]
    ) -> tuple[Step, ...] | None:
        """The kernels of a nest, or None if its outermost loop has to run in order."""
        found = self.nests.shared(loop, outer, live)
        if found is None:
            return None
        chain, free = found.chain, found.free
        body = chain[-1].body
        if free and self.parts(chain, free):
            return self.distributed(loop, outer, live)
        proof = prove_parallel(chain[0], outer, live, self.integers)
        count = _all_trips(chain[:free])
        busy = self.gpu.busy_threads
        if free == len(chain) or (free and self.enough(count, busy)):
            owned = chain[:free]
            self.tell(loop, "kept", f"a thread for each {_these(owned)}", proof)
            return (Kernel(owned[-1].body, owned, why=proof_text(proof)),)
        if found.others and self.deterministic:
            sorted_ = self.inverted(found, outer, live)
            if sorted_ is not None:
                return sorted_
        if not self.nests.atomic(found) or (found.others and self.deterministic):
            return self.owned(loop, chain[:free], proof)
        names_ = ", ".join(sorted(found.others))
        why = f"two iterations may add to the same element of {names_}"
        if found.others:
            self.tell(loop, "atomic", why, about=found.others)
        rest = frozenset(written(body)) - found.others
        if not found.sums:
            return (Kernel(body, chain, atomic=found.others, why=why),)
        over = tuple(f for f in chain if f.index not in found.owners)
        loops = tuple(f for f in chain if f.index in found.owners)
        if loops and self.enough(_all_trips(loops), busy):
            each = f"a thread for each {_these(loops)}"
            self.tell(loop, "owner", each, proof, rest)
            for f in reversed(over):
                body = (replace(f, body=body),)
            said = why if found.others else proof_text(proof)
            return (Kernel(body, loops, atomic=found.others, why=said),)
        reason = f"the threads of a block share out {_these(over)}; added in one order"
        self.tell(loop, "reduction", reason, proof, rest)
        return (Kernel(body, loops, over, found.sums, found.others, why=reason),)

    def owned(
        self, loop: For, loops: tuple[For, ...], proof: Proof | None
    ) -> tuple[Step, ...] | None:
        if not loops:
            return None
        self.tell(loop, "owner", f"a thread for each {_these(loops)}", proof)
        return (Kernel(loops[-1].body, loops, why=proof_text(proof)),)

    def inverted(
        self, found: Shared, outer: tuple[For, ...], live: frozenset[str]
    ) -> tuple[Step, ...] | None:
        """What data says where to add, by an inverse index."""
        if found.others & set(assigned_scalars(found.chain)):
            return None

        def new(name: str, dtype: str) -> str:
            made = fresh(name, self.taken)
            self.types[made] = dtype
            return made

        told = len(self.decisions)
        made = inverted(found.chain, found.others, self.types, self.known, new)
        if made is None:
            return None
        own = {a.array for a in made.made}
        terms = self.shared_out(made.nest, outer, live | own)
        others = [d for d in self.decisions[told:] if d.array not in own]
        del self.decisions[told:]
        if terms is None:
            return None
        self.decisions += others
        why = "its terms are sorted by the element that data says"
        for s in made.inverses:
            self.tell(found.chain[0], "inverse index", why, about={s.array})
        sums: list[Step] = []
        for nest in made.sums:
            loops = self.nests.chain(nest)
            sums.append(Kernel(loops[-1].body, loops, why="each adds its own terms"))
        plain = (Plain(a) for a in made.made)
        return (*plain, *terms, *map(Sort, made.inverses), *sums)

    # ---------------------------------------------------------------- distribution

    def parts(self, chain: tuple[For, ...], free: int) -> bool:
        """Is it worth to run the nests in a parallel loop one after another?"""
        body = chain[free - 1].body
        if len(body) < 2 or not any(isinstance(s, For) for s in walk(body)):
            return False
        count = _all_trips(chain[:free])
        busy = self.gpu.busy_threads
        return self.enough(count, busy) is False and len(_groups(body)) > 1

    def distributed(
        self, loop: For, outer: tuple[For, ...], live: frozenset[str]
    ) -> tuple[Step, ...]:
        """The parallel loop once for each group of the statements in its nest."""

        def split(f: For) -> list[For]:
            match f.body:
                case (For() as inner,) if len(_groups(f.body)) == 1:
                    return [replace(f, body=(one,)) for one in split(inner)]
                case body:
                    return [replace(f, body=g) for g in _groups(body)]

        return self.steps(tuple(split(loop)), outer, live)


def _crossed(s: Step, after: frozenset[str]) -> Step:
    """A kernel with the scalars that cross it, if `after` is read later."""
    if not isinstance(s, Kernel) or s.crossing:
        return s
    whole = s.whole
    for one in walk(whole):
        if isinstance(one, Alloc) and one.array in after:
            what = f"`{one.array}` is made on the device and read later"
            raise NotOnDevice(what, one.loc)
    found = {n for n in assigned_scalars(whole) if n in after or exposed(whole, n)[0]}
    found |= {t.name for t in s.sums if isinstance(t, Var)}
    return replace(s, crossing=frozenset(found))


def _by(fill: Expr | None) -> bool:
    """Is an array filled with anything but a literal?"""
    return fill is not None and not isinstance(fill, Const)


def _groups(body: Block) -> list[Block]:
    """The statements of an iteration in runs that share no scalar or array of it."""
    own = set(assigned_scalars(body))
    own |= {s.array for s in walk(body) if isinstance(s, (Alloc, Grow))}
    out: list[list[Stmt]] = []
    used: list[set[str]] = []
    for s in body:
        mine = set(names_in(s)) & own
        at = next((k for k, names in enumerate(used) if names & mine), None)
        if at is None:
            out.append([s])
            used.append(mine)
            continue
        # In their order: all since then come with it.
        out[at:] = [[x for g in out[at:] for x in g] + [s]]
        used[at:] = [set().union(*used[at:]) | mine]
    return [tuple(g) for g in out]


def _pushed(test: Expr, s: Stmt) -> Stmt:
    """`s` under a test, inside the loops around it."""
    match s:
        case For(body=body):
            return replace(s, body=tuple(_pushed(test, x) for x in body))
        case If(inner, _, ()):
            return replace(s, test=Call("and", (test, Call("bool", (inner,)))))
        case _:
            return If(test, (s,), loc=s.loc)


def _only_added(body: Block) -> frozenset[str]:
    """What `body` adds to and does not touch otherwise."""
    added: set[str] = set()
    others: set[str] = set()
    for s in walk(body):
        if isinstance(s, Add):
            added.add(s.target_name)
            parts: tuple[Expr, ...] = (s.value,)
            if isinstance(s.target, Load):
                parts += s.target.index
        else:
            parts = exprs(s)
            if isinstance(s, Alloc):
                others.add(s.array)
                others |= {s.source} if s.source else set()
            if isinstance(s, Assign):
                others.add(s.target_name)
        others |= {n for e in parts for n in names(e)}
    return frozenset(added - others)


def _stripped(block: Block, without: frozenset[str], dummy: str) -> Block:
    """The block with the increments of `without` made into something private."""
    out: list[Stmt] = []
    for s in block:
        if isinstance(s, Add) and s.target_name in without:
            parts = [s.value]
            if isinstance(s.target, Load):
                parts += s.target.index
            out += [Assign(Var(dummy), e, loc=s.loc) for e in parts]
        else:
            inner = tuple(_stripped(b, without, dummy) for b in blocks(s))
            out.append(with_blocks(s, inner))
    return tuple(out)


def _all_trips(loops: Sequence[For]) -> Expr:
    return product(map(iterations, loops))


def _owned(target: Var | Load, own: frozenset[str]) -> tuple[Expr | None, ...]:
    """The subscripts of `target` that the loops in `own` decide."""
    if isinstance(target, Var):
        return ()
    return tuple(e if names(e) & own else None for e in target.index)


def _long(body: Block) -> bool:
    """Is there a loop in `body` of which sizes or data decide how long it is?"""
    return any(
        isinstance(s, While)
        or isinstance(s, For)
        and not all(isinstance(e, Const) for e in (s.lo, s.hi))
        for s in walk(body)
    )


def _these(loops: Sequence[For]) -> str:
    return ", ".join(f.index for f in loops)


def with_elements(block: Block, scalars: frozenset[str]) -> Block:
    """The block with these scalars as arrays of one element."""
    return map_block(block, lambda e: as_element(e, scalars))


def as_element(e: Expr, scalars: frozenset[str]) -> Expr:
    """An expression with these scalars as arrays of one element."""

    def change(part: Expr) -> Expr:
        if isinstance(part, Var) and part.name in scalars:
            return Load(part.name, (ZERO,), loc=part.loc)
        return part

    return map_expr(e, change)
