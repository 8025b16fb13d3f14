"""A fourth target: functions of the corpus in C, with their adjoints."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import pyrev
from pyrev.driver.targets import TARGETS, register
from tests.corpora.corpus import ENTRIES
from tests.targets.c import COMPILER, C
from tests.tools import oracle
from tests.turns import share_of

pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no C compiler, `cc`")

BY_NAME = {e.name: e for e in ENTRIES}
#: Stencils, sums, sweeps in place, recurrences, branches, subscripts that are data.
SOME = """
conv2d gamma_loss nonlinear_scan histogram gauss_seidel running_product argmax_by_loop
bounds_from_data triangular_product in_place_time_steps clip_and_abs mirror_box
""".split()


@pytest.fixture(autouse=True)
def _registered() -> Iterator[None]:
    """Users can name it, in these tests."""
    register(C)
    yield
    del TARGETS[C.name]


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted({*SOME, *share_of(BY_NAME, 8)}))
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_values_and_gradients_are_those_of_the_plain_function(
    name: str, dtype: type
) -> None:
    entry = BY_NAME[name]
    if dtype is np.float32 and entry.only64:
        pytest.skip("its differences need float64")
    f = pyrev.differentiable(entry.plain, target="c")
    size = max(4, entry.least)
    rng = entry.generator(size)
    arguments = entry.make(size, dtype, rng)
    try:
        oracle.check(f, entry.plain, arguments, entry.outputs, rng)
    except pyrev.UnsupportedError as refused:
        codes = {e.code for e in refused.findings}
        assert codes == {"P304"}
        pytest.skip("the sketch returns no array whose size data decides")


def weighted(x, n, out):  # type: ignore[no-untyped-def]
    for i in range(out.shape[0]):
        out[i] = x[i] * (7 // n[i])


def test_it_is_c_that_runs() -> None:
    f = pyrev.differentiable(weighted, target="c")
    x, n = np.arange(3.0), np.array([1, 2, 3])
    _, pullback = pyrev.vjp(f, x, n, np.zeros(3))
    assert pullback._unit.target is C
    assert "void run(" in f.adjoint.source_for("c", x, n, np.zeros(3))
    np.testing.assert_array_equal(pullback(out=np.ones(3))["x"], [7.0, 3.0, 2.0])


def test_arrays_that_lie_otherwise_in_memory_are_written() -> None:
    f = pyrev.differentiable(weighted, target="c")
    out = np.zeros((3, 2))
    f(np.arange(6.0)[::2], np.array([1, 2, 3]), out[:, 0])
    np.testing.assert_array_equal(out, [[0.0, 0.0], [6.0, 0.0], [8.0, 0.0]])


def test_what_fails_in_c_is_raised() -> None:
    f = pyrev.differentiable(weighted, target="c")
    with pytest.raises(ZeroDivisionError, match=r"test_c\.py:\d+: integer division"):
        f(np.ones(2), np.array([1, 0]), np.zeros(2))
    with pytest.raises(IndexError, match="leaves axis 0 of `x`"):
        f(np.ones(2), np.ones(3, np.int64), np.zeros(3))


def test_what_it_has_no_form_for_is_refused() -> None:
    def shifted(x, k):  # type: ignore[no-untyped-def]
        return x * (k << 2)

    f = pyrev.differentiable(shifted, target="c")
    with pytest.raises(pyrev.UnsupportedError, match="use target='numba'"):
        f(1.0, 3)
