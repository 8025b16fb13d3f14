"""Lens design: a published double Gauss lens, made shorter at equal sharpness.

    python examples/lens.py --output lens.png

The loops send rays through spherical surfaces (Snell's law in vector form) and measure
the mean squared spot size, the light that passes and the height of the image. pyrev
gives their derivatives with respect to curvatures, distances and diameters, and SLSQP
of SciPy makes the track, from the first vertex to the image plane, as short as it gets

- with a focal length of 50 mm (an equality constraint) and the same field, 22 degrees
  to either side, with no more distortion;
- with no larger spot (RMS about the centroid) and no less light (so f/2 stays f/2) from
  each point of the field;
- with a back focus of at least the given part of the published lens's, no larger
  diameters, and thicknesses at the axis and at the rims, and steepness of the surfaces,
  within `Limits`.

Rays start on a grid in the plane of the first vertex, and every surface, the stop among
them, blocks those that meet it outside its diameter. The optimisation softens that edge
(`inside`), so that the light has a derivative. The figures that are printed, and that
decide the exit status, are measured with sharp edges, a hundred times as many rays and
twice as many points of the field; before and after alike, the rays are those that pass.

The lens is that of US patent 2,673,491 (Tronnier 1954), f/2, scaled to 50 mm. Its table
has one index for each glass, so all of this is at one wavelength, and colour is left
alone. The task is that of Li, Gharbi, Adams, Durand and Ragan-Kelley, Differentiable
Programming for Image Processing and Deep Learning in Halide (2018), section 5.4, which
starts from another lens; for tracing by curvatures see Welford, Aberrations of Optical
Systems (1986), chapter 4.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from tqdm import tqdm

import pyrev

Array = NDArray[np.float64]

FOCAL_LENGTH = 50.0
HALF_FIELD = math.radians(22)
FIELDS = tuple(n / 20 for n in range(21))
"""The points that are judged, as fractions of the image height of the whole field."""
DRAWN = (0.0, 0.7, 1.0)
NAMES = ("axis", "0.7 field", "full field")
SPOT_RANGE = 110
COLOURS = ("#1f5fa8", "#2a8a4a", "#c0392b")
GRID_RADIUS = 14.0
"""Of the grid of rays; no ray from farther out enters the first surface."""


# ------------------------------------------------------------------ the loops

# Lengths are in mm. Surface k has curvature[k] (1 / radius, positive if its centre lies
# behind it), distance[k] to the next surface or to the image, and index[k] behind it. A
# ray is a point (x, y, z) and a unit direction (u, v, w); z is 0 at the vertex of the
# surface that it is at.


def focal_length(curvature, distance, index):
    height = 1.0
    slope = 0.0
    before = 1.0
    for k in range(curvature.shape[0]):
        bend = height * curvature[k] * (index[k] - before)
        slope = (before * slope - bend) / index[k]
        before = index[k]
        if k < curvature.shape[0] - 1:
            height += distance[k] * slope
    return -1.0 / slope


def meet(curvature, x, y, u, v, w):
    """From (x, y, 0): the way to the sphere, cosine of incidence (-1: never met)."""
    bulge = curvature * (x * x + y * y)
    lean = w - curvature * (x * u + y * v)
    square = lean * lean - curvature * bulge
    if square <= 0.0:
        return 0.0, -1.0
    cosine = math.sqrt(square)
    return bulge / (lean + cosine), cosine


def refract(curvature, ratio, x, y, z, u, v, w, cosine):
    """Direction behind the surface, cosine of refraction (-1: totally reflected)."""
    square = 1.0 - ratio * ratio * (1.0 - cosine * cosine)
    if square <= 0.0:
        return u, v, w, -1.0
    onward = math.sqrt(square)
    turn = onward - ratio * cosine
    return (
        ratio * u - turn * curvature * x,
        ratio * v - turn * curvature * y,
        ratio * w + turn * (1.0 - curvature * z),
        onward,
    )


def inside(x, y, diameter, softness):
    """1 inside the aperture, 0 outside, and a cubic between, `softness` wide."""
    within = 1.0 - 4.0 * (x * x + y * y) / (diameter * diameter)
    t = min(max(0.5 + 0.5 * within / softness, 0.0), 1.0)
    return t * t * (3.0 - 2.0 * t)


def trace(
    curvature,
    distance,
    index,
    diameter,
    slope,
    grid_x,
    grid_y,
    softness,
    x_at,
    y_at,
    light,
):
    """Where each ray meets the image plane, and how much of it arrives."""
    for r in range(grid_x.shape[0]):
        x = grid_x[r]
        y = grid_y[r]
        w = 1.0 / math.sqrt(1.0 + slope * slope)
        v = slope * w
        u = 0.0
        before = 1.0
        passed = 1.0
        for k in range(curvature.shape[0]):
            along, cosine = meet(curvature[k], x, y, u, v, w)
            x += along * u
            y += along * v
            z = along * w
            passed *= inside(x, y, diameter[k], softness)
            ratio = before / index[k]
            u, v, w, onward = refract(curvature[k], ratio, x, y, z, u, v, w, cosine)
            if cosine < 0.0 or onward < 0.0:
                passed = 0.0
            if passed == 0.0:
                break
            before = index[k]
            along = (distance[k] - z) / w
            x += along * u
            y += along * v
        x_at[r] = x
        y_at[r] = y
        light[r] = passed


def spot(curvature, distance, index, diameter, slope, grid_x, grid_y, softness):
    """Mean squared distance from the centroid (mm^2), rays that pass, centroid's y.

    The grid covers x > 0 only: the other half is its mirror image.
    """
    x = np.zeros_like(grid_x)
    y = np.zeros_like(grid_x)
    light = np.zeros_like(grid_x)
    trace(
        curvature,
        distance,
        index,
        diameter,
        slope,
        grid_x,
        grid_y,
        softness,
        x,
        y,
        light,
    )
    total = 0.0
    moment = 0.0
    for r in range(light.shape[0]):
        total += light[r]
        moment += light[r] * y[r]
    centre = moment / total
    spread = 0.0
    for r in range(light.shape[0]):
        off = y[r] - centre
        spread += light[r] * (x[r] * x[r] + off * off)
    return spread / total, total, centre


def rims(curvature, distance, diameter, thickness, steepness):
    """Thickness between neighbouring rims; sine of each surface's slope at its rim."""
    sag = np.zeros_like(curvature)
    for k in range(curvature.shape[0]):
        height = 0.5 * diameter[k]
        steepness[k] = curvature[k] * height
        sag[k] = steepness[k] * height / (1.0 + math.sqrt(1.0 - steepness[k] ** 2))
    for k in range(curvature.shape[0] - 1):
        thickness[k] = distance[k] - sag[k] + sag[k + 1]


