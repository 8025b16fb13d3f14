"""The inversion on disk, on small input: it goes as far as SciPy goes in memory."""

from __future__ import annotations

from pathlib import Path

import dask
import dask.array as da
import diffusion_on_disk as example
import numpy as np
import pytest
from scipy.optimize import minimize

import pyrev


def test_it_goes_where_scipy_goes(tmp_path: Path) -> None:
    told: list[float] = []
    with dask.config.set(scheduler="synchronous"):
        begin, end = example.inverted(
            tmp_path, (25, 22), 12, 25, steps=3, told=lambda _, v: told.append(v)
        )
        store = example.Store(tmp_path, 12)
        x, c, d = (np.asarray(store[n]) for n in ("x", "c", "d"))
    assert told[0] == begin and sorted(told, reverse=True) == told
    call = pyrev.value_and_grad(example.misfit, wrt="u")

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradients = call(flat.reshape(x.shape).copy(), c, d, 3, 1e-4)
        return value, np.asarray(gradients).reshape(-1)

    found = minimize(
        loss,
        d.reshape(-1),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 25, "maxcor": 3},
    )
    assert end <= 1.25 * found.fun < 0.05 * begin
    plain = example.misfit(x.copy(), c, d, 3, 1e-4)
    np.testing.assert_allclose(plain, end, rtol=1e-10)


def test_its_products_are_those_of_the_vectors(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    row = rng.random((3, 8, 6))
    blocks = [da.from_array(v, chunks=(4, 3)) for v in row]
    wanted = np.einsum("ayx,byx->ab", row, row)
    parts = [example.gram(*(np.asarray(b.blocks[k]) for b in blocks)) for k in _grid()]
    np.testing.assert_allclose(sum(parts), wanted, rtol=1e-12)


def _grid() -> list[tuple[int, int]]:
    return [(i, j) for i in range(2) for j in range(2)]


def test_a_process_that_holds_too_much_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[int] = []

    def end(code: int) -> None:
        ended.append(code)
        raise SystemExit

    monkeypatch.setattr(example.os, "_exit", end)
    with pytest.raises(SystemExit):
        example.watch(1.0)
    assert ended == [137]
