"""What a call returns, as NumPy and Python would have it, from what code returned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pyrev.adjoint.activity import returned
from pyrev.ir.nodes import Alloc, Expr, Program, Var, View, walk
from pyrev.ir.text import expr_text
from pyrev.runtime.device import cupy, is_array, is_device


def returns_one(program: Program) -> bool:
    """Is what the function returns one value and no tuple?"""
    result = returned(program)
    return result is not None and result.single


def in_words(program: Program) -> str:
    """What the function returns: "a number", "nothing"..."""
    result = returned(program)
    if result is None:
        return "nothing"
    if not result.single:
        return f"{len(result.values)} values"
    (value,) = result.values
    arrays = {p.name for p in program.params if p.rank}
    arrays |= {s.array for s in walk(program.body) if isinstance(s, Alloc)}
    is_array = isinstance(value, Var) and value.name in arrays
    return "an array" if is_array else "a number"


def restored(
    program: Program, raw: Any, dtypes: Sequence[str], values: Mapping[str, Any]
) -> Any:
    """What the plain function would have returned, from what compiled code returned
    for these arguments.
    """
    result = returned(program)
    if result is None:
        return None
    items = (raw,) if result.single else tuple(raw)
    found = [
        _restored_one(program, item, value, dtype, values)
        for item, value, dtype in zip(items, result.values, dtypes, strict=True)
    ]
    return found[0] if result.single else tuple(found)


def _restored_one(
    program: Program, item: Any, value: Expr, dtype: str, values: Mapping[str, Any]
) -> Any:
    if not is_array(item):
        return scalar(item, dtype)
    if not item.ndim:
        return item  # a number that a GPU made
    name = value.name if isinstance(value, Var) else ""
    for view in program.views:
        if view.result == name:
            return viewed(view, values)
    return values[name] if name in values and name not in program.captured else item


def scalar(value: Any, dtype: str) -> Any:
    """A number that compiled code returned, as NumPy and Python would have it."""
    match dtype:
        case "weak float":
            return float(value)
        case "weak int":
            return int(value)
        case "bool":
            return bool(value)
    return np.dtype(dtype).type(value)


def viewed(view: View, values: Mapping[str, Any]) -> np.ndarray[Any, Any]:
    """The part of an argument that a function returns, as a view of it."""
    base: np.ndarray[Any, Any] = values[view.base]
    names = {"min": min, "max": max, "abs": abs, "__builtins__": {}}

    def number(e: Expr, place: Mapping[str, int]) -> int:
        return int(eval(expr_text(e), names, {**values, **place}))

    origin = dict.fromkeys(view.axes, 0)
    shape = tuple(max(0, number(e, {})) for e in view.shape)
    if 0 in shape:
        return base[tuple(slice(0, 0) for _ in base.shape)].reshape(shape)
    first = [number(e, origin) for e in view.index]
    strides = []
    for axis in view.axes:
        second = [number(e, {**origin, axis: 1}) for e in view.index]
        steps = zip(first, second, base.strides, strict=True)
        strides.append(sum((b - a) * stride for a, b, stride in steps))
    corner = base[tuple(slice(k, None) for k in first)]
    lib = cupy().lib if is_device(base) else np.lib
    part: np.ndarray[Any, Any] = lib.stride_tricks.as_strided(corner, shape, strides)
    return part