# ------------------------------------------------------------------ designs


@dataclass(frozen=True)
class Design:
    """A lens: one entry for each surface, the stop among them."""

    curvature: Array
    distance: Array
    index: Array
    diameter: Array

    @property
    def track(self) -> float:
        """From the first vertex to the image plane."""
        return float(self.distance.sum())

    @property
    def back_focus(self) -> float:
        """From the last vertex to the image plane."""
        return float(self.distance[-1])

    @property
    def focal_length(self) -> float:
        return float(focal_length(self.curvature, self.distance, self.index))

    @property
    def before(self) -> Array:
        """The indices before the surfaces."""
        return np.append(1.0, self.index[:-1])

    @property
    def stop(self) -> int:
        """The surface with air on both sides."""
        return int(np.flatnonzero((self.index == 1) & (self.before == 1))[0])

    def focused_at(self, back_focus: float) -> Design:
        return replace(self, distance=np.append(self.distance[:-1], back_focus))


def patent() -> Design:
    """The lens of US 2,673,491, scaled to the focal length, at its best focus.

    That is where the mean squared spot, over the field, is smallest.
    """
    radius, distance, index, diameter = np.array(
        [
            (29.475, 3.76, 1.67, 25.2),
            (84.83, 0.12, 1, 25.2),
            (19.275, 4.025, 1.67, 23),
            (40.77, 3.275, 1.699, 23),
            (12.75, 5.705, 1, 18),
            (math.inf, 4.5, 1, 17.1),
            (-14.495, 1.18, 1.603, 17),
            (40.77, 6.065, 1.658, 20),
            (-20.385, 0.19, 1, 20),
            (437.065, 3.22, 1.717, 20),
            (-39.73, 0, 1, 20),
        ]
    ).T
    scale = FOCAL_LENGTH / focal_length(1 / radius, distance, index)
    lens = Design(
        1 / (scale * radius), scale * distance, index.copy(), scale * diameter
    )
    # While the same rays pass, the mean is a parabola in the place of the image plane.
    places = 0.7 * FOCAL_LENGTH + np.arange(3.0)
    means = [np.mean(measure(lens.focused_at(each), 0.1).spot) for each in places]
    square, linear, _ = np.polyfit(places, means, 2)
    return lens.focused_at(float(-0.5 * linear / square))


