"""States of loops over time that wait in a Zarr store, not in memory.

Each chunk is an array of its own, whose name has the key of the task that made it: a
task that runs again writes the same bytes to the same place, in files that appear
whole, so whoever reads meanwhile reads what it would have read.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pyrev.bridges.chunked.layout import Layout
from pyrev.bridges.chunked.plan import Chunked, Graph, Ref, State, Task, worded
from pyrev.runtime.device import cupy, to_host


@dataclass(frozen=True, slots=True)
class Store:
    """A Zarr store for states, of chunks that may be on a GPU."""

    folder: str
    device: bool
    #: Where the results of tasks are in it: by their key, and which of them.
    labels: dict[tuple[str, int | None], str] = field(default_factory=dict)

    def keep(self, state: State, layout: Layout, graph: Graph) -> State:
        """Add tasks that bring the arrays of a state to the store, but those that were
        given; and say which they are: who goes on with an array waits for them.
        """
        marks: State = {}
        for name, at in state.items():
            if not isinstance(at, Chunked) or (at.key, at.item) in self.labels:
                continue
            places = [*_places(layout, name)]
            if at.at(places[0]) not in graph:
                continue
            label = worded(f"{at.key}-{at.item or 0}", "kept")
            for place in places:
                args = self._address(label, place), Ref(at.at(place)), at.item
                graph[label, *place] = Task(kept, args, ())
            marks[name] = Chunked(label)
            self.labels[at.key, at.item] = label
        return marks

    def load(
        self, state: State, cotangents: State, layout: Layout, graph: Graph, name: str
    ) -> State:
        """The state as tasks, whose keys begin with `name`, bring it back, each block
        when its cotangent is there.
        """
        new = dict(state)
        for array, at in state.items():
            if not isinstance(at, Chunked) or (at.key, at.item) not in self.labels:
                continue
            alike = [
                c
                for n, c in ((array, cotangents.get(array)), *cotangents.items())
                if isinstance(c, Chunked) and layout.chunks[n] == layout.chunks[array]
            ]
            label = worded(f"{name}-{array}", "loaded")
            source = self.labels[at.key, at.item]
            for place in _places(layout, array):
                args = self._address(source, place), self.device
                after = Ref((source, *place)), *(Ref(c.at(place)) for c in alike[:1])
                graph[label, *place] = Task(loaded, args, after)
            new[array] = Chunked(label)
        return new

    def _address(self, label: str, place: Sequence[int]) -> str:
        return f"{self.folder}/{label}/{'.'.join(map(str, place))}"


def _places(layout: Layout, array: str) -> Iterator[tuple[int, ...]]:
    return itertools.product(*(range(len(c)) for c in layout.chunks[array]))


def kept(address: str, value: Any, item: int | None = None) -> None:
    """Write an array to the store."""
    import zarr  # an extra's, and only for those who ask for it

    array = value if item is None else value[item]
    host = np.asarray(to_host(array))
    # Zeros are written, too: those that are not come back without their signs.
    at = zarr.open_array(
        address,
        mode="a",
        shape=host.shape,
        chunks=host.shape,
        dtype=host.dtype,
        config={"write_empty_chunks": True},
    )
    at[...] = host


def loaded(address: str, device: bool) -> Any:
    """An array of the store, in the memory of the GPU if it was there."""
    import zarr

    host = zarr.open_array(address, mode="r")[...]
    return cupy().asarray(host) if device else host
