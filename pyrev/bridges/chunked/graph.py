"""The tasks of a plan: forwards, and backwards for the derivative."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any

import numpy as np

from pyrev.bridges.chunked import folds, tasks
from pyrev.bridges.chunked.cold import Store
from pyrev.bridges.chunked.plan import (
    Block,
    Chunked,
    Family,
    Graph,
    Key,
    Lone,
    Piece,
    Plan,
    Ref,
    Single,
    State,
    Task,
    worded,
)
from pyrev.bridges.chunked.uncollected import uncollected

Waits = tuple[Ref, ...]

#: The parts that are cut of chunks, and by block the pieces of each of its windows.
Pieces = tuple[
    dict[tuple[str, tuple[int, ...]], tuple[Any, ...]],
    dict[
        tuple[int, ...],
        list[list[tuple[tuple[int, ...], int | None, tuple[Any, ...]]]],
    ],
]


class Builder:
    """Adds the tasks of a plan to a graph; their keys begin with `prefix`.

    The words in front of a key say what a task is for, as Dask's dashboard shows them:
    it counts tasks, and colours them, by these.
    The derivative keeps `most` states of a loop over time, and makes others again; with
    a `store` it keeps all, and there. So many bytes of gradients as `memory` says may
    wait for those of other blocks.
    """

    def __init__(
        self,
        plan: Plan,
        graph: Graph,
        prefix: str,
        most: int | None = None,
        memory: int | None = None,
        store: Store | None = None,
    ) -> None:
        self.plan, self.graph, self.prefix, self.most = plan, graph, prefix, most
        self.memory, self.store = memory, store
        self._numbers = itertools.count()
        #: The states before each operation, in the order of the operations.
        self.states: list[State] = []
        #: By operation and name, what blocks made of a value that is joined.
        self._folded: dict[tuple[int, str], list[Any]] = {}
        #: The tasks that cut chunks: by the chunk, and the parts that are read of it.
        self._cuts: dict[Any, Key] = {}
        #: What the families take of chunks, by their identity: the plan has them all.
        self._known: dict[int, Pieces] = {}
        #: The keys of the cotangents that the reverse sweep begins with.
        self._given: Set[str] = frozenset()

    def _add(self, key: Key, function: Any, *args: Any, after: Waits = ()) -> Ref:
        self.graph[key] = Task(function, args, after)
        return Ref(key)

    # ---------------------------------------------------------------- forwards

    @uncollected()
    def forward(self, state: State) -> State:
        """The state after all operations."""
        begins = {at for bounds in self.plan.loops for at in bounds[:-1]}
        for number, operation in enumerate(self.plan.operations):
            kept: State = {}
            if self.store is not None and number in begins:
                kept = self.store.keep(state, self.plan.layout, self.graph)
            self.states.append(state)
            key = f"{self.prefix}-{number}"
            state = self.step(number, operation, state, key, kept)
        return state

    def step(
        self,
        number: int,
        operation: tuple[Family, ...] | Lone,
        state: State,
        name: str,
        first: State | None = None,
    ) -> State:
        """The state after one operation.

        A block does not begin before its parts of what comes `first` are there.
        """
        if isinstance(operation, Lone):
            return self._lone(operation, state, name)
        new = dict(state)
        for k, family in enumerate(operation):
            key = f"{name}-{k}" if len(operation) > 1 else name
            pieces = self._fetched(family, state)
            others = self._others(family, state)
            for place, block in family.blocks.items():
                args = family.layer, block.of, pieces[place], others
                waits = self._waits(family, place, first or {})
                self._add((key, *place), tasks.run, *args, after=waits)
            layer = family.layer
            for item, out in enumerate(layer.outs):
                new[out] = Chunked(key, item, self.plan.layout.axes[out])
            sums = [n for n in layer.returned if n not in layer.outs]
            for item, total in enumerate((*sums, *layer.summed), len(layer.outs)):
                parts = self._parts(family, key, item)
                into = (worded(f"{key}-{total}", "sum"),)
                if total in layer.folds:
                    self._add(into, folds.joined, layer.folds[total], parts)
                    # Backwards nothing depends on who made them.
                    self._folded.setdefault((number, total), parts)
                else:
                    before = _value(state[total])
                    self._add(into, tasks.plus, before, parts)
                new[total] = Single(into)
        return new

    def _waits(
        self, family: Family, place: tuple[int, ...], first: State
    ) -> tuple[Ref, ...]:
        found = []
        for out in family.layer.outs:
            at = first.get(out)
            if isinstance(at, Chunked):
                found.append(Ref(at.at(self._chunk(out, place))))
        return tuple(found)

    def _parts(self, family: Family, key: str, item: int) -> list[Any]:
        """What the blocks add to a sum; what waits for all keeps nothing else alive."""
        found: list[Any] = []
        for place in family.blocks:
            of: Any = Ref((key, *place)), item
            if family.layer.outs:
                of = self._add(
                    (worded(f"{key}-{item}", "part"), *place), tasks.picked, *of
                )
            found.append(of)
        return found

    def _others(self, family: Family, state: State) -> dict[str, Any]:
        names = (*family.text.others, *family.text.scalars)
        return {n: _value(state[n]) for n in names}

    def _fetched(
        self, family: Family, state: State
    ) -> dict[tuple[int, ...], list[list[Any]]]:
        """The pieces of the windows of each block.

        A chunk of which other blocks read a small part is cut once, by a task whose
        result has all these parts and no more.
        """
        cuts, rows = self._pieces(family)
        names: dict[tuple[str, tuple[int, ...]], Key] = {}
        for (array, chunk), parts in cuts.items():
            at = state[array]
            assert isinstance(at, Chunked)
            made = at, chunk, parts
            if made not in self._cuts:
                key = (worded(f"{self.prefix}-{len(self._cuts)}", "cut"), *chunk)
                places = [tuple(slice(a, b) for a, b in part) for part in parts]
                self._add(key, tasks.cut, Ref(at.at(chunk)), at.item, places)
                self._cuts[made] = key
            names[array, chunk] = self._cuts[made]
        at_of = {a: state[a] for a in family.layer.windows}
        found = {}
        for place, row in rows.items():
            windows: list[list[Any]] = []
            for array, pieces in zip(family.layer.windows, row, strict=True):
                at = at_of[array]
                assert isinstance(at, Chunked)
                item = () if at.item is None else (at.item,)
                windows.append(
                    [
                        (Ref(names[array, chunk]), number)
                        if number is not None
                        else (Ref(at.at(chunk)), *item, *part)
                        for chunk, number, part in pieces
                    ]
                )
            found[place] = windows
        return found

    def _pieces(self, family: Family) -> Pieces:
        """What a family cuts of which chunks, and for each block the pieces of its
        windows: of which chunk, which number among its cuts, or which part of it.
        """
        if id(family) in self._known:
            return self._known[id(family)]
        wanted: dict[tuple[str, tuple[int, ...]], dict[Any, int]] = {}
        rows = {}
        for place, block in family.blocks.items():
            row = []
            for array, pieces in zip(family.layer.windows, block.pieces, strict=True):
                own: list[tuple[tuple[int, ...], int | None, tuple[Any, ...]]] = []
                for p in pieces:
                    if p.part is None:
                        own.append((p.chunk, None, ()))
                    elif not self._strip(array, p):
                        own.append((p.chunk, None, (p.part,)))
                    else:
                        cuts = wanted.setdefault((array, p.chunk), {})
                        number = cuts.setdefault(_plain(p.part), len(cuts))
                        own.append((p.chunk, number, ()))
                row.append(own)
            rows[place] = row
        made = {chunk: tuple(cuts) for chunk, cuts in wanted.items()}, rows
        self._known[id(family)] = made
        return made

    def _strip(self, array: str, piece: Piece) -> bool:
        """Is a piece worth a task of its own, that others need not get the chunk?"""
        assert piece.part is not None
        chunks = self.plan.layout.chunks[array]
        whole = math.prod(c[i] for c, i in zip(chunks, piece.chunk, strict=True))
        return 2 * _size(piece.part) < whole

    def _lone(self, lone: Lone, state: State, name: str) -> State:
        values = self._arguments(lone, state)
        self._add((name,), tasks.alone, lone.code, values)
        new = dict(state)
        for item, output in enumerate(lone.outputs):
            new[output] = Single((name,), item)
        return new

    def _arguments(self, lone: Lone, state: State) -> dict[str, Any]:
        return {
            n: lone.integers[n] if n in lone.integers else _value(state[n])
            for n in lone.params
        }

    # ---------------------------------------------------------------- backwards

    @uncollected()
    def reverse(self, cotangents: State, wrt: Sequence[str]) -> State:
        """The cotangents before all operations, of the state after them."""
        before = {*self.graph}
        self._given = {c.key for c in cotangents.values() if isinstance(c, Chunked)}
        self._matter = [{*wrt}]
        for operation in self.plan.operations:
            self._matter.append(self._matter[-1] | _given(operation))
        loops = {bounds[-1]: bounds for bounds in self.plan.loops}
        end = len(self.plan.operations)
        while end:
            bounds = loops.get(end, (end - 1, end))
            if self.store is not None and end in loops:
                for first, last in reversed([*itertools.pairwise(bounds)]):
                    name = f"{self.prefix}-{first}"
                    state = self.store.load(
                        self.states[first],
                        cotangents,
                        self.plan.layout,
                        self.graph,
                        name,
                    )
                    cotangents = self._group(first, last, cotangents, state)
            elif self.most is not None and len(bounds) - 1 > self.most:
                cotangents = self._segment(bounds, self.most, cotangents)
            else:
                for number in reversed(range(bounds[0], end)):
                    state = self.states[number]
                    cotangents = self._one(number, state, cotangents)
            end = bounds[0]
        self._in_turn(before, cotangents, wrt)
        return cotangents

    def _in_turn(self, before: Set[Key], gradients: State, wrt: Sequence[str]) -> None:
        """Have blocks begin when the gradients of those far before them are done.

        A scheduler that ran all blocks of one operation, then all of the next, would
        hold a whole array between them. What a gradient needs of later blocks says how
        far apart two must be at least.
        """
        name = next((n for n in wrt if isinstance(gradients.get(n), Chunked)), None)
        if name is None or self.memory is None:
            return
        at = gradients[name]
        assert isinstance(at, Chunked)
        layout = self.plan.layout
        grid = tuple(len(layout.chunks[name][k]) for k in layout.axes[name])
        size = (
            math.prod(layout.shapes[name]) * np.dtype(self.plan.dtypes[name]).itemsize
        )
        held = int(self.memory * math.prod(grid) / max(size * len(wrt), 1))
        if held >= math.prod(grid):
            return
        last: dict[Key, int] = {}
        starts: list[tuple[int, Key]] = []
        for key in self.graph:  # each task comes after those that it needs
            if key in before:
                continue
            task = self.graph[key]
            _, waits = packed(task)
            latest = max((last.get(k, -1) for k in waits), default=-1)
            if task.function is tasks.pull:
                if len(key) - 1 != len(grid) or any(
                    i >= n for i, n in zip(key[1:], grid, strict=True)
                ):
                    return  # blocks of another grid
                number = int(np.ravel_multi_index(key[1:], grid))
                starts.append((number, key))
                latest = max(latest, number)
            last[key] = latest
        ends = [
            at.at(self._chunk(name, tuple(map(int, place))))
            for place in np.ndindex(*grid)
        ]
        reach = max(last.get(k, -1) - n for n, k in enumerate(ends))
        apart = max(reach + 1, held)
        for number, key in starts:
            if number >= apart:
                task = self.graph[key]
                after = (*task.after, Ref(ends[number - apart]))
                self.graph[key] = task._replace(after=after)

    def _one(self, number: int, state: State, cotangents: State) -> State:
        operation = self.plan.operations[number]
        name = worded(f"{self.prefix}-{number}", "back")
        if isinstance(operation, Lone):
            return self._lone_back(number, state, cotangents, name)
        return self._back(number, state, cotangents, name)

    def _segment(
        self,
        bounds: Sequence[int],
        most: int,
        cotangents: State,
        state: State | None = None,
    ) -> State:
        """The cotangents before some groups of steps, with `most` states at a time.

        It begins with `state`; if there is none, the forward tasks are still to come,
        and the states that are kept are theirs. Else what is not kept is made again,
        each block when its cotangent is there: run earlier, it would only take memory.
        The groups are cut as binomial checkpointing does (Griewank and Walther,
        "Algorithm 799: revolve", ACM TOMS 26, 2000).
        """
        if len(bounds) == 2:
            return self._group(bounds[0], bounds[1], cotangents, state)
        start = self.states[bounds[0]] if state is None else state
        middle = _advance(len(bounds) - 1, most)
        inner: State | None = None
        if state is not None or most <= 1:
            *_, inner = self._again(bounds[0], bounds[middle], start, cotangents)
        later = self._segment(bounds[middle:], max(most - 1, 1), cotangents, inner)
        return self._segment(bounds[: middle + 1], most, later, start)

    def _again(
        self, first: int, end: int, state: State, cotangents: State
    ) -> Iterator[State]:
        """The states before some operations that run again, and behind the last."""
        yield state
        for number in range(first, end):
            name = f"{self.prefix}-{number}-{next(self._numbers)}"
            name = worded(name, "again")
            operation = self.plan.operations[number]
            state = self.step(number, operation, state, name, cotangents)
            yield state

    def _group(
        self, first: int, end: int, cotangents: State, state: State | None
    ) -> State:
        """The cotangents before one group of steps, which begins with `state`."""
        if state is None:
            states = self.states[first:end]
        else:
            states = [*self._again(first, end - 1, state, cotangents)]
        for number in reversed(range(first, end)):
            cotangents = self._one(number, states[number - first], cotangents)
        return cotangents

    def _back(self, number: int, state: State, cotangents: State, name: str) -> State:
        families = self.plan.operations[number]
        assert not isinstance(families, Lone)
        matter = self._matter[number]
        old = dict(cotangents)
        new = dict(cotangents)
        for family in families:
            for out in (*family.layer.outs, *family.layer.folds):
                new.pop(out, None)
        parts: dict[str, dict[tuple[int, ...], list[Any]]] = {}
        singles: dict[str, list[Any]] = {}
        for k, family in enumerate(families):
            key = f"{name}-{k}" if len(families) > 1 else name
            shared = self._shared(number, family, old, key)
            self._pulled(family, state, old, key, matter, parts, singles, shared)
        for array, chunks in parts.items():
            into = worded(f"{name}-{array}", "sum")
            before = new.get(array)
            sizes = self.plan.layout.chunks[array]
            for place in itertools.product(*(range(len(c)) for c in sizes)):
                shape = tuple(c[i] for c, i in zip(sizes, place, strict=True))
                given = chunks.get(place, [])
                first = None
                if before is not None:
                    assert isinstance(before, Chunked)
                    ref = Ref(before.at(place))
                    first = ref if before.item is None else (ref, before.item)
                self._add(
                    (into, *place),
                    tasks.added,
                    shape,
                    self.plan.dtypes[array],
                    [p for p, _ in given],
                    [v for _, v in given],
                    first,
                )
            new[array] = Chunked(into)
        for single, values in singles.items():
            into_key = (worded(f"{name}-{single}", "sum"),)
            before = new.get(single)
            if before is None:
                self._add(into_key, tasks.tree, values)
            else:
                self._add(into_key, tasks.plus, _value(before), values)
            new[single] = Single(into_key)
        return new

    def _shared(
        self, number: int, family: Family, cotangents: State, key: str
    ) -> dict[str, Ref]:
        """The tasks that say which block has the cotangent of a joined value."""
        found: dict[str, Ref] = {}
        for total, op in family.layer.folds.items():
            at = cotangents.get(total)
            if at is not None:
                parts = self._folded[number, total]
                name = (worded(f"{key}-{total}", "shares"),)
                found[total] = self._add(name, folds.shares, op, parts, _value(at))
        return found

    def _pulled(
        self,
        family: Family,
        state: State,
        cotangents: State,
        key: str,
        matter: set[str],
        parts: dict[str, dict[tuple[int, ...], list[Any]]],
        singles: dict[str, list[Any]],
        shared: Mapping[str, Ref],
    ) -> None:
        """The gradients of the blocks of a family, and where they go."""
        layer = family.layer
        sums = [n for n in layer.returned if n not in layer.outs]
        outs = (*layer.outs, *sums, *layer.summed)
        if not any(o in cotangents for o in outs):
            return
        wrt = tuple(
            n
            for n in (*layer.windows, *family.text.others, *family.text.scalars)
            if n in matter
            and self.plan.dtypes.get(n, "") in ("float32", "float64")
            and (n not in layer.summed or n in layer.folds)
        )
        if not wrt:
            return
        pieces = self._fetched(family, state)
        others = self._others(family, state)
        for number, (place, block) in enumerate(family.blocks.items()):
            seeds: list[Any] = []
            for out in layer.outs:
                at = cotangents.get(out)
                if at is None:
                    seeds.append(None)
                    continue
                assert isinstance(at, Chunked)
                ref = Ref(at.at(self._chunk(out, place)))
                seeds.append(ref if at.item is None else (ref, at.item))
            for total in (*sums, *layer.summed):
                one = cotangents.get(total)
                if total in shared:
                    seeds.append((shared[total], number))
                else:
                    seeds.append(None if one is None else _value(one))
            self._add(
                (key, *place),
                tasks.pull,
                layer,
                block.of,
                pieces[place],
                others,
                wrt,
                seeds,
                after=self._summed_up(family, place, cotangents),
            )
            self._owed(family, block, (key, *place), wrt, parts, singles)

    def _summed_up(
        self, family: Family, place: tuple[int, ...], cotangents: State
    ) -> Waits:
        """What a block has to wait for: the gradients so far of what it reads.

        Nobody needs these before the end, and a scheduler that left them for later
        would hold what the blocks of all steps owe to them.
        """
        layout = self.plan.layout
        found = []
        for array in family.layer.windows:
            at = cotangents.get(array)
            if array in family.layer.outs or not isinstance(at, Chunked):
                continue
            if at.key in self._given:
                continue
            chunks = layout.chunks[array]
            if tuple(chunks[k] for k in layout.axes[array]) == family.grid:
                found.append(Ref(at.at(self._chunk(array, place))))
        return tuple(found)

    def _chunk(self, array: str, place: tuple[int, ...]) -> tuple[int, ...]:
        """The chunk of an array that a block owns."""
        layout = self.plan.layout
        chunk = [0] * len(layout.shapes[array])
        for k, i in zip(layout.axes[array], place, strict=True):
            chunk[k] = i
        return tuple(chunk)

    def _owed(
        self,
        family: Family,
        block: Block,
        key: Key,
        wrt: Sequence[str],
        parts: dict[str, dict[tuple[int, ...], list[Any]]],
        singles: dict[str, list[Any]],
    ) -> None:
        """Where the gradients of one block go.

        What most of a window belongs to takes its part from the task itself, others
        from one that has no more than they need.
        """
        give = (f"{key[0]}-give", *key[1:])
        paths: list[tuple[int, ...]] = []
        for number, array in enumerate(wrt):
            if array not in family.layer.windows:
                singles.setdefault(array, []).append((Ref(give), len(paths)))
                paths.append((number,))
                continue
            pieces = block.pieces[family.layer.windows.index(array)]
            sizes = [_size(p.place) for p in pieces]
            for k, p in enumerate(pieces):
                if k == sizes.index(max(sizes)):
                    part: Any = (Ref(key), number, k)
                else:
                    part = (Ref(give), len(paths))
                    paths.append((number, k))
                where = p.part or tuple(slice(None) for _ in p.chunk)
                own = parts.setdefault(array, {}).setdefault(p.chunk, [])
                own.append((where, part))
        if paths:
            self._add(give, tasks.given, Ref(key), paths)

    def _lone_back(
        self, number: int, state: State, cotangents: State, name: str
    ) -> State:
        lone = self.plan.operations[number]
        assert isinstance(lone, Lone)
        matter = self._matter[number]
        new = dict(cotangents)
        seeds: list[Any] = []
        for output in lone.outputs:
            at = new.pop(output, None)
            seeds.append(None if at is None else _value(at))
        wrt = tuple(n for n in lone.floats if n in matter)
        if not wrt or all(s is None for s in seeds):
            return new
        values = self._arguments(lone, state)
        values |= dict.fromkeys(lone.unread, 1.0)
        self._add(
            (name,),
            tasks.alone_pull,
            lone.code,
            values,
            wrt,
            seeds,
        )
        for number, n in enumerate(wrt):
            before = new.get(n)
            if before is None:
                new[n] = Single((name,), number)
                continue
            key = (worded(f"{name}-{n}", "sum"),)
            self._add(key, tasks.plus, _value(before), [(Ref((name,)), number)])
            new[n] = Single(key)
        return new


def _value(at: Chunked | Single) -> Any:
    """What a state has of a name that is in one piece."""
    if isinstance(at, Single):
        return Ref(at.key) if at.item is None else (Ref(at.key), at.item)
    raise AssertionError("chunks are fetched")


def _given(operation: tuple[Family, ...] | Lone) -> set[str]:
    """What an operation gives, or gives another value."""
    if isinstance(operation, Lone):
        return {*operation.outputs}
    return {n for f in operation for n in (*f.layer.outs, *f.text.sums)}


def _advance(count: int, most: int) -> int:
    """So many groups of `count` run before the next state is kept.

    With `s` states and `r` times over, ``comb(s + r, s)`` groups can be done.
    """
    if most <= 1:
        return count - 1
    again = 1
    while math.comb(most + again, most) < count:
        again += 1
    least = count - math.comb(most - 1 + again, most - 1)
    greatest = math.comb(most + again - 1, most)
    return max(1, min(count - 1, (max(least, 1) + min(greatest, count - 1)) // 2))


def _size(place: Sequence[slice]) -> int:
    return math.prod(s.stop - s.start for s in place)


def _plain(part: Sequence[slice]) -> tuple[tuple[int, int], ...]:
    return tuple((s.start, s.stop) for s in part)


def packed(task: Task) -> tuple[list[Any], list[Key]]:
    """The arguments of a task with holes, and the tasks whose results fill them.

    A tuple that begins with a reference is a part of a result: its path follows.
    """
    keys: dict[Key, int] = {}
    number = keys.setdefault
    hole = tasks.Hole

    def of(value: Any) -> Any:  # of many thousand tasks: the commonest kinds first
        kind = type(value)
        if kind is tuple:
            if value and type(value[0]) is Ref:
                return hole(number(value[0].key, len(keys)), value[1:])
            return value
        if kind is list:
            return [of(v) for v in value]
        if kind is Ref:
            return hole(number(value.key, len(keys)), ())
        if kind is dict:
            return {k: of(v) for k, v in value.items()}
        return value

    args = [of(a) for a in task.args]
    for ref in task.after:
        number(ref.key, len(keys))
    return args, [*keys]
