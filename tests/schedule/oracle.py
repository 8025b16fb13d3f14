"""Runs statements of the IR on arrays that check, count and remember every access."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from pyrev.ir.nodes import Assign, Block, Const, For, If, Load, Stmt, Var, walk
from pyrev.ir.text import block_text


class Race(AssertionError):
    """Two iterations of a parallel loop touched one element, and one of them wrote."""


class Watch:
    """Which iteration of which parallel loop is running, and what others touched."""

    def __init__(self) -> None:
        self.iteration: int | None = None
        self.seen: dict[tuple[str, tuple[int, ...]], tuple[set[int], set[int]]] = {}

    def __setitem__(self, _: int, value: int) -> None:
        if value is None:
            self.seen.clear()
        self.iteration = value

    def touch(self, name: str, index: tuple[int, ...], write: bool) -> None:
        if self.iteration is None:
            return
        readers, writers = self.seen.setdefault((name, index), (set(), set()))
        (writers if write else readers).add(self.iteration)
        if writers and len(readers | writers) > 1:
            raise Race(f"{name}[{index}]: {sorted(readers)} and {sorted(writers)}")


class Array:
    """A float64 array whose subscripts must be integers inside it."""

    def __init__(self, name: str, values: np.ndarray, watch: Watch) -> None:
        self.name, self.values, self.watch = name, values, watch
        self.shape = values.shape

    def _index(self, index: object) -> tuple[int, ...]:
        found = index if isinstance(index, tuple) else (index,)
        assert len(found) == self.values.ndim
        for k, n in zip(found, self.shape, strict=True):
            assert isinstance(k, (int, np.integer)), k
            if not 0 <= k < n:
                raise IndexError(f"{self.name}[{found}] of {self.shape}")
        return tuple(int(k) for k in found)

    def __getitem__(self, index: object) -> object:
        at = self._index(index)
        self.watch.touch(self.name, at, False)
        value = self.values[at]
        return int(value) if self.values.dtype.kind == "i" else float(value)

    def __setitem__(self, index: object, value: float) -> None:
        at = self._index(index)
        self.watch.touch(self.name, at, True)
        self.values[at] = value


class Made:
    """Enough of numpy to allocate local arrays that watch."""

    def __init__(self, watch: Watch) -> None:
        self.watch = watch
        self.float64 = np.float64

    def zeros(self, shape: object, dtype: object = None) -> Array:
        return Array("local", np.zeros(shape), self.watch)

    def empty(self, shape: object, dtype: object = None) -> Array:
        return Array("local", np.full(shape, np.nan), self.watch)

    def __getattr__(self, name: str) -> Callable[..., object]:
        return getattr(np, name)  # type: ignore[no-any-return]


def marked(block: Block) -> Block:
    """`block` with each parallel loop announcing its iterations."""
    result: list[Stmt] = []
    for s in block:
        match s:
            case For() if s.parallel:
                mark = Load("_watch", (Const(0),))
                body = (Assign(mark, Var(s.index)), *s.body)
                result += [replace(s, body=body), Assign(mark, Var("None"))]
            case For():
                result.append(replace(s, body=marked(s.body)))
            case If():
                then, orelse = marked(s.then), marked(s.orelse)
                result.append(replace(s, then=then, orelse=orelse))
            case _:
                result.append(s)
    return tuple(result)


def execute(
    block: Block, arrays: dict[str, np.ndarray], scalars: dict[str, float]
) -> dict[str, object]:
    """The arrays and scalars after `block` ran."""
    watch = Watch()
    env: dict[str, object] = {k: Array(k, v.copy(), watch) for k, v in arrays.items()}
    env |= scalars
    env |= {"_watch": watch, "np": Made(watch)}
    exec(block_text(marked(block)), env)
    final: dict[str, object] = {k: env[k].values for k in arrays}  # type: ignore[attr-defined]
    return final | {k: env[k] for k in scalars}


def parallel_loops(block: Block) -> list[For]:
    return [s for s in walk(block) if isinstance(s, For) and s.parallel]
