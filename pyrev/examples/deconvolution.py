"""Deconvolution of a known blur with learned priors, trained through the solver.

    python -m pyrev.examples.deconvolution --output deconvolution.png
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

import pyrev

Array = NDArray[np.float64]

WIDTH = 15
"""The kernels of the blur are WIDTH x WIDTH."""
NOISE = 0.01


# ------------------------------------------------------------------ the loops


def objective(image, observed, blur, filters, weights, targets):
    """What each stage makes small: half the squared errors of the blurred images, and
    of the filtered ones against their targets, weighted.

    Images [n, height, width], kernels [n, j, i], filters [f, j, i], logarithms of
    weights [f], targets [n, f, height, width].
    """
    total = 0.0
    for n in range(observed.shape[0]):
        for y in range(observed.shape[1]):
            for x in range(observed.shape[2]):
                error = -observed[n, y, x]
                for j in range(blur.shape[1]):
                    for i in range(blur.shape[2]):
                        error += blur[n, j, i] * image[n, y + j, x + i]
                total += 0.5 * error * error
    for n in range(targets.shape[0]):
        for f in range(targets.shape[1]):
            weight = math.exp(weights[f])
            for y in range(targets.shape[2]):
                for x in range(targets.shape[3]):
                    miss = -targets[n, f, y, x]
                    for j in range(filters.shape[1]):
                        for i in range(filters.shape[2]):
                            miss += filters[f, j, i] * image[n, y + j, x + i]
                    total += 0.5 * weight * miss * miss
    return total


# What follows is differentiated again, so these are functions like the others here.
_slope = pyrev.differentiable(objective, wrt="image").adjoint
slope_of = _slope.python
bend_of = pyrev.differentiable(_slope, wrt="image").tangent.python


def gradient(image, observed, blur, filters, weights, targets):
    """The objective's gradient with respect to the images."""
    (slope,) = slope_of(image, observed, blur, filters, weights, targets, 1.0)
    return slope


def curvature(image, observed, blur, filters, weights, targets, direction):
    """The objective's Hessian with respect to the images, times a direction."""
    slope, bend = bend_of(
        image, observed, blur, filters, weights, targets, 1.0, direction
    )
    return bend


def minimise(image, observed, blur, filters, weights, targets, steps):
    """Nonlinear conjugate gradients (Polak and Ribiere), images in place.

    Each image has its own steps, whose lengths are Newton's along the direction.
    """
    slope = gradient(image, observed, blur, filters, weights, targets)
    direction = -slope
    for k in range(steps):
        bend = curvature(image, observed, blur, filters, weights, targets, direction)
        for n in range(image.shape[0]):
            down = 0.0
            across = 1e-30  # nothing moves where the slope is zero already
            for y in range(image.shape[1]):
                for x in range(image.shape[2]):
                    down -= slope[n, y, x] * direction[n, y, x]
                    across += direction[n, y, x] * bend[n, y, x]
            length = down / across
            for y in range(image.shape[1]):
                for x in range(image.shape[2]):
                    image[n, y, x] += length * direction[n, y, x]
        new = gradient(image, observed, blur, filters, weights, targets)
        for n in range(image.shape[0]):
            change = 0.0
            before = 1e-30
            for y in range(image.shape[1]):
                for x in range(image.shape[2]):
                    change += new[n, y, x] * (new[n, y, x] - slope[n, y, x])
                    before += slope[n, y, x] * slope[n, y, x]
            keep = max(change / before, 0.0)
            for y in range(image.shape[1]):
                for x in range(image.shape[2]):
                    direction[n, y, x] = keep * direction[n, y, x] - new[n, y, x]
                    slope[n, y, x] = new[n, y, x]


