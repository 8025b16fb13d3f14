"""The cell of a hierarchical multiscale LSTM: three branches, value and all partials.

    python examples/hm_lstm.py --output hm_lstm.png

A boundary of its own level makes a cell flush, one of the level below makes it update,
and where there is neither it copies (Chung, Ahn and Bengio, Hierarchical Multiscale
Recurrent Neural Networks, 2017). Revels et al. (Dynamic Automatic Differentiation of
GPU Broadcast Kernels, 2018) differentiate that update, whose branches data decides, in
mixed mode: forward within an element, reverse around the whole. `pyrev.partials` gives
value and partials by c, f, i and g in one loop, `pyrev.vjp` the gradients; both are
compared with PyTorch's, where a branch is `torch.where` and so computes both sides.
(Where the second article's conditions overlap, those of the first one decide.)

A cell that copies needs no gates. Here they may hold anything, even nan: what a branch
does not read reaches no gradient. Through `torch.where` it does, as zero times nan.

Then two levels of cells are trained on sequences of letters that form words, and words
that form sentences. The lower level sees letters and flushes after a word; the upper
one sees the lower one at the ends of words, copies in between and flushes after a
sentence, at whose end it tells how many of its words end as they began. The same
weights as ordinary LSTM cells, which update at every letter, are trained beside it,
with the same letters and boundaries as input.
"""

from __future__ import annotations

import argparse
import functools
import importlib.util
import math
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from adam import Adam
from numpy.typing import NDArray
from tqdm import tqdm

import pyrev

Array = NDArray[np.float64]
Flags = NDArray[np.int64]
GATES = ("c", "f", "i", "g")


# ------------------------------------------------------------------ the loops


def sigmoid(x):
    return 1.0 / (1.0 + math.exp(-x))


def cell(c, f, i, g, own, below):
    """The next state of a cell from boundaries of its own level and of that below."""
    if own == 1:  # flush
        return sigmoid(i) * math.tanh(g)
    if below == 1:  # update
        return sigmoid(f) * c + sigmoid(i) * math.tanh(g)
    return c  # copy


def update(c, f, i, g, own, below, out):
    """Cells [sequence, unit]; boundaries are those of a sequence."""
    for n in range(out.shape[0]):
        for k in range(out.shape[1]):
            out[n, k] = cell(c[n, k], f[n, k], i[n, k], g[n, k], own[n], below[n])


def advance(weights, x, own, below, t, gates, c, h):
    """Step t of a level: from input x, cells c[t] and outputs h[t] to the next ones.

    Weights are [4 units, inputs + units + 1]; the gates f, i, g and that of the output
    are in them one after another. Who copies needs none.
    """
    units = c.shape[1]
    if own == 1 or below == 1:
        for k in range(4 * units):
            gates[t, k] = weights[k, x.shape[0] + units]
            for j in range(x.shape[0]):
                gates[t, k] += weights[k, j] * x[j]
            for j in range(units):
                gates[t, k] += weights[k, x.shape[0] + j] * h[t, j]
    for k in range(units):
        f, i, g = gates[t, k], gates[t, units + k], gates[t, 2 * units + k]
        c[t + 1, k] = cell(c[t, k], f, i, g, own, below)
        h[t + 1, k] = h[t, k]
        if own == 1 or below == 1:
            h[t + 1, k] = sigmoid(gates[t, 3 * units + k]) * math.tanh(c[t + 1, k])


def reading_loss(
    lower, upper, readout, letters, words, sentences, wanted, hierarchical, answers
):
    """Mean squared error of the answers at the ends of sentences.

    Letters are [sequence, time, inputs]; words and sentences [sequence, time] are 1
    where one ends. Cells that are not hierarchical update at every letter.
    """
    steps = letters.shape[1]
    units = lower.shape[0] // 4
    error = 0.0
    count = 0
    for n in range(letters.shape[0]):
        gates = np.zeros((steps, 4 * units))
        c = np.zeros((steps + 1, units))
        h = np.zeros((steps + 1, units))
        gates_upper = np.zeros((steps, 4 * units))
        c_upper = np.zeros((steps + 1, units))
        h_upper = np.zeros((steps + 1, units))
        word = 0
        sentence = 0
        for t in range(steps):
            ends = 1
            if hierarchical == 1:
                ends = words[n, t]
            advance(lower, letters[n, t], word, 1, t, gates, c, h)
            advance(upper, h[t + 1], sentence, ends, t, gates_upper, c_upper, h_upper)
            if hierarchical == 1:
                word = words[n, t]
                sentence = sentences[n, t]
            if sentences[n, t] == 1:
                answer = readout[units]
                for k in range(units):
                    answer += readout[k] * h_upper[t + 1, k]
                answers[n, t] = answer
                error += (answer - wanted[n, t]) ** 2
                count += 1
    return error / count


