"""A glacier along its flow line: shallow ice with Glen's law (Hutter 1983).

Lengths are in metres, time in years (a), stresses in pascals. Node 0 is the ice divide,
`dx` the spacing of the nodes; ice flows where the surface, bed plus thickness, falls.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import pyrev
from numpy.typing import NDArray

Profile: TypeAlias = NDArray[np.float64]

RATE_FACTOR = 2.4e-24 * 365.25 * 86400.0  # at 0 C, Pa^-3 a^-1
ICE_DENSITY = 910.0  # kg m^-3
GRAVITY = 9.81  # m s^-2
#: 2 A (rho g)^n of the shallow ice approximation with Glen's n = 3, m^-3 a^-1.
GAMMA = 2.0 * RATE_FACTOR * (ICE_DENSITY * GRAVITY) ** 3


@pyrev.differentiable(wrt=("bed", "thickness"))
def surface_speed(bed: Profile, thickness: Profile, dx: float, speed: Profile) -> None:
    """Add the speed of the surface between nodes, m/a, positive down the flow line."""
    for i in range(speed.shape[0]):
        slope = (bed[i + 1] + thickness[i + 1] - bed[i] - thickness[i]) / dx
        h = 0.5 * (thickness[i] + thickness[i + 1])
        speed[i] -= GAMMA / 4.0 * h**4 * slope**3


@pyrev.differentiable(wrt=("bed", "thickness"))
def flow(
    bed: Profile, thickness: Profile, balance: Profile, dx: float, dt: float, steps: int
) -> None:
    """Let the ice flow for `steps` times `dt` years under a mass balance in m/a.

    The last node only receives ice, and loses what the balance there takes.
    """
    n = thickness.shape[0]
    flux = np.zeros(n)  # m^2/a, between this node and the next; none leaves the last
    for _step in range(steps):
        for i in range(n - 1):
            slope = (bed[i + 1] + thickness[i + 1] - bed[i] - thickness[i]) / dx
            h = 0.5 * (thickness[i] + thickness[i + 1])
            flux[i] = -GAMMA / 5.0 * h**5 * slope**3
        thickness[0] = max(thickness[0] + dt * (balance[0] - flux[0] / dx), 0.0)
        for i in range(1, n):
            divergence = (flux[i] - flux[i - 1]) / dx
            thickness[i] = max(thickness[i] + dt * (balance[i] - divergence), 0.0)


def steps_for(years: float, surface: Profile, thickness: Profile, dx: float) -> int:
    """Into how many explicit steps these years are divided to be stable.

    As for any diffusion: `dt < dx**2 / (2 D)`, with half of that to spare.
    """
    slope = np.abs(np.diff(surface)) / dx
    h = 0.5 * (thickness[:-1] + thickness[1:])
    diffusivity = (3.0 * GAMMA / 5.0 * h**5 * slope**2).max()
    return max(1, int(np.ceil(years * 4.0 * diffusivity / dx**2)))
