"""The partials of straight-line code as a graph, and what is left of it by elimination.

    run    ::= statements without control flow, in which every value has one place
    vertex ::= what the run reads, an operation, a scalar, what the run leaves behind
    edge   ::= the partial derivative of one vertex with respect to another

Eliminating a vertex joins the edges that come in with those that go out: each pair
becomes their product, added to what there is. With all that is neither input nor
output gone, the edges are the run's Jacobian (Griewank and Walther 2008, ch. 9). The
order decides how many products that takes; to find the best one is NP-complete (Naumann
2008), so the vertex with the fewest pairs goes first (Markowitz' rule; Griewank and
Reese 1991).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, assert_never

from pyrev.adjoint.rules import PREDICATES, RULES, partial
from pyrev.ir.affine import apart
from pyrev.ir.dtypes import Floats, as_float, known_dtype
from pyrev.ir.nodes import (
    NOWHERE,
    Add,
    Assign,
    Block,
    Call,
    Const,
    Expr,
    Extent,
    Load,
    Loc,
    Saved,
    Var,
    fresh,
    map_expr,
    names,
    substitute,
    walk_expr,
)
from pyrev.ir.simplify import ZERO_F, add, is_leaf, mul, number

Kind = Literal["input", "operation", "output"]
Run = tuple[Assign | Add, ...]
Pair = tuple[int, int]

ONE_F = Const(1.0)


@dataclass(frozen=True, slots=True)
class Vertex:
    """One value of a run.

    `value` is what it is in terms of values on entry to the run and of
    `LocalGraph.names`; `place` is what it is read from (an input), the scalar that
    holds it, or where it is left (an output). `operation` is the primitive as it is
    written, None for what only moves a value, and `operands` are the vertices of its
    arguments, None for those without. `at` numbers the statement.
    """

    kind: Kind
    value: Expr
    place: Var | Load | None = None
    operation: Call | None = None
    operands: tuple[int | None, ...] = ()
    at: int = 0
    loc: Loc = NOWHERE


@dataclass(frozen=True, slots=True)
class LocalGraph:
    """The vertices of a run in the order of their evaluation, and its partials.

    `edges` maps (from, to) to a partial derivative, a float; `uses` are the pairs
    through which no derivative passes: subscripts, tests, operations that are flat.
    `names` says, in order, what the names mean that stand in partials for values made
    in the run; `types` are the dtypes of all names.
    """

    vertices: tuple[Vertex, ...]
    edges: Mapping[Pair, Expr]
    uses: frozenset[Pair] = frozenset()
    names: tuple[tuple[str, Expr], ...] = ()
    types: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Eliminated:
    """The partials from inputs to outputs, and how to get them.

    An edge is short: `steps` names, in order, the products and sums that it is made
    of. `order` lists the vertices as they went; `multiplications` counts the products
    of two factors neither of which is a sign or a choice.
    """

    edges: Mapping[Pair, Expr]
    steps: tuple[tuple[str, Expr], ...]
    order: tuple[int, ...]
    multiplications: int
    #: Edges that may be infinite, and products that a zero before such an edge decides.
    steep: frozenset[Pair] = frozenset()
    guards: int = 0
    #: Edges that choices along them may cut, and the test that they are there: what
    #: comes in is not passed on else, be it infinite.
    when: Mapping[Pair, Expr] = field(default_factory=dict)

    def expanded(self, pair: Pair, longest: int) -> Expr | None:
        """The partial of an edge without the names of steps; None if it has more than
        `longest` parts.

        Written out, a product of sums may grow with the number of paths.
        """
        sizes: dict[str, int] = {}
        whole: dict[str, Expr] = {}
        for name, e in self.steps:
            sizes[name] = _size(e, sizes)
            if sizes[name] <= longest:
                whole[name] = substitute(e, whole)
        partial = self.edges[pair]
        return substitute(partial, whole) if _size(partial, sizes) <= longest else None


def _size(e: Expr, sizes: Mapping[str, int]) -> int:
    return sum(
        sizes.get(part.name, 1) if isinstance(part, Var) else 1 for part in walk_expr(e)
    )


# ------------------------------------------------------------------ runs


def runs(block: Block) -> Iterator[Run]:
    """The longest runs of statements of `block` that `local_graph` takes, in order.

    A run ends before control flow, before a read that may meet an element which the
    run wrote elsewhere in the array, and before a write that may meet one unless both
    are increments.

    >>> from pyrev.parse import parse_block
    >>> block = parse_block('''
    ... t = a[i] * 2.0
    ... b[i] = t
    ... c[i] = b[i] + b[k]
    ... ''')
    >>> [len(run) for run in runs(block)]
    [2, 1]
    """
    run: list[Assign | Add] = []
    written: list[tuple[Load, bool]] = []
    changed: set[str] = set()
    for stmt in block:
        if not isinstance(stmt, (Assign, Add)):
            if run:
                yield tuple(run)
            run, written, changed = [], [], set()
            continue
        if any(_conflicts(e, stmt, written, changed) for e in _elements(stmt)):
            yield tuple(run)
            run, written, changed = [], [], set()
        run.append(stmt)
        if isinstance(stmt.target, Load):
            written.append((stmt.target, isinstance(stmt, Add)))
        else:
            changed.add(stmt.target.name)
    if run:
        yield tuple(run)


def _elements(stmt: Assign | Add) -> Iterator[Load]:
    for top in (stmt.value, stmt.target):
        for e in walk_expr(top):
            if isinstance(e, Load):
                yield e


def _conflicts(
    e: Load,
    stmt: Assign | Add,
    written: Sequence[tuple[Load, bool]],
    changed: set[str],
) -> bool:
    """May `e` be an element that was written, and is not known to be the very same?"""
    for other, adds in written:
        if other.array != e.array:
            continue
        moved = bool((names(e) | names(other)) & changed - {e.array})
        if not moved and apart(other, e):
            continue
        if e is stmt.target:
            if adds and isinstance(stmt, Add):
                continue
            return True
        if adds or moved or other != e:
            return True
    return False


# ------------------------------------------------------------------ the graph


def local_graph(
    run: Run,
    active: frozenset[str],
    live: frozenset[str],
    silent: frozenset[str] = frozenset(),
    types: Mapping[str, str] | None = None,
) -> LocalGraph:
    """The values of one of `runs` and the partial derivatives between them.

    A derivative passes through the names in `active`. The scalars in `live` are left
    behind, beside the elements that the run writes; those in `silent` (loop indices)
    have no vertex; `types` are the dtypes of the names in it. Law: with all inputs held
    but one, an output changes at the rate of the sum over all paths of the products of
    their edges; an increment is what is added, not the element. The values of both
    branches of a conditional expression are mentioned: who computes a partial must do
    it under the test.

    >>> from pyrev.parse import parse_block
    >>> from pyrev.ir.text import expr_text
    >>> (run,) = runs(parse_block('''
    ... t = sin(a[i])
    ... b[i] = t * t
    ... '''))
    >>> graph = local_graph(run, frozenset("abt"), frozenset(), frozenset("i"))
    >>> [f"{v.kind} {expr_text(v.value)}" for v in graph.vertices]
    ['input a[i]', 'operation np.sin(a[i])', 'operation t * t', 'output t * t']
    >>> [(pair, expr_text(e)) for pair, e in graph.edges.items()]
    [((0, 1), 'np.cos(a[i])'), ((1, 2), '2 * t'), ((2, 3), '1.0')]
    """
    made = _Builder(run, active, silent, types or {})
    for at, stmt in enumerate(run):
        made.statement(stmt, at)
    made.leave(live)
    return LocalGraph(
        tuple(made.vertices),
        made.edges,
        frozenset(made.uses),
        made.mentioned(),
        made.types,
    )


@dataclass(frozen=True, slots=True)
class _Value:
    """An expression in values of the run, its vertex, and vertices that it only
    reads.
    """

    expr: Expr
    vertex: int | None = None
    reads: tuple[int, ...] = ()

    @property
    def every(self) -> tuple[int, ...]:
        return self.reads if self.vertex is None else (*self.reads, self.vertex)


class _Builder:
    def __init__(
        self,
        run: Run,
        active: frozenset[str],
        silent: frozenset[str],
        types: Mapping[str, str],
    ) -> None:
        self.active, self.silent = active, silent
        self.types = Floats(types)
        self.vertices: list[Vertex] = []
        self.edges: dict[Pair, Expr] = {}
        self.uses: set[Pair] = set()
        self.names: list[tuple[str, Expr]] = []
        self.scalars: dict[str, _Value] = {}
        self.elements: dict[Load, _Value] = {}
        self.inputs: dict[Expr, int] = {}
        self.at, self.loc = 0, NOWHERE
        self.taken = {
            name
            for s in run
            for name in (s.target_name, *names(s.target), *names(s.value))
        }
        #: Scalars whose value on entry is read, or that have a value already.
        self.met: set[str] = set()

    def vertex(
        self,
        kind: Kind,
        value: Expr,
        place: Var | Load | None = None,
        operation: Call | None = None,
        operands: tuple[int | None, ...] = (),
    ) -> int:
        """A new vertex, of the present statement."""
        loc = self.loc if operation is None else operation.loc
        loc = self.loc if loc == NOWHERE else loc
        made = Vertex(kind, value, place, operation, operands, self.at, loc)
        self.vertices.append(made)
        return len(self.vertices) - 1

    def connect(self, source: int, to: int, partial: Expr) -> None:
        old = self.edges.get((source, to))
        self.edges[source, to] = partial if old is None else sum_of(old, partial)

    def depend(self, reads: Sequence[int], to: int) -> None:
        self.uses.update((r, to) for r in reads if (r, to) not in self.edges)

    def mentioned(self) -> tuple[tuple[str, Expr], ...]:
        """The names of values that something mentions."""
        found: set[str] = set()
        for e in self.edges.values():
            found |= names(e)
        for v in self.vertices:
            found |= names(v.value)
            if v.place is not None:
                found |= names(v.place)
        kept: list[tuple[str, Expr]] = []
        for name, e in reversed(self.names):
            if name in found:
                found |= names(e)
                kept.append((name, e))
        return tuple(kept[::-1])

    # ---------------------------------------------------------------- statements

    def statement(self, stmt: Assign | Add, at: int) -> None:
        self.at, self.loc = at, stmt.loc
        if isinstance(stmt.target, Var):
            value = stmt.value
            if isinstance(stmt, Add):
                value = Call("+", (stmt.target, value), loc=stmt.loc)
            self.assign(stmt.target, self.visit(value), value)
            return
        found = self.visit(stmt.value)
        index = [self.visit(k) for k in stmt.target.index]
        place = Load(
            stmt.target.array, tuple(k.expr for k in index), loc=stmt.target.loc
        )
        to = self.leave_at(place, found)
        self.depend([r for k in index for r in k.every], to)
        if isinstance(stmt, Assign):
            self.elements[place] = self.named(place, found)

    def assign(self, target: Var, found: _Value, written: Expr) -> None:
        """The scalar `target` takes a value; what only has a name gets a vertex too."""
        name = target.name
        own = fresh(name, self.taken) if name in self.met else name
        self.met.add(name)
        self.call_it(own, found.expr)
        if not found.every:  # a constant
            self.scalars[name] = _Value(Var(own))
            return
        carries = name in self.active and found.vertex is not None
        top = None if found.vertex is None else self.vertices[found.vertex]
        if carries and top is not None and top.operation is written:
            assert found.vertex is not None
            vertex = found.vertex
            self.vertices[vertex] = replace(top, place=target)
            self.mention(vertex, found.expr, Var(own))
        else:
            operation = written if isinstance(written, Call) else None
            vertex = self.vertex("operation", found.expr, target, operation)
            if carries:
                assert found.vertex is not None
                self.connect(found.vertex, vertex, ONE_F)
                self.depend(found.reads, vertex)
            else:
                self.depend(found.every, vertex)
        reads = () if carries else (vertex,)
        self.scalars[name] = _Value(Var(own), vertex if carries else None, reads)

    def mention(self, vertex: int, result: Expr, name: Var) -> None:
        """Partials of an operation mention its result by the name that it got."""
        for pair, e in self.edges.items():
            if pair[1] == vertex:
                self.edges[pair] = map_expr(e, lambda k: name if k == result else k)

    def call_it(self, name: str, value: Expr) -> None:
        """From here on `name` means `value`."""
        self.names.append((name, value))
        dtype = known_dtype(value, self.types)
        if dtype is not None:
            self.types.setdefault(name, dtype)

    def named(self, place: Load, found: _Value) -> _Value:
        """What a later read of an element that the run assigned gives."""
        if is_leaf(found.expr):
            return found
        name = fresh("v", self.taken)
        self.call_it(name, found.expr)
        return _Value(Var(name), found.vertex, found.reads)

    def leave_at(self, place: Var | Load, found: _Value) -> int:
        """A vertex for what the run leaves at a place."""
        to = self.vertex("output", found.expr, place)
        name = place.name if isinstance(place, Var) else place.array
        if found.vertex is not None and name in self.active:
            self.connect(found.vertex, to, ONE_F)
            self.depend(found.reads, to)
        else:
            self.depend(found.every, to)
        return to

    def leave(self, live: frozenset[str]) -> None:
        """The scalars that are read after the run."""
        for name, value in self.scalars.items():
            if name in live and value.every:
                vertex = value.every[-1]
                v = self.vertices[vertex]
                self.at, self.loc = v.at, v.loc
                if v.operation is None and not self.is_used(vertex):
                    self.vertices[vertex] = replace(v, kind="output")
                else:
                    self.leave_at(Var(name), value)

    def is_used(self, vertex: int) -> bool:
        return any(vertex == i for i, _ in (*self.edges, *self.uses))

    # ---------------------------------------------------------------- expressions

    def visit(self, e: Expr) -> _Value:
        match e:
            case Const() | Extent():
                return _Value(e)
            case Var(name):
                if name in self.scalars:
                    return self.scalars[name]
                if name in self.silent:
                    return _Value(e)
                self.met.add(name)
                return self.input(e, name)
            case Load(array, index):
                parts = [self.visit(k) for k in index]
                place = Load(array, tuple(k.expr for k in parts), loc=e.loc)
                if place in self.elements:
                    return self.elements[place]
                found = self.input(place, array)
                self.depend([r for k in parts for r in k.every], found.every[-1])
                return found
            case Call(op, args):
                return self.call(e, op, args)
            case Saved():
                raise AssertionError("values are kept before their graph is made")
            case _:
                assert_never(e)

    def input(self, place: Var | Load, name: str) -> _Value:
        if place not in self.inputs:
            self.inputs[place] = self.vertex("input", place, place)
        number = self.inputs[place]
        if name in self.active:
            return _Value(place, number)
        return _Value(place, None, (number,))

    def call(self, written: Call, op: str, args: tuple[Expr, ...]) -> _Value:
        rule = RULES[op]
        found = [self.visit(a) for a in args]
        expr = Call(op, tuple(v.expr for v in found), loc=written.loc)
        live = [
            k for k, v in enumerate(found) if v.vertex is not None and rule.flows(k)
        ]
        reads = tuple(dict.fromkeys(r for v in found for r in v.reads))
        flat = [v.vertex for k, v in enumerate(found) if k not in live]
        reads += tuple(r for r in flat if r is not None and r not in reads)
        if not live:
            return _Value(expr, None, reads)
        operands = tuple(v.vertex for v in found)
        number = self.vertex("operation", expr, None, written, operands)
        inner = expr.args
        if op == "*" and len(live) == 2 and found[0].vertex == found[1].vertex:
            op, inner, live = "**", (inner[0], Const(2)), live[:1]
        for k in live:
            vertex = found[k].vertex
            assert vertex is not None
            self.connect(vertex, number, partial_of(op, inner, k, self.types))
        self.depend(reads, number)
        return _Value(expr, number)


def partial_of(
    op: str, args: tuple[Expr, ...], k: int, types: Mapping[str, str]
) -> Expr:
    """The partial derivative of ``op(args)`` with respect to argument `k`."""
    if op == "where" and isinstance(args[0], Call) and args[0].op in PREDICATES:
        return args[0] if k == 1 else Call("not", (args[0],))
    env: dict[str, Expr] = dict(zip(RULES[op].args, args, strict=True))
    env["y"] = Call(op, args)
    found = partial(op, args, k, env, types)
    # Partials are multiplied with each other.
    return found if selects(found) else as_float(found, types, env["y"])


# ------------------------------------------------------------------ elimination


def selects(e: Expr) -> bool:
    """Is a partial a truth value, which selects instead of multiplying?"""
    return isinstance(e, Call) and e.op in PREDICATES


def product_of(a: Expr, b: Expr, types: Mapping[str, str]) -> Expr:
    """The partial along two edges, one after the other."""
    if selects(a) and selects(b):
        return Call("and", (a, b))
    if selects(a):
        a, b = b, a
    return Call("where", (b, a, ZERO_F)) if selects(b) else mul(a, b, types)


def sum_of(a: Expr, b: Expr) -> Expr:
    """The partial along two paths."""
    p, q = (Call("where", (e, ONE_F, ZERO_F)) if selects(e) else e for e in (a, b))
    m, n = number(p), number(q)
    return Const(m + n) if m is not None and n is not None else add(p, q)


def is_sign(e: Expr) -> bool:
    """Is it 1 or -1, so that a product with it costs nothing?"""
    return number(e) in (1, -1)


def eliminate(
    graph: LocalGraph,
    taken: frozenset[str] = frozenset(),
    steep: frozenset[Pair] = frozenset(),
) -> Eliminated:
    """The graph without what is neither input nor output.

    The vertex with the fewest pairs of an edge in and an edge out goes first, of
    several the one that is evaluated last. `taken` are names that steps must not have,
    beside those in the graph; `steep` are edges that may be infinite: a zero cotangent
    behind one gives an exact zero.

    >>> from pyrev.parse import parse_block
    >>> from pyrev.ir.text import expr_text
    >>> (run,) = runs(parse_block('''
    ... t = sin(a[i])
    ... b[i] = t * t
    ... '''))
    >>> graph = local_graph(run, frozenset("abt"), frozenset(), frozenset("i"))
    >>> done = eliminate(graph)
    >>> [(pair, expr_text(done.expanded(pair, 99))) for pair in done.edges]
    [((0, 3), '2 * t * np.cos(a[i])')]
    >>> done.multiplications
    1
    """
    used = set(taken) | {name for name, _ in graph.names}
    for e in (*graph.edges.values(), *(e for _, e in graph.names)):
        used |= names(e)
    for v in graph.vertices:
        used |= names(v.value) | (set() if v.place is None else names(v.place))
    made = _Elimination(graph, used, steep)
    made.run()
    when = {pair: made.when[pair] for pair in made.edges if pair in made.when}
    return Eliminated(
        made.edges,
        _needed(made.steps, (*made.edges.values(), *when.values())),
        tuple(made.order),
        made.multiplications,
        frozenset(made.steep & made.edges.keys()),
        made.guards,
        when,
    )


def _needed(
    steps: Sequence[tuple[str, Expr]], results: Sequence[Expr]
) -> tuple[tuple[str, Expr], ...]:
    """The steps that lead to `results`."""
    read: set[str] = set().union(*map(names, results))
    found: list[tuple[str, Expr]] = []
    for name, e in reversed(steps):
        if name in read:
            read |= names(e)
            found.append((name, e))
    return tuple(found[::-1])


class _Elimination:
    def __init__(
        self, graph: LocalGraph, taken: set[str], steep: frozenset[Pair]
    ) -> None:
        self.edges = dict(graph.edges)
        self.types = Floats(graph.types)
        self.taken = taken
        self.steps: list[tuple[str, Expr]] = []
        self.order: list[int] = []
        self.multiplications = 0
        self.steep = set(steep)
        self.guards = 0
        self.when = {pair: e for pair, e in self.edges.items() if selects(e)}
        count = len(graph.vertices)
        self.sources: list[dict[int, None]] = [{} for _ in range(count)]
        self.targets: list[dict[int, None]] = [{} for _ in range(count)]
        for i, j in self.edges:
            self.sources[j][i] = None
            self.targets[i][j] = None
        self.left = {k for k, v in enumerate(graph.vertices) if v.kind == "operation"}

    def run(self) -> None:
        while self.left:
            j = min(self.left, key=self.degree)
            self.left.remove(j)
            if self.sources[j] or self.targets[j]:
                self.order.append(j)
                self.remove(j)

    def degree(self, j: int) -> tuple[int, int]:
        """Markowitz' degree, and a choice among equals that no set's order decides."""
        return len(self.sources[j]) * len(self.targets[j]), -j

    def remove(self, j: int) -> None:
        into = {i: self.edges.pop((i, j)) for i in self.sources[j]}
        out = {k: self.edges.pop((j, k)) for k in self.targets[j]}
        for i in into:
            del self.targets[i][j]
        for k in out:
            del self.sources[k][j]
        for k, last in out.items():
            for i, first in into.items():
                self.choose((i, j), (j, k))
                self.join((i, k), first, last, (i, j) in self.steep)
                if {(i, j), (j, k)} & self.steep:
                    self.steep.add((i, k))

    def choose(self, into: Pair, out: Pair) -> None:
        """When the edge that joins two is there, or one between the same vertices."""
        pair = into[0], out[1]
        tests = [self.when[p] for p in (into, out) if p in self.when]
        if not tests or (pair in self.edges and pair not in self.when):
            self.when.pop(pair, None)
            return
        test = tests[0] if len(tests) == 1 else self.step(Call("and", (*tests,)))
        if pair in self.edges:
            test = self.step(Call("or", (self.when[pair], test)))
        self.when[pair] = test

    def join(self, pair: Pair, first: Expr, last: Expr, steep: bool) -> None:
        if not any(is_sign(e) or selects(e) for e in (first, last)):
            self.multiplications += 1
        found = product_of(last, first, self.types)
        if steep and not is_sign(last) and not selects(last):
            self.guards += 1
            found = Call("where", (Call("!=", (last, ZERO_F)), found, ZERO_F))
        if pair in self.edges:
            found = sum_of(self.edges[pair], found)
        self.edges[pair] = self.named(found)
        self.sources[pair[1]][pair[0]] = None
        self.targets[pair[0]][pair[1]] = None

    def named(self, e: Expr) -> Expr:
        """A name for what is long, so that no edge is; truth values stay what they
        are.
        """
        return e if is_leaf(e) or selects(e) else self.step(e)

    def step(self, e: Expr) -> Var:
        name = fresh("p", self.taken)
        self.steps.append((name, e))
        return Var(name)
