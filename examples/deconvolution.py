"""Deconvolution of a known blur with learned priors, trained through the solver.

    python examples/deconvolution.py --output deconvolution.png

Fortunato and Oliveira (Fast high-quality non-blind deconvolution using sparse adaptive
priors, 2014) restore a photograph whose blur is known in two stages. The first is a
least squares problem in which derivatives of the image should be small. Its result is
smoothed where there are no edges, and its derivatives, small ones dropped, are what
those of the second stage's image should be. Li et al. (Differentiable Programming for
Image Processing and Deep Learning in Halide, 2018, section 5.2) generalise that, and
so does this: four stages; a bilateral grid as the filter between them; filters and
weights of the priors, spreads of the grid and thresholds of each stage learned by Adam
on the PSNR, through the nonlinear conjugate gradients that solve each stage.

`objective` is what a stage makes small. The solver follows the gradient that pyrev
made of it, and the length of each step is Newton's, by the Hessian-vector product that
pyrev made of the gradient. Both are loop functions again, so `minimise`, which calls
them, is one too, and the training's gradients come from its adjoint: third derivatives
of `objective`. The stages start with the published parameters.

The baseline is the published method with its published parameters, those of the
authors' reference script: weights 0.001 and 0.05; derivatives (-1, 0, 1) / 2,
(-1, 2, -1) / sqrt 2 and sqrt 2 (-1, 1; 1, -1), thresholds 0.065 for the first ones and
0.0325 for the second ones, dropped by x^5 / (x^4 + t^4); the domain transform's
recursive filter with standard deviations of 20 pixels and 0.033 grey values. It runs
twice: as published, on an image that is padded and faded out, by FFT; and by converged
conjugate gradients with the border of the stages here, where what lies outside is
unknown. The better one is what counts. Photographs in grey at half size, random camera
motions, noise of standard deviation 0.01; rates were chosen on training photographs.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from adam import Adam
from numpy.typing import NDArray
from scipy.signal import correlate2d
from tqdm import tqdm

import pyrev

Array = NDArray[np.float64]
Watch = Callable[[float], None]

WIDTH = 15
"""The kernels of the blur are WIDTH x WIDTH."""
NOISE = 0.01
"""Standard deviation of the noise."""
CELL, DEPTH = 4, 24
"""Cells of the bilateral grid: 4 x 4 pixels, 1 / 24 of the range of grey values."""
SUPPORT = 5
"""The filters of the priors are SUPPORT x SUPPORT."""
LEARNED = "filters", "weights", "thresholds", "spreads"


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


# The derivatives of `objective`, as functions like the others here.
_adjoint = pyrev.differentiable(objective, wrt="image").adjoint
slope_of = _adjoint.python
bend_of = pyrev.differentiable(_adjoint, wrt="image").tangent.python


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


def minimise(path, observed, blur, filters, weights, targets):
    """Nonlinear conjugate gradients (Polak and Ribiere) from path[0] on.

    path [step, n, height, width] gets the images after each step: what stays is not
    recorded for the adjoint. Each image has its own steps, whose lengths are Newton's
    along the direction.
    """
    slopes = np.zeros_like(path)
    directions = np.zeros_like(path)
    slope = gradient(path[0], observed, blur, filters, weights, targets)
    for n in range(path.shape[1]):
        for y in range(path.shape[2]):
            for x in range(path.shape[3]):
                slopes[0, n, y, x] = slope[n, y, x]
                directions[0, n, y, x] = -slope[n, y, x]
    for k in range(path.shape[0] - 1):
        bend = curvature(
            path[k], observed, blur, filters, weights, targets, directions[k]
        )
        for n in range(path.shape[1]):
            down = 0.0
            across = 1e-30  # nothing moves where the slope is zero already
            for y in range(path.shape[2]):
                for x in range(path.shape[3]):
                    down -= slopes[k, n, y, x] * directions[k, n, y, x]
                    across += directions[k, n, y, x] * bend[n, y, x]
            length = down / across
            for y in range(path.shape[2]):
                for x in range(path.shape[3]):
                    path[k + 1, n, y, x] = (
                        path[k, n, y, x] + length * directions[k, n, y, x]
                    )
        after = gradient(path[k + 1], observed, blur, filters, weights, targets)
        for n in range(path.shape[1]):
            for y in range(path.shape[2]):
                for x in range(path.shape[3]):
                    slopes[k + 1, n, y, x] = after[n, y, x]
            change = 0.0
            before = 1e-30
            for y in range(path.shape[2]):
                for x in range(path.shape[3]):
                    change += slopes[k + 1, n, y, x] * (
                        slopes[k + 1, n, y, x] - slopes[k, n, y, x]
                    )
                    before += slopes[k, n, y, x] * slopes[k, n, y, x]
            keep = max(change / before, 0.0)
            for y in range(path.shape[2]):
                for x in range(path.shape[3]):
                    directions[k + 1, n, y, x] = (
                        keep * directions[k, n, y, x] - slopes[k + 1, n, y, x]
                    )


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


@dataclass(frozen=True)
class Settings:
    """What training may be told; `steps` are the solver's in each stage."""

    iterations: int = 50
    batch: int = 2
    size: int = 64
    stages: int = 4
    steps: int = 10
    rate: float = 0.05
    filter_rate: float = 0.02
    target: pyrev.TargetName = "auto"


