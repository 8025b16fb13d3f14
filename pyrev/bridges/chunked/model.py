"""What a plan would cost on many machines: tasks, bytes, work that is done twice.

The numbers of tasks, bytes and iterations are those of the plan itself; what a task, a
byte and an iteration take is assumed, by a `Cluster`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pyrev.bridges.chunked.graph import Builder
from pyrev.bridges.chunked.layout import Chunks
from pyrev.bridges.chunked.plan import (
    Chunked,
    Family,
    Graph,
    Plan,
    Single,
    State,
    Task,
)


@dataclass(frozen=True)
class Cluster:
    """Machines that run tasks, and one scheduler for all of them.

    `task` are the seconds of the scheduler for a task, `byte` those to send one from a
    machine to another, `latency` those until the first byte is there, `step` those of a
    core for one iteration, forwards and backwards.
    """

    nodes: int = 100
    cores: int = 4
    task: float = 5e-4
    byte: float = 1e-9
    latency: float = 1e-3
    step: float = 2e-8


CLUSTER = Cluster()

#: No more steps in a task: it records all of them.
MOST_STEPS = 16


@dataclass(frozen=True)
class Cost:
    """A call and its derivative, as a plan has them."""

    steps: int
    tasks: int
    bytes: int  # that go from one block to another
    iterations: int
    twice: float  # of the iterations, the part that another block does, too

    def seconds(self, cluster: Cluster, groups: int, blocks: int) -> dict[str, float]:
        """What each part takes, and all of it: the scheduler works beside the cores,
        and the strips are there before a group begins.
        """
        most = min(blocks, cluster.nodes * cluster.cores)
        busy = min(blocks, cluster.nodes)
        scheduler = self.tasks * cluster.task
        sent = 2 * groups * cluster.latency + self.bytes * cluster.byte / busy
        turns = math.ceil(blocks / most) * most / blocks
        work = self.iterations * cluster.step * turns / most
        whole = max(scheduler, sent + work)
        return dict(scheduler=scheduler, sent=sent, work=work, whole=whole)


def cost_of(plan: Plan, steps: int) -> Cost:
    """What a plan has: its tasks are those of the call and of its gradients."""
    sent = iterations = needed = 0
    for operation in plan.operations:
        for family in operation if isinstance(operation, tuple) else ():
            sent += 2 * _sent(family, plan)
            own, whole = _iterations(family)
            iterations += own
            needed += whole
    twice = 1.0 - needed / iterations if iterations else 0.0
    return Cost(steps, len(_graph(plan)), sent, iterations, twice)


def _graph(plan: Plan) -> Graph:
    """The tasks of a call and its gradients, of arguments that are there."""
    layout, graph = plan.layout, dict[Any, Task]()
    names = {*layout.shapes}
    for operation in plan.operations:
        if isinstance(operation, tuple):
            for f in operation:
                names |= {*f.text.others, *f.text.scalars, *f.text.sums}
        else:
            names |= {*operation.params}
    state: State = {
        n: Chunked(f"in {n}") if n in layout.axes else Single((f"in {n}",))
        for n in names
    }
    builder = Builder(plan, graph, "plan")
    end = builder.forward(state)
    floats = [n for n, d in plan.dtypes.items() if d in ("float32", "float64")]
    seeds: State = {
        n: Chunked(f"d {n}") if isinstance(at, Chunked) else Single((f"d {n}",))
        for n, at in end.items()
        if n in floats and at != state.get(n)
    }
    builder.reverse(seeds, floats)
    return graph


def _sent(family: Family, plan: Plan) -> int:
    """The bytes that blocks take from the chunks of others."""
    found = 0
    for place, block in family.blocks.items():
        for array, pieces in zip(family.layer.windows, block.pieces, strict=True):
            axes = plan.layout.axes[array]
            grid = tuple(plan.layout.chunks[array][k] for k in axes)
            own = place if grid == family.grid else None
            size = np.dtype(plan.dtypes[array]).itemsize
            for p in pieces:
                if own is None or tuple(p.chunk[k] for k in axes) != own:
                    found += size * math.prod(s.stop - s.start for s in p.place)
    return found


def _iterations(family: Family) -> tuple[int, int]:
    """The iterations of all blocks along chunked axes, and those of the whole loops."""
    done = needed = 0
    statements: dict[int, list[Any]] = {}
    for (number, _), limits in family.slice.loops.items():
        statements.setdefault(number, []).append(limits)
    for loops in statements.values():
        for before in range(max(family.steps, 1)):
            boxes = [limits.at(before) for limits in loops]
            blocks = np.prod([np.maximum(b.high - b.low, 0)[0] for b in boxes], axis=0)
            done += int(np.sum(blocks))
            last = [limits.at(0) for limits in loops]
            there = ~np.any([b.empty for b in last], axis=0)
            if there.any():
                needed += math.prod(
                    int(b.high[0][there].max() - b.low[0][there].min()) for b in last
                )
    return done, min(done, needed)


def chosen_steps(
    chunks: Mapping[str, Chunks], cluster: Cluster = CLUSTER, tasks: int = 6
) -> int:
    """So many steps of time in a task as cost least, if each reads one element further.

    More steps at once are fewer tasks, and more that two blocks both compute; a block
    has so many `tasks` in a group of steps.
    """
    mean = [[sum(c) / len(c) for c in parts if len(c) > 1] for parts in chunks.values()]
    sides = max(mean, key=math.prod, default=[])
    if not sides:
        return 1

    def cost(k: int) -> float:
        wide = sum(math.prod(n + 2 * before for n in sides) for before in range(k)) / k
        return tasks * cluster.task / k + cluster.step * wide

    costs = [cost(k) for k in range(1, MOST_STEPS + 1)]
    # Each step at once takes memory: the first number that is as good as any.
    return 1 + next(k for k, c in enumerate(costs) if c <= 1.02 * min(costs))


def table(
    planned: Callable[[int], Plan | None], chosen: int, cluster: Cluster = CLUSTER
) -> Sequence[str]:
    """Lines that say what numbers of steps in a task would cost on a cluster."""
    rows = list[tuple[Cost, dict[str, float]]]()
    for k in sorted({1, 2, 4, 8, 16, chosen}):
        plan = planned(k)
        if plan is None:
            continue
        timed = [
            f for o in plan.operations if isinstance(o, tuple) for f in o if f.steps
        ]
        cost = cost_of(plan, k)
        blocks = max(len(f.blocks) for f in timed)
        rows.append((cost, cost.seconds(cluster, len(timed), blocks)))
    best = min(rows, key=lambda r: r[1]["whole"], default=None)
    if best is None:
        return []
    lines = [
        f"Value and gradients on {cluster.nodes} nodes of {cluster.cores} cores, if the"
        f" scheduler takes {1e3 * cluster.task:g} ms for a task, a node sends"
        f" {1e-9 / cluster.byte:g} GB/s after {1e3 * cluster.latency:g} ms, and a core"
        f" {1e9 * cluster.step:g} ns for an iteration and its derivative:",
        "   steps     tasks  scheduler      sent  sending  twice     work    whole",
    ]
    for cost, seconds in rows:
        mark = " *" if cost is best[0] else ""
        lines.append(
            f"   {cost.steps:5d}  {cost.tasks:8d}  {seconds['scheduler']:7.1f} s"
            f"  {cost.bytes / 1e6:5.0f} MB  {seconds['sent']:5.2f} s"
            f"  {100 * cost.twice:4.1f}%  {seconds['work']:5.1f} s"
            f"  {seconds['whole']:5.1f} s{mark}"
        )
    lines.append(f"   * fewest seconds: {best[0].steps} steps in a task.")
    return lines