def grid(step: float) -> tuple[Array, Array]:
    """The points of a square grid in the half disc x > 0."""
    count = math.ceil(GRID_RADIUS / step)
    line = step * (np.arange(-count, count) + 0.5)
    x, y = np.meshgrid(line[count:], line)
    disc = x**2 + y**2 < GRID_RADIUS**2
    return x[disc], y[disc]


def slopes(fields: Iterable[float]) -> Array:
    """Tangents of the angles of these points of the field."""
    return math.tan(HALF_FIELD) * np.array(list(fields))


@dataclass(frozen=True)
class Measured:
    """What arrives from each point of the field."""

    spot: Array
    """Mean squared, mm^2."""
    light: Array
    """Cross-section of the light that passes, before the lens, mm^2."""
    distortion: Array
    """As a fraction of the image height."""

    @property
    def rms(self) -> Array:
        """Spot sizes in micrometres."""
        return np.asarray(1e3 * np.sqrt(self.spot))

    @property
    def overall(self) -> float:
        """The RMS over the whole field, in micrometres."""
        return float(1e3 * np.sqrt(np.mean(self.spot)))

    @property
    def passed(self) -> Array:
        """The light as a fraction of that of an f/2 beam on the axis."""
        return np.asarray(self.light / (math.pi / 4 * (FOCAL_LENGTH / 2) ** 2))

    @property
    def f_number(self) -> float:
        """Focal length by the diameter of the disc of light on the axis."""
        return FOCAL_LENGTH / math.sqrt(4 / math.pi * float(self.light[0]))


DESIGNED = ("curvature", "distance", "diameter")
spot_of = pyrev.differentiable(spot, wrt=DESIGNED)
rims_of = pyrev.differentiable(rims, wrt=DESIGNED)
focal_length_of = pyrev.value_and_grad(focal_length, wrt=("curvature", "distance"))

SHARP = 1e-9
"""Width of the edge of an aperture, where nothing is differentiated."""


def measure(lens: Design, step: float) -> Measured:
    """A lens measured with sharp apertures over the whole field."""
    rays = grid(step)
    shape = (lens.curvature, lens.distance, lens.index, lens.diameter)
    slope = slopes(FIELDS)
    found = [spot_of(*shape, each, *rays, SHARP) for each in slope.tolist()]
    size, light, height = np.array(found).T
    distortion = np.zeros_like(height)
    distortion[1:] = height[1:] / (FOCAL_LENGTH * slope[1:]) - 1
    return Measured(size, 2 * step**2 * light, distortion)


# ------------------------------------------------------------------ the optimisation


@dataclass(frozen=True)
class Limits:
    """Least thicknesses, in mm, and the sine of the steepest slope of a surface."""

    glass_at_axis: float = 1.1
    glass_at_rim: float = 1.0
    air_at_axis: float = 0.1
    air_at_rim: float = 0.05
    at_stop: float = 0.3
    steepness: float = 0.8

    def at_axis(self, lens: Design) -> Array:
        return self._least(lens, self.glass_at_axis, self.air_at_axis)

    def at_rim(self, lens: Design) -> Array:
        return self._least(lens, self.glass_at_rim, self.air_at_rim)

    def _least(self, lens: Design, glass: float, air: float) -> Array:
        least = np.where(lens.index > 1, glass, air)
        least[lens.stop - 1 : lens.stop + 1] = self.at_stop
        return least[:-1]


@dataclass(frozen=True)
class Settings:
    """What the optimisation may be told.

    It aims a little past what is demanded, since it sees fewer rays and softer edges.
    """

    stages: tuple[tuple[float, float], ...] = ((1.0, 0.1), (0.5, 0.02))
    """One after the other: mm between rays, softness of the apertures."""
    iterations: int = 150
    """At most, in each stage."""
    dense: float = 0.05
    """mm between the rays that lenses are measured with."""
    fields: tuple[float, ...] = tuple(n / 10 for n in range(11))
    sharper: float = 0.98
    brighter: float = 1.005
    straighter: float = 0.96
    limits: Limits = field(default_factory=Limits)


