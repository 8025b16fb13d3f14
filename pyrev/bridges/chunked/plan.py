"""Tasks for a call on chunks: the primal, and its derivative backwards.

A *graph* is a table of tasks: a function and its arguments, in which `Ref` stands for
what another task gives. A *state* says where each array and number is that far.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from pyrev.api.call import Call
from pyrev.bridges.chunked.boxes import Box, whole
from pyrev.bridges.chunked.frames import Frames
from pyrev.bridges.chunked.inside import outside
from pyrev.bridges.chunked.layout import Chunks, Layout, loaded_in
from pyrev.bridges.chunked.phases import ChunkingError, Phase
from pyrev.bridges.chunked.restricted import NEVER, Restriction, Text, without_sums
from pyrev.bridges.chunked.slices import Slice, Slicer
from pyrev.bridges.chunked.stages import (
    Alone,
    Split,
    Stage,
    Steps,
    phases,
)
from pyrev.bridges.chunked.tasks import BlockOf, Code, Layer, Place
from pyrev.bridges.chunked.uncollected import uncollected
from pyrev.driver.units import Units
from pyrev.emit.python import emit_python
from pyrev.ir.dtypes import concrete, infer, is_float
from pyrev.ir.liveness import live_before
from pyrev.ir.nodes import (
    Add,
    Alloc,
    Assign,
    Const,
    Extent,
    Param,
    Program,
    Return,
    Stmt,
    Var,
    all_names,
    blocks,
    map_block,
    walk,
    with_blocks,
)

Key = tuple[Any, ...]

#: Windows may be so many times as large as chunks on average, with so many elements
#: more: beyond, most of what blocks do is done by others too.
MOST_READ = 4, 4096
#: If a block has a larger one than that, it is tried to copy what is read far away.
WIDE = 4, 4096


class Ref(NamedTuple):
    """What a task gives."""

    key: Key


class Task(NamedTuple):
    """A call: arguments may be references, and lists of these.

    It waits for what is to be there `after`, too.
    """

    function: Callable[..., Any]
    args: tuple[Any, ...]
    after: tuple[Ref, ...] = ()


Graph = dict[Key, Task]


def worded(key: str, word: str) -> str:
    """A key with one more word in front of what is not a word."""
    name, *rest = key.split("-")
    words = [*itertools.takewhile(str.isalpha, rest)]
    return "-".join((name, *words, word, *rest[len(words) :]))


@dataclass(frozen=True, slots=True)
class Chunked:
    """An array in chunks: those of task (`key`, *place), of whose results it is `item`
    if they are several.
    """

    key: str
    item: int | None = None
    #: The axes along which the tasks are numbered; None for all of the array's.
    axes: tuple[int, ...] | None = None

    def at(self, place: tuple[int, ...]) -> Key:
        """The task that has the chunk at a place."""
        if self.axes is None:
            return (self.key, *place)
        return (self.key, *(place[k] for k in self.axes))


@dataclass(frozen=True, slots=True)
class Single:
    """A number, or an array in one piece: result `item` of a task."""

    key: Key
    item: int | None = None


State = dict[str, Chunked | Single]


class _Side(NamedTuple):
    """What covers a window along one axis: for each chunk the part of it, the place of
    that in the window, and whether it is all. Of sides of one `form` only the chunks
    differ.
    """

    length: int
    chunks: tuple[int, ...]
    insides: tuple[slice, ...]
    places: tuple[slice, ...]
    full: tuple[bool, ...]
    form: int


class Piece(NamedTuple):
    """A part of a window: of which chunk, which part of it, where in the window."""

    chunk: tuple[int, ...]
    part: Place | None  # None for all of it
    place: Place


class _Window(NamedTuple):
    """What one block reads of an array."""

    extent: tuple[int, ...]
    places: tuple[Place, ...]
    pieces: tuple[Piece, ...]


@dataclass(frozen=True)
class Block:
    """What one block has: its integers, the pieces of its windows, what it owns."""

    of: BlockOf
    pieces: tuple[tuple[Piece, ...], ...]


@dataclass(frozen=True)
class Family:
    """A stage, or what it does for some of its results: the same text for all blocks.

    `grid` are the chunks of what the blocks own.
    """

    layer: Layer
    text: Text
    grid: Chunks
    blocks: Mapping[tuple[int, ...], Block]
    slice: Slice = field(repr=False)
    steps: int  # of a loop over time, 0 without one


@dataclass(frozen=True)
class Lone:
    """The text of what one task does."""

    code: Code
    params: tuple[str, ...]
    outputs: tuple[str, ...]  # what it returns, then what it writes
    floats: tuple[str, ...]
    integers: Mapping[str, int]
    #: The numbers of which its derivative does not need the values: it waits for none.
    unread: frozenset[str]


@dataclass(frozen=True)
class Plan:
    """The operations of a call, each with its blocks."""

    layout: Layout
    dtypes: Mapping[str, str]
    operations: tuple[tuple[Family, ...] | Lone, ...]
    target: str
    steps: int  # of a loop over time in a task
    #: Of each loop over time, where its groups of steps begin and the last one ends.
    loops: tuple[tuple[int, ...], ...]

    @property
    def texts(self) -> list[str]:
        """The texts of all operations, in order."""
        return [
            (part if isinstance(part, Lone) else part.layer).code.text
            for o in self.operations
            for part in (o if isinstance(o, tuple) else (o,))
        ]

    def states_in(self, memory: int | None) -> int | None:
        """How many states of a loop over time are kept, if so many bytes hold them.

        They are so many at least that no step runs more than twice before its
        derivative: with fewer the work would grow as the square of the steps.
        """
        counts = [len(bounds) - 1 for bounds in self.loops]
        if memory is None or not any(counts):
            return None
        most = max(counts)
        least = next(s for s in itertools.count(1) if math.comb(s + 2, 2) >= most)
        sizes = [
            sum(map(self._bytes, self.operations[a:b]))
            for bounds in self.loops
            for a, b in itertools.pairwise(bounds)
        ]
        return max(least, memory // max(*sizes, 1))

    def _bytes(self, operation: tuple[Family, ...] | Lone) -> int:
        """The size of the arrays in chunks that an operation gives."""
        return sum(
            math.prod(self.layout.shapes[a]) * np.dtype(self.dtypes[a]).itemsize
            for f in (operation if isinstance(operation, tuple) else ())
            for a in f.layer.outs
        )

    @property
    def over_time(self) -> bool:
        """Is there a loop over time in it?"""
        return bool(self.loops)

    @property
    def in_groups(self) -> bool:
        """Does a task do several steps of a loop over time, or could it?"""
        return any(f.steps for o in self.operations if isinstance(o, tuple) for f in o)


class Planner:
    """Makes the plan of a program for arrays with these chunks.

    `dtypes` are those of the parameters, `wanted` the arrays whose final values the
    caller asks for. Of the `wide` arrays what is read far from what is written is
    copied before. Where data decide if subscripts leave their arrays, they are not
    known to be `inside`. The derivative of a block keeps at most `memory` bytes.
    Raises `ChunkingError` where the program can't be run like that.
    """

    def __init__(
        self,
        program: Program,
        layout: Layout,
        dtypes: Mapping[str, str],
        steps: int,
        wanted: Sequence[str],
        target: str,
        wide: Set[str] = frozenset(),
        inside: bool = True,
        memory: int | None = None,
    ) -> None:
        self.program, self.layout, self.target = program, layout, target
        self.inside, self.memory = inside, memory
        self.types = {n: concrete(t) for n, t in infer(program, dict(dtypes)).items()}
        self.split = Split(program, layout, steps, wanted, self.types, wide)
        #: How many chunks the largest window of an array has, of those with many.
        self.widths: dict[str, float] = {}
        self._families: dict[Any, tuple[Family, ...]] = {}
        self._bounds: dict[str, list[Any]] = {}
        self._sides: dict[tuple[tuple[str, int], int, int], _Side] = {}
        self._forms: dict[tuple[Any, ...], int] = {}

    @uncollected()
    def plan(self) -> Plan:
        """The plan; texts and blocks are made once for equal groups of steps."""
        made: list[tuple[Family, ...] | Lone] = []
        for o in self.split.operations:
            made.append(self.stage(o) if isinstance(o, Stage) else self.lone(o))
        split = self.split
        loops = tuple(bounds for bounds in split.loops if len(bounds) > 1)
        row = tuple(made)
        return Plan(self.layout, self.types, row, self.target, split.steps, loops)

    # ---------------------------------------------------------------- stages

    def stage(self, stage: Stage) -> tuple[Family, ...]:
        """The blocks of a stage: one family for each grid that its results have."""
        time = stage.time
        timed = time is not None and time.loop.index in all_names(stage.body)
        key = (
            stage.body,
            time and (time.count, time.first if timed else 0),
            tuple(stage.integers.items()),
            stage.outs,
            stage.sums,
        )
        if key not in self._families:
            self._families[key] = tuple(self._made(stage))
        return self._families[key]

    def _made(self, stage: Stage) -> Iterator[Family]:
        index = stage.time.loop.index if stage.time else None
        facts = self.layout.facts(stage.integers, index)
        axes = self.layout.axes
        groups: dict[tuple[tuple[int, ...], ...], tuple[list[str], list[str]]] = {}
        for out in stage.outs:
            grid = tuple(self.layout.chunks[out][k] for k in axes[out])
            groups.setdefault(grid, ([], []))[0].append(out)
        every = phases(stage.body, facts, stage.live, stage.sums)
        anchors: dict[str, set[str]] = {}
        for p in every:
            for d in p.drivers if isinstance(p, Phase) else ():
                if d.sum:
                    assert isinstance(d.leaf.stmt, (Assign, Add))
                    anchors.setdefault(d.leaf.stmt.target_name, set()).add(d.array)
        for total in stage.sums:
            own = anchors.get(total, set())
            grids = {tuple(self.layout.chunks[a][k] for k in axes[a]) for a in own}
            if len(grids) != 1:
                place = next(p.loc for p in every if isinstance(p, Phase))
                raise ChunkingError(
                    place,
                    f"the terms of `{total}` belong to arrays with different chunks",
                    f"give {' and '.join(f'`{a}`' for a in sorted(own))} equal chunks"
                    if own
                    else "keep what it is made of in one chunk",
                )
            groups.setdefault(grids.pop(), ([], []))[1].append(total)
        for number, (outs, sums) in enumerate(groups.values()):
            unwanted = {*stage.sums} - {*sums}
            body = without_sums(stage.body, unwanted) if unwanted else stage.body
            items = phases(body, facts, stage.live, sums)
            owners = [*outs]
            for total in sums:
                owners += sorted(anchors[total])
            name = stage.name if len(groups) == 1 else f"{stage.name}_{number + 1}"
            yield self._family(stage, name, items, outs, sums, owners)

    def _family(
        self,
        stage: Stage,
        name: str,
        items: Sequence[Any],
        outs: Sequence[str],
        sums: Sequence[str],
        owners: Sequence[str],
    ) -> Family:
        index = stage.time.loop.index if stage.time else None
        facts = self.layout.facts(stage.integers, index)
        main = owners[0]
        chunks = self.layout.chunks[main]
        grid = tuple(chunks[k] for k in self.layout.axes[main])
        shape = tuple(map(len, grid))
        own = {a: self._own(a, main) for a in dict.fromkeys(owners)}
        time = stage.time
        times: list[Any] = [0]
        if time is not None:
            values = [time.first + k * time.stride for k in range(time.count)]
            times = values[::-1]
        found = Slicer(items, outs, own, times, self.layout.axes).slice()
        frames = Frames(items, found, facts, time.count if time else 1)
        found = frames.widened(found, facts)
        self._check_windows(found, items, main)
        params = dict(self._params())
        restricted = Restriction(
            f"{name}_block",
            items,
            found,
            facts,
            params,
            self.types,
            time,
            outs,
            sums,
            frames,
            stage.integers,
        )
        text = restricted.made()
        layer = Layer(
            self._code(text.text, text.name),
            text.windows,
            tuple(self.types[a] for a in text.windows),
            text.outs,
            text.returned,
            text.summed,
            text.folds,
            tuple(a in text.written for a in text.windows),
            tuple(a for a in text.others if a in text.written),
        )
        blocks = self._blocks(text, found, own, shape, time, frames, stage.integers)
        return Family(layer, text, grid, blocks, found, time.count if time else 0)

    def _check_windows(
        self, found: Slice, items: Sequence[Phase | Stmt], main: str
    ) -> None:
        """Refuse windows that are much larger than chunks."""
        for array, box in found.windows.items():
            sides = np.maximum(box.high - box.low, 0)
            times = self._many(array, sides.max(axis=1, initial=0), WIDE)
            if times:
                self.widths[array] = max(times, self.widths.get(array, 0.0))
        for array, box in found.windows.items():
            sides = np.maximum(box.high - box.low, 0).mean(axis=1)
            times = self._many(array, sides, MOST_READ)
            if not times:
                continue
            axes, chunks = self.layout.axes[array], self.layout.chunks[array]
            parts = [
                size * len(chunks[k]) / self.layout.shapes[array][k]
                for k, size in zip(axes, sides, strict=True)
            ]
            at = next(
                (
                    t.leaf.stmt.loc
                    for i in items
                    if isinstance(i, Phase)
                    for t in i.touches
                    if t.access.name == array
                ),
                items[0].loc,
            )
            raise ChunkingError(
                at,
                f"a block of `{main}` needs {times:.0f} times as much of `{array}` as a"
                " chunk has",
                f"keep axis {axes[int(np.argmax(parts))]} of `{array}` in one chunk, or"
                " take larger chunks",
            )

    def _many(self, array: str, sides: Sequence[float], most: tuple[int, int]) -> float:
        """How many chunks a window has, if it has more than there should be; else 0."""
        chunks, shape = self.layout.chunks[array], self.layout.shapes[array]
        long = math.prod(shape[k] / len(chunks[k]) for k in self.layout.axes[array])
        times, elements = most
        size = math.prod(sides)
        return size / long if size > times * long + elements else 0.0

    def _code(self, text: str, name: str) -> Code:
        return Code(text, name, self.target, self.inside, self.memory)

    def _params(self) -> Iterator[tuple[str, Param]]:
        """The parameters of texts: those of the program, its arrays and numbers."""
        for p in self.program.params:
            yield p.name, p
        for array, shape in self.layout.shapes.items():
            if array not in {p.name for p in self.program.params}:
                yield array, Param(array, len(shape), self.types[array])
        arrays = self.layout.shapes.keys()
        own = {p.name for p in self.program.params}
        for s in walk(self.program.body):
            name = getattr(getattr(s, "target", None), "name", None)
            if name and name not in arrays and name not in own:
                yield name, Param(name, 0, self.types.get(name, "float64"))
        for name in self.split.numbers:
            yield name, Param(name, 0, self.types[name])

    def _own(self, array: str, like: str) -> Box:
        """The chunks of an array, as boxes by block of the grid of another one."""
        axes = self.layout.axes[like]
        shape = tuple(len(self.layout.chunks[like][k]) for k in axes)
        places = np.indices(shape).reshape(len(shape), math.prod(shape))
        low, high = [], []
        for j, k in enumerate(self.layout.axes[array]):
            ends = self._ends(array)[k]
            low.append(ends[:-1][places[j]])
            high.append(ends[1:][places[j]])
        if not low:  # it is not cut: one block has it
            return whole((), places.shape[1])
        return Box(np.array(low), np.array(high))

    def _ends(self, array: str) -> list[Any]:
        if array not in self._bounds:
            self._bounds[array] = [
                np.concatenate(([0], np.cumsum(c))).astype(np.int64)
                for c in self.layout.chunks[array]
            ]
        return self._bounds[array]

    # ---------------------------------------------------------------- blocks

    def _blocks(
        self,
        text: Text,
        found: Slice,
        own: Mapping[str, Box],
        shape: tuple[int, ...],
        time: Steps | None,
        frames: Frames,
        known: Mapping[str, int],
    ) -> dict[tuple[int, ...], Block]:
        axes, shapes = self.layout.axes, self.layout.shapes
        windows = found.windows
        columns: dict[str, Any] = {}
        for name, meaning in text.integers.items():
            match meaning:
                case ("start", int(frame)):
                    columns[name] = frames.start(frame)
                case ("size", str(array), int(k)):
                    columns[name] = shapes[array][k]
                case ("window", str(array), int(k)):
                    j = axes[array].index(k)
                    box = windows[array]
                    columns[name] = np.maximum(box.high[j] - box.low[j], 0)
                case ("from", str(array), int(k)):
                    columns[name] = own[array].low[axes[array].index(k)]
                case ("to", str(array), int(k)):
                    columns[name] = own[array].high[axes[array].index(k)]
                case ("low" | "high" as side, (int(), int()) as key):
                    columns[name] = _bound(side, key, found, text, frames)
                case ("first", (int(), int()) as key):
                    columns[name] = text.ranges[key].start - _begin(frames, key)
                case ("end", (int(), int()) as key):
                    columns[name] = text.ranges[key].stop - _begin(frames, key)
                case ("known", str(index), _):
                    columns[name] = known[index]
                case ("steps", _, _):
                    assert time is not None
                    columns[name] = time.count
                case ("first", _, _):
                    assert time is not None
                    columns[name] = time.first
        self._check_inside(text, columns, windows)
        shared: dict[Any, Any] = {}
        cut = [self._windows(a, windows[a], shared) for a in text.windows]
        owned = [self._owned(a, own[a], windows[a]) for a in text.outs]
        same = {k: int(v) for k, v in columns.items() if np.ndim(v) == 0}
        names = [k for k in columns if k not in same]
        count = math.prod(shape)
        rows = _rows([columns[k].tolist() for k in names], count)
        blocks: dict[tuple[int, ...], Block] = {}
        for place, row, every, parts in zip(
            np.ndindex(*shape),
            rows,
            _rows(cut, count),
            _rows(owned, count),
            strict=True,
        ):
            integers = {**same, **dict(zip(names, row, strict=True))}
            extents = tuple(w.extent for w in every)
            of = BlockOf(integers, extents, tuple(w.places for w in every), parts)
            blocks[place] = Block(of, tuple(w.pieces for w in every))
        return blocks

    def _windows(
        self, array: str, box: Box, shared: dict[Any, Any]
    ) -> Iterator[_Window]:
        """The window of each block; equal parts of windows are one object."""
        axes, none = self.layout.axes[array], box.empty
        sides = []
        for k, size in enumerate(self.layout.shapes[array]):
            low: Any = itertools.repeat(0)
            high: Any = itertools.repeat(size)
            if k in axes:
                j = axes.index(k)
                low = np.where(none, 0, box.low[j]).tolist()
                high = np.where(none, 0, box.high[j]).tolist()
            sides.append(map(self._side, itertools.repeat((array, k)), low, high))
        for row in itertools.islice(zip(*sides, strict=False), len(none)):
            yield _window(row, shared)

    def _owned(self, array: str, own: Box, window: Box) -> Iterator[Place]:
        """What each block owns of its window."""
        axes = self.layout.axes[array]
        places: list[Any] = [itertools.repeat(slice(None))] * len(
            self.layout.shapes[array]
        )
        for j, k in enumerate(axes):
            low, high = own.low[j] - window.low[j], own.high[j] - window.low[j]
            places[k] = map(slice, low.tolist(), high.tolist())
        return itertools.islice(zip(*places, strict=False), own.low.shape[1])

    def _check_inside(
        self, text: Text, columns: Mapping[str, Any], windows: Mapping[str, Box]
    ) -> None:
        """Refuse a text that might touch what lies outside of its windows."""
        axes = self.layout.axes
        shapes: dict[str, tuple[Any, ...]] = {}
        for array in text.windows:
            box = windows[array]
            sizes = np.where(box.empty, 0, np.maximum(box.high - box.low, 0))
            shapes[array] = tuple(
                sizes[axes[array].index(k)] if k in axes[array] else size
                for k, size in enumerate(self.layout.shapes[array])
            )
        found = outside(text.program.body, columns, shapes)
        if found is not None:
            raise ChunkingError(
                found.loc,
                f"it is not seen which part of `{found.array}` blocks read or write"
                f" here along axis {found.axis}",
                f"keep axis {found.axis} of `{found.array}` in one chunk",
            )

    def _side(self, at: tuple[str, int], low: int, high: int) -> _Side:
        """The chunks that meet an interval of an axis: which, where in it, where in the
        window.
        """
        key = at, low, high
        if key not in self._sides:
            array, axis = at
            parts = self.layout.chunks.get(array)
            if parts is None:
                size = self.layout.shapes[array][axis]
                ends: Any = np.array([0, size])
            else:
                ends = self._ends(array)[axis]
            first = int(np.searchsorted(ends, low, "right")) - 1
            found: list[tuple[int, slice, slice, bool]] = []
            for c in range(max(first, 0), len(ends) - 1):
                start, end = int(ends[c]), int(ends[c + 1])
                a, b = max(low, start), min(high, end)
                if a >= high:
                    break
                if a < b:
                    inside, place = slice(a - start, b - start), slice(a - low, b - low)
                    found.append((c, inside, place, a == start and b == end))
            chunks, insides, places, full = [*zip(*found, strict=True)] or [()] * 4
            spans = [(s.start, s.stop) for s in (*insides, *places)]
            form = self._forms.setdefault((high - low, *spans, *full), len(self._forms))
            self._sides[key] = _Side(high - low, chunks, insides, places, full, form)
        return self._sides[key]

    # ---------------------------------------------------------------- alone

    def lone(self, alone: Alone) -> Lone:
        """The text of what one task does."""
        shapes = self.layout.shapes
        loaded = loaded_in(alone.body)

        def typed(s: Stmt) -> Stmt:
            s = with_blocks(s, tuple(tuple(map(typed, b)) for b in blocks(s)))
            if isinstance(s, Alloc) and s.copied is None:
                return replace(s, dtype=self.types[s.array])
            return s

        def sized(e: Any) -> Any:
            if isinstance(e, Extent) and e.array in shapes and e.array not in loaded:
                return Const(shapes[e.array][e.axis])
            return e

        body: tuple[Stmt, ...] = map_block(tuple(map(typed, alone.body)), sized)
        last = body[-1] if body else None
        outputs: list[str] = []
        if isinstance(last, Return):
            values = []
            for k, v in enumerate(last.values):
                if isinstance(v, Var) and v.name in shapes:
                    continue
                outputs.append(f"return {k}")
                values.append(v)
            body = (*body[:-1], Return(tuple(values), len(values) == 1))
        made = {s.array for s in walk(body) if isinstance(s, Alloc)}
        params = dict(self._params())
        params |= {n: Param(n, 0, "int64") for n in alone.integers}
        written = [o for o in alone.outputs if o in shapes and o not in made]
        back = [o for o in alone.outputs if o not in written]
        if back:
            body = (*body, Return(tuple(map(Var, back)), len(back) == 1))
        used = all_names(body)
        # A number that the task gives a value first is none that it takes.
        taken = live_before(body, frozenset())
        own = [
            p for n, p in params.items() if n in used - made and (p.rank or n in taken)
        ]
        program = Program(alone.name, tuple(own), body)
        text = emit_python(program, doc=f"{alone.name}, by one task.").text
        names = tuple(p.name for p in own)
        order = [p.name for p in own if p.name in written]
        code = self._code(text, alone.name)
        return Lone(
            code,
            names,
            (*outputs, *back, *order),
            tuple(p.name for p in own if is_float(concrete(p.dtype))),
            dict(alone.integers),
            _unread(program, code),
        )


def _rows(columns: Sequence[Iterable[Any]], count: int) -> Iterable[tuple[Any, ...]]:
    """The columns, row by row; without any, so many empty rows."""
    return zip(*columns, strict=True) if columns else itertools.repeat((), count)


def _window(sides: tuple[_Side, ...], shared: dict[Any, Any]) -> _Window:
    """A window from what covers it along each axis; its parts are in order."""
    form = tuple([s.form for s in sides])
    if form not in shared:
        full = itertools.product(*(s.full for s in sides))
        parts = itertools.product(*(s.insides for s in sides))
        shared[form] = (
            tuple(s.length for s in sides),
            tuple(itertools.product(*(s.places for s in sides))),
            tuple(
                None if all(whole) else part
                for whole, part in zip(full, parts, strict=True)
            ),
        )
    extent, places, parts = shared[form]
    chunks = itertools.product(*[s.chunks for s in sides])
    return _Window(extent, places, tuple(map(Piece, chunks, parts, places)))


def _unread(program: Program, code: Code) -> frozenset[str]:
    """The numbers among the parameters that the adjoint does not read.

    Where a number is only multiplied by constants, as a sum of squares often is, no
    block has to wait for it, and nothing is held until it is there.
    """
    plain = all(isinstance(s, (Assign, Add, Return)) for s in walk(program.body))
    floats = [p.name for p in program.params if is_float(concrete(p.dtype))]
    if not plain or not floats or any(p.rank for p in program.params):
        return frozenset()
    values = {p.name: 1.0 if p.name in floats else 1 for p in program.params}
    call = Call(code.function, (), values)
    unit = call.readable(Units.adjoint, tuple(floats))
    return frozenset(floats) - all_names(unit.program.body)


def _begin(frames: Frames, key: tuple[int, int]) -> Any:
    frame = frames.of(key)
    assert frame is not None
    return frames.start(frame)


def _bound(
    side: str, key: tuple[int, int], found: Slice, text: Text, frames: Frames
) -> Any:
    """The first value of a limited loop, or its end, from the start of its frame.

    Where the range of the loop is known, and no steps make it grow, they are those of
    the loop itself; else the text takes the narrower of both.
    """
    limits, start = found.loops[key], _begin(frames, key)
    low, high, none = limits.low, limits.high, limits.none
    known = text.ranges.get(key)
    if known is not None and not (limits.below or limits.above):
        if known.step > 0:
            late = np.maximum(low - known.start, 0)
            first = known.start + -(-late // known.step) * known.step
            end = np.minimum(high, known.stop)
        else:
            late = np.maximum(known.start - (high - 1), 0)
            first = known.start + -(-late // -known.step) * known.step
            end = np.maximum(low - 1, known.stop)
        low, high = first, end
        if known.step < 0:
            low = np.where(none, -NEVER, low - start)
            return low if side == "low" else np.where(none, NEVER, high - start)
    if side == "low":
        return np.where(none, NEVER, low - start)
    return np.where(none, -NEVER, high - start)
