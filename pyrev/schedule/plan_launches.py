"""From a scheduled program to launches: which statements of it run where.

A nest becomes one kernel. Its threads share out every loop whose iterations meet
nowhere, or only in what they add to: then a sum is made by the threads of a block in a
fixed order, and where data decides what is added to, by atomics. The rest is in the
body of a thread. A loop whose iterations wait for each other stays on the host if it
launches something worth it, and nothing of the arrays comes back for it; anything else
runs in a single thread, which is slow and right.

`pyrev.schedule.thread_loops` says what is legal, `pyrev.schedule.launch_policy` what is
worth it; here the steps are made.

The sums are those of Blelloch, "Prefix sums and their applications" (1990), without the
prefix: each thread its own terms, then a tree; so the bits are the same in every run.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from pyrev.analysis.array_shapes import ArrayShapes
from pyrev.analysis.poly import known_numbers
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
    Program,
    Proof,
    Return,
    Stmt,
    Var,
    While,
    all_names,
    assigned_scalars,
    exprs,
    fresh,
    map_block,
    map_stmt_exprs,
    mentioned,
    risky,
    walk,
    walk_expr,
    written,
)
from pyrev.ir.text import proof_text
from pyrev.schedule.costs import GpuCosts
from pyrev.schedule.host_values import host_knows, host_numbers
from pyrev.schedule.inverse import inverted
from pyrev.schedule.launch_policy import Enough, Policy, parts
from pyrev.schedule.launches import (
    Choose,
    Kernel,
    Launches,
    NotOnDevice,
    Plain,
    Repeat,
    Sort,
    Step,
    every,
)
from pyrev.schedule.report import Decision, Kind
from pyrev.schedule.teams import teamed
from pyrev.schedule.thread_loops import Nests, Shared


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
    policy = Policy(enough, gpu, deterministic)
    program = _with_sizes(program)
    numbers = host_numbers(program)
    while True:
        planner = _Planner(program, types, policy, numbers)
        steps = planner.steps(program.body, (), frozenset())
        made = _made_on_device(steps)
        if not made & numbers:
            break
        numbers -= made
    _check_measured(steps)
    return Launches(steps, tuple(sorted(made))), tuple(planner.decisions)


def _with_sizes(program: Program) -> Program:
    """The program with what local arrays are as long as in place of their extents: the
    host does not have what a kernel makes.
    """
    shapes = ArrayShapes(program)

    def size(e: Expr) -> Expr:
        if not isinstance(e, Extent) or e.array not in shapes.local:
            return e
        known = shapes.known(e)
        return e if known is None else replace(known, loc=e.loc)

    return replace(program, body=map_block(program.body, size))


def _check_measured(steps: Sequence[Step]) -> None:
    """Raise `NotOnDevice` if the host measures an array that a kernel makes, or another
    step reads one that is not a thread's own.
    """
    kernels = [s for s in every(steps) if isinstance(s, Kernel)]
    made = {
        a.array: (a, bool(s.loops))
        for s in kernels
        for a in walk(s.block)
        if isinstance(a, Alloc)
    }
    for s in every(steps):
        asked: Block = ()
        own: set[str] = set()
        match s:
            case Kernel():
                asked = s.whole
                own = {a.array for a in walk(s.block) if isinstance(a, Alloc)}
            case Repeat(loop):
                asked = (replace(loop, body=()),)
            case Choose(test):
                asked = (If(test, ()),)
            case Plain(stmt):
                asked = (stmt,)
                own = {stmt.array} if isinstance(stmt, Alloc) else set()
            case Sort(inverse):
                if inverse.array in made:
                    raise _not_there(made[inverse.array][0])
        for name in (all_names(asked) - own) & made.keys():
            alloc, private = made[name]
            if not private or name in _measured(asked):
                raise _not_there(alloc)


def _not_there(made: Alloc) -> NotOnDevice:
    what = f"`{made.array}` is made on the device and measured later"
    return NotOnDevice(what, made.loc)


def _measured(block: Block) -> frozenset[str]:
    """The arrays whose extents a block asks for."""
    return frozenset(
        e.array
        for s in walk(block)
        for top in exprs(s)
        for e in walk_expr(top)
        if isinstance(e, Extent)
    )


def _made_on_device(steps: Sequence[Step]) -> frozenset[str]:
    """The scalars that a kernel sets and something else reads."""
    kernels = [s for s in every(steps) if isinstance(s, Kernel)]
    return frozenset().union(*(k.crossing for k in kernels))


class _Planner:
    """Makes the steps of a program, given the scalars that the host is to know."""

    def __init__(
        self,
        program: Program,
        types: dict[str, str],
        policy: Policy,
        numbers: frozenset[str],
    ) -> None:
        self.types, self.policy, self.numbers = types, policy, numbers
        self.nests = Nests(types, known_numbers(program.body), numbers)
        self.taken = {p.name for p in program.params} | set(written(program.body))
        self.live_out = frozenset(p.name for p in program.params if p.rank)
        self.decisions: list[Decision] = []

    # ---------------------------------------------------------------- the host

    def steps(
        self, block: Block, outer: tuple[For, ...], live: frozenset[str]
    ) -> tuple[Step, ...]:
        """The steps of a block: what the host has no part in, and no form shares out,
        in one thread, as long a run of statements as possible.
        """
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
        own = self.of_device(block)
        block = tuple(t for s in block for t in self.measured(s, own))
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

    def of_device(self, block: Block) -> frozenset[str]:
        """The arrays whose lengths data decides, and those as long as one of them."""
        found = {s.array for s in walk(block) if isinstance(s, Grow)}
        made = [s for s in walk(block) if isinstance(s, Alloc)]
        while True:
            more = {
                s.array
                for s in made
                if not all(map(self.known, s.shape))
                or any(a in found for e in s.shape for a in mentioned(e))
            }
            if more <= found:
                return frozenset(found)
            found |= more

    def measured(self, s: Stmt, own: frozenset[str]) -> Block:
        """A `Return` behind the lengths of `own` that it asks for; else `s`."""
        if not isinstance(s, Return) or not own:
            return (s,)
        lengths: dict[Expr, str] = {}

        def asked(e: Expr) -> Expr:
            if not isinstance(e, Extent) or e.array not in own:
                return e
            if e not in lengths:
                lengths[e] = fresh("length", self.taken)
                self.types[lengths[e]] = "weak int"
            return Var(lengths[e])

        returned = map_stmt_exprs(s, asked)
        return (*(Assign(Var(n), e, loc=s.loc) for e, n in lengths.items()), returned)

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
        """Does the host know the value of `e`?"""
        return host_knows(e, self.numbers)

    # ---------------------------------------------------------------- nests

    def nest(
        self, loop: For, outer: tuple[For, ...], live: frozenset[str]
    ) -> tuple[Step, ...] | None:
        """A nest shared out; else a loop of the host around kernels; else None: one
        thread runs it.
        """
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
        kind: Kind,
        reason: str,
        proof: Proof | None = None,
        about: Collection[str] | None = None,
    ) -> None:
        """Note how the nest of `loop` treats what it writes, or of that `about`."""
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
                Decision(loop.index, array, kind, reason, proof, loop.loc)
            )

    def shared_out(
        self, loop: For, outer: tuple[For, ...], live: frozenset[str]
    ) -> tuple[Step, ...] | None:
        """The kernels of a nest, or None if its outermost loop has to run in order."""
        found = self.nests.shared(loop, outer, live)
        if found is None:
            return None
        match self.policy.form(found):
            case "distributed":
                return self.distributed(loop, outer, live)
            case "independent":
                team = self.team(loop, found, outer, live)
                return team or self.independent(loop, found, "kept")
            case "inverse index":
                by_element = self.inverted(found, outer, live)
                return by_element or self.independent(loop, found, "owner")
            case "serial inside":
                return self.independent(loop, found, "owner")
            case "atomic":
                return (self.atomic(loop, found),)
            case "owner":
                return (self.owner(loop, found),)
            case "reduction":
                return (self.reduction(loop, found),)

    def independent(
        self, loop: For, found: Shared, kind: Kind
    ) -> tuple[Step, ...] | None:
        """A thread for each iteration of the loops that carry no dependence, if any."""
        loops = found.independent
        if not loops:
            return None
        self.tell(loop, kind, f"a thread for each {_these(loops)}", found.proof)
        return (Kernel(loops[-1].body, loops, why=proof_text(found.proof)),)

    def team(
        self, loop: For, found: Shared, outer: tuple[For, ...], live: frozenset[str]
    ) -> tuple[Step, ...] | None:
        """A block of threads for each iteration of the loops that carry no dependence,
        which share out the loops inside, if that is legal and worth it.
        """
        loops = found.independent
        if not loops or not self.policy.works_together(loops, loops[-1].body):
            return None
        body = teamed(loops, outer, live, self.nests.integers)
        if body is None:
            return None
        why = f"a block of threads for each {_these(loops)}"
        self.tell(loop, "kept", why, found.proof)
        why = f"{proof_text(found.proof)}; {why}, who share out its loops"
        return (Kernel(body, loops, why=why, team=True),)

    def atomic(self, loop: For, found: Shared) -> Kernel:
        """A thread for each iteration; what they add may meet."""
        why = self.meeting(loop, found)
        return Kernel(found.chain[-1].body, found.chain, atomic=found.others, why=why)

    def owner(self, loop: For, found: Shared) -> Kernel:
        """A thread for each element of the sums, which adds all of its terms."""
        meeting = self.meeting(loop, found)
        body, loops = found.chain[-1].body, found.owning
        rest = frozenset(written(body)) - found.others
        each = f"a thread for each {_these(loops)}"
        self.tell(loop, "owner", each, found.proof, rest)
        for f in reversed(found.reduced):
            body = (replace(f, body=body),)
        why = meeting or proof_text(found.proof)
        return Kernel(body, loops, atomic=found.others, why=why)

    def reduction(self, loop: For, found: Shared) -> Kernel:
        """A block of threads for each element of the sums, which share its terms."""
        self.meeting(loop, found)
        body, over = found.chain[-1].body, found.reduced
        rest = frozenset(written(body)) - found.others
        why = f"the threads of a block share out {_these(over)}; added in one order"
        self.tell(loop, "reduction", why, found.proof, rest)
        return Kernel(body, found.owning, over, found.sums, found.others, why=why)

    def meeting(self, loop: For, found: Shared) -> str:
        """Why increments are atomic, which is noted; nothing where none are."""
        if not found.others:
            return ""
        arrays = ", ".join(sorted(found.others))
        why = f"two iterations may add to the same element of {arrays}"
        self.tell(loop, "atomic", why, about=found.others)
        return why

    def inverted(
        self, found: Shared, outer: tuple[For, ...], live: frozenset[str]
    ) -> tuple[Step, ...] | None:
        """Terms, sorted by the elements that data adds them to, then a sum for each
        element; None where something stands against that.
        """
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

    def distributed(
        self, loop: For, outer: tuple[For, ...], live: frozenset[str]
    ) -> tuple[Step, ...]:
        """The parallel loop once for each group of the statements in its nest."""

        def split(f: For) -> list[For]:
            match f.body:
                case (For() as inner,) if len(parts(f.body)) == 1:
                    bodies: list[Block] = [(one,) for one in split(inner)]
                case body:
                    bodies = parts(body)
            # The proof of each tells of what it writes itself.
            return [replace(f, body=b, parallel=None) for b in bodies]

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


def _pushed(test: Expr, s: Stmt) -> Stmt:
    """`s` under a test, inside the loops around it.

    A scalar of an iteration stays private: it is set and read under one test.
    """
    match s:
        case For(body=body):
            own = assigned_scalars(tuple(x for x in body if not isinstance(x, For)))
            if own:
                return replace(s, body=(If(test, body, loc=s.loc),))
            return replace(s, body=tuple(_pushed(test, x) for x in body))
        case If(inner, _, ()):
            return replace(s, test=Call("and", (test, Call("bool", (inner,)))))
        case _:
            return If(test, (s,), loc=s.loc)


def _these(loops: Sequence[For]) -> str:
    return ", ".join(f.index for f in loops)
