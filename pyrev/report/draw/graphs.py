"""What a picture of a graph is made of, whoever draws it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

FONT = "Helvetica"


@dataclass(frozen=True, slots=True)
class Node:
    """A vertex of the picture: a name that no other has, and DOT's attributes."""

    name: str
    attributes: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Edge:
    """An arrow between two nodes."""

    source: str
    target: str
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Cluster:
    """A box with a title around nodes and other boxes."""

    label: str
    tooltip: str = ""
    nodes: list[Node] = field(default_factory=list)
    inner: list[Cluster] = field(default_factory=list)

    def every(self) -> Iterator[Node]:
        """The nodes in it, those of boxes inside it included."""
        yield from self.nodes
        for c in self.inner:
            yield from c.every()
