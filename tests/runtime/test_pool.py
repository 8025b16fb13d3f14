from __future__ import annotations

import gc
import threading

import numpy as np
import pytest

import pyrev
from pyrev.runtime import pool

SHAPE = (1024, 512)


@pytest.fixture(autouse=True)
def _empty_pool():
    gc.collect()
    pyrev.release()
    yield
    pyrev.release()


def address(array: np.ndarray) -> int:
    return array.ctypes.data


def test_memory_is_used_again_when_the_last_view_is_gone() -> None:
    first = pool.empty(SHAPE)
    where = address(first)
    view = first[3:, ::2].T
    del first
    second = pool.empty(SHAPE)
    assert address(second) != where
    view[:] = 7.0
    second[:] = 1.0
    assert (view == 7.0).all()
    del view
    assert address(pool.empty(SHAPE)) == where


def test_arrays_are_what_numpy_makes() -> None:
    for dtype in (np.float32, np.float64, np.int64):
        zeros = pool.zeros(SHAPE, dtype)
        assert zeros.dtype == dtype and zeros.shape == SHAPE
        assert zeros.flags.c_contiguous and zeros.flags.writeable and not zeros.any()
        zeros[:] = 5
        again = pool.copy(np.asfortranarray(zeros))
        assert again.flags.c_contiguous and (again == 5).all()
    assert pool.empty((0, 3)).shape == (0, 3)
    assert pool.zeros(4).shape == (4,)
    with pytest.raises(ValueError, match="negative"):
        pool.empty((-1, 3))


def test_released_memory_is_not_used_again() -> None:
    where = address(pool.empty(SHAPE))
    kept = pool.empty(SHAPE)
    assert address(kept) == where
    del kept
    pyrev.release()
    assert not pool._free and pool._kept == 0


@pytest.mark.slow
def test_a_gradient_outlives_later_calls() -> None:
    def square(a, out):
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                out[i, j] = a[i, j] * a[i, j]

    a = np.full(SHAPE, 3.0)
    _, pullback = pyrev.vjp(square, a, np.zeros(SHAPE))
    first = pullback(out=1.0).a[10:20]
    for _ in range(4):
        pullback(out=2.0)
    assert (first == 6.0).all()


@pytest.mark.slow
@pytest.mark.parametrize("size", [0, 1, 7, 1000, pool.PART * 2 + 13, pool.PART * 3])
def test_zeros_are_zeros_in_every_byte(size: int) -> None:
    dirty = pool.empty(size, np.uint8)
    dirty.fill(255)
    del dirty  # the pool hands it out again
    found = pool.zeros(size, np.uint8)
    assert found.shape == (size,) and not found.any()


def test_zeros_where_no_thread_can_be_started(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refused(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    dirty = pool.empty(2 * pool.PART, np.uint8)
    dirty.fill(255)
    del dirty
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refused)
        found = pool.zeros(pool.PART // 2, np.float32)
    assert not found.any()
