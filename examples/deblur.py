"""Blind deblurring: a photograph and its motion blur from the blurred photograph.

    python examples/deblur.py --output deblur.png

The camera moved along a curve while the shutter was open: `blur`, as plain loops. Two
scalar functions call it, one for each unknown; pyrev differentiates both, L-BFGS steps
on the image and on the kernel in turn, and the total variation is relaxed on the way
(after Perrone and Favaro 2014), first at about half the size and then at the full one.
The kernel starts flat. The blurred photograph is a valid convolution of a larger
unknown image, so nothing is assumed beyond its border; PSNR is measured on the part
that the blurred photograph covers.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from skimage.transform import resize
from tqdm import tqdm

import pyrev

Array = NDArray[np.float64]
Watch = Callable[[float], None]

WIDTH = 9
"""The kernel is WIDTH x WIDTH."""
NOISE = 2 / 255


# ------------------------------------------------------------------ the loops


def blur(image, kernel, out):
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            for j in range(kernel.shape[0]):
                for i in range(kernel.shape[1]):
                    out[y, x] += image[y + j, x + i] * kernel[j, i]


@pyrev.differentiable
def image_loss(image, kernel, observed, weight):
    blurred = np.zeros_like(observed)
    blur(image, kernel, blurred)
    loss = 0.0
    for y in range(observed.shape[0]):
        for x in range(observed.shape[1]):
            loss += 0.5 * (blurred[y, x] - observed[y, x]) ** 2
    for y in range(image.shape[0] - 1):
        for x in range(image.shape[1] - 1):
            down = image[y + 1, x] - image[y, x]
            right = image[y, x + 1] - image[y, x]
            loss += weight * math.sqrt(down * down + right * right + 1e-6)
    return loss


@pyrev.differentiable
def kernel_loss(kernel, image, observed, ridge, centring):
    residual = np.zeros_like(observed)
    blur(image, kernel, residual)
    for y in range(observed.shape[0]):
        for x in range(observed.shape[1]):
            residual[y, x] -= observed[y, x]
    loss = 0.0
    for y in range(observed.shape[0] - 1):
        for x in range(observed.shape[1] - 1):
            down = residual[y + 1, x] - residual[y, x]
            right = residual[y, x + 1] - residual[y, x]
            loss += 0.5 * (down * down + right * right)
    drift_y = 0.0
    drift_x = 0.0
    for j in range(kernel.shape[0]):
        for i in range(kernel.shape[1]):
            loss += 0.5 * ridge * kernel[j, i] ** 2
            drift_y += (j - kernel.shape[0] // 2) * kernel[j, i]
            drift_x += (i - kernel.shape[1] // 2) * kernel[j, i]
    return loss + 0.5 * centring * (drift_y * drift_y + drift_x * drift_x)


# ------------------------------------------------------------------ the solver


@dataclass(frozen=True)
class Settings:
    """What the solver may be told; `rounds` and steps are for each of the `widths`."""

    rounds: int = 10
    image_steps: int = 40
    kernel_steps: int = 10
    final_steps: int = 60
    weights: tuple[float, float] = (1e-2, 1e-3)
    final_weight: float = 1.2e-3
    ridge: float = 1.6e-3
    centring: float = 1e-2
    threshold: float = 0.05
    widths: tuple[int, ...] = (5, WIDTH)


def descend(
    gradient: Callable[..., Any],
    start: Array,
    *fixed: Any,
    steps: int,
    low: float | None = None,
    watch: Watch | None = None,
) -> Array:
    """At most `steps` of L-BFGS on the first argument of a loss, the others fixed."""

    def loss(x: Array) -> tuple[float, Array]:
        value, slope = gradient(x.reshape(start.shape), *fixed)
        return value, slope.ravel()

    def step(intermediate_result: Any) -> None:
        if watch is not None:
            watch(float(intermediate_result.fun))

    found = minimize(
        loss,
        start.ravel(),
        jac=True,
        method="L-BFGS-B",
        bounds=None if low is None else [(low, None)] * start.size,
        callback=step,
        options={"maxiter": steps, "maxcor": 6},
    )
    return np.asarray(found.x, np.float64).reshape(start.shape)


def widened(observed: Array, width: int) -> Array:
    """A first guess of the image: the blurred photograph, its border repeated."""
    return np.pad(observed, width // 2, mode="edge")


def resized(image: Array, shape: tuple[int, ...]) -> Array:
    """The image at another size, by bilinear interpolation."""
    smaller = shape < image.shape
    small = resize(image, shape, order=1, mode="edge", anti_aliasing=smaller)
    return np.asarray(small, np.float64)


def recover_image(
    observed: Array, kernel: Array, settings: Settings, watch: Watch
) -> Array:
    """The image for a known kernel."""
    return descend(
        pyrev.value_and_grad(image_loss, wrt="image"),
        widened(observed, kernel.shape[0]),
        kernel,
        observed,
        settings.final_weight,
        steps=settings.final_steps,
        watch=watch,
    )


def recover_kernel(observed: Array, settings: Settings, watch: Watch) -> Array:
    """The kernel of an unknown image, from a flat one, coarse to fine."""
    width = settings.widths[0]
    kernel = np.full((width, width), 1 / width**2)
    image = None
    for width in settings.widths:
        scale = width / WIDTH
        shape = tuple(round(n * scale) for n in observed.shape)
        small = observed if width == WIDTH else resized(observed, shape)
        guess = widened(small, width)
        image = guess if image is None else resized(image, guess.shape)
        if kernel.shape != (width, width):
            kernel = resized(kernel, (width, width))
        image, kernel = alternate(small, image, kernel / kernel.sum(), settings, watch)
    return kernel


def alternate(
    observed: Array, image: Array, kernel: Array, settings: Settings, watch: Watch
) -> tuple[Array, Array]:
    """Steps on the image and on the kernel in turn.

    Strong total variation first, so that only strong edges decide; the kernel is fitted
    to differences of the residual, where edges are. A kernel that moves and an image
    that moves the other way cannot be told apart: the kernel's centroid is kept at its
    centre. It stays non-negative, and sums to one after each round.
    """
    image_gradient = pyrev.value_and_grad(image_loss, wrt="image")
    kernel_gradient = pyrev.value_and_grad(kernel_loss, wrt="kernel")
    ridge, centring = settings.ridge * observed.size, settings.centring * observed.size
    for weight in np.geomspace(*settings.weights, settings.rounds):
        image = descend(
            image_gradient,
            image,
            kernel,
            observed,
            float(weight),
            steps=settings.image_steps,
            watch=watch,
        )
        kernel = descend(
            kernel_gradient,
            kernel,
            image,
            observed,
            ridge,
            centring,
            steps=settings.kernel_steps,
            low=0.0,
        )
        kernel[kernel < settings.threshold * np.max(kernel)] = 0.0
        kernel /= kernel.sum()
    return image, kernel


# ------------------------------------------------------------------ the experiment


def photograph(size: int) -> Array:
    """The middle `size` x `size` of a photograph that scikit-image ships (512x512)."""
    from skimage.data import camera

    photo = np.asarray(camera(), np.float64) / 255
    if not 2 * WIDTH <= size <= photo.shape[0]:
        raise SystemExit(f"--size must be from {2 * WIDTH} to {photo.shape[0]}")
    top, left = 2 * (photo.shape[0] - size) // 10, 4 * (photo.shape[1] - size) // 10
    return np.ascontiguousarray(photo[top : top + size, left : left + size])


def motion() -> Array:
    """A curved stroke of the camera, 7 by 6 pixels, its centroid at the centre."""
    kernel = np.zeros((WIDTH, WIDTH))
    t = np.linspace(0, 1, 400)
    path_x, path_y = 6.2 * t, -5.5 * t**1.8 - 0.6 * np.sin(3 * t)
    path_x += WIDTH // 2 - path_x.mean()
    path_y += WIDTH // 2 - path_y.mean()
    for x, y in zip(path_x, path_y, strict=True):
        left, top = math.floor(x), math.floor(y)
        for j, down in ((top, top + 1 - y), (top + 1, y - top)):
            for i, right in ((left, left + 1 - x), (left + 1, x - left)):
                kernel[j, i] += down * right
    return np.asarray(kernel / kernel.sum(), np.float64)


def covered(image: Array) -> Array:
    """The part of an image that the blurred photograph shows."""
    border = WIDTH // 2
    return image[border:-border, border:-border]


def psnr(image: Array, photo: Array) -> float:
    """Peak signal to noise ratio in dB; images are in [0, 1]."""
    return -10 * math.log10(float(np.mean((image - photo) ** 2)))


@dataclass(frozen=True)
class Result:
    """Everything that the figure shows."""

    photo: Array
    observed: Array
    true_kernel: Array
    kernel: Array
    image: Array
    image_with_true_kernel: Array
    seconds: float
    losses: list[float] = field(default_factory=list)

    @property
    def psnr_blurred(self) -> float:
        return psnr(self.observed, covered(self.photo))

    @property
    def psnr_recovered(self) -> float:
        return psnr(covered(self.image), covered(self.photo))

    @property
    def psnr_with_true_kernel(self) -> float:
        return psnr(covered(self.image_with_true_kernel), covered(self.photo))

    @property
    def kernel_error(self) -> float:
        """L2 error of the kernel, relative to that of a flat one."""
        flat = np.linalg.norm(1 / WIDTH**2 - self.true_kernel)
        return float(np.linalg.norm(self.kernel - self.true_kernel) / flat)

    def summary(self) -> str:
        """The figures, one a line."""
        best = self.psnr_with_true_kernel
        gain = self.psnr_recovered - self.psnr_blurred
        return "\n".join(
            (
                f"blurred            {self.psnr_blurred:6.2f} dB",
                f"recovered          {self.psnr_recovered:6.2f} dB  ({gain:+.2f})",
                f"with true kernel   {best:6.2f} dB  ({best - self.psnr_blurred:+.2f})",
                f"kernel error       {self.kernel_error:6.2f} of the flat kernel's",
                f"time               {self.seconds:6.1f} s",
            )
        )


def solve(size: int, settings: Settings, *, progress: bool = True) -> Result:
    """Blur a photograph, forget it and the kernel, and recover both."""
    photo, true_kernel = photograph(size), motion()
    observed = np.zeros((size - WIDTH + 1, size - WIDTH + 1))
    pyrev.differentiable(blur)(photo, true_kernel, observed)
    observed += np.random.default_rng(0).normal(0, NOISE, observed.shape)

    losses: list[float] = []
    total = len(settings.widths) * settings.rounds * settings.image_steps
    total += 2 * settings.final_steps
    with tqdm(
        total=total, desc="deblurring", unit="step", disable=None if progress else True
    ) as bar:

        def watch(loss: float) -> None:
            losses.append(loss)
            bar.set_postfix(loss=f"{loss:.1f}", refresh=False)
            bar.update()

        start = time.perf_counter()
        kernel = recover_kernel(observed, settings, watch)
        image = recover_image(observed, kernel, settings, watch)
        seconds = time.perf_counter() - start
        best = recover_image(observed, true_kernel, settings, lambda _: bar.update())
    return Result(photo, observed, true_kernel, kernel, image, best, seconds, losses)


def check() -> pyrev.GradientReport:
    """Both gradients of the image loss against differences, on a small crop."""
    rng = np.random.default_rng(1)
    image, kernel = rng.random((12, 13)), rng.random((3, 3))
    return pyrev.check_grad(image_loss, image, kernel, rng.random((10, 11)), 0.1)


def draw(result: Result, path: Path) -> None:
    """Save the figure: the images with their PSNR, the kernels, the loss."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13, 8.2), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(2, 3)
    images = (
        ("photograph", covered(result.photo)),
        (f"blurred, {result.psnr_blurred:.2f} dB", result.observed),
        (f"recovered, {result.psnr_recovered:.2f} dB", covered(result.image)),
    )
    for axis, (title, image) in zip(axes[0], images, strict=True):
        axis.imshow(image, cmap="gray", vmin=0, vmax=1)
        axis.set(title=title, xticks=[], yticks=[])
    top = float(max(np.max(result.true_kernel), np.max(result.kernel)))
    kernels = (
        ("true kernel", result.true_kernel),
        (
            f"recovered kernel, error {result.kernel_error:.2f} of the flat one's",
            result.kernel,
        ),
    )
    for axis, (title, kernel) in zip(axes[1], kernels, strict=False):
        axis.imshow(kernel, cmap="magma", vmin=0, vmax=top)
        axis.set(title=title, xticks=[], yticks=[])
    axes[1, 2].semilogy(result.losses)
    axes[1, 2].set(title="loss", xlabel="step (total variation is relaxed on the way)")
    figure.savefig(path, dpi=100)


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python examples/deblur.py",
        description=(__doc__ or "").split("\n")[0],
    )
    parser.add_argument("--size", type=int, default=512, help="pixels (default 512)")
    parser.add_argument(
        "--iterations",
        type=int,
        default=Settings.rounds,
        help=f"rounds of image and kernel steps (default {Settings.rounds})",
    )
    parser.add_argument("--output", type=Path, default=Path("deblur.png"))
    options = parser.parse_args(arguments)

    print(image_loss.adjoint.source)
    report = check()
    print(report)
    result = solve(options.size, Settings(rounds=options.iterations))
    print(result.summary())
    draw(result, options.output)
    print(f"figure             {options.output}")
    return 0 if report else 1


if __name__ == "__main__":
    sys.exit(main())
