"""What a plan says of itself: blocks, windows, tasks, and the text of a block."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import numpy as np

from pyrev.bridges.chunked.calls import Planned
from pyrev.bridges.chunked.model import cost_of, table
from pyrev.bridges.chunked.plan import Family, Plan


def told(of: Planned, name: str, planned: Callable[[int], Plan | None]) -> str:
    """The operations of a plan, in order, what they cost, and their texts.

    `planned` gives the plan with another number of steps in a task, if there is one.
    """
    plan = of.plan
    cost = cost_of(plan, plan.steps)
    lines = [
        f"{name} on chunks, target {plan.target}: {cost.tasks} tasks with its"
        f" gradients, {cost.bytes / 1e6:.1f} MB go from block to block,"
        f" {100 * cost.twice:.1f} % of the work is done by two"
    ]
    number = 1
    # Groups of steps with one text are told of once.
    for operation, again in itertools.groupby(plan.operations):
        count = len([*again])
        last = number + count - 1
        label = f"{number}" if count == 1 else f"{number} to {last}"
        number = last + 1
        lines.append("")
        if not isinstance(operation, tuple):
            lines.append(f"{label}. one task: {', '.join(operation.outputs)}")
            continue
        for family in operation:
            lines += _family(label, family, plan)
    if plan.over_time:
        lines += ["", *table(planned, plan.steps)]
    texts = dict.fromkeys(plan.texts)
    return "\n".join([*lines, "", *texts]).rstrip() + "\n"


def _family(label: str, family: Family, plan: Plan) -> Iterator[str]:
    layer, count = family.layer, len(family.blocks)
    given = ", ".join((*layer.outs, *family.text.sums))
    steps = f", {family.steps} steps each" if family.steps else ""
    yield f"{label}. {layer.name}: {count} blocks{steps}: {given}"
    for array in layer.windows:
        box = family.slice.windows[array]
        wide = np.maximum(box.high - box.low, 0).mean(axis=1)
        axes = plan.layout.axes[array]
        sides = [
            f"{w:.1f} along axis {k} ({np.mean(plan.layout.chunks[array][k]):.1f} in a"
            " chunk)"
            for k, w in zip(axes, wide, strict=True)
        ]
        yield f"   {array}: a window has {' and '.join(sides)}"
