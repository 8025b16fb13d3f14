"""Which iterations touch which elements: loops run over integers alone, at small sizes.

A *panel* is one program's view of one axis of an array: its iterations as points, the
loop that moves along the axis from left to right, what else runs beside it from the top
down, and for each point the element that it adds to. Of the unscheduled adjoint that is
the scatter; of the readable one, if its subscripts are bare loop indices, the gather.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pyrev.driver.derive import Derived
from pyrev.ir.affine import slope
from pyrev.ir.diagnostics import ArgumentError
from pyrev.ir.dtypes import infer, is_float
from pyrev.ir.nodes import (
    Add,
    Alloc,
    Assign,
    Block,
    Call,
    Const,
    Expr,
    Extent,
    For,
    If,
    Load,
    Program,
    Stmt,
    Var,
    While,
    all_names,
    exprs,
    map_expr,
    walk,
    walk_expr,
    written,
)
from pyrev.ir.text import array_ranks, block_text, expr_text

Size = Var | Extent
Sizes = Mapping[Expr, int]
#: The indices of an iteration, and its element; None where a test forbids it.
Instance = tuple[dict[str, int], tuple[int, ...] | None]

ALONG, BESIDE, ELSEWHERE = 6, 3, 2  # iterations of a loop, by what it is to the picture
FEWEST, MOST = 3, 12  # elements that make a good picture
LARGEST = 17
AGAIN = 40  # good ones, in search of one where iterations meet
WORK = 50_000  # iterations in all, in search of sizes
POINTS = 2000  # iterations in a picture

#: What integers are made of.
OPERATIONS = frozenset(
    ("+", "-", "*", "//", "%", "neg", "abs", "int", "min", "max", "where")
    + ("<", "<=", ">", ">=", "==", "!=", "and", "or", "not")
)


@dataclass(frozen=True, slots=True, eq=False)
class Write:
    """A statement that adds to an element, and the loops and tests around it.

    `index` and all bounds are in loop indices, sizes and what is data.
    """

    stmt: Add | Assign
    index: tuple[Expr, ...]
    value: Expr
    loops: tuple[For, ...]
    tests: tuple[Expr, ...]

    @property
    def indices(self) -> tuple[str, ...]:
        return tuple(f.index for f in self.loops)


@dataclass(frozen=True, slots=True)
class Point:
    """An iteration: where it stands, in which row, and the element it adds to."""

    x: int
    row: tuple[str, tuple[int, ...]]
    element: int


@dataclass(frozen=True, slots=True)
class Panel:
    """The iterations of a program along one axis of an array.

    `scale` is by how many elements a step to the right moves; `contested` are the
    elements that several iterations of the loop along the axis add to.
    """

    text: str
    along: str
    beside: tuple[str, ...]
    points: tuple[Point, ...]
    rows: tuple[tuple[str, tuple[int, ...]], ...]
    scale: float
    elements: int
    contested: frozenset[int]
    note: str

    @property
    def sheared(self) -> bool:
        """Does every iteration stand at its element?"""
        return all(p.x == p.element for p in self.points)


# ------------------------------------------------------------------ reading a program


def writes(
    program: Program, array: str, like: Mapping[str, str] | None = None
) -> tuple[Write, ...]:
    """The statements of `program` that move values into elements of `array`.

    Integer scalars are replaced by what they were assigned, extents of an array in
    `like` by those of the array it is like. A statement that sets elements to a number
    is none of them.
    """
    reader = _Reader(program, array)
    ranks = {p.name: p.rank for p in program.params}
    for name, other in (like or {}).items():
        reader.shapes[name] = tuple(Extent(other, k) for k in range(ranks[name]))
    return tuple(reader.block(program.body, (), ()))


class _Reader:
    def __init__(self, program: Program, array: str) -> None:
        self.array = array
        kinds = infer(program)
        self.whole = {n for n, kind in kinds.items() if not is_float(kind)}
        self.known: dict[str, Expr] = {}
        self.shapes: dict[str, tuple[Expr, ...]] = {}

    def resolved(self, e: Expr) -> Expr:
        def node(part: Expr) -> Expr:
            match part:
                case Var(name):
                    return self.known.get(name, part)
                case Extent(array, axis) if array in self.shapes:
                    return self.shapes[array][axis]
            return part

        return map_expr(e, node)

    def forget(self, block: Block) -> None:
        for name in written(block):
            self.known[name] = Call("data", (Var(name),))

    def block(
        self, block: Block, loops: tuple[For, ...], tests: tuple[Expr, ...]
    ) -> Iterator[Write]:
        for s in block:
            match s:
                case Assign(Load(array, index)) | Add(Load(array, index)):
                    value = self.resolved(s.value)
                    if array == self.array and not isinstance(value, Const):
                        where = tuple(map(self.resolved, index))
                        yield Write(s, where, value, loops, tests)
                case Assign(Var(name), value) if name in self.whole:
                    self.known[name] = self.resolved(value)
                case Assign(Var(name)) | Add(Var(name)):
                    self.forget((s,))
                case Alloc(array, shape):
                    self.shapes[array] = tuple(map(self.resolved, shape))
                case For():
                    own = replace(
                        s,
                        lo=self.resolved(s.lo),
                        hi=self.resolved(s.hi),
                        step=self.resolved(s.step),
                    )
                    self.forget(s.body)
                    self.known.pop(s.index, None)
                    yield from self.block(s.body, (*loops, own), tests)
                    self.forget((s,))
                case If(test, then, orelse):
                    here = self.resolved(test)
                    before = dict(self.known)
                    yield from self.block(then, loops, (*tests, here))
                    one, self.known = self.known, before
                    yield from self.block(orelse, loops, (*tests, Call("not", (here,))))
                    for name in sorted(written((s,)) & self.whole):
                        a = one.get(name, Var(name))
                        b = self.known.get(name, Var(name))
                        self.known[name] = Call("where", (here, a, b))
                case While():
                    if any(_writes(x, self.array) for x in walk(s.body)):
                        raise ArgumentError(
                            f"{s.loc.place}: the range is data; a picture of"
                            f" `{self.array}` needs loops over ranges made of indices"
                            " and sizes"
                        )
                    self.forget((s,))


def _writes(s: Stmt, array: str) -> bool:
    return (
        isinstance(s, (Assign, Add))
        and isinstance(s.target, Load)
        and s.target.array == array
        and not isinstance(s.value, Const)
    )


def nests_text(program: Program, array: str) -> str:
    """The loops of `program` that move values into `array`, nothing else in them."""

    def kept(block: Block) -> Block:
        found: list[Stmt] = []
        for s in block:
            match s:
                case For() | While():
                    body = kept(s.body)
                    if body:
                        found.append(replace(s, body=body, note=""))
                case If():
                    then, orelse = kept(s.then), kept(s.orelse)
                    if then:
                        found.append(replace(s, then=then, orelse=orelse))
                    elif orelse:
                        found.append(If(Call("not", (s.test,)), orelse, loc=s.loc))
                case _ if _writes(s, array):
                    found.append(s)
        return tuple(found)

    return block_text(kept(program.body))


# ------------------------------------------------------------------ sizes


def _decidable(e: Expr, indices: Sequence[str], sizes: frozenset[Size]) -> bool:
    """Is `e` made of indices and sizes alone?"""
    return all(
        isinstance(part, Const)
        or part in sizes
        or (isinstance(part, Var) and part.name in indices)
        or (isinstance(part, Call) and part.op in OPERATIONS)
        for part in walk_expr(e)
    )


def sizes_of(program: Program) -> frozenset[Size]:
    """What may have a size: extents of array parameters and integer parameters."""
    found: set[Size] = set()
    for p in program.params:
        found |= {Extent(p.name, k) for k in range(p.rank)}
        if not p.rank and not p.is_float:
            found.add(Var(p.name))
    return frozenset(found)


def refuse_data(
    found: Sequence[Write], sizes: frozenset[Size], users: frozenset[str]
) -> None:
    """Raise `ArgumentError` where loops or subscripts are data.

    `users` are the names in the user's function, which messages may mention.
    """
    for w in found:
        place = expr_text(w.stmt.target)
        for k, e in enumerate(w.index):
            if not _decidable(e, w.indices, sizes):
                assert isinstance(w.stmt.target, Load)
                written = expr_text(w.stmt.target.index[k])
                raise ArgumentError(
                    f"{w.stmt.loc.place}: in `{place}` the subscript `{written}` is"
                    " data; a picture needs subscripts made of loop indices and sizes"
                )
        for f in w.loops:
            if not all(_decidable(e, w.indices, sizes) for e in exprs(f)):
                what = f"of `{f.index}` " if f.index in users else ""
                raise ArgumentError(
                    f"{f.loc.place}: the range {what}is data; a picture of `{place}`"
                    " needs loops over ranges made of indices and sizes"
                )


def needed(found: Sequence[Write], sizes: frozenset[Size]) -> tuple[Size, ...]:
    """The sizes that the loops, tests and subscripts mention, in order."""
    met: dict[Size, None] = {}
    for w in found:
        tests = [t for t in w.tests if _decidable(t, w.indices, sizes)]
        bounds = [e for f in w.loops for e in exprs(f)]
        for top in (*bounds, *tests, *w.index):
            for e in walk_expr(top):
                if isinstance(e, (Var, Extent)) and e in sizes:
                    met[e] = None
    return tuple(met)


def instances(w: Write, env: Sizes, sizes: frozenset[Size]) -> Iterator[Instance]:
    """Every iteration of a write: its loop indices, and the element.

    Tests that data decides are taken to hold.
    """
    run, order = _compiled(w, sizes)
    for at, element in run(*(env[size] for size in order)):
        yield dict(zip(w.indices, at, strict=True)), element


@functools.lru_cache(maxsize=512)
def _compiled(
    w: Write, sizes: frozenset[Size]
) -> tuple[Callable[..., Iterator[Any]], tuple[Size, ...]]:
    """The loops around a write as a generator of indices and elements, and its
    arguments: interpreted they would take a second.
    """
    order = needed((w,), sizes)
    names: dict[Expr, Expr] = {size: Var(f"n{k}") for k, size in enumerate(order)}
    names |= {Var(index): Var(f"i{k}") for k, index in enumerate(w.indices)}

    def text(e: Expr) -> str:
        return expr_text(map_expr(e, lambda part: names.get(part, part)))

    lines = [f"def run({', '.join(text(size) for size in order)}):"]
    for k, f in enumerate(w.loops):
        lo, hi, step = (_one_line(text(e)) for e in exprs(f))
        lines.append(f"{' ' * (k + 1)}for i{k} in range({lo}, {hi}, {step}):")
    tests = [t for t in w.tests if _decidable(t, w.indices, sizes)]
    holds = " and ".join(f"({_one_line(text(t))})" for t in tests) or "True"
    at = "".join(f"i{k}, " for k in range(len(w.loops)))
    element = "".join(f"{_one_line(text(e))}, " for e in w.index)
    pad = " " * (len(w.loops) + 1)
    lines.append(f"{pad}yield ({at}), ({element}) if {holds} else None")
    made: dict[str, Any] = {}
    exec("\n".join(lines), made)  # noqa: S102
    run: Callable[..., Iterator[Any]] = made["run"]
    return run, order


def _one_line(text: str) -> str:
    return " ".join(text.split())


def choose(
    found: Sequence[Write],
    after: Sequence[Write],
    given: Sizes,
    sizes: frozenset[Size],
    extents: Sequence[Expr],
) -> dict[Expr, int]:
    """Small sizes with which no access leaves the array of extents `extents`.

    Raises `ArgumentError` if none are found, or those given do not do.
    """
    wanted = needed((*found, *after), sizes)
    free = [s for s in wanted if s not in given]
    likely = {s: _likely(s, found) for s in free}
    ladders = [sorted(range(1, LARGEST), key=_nearest(likely[s])) for s in free]
    first: dict[Expr, int] | None = None
    good: list[dict[Expr, int]] = []
    left = WORK
    for steps in _compositions([len(x) for x in ladders]):
        env: dict[Expr, int] = dict(given)
        env |= {s: x[k] for s, x, k in zip(free, ladders, steps, strict=True)}
        if left <= 0:
            break
        try:
            count, touched = _touched(found, env, sizes, extents)
            again, agrees = _touched(after, env, sizes, extents)
        except (ZeroDivisionError, ValueError):  # `//` by zero, a step of zero
            count, touched, again, agrees = 0, None, 0, None
        left -= count + again + 1
        if touched is None or agrees is None:
            continue
        first = first or env
        elements, meet = touched
        if all(FEWEST <= n <= MOST for n in elements):
            good.append(env)
            if meet or len(good) == AGAIN:
                return env if meet else good[0]
    if first is not None:
        return good[0] if good else first
    unknown = ", ".join(expr_text(s) for s in wanted) or "none"
    raise ArgumentError(
        f"{found[0].stmt.loc.place}: with no small sizes does this statement run inside"
        f" its array; give others by sizes= (these decide: {unknown})"
    )


def _compositions(lengths: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """All tuples of numbers below `lengths`, those with the least sum first."""

    def parts(total: int, k: int) -> Iterator[tuple[int, ...]]:
        if k == len(lengths):
            if not total:
                yield ()
            return
        for first in range(min(total, lengths[k] - 1) + 1):
            for rest in parts(total - first, k + 1):
                yield (first, *rest)

    for total in range(sum(lengths) + 1):
        yield from parts(total, 0)


def _nearest(wanted: int) -> Callable[[int], tuple[int, int]]:
    return lambda k: (abs(k - wanted), k)


def _likely(size: Size, found: Sequence[Write]) -> int:
    """A good value for a size, by the loops that it bounds."""
    best = 0
    for w in found:
        for n in range(len(w.index)):
            along, beside = roles(w, n)
            for f in w.loops:
                if any(part == size for e in exprs(f) for part in walk_expr(e)):
                    role = ALONG if f.index == along else BESIDE
                    known = f.index == along or f.index in beside
                    best = max(best, role if known else ELSEWHERE)
    return best or ALONG


def _touched(
    found: Sequence[Write], env: Sizes, sizes: frozenset[Size], extents: Sequence[Expr]
) -> tuple[int, tuple[list[int], bool] | None]:
    """How many iterations there are; how many elements along each axis, and does an
    iteration meet another's?

    None if there are no elements, too many, or some outside of the array.
    """
    elements: set[tuple[int, ...]] = set()
    count = hits = 0
    for w in found:
        for _, element in instances(w, env, sizes):
            count += 1
            if element is None:
                continue
            inside = zip(element, extents, strict=True)
            if count > POINTS or any(
                not 0 <= e < env.get(extent, e + 1) for e, extent in inside
            ):
                return count, None
            elements.add(element)
            hits += 1
    if not elements:
        return count, None
    axes = [len(set(along)) for along in zip(*elements, strict=True)]
    return count, (axes, len(elements) < hits)


# ------------------------------------------------------------------ panels


def roles(w: Write, axis: int) -> tuple[str, tuple[str, ...]]:
    """The loop that moves along an axis, and those that matter beside it.

    It is the outermost in the subscript. Beside it matter those that stand with it in
    a subscript, a bound or a test.
    """
    inside = [n for n in w.indices if _mentions(w.index[axis], n)]
    if not inside:
        return "", ()
    groups = [[e] for e in _conjuncts(w.tests)]
    for part in walk_expr(w.value):
        if isinstance(part, Load):
            groups += [[k] for k in part.index]
    groups += [[e, Var(f.index)] for f in w.loops for e in exprs(f)]
    together = set(inside)
    size = 0
    while size < len(together):
        size = len(together)
        for group in groups:
            here = {n for n in w.indices for e in group if _mentions(e, n)}
            if here & together:
                together |= here
    return inside[0], tuple(n for n in w.indices if n in together and n != inside[0])


def _conjuncts(tests: Sequence[Expr]) -> list[Expr]:
    found: list[Expr] = []
    for t in tests:
        match t:
            case Call("and", args):
                found += _conjuncts(args)
            case _:
                found.append(t)
    return found


def _mentions(e: Expr, name: str) -> bool:
    return any(part == Var(name) for part in walk_expr(e))


def panel(
    program: Program,
    array: str,
    found: Sequence[Write],
    axis: int,
    env: Sizes,
    sizes: frozenset[Size],
    extent: Expr,
) -> Panel:
    """The iterations of `found` along one axis of `array`."""
    points: dict[Point, None] = {}
    #: The iterations that add to an element, by loop and element.
    takers: dict[tuple[int, tuple[int, ...]], set[int]] = {}
    several = len({_label(w, axis) for w in found}) > 1
    named: list[tuple[str, tuple[str, ...]]] = []
    for w in found:
        along, beside = roles(w, axis)
        named.append((along, beside))
        own = next((f for f in w.loops if f.index == along), None)
        for at, element in instances(w, env, sizes):
            if element is None:
                continue
            x = at[along] if along else element[axis]
            row = (_label(w, axis) if several else "", tuple(at[n] for n in beside))
            points[Point(x, row, element[axis])] = None
            takers.setdefault((id(own), element), set()).add(x)
    contested = {e[axis] for (_, e), xs in takers.items() if len(xs) > 1}
    along, beside = named[0]
    highest = max((p.element for p in points), default=0)
    notes = dict.fromkeys(f.note for w in found for f in w.loops if f.note)
    return Panel(
        nests_text(program, array),
        along,
        beside if all(b == beside for _, b in named) else (),
        tuple(points),
        tuple(dict.fromkeys(p.row for p in points)),
        _scale(found[0], axis, along, tuple(points)),
        max(env.get(extent, 0), highest + 1),
        frozenset(contested),
        "; ".join(notes),
    )


def _label(w: Write, axis: int) -> str:
    """What tells a write from others along an axis: its subscript or where it reads."""
    subscript = w.index[axis]
    if not isinstance(subscript, Var):
        return expr_text(subscript)
    for part in walk_expr(w.value):
        if isinstance(part, Load):
            for k in part.index:
                if _mentions(k, subscript.name):
                    return expr_text(k)
    return expr_text(subscript)


def _scale(w: Write, axis: int, along: str, points: Sequence[Point]) -> float:
    """How far apart two neighbouring iterations stand, in elements."""
    found = slope(w.index[axis], along)
    if found is not None:
        return abs(found) or 1
    elements = {p.element for p in points}
    steps = {p.x for p in points}
    if len(steps) < 2:
        return 1
    return max((max(elements) - min(elements)) / (max(steps) - min(steps)), 0.25)


def panels(
    program: Program,
    before: Derived,
    after: Program,
    array: str,
    given: Mapping[str, int | tuple[int, ...]] | None,
) -> list[tuple[Panel, Panel]]:
    """For each axis of `array` its panel of the adjoint `before` it was scheduled, and
    `after`.
    """
    named = dict(before.adjoint.names)
    ranks = {p.name: p.rank for p in program.params if p.rank}
    ranks |= array_ranks(program.body)
    known = [n for n in named if n in ranks]
    if array not in known:
        raise ArgumentError(
            f"plot({array!r}): {program.name}() has no array of this name with an"
            f" adjoint; there are: {', '.join(known) or 'none'}"
        )
    rank, own = ranks[array], named[array]
    if rank > 2:
        raise ArgumentError(
            f"plot({array!r}): `{array}` has {rank} axes; a picture shows one or two"
        )
    cotangents = before.adjoint.cotangents
    like = {d: of for d, of in cotangents if isinstance(of, str)}
    found = writes(before.program, own, like), writes(after, own, like)
    if not found[0] or not found[1]:
        raise ArgumentError(
            f"plot({array!r}): nothing is added to `{own}`: no derivative passes where"
            f" {program.name}() reads `{array}`, or it does not"
        )
    sizes = sizes_of(after) - {
        Extent(d, k) for d in like for k in range(ranks.get(like[d], 0))
    }
    for side in found:
        refuse_data(side, sizes, all_names(program.body))
    for w in found[0]:
        for e in w.index:
            several = [k for k in w.indices if _mentions(e, k)]
            if len(several) > 2:
                raise ArgumentError(
                    f"{w.stmt.loc.place}: the subscript `{expr_text(e)}` moves with"
                    f" {len(several)} loops ({', '.join(several)}); a picture shows two"
                )
    extents: list[Expr] = [Extent(array, n) for n in range(rank)]
    env = choose(*found, _fixed(program, given or {}), sizes, extents)
    return [
        (
            panel(before.program, own, found[0], n, env, sizes, extents[n]),
            panel(after, own, found[1], n, env, sizes, extents[n]),
        )
        for n in range(rank)
    ]


def _fixed(
    program: Program, given: Mapping[str, int | tuple[int, ...]]
) -> dict[Expr, int]:
    """The sizes that the user gave; `ArgumentError` if they fit no parameter."""
    params = {p.name: p for p in program.params}
    fixed: dict[Expr, int] = {}
    for name, size in given.items():
        p = params.get(name)
        shape = size if isinstance(size, tuple) else (size,)
        if p is None or (not p.rank and p.is_float):
            known = ", ".join(
                q.name for q in program.params if q.rank or not q.is_float
            )
            raise ArgumentError(
                f"sizes: {program.name}() has no array or integer {name!r}; there are:"
                f" {known or 'none'}"
            )
        if any(type(k) is not int or k < 1 for k in shape):
            raise ArgumentError(f"sizes: {name!r} must be positive, not {size!r}")
        if p.rank and len(shape) != p.rank:
            raise ArgumentError(
                f"sizes: `{name}` has {p.rank} axes; give so many numbers, not {size!r}"
            )
        if not p.rank:
            fixed[Var(name)] = shape[0]
        fixed |= {Extent(name, k): shape[k] for k in range(p.rank)}
    return fixed
