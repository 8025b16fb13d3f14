"""What stands for a generator of random numbers while a function is read."""

from __future__ import annotations

from dataclasses import dataclass

import gast
import numpy as np

from pyrev.ir.nodes import Loc
from pyrev.parse.bindings import nodes_of, parameters
from pyrev.parse.structure_shapes import Shape

#: What generators have, by which a parameter that is one is told before a call.
METHODS = frozenset(n for n in dir(np.random.Generator) if not n.startswith("_"))


@dataclass(frozen=True, slots=True)
class Stream:
    """A generator of a call, whichever it is."""


@dataclass(frozen=True, slots=True)
class Draw:
    """A method of it."""

    method: str


STREAM = Stream()


@dataclass(slots=True)
class Drawing:
    """The names of the array with the numbers that are drawn, and of their count; which
    method of the generator draws them, and where the text does first.
    """

    buffer: str
    count: str
    kind: str = ""
    at: Loc | None = None


def may_be_stream(shape: Shape) -> bool:
    """Has a generator what the text reads of a parameter?"""
    return shape.kind == "object" and all(
        k in METHODS and inner is None for k, inner in shape.fields
    )


def streams_in(node: gast.AST) -> list[str]:
    """The parameters of a definition of which a method is called that generators have,
    and no arrays.
    """
    found: dict[str, None] = {}
    own = {p.id for p in parameters(node)}
    for n in nodes_of(node):
        match n:
            case gast.Call(func=gast.Attribute(value=gast.Name(id=name), attr=attr)):
                if name in own and attr in METHODS and not hasattr(np.ndarray, attr):
                    found[name] = None
    return [*found]
