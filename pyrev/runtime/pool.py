"""Large arrays from memory that earlier calls used: fresh pages can cost more than
loops.

An array from the pool is an ordinary `numpy.ndarray`. Its memory goes back to the pool
when the last array that views it is gone, never before: the pool hands out an owner
object, and every view keeps that alive. `release` gives unused memory back.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from pyrev.runtime.forks import at_fork

LEAST = 1 << 17  # bytes: below this the allocator's own caches do
MOST = 1 << 30  # bytes kept for later calls, where nothing else is said
HEAP = (1 << 25) - (1 << 16)  # bytes: glibc's heap has no larger pieces
PART = 1 << 25  # bytes that are worth a thread of their own

# Re-entrant: making an array may collect another one's owner, in the same thread.
_lock = threading.RLock()
_free: dict[int, list[NDArray[np.uint8]]] = {}
_kept = 0
_most = MOST


class _Owner:
    """What arrays from the pool have as their base; its end returns the memory."""

    __slots__ = ("__array_interface__", "raw", "__weakref__")

    def __init__(
        self, raw: NDArray[np.uint8], shape: Any, dtype: np.dtype[Any]
    ) -> None:
        self.raw = raw
        self.__array_interface__ = {
            "data": (raw.ctypes.data, False),
            "shape": shape,
            "typestr": dtype.str,
            "version": 3,
        }

    def __del__(self) -> None:
        _give_back(self.raw)


def _give_back(raw: NDArray[np.uint8]) -> None:
    global _kept
    with _lock:
        if _kept + raw.nbytes <= _most:
            _kept += raw.nbytes
            _free.setdefault(raw.nbytes, []).append(raw)


def empty(shape: Any, dtype: DTypeLike = np.float64) -> NDArray[Any]:
    """Like `numpy.empty`: a new C-ordered array of `shape` and `dtype`."""
    global _kept
    kind = np.dtype(dtype)
    sizes = _sizes(shape)
    size = kind.itemsize * prod(sizes)
    if size < LEAST or min(sizes) < 0:
        return np.empty(sizes, kind)
    with _lock:
        free = _free.get(size)
        raw = free.pop() if free else None
        if raw is not None:
            _kept -= size
    if raw is None:
        raw = np.empty(size, np.uint8)
    return np.asarray(_Owner(raw, sizes, kind))


def _sizes(shape: Any) -> tuple[int, ...]:
    return tuple(map(int, shape)) if isinstance(shape, tuple) else (int(shape),)


def zeros(shape: Any, dtype: DTypeLike = np.float64) -> NDArray[Any]:
    """Like `numpy.zeros`: a new C-ordered array of `shape` and `dtype`."""
    kind = np.dtype(dtype)
    sizes = _sizes(shape)
    if kind.itemsize * prod(sizes) < LEAST:
        return np.zeros(sizes, kind)
    array = empty(sizes, kind)
    # Bytes are set by the C library, which leaves out to read what it overwrites.
    raw = array.reshape(-1).view(np.uint8)
    numba = sys.modules.get("numba")
    cores = 1 if numba is None else int(numba.config.NUMBA_NUM_THREADS)
    count = min(cores, raw.size // PART) or 1
    cuts = [raw.size * k // count for k in range(count + 1)]
    _clear([raw[a:b] for a, b in pairwise(cuts)])
    return array


def _clear(parts: Sequence[NDArray[np.uint8]]) -> None:
    """Set bytes to zero, each part by a thread of its own, if there can be one."""
    helpers: list[threading.Thread] = []
    for part in parts[1:]:
        helper = threading.Thread(target=part.fill, args=(0,))
        try:
            helper.start()
        except RuntimeError:  # no more threads
            part.fill(0)
        else:
            helpers.append(helper)
    parts[0].fill(0)
    for helper in helpers:
        helper.join()


def copy(array: NDArray[Any]) -> NDArray[Any]:
    """Like `numpy.ndarray.copy`: a new C-ordered array with the same elements."""
    if array.nbytes < LEAST:
        return array.copy()
    made = empty(array.shape, array.dtype)
    np.copyto(made, array)
    return made


@cache
def keep_freed() -> None:
    """Have the C library keep what compiled code frees for what that asks for next.

    glibc returns a large piece to the system when it is freed, until it has seen that
    such pieces come and go: from then on pieces of up to that size are from its heap,
    which keeps twice as much (mallopt(3), M_MMAP_THRESHOLD). Arrays that compiled code
    makes in loops cost page faults before. One piece that nobody touches tells it so.
    """
    np.empty(HEAP, np.uint8)


def _after_fork() -> None:
    """A child starts with a lock of its own: the parent's may have been held."""
    global _lock
    _lock = threading.RLock()


at_fork(in_child=_after_fork)


def keep_at_most(nbytes: int) -> None:
    """Keep no more bytes for later calls than these, in this process."""
    global _most
    with _lock:
        _most = nbytes
        if _kept > nbytes:
            release()


def release() -> None:
    """Give memory that is kept for later calls back to the system."""
    global _kept
    with _lock:
        _free.clear()
        _kept = 0
    trim = (
        getattr(ctypes.CDLL(None), "malloc_trim", None) if os.name == "posix" else None
    )
    if trim is not None:
        trim(0)
