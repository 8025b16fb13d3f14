"""What a generated function is: its text, and how arguments for it are made.

Sizes are expressions of `n`, `m` and `z`, so that one text can be called at several
sizes; the generator guarantees that it is legal at `sizes`.
"""

from __future__ import annotations

import ast
import functools
import linecache
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

Sizes = dict[str, int]


def evaluated(size: str, sizes: Sizes) -> int:
    """The number of elements along an axis, never negative."""
    value = eval(size, {}, dict(sizes))  # noqa: S307
    return max(0, int(value))


@dataclass(frozen=True, slots=True)
class Argument:
    """How one argument is made: `shape` is None for a scalar.

    `content` is "float", "missing" (floats, some of them nan), "int lo hi", "bool",
    "rows" (offsets of a sparse matrix), or, for a scalar, an expression of the sizes.
    """

    content: str
    shape: tuple[str, ...] | None = None
    dtype: str = "float64"
    layout: str = "C"

    def make(self, sizes: Sizes, rng: np.random.Generator) -> Any:
        if self.shape is None:
            if self.content == "float":
                return float(rng.uniform(0.3, 0.9))
            return int(eval(self.content, {}, dict(sizes)))  # noqa: S307
        shape = tuple(evaluated(s, sizes) for s in self.shape)
        kind, *bounds = self.content.split()
        if kind == "float":
            values: Any = rng.uniform(-1.0, 1.0, shape)
        elif kind == "missing":
            measured = rng.uniform(0.0, 1.0, shape) < 0.6
            values = np.where(measured, rng.uniform(-1.0, 1.0, shape), np.nan)
        elif kind == "int":
            lo, hi = (int(eval(b, {}, dict(sizes))) for b in bounds)  # noqa: S307
            values = rng.integers(lo, max(lo, hi) + 1, shape)
        elif kind == "bool":
            values = rng.integers(0, 2, shape)
        else:
            values = np.sort(rng.integers(0, sizes["z"] + 1, shape))
            if values.size:
                values[0], values[-1] = 0, sizes["z"]
        return laid_out(values.astype(self.dtype), self.layout)


def laid_out(values: Any, layout: str) -> Any:
    """An array with these values and another order or stride in memory."""
    if layout == "F":
        return np.asfortranarray(values)
    if layout == "reversed":
        return values[::-1].copy()[::-1]
    if layout == "strided":
        base = np.zeros((*values.shape[:-1], 2 * values.shape[-1]), values.dtype)
        view = base[..., ::2]
        view[...] = values
        return view
    return np.ascontiguousarray(values)


@dataclass(frozen=True)
class Generated:
    """A function `f` and everything needed to call it."""

    source: str
    arguments: tuple[tuple[str, Argument], ...]
    sizes: Sizes
    seed: int
    productions: tuple[str, ...] = ()

    def function(self) -> Callable[..., Any]:
        """The compiled text; its source can be found as a notebook's can."""
        name = f"<generated {zlib.crc32(self.source.encode()):08x}>"
        lines = self.source.splitlines(keepends=True)
        linecache.cache[name] = (len(self.source), None, lines, name)
        module: dict[str, Any] = {"__name__": "generated"}
        exec(compile(self.source, name, "exec"), module)
        function: Callable[..., Any] = module["f"]
        return function

    def double(self) -> Callable[..., Any]:
        """The plain function, computing in double precision throughout.

        What ``np.empty`` leaves open is NaN here, so that nothing can depend on it.
        """
        text = self.source.replace("np.float32", "np.float64")
        module: dict[str, Any] = {"__name__": "generated"}
        exec(compile(text, "<generated, double>", "exec"), module)
        module["np"] = _Filled()
        function: Callable[..., Any] = module["f"]
        return getattr(function, "py_func", function)

    @functools.cached_property
    def names(self) -> tuple[str, ...]:
        """The parameters of `f`, read from its text: a shrunk one has fewer."""
        (definition,) = [
            node
            for node in ast.walk(ast.parse(self.source))
            if isinstance(node, ast.FunctionDef) and node.name == "f"
        ]
        return tuple(a.arg for a in definition.args.args)

    def made(self, sizes: Sizes | None = None) -> dict[str, Any]:
        """Arguments, equal for equal seeds and sizes."""
        rng = np.random.default_rng(self.seed)
        values = {
            name: argument.make(sizes or self.sizes, rng)
            for name, argument in self.arguments
        }
        return {name: values[name] for name in self.names}

    def at(self, sizes: Sizes) -> Generated:
        """The same function, to be called at other sizes."""
        return replace(self, sizes=sizes)

    def __str__(self) -> str:
        used = {name: a for name, a in self.arguments if name in self.names}
        made = ", ".join(
            f"{name}: {a.dtype}[{', '.join(a.shape)}]"
            + (f" {a.layout}" if a.layout != "C" else "")
            + (f" {a.content}" if a.content != "float" else "")
            if a.shape is not None
            else f"{name}: {a.content}"
            for name, a in used.items()
        )
        sizes = ", ".join(f"{k}={v}" for k, v in self.sizes.items())
        return f"# seed {self.seed}; {sizes}; {made}\n{self.source}"


class _Filled:
    """NumPy whose empty arrays are full of NaN, or of an integer that fits nowhere."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    @staticmethod
    def empty(shape: Any, dtype: Any = np.float64) -> Any:
        made = np.empty(shape, dtype)
        made.fill(np.nan if made.dtype.kind == "f" else -(10**6))
        return made

    @staticmethod
    def empty_like(array: Any, dtype: Any = None) -> Any:
        return _Filled.empty(np.shape(array), dtype or array.dtype)
