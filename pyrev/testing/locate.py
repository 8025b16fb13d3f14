"""Which line is at fault when a gradient is wrong.

At every point of a run the adjoints held there are the derivatives of the outputs with
respect to the values held there. Both can be looked at: marker statements, which
compute nothing, are put before each statement and survive differentiation; at a marker
the primal's values are moved and the rest runs on, and at the same marker in the
reverse sweep its adjoints are read. They agree at the end of the run and disagree at
its start, so bisection over the run finds two neighbouring points, one of each: the
statement between them is the one whose adjoint is wrong.

What is searched is the adjoint before its loops are scheduled. Where that one is right,
the fault is in the schedule or in the compiled code, which is said instead of a line.
"""

from __future__ import annotations

import ast
import copy
import linecache
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pyrev.adjoint.activity import activity, returned
from pyrev.api.call import Call
from pyrev.driver.arguments import spread
from pyrev.driver.derive import derive_untidied
from pyrev.driver.request import Request
from pyrev.driver.targets import PYTHON
from pyrev.emit.python import emit_python
from pyrev.ir.liveness import exposed
from pyrev.ir.nodes import (
    Add,
    Alloc,
    Assign,
    Block,
    Const,
    Load,
    Loop,
    Param,
    Program,
    Return,
    Stmt,
    Var,
    While,
    all_names,
    blocks,
    fresh,
    names,
    walk,
    with_blocks,
)
from pyrev.testing.differences import OUTSIDE, Along
from pyrev.testing.judge import judge, unit_of
from pyrev.testing.outcome import (
    Cotangents,
    Outcome,
    Values,
    functional,
    is_float,
    widen,
)

#: More points than this are not worth the time: a smaller input shows the same fault.
MOST = 30_000
SMALLER = "with smaller arrays the line at fault could be named"
Hook = Callable[[int, dict[str, Any]], Any]


@dataclass(frozen=True)
class Point:
    """A place in the program: before `stmt`, or at the end of a block of `owner`.

    `rest` are the statements that follow, from the innermost block outwards, each with
    the statement that its block belongs to.
    """

    stmt: Stmt | None
    owner: Stmt | None
    rest: tuple[tuple[Block, Stmt | None], ...]

    def live(self, name: str) -> bool:
        """May the value that `name` has here still be read?"""
        for block, owner in self.rest:
            read, assigned = exposed(block, name)
            if read:
                return True
            if assigned:
                return False
            if isinstance(owner, Loop):
                again = exposed(owner.body, name)[0]
                tested = isinstance(owner, While) and name in names(owner.test)
                if again or tested:
                    return True
        return False

    def indices(self) -> tuple[str, ...]:
        """The indices of the loops around, outermost first."""
        loops = [o for _, o in self.rest if isinstance(o, Loop) and o.index]
        return tuple(loop.index for loop in reversed(loops))


@dataclass
class Marked:
    """A program with a marker at each of its points."""

    program: Program
    points: list[Point] = field(default_factory=list)
    marker: str = ""
    probes: str = ""


def mark(program: Program) -> Marked:
    """Put ``marker += probes[k]`` at every point `k`; `marker` is returned last."""
    taken = set(all_names(program.body)) | {p.name for p in program.params}
    made = Marked(program, [], fresh("marker", taken), fresh("probes", taken))
    ids = max((s.id for s in walk(program.body)), default=0)

    def here(point: Point) -> Stmt:
        made.points.append(point)
        k = len(made.points) - 1
        value = Load(made.probes, (Const(k),))
        return Add(Var(made.marker), value, id=ids + 1 + k)

    def through(
        block: Block, owner: Stmt | None, outside: tuple[tuple[Block, Stmt | None], ...]
    ) -> Block:
        out: list[Stmt] = []
        for i, stmt in enumerate(block):
            rest = ((block[i:], owner), *outside)
            out.append(here(Point(stmt, owner, rest)))
            beyond = ((block[i + 1 :], owner), *outside)
            inner = tuple(through(b, stmt, beyond) for b in blocks(stmt))
            out.append(with_blocks(stmt, inner) if inner else stmt)
        if not block or not isinstance(block[-1], Return):
            out.append(here(Point(None, owner, (((), owner), *outside))))
        return tuple(out)

    body = list(through(program.body, None, ()))
    result = returned(program)
    values = result.values if result is not None else ()
    if body and isinstance(body[-1], Return):
        body.pop()
    last = ids + 1 + len(made.points)
    start = Assign(Var(made.marker), Const(0.0), id=last)
    place = program.loc if result is None else result.loc
    end = Return((*values, Var(made.marker)), single=False, loc=place, id=last + 1)
    params = (*program.params, Param(made.probes, 1, "float64"))
    made.program = Program(
        program.name,
        params,
        (start, *body, end),
        captured=program.captured,
        loc=program.loc,
    )
    return made


