"""The examples of an article on Enoki's automatic differentiation, as plain loops.

    python examples/enoki.py --output enoki.png

Each program of the article that prints a number is written as a Python loop; the
command prints the article's number beside the one of the derivative that pyrev made.
Then the article's case against keeping everything: a million numbers squared a thousand
times in place, differentiated with a bound on the memory, and, written element by
element, with none kept at all.

Source: "Automatic differentiation", documentation of Enoki (W. Jakob).
"""

from __future__ import annotations

import argparse
import ctypes
import math
import re
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

import pyrev

Array = NDArray[np.float64]

RATE = 0.2
STEPS = 20
SOURCE = np.array([2.0, 1.0, 3.0]) / math.sqrt(14)
TARGET = np.array([-1.0, 2.0, 3.0]) / math.sqrt(14)
INDEX = np.array([1, 4, 8, 4])

COUNT = 1024 * 1024
SQUARINGS = 1000
BUDGET = 128 * 2**20
"""Bytes that the derivative of the squarings may keep: sixteen arrays."""
BEYOND = 3
"""So many arrays more than the budget may be in memory at once."""


# ------------------------------------------------------------------ the loops


def square_and_root(a):
    return a * a, math.sqrt(a)


def scaled_root(a, b):
    return a * math.sqrt(b)


def angle_of(y, x):
    return math.atan2(y, x)


def error_function(x, out):
    """Abramowitz and Stegun 7.1.26: at most 1.5e-7 off."""
    for i in range(x.shape[0]):
        distance = abs(x[i])
        t = 1 / (1 + 0.3275911 * distance)
        a = 1.061405429 * t - 1.453152027
        b = a * t + 1.421413741
        c = b * t - 0.284496736
        d = c * t + 0.254829592
        value = 1 - d * t * math.exp(-distance * distance)
        out[i] = value * math.copysign(1.0, x[i])


def rotation(axis, angle, matrix):
    length = math.sqrt(axis[0] ** 2 + axis[1] ** 2 + axis[2] ** 2)
    x = axis[0] / length
    y = axis[1] / length
    z = axis[2] / length
    c = math.cos(angle)
    s = math.sin(angle)
    matrix[0, 0] = c + (1 - c) * x * x
    matrix[0, 1] = (1 - c) * x * y - s * z
    matrix[0, 2] = (1 - c) * x * z + s * y
    matrix[1, 0] = (1 - c) * x * y + s * z
    matrix[1, 1] = c + (1 - c) * y * y
    matrix[1, 2] = (1 - c) * y * z - s * x
    matrix[2, 0] = (1 - c) * x * z - s * y
    matrix[2, 1] = (1 - c) * y * z + s * x
    matrix[2, 2] = c + (1 - c) * z * z


def rotate(axis, angle, source, out):
    matrix = np.zeros((3, 3))
    rotation(axis, angle, matrix)
    for i in range(3):
        for j in range(3):
            out[i] += matrix[i, j] * source[j]


def rotation_error(axis, angle, source, target):
    rotated = np.zeros(3)
    rotate(axis, angle, source, rotated)
    total = 0.0
    for i in range(3):
        total += (rotated[i] - target[i]) ** 2
    return math.sqrt(total)


def gather(a, index, out):
    for i in range(index.shape[0]):
        out[i] = a[index[i]]


def scatter(source, index, out):
    for i in range(index.shape[0]):
        out[index[i]] = source[i]


def scatter_add(source, index, out):
    for i in range(index.shape[0]):
        out[index[i]] += source[i]


def square_in_place(x, times):
    for _ in range(times):
        for i in range(x.shape[0]):
            x[i] = x[i] * x[i]


def square_each(x, out, times):
    for i in range(x.shape[0]):
        value = x[i]
        for _ in range(times):
            value = value * value
        out[i] = value


# ------------------------------------------------------------------ the numbers


