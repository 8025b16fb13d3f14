"""Where windows and loops start to count: the same for what runs along together.

Where a window starts at an element, and a loop counts from the same number, the text
for a block says ``u[y - 1]`` as the function does. So arrays and loops that one
subscript ties together share a *frame*, unless that made windows much larger.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pyrev.bridges.chunked.boxes import Box
from pyrev.bridges.chunked.phases import Facts, Phase
from pyrev.bridges.chunked.slices import Key, Slice
from pyrev.ir.affine import linear
from pyrev.ir.nodes import Alloc, Expr, Stmt, Var

#: A window may start so much earlier for a common frame: a part of it, and elements.
EARLIER = 0.25, 8

#: An axis of a window, or a loop.
Node = tuple[str, int] | Key


class Frames:
    """The frames of a stage; `starts` says for each where it begins, per block."""

    def __init__(
        self,
        items: Sequence[Phase | Stmt],
        found: Slice,
        facts: Facts,
        steps: int,
    ) -> None:
        self.starts: dict[int, Any] = {}
        self._of: dict[Node, int] = {}
        self._ends: dict[int, Any] = {}
        for array, box in found.windows.items():
            for j, k in enumerate(facts.axes[array]):
                self._begin((array, k), box, j)
        for key, limits in found.loops.items():
            self._begin(key, limits.at(steps - 1), 0)
        for one, other in _together(items, found, facts):
            self._join(one, other)

    def _begin(self, node: Node, box: Box, j: int) -> None:
        number = len(self._of)
        none = box.empty
        low = np.where(none, np.iinfo(np.int64).max, box.low[j])
        high = np.where(none, np.iinfo(np.int64).min, box.high[j])
        self._of[node] = number
        self.starts[number], self._ends[number] = low, high

    def _join(self, one: Node, other: Node) -> None:
        if one not in self._of or other not in self._of:
            return
        a, b = self._of[one], self._of[other]
        if a == b:
            return
        start = np.minimum(self.starts[a], self.starts[b])
        end = np.maximum(self._ends[a], self._ends[b])
        for part in (a, b):
            there = self.starts[part] <= self._ends[part]
            if not there.any():
                continue
            more = (self.starts[part] - start)[there].mean()
            long = (self._ends[part] - self.starts[part])[there].mean()
            if more > EARLIER[0] * long + EARLIER[1]:
                return
        for node, number in self._of.items():
            if number == b:
                self._of[node] = a
        self.starts[a], self._ends[a] = start, end
        del self.starts[b], self._ends[b]

    def of(self, node: Node) -> int | None:
        """The frame of an axis or a loop."""
        return self._of.get(node)

    def start(self, frame: int) -> Any:
        """Where a frame begins, per block; 0 where there is nothing in it."""
        low = self.starts[frame]
        return np.where(low == np.iinfo(np.int64).max, 0, low)

    def widened(self, found: Slice, facts: Facts) -> Slice:
        """The slice with windows that start where their frames do."""
        windows = {}
        for array, box in found.windows.items():
            low = box.low.copy()
            for j, k in enumerate(facts.axes[array]):
                frame = self._of[array, k]
                low[j] = np.where(box.empty, box.low[j], self.start(frame))
            windows[array] = Box(low, box.high)
        return replace(found, windows=windows)


def _together(
    items: Sequence[Phase | Stmt], found: Slice, facts: Facts
) -> Iterator[tuple[Node, Node]]:
    """What would share a frame: copies, and loops with what they step through."""
    for item in items:
        if isinstance(item, Alloc) and item.copied in facts.axes:
            for k in facts.axes.get(item.array, ()):
                yield (item.array, k), (str(item.copied), k)
    for number, item in enumerate(items):
        if not isinstance(item, Phase) or number not in found.used:
            continue
        for touch in item.touches:
            if touch.access.index is None:
                continue
            loops = {
                at.loop.index: (number, at.number)
                for at in touch.leaf.loops
                if at.number in item.limited
            }
            for k in facts.axes[touch.access.name]:
                key = _stepped(touch.access.index[k], loops)
                if key is not None:
                    yield (touch.access.name, k), key


def _stepped(e: Expr, loops: Mapping[str, Key]) -> Key | None:
    """The limited loop that a subscript steps through one by one."""
    own = [
        (loops[a.name], c)
        for a, c in linear(e).terms
        if isinstance(a, Var) and a.name in loops
    ]
    return own[0][0] if len(own) == 1 and own[0][1] == 1 else None
