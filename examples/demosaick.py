"""Demosaicking: the filters of AHD, learned from photographs by gradient descent.

    python examples/demosaick.py --output demosaick.png

Each pixel of a sensor sees one colour of a Bayer mosaic. Adaptive homogeneity-directed
demosaicking (AHD, Hirakawa and Parks 2005) makes one candidate image with a horizontal
filter for green and one with a vertical filter, takes red and blue from bilinearly
interpolated differences to green, and chooses between the candidates, pixel by pixel,
where the colour differences are most homogeneous. Here candidates are not chosen but
averaged, with weights that fall with the local change of their colour differences, so
that the result has derivatives; the median filter at AHD's end is left out.

The filters for green are then learned, 2, 9 or 15 of them, with 5 x 5 or 7 x 7 taps,
and for each of them, with 7 x 7 taps, two filters that interpolate a colour difference,
from what is known of it and of the other one, and two that measure change. The task is
that of Li, Gharbi, Adams, Durand and Ragan-Kelley, Differentiable Programming for Image
Processing and Deep Learning in Halide (2018), section 5.2.1.

The baseline is the same pipeline with AHD's filters: green from five taps in a row or a
column, and bilinear interpolation. It shares the mosaic, the averaging with weights and
their window of 3 x 3; the probes that measure change start as AHD's differences of
neighbours, and are fitted to the training photographs there, too. From there the
filters for green, those that interpolate the colour differences, and the probes are
learned together. Filters with 7 x 7 taps start from learned ones with 5 x 5, and more
filters from fewer and from estimates of green from one side, a corner, or three sides.
The lower quarter of each training photograph is held out: where learning further did
not improve it, the filters stay as they were.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from adam import Adam
from numpy.typing import NDArray
from tqdm import tqdm

import pyrev

Array = NDArray[np.float32]
Watch = Callable[[float], None]

TRAINED_ON = (
    "astronaut",
    "motorcycle",
    "grace_hopper",
    "immunohistochemistry",
    "hubble_deep_field",
)
TESTED_ON = ("chelsea", "coffee", "rocket")
"""Photographs that scikit-image ships, and one of Matplotlib."""
VARIANTS = ((2, 5), (9, 5), (15, 5), (2, 7), (9, 7), (15, 7))
"""Number of filters, and their taps along x and y."""
MOST, TAPS = 15, 7
"""All variants run in arrays of this size: fewer taps are a rim of zeros."""
MARGIN = 8
"""Pixels at the border that are seen and not made."""
TILE = 64
"""Pixels along a crop, with its margin."""
ROWS, COLUMNS = 2, 4
"""Crops are laid side by side in one mosaic, as many as these."""


# ------------------------------------------------------------------ the loops

# A mosaic [y, x] has red where y and x are even, blue where both are odd, and green
# elsewhere; `sites` [3, y, x] is 1 where it has that colour, else 0. What is called
# colour is red minus green [k, 0, y, x] and blue minus green [k, 1, y, x] of
# candidate k. The first `count` filters are in use.


def interpolate(mosaic, filters, count, green):
    """Green, as each filter [k, 7, 7] makes it from the mosaic."""
    for y in range(3, mosaic.shape[0] - 3):
        for k in range(count):
            for x in range(3, mosaic.shape[1] - 3):
                for j in range(filters.shape[1]):
                    for i in range(filters.shape[2]):
                        green[k, y, x] += (
                            filters[k, j, i] * mosaic[y + j - 3, x + i - 3]
                        )


def subtract(mosaic, sites, green, count, known):
    """The colour where the mosaic has red or blue, and zeros elsewhere."""
    for y in range(3, mosaic.shape[0] - 3):
        for k in range(count):
            for c in range(2):
                for x in range(3, mosaic.shape[1] - 3):
                    known[k, c, y, x] = sites[2 * c, y, x] * (
                        mosaic[y, x] - green[k, y, x]
                    )


def spread(known, tents, count, colour):
    """The colour at all pixels, by filters [k, 2, 7, 7] of what is known.

    The first is for the same of the two differences, the second for the other one.
    """
    for y in range(6, known.shape[2] - 6):
        for k in range(count):
            for c in range(2):
                for x in range(6, known.shape[3] - 6):
                    for j in range(tents.shape[2]):
                        for i in range(tents.shape[3]):
                            colour[k, c, y, x] += (
                                tents[k, 0, j, i] * known[k, c, y + j - 3, x + i - 3]
                                + tents[k, 1, j, i]
                                * known[k, 1 - c, y + j - 3, x + i - 3]
                            )


def respond(known, probes, count, response):
    """Change of the colour, by two filters [k, 2, 7, 7] of what is known."""
    for y in range(7, known.shape[2] - 7):
        for k in range(count):
            for c in range(2):
                for q in range(2):
                    for x in range(7, known.shape[3] - 7):
                        for j in range(probes.shape[2]):
                            for i in range(probes.shape[3]):
                                response[k, c, q, y, x] += (
                                    probes[k, q, j, i]
                                    * known[k, c, y + j - 3, x + i - 3]
                                )


def judge(response, count, unrest):
    """All of the change at each pixel."""
    for y in range(7, response.shape[3] - 7):
        for k in range(count):
            for x in range(7, response.shape[4] - 7):
                for c in range(2):
                    for q in range(2):
                        unrest[k, y, x] += response[k, c, q, y, x] ** 2


def weigh(unrest, count, weight):
    """Weights of the candidates: the more homogeneous over 3 x 3 pixels, the larger."""
    for y in range(8, unrest.shape[1] - 8):
        for k in range(count):
            for x in range(8, unrest.shape[2] - 8):
                total = 1e-6
                for j in range(-1, 2):
                    for i in range(-1, 2):
                        total += unrest[k, y + j, x + i]
                weight[k, y, x] = 1.0 / total


def merge(mosaic, sites, colour, weight, count, image):
    """The mean colour of the candidates, and the image that follows from it.

    Green is the mosaic less the colour that it has there, so with bilinear filters,
    which leave what is known as it is, each candidate has the green of its filter.
    """
    for y in range(8, mosaic.shape[0] - 8):
        for x in range(8, mosaic.shape[1] - 8):
            whole = 0.0
            r = 0.0
            b = 0.0
            for k in range(count):
                whole += weight[k, y, x]
                r += weight[k, y, x] * colour[k, 0, y, x]
                b += weight[k, y, x] * colour[k, 1, y, x]
            r /= whole
            b /= whole
            g = mosaic[y, x] - sites[0, y, x] * r - sites[2, y, x] * b
            image[0, y, x] = g + r
            image[1, y, x] = g
            image[2, y, x] = g + b


def demosaick(mosaic, sites, filters, tents, probes, count, image):
    """The image [3, y, x], but for the margin."""
    green = np.zeros((count, mosaic.shape[0], mosaic.shape[1]), dtype=mosaic.dtype)
    known = np.zeros((count, 2, mosaic.shape[0], mosaic.shape[1]), dtype=mosaic.dtype)
    colour = np.zeros_like(known)
    response = np.zeros(
        (count, 2, 2, mosaic.shape[0], mosaic.shape[1]), dtype=mosaic.dtype
    )
    unrest = np.zeros_like(green)
    weight = np.zeros_like(green)
    interpolate(mosaic, filters, count, green)
    subtract(mosaic, sites, green, count, known)
    spread(known, tents, count, colour)
    respond(known, probes, count, response)
    judge(response, count, unrest)
    weigh(unrest, count, weight)
    merge(mosaic, sites, colour, weight, count, image)


def loss(mosaic, truth, counted, sites, filters, tents, probes, count, image):
    """The squared error of the image, each pixel as much as it counts [y, x]."""
    demosaick(mosaic, sites, filters, tents, probes, count, image)
    total = 0.0
    for y in range(truth.shape[1]):
        for c in range(3):
            for x in range(truth.shape[2]):
                error = image[c, y, x] - truth[c, y, x]
                total += counted[y, x] * error * error
    return total


# ------------------------------------------------------------------ the filters


@dataclass(frozen=True)
class Filters:
    """What the pipeline is told: the first `count` of arrays that hold `MOST`.

    `taps` is how many the filters for green have; the others always have `TAPS`.
    """

    count: int
    taps: int
    filters: Array
    tents: Array
    probes: Array

    @property
    def learned(self) -> tuple[Array, ...]:
        return self.filters, self.tents, self.probes

    @property
    def free(self) -> tuple[Array, ...]:
        """1 for the taps that may change, 0 for the others: [7, 7] for each array."""
        return rim(self.taps), rim(TAPS), rim(TAPS)


def rim(taps: int) -> Array:
    """1 for the taps that a filter has, 0 for the others [7, 7]."""
    inside = np.zeros((TAPS, TAPS), np.float32)
    reach, middle = taps // 2, TAPS // 2
    part = slice(middle - reach, middle + reach + 1)
    inside[part, part] = 1
    return inside


def ahd() -> Filters:
    """The filters of AHD: one along rows, one along columns, and bilinear ones.

    Its homogeneity compares the neighbours along the filter: differences of colour that
    was spread bilinearly. A little of the other direction beside that lets a probe
    learn: the derivative of the square of zeros is zero.
    """
    filters = np.zeros((MOST, TAPS, TAPS), np.float32)
    filters[0, 3, 1:6] = filters[1, 1:6, 3] = (-0.25, 0.5, 0.5, 0.5, -0.25)
    tents = np.zeros((MOST, 2, TAPS, TAPS), np.float32)
    tents[:2, 0, 2:5, 2:5] = np.outer([1, 2, 1], [1, 2, 1]) / 4
    right = np.zeros((TAPS, TAPS), np.float32)
    right[:, 1:] = tents[0, 0, :, :-1]
    right[:, :-1] -= tents[0, 0, :, 1:]
    probes = np.zeros((MOST, 2, TAPS, TAPS), np.float32)
    probes[0] = right, 0.25 * right.T
    probes[1] = 0.25 * right, right.T
    return Filters(2, 5, filters, tents, probes)


SIDES = (0, -1), (0, 1), (-1, 0), (1, 0)
FURTHER = (
    *np.eye(4),
    (1 / 4, 1 / 4, 1 / 4, 1 / 4),
    (1 / 2, 0, 1 / 2, 0),
    (0, 1 / 2, 0, 1 / 2),
    (0, 1 / 2, 1 / 2, 0),
    (1 / 2, 0, 0, 1 / 2),
    *(1 - np.eye(4)) / 3,
)
"""What further filters take of the estimates from the left, right, top and bottom."""


def from_side(dy: int, dx: int) -> Array:
    """Green from the neighbour there, and half the change of colour on the way."""
    made = np.zeros((TAPS, TAPS), np.float32)
    middle = TAPS // 2
    for steps, weight in enumerate((0.5, 1.0, -0.5)):
        made[middle + steps * dy, middle + steps * dx] = weight
    return made


def more(start: Filters, count: int) -> Filters:
    """Filters from fewer, which begin with those along rows and along columns.

    AHD's two take the mean of the estimates from both sides. Further ones are from one
    side, from two at a corner, from three, and from all. Each begins with a small part
    of the weight of one that was there, the smaller the more there were.
    """
    filters, tents, probes = (each.copy() for each in start.learned)
    sides = np.stack([from_side(dy, dx) for dy, dx in SIDES])
    for k in range(start.count, count):
        part = np.asarray(FURTHER[k - 2], np.float32)
        rows, columns = part[:2].sum(), part[2:].sum()
        filters[k] = np.tensordot(part, sides, 1)
        tents[k] = rows * tents[0] + columns * tents[1]
        along = 0 if rows >= columns else 1, 1 if columns >= rows else 0
        change = np.stack([probes[way, q] for q, way in enumerate(along)])
        probes[k] = math.sqrt(2 * start.count) * change
    return Filters(count, start.taps, filters, tents, probes)


def copies(start: Filters, count: int) -> Filters:
    """As many filters that make the image that fewer make.

    The copies of a filter share its weight, which falls with the square of its probes.
    """
    origin = np.arange(count) % start.count
    arrays = [each.copy() for each in start.learned]
    for array in arrays:
        array[:count] = array[origin]
    arrays[-1][:count] *= np.sqrt(np.bincount(origin)[origin])[:, None, None, None]
    return Filters(count, start.taps, *arrays)


# ------------------------------------------------------------------ photographs


def photograph(name: str) -> Array:
    """A photograph at half its size [y, x, 3], in [0, 1], with a mirrored margin.

    Means over 2 x 2 pixels hide what demosaicking and compression did to it before.
    """
    from skimage import data

    if name == "grace_hopper":
        from matplotlib import get_data_path, image

        found = image.imread(Path(get_data_path(), "sample_data", f"{name}.jpg"))
    elif name == "motorcycle":
        found = data.stereo_motorcycle()[0]
    else:
        found = getattr(data, name)()
    # An even size keeps the colours of the mosaic in order when it is mirrored.
    height, width = (size // 4 * 2 for size in found.shape[:2])
    photo = np.asarray(found[: 2 * height, : 2 * width, :3], np.float64) / 255
    photo = photo.reshape(height, 2, width, 2, 3).mean((1, 3))
    margins = ((MARGIN, MARGIN), (MARGIN, MARGIN), (0, 0))
    return np.pad(photo, margins, mode="reflect").astype(np.float32)


def parts(photo: Array) -> tuple[Array, Array]:
    """The upper three quarters of a photograph, to learn from, and those held out."""
    cut = photo.shape[0] * 3 // 8 * 2
    return photo[:cut], photo[cut:]


def sites_of(height: int, width: int) -> Array:
    """Where the mosaic has red, green and blue."""
    y, x = np.indices((height, width))
    return np.stack([y % 2 + x % 2 == c for c in range(3)]).astype(np.float32)


@dataclass
class Sheet:
    """Crops of photographs side by side, and their mosaic."""

    truth: Array
    counted: Array
    mosaic: Array
    image: Array

    @classmethod
    def of(cls, crops: Sequence[tuple[Array, Array]]) -> Sheet:
        """Crops [TILE, TILE, 3], and how much each of their pixels counts."""
        shape = (ROWS * TILE, COLUMNS * TILE)
        truth = np.zeros((3, *shape), np.float32)
        counted = np.zeros(shape, np.float32)
        for n, (crop, counts) in enumerate(crops):
            top, left = TILE * (n // COLUMNS), TILE * (n % COLUMNS)
            place = np.s_[top : top + TILE, left : left + TILE]
            truth[:, *place] = crop.transpose(2, 0, 1)
            counted[place] = counts
        mosaic = (truth * sites_of(*shape)).sum(0)
        return cls(truth, counted, mosaic, np.zeros_like(truth))


def random_crops(
    photos: Sequence[Array], importance: Sequence[float], rng: np.random.Generator
) -> Sheet:
    """A sheet to learn from: crops in turn from all photographs, turned at random."""
    crops = []
    for n in range(ROWS * COLUMNS):
        photo = photos[n % len(photos)]
        top, left = (rng.integers(size - TILE + 1) for size in photo.shape[:2])
        crop = photo[top : top + TILE, left : left + TILE]
        flips = rng.random(4) < 0.5
        crop = crop[::-1] if flips[0] else crop
        crop = crop[:, ::-1] if flips[1] else crop
        crop = crop.transpose(1, 0, 2) if flips[2] else crop
        crop = crop[..., ::-1] if flips[3] else crop
        counts = np.zeros((TILE, TILE), np.float32)
        counts[MARGIN:-MARGIN, MARGIN:-MARGIN] = importance[n % len(photos)]
        crops.append((crop, counts))
    return Sheet.of(crops)


def tiles(photo: Array) -> Iterator[tuple[int, int, Array, Array]]:
    """Crops in which each pixel of the photograph counts once, and their corners."""
    step = TILE - 2 * MARGIN
    height, width = (size - 2 * MARGIN for size in photo.shape[:2])
    for y in range(0, height, step):
        for x in range(0, width, step):
            top, left = min(y, height - step), min(x, width - step)
            counts = np.zeros((TILE, TILE), np.float32)
            counts[MARGIN + y - top : -MARGIN, MARGIN + x - left : -MARGIN] = 1
            yield top, left, photo[top : top + TILE, left : left + TILE], counts


# ------------------------------------------------------------------ learning


@dataclass(frozen=True)
class Settings:
    """How the filters are learned.

    Rates fall to zero along half a cosine.
    """

    steps: tuple[int, int, int] = (1200, 400, 300)
    """Adam steps with 2, 9 and 15 filters; more filters start from fewer."""
    baseline_steps: int = 800
    """For the probes of the baseline."""
    rates: tuple[float, float, float] = (4e-3, 2e-3, 2e-3)
    seed: int = 0

    def shortened(self, part: float) -> Settings:
        """The same with a part of all steps, to try things out."""
        two, nine, fifteen = (max(1, round(part * each)) for each in self.steps)
        baseline = max(1, round(part * self.baseline_steps))
        return replace(self, steps=(two, nine, fifteen), baseline_steps=baseline)


NAMES = ("filters", "tents", "probes")
gradient = pyrev.value_and_grad(loss, wrt=NAMES)
SITES = sites_of(ROWS * TILE, COLUMNS * TILE)


def run(sheet: Sheet, count: int, learned: Sequence[Array]) -> tuple[float, Any]:
    """Error and gradient of a sheet, whose image is made."""
    filters, tents, probes = learned
    value, slope = gradient(
        sheet.mosaic,
        sheet.truth,
        sheet.counted,
        SITES,
        filters,
        tents,
        probes,
        count,
        sheet.image,
    )
    return float(value), slope


def learn(
    start: Filters,
    photos: Sequence[Array],
    importance: Sequence[float],
    steps: int,
    rate: float,
    seed: int,
    watch: Watch,
    *,
    only: Sequence[str] = NAMES,
) -> Filters:
    """Filters from random crops of the photographs; the arrays in `only` change."""
    rng = np.random.default_rng(seed)
    solvers = [
        Adam(
            each.copy(),
            rate,
            decays=(0.9, 0.99),
            least=1e-12,
            free=free * np.float32(name in only),
        )
        for name, each, free in zip(NAMES, start.learned, start.free, strict=True)
    ]
    for n in range(steps):
        sheet = random_crops(photos, importance, rng)
        error, slopes = run(sheet, start.count, [each.x for each in solvers])
        factor = 0.5 * (1 + math.cos(math.pi * n / steps))
        for name, solver in zip(NAMES, solvers, strict=True):
            solver.step(getattr(slopes, name), factor)
        watch(error)
    return Filters(start.count, start.taps, *(each.x for each in solvers))


def restore(photo: Array, filters: Filters) -> tuple[Array, float]:
    """The image from the mosaic of a photograph, and its PSNR in dB."""
    crops = list(tiles(photo))
    image = np.zeros_like(photo)
    error, per_sheet = 0.0, ROWS * COLUMNS
    for first in range(0, len(crops), per_sheet):
        part = crops[first : first + per_sheet]
        sheet = Sheet.of([(crop, counts) for _, _, crop, counts in part])
        error += run(sheet, filters.count, filters.learned)[0]
        for n, (top, left, _, _) in enumerate(part):
            y, x = TILE * (n // COLUMNS), TILE * (n % COLUMNS)
            made = sheet.image[:, y : y + TILE, x : x + TILE]
            inside = made[:, MARGIN:-MARGIN, MARGIN:-MARGIN].transpose(1, 2, 0)
            place = np.s_[
                top + MARGIN : top + TILE - MARGIN, left + MARGIN : left + TILE - MARGIN
            ]
            image[place] = inside
    whole = np.s_[MARGIN:-MARGIN, MARGIN:-MARGIN]
    return image[whole], -10 * math.log10(error / photo[whole].size)


def quality(photos: Sequence[Array], filters: Filters) -> float:
    """Mean PSNR in dB."""
    return sum(restore(photo, filters)[1] for photo in photos) / len(photos)


# ------------------------------------------------------------------ the experiment


@dataclass
class Result:
    """PSNR in dB of the photographs not learned from, and images for the figure."""

    baseline: dict[str, float]
    variants: dict[tuple[int, int], dict[str, float]]
    learned: dict[tuple[int, int], Filters]
    images: dict[str, Array]
    seconds: float

    def gain(self, variant: tuple[int, int]) -> float:
        """Mean over the photographs of PSNR less that of AHD's filters."""
        found = self.variants[variant]
        return sum(found[n] - self.baseline[n] for n in found) / len(found)

    def missed(self) -> list[str]:
        """The bars that this run did not reach."""
        missed = []
        if self.gain((2, 5)) < 0.6:
            missed.append("0.6 dB with 2 filters, 5 x 5")
        for taps in sorted({taps for _, taps in self.variants}):
            counts = sorted(count for count, each in self.variants if each == taps)
            gains = [self.gain((count, taps)) for count in counts]
            # Copies differ from their originals by rounding.
            if any(b < a - 1e-3 for a, b in pairwise(gains)):
                missed.append(f"more filters, {taps} x {taps}, do no worse")
        return missed

    def summary(self) -> str:
        """The figures, one a line."""
        names = list(self.baseline)
        lines = ["PSNR in dB        " + "".join(f"{name:>10}" for name in names)]
        rows = {"AHD's filters": self.baseline} | {
            f"{k:2} filters, {taps} x {taps}": found
            for (k, taps), found in self.variants.items()
        }
        for label, found in rows.items():
            line = f"{label:<18}" + "".join(f"{found[n]:10.2f}" for n in names)
            lines.append(line)
        for at, variant in enumerate(self.variants, 2):
            lines[at] += f"   {self.gain(variant):+.3f}"
        missed = "missed: " + "; ".join(self.missed()) if self.missed() else "reached"
        return "\n".join(
            (
                *lines,
                f"time              {self.seconds:10.1f} s",
                f"bars              {missed}",
            )
        )


