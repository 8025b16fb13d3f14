"""Differentiable programming from scratch, with the derivatives made by pyrev.

    python examples/from_scratch.py --output from_scratch.png

The article differentiates ``x*x + x*y`` in four ways (differences, symbols, forward and
reverse mode) and then deblurs a photograph by gradient descent: the guess starts grey,
is blurred by a 3x3 box whose reads are clamped at the borders, and steps against the
gradient of its squared distance from what was observed. Here both are plain loops over
numbers and a flat array of red, green and blue, ``(y * width + x) * 3 + c``.

The box filter's matrix is symmetric with rows that sum to one, so its largest
eigenvalue is one, and the loss curves by two at most: steps below one converge.

Source: M. Slater, "Differentiable Programming from Scratch" (2022).
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from skimage.transform import resize
from tqdm import tqdm

import pyrev

Array = NDArray[np.float64]

GREY = 127.0
SIZE = 128
STEPS = 1000
STEP_SIZE = 0.9
AT = (2.0, 3.0)
"""Where the four ways are compared."""


# ------------------------------------------------------------------ the loops


def square_plus_product(x, y):
    return x * x + x * y


def power(x, n):
    result = 1.0
    for _ in range(n):
        result *= x
    return result


def blur(guess, width, height, out):
    for x in range(width):
        for y in range(height):
            r = 0.0
            g = 0.0
            b = 0.0
            for i in range(-1, 2):
                for j in range(-1, 2):
                    xi = min(max(x + i, 0), width - 1)
                    yj = min(max(y + j, 0), height - 1)
                    near = (yj * width + xi) * 3
                    r += guess[near + 0]
                    g += guess[near + 1]
                    b += guess[near + 2]
            at = (y * width + x) * 3
            out[at + 0] = r / 9
            out[at + 1] = g / 9
            out[at + 2] = b / 9


def distance(guess, observed, width, height):
    blurred = np.zeros(guess.shape[0])
    blur(guess, width, height, blurred)
    loss = 0.0
    for x in range(width):
        for y in range(height):
            at = (y * width + x) * 3
            dr = blurred[at + 0] - observed[at + 0]
            dg = blurred[at + 1] - observed[at + 1]
            db = blurred[at + 2] - observed[at + 2]
            loss += dr * dr + dg * dg + db * db
    return loss


# ------------------------------------------------------------------ four ways


def numerical(f: Callable[..., float], *at: float, h: float = 1e-3) -> list[float]:
    """The partial derivatives by differences: right up to terms of order `h`."""
    moved = [[v + h * (i == k) for k, v in enumerate(at)] for i in range(len(at))]
    return [(f(*there) - f(*at)) / h for there in moved]


def forward(f: Callable[..., float], **at: float) -> list[float]:
    """The partial derivatives by forward mode, all directions in one call."""
    tangents = dict(zip(at, np.eye(len(at)), strict=True))
    _, moved = pyrev.jvp(f, **at, tangents=tangents)
    return [float(v) for v in moved["return"]]


def backward(f: Callable[..., float], **at: float) -> list[float]:
    """The partial derivatives by reverse mode, in one run backwards."""
    return [float(v) for v in pyrev.grad(f, wrt=tuple(at))(**at).values()]


def by_hand(x: float, y: float) -> list[float]:
    """What the rules of symbolic differentiation give for ``x*x + x*y``."""
    return [2 * x + y, x]


def ways() -> dict[str, list[float]]:
    """The gradient of ``x*x + x*y`` at `AT`, in all four ways."""
    x, y = AT
    f = pyrev.differentiable(square_plus_product, target="python")
    return {
        "numerical, h = 0.001": numerical(square_plus_product, x, y),
        "symbolic, by hand": by_hand(x, y),
        "forward": forward(f, x=x, y=y),
        "reverse": backward(f, x=x, y=y),
    }


def orders(x: float, n: int) -> list[float]:
    """The first three derivatives of x**n: a derivative is a function like any other.

    The third is the Hessian of the adjoint, which pyrev reads as it reads any function.
    """
    f = pyrev.differentiable(power, target="python")
    first = pyrev.grad(f, wrt="x")(x, n)
    second = pyrev.hvp(f, x, n, tangents={"x": 1.0}).x
    adjoint = pyrev.differentiable(f.adjoint, target="python")
    third = pyrev.hvp(adjoint, x, n, 1.0, tangents={"x": 1.0}, cotangent=(1.0,)).x
    return [float(first), float(second), float(third)]


# ------------------------------------------------------------------ the photograph


def photograph(size: int) -> Array:
    """A photograph that scikit-image ships, its middle at `size` x `size`; 0 to 255."""
    from skimage.data import chelsea

    photo = np.asarray(chelsea(), np.float64)  # 300x451
    middle = photo[20:276, 100:356]
    small = resize(middle, (size, size), order=1, mode="edge", anti_aliasing=True)
    return np.asarray(small, np.float64)


@dataclass(frozen=True)
class Result:
    """Everything that the figure shows; images are height x width x 3, 0 to 255."""

    photo: Array
    observed: Array
    guess: Array
    losses: list[float]
    """Of each guess, the first and the last included."""
    errors: list[float]
    """Squared distances of the guesses from the photograph."""
    seconds: float

    @property
    def fall(self) -> float:
        """So many times smaller did the loss become."""
        return self.losses[0] / self.losses[-1]

    @property
    def monotone(self) -> bool:
        pairs = zip(self.losses, self.losses[1:], strict=False)
        return all(after < before for before, after in pairs)

    @property
    def psnr_blurred(self) -> float:
        return psnr(self.observed, self.photo)

    @property
    def psnr_recovered(self) -> float:
        return psnr(self.guess, self.photo)

    def missed(self) -> list[str]:
        """The bars that were not reached."""
        bars = {
            "the loss falls at each step": self.monotone,
            "the loss falls to a thousandth": self.fall >= 1000,
            "3 dB more than the blurred photograph": self.psnr_recovered
            >= self.psnr_blurred + 3,
        }
        return [bar for bar, reached in bars.items() if not reached]

    def summary(self) -> str:
        """The figures, one a line."""
        gain = self.psnr_recovered - self.psnr_blurred
        error = self.errors[0] / self.errors[-1]
        return "\n".join(
            (
                f"loss       {self.losses[0]:10.4g} to {self.losses[-1]:.4g}",
                f"           falls {self.fall:.3g} fold, at each step: {self.monotone}",
                f"error      {self.errors[0]:10.4g} to {self.errors[-1]:.4g}",
                f"           falls {error:.3g} fold: the blur lost the rest",
                f"blurred    {self.psnr_blurred:10.2f} dB",
                f"recovered  {self.psnr_recovered:10.2f} dB  ({gain:+.2f})",
                f"time       {self.seconds:10.1f} s",
            )
        )


def psnr(image: Array, photo: Array) -> float:
    """Peak signal to noise ratio in dB; images go from 0 to 255."""
    return float(-10 * np.log10(np.mean((image - photo) ** 2) / 255**2))


def deblur(
    size: int = SIZE,
    steps: int = STEPS,
    step_size: float = STEP_SIZE,
    *,
    target: pyrev.TargetName = "numba",
    progress: bool = True,
) -> Result:
    """Blur a photograph and walk back, from a grey guess, along the gradient."""
    photo = photograph(size)
    truth = photo.ravel()
    observed = np.zeros_like(truth)
    pyrev.differentiable(blur, target=target)(truth, size, size, observed)
    loss = pyrev.differentiable(distance, target=target)
    slope = pyrev.value_and_grad(loss, wrt="guess")
    guess = np.full_like(truth, GREY)
    losses: list[float] = []
    errors: list[float] = []
    start = time.perf_counter()
    bar = tqdm(range(steps + 1), unit="step", disable=None if progress else True)
    for step in bar:
        value, g = slope(guess, observed, size, size)
        losses.append(float(value))
        errors.append(float(np.sum((guess - truth) ** 2)))
        if step < steps:
            guess -= step_size * g
    seconds = time.perf_counter() - start
    shape = photo.shape
    blurred, recovered = np.reshape(observed, shape), np.reshape(guess, shape)
    return Result(photo, blurred, recovered, losses, errors, seconds)


# ------------------------------------------------------------------ the command


def checks() -> list[pyrev.GradientReport]:
    """The gradients of all loops against differences, at small sizes."""
    r = np.random.default_rng(0).random
    arguments: list[tuple[Any, ...]] = [
        (square_plus_product, *AT),
        (power, 1.3, 4),
        (blur, r(60), 5, 4, np.zeros(60)),
        (distance, r(60), r(60), 5, 4),
    ]
    return [
        pyrev.check_grad(pyrev.differentiable(loop, target="python"), *given)
        for loop, *given in arguments
    ]


def draw(result: Result, path: Path) -> None:
    """Save the figure: the three images, and loss and error over the steps."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 3.3), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(1, 4)
    images = (
        (f"blurred, {result.psnr_blurred:.1f} dB", result.observed),
        (
            f"{len(result.losses) - 1} steps, {result.psnr_recovered:.1f} dB",
            result.guess,
        ),
        ("photograph", result.photo),
    )
    for axis, (title, image) in zip(axes, images, strict=False):
        axis.imshow(np.clip(image / 255, 0, 1))
        axis.set(title=title, xticks=[], yticks=[])
    axes[3].loglog(np.arange(1, len(result.losses) + 1), result.losses, label="loss")
    axes[3].loglog(np.arange(1, len(result.errors) + 1), result.errors, label="error")
    axes[3].set(title="squared distances", xlabel="step")
    axes[3].legend()
    figure.savefig(path, dpi=75)


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python examples/from_scratch.py",
        description=(__doc__ or "").split("\n")[0],
    )
    parser.add_argument("--size", type=int, default=SIZE, help="pixels a side")
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--output", type=Path, default=Path("from_scratch.png"))
    options = parser.parse_args(arguments)

    f = pyrev.differentiable(square_plus_product)
    print(f.tangent.source)
    print(f.adjoint.source)
    missed = [str(report) for report in checks() if not report]
    print("gradient of x*x + x*y at (2, 3); the article's is (7, 2)")
    for way, found in ways().items():
        print(f"  {way:22} ({found[0]:.6g}, {found[1]:.6g})")
        if not np.allclose(found, (7, 2), rtol=0, atol=0.0011 if "h =" in way else 0):
            missed.append(f"{way}: (7, 2)")
    print(f"x**5 at 2, derivatives of order 1, 2, 3: {orders(2.0, 5)}\n")

    result = deblur(options.size, options.steps)
    print(result.summary())
    draw(result, options.output)
    print(f"figure     {options.output}")
    missed += result.missed()
    for bar in missed:
        print(f"missed: {bar}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
