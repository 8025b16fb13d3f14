"""The bed under a glacier, from two surveys of its surface, its balance and its speed.

The thickness at the first survey is surface minus bed. Ice that starts so must, years
later, have the surface and the speed that were seen. L-BFGS-B looks for the bed that
does this best and is smooth.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyrev
import pyrev.scipy
from scipy.optimize import minimize

from flowline.model import (
    GRAVITY,
    ICE_DENSITY,
    Profile,
    flow,
    steps_for,
    surface_speed,
)

YIELD_STRESS = 1.0e5  # Pa, of the perfectly plastic ice that the first guess is
THICKEST = 3.0  # times the thickest ice of the first guess: nothing is looked for below


@dataclass(frozen=True)
class Survey:
    """What was measured along the flow line, at nodes `dx` metres apart."""

    dx: float
    years: float  # between the two surveys
    surface_before: Profile  # m above sea level
    surface_after: Profile
    balance: Profile  # m/a, mean of the years between
    speed: Profile  # m/a at the second survey, between nodes (one less)
    glacier: Profile  # 1 where there was ice at the first survey, else 0


@pyrev.differentiable(wrt="bed")
def misfit(
    bed: Profile,
    surface_before: Profile,
    surface_after: Profile,
    balance: Profile,
    speed_seen: Profile,
    dx: float,
    dt: float,
    steps: int,
    surface_error: float,
    speed_error: float,
    roughness: float,
) -> float:
    """Minus twice the log of the posterior probability of a bed, up to a constant.

    The errors are standard deviations, m and m/a; `roughness` that of how far a node
    of the bed is from the mean of its neighbours, m.
    """
    thickness = surface_before - bed
    flow(bed, thickness, balance, dx, dt, steps)
    speed = np.zeros(bed.shape[0] - 1)
    surface_speed(bed, thickness, dx, speed)
    total = 0.0
    for i in range(bed.shape[0]):
        error = bed[i] + thickness[i] - surface_after[i]
        total += (error / surface_error) ** 2
    for i in range(speed.shape[0]):
        total += ((speed[i] - speed_seen[i]) / speed_error) ** 2
    for i in range(1, bed.shape[0] - 1):
        bend = bed[i] - 0.5 * (bed[i - 1] + bed[i + 1])
        total += (bend / roughness) ** 2
    return total


def plastic_bed(survey: Survey) -> Profile:
    """Where the bed is if the stress on it is `YIELD_STRESS` everywhere."""
    window = np.ones(9) / 9.0
    slope = np.abs(np.gradient(survey.surface_before, survey.dx))
    smooth = np.convolve(np.pad(slope, 4, "edge"), window, "valid")
    thickness = YIELD_STRESS / (ICE_DENSITY * GRAVITY * np.maximum(smooth, 0.03))
    bed: Profile = survey.surface_before - survey.glacier * thickness
    return bed


@dataclass(frozen=True)
class Found:
    """The bed, m above sea level, and how it was found."""

    bed: Profile
    first_guess: Profile
    misfit: float
    misfit_of_guess: float
    evaluations: int


def find_bed(
    survey: Survey,
    errors: tuple[float, float, float] = (1.0, 1.0, 3.0),
    iterations: int = 200,
) -> Found:
    """Look for the bed; where there was no ice, it is the surface.

    `errors` are the last three arguments of `misfit`.
    """
    guess = plastic_bed(survey)
    thickest = THICKEST * (survey.surface_before - guess)
    steps = steps_for(survey.years, survey.surface_before, 0.6 * thickest, survey.dx)
    loss = pyrev.scipy.objective(
        misfit,
        guess,
        survey.surface_before,
        survey.surface_after,
        survey.balance,
        survey.speed,
        survey.dx,
        survey.years / steps,
        steps,
        *errors,
        wrt="bed",
    )
    lowest = survey.surface_before - thickest
    found = minimize(
        loss,
        loss.x0,
        jac=True,
        method="L-BFGS-B",
        bounds=list(zip(lowest, survey.surface_before, strict=True)),
        options={"maxiter": iterations, "maxfun": 2 * iterations},
    )
    return Found(
        bed=loss.unpack(found.x),
        first_guess=guess,
        misfit=float(found.fun),
        misfit_of_guess=loss(loss.x0)[0],
        evaluations=int(found.nfev),
    )
