"""What stands for generators of random numbers while a function is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import gast
import numpy as np

from pyrev.ir.nodes import Loc
from pyrev.parse.bindings import nodes_of, parameters
from pyrev.parse.forms import Forms, Path
from pyrev.parse.rewriting.structures.shapes import Shape

#: What generators have, by which a parameter that is one is told before a call.
_NEW = frozenset(n for n in dir(np.random.Generator) if not n.startswith("_"))
_LEGACY = frozenset(n for n in dir(np.random.RandomState) if not n.startswith("_"))

#: The methods that pick from what is there, or put it in another order.
PICKS = frozenset(["choice", "permutation", "shuffle"])

#: The name of the one that NumPy's own functions draw from: no identifier.
GLOBAL = "np.random"


@dataclass(frozen=True, slots=True)
class Stream:
    """A generator, by the name of what holds it; is it a `np.random.RandomState`?"""

    name: str = ""
    legacy: bool = False


@dataclass(frozen=True, slots=True)
class Draw:
    """A method of it."""

    stream: Stream
    method: str


#: What the generators of a call are, whichever they are.
STREAM = Stream()
LEGACY = Stream(legacy=True)


@dataclass(frozen=True, slots=True)
class Site:
    """A call in the text: of which method of which generator, with which arguments, by
    name, that the program gives, and with which that are known.

    What it gives goes to the array `buffer`; "" for what draws nothing. `size`: is the
    number of them asked for? `vector`: which argument is a vector, whose elements are
    written behind the number, before it. `places`: are they those of an array?
    """

    stream: str
    method: str
    buffer: str
    given: tuple[str, ...] = ()
    fixed: tuple[tuple[str, object], ...] = ()
    size: bool = False
    vector: str = ""
    places: bool = False


@dataclass(slots=True)
class Drawing:
    """What a program draws: the names of the arrays with the numbers that are drawn, of
    their counts, and of what receives what they are drawn with.

    The statements ``requests[k, j] = argument`` are in `drawn` alone: the program that
    is run to draw, reading what it has drawn by then.
    """

    requests: str
    #: The counts by the arrays, and the dtypes of these.
    counts: dict[str, str] = field(default_factory=dict)
    dtypes: dict[str, str] = field(default_factory=dict)
    sites: list[Site] = field(default_factory=list)
    at: Loc | None = None
    #: The generators among the arguments: where they are.
    paths: Mapping[str, Path] = field(default_factory=dict)

    def buffer(self, dtype: str) -> str:
        """The name of the array of this dtype, "" if there is none."""
        return next((n for n, d in self.dtypes.items() if d == dtype), "")


def stream_of(function: object) -> Draw | None:
    """The method of NumPy's global generator that a function is."""
    own = np.random.mtrand._rand
    name = getattr(function, "__name__", None)
    if not isinstance(name, str) or name not in _LEGACY:
        return None
    if getattr(np.random, name, None) is not function:
        return None
    if name == "seed" or getattr(function, "__self__", None) is own:
        return Draw(Stream(GLOBAL, True), name)
    return None


def may_be_stream(shape: Shape) -> bool:
    """Has a generator what the text reads of a parameter?"""
    return shape.kind == "object" and any(
        all(k in methods and inner is None for k, inner in shape.fields)
        for methods in (_NEW, _LEGACY)
    )


def may_draw(method: gast.AST, known: object) -> bool:
    """May the text of what is called be a method of a generator, if it stands for
    `known` (None: for nothing that is known)?
    """
    if known is None:
        return isinstance(method, gast.Attribute) and method.attr in _NEW | _LEGACY
    own = getattr(known, "__self__", None)
    return isinstance(own, np.random.Generator | np.random.RandomState)


def only_picks(method: gast.AST, known: object) -> bool:
    """The same of one that reads its argument, an array or a list, and writes none."""
    picks = PICKS - {"shuffle"}
    named = isinstance(method, gast.Attribute) and method.attr in picks
    return named and may_draw(method, known)


def streams_in(node: gast.AST) -> dict[str, Stream]:
    """The parameters of a definition of which a method is called that generators have,
    and no arrays.
    """
    found: dict[str, set[str]] = {}
    own = {p.id for p in parameters(node)}
    for n in nodes_of(node):
        match n:
            case gast.Call(func=gast.Attribute(value=gast.Name(id=name), attr=attr)):
                if name in own and attr in _NEW | _LEGACY:
                    found.setdefault(name, set()).add(attr)
    return {
        name: STREAM if methods <= _NEW else LEGACY
        for name, methods in found.items()
        if any(not hasattr(np.ndarray, m) for m in methods)
    }


def with_streams(
    defaults: tuple[tuple[Path, str | None], ...],
    found: Mapping[str, Shape],
    streams: Mapping[str, Stream],
) -> Forms:
    """The forms of a call in which these parameters are generators."""
    values = tuple((p, v) for p, v in defaults if p[0] not in streams)
    others = {p[0] for p, _ in values} | streams.keys()
    shapes = tuple((n, shape) for n, shape in found.items() if n not in others)
    return Forms(values, tuple(((n,), s) for n, s in streams.items()), shapes)