def solve(
    settings: Settings | None = None,
    variants: Sequence[tuple[int, int]] = VARIANTS,
    *,
    trained_on: Sequence[str] = TRAINED_ON,
    tested_on: Sequence[str] = TESTED_ON,
    progress: bool = True,
) -> Result:
    """Learn the filters of all variants, and test them on other photographs."""
    began = time.perf_counter()
    settings = settings or Settings()
    whole = [parts(photograph(name)) for name in trained_on]
    photos, held_out = [list(each) for each in zip(*whole, strict=True)]
    others = {name: photograph(name) for name in tested_on}
    counts = (2, 9, 15)
    steps = dict(zip(counts, settings.steps, strict=True))
    rates = dict(zip(counts, settings.rates, strict=True))
    total = settings.baseline_steps + sum(steps[count] for count, _ in variants)
    with tqdm(
        total=total, desc="learning", unit="step", disable=None if progress else True
    ) as bar:

        def watch(error: float) -> None:
            bar.set_postfix(error=f"{error:.3f}", refresh=False)
            bar.update()

        # Each photograph counts alike: a step changes the sum of their PSNR.
        importance = [
            10 ** (restore(photo, ahd())[1] / 10 - 4) / len(photos) for photo in photos
        ]
        baseline = learn(
            ahd(),
            photos,
            importance,
            settings.baseline_steps,
            settings.rates[0],
            settings.seed,
            watch,
            only=("probes",),
        )
        restored = {name: restore(photo, baseline) for name, photo in others.items()}
        images = {f"AHD {name}": image for name, (image, _) in restored.items()}
        result = Result(
            {name: found for name, (_, found) in restored.items()}, {}, {}, images, 0.0
        )
        for count, taps in variants:
            fewer = [n for n, each in result.learned if each == taps and n < count]
            if fewer:
                known = result.learned[max(fewer), taps]
                start = more(known, count)
            else:
                smaller = [n for n in result.learned if n[0] == count and n[1] < taps]
                known = result.learned[max(smaller)] if smaller else baseline
                known = start = replace(known, taps=taps)
            learned = learn(
                start,
                photos,
                importance,
                steps[count],
                rates[count],
                settings.seed,
                watch,
            )
            # What learning does not improve on the parts held out stays as it was.
            if quality(held_out, learned) < quality(held_out, known):
                learned = known if known.count == count else copies(known, count)
            restored = {name: restore(photo, learned) for name, photo in others.items()}
            result.learned[count, taps] = learned
            result.variants[count, taps] = {n: db for n, (_, db) in restored.items()}
            for name, (image, _) in restored.items():
                images[f"{count}x{taps} {name}"] = image
    for name, photo in others.items():
        images[name] = photo[MARGIN:-MARGIN, MARGIN:-MARGIN]
    result.seconds = time.perf_counter() - began
    return result


