"""Arrays of other libraries in the memory of the host, taken without a copy.

An array with labels (xarray's) is the NumPy array in it; what belongs to it, its
gradient and its tangent, has its labels again. Whatever else hands out its memory by
DLPack is a NumPy array over the same memory; where it says which module its functions
are in (the array API standard), gradients and results are arrays of that module.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import is_dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

_HOST = 1  # what DLPack calls the memory of the host

#: Libraries that differentiate themselves: their arrays have bridges.
_BRIDGED = ("torch", "jax", "jaxlib", "dask", "tensorflow")


class Elsewhere:
    """The arguments of one call that are arrays of other libraries, by name."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._own = {n: v for n, v in values.items() if _is_foreign(v)}

    def __bool__(self) -> bool:
        return bool(self._own)

    def taken(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments, with NumPy arrays over the same memory in place of others."""
        return {n: bare(v) if n in self._own else v for n, v in values.items()}

    def like(self, name: str, value: Any) -> Any:
        """What belongs to an argument, as an array of the argument's library."""
        own = self._own.get(name)
        if own is None or type(value) is not np.ndarray:
            return value
        if is_labelled(own):
            return own.copy(data=value) if value.shape == own.shape else value
        module = _module(own)
        return value if module is None else module.from_dlpack(value)

    def results(self, result: Any) -> Any:
        """What the function returned: arrays of the library that all arguments are of
        which are no NumPy arrays, if it is one library.
        """
        modules = {_module(v) for v in self._own.values()}
        module = modules.pop() if len(modules) == 1 else None
        if module is None:
            return result
        if isinstance(result, tuple):
            return tuple(_moved(v, module) for v in result)
        return _moved(result, module)


#: No array of another library.
NOWHERE = Elsewhere({})


def elsewhere(values: Mapping[str, Any]) -> Elsewhere:
    """The arrays of other libraries among the arguments of a call."""
    found = Elsewhere(values)
    return found if found else NOWHERE


def on_host(value: Any) -> Any:
    """An array of another library as one of NumPy; anything else as it is."""
    return bare(value) if _is_foreign(value) else value


def all_on_host(values: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call that gives back no arrays of other libraries."""
    return {n: on_host(v) for n, v in values.items()}


def is_labelled(value: Any) -> bool:
    """Is it an `xarray.DataArray`, or something like it, and no structure?"""
    if not (hasattr(value, "dims") and hasattr(value, "coords")):
        return False
    return not (is_dataclass(value) or isinstance(value, (tuple, SimpleNamespace)))


def bare(value: Any) -> Any:
    """The array without its labels, or over the same memory."""
    if is_labelled(value):
        return value.data
    return np.from_dlpack(value)


def _is_foreign(value: Any) -> bool:
    if isinstance(value, (np.ndarray, np.generic, int, float)):  # of every call
        return False
    if type(value).__module__.partition(".")[0] in _BRIDGED:
        return False
    if is_labelled(value):
        return type(getattr(value, "data", None)) is np.ndarray
    where = getattr(value, "__dlpack_device__", None)
    return where is not None and where()[0] == _HOST


def _module(value: Any) -> Any:
    """The module whose functions are for such arrays; None where there is none."""
    found = getattr(value, "__array_namespace__", None)
    return None if found is None else found()


def _moved(value: Any, module: Any) -> Any:
    moves = type(value) is np.ndarray and value.ndim
    return module.from_dlpack(value) if moves else value
