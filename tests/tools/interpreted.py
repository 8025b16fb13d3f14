"""Generated code run in CPython, slowly and under observation.

`Recorder` and `Recording` remember which iteration of a parallel loop touched which
element, and allow no access that compiled code could not survive. `interpreted`
executes the text made for Numba without Numba: its decorators do nothing and its
`prange` is whatever the test wants. Negative subscripts that the text converts to
unsigned integers raise here.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np

from pyrev.emit.numba import FOR_NUMBA
from pyrev.ir.nodes import DisjointWrites, For, Proof
from pyrev.ir.special import SPECIAL

Turns = Callable[[Iterable[int]], Iterator[int]]


def called_parallel(loop: For) -> For:
    """A loop that is said to be parallel, whatever can be proved of it."""
    return replace(loop, parallel=Proof((DisjointWrites(loop.index),)))


class Unsafe(Exception):
    """Compiled, this access would have left its array."""


class Recorder:
    """Who touched what inside parallel loops."""

    def __init__(self) -> None:
        self.stack: list[tuple[int, int]] = []
        self.runs = 0
        self.touched: dict[tuple[int, int, tuple[int, ...]], set[int]] = {}
        self.written: set[tuple[int, int, tuple[int, ...]]] = set()
        self.arrays = 0

    def turns(self, values: Iterable[int]) -> Iterator[int]:
        """A parallel loop: number its iterations."""
        if self.stack:
            yield from values
            return
        self.runs += 1
        for turn, value in enumerate(values):
            self.stack.append((self.runs, turn))
            yield value
            self.stack.pop()

    def touch(self, array: int, index: tuple[int, ...], write: bool) -> None:
        if not self.stack:
            return
        run, turn = self.stack[-1]
        key = (run, array, index)
        self.touched.setdefault(key, set()).add(turn)
        if write:
            self.written.add(key)

    def races(self) -> list[tuple[int, tuple[int, ...]]]:
        return [(k[1], k[2]) for k in self.written if len(self.touched[k]) > 1]


class Recording:
    """An array that tells the recorder about every element read or written."""

    def __init__(self, recorder: Recorder, data: Any) -> None:
        recorder.arrays += 1
        self.recorder, self.data, self.id = recorder, data, recorder.arrays

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.data.shape)

    @property
    def dtype(self) -> Any:
        return self.data.dtype

    @property
    def size(self) -> int:
        return int(self.data.size)

    def __len__(self) -> int:
        return len(self.data)

    def read(self) -> None:
        """A statement reads all elements at once."""
        for at in np.ndindex(self.shape):
            self.recorder.touch(self.id, at, write=False)

    def copy(self) -> Recording:
        self.read()
        return Recording(self.recorder, self.data.copy())

    def astype(self, dtype: Any) -> Recording:
        self.read()
        return Recording(self.recorder, self.data.astype(dtype))

    def _index(self, index: Any) -> tuple[int, ...]:
        index = index if isinstance(index, tuple) else (index,)
        if len(index) != self.data.ndim:
            raise Unsafe(f"{index} of {self.data.shape}")
        found = []
        for i, n in zip(index, self.data.shape, strict=True):
            # Compiled code wraps negative signed subscripts, never unsigned ones.
            low = 0 if isinstance(i, np.unsignedinteger) else -n
            if not low <= int(i) < n:
                raise Unsafe(f"index {index} leaves {self.data.shape}")
            found.append(int(i) % n)
        return tuple(found)

    def __getitem__(self, index: Any) -> Any:
        at = self._index(index)
        self.recorder.touch(self.id, at, write=False)
        return self.data[at]

    def __setitem__(self, index: Any, value: Any) -> None:
        at = self._index(index)
        self.recorder.touch(self.id, at, write=True)
        self.data[at] = value


class RecordingNumpy(ModuleType):
    """NumPy whose new arrays record."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__("numpy")
        self.recorder = recorder

    def __getattr__(self, name: str) -> Any:
        value = getattr(np, name)
        makers = ("zeros", "ones", "empty", "full", "copy", "concatenate")
        finders = ("argsort", "flatnonzero")
        if name not in (*makers, *finders, *(f"{m}_like" for m in makers)):
            return value

        def make(*args: Any, **kw: Any) -> Recording:
            for whole in (a for a in args if isinstance(a, Recording)):
                whole.read()
            return Recording(self.recorder, value(*map(_plain, args), **kw))

        return make


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    return value.data if isinstance(value, Recording) else value


class Unfilled:
    """NumPy, but that what is in an `empty` array shows where it is used."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    def empty(self, shape: Any, dtype: Any = np.float64) -> Any:
        made = np.empty(shape, dtype)
        made.fill(np.nan if made.dtype.kind == "f" else made.dtype.type(99))
        return made


def interpreted(text: str, name: str, turns: Turns, numpy: Any = None) -> Any:
    """The function `name` of a module for Numba, with `turns` as its `prange`."""
    numpy = Unfilled() if numpy is None else numpy

    def njit(*_: Any, **options: Any) -> Any:
        return lambda function: function

    def prange(*bounds: int) -> Iterator[int]:
        return turns(range(*bounds))

    stubs = {"numba": ModuleType("numba"), "numpy": numpy, "math": ModuleType("math")}
    for key, value in vars(math).items():
        # Compiled, these neither raise nor turn a float32 into a float64.
        setattr(stubs["math"], key, value)
    for key, known in FOR_NUMBA.items():
        plain = SPECIAL.get(key) or getattr(np, key.removeprefix("np."))
        setattr(stubs["math"], known.removeprefix("math."), plain)
    for key, value in (("njit", njit), ("prange", prange)):
        setattr(stubs["numba"], key, value)

    def find(module: str, *rest: Any) -> Any:
        return stubs[module] if module in stubs else builtins.__import__(module, *rest)

    space: dict[str, Any] = {
        "__builtins__": {**vars(builtins), "__import__": find},
        "__name__": "interpreted",
    }
    exec(compile(text, f"<{name} for Numba>", "exec"), space)
    return space[name]


def shuffled(seed: int) -> Turns:
    """Iterations in an order of their own for each loop."""
    rng = np.random.default_rng(seed)

    def turns(values: Iterable[int]) -> Iterator[int]:
        order = list(values)
        return iter([order[k] for k in rng.permutation(len(order))])

    return turns
