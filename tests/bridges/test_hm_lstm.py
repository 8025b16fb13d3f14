# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
from __future__ import annotations

import hm_lstm
import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")


def test_the_cell_agrees_with_pytorch_and_copies_no_nan() -> None:
    compared = hm_lstm.compare(12, 5, "python")
    assert compared.right, str(compared)
    assert compared.nans[1] > 0


def test_pytorch_computes_both_sides_of_a_branch() -> None:
    # The reference of the example: where gates are numbers it is right.
    given = hm_lstm.cells(6, 2)
    out, slopes = hm_lstm.by_torch(given)
    expected = np.zeros_like(out)
    hm_lstm.update(*given.arguments[:-1], expected)
    np.testing.assert_allclose(out, expected, rtol=1e-12)
    assert all(np.isfinite(s).all() for s in slopes.values())