# ------------------------------------------------------------------ the cell


@dataclass(frozen=True)
class Cells:
    """States, gates and boundaries of cells."""

    c: Array
    f: Array
    i: Array
    g: Array
    own: Flags
    below: Flags

    @property
    def arguments(self) -> tuple[Any, ...]:
        """Those of `update`, with an array for its result."""
        states = (self.c, self.f, self.i, self.g)
        return (*states, self.own, self.below, np.zeros_like(self.c))

    @property
    def branch(self) -> Flags:
        """0 where a cell copies, 1 where it updates, 2 where it flushes."""
        return np.where(self.own == 1, 2, self.below)


def cells(sequences: int, units: int, *, poisoned: bool = False) -> Cells:
    """Random ones; poisoned, the gates of those that copy are nan."""
    rng = np.random.default_rng(2)
    c, f, i, g = rng.normal(0, 1.5, (4, sequences, units))
    own, below = rng.integers(0, 2, (2, sequences))
    if poisoned:
        for gate in (f, i, g):
            gate[(own == 0) & (below == 0)] = math.nan
    return Cells(c, f, i, g, own, below)


@functools.cache
def updated(target: pyrev.TargetName) -> pyrev.Differentiable:
    """The cell's update, read once for each target."""
    return pyrev.differentiable(update, target=target)


def partials(
    given: Cells, target: pyrev.TargetName = "auto"
) -> tuple[Array, dict[str, Array]]:
    """The next states, and their partial derivatives, from one loop."""
    arguments = given.arguments
    _, found = pyrev.partials(updated(target), *arguments, wrt=GATES)
    return arguments[-1], dict(found["out"])


def gradients(
    given: Cells, cotangent: Array, target: pyrev.TargetName = "auto"
) -> dict[str, Array]:
    """Those of the states, weighted by the cotangent, in reverse."""
    _, pullback = pyrev.vjp(updated(target), *given.arguments, wrt=GATES)
    return dict(pullback(out=cotangent))


def by_torch(
    given: Cells, cotangent: Array | None = None
) -> tuple[Array, dict[str, Array]]:
    """The next states and their gradients by PyTorch, with `torch.where`."""
    import torch

    c, f, i, g = (
        torch.from_numpy(getattr(given, name)).clone().requires_grad_()
        for name in GATES
    )
    own, below = (torch.from_numpy(z == 1)[:, None] for z in (given.own, given.below))
    new = torch.sigmoid(i) * torch.tanh(g)
    kept = torch.where(below, torch.sigmoid(f) * c + new, c)
    out = torch.where(own, new, kept)
    weight = torch.ones_like(out) if cotangent is None else torch.from_numpy(cotangent)
    out.backward(weight)
    slopes = {name: x.grad.numpy() for name, x in zip(GATES, (c, f, i, g), strict=True)}
    return out.detach().numpy(), slopes


@dataclass(frozen=True)
class Compared:
    """Largest differences to PyTorch, how many nans each has, and times in ms."""

    partials: float
    gradients: float
    nans: tuple[int, int]
    """Of all gradients of poisoned cells: pyrev's, PyTorch's."""
    times: dict[str, float]

    @property
    def right(self) -> bool:
        """Do the gradients agree, and are pyrev's finite where gates are nan?"""
        return max(self.partials, self.gradients) < 1e-12 and self.nans[0] == 0

    def __str__(self) -> str:
        times = ", ".join(f"{name} {t:.1f} ms" for name, t in self.times.items())
        return (
            f"to PyTorch         partials {self.partials:.1e}, gradients"
            f" {self.gradients:.1e} off at most\n"
            f"gates of nan       in cells that copy: {self.nans[0]} nans in the"
            f" gradients, {self.nans[1]} through torch.where\n"
            f"time               {times}"
        )


def median(call: Callable[[], Any], rounds: int = 9) -> float:
    """Milliseconds of a call that was made before."""
    times = []
    call()
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return 1e3 * statistics.median(times)