def smooth(image, spreads, cell, depth, out):
    """The bilateral grid (Chen, Paris and Durand 2007): a blur that keeps edges.

    A grid cell is `cell` pixels wide and high, and 1 / `depth` of the range of grey
    values. `spreads` are the logarithms of the standard deviations of its blur, in
    cells: in space and in the range.
    """
    rows = (image.shape[1] - 1) // cell + 2
    columns = (image.shape[2] - 1) // cell + 2
    levels = depth + 1
    near = math.exp(-0.5 * math.exp(-2.0 * spreads[0]))
    alike = math.exp(-0.5 * math.exp(-2.0 * spreads[1]))
    grid = np.zeros((image.shape[0], levels, rows, columns, 2))
    for n in range(image.shape[0]):
        for y in range(image.shape[1]):
            for x in range(image.shape[2]):
                level = min(max(image[n, y, x], 0.0), 1.0) * depth
                z0 = min(int(level), depth - 1)
                for dz in range(2):
                    for dy in range(2):
                        for dx in range(2):
                            part = abs(1 - dz - (level - z0))
                            part *= abs(1 - dy - y % cell / cell)
                            part *= abs(1 - dx - x % cell / cell)
                            v = y // cell + dy
                            u = x // cell + dx
                            grid[n, z0 + dz, v, u, 0] += part * image[n, y, x]
                            grid[n, z0 + dz, v, u, 1] += part
    across = np.zeros_like(grid)
    for n in range(image.shape[0]):
        for z in range(levels):
            for v in range(rows):
                for u in range(columns):
                    for t in range(max(u - 2, 0), min(u + 3, columns)):
                        share = near ** ((t - u) * (t - u))
                        for c in range(2):
                            across[n, z, v, u, c] += share * grid[n, z, v, t, c]
    down = np.zeros_like(grid)
    for n in range(image.shape[0]):
        for z in range(levels):
            for v in range(rows):
                for t in range(max(v - 2, 0), min(v + 3, rows)):
                    share = near ** ((t - v) * (t - v))
                    for u in range(columns):
                        for c in range(2):
                            down[n, z, v, u, c] += share * across[n, z, t, u, c]
    through = np.zeros_like(grid)
    for n in range(image.shape[0]):
        for z in range(levels):
            for t in range(max(z - 2, 0), min(z + 3, levels)):
                share = alike ** ((t - z) * (t - z))
                for v in range(rows):
                    for u in range(columns):
                        for c in range(2):
                            through[n, z, v, u, c] += share * down[n, t, v, u, c]
    for n in range(image.shape[0]):
        for y in range(image.shape[1]):
            for x in range(image.shape[2]):
                level = min(max(image[n, y, x], 0.0), 1.0) * depth
                z0 = min(int(level), depth - 1)
                value = 0.0
                weight = 0.0
                for dz in range(2):
                    for dy in range(2):
                        for dx in range(2):
                            part = abs(1 - dz - (level - z0))
                            part *= abs(1 - dy - y % cell / cell)
                            part *= abs(1 - dx - x % cell / cell)
                            v = y // cell + dy
                            u = x // cell + dx
                            value += part * through[n, z0 + dz, v, u, 0]
                            weight += part * through[n, z0 + dz, v, u, 1]
                out[n, y, x] = value / weight


def aim(image, filters, thresholds, spreads, cell, depth, targets):
    """Targets of the next stage: filtered images without noise, small values dropped.

    `thresholds` are logarithms: a response far above one stays, far below it vanishes.
    """
    clean = np.zeros_like(image)
    smooth(image, spreads, cell, depth, clean)
    for n in range(targets.shape[0]):
        for f in range(targets.shape[1]):
            fourth = math.exp(4.0 * thresholds[f])
            for y in range(targets.shape[2]):
                for x in range(targets.shape[3]):
                    found = 0.0
                    for j in range(filters.shape[1]):
                        for i in range(filters.shape[2]):
                            found += filters[f, j, i] * clean[n, y + j, x + i]
                    targets[n, f, y, x] = found**5 / (found**4 + fourth)


def distance(image, truth, margin):
    """Minus the mean PSNR of the images without their margins, in dB."""
    total = 0.0
    for n in range(image.shape[0]):
        squares = 0.0
        for y in range(margin, image.shape[1] - margin):
            for x in range(margin, image.shape[2] - margin):
                squares += (image[n, y, x] - truth[n, y, x]) ** 2
        area = (image.shape[1] - 2 * margin) * (image.shape[2] - 2 * margin)
        total += 10.0 * math.log10(squares / area)
    return total / image.shape[0]


# ------------------------------------------------------------------ the stages


@dataclass
class Parameters:
    """All that is learned; the first axis is the stage.

    Weights, thresholds and spreads are logarithms, so that they stay positive. The
    first stage has no targets: its thresholds and spreads are not used.
    """

    filters: Array
    weights: Array
    thresholds: Array
    spreads: Array

    def zeros(self) -> Parameters:
        """As many numbers, all zero."""
        return Parameters(
            *(np.zeros_like(getattr(self, field.name)) for field in fields(self))
        )


