"""Burst demosaicking: one sharp image and the camera's motion from noisy raw frames.

    python examples/burst.py --output burst.png

A hand-held camera takes a burst; each frame sees the scene through a homography of its
own, and each pixel only one colour of a Bayer mosaic. The image, in all colours, and
the homographies are found together: Adam steps on both for 300 iterations, on the
squared difference between the frames and what the image would give, plus smoothed
total variation (Li et al., Differentiable Programming for Image Processing and Deep
Learning in Halide, 2018, section 5.3). Colours mostly change together, so differences
of colours have a total variation, and a weight, of their own.

The frames are not made with the loops that explain them: each sensor pixel is the mean
of 4 x 4 points of a cubic spline through a photograph of twice the resolution, with
noise of standard deviation 3/255. The start is one frame demosaicked alone (Malvar, He
and Cutler 2004), and whole pixels of translation from phase correlation. Weights and
rates were chosen on another photograph (`--photo coffee`).
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from adam import Adam
from numpy.typing import NDArray
from scipy.ndimage import convolve, map_coordinates, spline_filter
from skimage.registration import phase_cross_correlation
from tqdm import tqdm

import pyrev

Array = NDArray[np.float64]
Watch = Callable[[float, Array], None]

NOISE = 3 / 255
"""Standard deviation of the noise of the frames."""
SCALE = 2
"""Pixels of the photograph along a sensor pixel."""
SHIFT, TILT = 4.0, 1.5
"""How far a frame moves at most, and each of its corners beside that, in pixels."""
MARGIN = 8
"""Pixels at the border of the reference that other frames may not show."""


# ------------------------------------------------------------------ the loops


def keys(t):
    """The weight of a pixel at distance t in cubic convolution (Keys 1981)."""
    a = abs(t)
    if a < 1.0:
        return (1.5 * a - 2.5) * a * a + 1.0
    return ((-0.5 * a + 2.5) * a - 4.0) * a + 2.0


def sample(image, channel, u, v):
    """One channel of an image [height, width, 3] at column u and row v."""
    left = math.floor(u) - 1
    top = math.floor(v) - 1
    value = 0.0
    for j in range(4):
        row = 0.0
        for i in range(4):
            row += keys(u - (left + i)) * image[top + j, left + i, channel]
        value += keys(v - (top + j)) * row
    return value


def project(h, x, y):
    """Where the homography takes (x, y); zeros are the identity."""
    s = h[6] * x + h[7] * y + 1.0
    return (x + h[0] * x + h[1] * y + h[2]) / s, (y + h[3] * x + h[4] * y + h[5]) / s


def misfit(image, homographies, frames):
    """Half the squared error of all frames [frame, height, width].

    Homographies [frame, 8] take places in a frame to places in the image; the origin
    is the middle, the unit half a width. What falls outside the image does not count.
    """
    middle_y = 0.5 * (frames.shape[1] - 1)
    middle_x = 0.5 * (frames.shape[2] - 1)
    total = 0.0
    for n in range(frames.shape[0]):
        for y in range(frames.shape[1]):
            for x in range(frames.shape[2]):
                u, v = project(
                    homographies[n],
                    (x - middle_x) / middle_x,
                    (y - middle_y) / middle_x,
                )
                u = middle_x * u + middle_x
                v = middle_x * v + middle_y
                if 1 <= u < image.shape[1] - 2 and 1 <= v < image.shape[0] - 2:
                    channel = y % 2 + x % 2  # the mosaic: red green / green blue
                    error = sample(image, channel, u, v) - frames[n, y, x]
                    total += 0.5 * error * error
    return total


def roughness(image, edges, colours):
    """Smoothed total variation, of all colours and of red and blue minus green."""
    total = 0.0
    for y in range(image.shape[0] - 1):
        for x in range(image.shape[1] - 1):
            together = 1e-6
            apart = 1e-6
            green_down = image[y + 1, x, 1] - image[y, x, 1]
            green_right = image[y, x + 1, 1] - image[y, x, 1]
            for c in range(3):
                down = image[y + 1, x, c] - image[y, x, c]
                right = image[y, x + 1, c] - image[y, x, c]
                together += down * down + right * right
                apart += (down - green_down) ** 2 + (right - green_right) ** 2
            total += edges * math.sqrt(together) + colours * math.sqrt(apart)
    return total


def burst_loss(image, homographies, frames, edges, colours):
    return misfit(image, homographies, frames) + roughness(image, edges, colours)


# ------------------------------------------------------------------ the solver


@dataclass(frozen=True)
class Settings:
    """What the solver may be told.

    Both rates fall to `last_rate` times the first one. The image's rises first, in
    `rise` of all steps, so that homographies are fitted to the reference frame before
    the image follows the others.
    """

    iterations: int = 300
    image_rate: float = 1e-2
    homography_rate: float = 2e-3
    last_rate: float = 0.01
    rise: float = 1 / 3
    edges: float = 6e-3
    colours: float = 1.5e-2


def recover(
    frames: Array, image: Array, homographies: Array, settings: Settings, watch: Watch
) -> tuple[Array, Array]:
    """Image and homographies, from a first guess of both.

    The first frame is the reference: its homography stays the identity, or image and
    homographies could move together.
    """
    gradient = pyrev.value_and_grad(burst_loss, wrt=("image", "homographies"))
    of_image = Adam(image.copy(), settings.image_rate)
    of_homographies = Adam(homographies.copy(), settings.homography_rate)
    factors = np.geomspace(1.0, settings.last_rate, settings.iterations)
    rising = np.arange(1, settings.iterations + 1) / (
        settings.rise * settings.iterations
    )
    for factor, part in zip(factors, np.minimum(rising, 1.0), strict=True):
        loss, slope = gradient(
            of_image.x, of_homographies.x, frames, settings.edges, settings.colours
        )
        slope.homographies[0] = 0.0
        of_image.step(slope.image, float(factor * part))
        of_homographies.step(slope.homographies, float(factor))
        watch(float(loss), of_homographies.x)
    return of_image.x, of_homographies.x


# ------------------------------------------------------------------ one frame alone


def colour_of(shape: tuple[int, ...]) -> NDArray[np.intp]:
    """The channel that each pixel of a frame sees."""
    y, x = np.indices(shape)
    return np.asarray(y % 2 + x % 2, np.intp)


def bilinear(frame: Array) -> Array:
    """Demosaicking: each colour is the mean of its nearest neighbours."""
    tent = np.outer([1, 2, 1], [1, 2, 1]) / 4
    channel = colour_of(frame.shape)
    planes = [
        convolve(frame * (channel == c), tent, mode="mirror")
        / convolve(np.asarray(channel == c, np.float64), tent, mode="mirror")
        for c in range(3)
    ]
    return np.stack(planes, -1)


def malvar(frame: Array) -> Array:
    """Demosaicking: bilinear, corrected by the gradient of the colour that is there.

    The 5 x 5 filters of Malvar, He and Cutler, High-quality linear interpolation for
    demosaicing of Bayer-patterned color images, 2004, figure 2.
    """
    cross = np.zeros((5, 5))
    cross[2], cross[:, 2] = (-1, 2, 4, 2, -1), (-1, 2, 4, 2, -1)
    beside = np.zeros((5, 5))
    beside[1::2, 1::2], beside[2], beside[::4, 2] = -1, (-1, 4, 5, 4, -1), 0.5
    corner = np.zeros((5, 5))
    corner[1::2, 1::2], corner[2] = 2, (-1.5, 0, 6, 0, -1.5)
    corner[::4, 2] = -1.5
    at_cross, in_row, in_column, at_corner = (
        convolve(frame, weights / 8, mode="mirror")
        for weights in (cross, beside, beside.T, corner)
    )
    channel = colour_of(frame.shape)
    red_row = np.arange(frame.shape[0])[:, None] % 2 == 0
    red = np.where(red_row, in_row, in_column)
    blue = np.where(red_row, in_column, in_row)
    return np.stack(
        (
            np.where(channel == 0, frame, np.where(channel == 1, red, at_corner)),
            np.where(channel == 1, frame, at_cross),
            np.where(channel == 2, frame, np.where(channel == 1, blue, at_corner)),
        ),
        -1,
    )


def rough_homographies(frames: Array) -> Array:
    """Translations to the first frame, by phase correlation of the green pixels.

    Of a block of 2 x 2 pixels the two green ones are averaged, so a translation is a
    whole number of blocks.
    """
    green = 0.5 * (frames[:, 0::2, 1::2] + frames[:, 1::2, 0::2])
    homographies = np.zeros((frames.shape[0], 8))
    for n in range(1, frames.shape[0]):
        shift = phase_cross_correlation(green[0], green[n], normalization=None)[0]
        homographies[n, [5, 2]] = 2 * shift / (0.5 * (frames.shape[2] - 1))
    return homographies


# ------------------------------------------------------------------ the experiment


PLACES = {"motorcycle": (20, 40), "coffee": (0, 60), "astronaut": (0, 60)}
"""Photographs that scikit-image ships, and the corner of the part that is seen."""


def photograph(name: str, size: int) -> Array:
    """A part of a photograph, `SCALE * size` high and wide."""
    from skimage import data

    found = data.stereo_motorcycle()[0] if name == "motorcycle" else None
    found = getattr(data, name)() if found is None else found
    photo = np.asarray(found, np.float64) / 255
    top, left = PLACES[name]
    part = photo[top : top + SCALE * size, left : left + SCALE * size]
    if part.shape[:2] != (SCALE * size, SCALE * size):
        raise SystemExit(f"--size is too large for the photograph {name}")
    return np.ascontiguousarray(part)


def places(homography: Array, x: Array, y: Array, size: int) -> tuple[Array, Array]:
    """Where pixels of a frame are in the image, in pixels."""
    half = 0.5 * (size - 1)
    u, v = project(homography, (x - half) / half, (y - half) / half)
    return half * u + half, half * v + half


def corners(homographies: Array, size: int) -> Array:
    """Where the corners of each frame are in the image, in pixels: [frame, 4, 2]."""
    x, y = np.array([0, size - 1, size - 1, 0]), np.array([0, 0, size - 1, size - 1])
    return np.stack([np.stack(places(h, x, y, size), -1) for h in homographies])


def shaken(frames: int, size: int, rng: np.random.Generator) -> Array:
    """Random homographies, the first of them the identity."""
    homographies = np.zeros((frames, 8))
    square = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    for n in range(1, frames):
        moves = rng.uniform(-SHIFT, SHIFT, 2) + rng.uniform(-TILT, TILT, (4, 2))
        rows, right = [], []
        for (x, y), (du, dv) in zip(square, moves / (0.5 * (size - 1)), strict=True):
            u, v = x + du, y + dv
            rows += [
                [x, y, 1, 0, 0, 0, -u * x, -u * y],
                [0, 0, 0, x, y, 1, -v * x, -v * y],
            ]
            right += [du, dv]
        homographies[n] = np.linalg.solve(rows, right)
    return homographies


def expose(photo: Array, homography: Array) -> Array:
    """What the sensor would see in all colours: means over the area of its pixels."""
    size, fine = photo.shape[0] // SCALE, 4
    steps = (np.arange(fine * size) + 0.5) / fine - 0.5
    u, v = places(homography, *np.meshgrid(steps, steps), size)
    at = (SCALE * (v + 0.5) - 0.5, SCALE * (u + 0.5) - 0.5)
    seen = [
        map_coordinates(
            spline_filter(photo[..., c]), at, mode="mirror", prefilter=False
        )
        .reshape(size, fine, size, fine)
        .mean((1, 3))
        for c in range(3)
    ]
    return np.stack(seen, -1)


def mosaic(image: Array) -> Array:
    """The one colour of each pixel that the sensor records."""
    channel = colour_of(image.shape[:2])[..., None]
    return np.asarray(np.take_along_axis(image, channel, -1)[..., 0], np.float64)


def psnr(image: Array, truth: Array) -> float:
    """Peak signal to noise ratio in dB, where all frames see; images are in [0, 1]."""
    inside = slice(MARGIN, -MARGIN)
    return -10 * math.log10(float(np.mean((image - truth)[inside, inside] ** 2)))


def corner_error(homographies: Array, truth: Array, size: int) -> float:
    """Mean distance of the corners of all frames but the first, in pixels."""
    moved = corners(homographies, size) - corners(truth, size)
    return float(np.mean(np.linalg.norm(moved[1:], axis=-1)))


@dataclass(frozen=True)
class Result:
    """Everything that the figure shows; PSNR in dB, errors of corners in pixels."""

    truth: Array
    single: Array
    image: Array
    psnr_alone: dict[str, float]
    psnr_burst: float
    errors: list[float]
    losses: list[float]
    seconds: float

    @property
    def gain(self) -> float:
        """PSNR of the burst over that of the best demosaicking of one frame."""
        return self.psnr_burst - max(self.psnr_alone.values())

    @property
    def fall(self) -> float:
        """Error of the homographies at the start over that at the end."""
        return self.errors[0] / self.errors[-1]

    def missed(self) -> list[str]:
        """The bars that this run did not reach."""
        bars = {
            "2 dB more than one frame": self.gain >= 2,
            "a fifth of the homography error": self.fall >= 5,
        }
        return [name for name, reached in bars.items() if not reached]

    def summary(self) -> str:
        """The figures, one a line."""
        missed = "missed: " + "; ".join(self.missed()) if self.missed() else "reached"
        return "\n".join(
            (
                *(
                    f"{'one frame, ' + name:<24}{found:6.2f} dB"
                    for name, found in self.psnr_alone.items()
                ),
                f"burst                   {self.psnr_burst:6.2f} dB"
                f"  ({self.gain:+.2f} to the best of these)",
                f"homography error        {self.errors[0]:6.3f} px at the start,"
                f" {self.errors[-1]:.3f} px at the end ({self.fall:.1f} times less)",
                f"time                    {self.seconds:6.1f} s",
                f"bars                    {missed}",
            )
        )


def solve(
    size: int = 224,
    frames: int = 10,
    settings: Settings | None = None,
    *,
    photo: str = "motorcycle",
    seed: int = 0,
    one_frame: bool = True,
    progress: bool = True,
) -> Result:
    """Take a burst of a photograph, forget it and the motion, and recover both.

    `one_frame` asks for what the same solver makes of the first frame alone.
    """
    settings = settings or Settings()
    rng = np.random.default_rng(seed)
    scene = photograph(photo, size)
    motion = shaken(frames, size, rng)
    truth = expose(scene, motion[0])
    burst = np.stack([mosaic(expose(scene, h)) for h in motion])
    burst += rng.normal(0, NOISE, burst.shape)

    single = malvar(burst[0])
    start = rough_homographies(burst)
    errors = [corner_error(start, motion, size)]
    losses: list[float] = []
    with tqdm(
        total=(1 + one_frame) * settings.iterations,
        desc="demosaicking",
        unit="step",
        disable=None if progress else True,
    ) as bar:

        def watch(loss: float, homographies: Array) -> None:
            losses.append(loss)
            errors.append(corner_error(homographies, motion, size))
            bar.set_postfix(loss=f"{loss:.1f}", refresh=False)
            bar.update()

        def pass_by(loss: float, homographies: Array) -> None:
            bar.update()

        began = time.perf_counter()
        image, _ = recover(burst, single, start, settings, watch)
        seconds = time.perf_counter() - began
        alone = {
            "bilinear": psnr(bilinear(burst[0]), truth),
            "Malvar": psnr(single, truth),
        }
        if one_frame:
            found, _ = recover(burst[:1], single, start[:1], settings, pass_by)
            alone["this solver"] = psnr(found, truth)
    return Result(
        truth,
        single,
        image,
        alone,
        psnr(image, truth),
        errors,
        losses,
        seconds,
    )


def check() -> pyrev.GradientReport:
    """Both gradients of the loss against differences, on a small burst."""
    rng = np.random.default_rng(3)
    image, frames = rng.random((6, 7, 3)), rng.random((2, 5, 6))
    homographies = rng.normal(0, 0.05, (2, 8))
    return pyrev.check_grad(burst_loss, image, homographies, frames, 0.1, 0.2)


def draw(result: Result, path: Path) -> None:
    """Save the figure: a part of the images, and the error of the homographies."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    size = result.truth.shape[0]
    part = np.s_[2 * size // 5 : 4 * size // 5, 11 * size // 20 : 19 * size // 20]
    figure = Figure(figsize=(13, 3.6), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(1, 4)
    images: tuple[tuple[str, Any], ...] = (
        ("photograph (a part)", result.truth),
        (f"one frame, Malvar: {result.psnr_alone['Malvar']:.2f} dB", result.single),
        (f"burst: {result.psnr_burst:.2f} dB", result.image),
    )
    for axis, (title, image) in zip(axes, images, strict=False):
        axis.imshow(np.clip(image[part], 0, 1), interpolation="nearest")
        axis.set(title=title, xticks=[], yticks=[])
    axes[3].semilogy(result.errors)
    axes[3].set(title="error of the homographies, pixels", xlabel="step")
    axes[3].grid(alpha=0.3)
    figure.savefig(path, dpi=90)


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python examples/burst.py",
        description=(__doc__ or "").split("\n")[0],
    )
    add = parser.add_argument
    add("--size", type=int, default=224, help="pixels (default 224)")
    add("--frames", type=int, default=10, help="frames of the burst (default 10)")
    add("--iterations", type=int, default=300, help="Adam steps (default 300)")
    add("--photo", choices=PLACES, default="motorcycle")
    add("--seed", type=int, default=0, help="of motion and noise (default 0)")
    add("--output", type=Path, default=Path("burst.png"))
    options = parser.parse_args(arguments)

    report = check()
    print(report)
    result = solve(
        options.size,
        options.frames,
        Settings(iterations=options.iterations),
        photo=options.photo,
        seed=options.seed,
    )
    print(result.summary())
    draw(result, options.output)
    print(f"figure                  {options.output}")
    return 0 if report and not result.missed() else 1


if __name__ == "__main__":
    sys.exit(main())
