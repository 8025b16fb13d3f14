"""What of each iteration is recorded: a minimal cut through the flow of its values.

What the reverse sweep needs of an iteration can be recorded where it is, or made again
from other values: from the state in which the iteration began, in the end. What is
recorded cuts all ways from what is lost to what is needed. Each value weighs what it
takes to keep it, and what it takes to make it again; the lightest cut is a maximum flow
(Ford and Fulkerson 1956). So Enzyme chooses its caches (Moses et al. 2023) and PyTorch
what its compiled graphs save between forward and backward.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from pyrev.adjoint.reverse import FUNCTION
from pyrev.ir.affine import integer
from pyrev.ir.liveness import exposed
from pyrev.ir.nodes import (
    Alloc,
    Call,
    Expr,
    For,
    Load,
    Loop,
    Var,
    While,
    exprs,
    walk_expr,
)
from pyrev.ir.primitives import PRIMITIVES, UNKNOWN
from pyrev.ir.trip_counts import trip_count
from pyrev.schedule.storage.recomputation import Choice, Recomputation
from pyrev.schedule.storage.timeline import Leaf, Timeline, name_of

#: What it takes to record a number and to read it back, in additions: where the result
#: runs, and where it is read, since a tape is more to read than a line made again.
RUNNING, READING = 4, 24

#: How often a loop is taken to run.
TRIPS = 1000

#: The ends of the flow: what is lost, and what is needed.
LOST, NEEDED = "lost", "needed"

Node = tuple[object, ...]


def minimal_cut(timeline: Timeline, kept: frozenset[str], record: int) -> Choice:
    """What to record of iterations, beside what is recorded anyway.

    To record a number takes as much as `record` additions. Values of the names in
    `kept` are not made again. Outer loops are decided first: what their iterations make
    again is there in inner ones.
    """
    choice = Choice()
    loops = [p.stmt for p in timeline.places.values()]
    levels = [s for s in loops if isinstance(s, (For, While))]
    legal = Recomputation(timeline, {}, kept, frozenset())
    demanded = frozenset(d.value for d in timeline.demands)
    for loop in sorted(levels, key=lambda s: len(timeline.places[s.id].loops)):
        more = _Flow(timeline, legal, loop, record, demanded).cut()
        if more != Choice():
            choice = choice | more
            legal = Recomputation(timeline, {}, kept | choice.names, choice.leaves)
    return choice


@dataclass(slots=True)
class _Flow:
    """The flow of values in an iteration of one loop.

    Nodes are names that are private to it, versions of what is not, and tests. A node
    has two ends; the edge between them is what it takes to record the value.
    """

    timeline: Timeline
    legal: Recomputation
    loop: Loop
    record: int
    #: The values that the reverse sweep reads.
    demanded: frozenset[Expr]
    edges: dict[tuple[Node, Node], float] = field(default_factory=dict)
    #: By node: the reads of it, each by the node that reads it.
    reads: dict[Node, list[tuple[Node, int, Leaf]]] = field(default_factory=dict)
    names: dict[str, Node] = field(default_factory=dict)

    @property
    def level(self) -> int:
        return self.loop.id

    def cut(self) -> Choice:
        """What is recorded of the lightest cut, where that makes something again."""
        for demand in self.timeline.demands_in.get(self.level, ()):
            self._demand(demand.at, demand.value)
        if not any(head == NEEDED for (_, (head, *_)) in self.edges):
            return Choice()
        again = _reached(self.edges)
        recorded = {
            node
            for node in (*self.names.values(), *self.reads)
            if (*node, "in") not in again and (*node, "out") in again
        }
        names = {n for n, node in self.names.items() if node in recorded}
        leaves = {
            (self.level, at, leaf)
            for node, found in self.reads.items()
            if node in recorded
            for reader, at, leaf in found
            if (*reader, "in") in again
        }
        return Choice(frozenset(names), frozenset(leaves)) if leaves else Choice()

    # ---------------------------------------------------------------- demands

    def _demand(self, at: int, value: Expr) -> None:
        """A value that the reverse sweep reads, if an iteration could make it."""
        match value:
            case Var() | Load():
                if self._of_this_level(at, value):
                    node = self._name(name_of(value))
                    self._edge((*node, "out"), (NEEDED,), math.inf)
            case Call():
                if self.legal.test_recorded_at(at, value) is None:
                    return
                leaves = [e for e in walk_expr(value) if isinstance(e, (Var, Load))]
                if not any(self._of_this_level(at, e) for e in leaves):
                    return
                node = ("test", at)
                self._edge((*node, "in"), (*node, "out"), self._weight(at) / 8)
                self._edge((*node, "out"), (NEEDED,), math.inf)
                for leaf in leaves:
                    self._operand(node, at, leaf)

    def _of_this_level(self, at: int, leaf: Var | Load) -> bool:
        """Is a value recorded that an iteration of this loop might make again?"""
        name = name_of(leaf)
        if self.legal.recorded_at(at, leaf) is None or name in self.legal.kept:
            return False
        private = (
            loop.id
            for loop in reversed(self.timeline.places[at].loops)
            if self.legal.private(loop.id, name)
        )
        return next(private, FUNCTION) == self.level and not self.legal.overwritten(
            self.level, at, leaf
        )

    # ---------------------------------------------------------------- the graph

    def _edge(self, tail: Node, head: Node, weight: float) -> None:
        self.edges[tail, head] = weight

    def _name(self, name: str) -> Node:
        """The node of a private name, and those of all that it is made of."""
        node = ("name", name)
        if name in self.names:
            return node
        self.names[name] = node
        timeline, level = self.timeline, self.level
        own = timeline.writes_in(level, name)
        array = name in timeline.ranks
        weight = self._weight(own[0]) * TRIPS ** timeline.ranks.get(name, 0)
        self._edge((*node, "in"), (*node, "out"), weight)
        lost = exposed(timeline.body_of(level), name)[0] or name in self.legal.kept
        if array and not any(map(timeline.makes, own)):
            lost = True
        again = math.inf if lost else sum(map(self._work, own))
        self._edge((LOST,), (*node, "in"), again)
        for at, leaf in () if lost else timeline.reads_of(level, own):
            self._operand(node, at, leaf)
        return node

    def _operand(self, reader: Node, at: int, leaf: Leaf) -> None:
        """A value that statement `at` reads where it makes `reader` again."""
        timeline, level, name = self.timeline, self.level, name_of(leaf)
        if timeline.places[at].counts(name) or timeline.constant(leaf):
            return
        if self.legal.makes(level, name):
            node = self._name(name)
        else:
            there = self.legal.available(level, at, leaf)
            if there is not None or self.legal.copyable(level, at, leaf):
                return
            node = self._version(at, leaf)
        if node != reader:
            self.reads.setdefault(node, []).append((reader, at, leaf))
            # Else what reads it is made again only if this is.
            end = "out" if self._restorable(at, leaf) else "in"
            self._edge((*node, end), (*reader, "in"), math.inf)

    def _version(self, at: int, leaf: Leaf) -> Node:
        """The node of a value that is lost: of an element, or of a scalar that other
        iterations change.
        """
        timeline, name = self.timeline, name_of(leaf)
        here = timeline.places[at].first
        firsts = [timeline.places[w].first for w in timeline.writes.get(name, ())]
        node = ("lost", leaf, max((k for k in firsts if k <= here), default=-1))
        self._edge((LOST,), (*node, "in"), math.inf)
        weight = self._weight(at, name) if self._restorable(at, leaf) else math.inf
        if weight < math.inf and leaf in self.demanded:
            weight = 0.0  # the reverse sweep reads it itself
        ends = (*node, "in"), (*node, "out")
        self._edge(*ends, max(weight, self.edges.get(ends, 0.0)))
        return node

    def _restorable(self, at: int, leaf: Leaf) -> bool:
        """Can statement `at`, run again at this level, read a value from a tape?

        Not in a loop inside, whose iterations may be numbered through, and no element
        of an array that is the iteration's own.
        """
        inner = self.timeline.loops_within(self.level, at)
        match leaf:
            case Var(name):
                return not any(self.timeline.writes_in(f.id, name) for f in inner)
            case Load(array):
                own = self.legal.makes(self.level, array)
                copied = isinstance(self.timeline.places[at].stmt, Alloc)
                return not (inner or own or copied)
        return False

    # ---------------------------------------------------------------- weights

    def _weight(self, at: int, name: str = "") -> float:
        """What it takes to record what statement `at` makes, or reads of `name`."""
        loops = self.timeline.places[at].loops
        if name and name not in self.timeline.ranks:
            loops = tuple(f for f in loops if self.timeline.writes_in(f.id, name))
        return float(self.record * math.prod(map(_trips, loops)))

    def _work(self, at: int) -> float:
        """What it takes to run statement `at` again."""
        place = self.timeline.places[at]
        own = 1 + sum(map(_cost, exprs(place.stmt)))
        return float(own * math.prod(map(_trips, place.loops)))


def _cost(e: Expr) -> int:
    """What it takes to evaluate an expression, in additions."""
    calls = (part for part in walk_expr(e) if isinstance(part, Call))
    return sum(PRIMITIVES.get(call.op, UNKNOWN).cost for call in calls)


def _trips(loop: Loop) -> int:
    """How often a loop runs, as far as that is known; not at all counts as once."""
    trips = None if isinstance(loop, While) else trip_count(loop)
    known = None if trips is None else integer(trips)
    return TRIPS if known is None else max(known, 1)


def _reached(edges: dict[tuple[Node, Node], float]) -> frozenset[Node]:
    """The nodes on the side of what is needed, of the lightest cut that is nearest to
    it: what is recorded then is as far on as it can be.
    """
    import networkx  # takes a while to import, and most functions have no choice

    graph = networkx.DiGraph()
    for (tail, head), weight in edges.items():
        # Backwards: the cut that is found first is the one next to the source.
        if weight < math.inf:
            graph.add_edge(head, tail, capacity=weight)
        else:
            graph.add_edge(head, tail)
    graph.add_nodes_from([(LOST,), (NEEDED,)])
    _, (needed, _) = networkx.minimum_cut(graph, (NEEDED,), (LOST,))
    return frozenset(needed)
