"""What a plan says of itself: blocks, windows, tasks, and the text of a block."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pyrev.bridges.chunked.calls import Planned
from pyrev.bridges.chunked.plan import Family, Plan


def told(of: Planned, name: str) -> str:
    """The operations of a plan, in order."""
    lines = [f"{name} on chunks, target {of.plan.target}"]
    for number, operation in enumerate(of.plan.operations, 1):
        lines.append("")
        if not isinstance(operation, tuple):
            lines.append(f"{number}. one task: {', '.join(operation.outputs)}")
            continue
        for family in operation:
            lines += _family(number, family, of.plan)
    texts = dict.fromkeys(
        f.text.text for o in of.plan.operations if isinstance(o, tuple) for f in o
    )
    return "\n".join([*lines, "", *texts]).rstrip() + "\n"


def _family(number: int, family: Family, plan: Plan) -> Iterator[str]:
    layer, count = family.layer, len(family.blocks)
    given = ", ".join((*layer.outs, *family.text.sums))
    steps = f", {family.steps} steps each" if family.steps else ""
    yield f"{number}. {layer.name}: {count} blocks{steps}: {given}"
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