class Problem:
    """The shortest track: variables, constraints and their derivatives.

    The variables are the curvatures, distances and diameters of all surfaces, in units
    of `scale` (that of the curvatures makes them sags of about a mm).
    """

    def __init__(
        self,
        start: Design,
        back_focus: float,
        settings: Settings,
        step: float,
        softness: float,
    ) -> None:
        limits, count = settings.limits, start.index.size
        self.start, self.settings, self.softness = start, settings, softness
        self.rays, self.slopes = grid(step), slopes(settings.fields)
        self.scale = np.repeat([0.02, 1.0, 2.0], count)
        self.thinnest = limits.at_rim(start)
        curved = np.full(count, math.inf)
        curved[start.stop] = 0.0
        nearest = np.append(limits.at_axis(start), back_focus * start.back_focus)
        smallest = 0.5 * start.diameter
        low = np.concatenate([-curved, nearest, smallest])
        high = np.concatenate([curved, np.full(count, start.track), start.diameter])
        self.bounds = list(zip(low / self.scale, high / self.scale, strict=True))
        (self.size, self.light, height), _ = self.traced(start)
        self.distortion = np.max(np.abs(self.distorted(height)))
        self.latest: tuple[bytes, tuple[Array, Array, Array, Array]] | None = None

    def pack(self, lens: Design) -> Array:
        parts = (lens.curvature, lens.distance, lens.diameter)
        return np.asarray(np.concatenate(parts) / self.scale)

    def design(self, x: Array) -> Design:
        curvature, distance, diameter = (x * self.scale).reshape(3, -1)
        return Design(curvature, distance, self.start.index, diameter)

    def packed(self, gradients: Any) -> Array:
        """Gradients by name as one row, in units of the variables."""
        row = np.concatenate([gradients[name] for name in DESIGNED])
        return np.asarray(row * self.scale)

    def track(self, x: Array) -> tuple[float, Array]:
        slope = np.zeros((3, self.start.index.size))
        slope[1] = 1.0
        return self.design(x).track, slope.ravel() * self.scale

    def distorted(self, height: Array) -> Array:
        """Distortion of all points of the field but the axis."""
        return np.asarray(height[1:] / (FOCAL_LENGTH * self.slopes[1:]) - 1)

    def traced(self, lens: Design) -> tuple[Array, Array]:
        """Spot, light and height of each point of the field, and their derivatives."""
        values, slopes = [], []
        for slope in self.slopes.tolist():
            found, pullback = pyrev.vjp(
                spot_of,
                lens.curvature,
                lens.distance,
                lens.index,
                lens.diameter,
                slope,
                *self.rays,
                self.softness,
            )
            values.append(found)
            slopes.append([self.packed(pullback(tuple(unit))) for unit in np.eye(3)])
        return np.array(values).T, np.array(slopes).swapaxes(0, 1)

    def shaped(self, lens: Design) -> tuple[Array, Array, Array, Array]:
        """Thickness at the rims, steepness, and their derivatives."""
        thickness, steepness = np.zeros(lens.index.size - 1), np.zeros(lens.index.size)
        _, pullback = pyrev.vjp(
            rims_of,
            lens.curvature,
            lens.distance,
            lens.diameter,
            thickness,
            steepness,
        )
        thicker = [pullback(thickness=unit) for unit in np.eye(thickness.size)]
        steeper = [pullback(steepness=unit) for unit in np.eye(steepness.size)]
        d_thickness = np.array([self.packed(each) for each in thicker])
        d_steepness = np.array([self.packed(each) for each in steeper])
        return thickness, steepness, d_thickness, d_steepness

    def constraints(self, x: Array) -> tuple[Array, Array, Array, Array]:
        """What must not be negative, what must be zero, each with its derivative."""
        if self.latest is not None and self.latest[0] == x.tobytes():
            return self.latest[1]
        lens, settings = self.design(x), self.settings
        (size, light, height), (d_size, d_light, d_height) = self.traced(lens)
        thickness, steepness, d_thickness, d_steepness = self.shaped(lens)
        length, gradients = focal_length_of(lens.curvature, lens.distance, lens.index)
        d_length = self.packed({**gradients, "diameter": np.zeros(lens.index.size)})

        spot_limit = settings.sharper**2 * self.size
        light_limit = settings.brighter * self.light
        height_unit = 0.01 * FOCAL_LENGTH * self.slopes[1:, None]
        percent, d_percent = 100 * self.distorted(height), d_height[1:] / height_unit
        most = 100 * settings.straighter * self.distortion
        steepest = settings.limits.steepness
        rows = (
            (np.log(spot_limit / size), -d_size / size[:, None]),
            (light / light_limit - 1, d_light / light_limit[:, None]),
            (most - percent, -d_percent),
            (most + percent, d_percent),
            (thickness - self.thinnest, d_thickness),
            (steepest - steepness, -d_steepness),
            (steepest + steepness, d_steepness),
        )
        found = (
            np.concatenate([value for value, _ in rows]),
            np.concatenate([slope for _, slope in rows]),
            np.array([length - FOCAL_LENGTH]),
            d_length[None],
        )
        self.latest = (x.tobytes(), found)
        return found

    def solved(self, guess: Design, watch: Callable[[float], None]) -> Design:
        """The solution that SLSQP finds from this guess."""
        found = minimize(
            self.track,
            self.pack(guess),
            jac=True,
            method="SLSQP",
            bounds=self.bounds,
            constraints=[
                {
                    "type": kind,
                    "fun": lambda x, row=row: self.constraints(x)[row],
                    "jac": lambda x, row=row: self.constraints(x)[row + 1],
                }
                for kind, row in (("ineq", 0), ("eq", 2))
            ],
            callback=lambda x: watch(self.design(x).track),
            options={"maxiter": self.settings.iterations, "ftol": 1e-6},
        )
        return self.design(found.x)