@dataclass(frozen=True)
class Parameters:
    """All that is learned; the first axis is the stage.

    Weights, thresholds and spreads are logarithms, so that they stay positive. The
    first stage has no targets: its thresholds and spreads are not used.
    """

    filters: Array
    weights: Array
    thresholds: Array
    spreads: Array

    def stages(self) -> list[tuple[Array, Array, Array, Array]]:
        """Filters, weights, thresholds and spreads of each stage."""
        found = zip(
            self.filters, self.weights, self.thresholds, self.spreads, strict=True
        )
        return list(found)


def start(stages: int) -> Parameters:
    """The published parameters; stages after the second are as the second.

    The published filter has no grid, so the grid's spreads are no published ones.
    """
    weights = np.full((stages, len(THRESHOLDS)), WEIGHTS[1])
    weights[0] = WEIGHTS[0]
    return Parameters(
        np.stack([published_filters(SUPPORT)] * stages),
        np.log(weights),
        np.log(np.stack([THRESHOLDS] * stages)),
        np.full((stages, 2), math.log(0.7)),
    )


class Network:
    """The stages in a row, and the derivatives of all of them."""

    def __init__(self, steps: int, target: pyrev.TargetName = "auto") -> None:
        self.steps = steps
        self.minimise, self.aim, self.distance = (
            pyrev.differentiable(loop, target=target)
            for loop in (minimise, aim, distance)
        )

    def started(self, images: Array) -> Array:
        """A path from these images on, its other steps empty."""
        path = np.zeros((self.steps + 1, *images.shape))
        path[0] = images
        return path

    def run(self, p: Parameters, observed: Array, blur: Array) -> list[Array]:
        """What each stage makes of the observed images."""
        images = widened(observed, blur.shape[1])
        targets = no_targets(images, p.filters[0])
        found: list[Array] = []
        for filters, weights, thresholds, spreads in p.stages():
            if found:
                self.aim(images, filters, thresholds, spreads, CELL, DEPTH, targets)
            path = self.started(images)
            self.minimise(path, observed, blur, filters, weights, targets)
            images = path[-1]
            found.append(images)
        return found

    def slope(
        self, p: Parameters, observed: Array, blur: Array, truth: Array
    ) -> tuple[float, Parameters]:
        """The loss and its gradient: all stages forwards, then backwards."""
        images = widened(observed, blur.shape[1])
        targets = no_targets(images, p.filters[0])
        of_aims: list[Callable[..., Any]] = []
        of_solvers: list[Callable[..., Any]] = []
        for filters, weights, thresholds, spreads in p.stages():
            if of_solvers:
                targets = np.zeros_like(targets)
                _, pull = pyrev.vjp(
                    self.aim,
                    *(images, filters, thresholds, spreads, CELL, DEPTH, targets),
                    wrt=("image", "filters", "thresholds", "spreads"),
                )
                of_aims.append(pull)
            path = self.started(images)
            _, pull = pyrev.vjp(
                self.minimise,
                *(path, observed, blur, filters, weights, targets),
                wrt=("path", "filters", "weights", "targets"),
            )
            of_solvers.append(pull)
            images = path[-1]
        margin = blur.shape[1] // 2
        loss, pull = pyrev.vjp(self.distance, images, truth, margin, wrt="image")
        d_images = pull(1.0).image
        slope = Parameters(*(np.zeros_like(getattr(p, name)) for name in LEARNED))
        for stage in reversed(range(len(of_solvers))):
            d_path = np.zeros_like(path)
            d_path[-1] = d_images
            g = of_solvers[stage](path=d_path)
            d_images = g.path[0]
            slope.filters[stage] = g.filters
            slope.weights[stage] = g.weights
            if stage:
                # This stage starts at the images of the last one, and aims at them.
                h = of_aims[stage - 1](targets=g.targets)
                d_images = d_images + h.image
                slope.filters[stage] += h.filters
                slope.thresholds[stage] = h.thresholds
                slope.spreads[stage] = h.spreads
        return float(loss), slope