STEPS = 10
"""Steps of conjugate gradients of each stage."""
CELL, DEPTH = 4, 24
"""The bilateral grid's cells are 4 x 4 pixels by 1 / 24 of the range of grey values."""


def published_filters(size: int = 5) -> Array:
    """The derivatives of Fortunato and Oliveira: two first and three second ones."""
    root = math.sqrt(2)
    across = np.zeros((3, 3))
    across[1] = -0.5, 0.0, 0.5
    bent = np.zeros((3, 3))
    bent[1] = -1 / root, 2 / root, -1 / root
    mixed = np.zeros((3, 3))
    mixed[:2, :2] = (-root, root), (root, -root)
    found = np.stack((across, across.T, bent, bent.T, mixed))
    return np.pad(found, ((0, 0), *((((size - 3) // 2,) * 2,) * 2)))


def published(stages: int) -> Parameters:
    """The published parameters; stages after the second repeat it."""
    filters = published_filters()
    weights = np.full((stages, 5), math.log(0.05))
    weights[0] = math.log(0.001)
    thresholds = np.log(np.array([0.065] * 2 + [0.0325] * 3))
    return Parameters(
        np.stack([filters] * stages),
        weights,
        np.stack([thresholds] * stages),
        np.zeros((stages, 2)),
    )


class Network:
    """The stages in a row, and the derivatives of all of them."""

    def __init__(self, target: str = "auto", steps: int = STEPS) -> None:
        def made(loop: Any) -> pyrev.Differentiable:
            return pyrev.differentiable(loop, target=target)

        self.minimise, self.aim = made(minimise), made(aim)
        self.distance = made(distance)
        self.steps = steps

    def run(self, p: Parameters, observed: Array, blur: Array) -> list[Array]:
        """What each stage makes of the observed images."""
        image = widened(observed, blur.shape[1])
        targets = no_targets(image, p.filters)
        found = []
        for stage in range(len(p.filters)):
            if stage:
                self.aim(image, *self.of(p, stage), CELL, DEPTH, targets)
            image = image.copy()
            self.minimise(
                image,
                observed,
                blur,
                p.filters[stage],
                p.weights[stage],
                targets,
                self.steps,
            )
            found.append(image)
        return found

    def of(self, p: Parameters, stage: int) -> tuple[Array, Array, Array]:
        return p.filters[stage], p.thresholds[stage], p.spreads[stage]

    def slope(
        self, p: Parameters, observed: Array, blur: Array, truth: Array, margin: int
    ) -> tuple[float, Parameters]:
        """The loss and its gradient: all stages forwards, then backwards."""
        image = widened(observed, blur.shape[1])
        pulls = []
        for stage in range(len(p.filters)):
            targets = no_targets(image, p.filters)
            back = None
            if stage:
                _, back = pyrev.vjp(
                    self.aim,
                    image,
                    *self.of(p, stage),
                    CELL,
                    DEPTH,
                    targets,
                    wrt=("image", "filters", "thresholds", "spreads"),
                )
            image = image.copy()
            _, pull = pyrev.vjp(
                self.minimise,
                image,
                observed,
                blur,
                p.filters[stage],
                p.weights[stage],
                targets,
                self.steps,
                wrt=("image", "filters", "weights", "targets"),
            )
            pulls.append((back, pull))
        loss, last = pyrev.vjp(self.distance, image, truth, margin, wrt="image")
        d_image = last(1.0).image
        slope = p.zeros()
        for stage, (back, pull) in reversed(list(enumerate(pulls))):
            g = pull(image=d_image)
            d_image = g.image
            slope.filters[stage] = g.filters
            slope.weights[stage] = g.weights
            if back is not None:
                # The image enters twice: as the start, and through the targets.
                h = back(targets=g.targets)
                d_image = d_image + h.image
                slope.filters[stage] += h.filters
                slope.thresholds[stage] = h.thresholds
                slope.spreads[stage] = h.spreads
        return float(loss), slope


def widened(observed: Array, width: int) -> Array:
    """A first guess of the images: the blurred ones, their borders repeated."""
    side = (width // 2, width // 2)
    return np.pad(observed, ((0, 0), side, side), mode="edge")


def no_targets(image: Array, filters: Array) -> Array:
    n, height, width = image.shape
    _, count, j, i = filters.shape
    return np.zeros((n, count, height - j + 1, width - i + 1))


class Adam:
    """Steps on one array (Kingma and Ba 2015)."""

    def __init__(self, start: Array, rate: float) -> None:
        self.x = start
        self.rate = rate
        self.mean = np.zeros_like(start)
        self.square = np.zeros_like(start)
        self.steps = 0

    def step(self, slope: Array, factor: float) -> None:
        """One step against the slope, in place, its rate times a factor."""
        self.steps += 1
        self.mean += 0.1 * (slope - self.mean)
        self.square += 0.001 * (slope * slope - self.square)
        mean = self.mean / (1 - 0.9**self.steps)
        square = self.square / (1 - 0.999**self.steps)
        self.x -= factor * self.rate * mean / (np.sqrt(square) + 1e-8)


# ------------------------------------------------------------------ the baseline


def domain_transform(image: Array, space: float, grey: float) -> Array:
    """The edge-preserving recursive filter of Gastal and Oliveira 2011, three times."""
    out = image.copy()
    steps = [1 + space / grey * np.abs(np.diff(image, axis=axis)) for axis in (1, 0)]
    for k in range(3):
        sigma = space * math.sqrt(3) * 2 ** (2 - k) / math.sqrt(4**3 - 1)
        for axis in (1, 0):
            keep = np.exp(-math.sqrt(2) / sigma) ** steps[1 - axis]
            rows = np.moveaxis(out, axis, 0)
            keep = np.moveaxis(keep, axis, 0)
            for x in range(1, len(rows)):
                rows[x] += keep[x - 1] * (rows[x - 1] - rows[x])
            for x in range(len(rows) - 2, -1, -1):
                rows[x] += keep[x] * (rows[x + 1] - rows[x])
    return out


def pad_and_taper(observed: Array, pad: int) -> tuple[Array, Array]:
    """The blurred image, its border repeated and faded out, and what it was faded by."""
    fades = []
    for size in observed.shape:
        full = size + 2 * pad
        middle = full // 2
        edge = middle - pad
        order = math.ceil(0.5 * math.log(0.99 / 0.01) / math.log((middle + 1) / edge))
        fades.append(1 / (1 + (np.abs(np.arange(full) - middle) / edge) ** (2 * order)))
    fade = np.outer(*fades)
    return np.pad(observed, pad, mode="edge") * fade, fade


# ------------------------------------------------------------------ the experiment


def motion(rng: np.random.Generator) -> Array:
    """The kernel of a random camera motion, its centroid at the centre.

    A point with a velocity of its own that is disturbed all the time, and now and then
    by a jolt (in the manner of Boracchi and Foi 2012).
    """
    steps = 400
    velocity = np.exp(2j * math.pi * rng.random())
    places = [0j]
    shake, jolts = rng.uniform(0.02, 0.12), rng.uniform(0.0, 0.01)
    for _ in range(steps):
        if rng.random() < jolts:
            velocity *= np.exp(1j * rng.uniform(0.5, 1.5) * math.pi)
        velocity += shake * (rng.normal() + 1j * rng.normal())
        velocity -= 0.002 * places[-1] / steps
        velocity /= abs(velocity)
        places.append(places[-1] + velocity)
    path = np.array(places)
    path -= path.mean()
    reach = max(np.abs(path.real).max(), np.abs(path.imag).max())
    path *= rng.uniform(0.5, 1.0) * (WIDTH // 2 - 1) / reach
    kernel = np.zeros((WIDTH, WIDTH))
    for x, y in zip(path.real + WIDTH // 2, path.imag + WIDTH // 2, strict=True):
        left, top = math.floor(x), math.floor(y)
        for j, below in ((top, top + 1 - y), (top + 1, y - top)):
            for i, right in ((left, left + 1 - x), (left + 1, x - left)):
                kernel[j, i] += below * right
    return np.asarray(kernel / kernel.sum(), np.float64)


def blurred(truth: Array, blur: Array, rng: np.random.Generator) -> Array:
    """What the camera records: a valid correlation, and noise."""
    from scipy.signal import correlate2d

    found = correlate2d(truth, blur, mode="valid")
    return np.asarray(found + rng.normal(0, NOISE, found.shape), np.float64)
