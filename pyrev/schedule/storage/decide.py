"""Where each value that the reverse sweep reads is kept: from a timeline to a plan.

For every demand the cheapest legal place is taken, in this order:

recomputed  it is private to an iteration of a loop, and all that its slice starts from
            is available: the statements run again in the reversed iteration (unless
            a loop makes it: then it is recorded where that loop runs again anyway);
live        nothing overwrites it after its use: the reverse sweep reads it where it is;
taped       it is recorded where it is used, in an array over the loops around that use.

That is a greedy choice, value by value; what runs again at a level may ask for values
of outer levels, which are decided after it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping
from dataclasses import dataclass, field, replace

from pyrev.adjoint.reverse import FUNCTION
from pyrev.ir.nodes import (
    Alloc,
    Assign,
    Call,
    Check,
    Expr,
    Extent,
    Load,
    Loop,
    Return,
    Var,
    mentioned,
    rebuild,
    walk,
)
from pyrev.schedule.storage.cut import RUNNING, minimal_cut
from pyrev.schedule.storage.draft import Draft
from pyrev.schedule.storage.plan import Plan
from pyrev.schedule.storage.recomputation import Choice, Recomputation
from pyrev.schedule.storage.reruns import Reruns
from pyrev.schedule.storage.tapes import Tapes
from pyrev.schedule.storage.timeline import Leaf, Timeline, name_of
from pyrev.schedule.storage.trajectories import joined


@dataclass(frozen=True, slots=True)
class Options:
    """What a plan may do.

    `checkpointed` are loops that are reversed from kept states, each with their number
    or None: as many as `memory`, the bytes of all arrays made, has room for. The values
    of the names in `kept` are not made again, where nothing is checkpointed. With
    `apart` the forward sweep does all that the primal does. Names in `avoid` are not
    used. To record a number takes as much as `record` additions.
    """

    avoid: frozenset[str]
    memory: int | None = None
    kept: frozenset[str] = frozenset()
    checkpointed: Mapping[int, int | None] = field(default_factory=dict)
    apart: bool = False
    record: int = RUNNING


#: Tapes of more axes count as those of so many.
MOST = 8


def decide(timeline: Timeline, options: Options) -> Plan:
    """The plan by which every demand of `timeline` can be met.

    Law: with each read of the plan in the place of what was demanded, and each rerun
    before the reverse of its level, the reverse sweep reads the values that the primal
    had.
    """
    plan = _decided(timeline, options, Choice())
    if options.checkpointed or options.memory is not None or not plan.records:
        return plan
    choice = minimal_cut(timeline, options.kept, options.record)
    if not choice.leaves:
        return plan
    cut = _decided(timeline, options, choice)
    return min(plan, cut, key=_recorded)


def _recorded(plan: Plan) -> list[int]:
    """How much a plan records: the numbers of tapes, those over most loops first."""
    targets = {name_of(r.target): r.target for r in plan.records}
    axes = Counter(
        min(MOST, len(t.index) if isinstance(t, Load) else 0) for t in targets.values()
    )
    return [axes[k] for k in reversed(range(MOST + 1))]


def _decided(timeline: Timeline, options: Options, choice: Choice) -> Plan:
    """The plan in which iterations are made again from what is chosen."""
    decision = _Decision(timeline, options, choice)
    draft, reruns = decision.draft, decision.reruns
    ends = _outputs(timeline, draft) if options.apart else _cuts(timeline, draft)
    for demand in timeline.demands:
        decision.read(demand.at, demand.value)
    # Inner levels first: what runs again at one may ask an outer level for more.
    while todo := [k for k in draft.levels if k not in draft.reruns]:
        level = max(todo, key=timeline.depth)
        draft.reruns[level] = reruns.rerun(level, ends)
    return joined(draft.finished(), decision.recomputation)


def _outputs(timeline: Timeline, draft: Draft) -> list[int]:
    """Ask the forward sweep for all results; also what it does of no value's sake."""
    ends: list[int] = []
    outputs = draft.level(FUNCTION).roots
    for p in timeline.primal.params:
        if p.rank and p.name in timeline.writes:
            outputs[p.name] = None
    for s in walk(timeline.primal.body):
        match s:
            case Return(values):
                outputs |= dict.fromkeys(n for e in values for n in mentioned(e))
            case Check():
                ends.append(s.id)
    return ends


