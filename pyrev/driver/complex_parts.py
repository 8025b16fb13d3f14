"""Complex numbers and arrays, from their parts and apart."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from pyrev.ir.diagnostics import ArgumentError


def apart(value: Any) -> tuple[Any, Any]:
    """The real and the imaginary part of a number or an array; what is real has an
    imaginary part of zeros.
    """
    if value is None:
        return None, None
    array = np.asarray(value)
    if array.dtype.kind not in "fiubc":
        raise ArgumentError(f"{type(value).__name__} is no complex number: {value!r}")
    if array.dtype.kind == "c":
        return (array.real, array.imag) if array.ndim else (value.real, value.imag)
    if array.ndim:
        dtype = array.dtype if array.dtype.kind == "f" else np.float64
        return value, np.zeros(array.shape, dtype)
    return value, 0.0


def joined(re: Any, im: Any, given: Collection[Any] = ()) -> Any:
    """The complex number or array of two parts, in the precision that both have.

    If they are parts of one of the arrays that were `given` it is that, or a view.

    >>> joined(1.0, np.float32(2.0)), joined(1.0, 2.0)
    (np.complex64(1+2j), (1+2j))
    """
    if re is None or im is None:
        return None
    if isinstance(re, np.ndarray) and isinstance(im, np.ndarray):
        for array in given:
            own = _part_of(array, re, im)
            if own is not None:
                return own
        dtype = np.result_type(re, im, np.complex64)
        made = np.empty(np.broadcast_shapes(re.shape, im.shape), dtype)
        made.real, made.imag = re, im
        return made
    if isinstance(re, np.generic) or isinstance(im, np.generic):
        return np.result_type(re, im, np.complex64).type(complex(re, im))
    return complex(re, im)


def _part_of(array: Any, re: Any, im: Any) -> Any:
    """The array whose parts are these, if it is `array` or a view of it."""
    if re.dtype != array.real.dtype or not (re.size and np.may_share_memory(array, re)):
        return None
    first, second = (v.__array_interface__["data"][0] for v in (re, im))
    alike = re.shape == im.shape and re.strides == im.strides
    if not alike or second != first + re.itemsize or im.dtype != re.dtype:
        return None
    own = array.__array_interface__["data"][0]
    if first == own and (re.shape, re.strides) == (array.shape, array.strides):
        return array
    return np.asarray(_Memory(array, first, re))


class _Memory:
    """A part of a complex array, by where its real parts are."""

    def __init__(self, array: Any, first: int, re: Any) -> None:
        self.array = array
        self.__array_interface__ = {
            "version": 3,
            "data": (first, not array.flags.writeable),
            "typestr": array.dtype.str,
            "shape": re.shape,
            "strides": re.strides,
        }