def widened(observed: Array, width: int) -> Array:
    """A first guess of the images: the blurred ones, their borders repeated."""
    side = (width // 2, width // 2)
    return np.pad(observed, ((0, 0), side, side), mode="edge")


def no_targets(images: Array, filters: Array) -> Array:
    """Zeros, of the shape of what the filters make of the images."""
    n, height, width = images.shape
    count, j, i = filters.shape
    return np.zeros((n, count, height - j + 1, width - i + 1))


# ------------------------------------------------------------------ the baseline

WEIGHTS = 1e-3, 5e-2
"""Of the prior in the first stage and in the second one."""
THRESHOLDS = 0.065, 0.065, 0.0325, 0.0325, 0.0325
"""Below them derivatives are noise: first ones, then second ones."""
SPACE, GREY = 20.0, 0.033
"""Standard deviations of the edge-preserving filter, in pixels and grey values."""


def published_filters(size: int) -> Array:
    """The derivatives of the published prior: two first and three second ones."""
    root = math.sqrt(2)
    across, bent, mixed = np.zeros((3, 3, 3))
    across[1] = -0.5, 0.0, 0.5
    bent[1] = -1 / root, 2 / root, -1 / root
    mixed[:2, :2] = (-root, root), (root, -root)
    found = np.stack((across, across.T, bent, bent.T, mixed))
    side = ((size - 3) // 2,) * 2
    return np.pad(found, ((0, 0), side, side))


def domain_transform(image: Array, space: float, grey: float) -> Array:
    """The edge-preserving recursive filter of Gastal and Oliveira 2011, three times."""
    out = image.copy()
    gaps = [1 + space / grey * np.abs(np.diff(image, axis=axis)) for axis in (0, 1)]
    for k in range(3):
        sigma = space * math.sqrt(3) * 2 ** (2 - k) / math.sqrt(4**3 - 1)
        for axis in (1, 0):
            keep = np.moveaxis(np.exp(-math.sqrt(2) / sigma * gaps[axis]), axis, 0)
            rows = np.moveaxis(out, axis, 0)  # a view
            for x in range(1, len(rows)):
                rows[x] += keep[x - 1] * (rows[x - 1] - rows[x])
            for x in range(len(rows) - 2, -1, -1):
                rows[x] += keep[x] * (rows[x + 1] - rows[x])
    return out


def dropped(found: Array, threshold: float) -> Array:
    """The smooth threshold of `aim`."""
    return np.asarray(found**5 / (found**4 + threshold**4), np.float64)


def faded(observed: Array, pad: int) -> tuple[Array, Array]:
    """The image with its border repeated and faded out, and what it was faded by."""
    fades = []
    for size in observed.shape:
        full = size + 2 * pad
        middle = full // 2
        edge = middle - pad
        order = math.ceil(0.5 * math.log(0.99 / 0.01) / math.log((middle + 1) / edge))
        fades.append(1 / (1 + (np.abs(np.arange(full) - middle) / edge) ** (2 * order)))
    fade = np.outer(*fades)
    return np.pad(observed, pad, mode="edge") * fade, fade


def two_stages(observed: Array, blur: Array) -> Array:
    """Fortunato and Oliveira's method for one image: padded, faded, by FFT."""
    pad = 2 * (blur.shape[0] // 2)
    known, fade = faded(observed, pad)

    def transfer(kernel: Array) -> NDArray[np.complex128]:
        big = np.zeros_like(known)
        big[: kernel.shape[0], : kernel.shape[1]] = kernel
        centred = np.roll(
            big, (-(kernel.shape[0] // 2), -(kernel.shape[1] // 2)), (0, 1)
        )
        return np.conj(np.fft.fft2(centred))  # of a correlation

    through = transfer(blur)
    filters = [transfer(kernel) for kernel in published_filters(3)]
    data = np.conj(through) * np.fft.fft2(known)
    prior = sum(np.abs(one) ** 2 for one in filters)
    power = np.abs(through) ** 2
    first = np.fft.ifft2(data / (power + WEIGHTS[0] * prior)).real
    clean = np.fft.fft2(domain_transform(first, SPACE, GREY))
    for one, threshold in zip(filters, THRESHOLDS, strict=True):
        target = dropped(np.fft.ifft2(one * clean).real, threshold)
        data += WEIGHTS[1] * np.conj(one) * np.fft.fft2(target)
    second = np.fft.ifft2(data / (power + WEIGHTS[1] * prior)).real
    inside = slice(pad, -pad)
    return np.asarray((second / fade)[inside, inside], np.float64)


def two_stages_here(
    network: Network, observed: Array, blur: Array, rounds: int = 6
) -> Array:
    """The same method, but nothing is assumed beyond the border, as in the network.

    Conjugate gradients are run until they have converged, in rounds of the network's
    number of steps.
    """
    filters = published_filters(SUPPORT)
    images = widened(observed, blur.shape[1])
    targets = no_targets(images, filters)
    for stage, weight in enumerate(WEIGHTS):
        if stage:
            for image, target in zip(images, targets, strict=True):
                clean = domain_transform(image, SPACE, GREY)
                for f, threshold in enumerate(THRESHOLDS):
                    found = correlate2d(clean, filters[f], mode="valid")
                    target[f] = dropped(found, threshold)
        weights = np.full(len(filters), math.log(weight))
        for _ in range(rounds):
            path = network.started(images)
            network.minimise(path, observed, blur, filters, weights, targets)
            images = path[-1]
    return images


# ------------------------------------------------------------------ the experiment

TRAINING = "astronaut", "cat", "rocket", "coins"
"""Photographs that scikit-image ships, and that the parameters are trained on."""
TESTING = "camera", "coffee", "motorcycle"
"""Other ones, on which nothing was chosen."""


def photograph(name: str) -> Array:
    """A photograph in grey, at half its size."""
    from skimage import data

    found = data.stereo_motorcycle()[0] if name == "motorcycle" else None
    found = getattr(data, name)() if found is None else found
    photo = np.asarray(found, np.float64) / 255
    if photo.ndim == 3:
        photo = photo[..., :3] @ (0.299, 0.587, 0.114)
    height, width = photo.shape[0] // 2, photo.shape[1] // 2
    blocks = photo[: 2 * height, : 2 * width].reshape(height, 2, width, 2)
    return np.asarray(blocks.mean((1, 3)), np.float64)


def motion(rng: np.random.Generator) -> Array:
    """The kernel of a random motion of the camera, its centroid at the centre.

    A point whose direction changes a little all the time, and now and then by a jolt
    (in the manner of Boracchi and Foi 2012, as Kupyn et al. 2017 have it).
    """
    heading = rng.uniform(0, 2 * math.pi)
    shake, jolts = rng.uniform(0.02, 0.12), rng.uniform(0.0, 0.01)
    turns = shake * rng.normal(size=400)
    turns += (rng.random(400) < jolts) * rng.uniform(0.5, 1.5, 400) * math.pi
    path = np.cumsum(np.exp(1j * (heading + np.cumsum(turns))))
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


def shots(
    photos: Sequence[Array], size: int, rng: np.random.Generator
) -> tuple[Array, Array, Array]:
    """Of each photograph a random part, blurred by a motion of its own, with noise.

    Returns what the camera recorded [n, size, size], the kernels, and the truth, which
    is larger: the recorded images are valid correlations.
    """
    observed, blurs, truths = [], [], []
    whole = size + WIDTH - 1
    for photo in photos:
        top, left = (int(rng.integers(n - whole + 1)) for n in photo.shape)
        truth, blur = photo[top : top + whole, left : left + whole], motion(rng)
        seen = correlate2d(truth, blur, mode="valid")
        observed.append(seen + rng.normal(0, NOISE, seen.shape))
        blurs.append(blur)
        truths.append(truth)
    return np.stack(observed), np.stack(blurs), np.stack(truths)


def train(
    network: Network,
    p: Parameters,
    photos: Sequence[Array],
    settings: Settings,
    rng: np.random.Generator,
    watch: Watch,
) -> None:
    """Adam on all parameters, in place, on other parts and other blurs at each step."""
    adams = {
        name: Adam(
            getattr(p, name),
            settings.filter_rate if name == "filters" else settings.rate,
        )
        for name in LEARNED
    }
    for k in range(settings.iterations):
        chosen = [photos[i] for i in rng.integers(len(photos), size=settings.batch)]
        observed, blurs, truths = shots(chosen, settings.size, rng)
        loss, slope = network.slope(p, observed, blurs, truths)
        factor = 0.5 + 0.5 * math.cos(math.pi * k / settings.iterations)
        for name, adam in adams.items():
            adam.step(getattr(slope, name), factor)
        watch(loss)


def psnr(images: Array, truths: Array) -> Array:
    """Peak signal to noise ratio of each image in dB.

    As in the published comparison, the outer half kernel of what was recorded does not
    count. Images may cover what was recorded, or all that it was made of.
    """
    side = WIDTH - 1
    cut = side - (truths.shape[1] - images.shape[1]) // 2
    errors = images[:, cut:-cut, cut:-cut] - truths[:, side:-side, side:-side]
    return np.asarray(-10 * np.log10(np.mean(errors**2, (1, 2))), np.float64)


@dataclass(frozen=True)
class Result:
    """Everything that the figure shows; images are those of the test."""

    truths: Array
    images: dict[str, Array]
    blurs: Array
    learned: Parameters
    losses: list[float]
    seconds: float

    @property
    def psnr(self) -> dict[str, float]:
        """Mean over the test photographs, in dB."""
        return {
            name: float(psnr(found, self.truths).mean())
            for name, found in self.images.items()
        }

    @property
    def gain(self) -> float:
        """Of the learned stages over the better one of both baselines."""
        found = self.psnr
        return found["learned"] - max(found["published"], found["published, here"])

    def missed(self) -> list[str]:
        """The bars that this run did not reach."""
        return [] if self.gain >= 1 else ["1 dB more than the published method"]

    def summary(self) -> str:
        """The figures, one a line."""
        missed = "missed: " + "; ".join(self.missed()) if self.missed() else "reached"
        return "\n".join(
            (
                *(f"{name:<24}{found:6.2f} dB" for name, found in self.psnr.items()),
                f"gain                    {self.gain:+6.2f} dB to the better baseline",
                f"time                    {self.seconds:6.1f} s of training",
                f"bars                    {missed}",
            )
        )


def solve(
    settings: Settings | None = None,
    *,
    parts: int = 3,
    size: int = 96,
    seed: int = 0,
    progress: bool = True,
) -> Result:
    """Train on some photographs, and restore `parts` parts of each other one."""
    settings = settings or Settings()
    network = Network(settings.steps, settings.target)
    test = [photograph(name) for name in TESTING for _ in range(parts)]
    observed, blurs, truths = shots(test, size, np.random.default_rng([seed, 1]))
    p = start(settings.stages)
    images = {
        "blurred": observed,
        "published": np.stack(
            [two_stages(one, blur) for one, blur in zip(observed, blurs, strict=True)]
        ),
        "published, here": two_stages_here(network, observed, blurs),
        "before training": network.run(p, observed, blurs)[-1],
    }
    losses: list[float] = []
    with tqdm(
        total=settings.iterations,
        desc="training",
        unit="step",
        disable=None if progress else True,
    ) as bar:

        def watch(loss: float) -> None:
            losses.append(loss)
            bar.set_postfix(PSNR=f"{-loss:.2f}", refresh=False)
            bar.update()

        began = time.perf_counter()
        rng = np.random.default_rng([seed, 0])
        train(network, p, [photograph(n) for n in TRAINING], settings, rng, watch)
        seconds = time.perf_counter() - began
    images["learned"] = network.run(p, observed, blurs)[-1]
    return Result(truths, images, blurs, p, losses, seconds)


def check() -> pyrev.GradientReport:
    """The gradients through two steps of the solver against differences."""
    rng = np.random.default_rng(3)
    path, observed, blur = (
        np.zeros((3, 1, 4, 4)),
        rng.random((1, 3, 3)),
        np.ones((1, 2, 2)),
    )
    path[0] = rng.random((1, 4, 4))
    filters, targets = rng.normal(size=(1, 2, 2)), rng.normal(size=(1, 1, 3, 3))
    solver = pyrev.differentiable(minimise, target="python")
    return pyrev.check_grad(
        solver, path, observed, blur, filters, np.array([-1.0]), targets
    )


def draw(result: Result, path: Path) -> None:
    """Save the figure: parts of two photographs, and the learned filters."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13, 8.2), layout="constrained")
    FigureCanvasAgg(figure)
    above, below = np.asarray(figure.subfigures(2, 1, height_ratios=(2, 1)))
    names = "truth", "blurred", "published, here", "learned"
    shown = [0, len(result.truths) - 1]
    side = WIDTH - 1
    for axes, n in zip(above.subplots(2, 4), shown, strict=True):
        truth = result.truths[n : n + 1]
        for axis, name in zip(axes, names, strict=True):
            images = truth if name == "truth" else result.images[name][n : n + 1]
            cut = side - (truth.shape[1] - images.shape[1]) // 2
            title = name
            if name != "truth":
                title = f"{name}: {psnr(images, truth)[0]:.2f} dB"
            axis.imshow(images[0, cut:-cut, cut:-cut], cmap="gray", vmin=0, vmax=1)
            axis.set(title=title, xticks=[], yticks=[])
        inset = axes[1].inset_axes((0.74, 0.0, 0.26, 0.26))
        inset.imshow(result.blurs[n], cmap="magma")
        inset.set(xticks=[], yticks=[])
    stages, count = result.learned.filters.shape[:2]
    grid = below.subplots(stages, count, squeeze=False)
    below.suptitle("learned filters of each stage, times the roots of their weights")
    for row, filters, weights in zip(
        grid, result.learned.filters, result.learned.weights, strict=True
    ):
        strong = filters * np.exp(0.5 * weights)[:, None, None]
        top = np.abs(strong).max()
        for axis, kernel in zip(row, strong, strict=True):
            axis.imshow(kernel, cmap="RdBu", vmin=-top, vmax=top)
            axis.set(xticks=[], yticks=[])
    figure.savefig(path, dpi=80)


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python examples/deconvolution.py",
        description=(__doc__ or "").split("\n")[0],
    )
    add = parser.add_argument
    iterations = Settings.iterations
    add("--iterations", type=int, default=iterations, help=f"default {iterations}")
    add("--size", type=int, default=96, help="pixels of a test image (default 96)")
    add("--parts", type=int, default=3, help="of each test photograph (default 3)")
    add("--seed", type=int, default=0, help="of parts, blurs and noise (default 0)")
    add("--output", type=Path, default=Path("deconvolution.png"))
    options = parser.parse_args(arguments)

    report = check()
    print(report)
    result = solve(
        Settings(iterations=options.iterations),
        parts=options.parts,
        size=options.size,
        seed=options.seed,
    )
    print(result.summary())
    draw(result, options.output)
    print(f"figure                  {options.output}")
    return 0 if report and not result.missed() else 1


if __name__ == "__main__":
    sys.exit(main())
