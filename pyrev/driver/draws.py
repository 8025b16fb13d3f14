"""What is drawn from generators of random numbers, before a call runs.

The part of the program that decides its requests is run on copies of the arguments: it
draws where the function would, so that what is drawn may decide what is drawn then.
Where that raises, or an index turns out to be outside, the whole program is run, which
raises where the function would. Where all is of one kind, and only its number is to be
known, that is counted, and all of it is drawn at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from pyrev.driver.plan import Plan, Plans
from pyrev.driver.request import Request
from pyrev.driver.slices import Slice
from pyrev.driver.targets import PYTHON
from pyrev.driver.targets.target import Target
from pyrev.driver.unit import Unit
from pyrev.driver.units import Units
from pyrev.ir.counting import counting, reads, sliced
from pyrev.ir.diagnostics import ArgumentError
from pyrev.ir.nodes import (
    ZERO,
    Assign,
    Block,
    Call,
    Check,
    Const,
    For,
    If,
    Load,
    Program,
    Stmt,
    blocks,
    exprs,
    mentioned,
    walk,
    with_blocks,
    written,
)
from pyrev.ir.trip_counts import trip_count
from pyrev.parse import Parsed
from pyrev.parse.rewriting.structures.objects import at_path
from pyrev.parse.streams import GLOBAL, Drawing, Site
from pyrev.runtime.device import copied, is_array


class Generators:
    """The generators of a call, and where they stood before it."""

    def __init__(self, drawing: Drawing, given: Mapping[str, Any]) -> None:
        #: The generators by the names that sites have for them.
        self.streams: dict[str, Any] = {
            name: at_path(given[str(path[0])], path[1:])
            for name, path in drawing.paths.items()
        }
        if any(s.stream == GLOBAL for s in drawing.sites):
            self.streams[GLOBAL] = np.random.mtrand._rand
        self._states = [(g, _state(g)) for g in self.streams.values()]

    def rewind(self) -> None:
        """Let all draw again what they drew."""
        for generator, state in self._states:
            _rewind(generator, state)


def _state(generator: Any) -> Any:
    if isinstance(generator, np.random.RandomState):
        return generator.get_state(legacy=False)
    return generator.bit_generator.state


def _rewind(generator: Any, state: Any) -> None:
    if isinstance(generator, np.random.RandomState):
        generator.set_state(state)
    else:
        generator.bit_generator.state = state


class Draws:
    """How calls with such arguments draw."""

    def __init__(self, units: Units, plan: Plan, drawing: Drawing) -> None:
        drawer = units.function.parsed.drawer
        assert drawer is not None
        self._whole = _Drawer(drawer, drawing)
        # What is raised when all is drawn the call raises itself.
        asking = replace(
            drawer.program, body=_until(drawer.program.body, drawing.requests)
        )
        part = sliced(asking, {drawing.requests}, (), True)
        sites = [*drawing.sites]
        body = _at_once(part.body, drawing.requests, sites)
        own = replace(drawer, program=replace(part, body=body))
        self._part = _Drawer(own, replace(drawing, sites=sites))
        self._site: Site | None = None
        site = _only_site(drawer.program, drawing)
        if site is not None:
            count = drawing.counts[site.buffer]
            slice_ = counting(units.function.typed(plan.kinds), count, checks=True)
            if not reads(slice_) & drawing.dtypes.keys():
                self._site = site
                parsed, left_out = units.function.parsed, drawing.dtypes.keys()
                self._counted = Slice(parsed, slice_, plan, left_out)

    def draw(
        self, values: Mapping[str, Any], generators: Generators, writes: bool
    ) -> dict[str, Any]:
        """The arrays of what a call with these values draws.

        What the function raises is raised where it raises it; what it has written by
        then is in the arguments if it `writes`.
        """
        try:
            if self._site is None:
                return self._part.draw(values, generators, False)
            number = int(self._counted.run(values))
        except Exception:  # noqa: BLE001
            return self.draw_whole(values, generators, writes)
        site = self._site
        draw = getattr(generators.streams[site.stream], site.method)
        return {site.buffer: draw(size=number)}

    def draw_whole(
        self, values: Mapping[str, Any], generators: Generators, writes: bool
    ) -> dict[str, Any]:
        """The same by a run of all: what is raised is raised where some may have been
        drawn, and some written.
        """
        generators.rewind()
        return self._whole.draw(values, generators, writes)


def _until(block: Block, name: str) -> Block:
    """A block up to where `name` is written for the last time."""
    last = max((k for k, s in enumerate(block) if name in written((s,))), default=-1)
    end = block[last : last + 1]
    if end and isinstance(end[0], If):
        end = (with_blocks(end[0], tuple(_until(b, name) for b in blocks(end[0]))),)
    return (*block[: max(last, 0)], *end)


def _at_once(block: Block, requests: str, sites: list[Site]) -> Block:
    """A block in which a loop that asks for the same again and again, and does nothing
    else, asks once for all of it; `sites` receives what is new among them.
    """
    found: list[Stmt] = []
    for s in block:
        if inner := blocks(s):
            s = with_blocks(s, tuple(_at_once(b, requests, sites) for b in inner))
        if isinstance(s, For) and s.body:
            s = _asked_once(s, requests, sites) or s
        found.append(s)
    return tuple(found)


def _asked_once(loop: For, requests: str, sites: list[Site]) -> Stmt | None:
    *checks, last = loop.body
    changing = {*written(loop.body), loop.index} - {requests}
    read = {n for s in loop.body for e in exprs(s) for n in mentioned(e)}
    match last:
        case Assign(Load(array, (Const(int(k)), _)), value) if (
            array == requests
            and all(isinstance(c, Check) for c in checks)
            and not read & changing
        ):
            site = sites[k]
            if site.given or not site.buffer:
                return None
            each = value if site.size else Const(1)
            if site.size:
                number = k
            else:
                number = len(sites)
                sites.append(replace(site, size=True))
            count = trip_count(loop)
            every = Call("*", (count, each))
            ask = Assign(Load(requests, (Const(number), ZERO)), every, loc=last.loc)
            test = Call("<", (ZERO, count))
            return If(test, (*checks, ask), (), loc=loop.loc)
    return None


def _only_site(program: Program, drawing: Drawing) -> Site | None:
    """What a program draws if all of that is the same."""
    found = {
        s.target.index[0].value
        for s in walk(program.body)
        if isinstance(s, Assign) and isinstance(s.target, Load)
        if s.target.array == drawing.requests and isinstance(s.target.index[0], Const)
    }
    sites = {replace(drawing.sites[int(k)], size=True) for k in found}
    if len(sites) != 1:
        return None
    (site,) = sites
    known = site.stream == GLOBAL or site.stream in drawing.paths
    return site if known and site.buffer and not site.given else None


class _Drawer:
    """The program that draws while it runs, as CPython runs it."""

    def __init__(self, parsed: Parsed, drawing: Drawing) -> None:
        self._drawing = drawing
        self._written = written(parsed.program.body)
        # What nobody reads before it is all there need not be a list.
        own = reads(parsed.program) & drawing.dtypes.keys()
        self._kinds = {n: _Kept if n in own else _Pieces for n in drawing.dtypes}
        self._units = Units(replace(parsed, callbacks=()))
        self._plans = Plans(PYTHON)

    def draw(
        self, values: Mapping[str, Any], generators: Generators, writes: bool
    ) -> dict[str, Any]:
        """The arrays of what a call with these values draws."""
        drawing = self._drawing
        nothing = {drawing.requests: np.empty((0, 0))}
        own = {**values, **nothing}
        own = {p.name: own[p.name] for p in self._units.function.program.params}
        plan = self._plans.plan(self._units, own)

        def make() -> Unit:
            bounds = plan.units.inspection.bounds(plan.kinds)
            request = Request(PYTHON, plan.kinds, (), own, bounds.variants.whatever)
            return plan.units.primal(request)

        unit: Unit = plan.once("draws", make)
        drawn = {n: self._kinds[n](dtype) for n, dtype in drawing.dtypes.items()}
        copies = {
            n: copied(v) if n in self._written and is_array(v) else v
            for n, v in own.items()
        }
        requests = _Requests(drawing, generators.streams, drawn)
        given = {**copies, **drawn, drawing.requests: requests}
        try:
            unit.call([given[p] for p in unit.params])
        except BaseException:
            for n in self._written & values.keys() if writes else ():
                if is_array(values[n]):
                    np.copyto(values[n], copies[n])
            raise
        return {n: v.whole() for n, v in drawn.items()}


class _Kept(list[Any]):
    """An array that grows: what has been drawn by now."""

    def __init__(self, dtype: str) -> None:
        super().__init__()
        self.dtype = np.dtype(dtype)

    @property
    def shape(self) -> tuple[int]:
        """How many there are."""
        return (len(self),)

    def take(self, found: Any) -> None:
        """This is drawn next."""
        self += np.ravel(found).tolist()

    def whole(self) -> np.ndarray[Any, Any]:
        """All that was drawn."""
        return np.array(self, self.dtype)


class _Pieces:
    """An array that grows, and is read when it is whole."""

    def __init__(self, dtype: str) -> None:
        self.dtype, self._pieces = np.dtype(dtype), [np.empty(0, dtype)]
        self._single: list[Any] = []

    def take(self, found: Any) -> None:
        """This is drawn next."""
        if not isinstance(found, np.ndarray):
            self._single.append(found)
            return
        self._flush()
        self._pieces.append(np.ravel(found))

    def _flush(self) -> None:
        if self._single:
            self._pieces.append(np.array(self._single, self.dtype))
            self._single = []

    def whole(self) -> np.ndarray[Any, Any]:
        """All that was drawn."""
        self._flush()
        return np.concatenate(self._pieces, dtype=self.dtype, casting="unsafe")


class _Requests:
    """What stands for the array of requests in a run: it draws where one is whole."""

    def __init__(
        self,
        drawing: Drawing,
        streams: Mapping[str, Any],
        drawn: Mapping[str, _Kept | _Pieces],
    ) -> None:
        self._sites, self._drawn = drawing.sites, drawn
        self._streams = dict(streams)
        self._given: list[Any] = []
        self._elements: list[Any] = []

    def __setitem__(self, place: tuple[int, int], value: Any) -> None:
        site = self._sites[place[0]]
        if place[1] < len(site.given):
            self._given.append(value)
            return
        if place[1] > len(site.given):
            self._elements.append(value)
            return
        given = dict(zip(site.given, self._given, strict=True))
        self._given.clear()
        if site.vector:
            given[site.vector] = np.array(self._elements, "float64")
            self._elements.clear()
        if site.places and not given["a"]:
            given["a"] = np.empty(0)  # NumPy has other words for it than for no places
        if site.method in ("default_rng", "RandomState"):
            self._streams[site.stream] = getattr(np.random, site.method)(**given)
            return
        draw = getattr(self._streams[site.stream], site.method)
        if site.size:
            given["size"] = value
        found = draw(**given, **dict(site.fixed))
        if site.buffer:
            self._drawn[site.buffer].take(found)


def check_drawing(what: str, target: Target) -> None:
    """`ArgumentError` for a target that draws nothing."""
    if target.on_device:
        raise ArgumentError(
            f"{what}() draws random numbers, which the target {target.name!r} does not:"
            " pass the numbers that are drawn"
        )