def compare(
    sequences: int = 1024, units: int = 512, target: pyrev.TargetName = "auto"
) -> Compared:
    """pyrev's value, partials and gradients against PyTorch's."""
    given = cells(sequences, units)
    cotangent = np.random.default_rng(4).normal(size=given.c.shape)
    out, found = partials(given, target)
    expected, slopes = by_torch(given)
    of_partials = max(
        float(np.max(np.abs(a - b)))
        for a, b in [(out, expected), *((found[k], slopes[k]) for k in GATES)]
    )
    found = gradients(given, cotangent, target)
    _, slopes = by_torch(given, cotangent)
    of_gradients = max(float(np.max(np.abs(found[k] - slopes[k]))) for k in GATES)
    poisoned = cells(sequences, units, poisoned=True)
    nans = tuple(
        sum(int(np.isnan(slope).sum()) for slope in made.values())
        for made in (
            gradients(poisoned, cotangent, target),
            by_torch(poisoned, cotangent)[1],
        )
    )
    times = {
        "value and partials": median(lambda: partials(given, target)),
        "value and gradients": median(lambda: gradients(given, cotangent, target)),
        "PyTorch": median(lambda: by_torch(given, cotangent)),
    }
    return Compared(of_partials, of_gradients, (nans[0], nans[1]), times)


# ------------------------------------------------------------------ reading


@dataclass(frozen=True)
class Text:
    """Sequences of letters, where words and sentences end, and what is to be told."""

    letters: Array
    words: Flags
    sentences: Flags
    wanted: Array

    @property
    def spread(self) -> float:
        """The error of who always tells the mean."""
        return float(np.var(self.wanted[self.sentences == 1]))


def write(sequences: int, length: int, rng: np.random.Generator) -> Text:
    """Words of two to five letters -1 and 1, sentences of two to four words.

    The inputs are the letter and, as 1, the ends of a word and of a sentence.
    """
    letters = np.zeros((sequences, length, 3))
    words, sentences = np.zeros((2, sequences, length), np.int64)
    wanted = np.zeros((sequences, length))
    letters[..., 0] = rng.choice((-1.0, 1.0), (sequences, length))
    for n in range(sequences):
        at = 0
        while True:
            sizes = rng.integers(2, 6, rng.integers(2, 5))
            if at + sizes.sum() > length:
                break
            same = 0
            for size in sizes:
                same += letters[n, at, 0] == letters[n, at + size - 1, 0]
                at += size
                words[n, at - 1] = 1
            sentences[n, at - 1] = 1
            wanted[n, at - 1] = same
    letters[..., 1], letters[..., 2] = words, sentences
    return Text(letters, words, sentences, wanted)


@dataclass(frozen=True)
class Read:
    """How well one kind of cells read; errors are parts of the variance."""

    name: str
    losses: list[float]
    error: float
    """On sequences that it was not trained on."""
    exact: float
    """Of the sentences there, how many are told rightly after rounding."""
    seconds: float

    def __str__(self) -> str:
        return (
            f"{self.name:<19}error {self.losses[0]:.3f} -> {self.losses[-1]:.3f}"
            f" of the variance, new text {self.error:.3f}, {self.exact:.0%} exact,"
            f" {self.seconds:.1f} s"
        )


def learn(
    hierarchical: bool,
    steps: int,
    tick: Callable[[], None],
    *,
    sequences: int = 256,
    length: int = 40,
    units: int = 12,
    loss_of: Callable[..., float] = reading_loss,
) -> Read:
    """Train two levels with Adam, and try them on new text."""
    rng = np.random.default_rng(1)
    text, new = (write(sequences, length, rng) for _ in range(2))
    lower = rng.normal(0, 0.3, (4 * units, 3 + units + 1))
    upper = rng.normal(0, 0.3, (4 * units, 2 * units + 1))
    readout = rng.normal(0, 0.3, units + 1)
    parts = [Adam(start.copy(), 0.02) for start in (lower, upper, readout)]
    loss_of = pyrev.differentiable(loss_of)
    gradient = pyrev.value_and_grad(loss_of, wrt=("lower", "upper", "readout"))

    def given(of: Text) -> tuple[Any, ...]:
        of_text = (of.letters, of.words, of.sentences, of.wanted, int(hierarchical))
        return (*(part.x for part in parts), *of_text, np.zeros_like(of.wanted))

    losses = []
    start = time.perf_counter()
    for factor in np.geomspace(1.0, 0.05, steps):
        loss, slope = gradient(*given(text))
        losses.append(float(loss) / text.spread)
        for part, s in zip(parts, slope.values(), strict=True):
            part.step(s, float(factor))
        tick()
    seconds = time.perf_counter() - start
    arguments = given(new)
    error = float(loss_of(*arguments)) / new.spread
    told = np.rint(arguments[-1]) == new.wanted
    exact = float(np.mean(told[new.sentences == 1]))
    name = "hierarchical" if hierarchical else "ordinary LSTM"
    return Read(name, losses, error, exact, seconds)