class Search:
    """Both sweeps of one call, stopped where the bisection asks."""

    def __init__(
        self,
        f: Any,
        arguments: Values,
        wrt: tuple[str, ...],
        weights: Cotangents,
        tolerance: float,
    ) -> None:
        call = Call(f, *spread(f._signature, copy.deepcopy(widen(arguments))))
        self.units, function = call.units, call.function
        self.values: dict[str, Any] = widen(call.values)
        self.weights, self.tolerance, self.wrt = weights, tolerance, wrt
        self.kinds = call.kinds
        self.marked = mark(function.typed(self.kinds))
        program = self.marked.program
        asked = (*wrt, self.marked.probes)
        derived = derive_untidied(program, asked, function.avoid)
        self.active = activity(program, asked) - {self.marked.marker}
        self.active -= {self.marked.probes}
        self.adjoint = derived.program
        self.names = dict(derived.adjoint.names)
        self.cotangents = derived.adjoint.cotangents
        self.primal_text = emit_python(program).text
        self.adjoint_text = emit_python(self.adjoint).text
        self.arrays = {p.name for p in program.params if p.rank}
        self.arrays |= {s.array for s in walk(program.body) if isinstance(s, Alloc)}
        # An adjoint that the sweep leaves alone is copied at its end only.
        self.before_copy = {
            s.array: s.copied
            for s in walk(self.adjoint.body)
            if isinstance(s, Alloc) and s.copied is not None
        }

    # ---------------------------------------------------------------- running

    def primal(self, hook: Hook, stop: int | None = None) -> float:
        """The functional of one run, `hook` called at the markers.

        With `stop`, only at that point, and what it returns is assigned to the scalars
        that are carried there.
        """
        targets: tuple[str, ...] = ()
        if stop is not None:
            targets = self.scalars(self.marked.points[stop])
        function = self._hooked(
            self.primal_text, self.marked.program.name, "marker", hook, stop, targets
        )
        own = copy.deepcopy(self.values)
        own[self.marked.probes] = np.zeros(len(self.marked.points))
        params = [p.name for p in self.marked.program.params]
        with np.errstate(all="ignore"):
            returned_values = function(*(own[p] for p in params))[:-1]
        written = {name: own[name] for name in self.weights.written}
        result = Outcome(tuple(returned_values), written, tuple)
        weights = Cotangents(self.weights.returned, self.weights.written, tuple)
        return functional(result, weights)

    def reverse(self, hook: Hook, stop: int | None = None) -> dict[str, Any]:
        """Run both sweeps, `hook` called at the markers of the reverse one."""
        function = self._hooked(
            self.adjoint_text, self.adjoint.name, "probes", hook, stop, ()
        )
        own = copy.deepcopy(self.values)
        own[self.marked.probes] = np.zeros(len(self.marked.points))
        own |= {param: self._cotangent(of) for param, of in self.cotangents}
        params = [p.name for p in self.adjoint.params]
        with np.errstate(all="ignore"):
            found = function(*(own[p] for p in params))
        return dict(zip(self.wrt, found, strict=False))

    def _cotangent(self, of: str | int) -> Any:
        """The weight of an output; zero for what has none, and for the marker."""
        if isinstance(of, str):
            given = self.weights.written.get(of)
            return np.zeros_like(self.values[of]) if given is None else given.copy()
        weights = (*self.weights.returned, None)
        return 0.0 if weights[of] is None else copy.deepcopy(weights[of])

    def _hooked(
        self,
        text: str,
        name: str,
        what: str,
        hook: Hook,
        stop: int | None,
        targets: tuple[str, ...],
    ) -> Callable[..., Any]:
        """The function of a text, its markers replaced by calls of `hook`."""
        tree = ast.parse(text)
        for node in ast.walk(tree):
            for part in ("body", "orelse"):
                block = getattr(node, part, None)
                if isinstance(block, list):
                    block[:] = [self._hook(s, what, stop, targets) for s in block]
        space: dict[str, Any] = {"_at": hook}
        exec(compile(ast.fix_missing_locations(tree), f"<{name}>", "exec"), space)
        function: Callable[..., Any] = space[name]
        return function

    def _hook(
        self, stmt: ast.stmt, what: str, stop: int | None, targets: tuple[str, ...]
    ) -> ast.stmt:
        marker, probes = self.marked.marker, self.marked.probes
        match stmt, what:
            case (
                ast.AugAssign(
                    ast.Name(left), _, ast.Subscript(ast.Name(right), ast.Constant(k))
                ),
                "marker",
            ) if (left, right) == (marker, probes):
                pass
            case (
                ast.AugAssign(ast.Subscript(ast.Name(left), ast.Constant(k)), _, _),
                "probes",
            ) if left == self.names[probes]:
                pass
            case _:
                return stmt
        assert isinstance(k, int)
        if stop is not None and k != stop:
            return ast.Pass()
        call = ast.parse(f"_at({k}, locals())").body[0]
        assert isinstance(call, ast.Expr)
        if not targets:
            return call
        left_side = ast.Tuple([ast.Name(t, ast.Store()) for t in targets], ast.Store())
        return ast.Assign([left_side], call.value)

    # ---------------------------------------------------------------- comparing

    def scalars(self, point: Point) -> tuple[str, ...]:
        """The scalars that carry a derivative past a point, in the order of names."""
        names = [n for n in self.names if n in self.active and n not in self.arrays]
        return tuple(n for n in names if point.live(n))

    def carried(self, point: Point, state: Mapping[str, Any]) -> Iterator[str]:
        """Everything that carries a derivative past a point of the primal."""
        scalars = self.scalars(point)
        for name in self.names:
            if name not in self.active or not is_float(state.get(name)):
                continue
            if name in self.arrays:
                if name in self.values or point.live(name):
                    yield name
            elif name in scalars:
                yield name

    def wrong(self, k: int, turn: int) -> bool:
        """Do the adjoints at turn `turn` of point `k` differ from differences there?"""
        point = self.marked.points[k]
        state = self._state(k, turn)
        adjoints = self._adjoints(k, turn)
        rng = np.random.default_rng(2)
        direction: dict[str, Any] = {}
        got, size = 0.0, 0.0
        for name in self.carried(point, state):
            value = np.asarray(state[name])
            move = rng.uniform(-1.0, 1.0, value.shape) * unit_of(value)
            direction[name] = move if value.ndim else float(move)
            adjoint = self._adjoint_of(name, adjoints, value)
            got += float(np.sum(adjoint * move))
            size += float(np.sum(np.abs(adjoint * move)))
        if not direction:
            return False
        at = self._along(k, turn, direction)
        scale = max(abs(at(0.0)), size) or 1.0
        if not math.isfinite(scale):
            scale = 1.0
        size = size if math.isfinite(size) and size > 0.0 else scale
        tolerance = min(self.tolerance, 1e-6)
        verdict = judge(at, got, size=size, scale=scale, tolerance=tolerance).verdict
        return verdict == "wrong" or (verdict != "pole" and not math.isfinite(got))

    def _adjoint_of(self, name: str, adjoints: Mapping[str, Any], like: Any) -> Any:
        held = self.names[name]
        if held not in adjoints and held in self.before_copy:
            held = self.before_copy[held]
        found = np.asarray(adjoints.get(held, 0.0), np.float64)
        return found if found.shape == like.shape else np.zeros(like.shape)

    def _along(self, k: int, turn: int, direction: Values) -> Along:
        """The functional when the values at a point are moved along a direction."""
        carried = self.scalars(self.marked.points[k])

        def at(t: float) -> float:
            turns = 0

            def hook(_: int, state: dict[str, Any]) -> tuple[Any, ...]:
                nonlocal turns
                here = turns == turn
                turns += 1
                if here:
                    for name, move in direction.items():
                        if name in self.arrays:
                            state[name] += t * move
                # A scalar that has no value on this path is not read on it either.
                return tuple(
                    state.get(n, math.nan) + (t * direction.get(n, 0.0) if here else 0)
                    for n in carried
                )

            try:
                return self.primal(hook, stop=k)
            except OUTSIDE:
                return math.nan

        return at

    def _state(self, k: int, turn: int) -> dict[str, Any]:
        return self._snapshot(self.primal, k, turn, self.scalars(self.marked.points[k]))

    def _adjoints(self, k: int, turn: int) -> dict[str, Any]:
        seen = [j for j in self.reversed if j == k]
        return self._snapshot(self.reverse, k, len(seen) - 1 - turn, ())

    def _snapshot(
        self, run: Callable[..., Any], k: int, turn: int, carried: tuple[str, ...]
    ) -> dict[str, Any]:
        """What the names held when the sweep `run` came to point `k` that time."""
        turns = 0
        kept: dict[str, Any] = {}

        def hook(_: int, state: dict[str, Any]) -> tuple[Any, ...]:
            nonlocal turns
            if turns == turn:
                kept.update(copy.deepcopy(state))
            turns += 1
            return tuple(state.get(n, math.nan) for n in carried)

        run(hook, stop=k)
        return kept

    # ---------------------------------------------------------------- the search

    def visits(self) -> tuple[list[int], list[int]]:
        """The points in the order of the run, and in that of the reverse sweep."""
        forward: list[int] = []
        backward: list[int] = []

        def to(seen: list[int]) -> Hook:
            def hook(k: int, _: dict[str, Any]) -> None:
                if len(seen) >= MOST:
                    raise TooLong
                seen.append(k)

            return hook

        self.primal(to(forward))
        self.reverse(to(backward))
        return forward, backward

    def first_wrong(self) -> str:
        """The line whose adjoint is the first to be wrong, "" if none is found."""
        forward, self.reversed = self.visits()
        mirrored = self.reversed[::-1]
        if forward != mirrored:
            k = _last_difference(forward, mirrored)
            line = _quote(self.marked.points[k])
            return f"the reverse sweep takes another way than the function: {line}"

        def turn(place: int) -> int:
            return forward[:place].count(forward[place])

        low, high = 0, len(forward) - 1
        if not self.wrong(forward[low], 0):
            return ""
        if self.wrong(forward[high], turn(high)):
            return _fault(Point(returned(self.marked.program), None, ()), {})
        while high - low > 1:
            middle = (low + high) // 2
            if self.wrong(forward[middle], turn(middle)):
                low = middle
            else:
                high = middle
        point = self.marked.points[forward[low]]
        state = self._state(forward[low], turn(low))
        return _fault(point, state)

    def stage(self, f: Any, gradients: Values) -> str:
        """What made a right adjoint wrong: its schedule, or the compiler."""
        right = self.reverse(lambda *_: None)
        unit = self.units.adjoint(Request(PYTHON, self.kinds, self.wrt))
        own = copy.deepcopy(self.values)
        own |= {param: self._cotangent(of) for param, of in unit.cotangents}
        with np.errstate(all="ignore"):
            found = unit.call([own[p] for p in unit.params])
        readable = dict(zip(self.wrt, found, strict=True))
        for made, blamed in (
            (readable, "the schedule of its loops"),
            (gradients, "the compiled code"),
        ):
            differing = [n for n in self.wrt if self._apart(right[n], made[n])]
            if differing:
                lines = ", ".join(self._writers(differing))
                return f"the adjoint is right, but {blamed} is not: {lines}"
        return ""

    def _apart(self, a: Any, b: Any) -> bool:
        """Do two gradients differ by more than the tolerance?"""
        p, q = np.asarray(a, np.float64), np.asarray(b, np.float64)
        size = max(float(np.max(np.abs(p), initial=0.0)), 1.0)
        return not np.allclose(p, q, rtol=0.0, atol=self.tolerance * size)

    def _writers(self, wrt: Sequence[str]) -> Iterator[str]:
        """The lines that contribute to some gradients."""
        found: dict[str, None] = {}
        for stmt in walk(self.adjoint.body):
            if isinstance(stmt, (Add, Assign)) and stmt.loc.line:
                if stmt.target_name in {self.names[n] for n in wrt}:
                    found[stmt.loc.place] = None
        return iter(found)