@dataclass(frozen=True)
class Row:
    """What the article prints, what pyrev gives, and to how many digits they agree."""

    what: str
    article: tuple[float, ...]
    found: tuple[float, ...]
    digits: int = 6

    @property
    def agrees(self) -> bool:
        pairs = zip(self.article, self.found, strict=True)
        return all(self.shown(a) == self.shown(b) for a, b in pairs)

    def shown(self, number: float) -> str:
        """The number as C++ streams print it, to the row's digits."""
        return f"{number:.{self.digits}g}"

    def __str__(self) -> str:
        columns = (", ".join(map(self.shown, n)) for n in (self.article, self.found))
        verdict = "agrees" if self.agrees else "DIFFERS"
        return f"{self.what:32} " + "".join(f"{c:30} " for c in columns) + verdict


def small(loop: Callable[..., Any]) -> pyrev.Differentiable:
    """A loop whose derivative runs without Numba: compiling would take longer."""
    return pyrev.differentiable(loop, target="python")


@dataclass(frozen=True)
class Descent:
    """The rotation found by gradient descent: error and rotated vector at each step."""

    errors: list[float]
    rotated: list[Array]


def learn_rotation(steps: int = STEPS) -> Descent:
    """Gradient descent on axis and angle; the axis is normalised after each step."""
    slope = pyrev.value_and_grad(small(rotation_error), wrt=("axis", "angle"))
    axis, angle = np.array([1.0, 0.0, 0.0]), 1.0
    descent = Descent([], [])
    for _ in range(steps):
        error, g = slope(axis, angle, SOURCE, TARGET)
        rotated = np.zeros(3)
        rotate(axis, angle, SOURCE, rotated)
        descent.errors.append(float(error))
        descent.rotated.append(rotated)
        axis = axis - RATE * g.axis
        axis /= np.linalg.norm(axis)
        angle -= RATE * float(g.angle)
    return descent


def rows(descent: Descent) -> list[Row]:
    """Every number that the article prints, beside pyrev's.

    The article computes in float32: its last error agrees to five digits.
    """
    errors = descent.errors
    _, moved = pyrev.jvp(small(square_and_root), 2.0, tangents={"a": 1.0})
    product = pyrev.grad(small(scaled_root))(2.0, 3.0)
    value, angle = pyrev.value_and_grad(small(angle_of))(1.0, 2.0)
    _, pullback = pyrev.vjp(small(gather), np.linspace(0, 1, 10), INDEX, np.zeros(4))
    gathered = pullback(out=np.ones(4)).a
    angle_by_pytorch = through_pytorch()
    return [
        Row("a*a, sqrt(a) at 2: forward", (4, 0.353553), _floats(moved["return"])),
        Row(
            "a*sqrt(b) at (2, 3): gradient",
            (1.73205, 0.57735),
            _floats(product.values()),
        ),
        Row("rotation: error 1", (1.34,), (errors[0],), 3),
        Row("rotation: error 3", (1.12665,), (errors[2],)),
        Row("rotation: error 20", (0.0653574,), (errors[19],), 5),
        Row("gather at 1, 4, 8, 4", (0, 1, 0, 0, 2, 0, 0, 0, 1, 0), _floats(gathered)),
        Row("atan2(1, 2)", (0.4636,), (float(value),), 4),
        Row("atan2(1, 2): gradient", (0.4, -0.2), _floats(angle.values()), 4),
        *([angle_by_pytorch] if angle_by_pytorch else []),
    ]


def through_pytorch() -> Row | None:
    """The angle's gradient by PyTorch's own `backward`; None where it is missing."""
    try:
        import torch

        from pyrev.torch import function
    except ImportError:
        return None
    y, x = (torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in (1, 2))
    function(small(angle_of))(y, x).backward()
    found = _floats((y.grad, x.grad))
    return Row("atan2(1, 2): through PyTorch", (0.4, -0.2), found, 4)


def edges(simplified: bool) -> int:
    """Partial derivatives in the graph of the error function."""
    text = str(small(error_function).graph(simplified=simplified))
    return len(re.findall(r' -> .*label="', text))


def _floats(numbers: Any) -> tuple[float, ...]:
    return tuple(float(n) for n in numbers)


