"""Arrays of a GPU: how they are told from NumPy's, and what of CuPy is needed.

CuPy is imported when the first such array comes. Whatever says where its memory is
(`__cuda_array_interface__`, DLPack) is taken as a CuPy array without a copy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from pyrev.ir.diagnostics import ArgumentError, BackendError
from pyrev.runtime import pool

_GPU = 2  # what DLPack calls a CUDA device

#: Types whose arrays always are in the memory of a GPU: to ask each takes time.
_types: set[type] = set()


def cupy() -> Any:
    """The module; `BackendError` if it is not installed."""
    try:
        import cupy as module
    except ImportError as error:
        raise BackendError(
            "the CUDA target needs CuPy: pip install pyrev[cuda] (it brings CuPy for"
            " CUDA 12)"
        ) from error
    _types.add(module.ndarray)
    return module


def is_device(value: object) -> bool:
    """Is `value` an array in the memory of a GPU?"""
    kind = type(value)
    if kind in _types:
        return True
    if kind is np.ndarray or isinstance(value, (int, float, np.generic)):
        return False
    if hasattr(value, "__cuda_array_interface__"):
        return True
    where = getattr(value, "__dlpack_device__", None)
    return where is not None and where()[0] == _GPU


def is_array(value: object) -> bool:
    """Is `value` an array, wherever its memory is?"""
    return isinstance(value, np.ndarray) or is_device(value)


def any_device(values: Sequence[object]) -> bool:
    """Is there an array of a GPU among `values`?"""
    return any(map(is_device, values))


def resident(name: str, value: Any) -> Any:
    """`value` as the CUDA target takes it: a CuPy array, or a number.

    Raises `ArgumentError` for an array of NumPy: to copy it is the caller's decision.
    """
    if type(value) is np.ndarray and value.ndim:
        raise ArgumentError(
            f"`{name}` is a NumPy array and the CUDA target takes CuPy's; pass"
            f" cupy.asarray({name})"
        )
    if type(value) in _types or not is_device(value):
        return value
    module = cupy()
    if isinstance(value, module.ndarray):
        return value
    if hasattr(value, "__cuda_array_interface__"):
        return module.asarray(value)
    return module.from_dlpack(value)


def copied(value: Any) -> Any:
    """A copy of an array in C order, where its memory is."""
    if not is_device(value):
        return pool.copy(value)
    made = cupy().empty(value.shape, value.dtype)
    made[...] = value
    return made


def to_host(value: Any) -> Any:
    """An array of a GPU as one of NumPy; anything else as it is."""
    return value.get() if is_device(value) else value


def uploaded(values: Mapping[str, Any]) -> dict[str, Any]:
    """What a function captured, for the CUDA target."""
    return {
        n: cupy().asarray(v) if isinstance(v, np.ndarray) and v.ndim else v
        for n, v in values.items()
    }


def share_memory(a: Any, b: Any) -> bool:
    """Have two arrays an element in common, wherever they are? Yes, too, where that
    takes long to find out.
    """
    if not type(a) is type(b) is np.ndarray and (is_device(a) or is_device(b)):
        return is_device(a) == is_device(b) and may_overlap(a, b)
    if not np.may_share_memory(a, b):
        return False
    try:
        work: Any = 10_000  # NumPy's stubs know the two named amounts only
        return bool(np.shares_memory(a, b, max_work=work))
    except np.exceptions.TooHardError:
        return True


def may_overlap(a: Any, b: Any) -> bool:
    """May two arrays of a GPU share memory? Exact for contiguous ones, else yes if
    their ranges meet.
    """
    (first, last), (begin, end) = _range(a), _range(b)
    return first < end and begin < last


def _range(a: Any) -> tuple[int, int]:
    """The addresses from the first byte of an array up to its end."""
    if not a.size:
        return 0, 0
    pointer = getattr(a.data, "ptr", None)  # CuPy's, without the rest of the interface
    start = int(a.__cuda_array_interface__["data"][0] if pointer is None else pointer)
    if a.flags.c_contiguous:
        return start, start + a.nbytes
    reach = [s * (n - 1) for s, n in zip(a.strides, a.shape, strict=True)]
    low = start + sum(r for r in reach if r < 0)
    high = start + sum(r for r in reach if r > 0)
    return low, high + a.itemsize


def call(
    function: Callable[..., Any], values: Sequence[Any], changed: Sequence[bool]
) -> Any:
    """Run a generated function, which takes C-contiguous arrays.

    Others are copied before, and back after it where `changed` says that it writes.
    """
    module = cupy()
    given: list[Any] = []
    back: list[tuple[Any, Any]] = []
    for value, writes in zip(values, changed, strict=True):
        if is_device(value) and not value.flags.c_contiguous:
            made = module.ascontiguousarray(value)
            if writes:
                back.append((value, made))
            value = made
        given.append(value)
    with np.errstate(all="ignore"):  # as in kernels
        result = function(*given)
    for value, made in back:
        value[...] = made
    return result
