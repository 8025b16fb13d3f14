"""What a task runs: pure functions of arrays, which may be run again anywhere.

They get windows as copies, write nothing that they did not make, and find the code by
the text that they carry.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pyrev.api.call import Call, Options
from pyrev.api.differentiable import Differentiable, differentiable_with, pulled
from pyrev.driver.held_inputs import Hold
from pyrev.driver.storage_options import Keeping
from pyrev.runtime import pool
from pyrev.runtime.code_cache import load, on_one_core
from pyrev.runtime.device import any_device, cupy, is_array, is_device

#: A window may be so much larger than the part of it that is kept.
SPARE = 1.25

#: So many windows of its largest size a process that runs tasks keeps for later ones,
#: and so many bytes at least: a worker has other uses for its memory.
KEPT, LEAST_KEPT = 8, 1 << 26

#: Where a piece lies in a window or a chunk.
Place = tuple[slice, ...]


@dataclass(frozen=True, slots=True)
class Code:
    """A function `name` of a text, for a target.

    With `inside` it is known that all subscripts made of indices and sizes are; else
    each call looks at the data that decide it. Its derivative keeps so many bytes as
    `memory` says, in each call.
    """

    text: str
    name: str
    target: str
    inside: bool
    memory: int | None = None

    @property
    def function(self) -> Differentiable:
        return _function(self)


@functools.lru_cache(maxsize=256)
def _function(code: Code) -> Differentiable:
    keeping = Keeping(memory=code.memory)
    options = Options(None, code.target, keeping, inside=code.inside)
    return differentiable_with(getattr(load(code.text, code.name), code.name), options)


@dataclass(frozen=True, slots=True)
class Layer:
    """A text with what it takes and gives, which all blocks have in common."""

    code: Code
    windows: tuple[str, ...]
    dtypes: tuple[str, ...]
    outs: tuple[str, ...]
    returned: tuple[str, ...]
    summed: tuple[str, ...]
    #: How the sums are joined that are none: by another operation.
    folds: Mapping[str, str]
    written: tuple[bool, ...]  # each of the windows
    #: What it writes to of the arrays in one piece: each block has its own.
    changed: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.code.name


@dataclass(frozen=True, slots=True)
class BlockOf:
    """One block: its integers, where the pieces of its windows go, what it owns."""

    integers: Mapping[str, int]
    shapes: tuple[tuple[int, ...], ...]
    places: tuple[tuple[Place, ...], ...]
    owned: tuple[Place, ...]  # of each of the outs, in its window


def _by_itself(task: Callable[..., Any]) -> Callable[..., Any]:
    """A task that uses one core: those who run tasks have one for each."""

    @functools.wraps(task)
    def on_a_core(*args: Any) -> Any:
        with on_one_core():
            return task(*args)

    return on_a_core


_kept = 0


def _keep(layer: Layer, block: BlockOf) -> None:
    """Have the process keep memory for some windows like these, and no more."""
    global _kept
    sizes = [
        math.prod(shape) * np.dtype(dtype).itemsize
        for shape, dtype in zip(block.shapes, layer.dtypes, strict=True)
    ]
    wanted = max(LEAST_KEPT, KEPT * max(sizes, default=0))
    if wanted > _kept:
        _kept = wanted
        pool.keep_at_most(wanted)


def _windows(
    layer: Layer, block: BlockOf, pieces: Sequence[Sequence[Any]]
) -> dict[str, Any]:
    found = {}
    _keep(layer, block)
    every = [part for parts in pieces for part in parts]
    for name, dtype, written, shape, places, parts in zip(
        layer.windows,
        layer.dtypes,
        layer.written,
        block.shapes,
        block.places,
        pieces,
        strict=True,
    ):
        if not written and len(parts) == 1 and _serves(parts[0], shape):
            found[name] = parts[0]
            continue
        window = _empty(shape, dtype, every)
        for place, part in zip(places, parts, strict=True):
            window[place] = part
        found[name] = window
    return found


def _serves(chunk: Any, shape: tuple[int, ...]) -> bool:
    """Is a chunk a window as it is, for code that does not write to it?"""
    if not is_array(chunk) or chunk.shape != shape:
        return False
    writeable = is_device(chunk) or chunk.flags.writeable
    return bool(chunk.flags.c_contiguous and writeable)


# Chunks may be in the memory of a GPU: what is made of them is there, too.


def _empty(shape: tuple[int, ...], dtype: Any, like: Sequence[Any]) -> Any:
    if any_device(like):
        return cupy().empty(shape, dtype)
    return pool.empty(shape, dtype)


def _zeros(shape: tuple[int, ...], dtype: Any, like: Sequence[Any]) -> Any:
    if any_device(like):
        return cupy().zeros(shape, dtype)
    return pool.zeros(shape, dtype)


def _copy(array: Any) -> Any:
    return array.copy() if is_device(array) else pool.copy(array)


def _owned(array: Any, place: Place) -> Any:
    """A part of a window, which does not keep a much larger one."""
    part = array[place]
    return part if array.size <= SPARE * part.size else _copy(part)


def _given(
    layer: Layer,
    block: BlockOf,
    pieces: Sequence[Sequence[Any]],
    others: Mapping[str, Any],
) -> dict[str, Any]:
    values = {**_windows(layer, block, pieces), **others, **block.integers}
    for name in layer.changed:
        values[name] = others[name].copy()
    for name in layer.summed:
        if name not in layer.folds:
            values[name] = np.zeros_like(others[name])
    return values


@_by_itself
def run(
    layer: Layer,
    block: BlockOf,
    pieces: Sequence[Sequence[Any]],
    others: Mapping[str, Any],
) -> tuple[Any, ...]:
    """The owned parts of the outs, then the parts of the sums."""
    values = _given(layer, block, pieces, others)
    result = layer.code.function(**values)
    back = result if isinstance(result, tuple) else (result,)
    values |= dict(zip(layer.returned, back, strict=False))
    outs = [_owned(values[a], p) for a, p in zip(layer.outs, block.owned, strict=True)]
    numbers = [values[n] for n in layer.returned if n not in layer.outs]
    return (*outs, *numbers, *(values[a] for a in layer.summed))


@_by_itself
def pull(
    layer: Layer,
    block: BlockOf,
    pieces: Sequence[Sequence[Any]],
    others: Mapping[str, Any],
    wrt: tuple[str, ...],
    cotangents: Sequence[Any],
) -> tuple[Any, ...]:
    """The gradients of one block: of windows, and of numbers and small arrays.

    `cotangents` are those of the owned parts and of the sums, as `run` gives them.
    Of each window come the pieces that it was put together of.
    """
    values = _given(layer, block, pieces, others)
    call = Call(layer.code.function, (), values)
    result, pullback = pulled(call, wrt, Hold.NOBODY)
    seeds: dict[str, Any] = {}
    results: dict[str, Any] = {}
    given = iter(cotangents)
    for array, place in zip(layer.outs, block.owned, strict=True):
        part = next(given)
        if array in layer.returned:
            results[array] = None if part is None else (place, part)
        elif part is not None:
            seed = _zeros(values[array].shape, values[array].dtype, [part])
            seed[place] = part
            seeds[array] = seed
    for name in layer.returned:
        if name not in layer.outs:
            results[name] = next(given)
    for array in layer.summed:
        seeds[array] = next(given)
    row: list[Any] = []
    values_back = result if isinstance(result, tuple) else (result,)
    for name, value in zip(layer.returned, values_back, strict=False):
        cotangent = results[name]
        if name in layer.outs and cotangent is not None:
            place, part = cotangent
            cotangent = _zeros(value.shape, part.dtype, [part])
            cotangent[place] = part
        row.append(cotangent)
    back: Any = None if not row else row[0] if len(row) == 1 else tuple(row)
    gradients = pullback(back, cotangents=seeds)
    found: list[Any] = []
    for name in wrt:
        gradient = gradients[name]
        if name in layer.windows:
            places = block.places[layer.windows.index(name)]
            found.append(tuple(_owned(gradient, p) for p in places))
        else:
            found.append(gradient)
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Hole:
    """Where an argument has a part of what another task gave."""

    number: int
    path: tuple[int, ...]


def filled(function: Callable[..., Any], args: Sequence[Any], *values: Any) -> Any:
    """A function of arguments with holes, which parts of the values fill."""
    return function(*(_filled(a, values) for a in args))


def _filled(arg: Any, values: Sequence[Any]) -> Any:
    # No closure: one that calls itself would keep the values until the next collection.
    if isinstance(arg, Hole):
        return picked(values[arg.number], *arg.path)
    if isinstance(arg, list):
        return [_filled(a, values) for a in arg]
    if isinstance(arg, dict):
        return {k: _filled(a, values) for k, a in arg.items()}
    return arg


def picked(value: Any, *path: int) -> Any:
    """A part of what a task gave."""
    for k in path:
        value = value[k]
    return value


def as_array(value: Any, *path: int) -> Any:
    """A part of what a task gave, as an array."""
    part = picked(value, *path)
    return part if is_device(part) else np.asarray(part)


def cut(value: Any, item: int | None, places: Sequence[Place]) -> tuple[Any, ...]:
    """The parts of a chunk that other blocks read."""
    array = value if item is None else value[item]
    return tuple(array[p].copy() for p in places)


def given(value: Any, paths: Sequence[tuple[int, ...]]) -> tuple[Any, ...]:
    """What a block owes to the chunks of others."""
    return tuple(picked(value, *path) for path in paths)


def added(
    shape: tuple[int, ...],
    dtype: str,
    places: Sequence[Place],
    parts: Sequence[Any],
    first: Any = None,
) -> Any:
    """A chunk of a gradient: what blocks owe to it, in the order of the blocks."""
    rest = [*zip(places, parts, strict=True)]
    full = [k for k, (_, part) in enumerate(rest) if np.shape(part) == shape]
    if first is None and len(rest) == 1 and full:
        return rest[0][1]
    if first is not None and full[:1] == [0]:
        total: Any = _empty(shape, dtype, [first])
        np.add(first, rest.pop(0)[1], out=total)
    elif first is not None:
        total = _copy(first)
    else:
        total = _zeros(shape, dtype, parts)
    for place, part in rest:
        total[place] += part
    return total


def tree(parts: Sequence[Any]) -> Any:
    """The sum of some parts: four and four, in their order."""
    row = list(parts)
    while len(row) > 1:
        row = [sum(row[k + 1 : k + 4], row[k]) for k in range(0, len(row), 4)]
    return row[0]


def plus(first: Any, parts: Sequence[Any]) -> Any:
    """What was there before a stage, and what its blocks add to it."""
    return first + tree(parts)


def _copied(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values that a task may write to."""
    return {n: v.copy() if is_array(v) and v.ndim else v for n, v in values.items()}


@_by_itself
def alone(code: Code, values: Mapping[str, Any]) -> tuple[Any, ...]:
    """What one task does by itself: its results, and the arrays that it writes."""
    own = _copied(values)
    f = code.function
    result = f(**own)
    row = result if isinstance(result, tuple) else () if result is None else (result,)
    return (*row, *(own[a] for a in Call(f, (), own).function.written))


@_by_itself
def alone_pull(
    code: Code,
    values: Mapping[str, Any],
    wrt: tuple[str, ...],
    cotangents: Sequence[Any],
) -> tuple[Any, ...]:
    """The gradients of that for the cotangents of what it gave."""
    own = _copied(values)
    f = code.function
    call = Call(f, (), own)
    written = call.function.written
    _, pullback = pulled(call, wrt, Hold.NOBODY)
    count = len(cotangents) - len(written)
    row = tuple(cotangents[:count])
    back: Any = None if not count else row[0] if count == 1 else row
    seeds = dict(zip(written, cotangents[count:], strict=True))
    gradients = pullback(back, cotangents=seeds)
    return tuple(gradients[n] for n in wrt)