def _cuts(timeline: Timeline, draft: Draft) -> list[int]:
    """Where the program has no value though the user's function may have one: a text
    that was exported runs without the primal, so it looks itself.
    """
    body = walk(timeline.primal.body)
    cuts = [s for s in body if isinstance(s, Check) and s.error == "RecursionError"]
    if cuts:
        draft.level(FUNCTION)
    return [s.id for s in cuts]


class _Decision:
    """Decides demand by demand, each once."""

    def __init__(self, timeline: Timeline, options: Options, choice: Choice) -> None:
        self.timeline, self.options = timeline, options
        self.draft = Draft(timeline, {*timeline.names, *options.avoid})
        self.recomputation = Recomputation(
            timeline,
            options.checkpointed,
            options.kept | choice.names,
            choice.leaves,
        )
        #: The arrays that the reverse sweep reads where they are, whatever is decided.
        self.there = {
            d.value.array
            for d in timeline.demands
            if isinstance(d.value, Load) and self.recomputation.steady(d.at, d.value)
        }
        self.tapes = Tapes(self.draft, self.recomputation, self.saved)
        self.reruns = Reruns(
            self.draft,
            self.recomputation,
            options.checkpointed,
            options.memory,
            self.read,
            self.saved,
        )

    def read(self, at: int, value: Expr) -> Expr:
        """The expression by which the reverse sweep reads `value` as it was at `at`."""
        key = (at, value)
        if key not in self.draft.reads:
            match value:
                case Var() | Load():
                    found = self._leaf(at, value)
                case Extent():
                    found = self._extent(at, value)
                case _:
                    found = self._test(at, value)
            self.draft.reads[key] = found
        return self.draft.reads[key]

    def saved(self, expr: Expr, at: int) -> Expr:
        """Every value that `expr` reads, as it was at statement `at`."""
        match expr:
            case Var() | Load() | Extent():
                return self.read(at, expr)
            case Call(_, args):
                return rebuild(expr, tuple(self.saved(a, at) for a in args))
        return expr

    def _test(self, at: int, test: Expr) -> Expr:
        """How `test` came out at `at`: its operands where they are kept, or one bit."""
        level = self.recomputation.test_recorded_at(at, test)
        if level is None:
            return self.saved(test, at)
        return self.tapes.tape(level, at, test, "test")

    def _leaf(self, at: int, leaf: Var | Load) -> Expr:
        """Where a scalar or an element is read; its subscripts are demands as well."""
        timeline, legal = self.timeline, self.recomputation
        place, name = timeline.places[at], name_of(leaf)
        if place.counts(name):
            return leaf
        read: Expr = leaf
        if isinstance(leaf, Load):
            read = replace(leaf, index=tuple(self.saved(e, at) for e in leaf.index))
        if name not in timeline.writes:
            return read
        for loop in legal.makers_of(place, name):
            needs = legal.slice(loop.id, name) if legal.private(loop.id, name) else None
            if needs is None:
                continue
            overwritten = legal.overwritten(loop.id, at, leaf)
            if overwritten and not legal.recordable(loop.id, at, leaf):
                continue
            if isinstance(leaf, Var):
                found = self._stored(at, leaf, self.there)
                if found is not None:
                    return found
            dear = None if overwritten else self._made_beside(loop, at, leaf, name)
            if dear is not None:
                return self.tapes.tape(dear, at, leaf, name)
            self.draft.need(sorted(needs))
            if overwritten:
                return self.tapes.tape(loop.id, at, leaf, name)
            self.draft.need([(loop.id, name)])
            self.draft.note(name, "recomputed", at, level=loop.index)
            return read
        if legal.steady(at, leaf):
            self.draft.need([(FUNCTION, name)])
            self.draft.note(name, "live", at)
            return read
        if isinstance(leaf, Var):
            found = self._stored(at, leaf, timeline.ranks)
            if found is not None:
                return found
        return self.tapes.tape(FUNCTION, at, leaf, name)

    def _stored(self, at: int, leaf: Var, arrays: Container[str]) -> Expr | None:
        """The element of one of `arrays` in which the function itself keeps the value
        of a scalar.
        """
        if self.options.checkpointed:
            return None  # an array may be in an earlier state again
        timeline, legal = self.timeline, self.recomputation
        name = leaf.name
        for k in timeline.stores.get(name, ()):
            match timeline.places[k].stmt:
                case Assign(Load(array) as target) if (
                    array in arrays
                    and timeline.unchanged(name, k, at)
                    and timeline.dtype_of(array) == timeline.dtype_of(name)
                    and legal.keeps(k, target)
                ):
                    self.draft.need([(FUNCTION, array)])
                    self.draft.note(array, "live", at)
                    index = tuple(self.saved(e, k) for e in target.index)
                    return replace(target, index=index)
        return None

    def _made_beside(self, loop: Loop, at: int, leaf: Leaf, name: str) -> int | None:
        """The loop around `loop` whose iterations make `name` again anyway, if any.

        What takes a loop to make is not made twice then but recorded there, unless
        memory is what is short.
        """
        timeline, legal = self.timeline, self.recomputation
        if self.options.memory is not None or self.options.checkpointed:
            return None
        makers = timeline.writes_in(loop.id, name)
        if not any(timeline.loops_within(loop.id, w) for w in makers):
            return None
        for around in reversed(timeline.places[at].loops):
            level = around.id
            if level not in self.draft.levels or not timeline.inside(level, loop.id):
                continue
            loops = timeline.loops_within(level, at)
            needs = legal.slice(level, name)
            if (
                needs is not None
                and name in self._made_again(level)
                and legal.recordable(level, at, leaf)
                and all(self.tapes.extent(f, loops, level) is not None for f in loops)
            ):
                self.draft.need(sorted(needs))
                return level
        return None

    def _made_again(self, level: int) -> set[str]:
        """The names whose values, as far as is known, an iteration makes again."""
        want = self.draft.levels[level]
        todo = [*want.roots, *(n for r in want.records for n in mentioned(r.leaf))]
        found: set[str] = set()
        while todo:
            name = todo.pop()
            if name not in found:
                found.add(name)
                own = self.timeline.writes_in(level, name)
                reads = self.timeline.reads_of(level, own)
                todo += [n for _, e in reads for n in mentioned(e)]
        return found

    def _extent(self, at: int, leaf: Extent) -> Expr:
        """The extent of a local array: its `Alloc` must run again where it is private.

        An array that loops make has its extents recorded, or is made with others that
        are kept.
        """
        timeline, legal = self.timeline, self.recomputation
        name, place = leaf.array, timeline.places[at]
        if place.counts(name) or timeline.constant(leaf):
            return leaf
        makers = [w for w in timeline.writes[name] if timeline.makes(w)]
        for loop in reversed(place.loops):
            if legal.private(loop.id, name):
                around = [timeline.places[w].loops[-1:] for w in makers]
                if any([f.id for f in loops] != [loop.id] for loops in around):
                    break  # it has the lengths of the last one that it made
                needs = legal.slice(loop.id, name)
                if needs is not None:
                    self.draft.need([*sorted(needs), (loop.id, name)])
                    return leaf
        if any(timeline.places[w].loops for w in makers):
            if isinstance(place.stmt, Alloc) and place.stmt.array == name:
                return self.saved(place.stmt.shape[leaf.axis], at)
            return self.tapes.tape(FUNCTION, at, leaf, name)
        self.draft.need([(FUNCTION, name)])
        return leaf