def small(count: int = 3, size: int = 19) -> dict[str, Any]:
    """Arguments of the loss: float64, and small enough for differences."""
    rng = np.random.default_rng(3)
    shape = (size, size + 1)
    return {
        "mosaic": rng.random(shape),
        "truth": rng.random((3, *shape)),
        "counted": np.pad(np.ones((size - 16, size - 15)), MARGIN),
        "sites": sites_of(*shape).astype(np.float64),
        "filters": rng.normal(0, 0.2, (count, TAPS, TAPS)),
        "tents": rng.normal(0, 0.2, (count, 2, TAPS, TAPS)),
        "probes": rng.normal(0, 0.2, (count, 2, TAPS, TAPS)),
        "count": count,
        "image": np.zeros((3, *shape)),
    }


def check() -> pyrev.GradientReport:
    """The gradient of the loss against differences, on a small mosaic."""
    of_filters = pyrev.differentiable(loss, wrt=NAMES, target="python")
    return pyrev.check_grad(of_filters, *small(2, 17).values())


def draw(result: Result, path: Path) -> None:
    """Save the figure: a part of a photograph not learned from, and the filters."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    name = min(result.baseline, key=lambda each: result.baseline[each])
    best = max(result.variants, key=result.gain)
    first = next(iter(result.variants))
    truth = result.images[name]
    # The crop in which AHD's filters err most.
    size = 56
    error = ((result.images[f"AHD {name}"] - truth) ** 2).sum(-1)
    sums = np.pad(error.cumsum(0).cumsum(1), ((1, 0), (1, 0)))
    inside = sums[size:, size:] - sums[:-size, size:]
    inside -= sums[size:, :-size] - sums[:-size, :-size]
    top, left = np.unravel_index(np.argmax(inside), inside.shape)
    part = np.s_[top : top + size, left : left + size]

    figure = Figure(figsize=(12, 5.2), layout="constrained")
    FigureCanvasAgg(figure)
    parts: Any = figure.subfigures(2, 1, height_ratios=(3, 1.1))
    above, below = parts
    shown = (
        (f"{name} (a part)", truth),
        (
            f"AHD's filters: {result.baseline[name]:.2f} dB",
            result.images[f"AHD {name}"],
        ),
        *(
            (
                f"{k} filters, {n} x {n}: {result.variants[k, n][name]:.2f} dB",
                result.images[f"{k}x{n} {name}"],
            )
            for k, n in dict.fromkeys((first, best))
        ),
    )
    for axis, (title, image) in zip(above.subplots(1, len(shown)), shown, strict=True):
        axis.imshow(np.clip(image[part], 0, 1), interpolation="nearest")
        axis.set(xticks=[], yticks=[])
        axis.set_title(title, fontsize=10)
    learned = result.learned[best]
    reach = learned.taps // 2
    taps = np.s_[3 - reach : 4 + reach, 3 - reach : 4 + reach]
    for k, axis in enumerate(below.subplots(1, learned.count, squeeze=False)[0]):
        axis.imshow(learned.filters[k][taps], cmap="RdBu", vmin=-0.5, vmax=0.5)
        axis.set(xticks=[], yticks=[])
    below.suptitle("its filters for green (blue adds, red subtracts)", fontsize=10)
    figure.savefig(path, dpi=80)


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python examples/demosaick.py",
        description=(__doc__ or "").split("\n")[0],
    )
    add = parser.add_argument
    add("--part", type=float, default=1.0, help="of all steps (default 1)")
    add("--seed", type=int, default=0, help="of crops (default 0)")
    add("--output", type=Path, default=Path("demosaick.png"))
    options = parser.parse_args(arguments)

    report = check()
    print(report)
    result = solve(Settings(seed=options.seed).shortened(options.part))
    print(result.summary())
    draw(result, options.output)
    print(f"figure            {options.output}")
    return 0 if report and not result.missed() else 1


if __name__ == "__main__":
    sys.exit(main())