class TooLong(Exception):
    """The run passes too many points."""


def locate(
    f: Any,
    arguments: Values,
    gradients: Values,
    weights: Cotangents,
    tolerance: float,
) -> str:
    """Where the adjoint of `f` is wrong, in one sentence; "" if that cannot be told."""
    try:
        search = Search(f, arguments, tuple(gradients), weights, tolerance)
        return search.first_wrong() or search.stage(f, gradients)
    except TooLong:
        return SMALLER
    except Exception as error:  # an adjoint that is wrong may fail in any way
        return f"the search for the line at fault failed: {error!r}"


def _last_difference(forward: list[int], mirrored: list[int]) -> int:
    """The point at which two runs part, seen from their ends."""
    pairs = zip(reversed(forward), reversed(mirrored), strict=False)
    for k, other in pairs:
        if k != other:
            return k
    longer = max(forward, mirrored, key=len)
    return longer[-1 - min(len(forward), len(mirrored))]


def _fault(point: Point, state: Mapping[str, Any]) -> str:
    turns = [f"{i} = {state[i]}" for i in point.indices() if i in state]
    when = f" (at {', '.join(turns)})" if turns else ""
    return f"the adjoint of this line is wrong{when}: {_quote(point)}"


def _quote(point: Point) -> str:
    """The user's line: file, number and text."""
    stmt = point.stmt if point.stmt is not None else point.owner
    if stmt is None:
        return "the end of the function"
    loc = stmt.loc
    text = linecache.getline(loc.file, loc.line).strip()
    return f"{loc.place}: {text}"