def shorten(
    start: Design,
    back_focus: float,
    settings: Settings,
    watch: Callable[[float], None] = lambda track: None,
) -> Design:
    """The shortest lens that is found from this one.

    The back focus may shrink to the given part of what it was.
    """
    new = start
    for step, softness in settings.stages:
        problem = Problem(start, back_focus, settings, step, softness)
        new = problem.solved(new, watch)
    return new


# ------------------------------------------------------------------ the experiment


@dataclass(frozen=True)
class Shortened:
    """A new lens beside the published one, both measured."""

    old: Design
    new: Design
    before: Measured
    after: Measured
    back_focus: float
    limits: Limits
    seconds: float

    @property
    def shorter(self) -> float:
        """As a fraction of the published track."""
        return 1 - self.new.track / self.old.track

    def bars(self) -> dict[str, bool]:
        """What is demanded of the new lens, and whether it does it."""
        before, after, old, new = self.before, self.after, self.old, self.new
        thickness, steepness = np.zeros(new.index.size - 1), np.zeros(new.index.size)
        rims(new.curvature, new.distance, new.diameter, thickness, steepness)
        rim = thickness - self.limits.at_rim(new)
        axis = new.distance[:-1] - self.limits.at_axis(new)
        rounding = 1e-5
        return {
            "5 % shorter": self.shorter >= 0.05,
            "as sharp overall": after.overall <= before.overall,
            "as sharp everywhere": bool(np.all(after.rms <= before.rms)),
            "as much light everywhere": bool(np.all(after.light >= before.light)),
            "no more distortion": bool(
                np.max(np.abs(after.distortion)) <= np.max(np.abs(before.distortion))
            ),
            "focal length within 0.1 %": abs(new.focal_length / FOCAL_LENGTH - 1)
            < 1e-3,
            "back focus": new.back_focus >= self.back_focus * old.back_focus - rounding,
            "no larger": bool(np.all(new.diameter <= old.diameter + rounding)),
            "thick enough": bool(min(np.min(rim), np.min(axis)) >= -rounding),
            "not too steep": bool(
                np.max(np.abs(steepness)) <= self.limits.steepness + rounding
            ),
        }

    def summary(self) -> str:
        """The figures, before and after."""
        before, after, old, new = self.before, self.after, self.old, self.new
        worst = float(np.max(after.rms / before.rms))
        darkest = float(np.min(after.light / before.light))
        lines = [
            f"track              {old.track:6.2f} -> {new.track:6.2f} mm"
            f"  ({-100 * self.shorter:+.1f} %)",
            f"back focus         {old.back_focus:6.2f} -> {new.back_focus:6.2f} mm",
            f"focal length       {old.focal_length:6.2f} -> {new.focal_length:6.2f} mm",
            f"f-number           {before.f_number:6.3f} -> {after.f_number:6.3f}",
            f"spot, whole field  {before.overall:6.2f} -> {after.overall:6.2f} um RMS",
        ]
        for at in DRAWN:
            n = FIELDS.index(at)
            lines.append(
                f"  at {at:.1f} of it     "
                f"{before.rms[n]:6.2f} -> {after.rms[n]:6.2f} um RMS, light "
                f"{before.passed[n]:6.1%} -> {after.passed[n]:6.1%}"
            )
        lines += [
            f"anywhere           spot at most {worst:.3f} times, light at least "
            f"{darkest:.3f} times what it was",
            f"distortion         {100 * np.max(np.abs(before.distortion)):6.2f} -> "
            f"{100 * np.max(np.abs(after.distortion)):6.2f} % at most",
            f"time               {self.seconds:6.1f} s",
        ]
        lines += [
            f"MISSED             {name}" for name, met in self.bars().items() if not met
        ]
        return "\n".join(lines)