def scattered() -> dict[str, tuple[float, ...]]:
    """Scatters read their cotangents at the places that they wrote.

    Where two values go to one place (4), the later one overwrites, and the first has no
    influence; if they are added, both have.
    """
    values, weights = np.ones(4), np.arange(10.0)
    found = {}
    for loop in (scatter, scatter_add):
        _, pullback = pyrev.vjp(small(loop), values, INDEX, np.zeros(10))
        found[loop.__name__] = _floats(pullback(out=weights).source)
    return found


# ------------------------------------------------------------------ the squarings


def starts(count: int) -> Array:
    """-1, 0, 1 and 0.999 in turn: what stays finite in all powers of two."""
    return np.resize(np.array([-1.0, 0.0, 1.0, 0.999]), count)


def closed_form(x: Array, times: int) -> Array:
    """The derivative of x ** (2 ** times), which is 2**times x ** (2**times - 1)."""
    slope = np.full_like(x, 2.0**times)
    for _ in range(times):  # the exponent is the sum of 2**t for t < times
        slope *= x
        x = x * x
    return slope


@dataclass(frozen=True)
class Run:
    """One differentiated run of the squarings."""

    name: str
    budget: int
    seconds: float
    extra: float
    """Bytes of the process at its peak beyond those before; nan if not known."""
    size: int
    """Bytes of one array."""
    right: bool

    @property
    def arrays(self) -> float:
        return self.extra / self.size

    @property
    def fits(self) -> bool:
        return not self.extra > self.budget + BEYOND * self.size

    def __str__(self) -> str:
        text = f"{self.name:32} {self.seconds:6.2f} s, {self.arrays:5.1f} arrays more"
        text += f" (budget {self.budget / self.size:.0f}), gradient "
        return text + ("as the closed form" if self.right else "WRONG")