# ------------------------------------------------------------------ the command


def small_arguments() -> dict[str, tuple[Any, ...]]:
    """Arguments of a few elements that take every branch."""
    rng = np.random.default_rng(6)
    r = rng.normal
    text = write(1, 12, rng)
    units = 2
    x, gates, c, h = r(size=3), np.zeros((2, 8)), r(size=(3, units)), r(size=(3, units))
    lower, upper = r(size=(8, 6)), r(size=(8, 5))
    own, below = np.array([0, 1, 0, 1]), np.array([0, 0, 1, 1])
    return {
        "sigmoid": (0.3,),
        "cell": (0.4, -0.3, 0.7, 0.2, 0, 1),
        "update": (*r(size=(4, 4, 3)), own, below, np.zeros((4, 3))),
        "advance": (lower, x, 0, 1, 1, gates, c, h),
        "reading_loss": (
            lower,
            upper,
            r(size=units + 1),
            text.letters,
            text.words,
            text.sentences,
            text.wanted,
            1,
            np.zeros_like(text.wanted),
        ),
    }


def checks() -> list[pyrev.GradientReport]:
    """Every gradient against differences of the plain loops."""
    return [
        pyrev.check_grad(
            pyrev.differentiable(globals()[name], target="python"), *arguments
        )
        for name, arguments in small_arguments().items()
    ]


def draw(reads: list[Read], path: Path, target: pyrev.TargetName = "auto") -> None:
    """Save the figure: branches, value and partials of some cells, and the training."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    given = cells(24, 24)
    out, found = partials(given, target)
    figure = Figure(figsize=(13, 5.4), layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.add_gridspec(2, 5)
    branch = np.broadcast_to(given.branch[:, None], out.shape)
    panels: tuple[tuple[str, Array], ...] = (
        ("next state", out),
        *((f"by {name}", found[name]) for name in GATES),
    )
    axis = figure.add_subplot(grid[0, 0])
    axis.imshow(branch, cmap="Set2", vmin=0, vmax=7)
    axis.set(title="branch", xticks=[], yticks=[], xlabel="unit", ylabel="sequence")
    for row, kind in enumerate(given.branch.tolist()):
        name = ("copy", "update", "flush")[kind]
        axis.text(12, row, name, fontsize=5, va="center", ha="center")
    for n, (title, values) in enumerate(panels, 1):
        axis = figure.add_subplot(grid[n // 3, n % 3])
        most = float(np.max(np.abs(values)))
        shown = axis.imshow(values, cmap="RdBu", vmin=-most, vmax=most)
        axis.set(title=title, xticks=[], yticks=[])
        figure.colorbar(shown, ax=axis, shrink=0.8)
    axis = figure.add_subplot(grid[:, 3:])
    for read in reads:
        label = f"{read.name}: new text {read.error:.3f}"
        axis.semilogy(read.losses, label=label)
    axis.set(title="error, part of the variance", xlabel="step")
    axis.legend()
    axis.grid(alpha=0.3)
    figure.savefig(path, dpi=80)


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python examples/hm_lstm.py",
        description=(__doc__ or "").split("\n")[0],
    )
    parser.add_argument("--steps", type=int, default=300, help="of Adam (default 300)")
    parser.add_argument("--output", type=Path, default=Path("hm_lstm.png"))
    options = parser.parse_args(arguments)

    start = time.perf_counter()
    print(updated("auto").adjoint.source)
    reports = checks()
    print(*reports, sep="\n")
    right = all(reports)
    if importlib.util.find_spec("torch") is None:
        print("to PyTorch         not compared: it is not installed")
    else:
        compared = compare()
        print(compared)
        right = right and compared.right
    with tqdm(total=2 * options.steps, desc="reading", unit="step", disable=None) as t:
        reads = [learn(kind, options.steps, t.update) for kind in (True, False)]
    print(*reads, sep="\n")
    draw(reads, options.output)
    print(f"time               {time.perf_counter() - start:.1f} s")
    print(f"figure             {options.output}")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
