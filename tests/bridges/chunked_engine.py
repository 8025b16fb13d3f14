"""The tasks of a plan without Dask: in this process, or by processes with queues."""

from __future__ import annotations

import multiprocessing
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import pyrev
from pyrev.bridges.chunked.calls import Asked, Planned, Shaped
from pyrev.bridges.chunked.graph import Builder, packed
from pyrev.bridges.chunked.plan import Chunked, Graph, Key, Single, State, Task
from pyrev.bridges.chunked.tasks import filled

Chunks = tuple[tuple[int, ...], ...]


def identity(x: Any) -> Any:
    return x


def cuts(n: int, rng: random.Random) -> tuple[int, ...]:
    """Chunks of n elements: uneven, some of one element."""
    out: list[int] = []
    while sum(out) < n:
        out.append(min(rng.choice([1, 1, 2, 3, 5, 8]), n - sum(out)))
    return tuple(out)


def chunked(array: Any, axes: Sequence[int], rng: random.Random) -> Chunks:
    """Random chunks along some axes."""
    return tuple(cuts(n, rng) if k in axes else (n,) for k, n in enumerate(array.shape))


def pieces(array: Any, chunks: Chunks) -> dict[tuple[int, ...], Any]:
    ends = [np.concatenate(([0], np.cumsum(c))) for c in chunks]
    return {
        place: array[
            tuple(
                slice(int(e[i]), int(e[i + 1]))
                for e, i in zip(ends, place, strict=True)
            )
        ]
        for place in np.ndindex(*map(len, chunks))
    }


def in_order(
    graph: Graph, wanted: Sequence[Key], rng: random.Random | None = None
) -> list[Key]:
    """An order in which each task comes after what it waits for: any, by `rng`."""
    order: dict[Key, None] = {}

    def visit(key: Key) -> None:
        if key in order:
            return
        _, waits = packed(graph[key])
        if rng is not None:
            rng.shuffle(waits)
        for k in waits:
            visit(k)
        order[key] = None

    for key in wanted:
        visit(key)
    return [*order]


def by_turns(
    graph: Graph,
    wanted: Sequence[Key],
    rng: random.Random | None = None,
    twice: bool = False,
) -> dict[Key, Any]:
    """Run the tasks one by one; `twice` each of them, as a retry would."""
    known: dict[Key, Any] = {}
    for key in in_order(graph, wanted, rng):
        for _ in range(1 + twice):
            args, waits = packed(graph[key])
            values = [known[k] for k in waits]
            known[key] = filled(graph[key].function, args, *values)
    return known


def _work(todo: Any, done: Any) -> None:
    """A process: tasks from one queue, results into the other."""
    while (given := todo.get()) is not None:
        key, function, args, values = given
        done.put((key, filled(function, args, *values)))


def by_processes(graph: Graph, wanted: Sequence[Key], count: int = 2) -> dict[Key, Any]:
    """Run the tasks in processes that have nothing in common but two queues."""
    context = multiprocessing.get_context("spawn")
    todo, done = context.Queue(), context.Queue()
    workers = [context.Process(target=_work, args=(todo, done)) for _ in range(count)]
    for w in workers:
        w.start()
    known: dict[Key, Any] = {}
    left = in_order(graph, wanted)
    asked: set[Key] = set()
    while len(known) < len(left):
        for key in left:
            _, waits = packed(graph[key])
            if key not in asked and all(k in known for k in waits):
                args, _ = packed(graph[key])
                values = [known[k] for k in waits]
                todo.put((key, graph[key].function, args, values))
                asked.add(key)
        key, result = done.get(timeout=120)
        known[key] = result
    for _ in workers:
        todo.put(None)
    for w in workers:
        w.join()
    return known


@dataclass
class Run:
    """A call on chunks, to be run by some engine."""

    planned: Planned
    graph: Graph
    end: State
    builder: Builder
    wanted: list[Key] = field(default_factory=list)

    @property
    def names(self) -> tuple[str, ...]:
        """What the call gives: results, and arrays that it writes."""
        return tuple(dict.fromkeys((*self.planned.results, *self.planned.written)))

    def want(self, name: str, at: Chunked | Single) -> None:
        self.wanted += self.keys(name, at)

    def keys(self, name: str, at: Chunked | Single) -> list[Key]:
        if isinstance(at, Single):
            return [at.key]
        chunks = self.planned.plan.layout.chunks[name]
        return [at.at(place) for place in np.ndindex(*map(len, chunks))]

    def fetch(self, name: str, at: Chunked | Single, known: Mapping[Key, Any]) -> Any:
        def own(value: Any) -> Any:
            return value if at.item is None else value[at.item]

        if isinstance(at, Single):
            return own(known[at.key])
        plan = self.planned.plan
        chunks = plan.layout.chunks[name]
        out = np.empty(tuple(map(sum, chunks)), plan.dtypes[name])
        places = pieces(np.arange(out.size).reshape(out.shape), chunks)
        for place, where in places.items():
            out.reshape(-1)[where] = own(known[at.at(place)])
        return out

    def place(self, name: str, value: Any, label: str) -> Chunked | Single:
        """Put a value in, in the chunks that the plan has for its name."""
        layout = self.planned.plan.layout
        if name in layout.axes:
            for place, piece in pieces(value, layout.chunks[name]).items():
                self.graph[(label, *place)] = Task(identity, (piece,))
            return Chunked(label)
        self.graph[(label,)] = Task(identity, (value,))
        return Single((label,))


def prepared(
    f: Any,
    values: Mapping[str, Any],
    chunks: Mapping[str, Chunks],
    steps: int,
    target: str,
) -> Run:
    """The forward tasks of a call."""
    given = {
        n: Shaped(v.shape, v.dtype, chunks[n]) if n in chunks else v
        for n, v in values.items()
    }
    found = Asked.of(pyrev.differentiable(f), given).planned(steps, target)
    run = Run(found, {}, {}, None)  # type: ignore[arg-type]
    state = {
        n: run.place(n, values.get(n, v), f"in {n}") for n, v in found.values.items()
    }
    run.builder = Builder(found.plan, run.graph, "f")
    run.end = run.builder.forward(state)
    for name in run.names:
        run.want(name, run.end[name])
    return run


def pulled(run: Run, cotangents: Mapping[str, Any], wrt: Sequence[str]) -> State:
    """The backward tasks for these cotangents."""
    seeds = {n: run.place(n, c, f"cotangent {n}") for n, c in cotangents.items()}
    back = run.builder.reverse(seeds, wrt)
    for name in wrt:
        if name in back:
            run.want(name, back[name])
    return back
