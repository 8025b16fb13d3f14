from __future__ import annotations

from typing import TypeAlias

import numpy as np
import pyrev
import pytest

from flowline.model import GAMMA, Profile, flow, steps_for, surface_speed

DX = 100.0
Glacier: TypeAlias = tuple[Profile, Profile]


@pytest.fixture
def glacier() -> Glacier:
    """Bed and thickness of a dozen nodes, the last four without ice."""
    x = DX * np.arange(12)
    bed = 3000.0 - 0.15 * x + 8.0 * np.sin(x / 150.0)
    return bed, np.array([90, 110, 120, 110, 100, 80, 60, 30, 0, 0, 0, 0], float)


def test_a_slab_flows_as_the_formula_says() -> None:
    x = np.asarray(DX * np.arange(5), np.float64)
    speed = np.zeros(4)
    surface_speed(-0.1 * x, np.full(5, 100.0), DX, speed)
    assert speed == pytest.approx(GAMMA / 4.0 * 100.0**4 * 0.1**3)


def test_ice_is_neither_made_nor_lost_without_a_balance(glacier: Glacier) -> None:
    bed, thickness = glacier
    before = thickness.sum()
    steps = steps_for(20.0, bed + thickness, thickness, DX)
    flow(bed, thickness, np.zeros(12), DX, 20.0 / steps, steps)
    assert thickness.sum() == pytest.approx(before)
    assert thickness[8] > 0.0  # it has come further down


def test_the_gradients_of_the_model_are_those_of_differences(glacier: Glacier) -> None:
    bed, thickness = glacier
    report = pyrev.check_grad(surface_speed, bed, thickness, DX, np.zeros(11))
    assert report, report
    # Where there is no ice, max() has a kink: from a valley full of it.
    filled, balance = thickness + 20.0, np.linspace(0.5, -1.0, 12)
    dt = 1.0 / steps_for(1.0, bed + filled, filled, DX)
    report = pyrev.check_grad(flow, bed, filled, balance, DX, dt, 8)
    assert report, report
