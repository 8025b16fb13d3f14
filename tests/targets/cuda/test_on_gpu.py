"""The corpora on a GPU: `pytest -m gpu`. Where there is none, the CPU executes them."""

from __future__ import annotations

import numpy as np
import pytest

import pyrev
from tests.corpora.conformance.table import REFUSED, RIGHT, judge
from tests.corpora.everything import EVERY
from tests.targets.cuda import ondevice
from tests.targets.cuda.suite import sizes


def devices() -> int:
    try:
        import cupy

        return int(cupy.cuda.runtime.getDeviceCount())
    except Exception:  # no CuPy, no driver, no device: whatever it says
        return 0


pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not devices(), reason="no CUDA device, or no CuPy"),
]


@pytest.mark.parametrize("name", EVERY)
def test_on_the_device_it_is_right(name: str) -> None:
    found = judge(EVERY[name], "cuda", sizes(EVERY[name]))
    assert found.outcome in (RIGHT, REFUSED), found.message


def gathered(x, index, out):
    for i in range(index.shape[0]):
        out[i] = x[index[i]]


def test_an_error_does_not_poison_the_context() -> None:
    f = pyrev.differentiable(gathered)
    x, out = (ondevice.there(np.ones(5)) for _ in range(2))
    with pytest.raises(IndexError):
        f(x, ondevice.there(np.array([0, 7])), out)
    f(x, ondevice.there(np.array([0, 4])), out)
    assert float(out.sum()) == 5.0


def test_a_stream_of_the_users_is_used() -> None:
    import cupy

    with cupy.cuda.Stream(non_blocking=True) as stream:
        x = ondevice.there(np.ones(1 << 20))
        total = pyrev.differentiable(summed)(x)
        stream.synchronize()
    assert float(total) == 1 << 20


def summed(x):
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i]
    return total
