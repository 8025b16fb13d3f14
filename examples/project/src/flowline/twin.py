"""A glacier of which everything is known, and the survey that would be made of it."""

from __future__ import annotations

import numpy as np

from flowline.inversion import Survey
from flowline.model import Profile, flow, steps_for, surface_speed

GRADIENT = 0.007  # of the balance with height, per year
EQUILIBRIUM_LINE = 2880.0  # m above sea level


def true_bed(x: Profile) -> Profile:
    """A valley that falls by a tenth, with an overdeepening and a riegel."""
    basin = 60.0 * np.exp(-(((x - 2800.0) / 500.0) ** 2))
    riegel = 35.0 * np.exp(-(((x - 3900.0) / 350.0) ** 2))
    return np.asarray(3050.0 - 0.1 * x - basin + riegel)


def survey_of_twin(
    nodes: int = 80, dx: float = 100.0, years: float = 15.0, noise: float = 1.0
) -> tuple[Profile, Survey]:
    """The true bed, and what two surveys `years` apart would find.

    `noise` is the standard deviation of surfaces, m, and of the speed, m/a.
    """
    x = dx * np.arange(nodes, dtype=np.float64)
    bed = true_bed(x)
    thickness = np.zeros(nodes)
    grown = 0.0
    while grown < 400.0:  # years: from bare ground
        run(bed, thickness, GRADIENT * (bed + thickness - EQUILIBRIUM_LINE), dx, 4.0)
        grown += 4.0
    before = bed + thickness
    glacier = np.where(thickness > 0.0, 1.0, 0.0)
    balance = GRADIENT * (before - EQUILIBRIUM_LINE - 100.0)  # it has become warmer
    run(bed, thickness, balance, dx, years)
    speed = np.zeros(nodes - 1)
    surface_speed(bed, thickness, dx, speed)
    rng = np.random.default_rng(0)
    after = bed + thickness + noise * rng.standard_normal(nodes)
    seen = speed + noise * rng.standard_normal(nodes - 1)
    return bed, Survey(dx, years, before, after, balance, seen, glacier)


def run(
    bed: Profile, thickness: Profile, balance: Profile, dx: float, years: float
) -> None:
    """Let the glacier flow for some years, in steps for ice 50 m thicker than it is."""
    steps = steps_for(years, bed + thickness, thickness + 50.0, dx)
    flow(bed, thickness, balance, dx, years / steps, steps)
