"""What a plan says of itself: blocks, windows, tasks, and the text of a block."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from pyrev.bridges.chunked.calls import Planned
from pyrev.bridges.chunked.model import cost_of, table
from pyrev.bridges.chunked.plan import Family, Lone, Plan


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
    # What runs again and again, as steps of a loop over time do, is told of once.
    places: dict[str, list[int]] = {}
    first: dict[str, tuple[Family, ...] | Lone] = {}
    for number, operation in enumerate(plan.operations, 1):
        of_one = operation[0] if isinstance(operation, tuple) else operation
        name = (of_one.layer if isinstance(of_one, Family) else of_one).code.name
        places.setdefault(name, []).append(number)
        first.setdefault(name, operation)
    for name, operation in first.items():
        label = _numbers(places[name])
        lines.append("")
        if not isinstance(operation, tuple):
            lines.append(f"{label}. one task: {', '.join(operation.outputs)}")
            continue
        for family in operation:
            lines += _family(label, family, plan)
    if plan.in_groups:
        lines += ["", *table(planned, plan.steps)]
    texts = dict.fromkeys(plan.texts)
    return "\n".join([*lines, "", *texts]).rstrip() + "\n"


def _numbers(places: Sequence[int]) -> str:
    """The numbers of an operation: one, a range, or each so many."""
    start, end, count = places[0], places[-1], len(places)
    if count == 1:
        return f"{start}"
    if end - start == count - 1:
        return f"{start} to {end}"
    return f"{start} to {end} ({count} times)"


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
        if sides:
            yield f"   {array}: a window has {' and '.join(sides)}"
        else:
            yield f"   {array}: all of it"
