"""The tasks of a plan: forwards, and backwards for the derivative."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

from pyrev.bridges.chunked import tasks
from pyrev.bridges.chunked.plan import (
    Block,
    Chunked,
    Family,
    Graph,
    Key,
    Lone,
    Plan,
    Ref,
    Single,
    State,
    Task,
)


class Builder:
    """Adds the tasks of a plan to a graph; their keys begin with `prefix`."""

    def __init__(self, plan: Plan, graph: Graph, prefix: str) -> None:
        self.plan, self.graph, self.prefix = plan, graph, prefix
        #: The states before each operation, in the order of the operations.
        self.states: list[State] = []
        #: The tasks that cut chunks: by the chunk, and the parts that are read of it.
        self._cuts: dict[Any, Key] = {}

    def _add(self, key: Key, function: Any, *args: Any) -> Ref:
        self.graph[key] = Task(function, args)
        return Ref(key)

    # ---------------------------------------------------------------- forwards

    def forward(self, state: State) -> State:
        """The state after all operations."""
        for number, operation in enumerate(self.plan.operations):
            self.states.append(state)
            state = self.step(number, operation, state, f"{self.prefix}-{number}")
        return state

    def step(
        self,
        number: int,
        operation: tuple[Family, ...] | Lone,
        state: State,
        name: str,
    ) -> State:
        """The state after one operation."""
        if isinstance(operation, Lone):
            return self._lone(operation, state, name)
        new = dict(state)
        for k, family in enumerate(operation):
            key = f"{name}-{k}" if len(operation) > 1 else name
            pieces = self._fetched(family, state)
            others = self._others(family, state)
            for place, block in family.blocks.items():
                args = family.layer, block.of, pieces[place], others
                self._add((key, *place), tasks.run, *args)
            layer = family.layer
            for item, out in enumerate(layer.outs):
                new[out] = Chunked(key, item, self.plan.layout.axes[out])
            sums = [n for n in layer.returned if n not in layer.outs]
            for item, total in enumerate((*sums, *layer.summed), len(layer.outs)):
                parts = [self._part((key, *place), item) for place in family.blocks]
                before = self.value(state[total])
                self._add((f"{key}-{total}",), tasks.plus, before, parts)
                new[total] = Single((f"{key}-{total}",))
        return new

    def _part(self, key: Key, item: int) -> tuple[Ref, int]:
        return Ref(key), item

    def value(self, at: Chunked | Single) -> Any:
        """What a state has of a name that is in one piece."""
        if isinstance(at, Single):
            return Ref(at.key) if at.item is None else (Ref(at.key), at.item)
        raise AssertionError("chunks are fetched")

    def _others(self, family: Family, state: State) -> dict[str, Any]:
        names = (*family.text.others, *family.text.scalars)
        return {n: self.value(state[n]) for n in names}

    def _fetched(
        self, family: Family, state: State
    ) -> dict[tuple[int, ...], list[list[Any]]]:
        """The pieces of the windows of each block.

        A chunk whose parts other blocks read is cut once, by a task whose result has
        all these parts and no more.
        """
        wanted: dict[tuple[str, tuple[int, ...]], dict[Any, int]] = {}
        for block in family.blocks.values():
            for array, pieces in zip(family.layer.windows, block.pieces, strict=True):
                for p in pieces:
                    if p.part is not None:
                        cuts = wanted.setdefault((array, p.chunk), {})
                        cuts.setdefault(_plain(p.part), len(cuts))
        names: dict[tuple[str, tuple[int, ...]], Key] = {}
        for (array, chunk), cuts in wanted.items():
            at = state[array]
            assert isinstance(at, Chunked)
            made = at, chunk, tuple(cuts)
            if made not in self._cuts:
                key = (f"{self.prefix}-cut-{len(self._cuts)}", *chunk)
                places = [tuple(slice(a, b) for a, b in part) for part in cuts]
                self._add(key, tasks.cut, Ref(at.at(chunk)), at.item, places)
                self._cuts[made] = key
            names[array, chunk] = self._cuts[made]
        found = {}
        for place, block in family.blocks.items():
            row = []
            for array, pieces in zip(family.layer.windows, block.pieces, strict=True):
                at = state[array]
                assert isinstance(at, Chunked)
                parts: list[Any] = []
                for p in pieces:
                    if p.part is None:
                        ref = Ref(at.at(p.chunk))
                        parts.append(ref if at.item is None else (ref, at.item))
                    else:
                        own = names[array, p.chunk]
                        number = wanted[array, p.chunk][_plain(p.part)]
                        parts.append((Ref(own), number))
                row.append(parts)
            found[place] = row
        return found

    def _lone(self, lone: Lone, state: State, name: str) -> State:
        values = self._arguments(lone, state)
        self._add((name,), tasks.alone, lone.text, lone.name, self.plan.target, values)
        new = dict(state)
        for item, output in enumerate(lone.outputs):
            new[output] = Single((name,), item)
        return new

    def _arguments(self, lone: Lone, state: State) -> dict[str, Any]:
        return {
            n: lone.integers[n] if n in lone.integers else self.value(state[n])
            for n in lone.params
        }

    # ---------------------------------------------------------------- backwards

    def reverse(self, cotangents: State, wrt: Sequence[str]) -> State:
        """The cotangents before all operations, of the state after them."""
        for number in reversed(range(len(self.plan.operations))):
            operation, state = self.plan.operations[number], self.states[number]
            name = f"{self.prefix}-{number}-back"
            if isinstance(operation, Lone):
                cotangents = self._lone_back(operation, state, cotangents, name)
            else:
                cotangents = self._back(operation, state, cotangents, name)
        return cotangents

    def _back(
        self,
        families: tuple[Family, ...],
        state: State,
        cotangents: State,
        name: str,
    ) -> State:
        old = dict(cotangents)
        new = dict(cotangents)
        for family in families:
            for out in family.layer.outs:
                new.pop(out, None)
        parts: dict[str, dict[tuple[int, ...], list[Any]]] = {}
        singles: dict[str, list[Any]] = {}
        for k, family in enumerate(families):
            key = f"{name}-{k}" if len(families) > 1 else name
            self._pulled(family, state, old, key, parts, singles)
        for array, chunks in parts.items():
            into = f"{name}-d-{array}"
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
            into_key = (f"{name}-d-{single}",)
            before = new.get(single)
            if before is None:
                self._add(into_key, tasks.tree, values)
            else:
                self._add(into_key, tasks.plus, self.value(before), values)
            new[single] = Single(into_key)
        return new

    def _pulled(
        self,
        family: Family,
        state: State,
        cotangents: State,
        key: str,
        parts: dict[str, dict[tuple[int, ...], list[Any]]],
        singles: dict[str, list[Any]],
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
            if self.plan.dtypes.get(n, "") in ("float32", "float64")
            and n not in layer.summed
        )
        if not wrt:
            return
        pieces = self._fetched(family, state)
        others = self._others(family, state)
        for place, block in family.blocks.items():
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
                seeds.append(None if one is None else self.value(one))
            self._add(
                (key, *place),
                tasks.pull,
                layer,
                block.of,
                pieces[place],
                others,
                wrt,
                seeds,
            )
            self._owed(family, block, (key, *place), wrt, parts, singles)

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
                singles.setdefault(array, []).append((Ref(key), number))
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
        self, lone: Lone, state: State, cotangents: State, name: str
    ) -> State:
        new = dict(cotangents)
        seeds: list[Any] = []
        for output in lone.outputs:
            at = new.pop(output, None)
            seeds.append(None if at is None else self.value(at))
        wrt = tuple(n for n in lone.floats if n not in lone.integers)
        if not wrt or all(s is None for s in seeds):
            return new
        values = self._arguments(lone, state)
        self._add(
            (name,),
            tasks.alone_pull,
            lone.text,
            lone.name,
            self.plan.target,
            values,
            wrt,
            seeds,
        )
        for number, n in enumerate(wrt):
            before = new.get(n)
            if before is None:
                new[n] = Single((name,), number)
                continue
            key = (f"{name}-d-{n}",)
            self._add(key, tasks.plus, self.value(before), [(Ref((name,)), number)])
            new[n] = Single(key)
        return new


def _size(place: Sequence[slice]) -> int:
    return math.prod(s.stop - s.start for s in place)


def _plain(part: Sequence[slice]) -> tuple[tuple[int, int], ...]:
    return tuple((s.start, s.stop) for s in part)


def resolved(value: Any, known: Mapping[Key, Any]) -> Any:
    """An argument with what the tasks have given in place of references.

    A tuple that begins with a reference is a part of a result: its path follows.
    """
    if isinstance(value, Ref):
        return known[value.key]
    if isinstance(value, tuple) and value and isinstance(value[0], Ref):
        return tasks.picked(known[value[0].key], *value[1:])
    if isinstance(value, list):
        return [resolved(v, known) for v in value]
    if isinstance(value, dict):
        return {k: resolved(v, known) for k, v in value.items()}
    return value


def references(value: Any) -> list[Key]:
    """The tasks that an argument waits for."""
    if isinstance(value, Ref):
        return [value.key]
    if isinstance(value, (list, tuple)):
        return [k for v in value for k in references(v)]
    if isinstance(value, dict):
        return [k for v in value.values() for k in references(v)]
    return []