@contextmanager
def one_core() -> Iterator[None]:
    """A bundle of some hundred rays is done before a second core has begun."""
    cores = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        yield
    finally:
        numba.set_num_threads(cores)


@one_core()
def solve(back_focus: float, settings: Settings, *, progress: bool = True) -> Shortened:
    """The published lens, made as short as it gets."""
    old = patent()
    with tqdm(
        total=len(settings.stages) * settings.iterations,
        desc="shortening",
        unit="step",
        disable=None if progress else True,
    ) as bar:

        def watch(track: float) -> None:
            bar.set_postfix(track=f"{track:.2f} mm", refresh=False)
            bar.update()

        start = time.perf_counter()
        new = shorten(old, back_focus, settings, watch)
        seconds = time.perf_counter() - start
    return Shortened(
        old,
        new,
        measure(old, settings.dense),
        measure(new, settings.dense),
        back_focus,
        settings.limits,
        seconds,
    )


def check() -> pyrev.GradientReport:
    """The gradients of the spot against differences, with a few rays."""
    lens, rays = patent(), grid(3.0)
    shape = (lens.curvature, lens.distance, lens.index, lens.diameter)
    return pyrev.check_grad(spot_of, *shape, 0.2, *rays, 0.3)


# ------------------------------------------------------------------ the figure


def path(lens: Design, slope: float, height: float) -> Array | None:
    """The points (z, y) of a ray in the plane of the drawing, if it arrives."""
    x, y, u = 0.0, height, 0.0
    w = 1 / math.hypot(1, slope)
    v = slope * w
    vertex = np.append(0.0, np.cumsum(lens.distance))
    points = [(-8.0, y - 8.0 * slope)]
    for k, (curvature, index) in enumerate(
        zip(lens.curvature, lens.index, strict=True)
    ):
        along, cosine = meet(curvature, x, y, u, v, w)
        x, y, z = x + along * u, y + along * v, along * w
        ratio = lens.before[k] / index
        u, v, w, onward = refract(curvature, ratio, x, y, z, u, v, w, cosine)
        if min(cosine, onward) < 0 or abs(y) > 0.5 * lens.diameter[k]:
            return None
        points.append((vertex[k] + z, y))
        y += (lens.distance[k] - z) / w * v
    return np.array([*points, (vertex[-1], y)])


def draw_lens(axis: Any, lens: Design) -> None:
    """The cross-section, with rays from three points of the field."""
    vertex = np.append(0.0, np.cumsum(lens.distance))
    profile = []
    for k, curvature in enumerate(lens.curvature):
        y = 0.5 * lens.diameter[k] * np.linspace(-1, 1, 61)
        sag = curvature * y**2 / (1 + np.sqrt(1 - (curvature * y) ** 2))
        profile.append((vertex[k] + sag, y))
    for k in np.flatnonzero(lens.index > 1).tolist():
        (front, low), (back, high) = profile[k], profile[k + 1]
        axis.fill(
            np.append(front, back[::-1]),
            np.append(low, high[::-1]),
            facecolor="#cfe3f2",
            edgecolor="#30536b",
            linewidth=1,
        )
    radius = 0.5 * lens.diameter[lens.stop]
    for side in (-1, 1):
        edge = side * np.array([radius, radius + 2.5])
        axis.plot(np.full(2, vertex[lens.stop]), edge, color="black", linewidth=2.5)
    for colour, slope in zip(COLOURS, slopes(DRAWN).tolist(), strict=True):
        heights = np.arange(-GRID_RADIUS, GRID_RADIUS, 0.05)
        paths = [path(lens, slope, height) for height in heights.tolist()]
        arrived = [each for each in paths if each is not None]
        for n in np.linspace(0, len(arrived) - 1, 7).astype(int):
            axis.plot(*arrived[n].T, color=colour, linewidth=0.7)
    axis.axvline(lens.track, color="black", linewidth=1)