def resident(name: str) -> float:
    """Bytes of this process: now (VmRSS), at its peak (VmHWM); nan but on Linux."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return math.nan
    found = [line.split()[1] for line in lines if line.startswith(name)]
    return int(found[0]) * 1024.0 if found else math.nan


def forget_peak() -> None:
    """Sets the peak of this process back to what it holds now (Linux: proc(5)).

    What pyrev and the allocator hold for later is given back first: taken again, it
    would not show.
    """
    pyrev.release()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc
    if trim is not None:
        trim(0)
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return


def differentiate_squarings(
    loop: Any,
    count: int,
    times: int,
    budget: int = 0,
    *,
    target: pyrev.TargetName = "numba",
    repeats: int = 2,
) -> Run:
    """Time and memory of the gradient of one of the two loops, after a first run.

    The gradient is of the sum of the powers. What the caller holds (the numbers, the
    cotangent, the result) is not counted; the gradient that is returned is.
    """
    function = pyrev.differentiable(loop, target=target, memory=budget or None)
    start = starts(count)
    cotangent = np.ones_like(start)
    expected = closed_form(start, times)
    seconds, extra, right = math.inf, math.nan, True
    for _ in range(repeats):
        x, out = start.copy(), np.ones_like(start)
        arguments = (x, times) if loop is square_in_place else (x, out, times)
        cotangents = {"x" if loop is square_in_place else "out": cotangent}
        forget_peak()
        before = resident("VmRSS")
        begin = time.perf_counter()
        _, pullback = pyrev.vjp(function, *arguments, wrt="x")
        g = pullback(cotangents=cotangents).x
        seconds = min(seconds, time.perf_counter() - begin)
        extra = resident("VmHWM") - before
        right = right and bool(np.array_equal(g, expected))
        del g, pullback
    return Run(loop.__name__, budget, seconds, extra, start.nbytes, right)


# ------------------------------------------------------------------ the command


def checks() -> list[pyrev.GradientReport]:
    """The gradients of all loops against differences, at small sizes."""
    rng = np.random.default_rng(0)
    r, axis = rng.random, rng.normal(size=3)
    arguments: list[tuple[Any, ...]] = [
        (square_and_root, 2.0),
        (scaled_root, 2.0, 3.0),
        (angle_of, 1.0, 2.0),
        (error_function, r(5) - 0.5, np.zeros(5)),
        (rotation, axis, 0.7, np.zeros((3, 3))),
        (rotate, axis, 0.7, SOURCE, np.zeros(3)),
        (rotation_error, axis, 0.7, SOURCE, TARGET),
        (gather, r(10), INDEX, np.zeros(4)),
        (scatter, r(4), INDEX, r(10)),
        (scatter_add, r(4), INDEX, r(10)),
        (square_in_place, 0.8 + 0.4 * r(5), 4),
        (square_each, 0.8 + 0.4 * r(5), np.zeros(5), 4),
    ]
    return [pyrev.check_grad(small(loop), *given) for loop, *given in arguments]


def draw(descent: Descent, runs: list[Run], path: Path) -> None:
    """Save the figure: the rotation's error, the vector's path, the memory."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13, 4), layout="constrained")
    FigureCanvasAgg(figure)
    axis = figure.add_subplot(1, 3, 1)
    axis.plot(range(1, len(descent.errors) + 1), descent.errors, "o-", ms=4)
    axis.plot([1, 3, 20], [1.34, 1.12665, 0.0653574], "x", ms=11, color="black")
    axis.legend(["pyrev", "printed by the article"])
    axis.set(title="rotation: error", xlabel="step", ylim=0)

    sphere: Any = figure.add_subplot(1, 3, 2, projection="3d")
    circle = np.linspace(0, 2 * np.pi, 90)
    for z in np.linspace(-0.9, 0.9, 7):
        r = math.sqrt(1 - z * z)
        sphere.plot(r * np.cos(circle), r * np.sin(circle), z, color="0.85", lw=0.7)
    sphere.plot(*np.transpose(descent.rotated), "o-", ms=4)
    sphere.plot(*TARGET[:, None], "*", ms=14, color="tab:red")
    sphere.view_init(elev=35, azim=80)
    sphere.set(title="the rotated vector, and its target", aspect="equal")
    sphere.set_axis_off()

    axis = figure.add_subplot(1, 3, 3)
    # 809 MiB before and 4803 MiB after, for arrays of 4 MiB.
    names = ["PyTorch\n(article)", *(run.name for run in runs)]
    arrays = [(4803 - 809) / 4, *(run.arrays for run in runs)]
    colours = ["0.6", "tab:blue", "tab:blue"]
    bars = axis.bar(names, arrays, color=colours[: len(names)])
    axis.bar_label(bars, fmt="%.0f")
    axis.set(title=f"{SQUARINGS} squarings: memory in arrays", yscale="log")
    axis.set_ylim(0.5, 3000)
    figure.savefig(path, dpi=80)


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python examples/enoki.py",
        description=(__doc__ or "").split("\n")[0],
    )
    parser.add_argument("--count", type=int, default=COUNT, help="numbers to square")
    parser.add_argument("--squarings", type=int, default=SQUARINGS)
    parser.add_argument("--output", type=Path, default=Path("enoki.png"))
    options = parser.parse_args(arguments)

    missed = [str(report) for report in checks() if not report]
    descent = learn_rotation()
    print(f"{'':32} {'the article prints':30} {'pyrev gives':30}")
    for row in rows(descent):
        print(row)
        if not row.agrees:
            missed.append(row.what)
    for name, gradient in scattered().items():
        print(f"{name + ' at 1, 4, 8, 4':32} gradient {gradient}")

    print(f"error function: {edges(False)} partials in its graph, then {edges(True)}")

    budget = BUDGET * options.count // COUNT
    print(
        f"\n{options.count} numbers squared {options.squarings} times, differentiated"
    )
    runs = []
    for loop, bound in tqdm([(square_in_place, budget), (square_each, 0)], unit="loop"):
        run = differentiate_squarings(loop, options.count, options.squarings, bound)
        runs.append(run)
        tqdm.write(str(run))
        if not run.right:
            missed.append(f"{run.name}: gradient")
        if not run.fits:
            missed.append(f"{run.name}: {BEYOND} arrays beyond the budget")
    draw(descent, runs, options.output)
    print(f"figure: {options.output}")
    for what in missed:
        print(f"missed: {what}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
