"""Adam, against the algorithm as it was published, and on what it has to find."""

from __future__ import annotations

import numpy as np
import pytest
from adam import Adam


def test_steps_are_those_of_the_article() -> None:
    rng = np.random.default_rng(0)
    solver = Adam(rng.normal(size=3), 0.01, decays=(0.8, 0.95), least=1e-4)
    x, m, v = solver.x.copy(), np.zeros(3), np.zeros(3)
    for t in range(1, 6):
        g = rng.normal(size=3)
        solver.step(g, 0.5)
        m, v = 0.8 * m + 0.2 * g, 0.95 * v + 0.05 * g * g
        m_hat, v_hat = m / (1 - 0.8**t), v / (1 - 0.95**t)
        x -= 0.005 * m_hat / (np.sqrt(v_hat) + 1e-4)
        assert solver.x == pytest.approx(x, rel=1e-13)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_is_free_moves_to_the_minimum(dtype: type) -> None:
    start, free = np.array([3.0, -2.0, 5.0], dtype), np.array([1.0, 1.0, 0.0], dtype)
    solver = Adam(start, 0.1, free=free)
    for _ in range(400):
        solver.step(2 * (solver.x - 1))
    assert solver.x is start
    assert start.dtype == dtype
    assert start == pytest.approx([1.0, 1.0, 5.0], abs=1e-3)