def draw_spot(axis: Any, lens: Design, slope: float, colour: str) -> None:
    """Where the rays arrive, in micrometres from their centroid."""
    x, y = grid(0.6)
    x_at, y_at, light = np.zeros_like(x), np.zeros_like(x), np.zeros_like(x)
    shape = (lens.curvature, lens.distance, lens.index, lens.diameter)
    trace(*shape, slope, x, y, SHARP, x_at, y_at, light)
    passed = light > 0
    across, up = 1e3 * x_at[passed], 1e3 * (y_at[passed] - np.mean(y_at[passed]))
    axis.scatter(np.append(across, -across), np.append(up, up), s=1.5, color=colour)
    box = (-SPOT_RANGE, SPOT_RANGE)
    axis.set(xlim=box, ylim=box, xticks=[], yticks=[], aspect="equal")


def draw(results: list[Shortened], output: Path) -> None:
    """Save the figure: cross-sections at one scale, spots below, figures in titles."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    old, before = results[0].old, results[0].before
    columns = [("published", old, before)]
    for result in results:
        shorter = f"{100 * result.shorter:.1f} % shorter"
        columns.append((shorter, result.new, result.after))
    figure = Figure(figsize=(5 * len(columns), 4.8), layout="constrained")
    FigureCanvasAgg(figure)
    layout = figure.add_gridspec(2, 3 * len(columns), height_ratios=(1.6, 1))
    for n, (title, lens, measured) in enumerate(columns):
        axis = figure.add_subplot(layout[0, 3 * n : 3 * n + 3])
        draw_lens(axis, lens)
        axis.axvline(old.track, color="grey", linewidth=1, linestyle=":")
        axis.set(xlim=(-8, old.track + 2), ylim=(-16, 22), aspect="equal")
        axis.set(xticks=[], yticks=[])
        axis.set_title(
            f"{title}: track {lens.track:.1f} mm, back focus {lens.back_focus:.1f} mm\n"
            f"f = {lens.focal_length:.1f} mm, f/{measured.f_number:.2f}, "
            f"RMS spot {measured.overall:.1f} um",
            fontsize=11,
        )
        for m, (at, name) in enumerate(zip(DRAWN, NAMES, strict=True)):
            axis = figure.add_subplot(layout[1, 3 * n + m])
            draw_spot(axis, lens, float(slopes([at])[0]), COLOURS[m])
            axis.set_xlabel(f"{2 * SPOT_RANGE} um wide", fontsize=8)
            rms, passed = (
                each[FIELDS.index(at)] for each in (measured.rms, measured.passed)
            )
            axis.set_title(f"{name}: {rms:.1f} um\nlight {passed:.0%}", fontsize=10)
    figure.savefig(output, dpi=80)


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python examples/lens.py",
        description=(__doc__ or "").split("\n")[0],
    )
    parser.add_argument(
        "--back-focus",
        type=float,
        nargs="+",
        default=[1.0, 0.9],
        help="least back focus of each new lens, of the published one (default 1 0.9)",
    )
    parser.add_argument(
        "--iterations",
        type=int,
        default=Settings.iterations,
        help=f"at most, in each stage (default {Settings.iterations})",
    )
    parser.add_argument(
        "--quick", action="store_true", help="few rays only; may miss what is demanded"
    )
    parser.add_argument("--output", type=Path, default=Path("lens.png"))
    options = parser.parse_args(arguments)

    report = check()
    print(report)
    settings = Settings(iterations=options.iterations)
    if options.quick:
        settings = replace(settings, stages=settings.stages[:1], dense=0.2)
    results = []
    for back_focus in options.back_focus:
        results.append(solve(back_focus, settings))
        print(f"\nback focus at least {back_focus:.0%} of the published lens's")
        print(results[-1].summary())
    draw(results, options.output)
    print(f"\nfigure             {options.output}")
    met = all(all(result.bars().values()) for result in results)
    return 0 if report and met else 1


if __name__ == "__main__":
    sys.exit(main())
