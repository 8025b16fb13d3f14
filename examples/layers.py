"""Custom layers of PyTorch from plain loops: spatial transformer, warp, bilateral grid.

    python examples/layers.py --output layers.png

Li et al. (Differentiable Programming for Image Processing and Deep Learning in Halide,
2018, section 5.1) write three layers of the literature as programs whose derivatives a
compiler makes, and argue that a change which would need a new operator elsewhere,
another interpolation or one dimension more, is then a change of a few lines. The loops
are in `examples/layer_loops.py`; here `pyrev.torch.function` makes them layers,
and each is trained with `torch.optim`:

- The spatial transformer finds the affine map between two pictures of a photograph,
  with each of its kernels, and that between two volumes of Gaussian blobs.
- The warp finds the smooth flow between two frames.
- The bilateral grid, with a guide that is learned too, learns a local tone mapping
  (adaptive histogram equalization) from one photograph before and after, at half its
  size; it is judged at full size against the best that one map for all pixels can do.

No picture is made with the loops that explain it: pixels are means over 4 x 4 points of
a cubic spline through a photograph of twice the resolution, voxels values of a formula.
Maps and flows are first found between blurred pictures, then between sharp ones.
"""

from __future__ import annotations

import argparse
import difflib
import inspect
import io
import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import layer_loops as loops
import numpy as np
import torch
from burst import SCALE, photograph
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter, map_coordinates, spline_filter
from skimage.exposure import equalize_adapthist
from torch.nn import functional
from tqdm import tqdm

import pyrev
import pyrev.torch

Array = NDArray[np.float64]
Loop = Callable[..., None]
Tick = Callable[[float], None]

KERNELS: tuple[Loop, ...] = (loops.bilinear, loops.bicubic, loops.lanczos)
"""Those of the plane; `loops.trilinear` is for volumes."""
FINE = 4
"""Points along a pixel that its value is the mean of."""
TURN, STRETCH, SHIFT = 9.0, 0.06, 0.08
"""The map to be found: degrees, relative lengths, parts of half a side."""
FLOW = 5.0
"""How far the flow goes at most, in pixels."""
STIFFNESS = 3e-5
"""Weight of the squares of how the flow bends."""
BLURS = (4.0, 1.5, 0.0)
"""Standard deviations in pixels, stage after stage."""


# ------------------------------------------------------------------ the layers


class SpatialTransformer(torch.nn.Module):
    """Resamples by an affine map [batch, axes, axes + 1], with the kernel of a loop."""

    def __init__(self, loop: Loop = loops.bilinear) -> None:
        super().__init__()
        self.resample = pyrev.torch.function(loop)

    def forward(self, image: torch.Tensor, theta: torch.Tensor) -> torch.Tensor:
        return self.resample(image, theta, torch.empty_like(image))


class Warp(torch.nn.Module):
    """Resamples by a flow [batch, 2, rows, columns] in pixels."""

    def __init__(self, loop: Loop = loops.warp) -> None:
        super().__init__()
        self.resample = pyrev.torch.function(loop)

    def forward(self, image: torch.Tensor, flow: torch.Tensor) -> torch.Tensor:
        return self.resample(image, flow, torch.empty_like(image))


class BilateralSlice(torch.nn.Module):
    """Maps colours as a grid of affine maps says, sliced by a guide."""

    def __init__(self, loop: Loop = loops.slice_grid) -> None:
        super().__init__()
        self.slice = pyrev.torch.function(loop)

    def forward(
        self, image: torch.Tensor, guide: torch.Tensor, grid: torch.Tensor
    ) -> torch.Tensor:
        out = torch.empty_like(image[:, :1]).expand(-1, grid.shape[1], -1, -1)
        return self.slice(image, guide, grid, out)


class ToneMapper(torch.nn.Module):
    """A grid that starts as the identity, and a guide of a few units a pixel."""

    def __init__(self, depth: int = 8, cells: int = 16) -> None:
        super().__init__()
        identity = torch.eye(3, 4).reshape(1, 3, 4, 1, 1, 1)
        self.grid = torch.nn.Parameter(identity.repeat(1, 1, 1, depth, cells, cells))
        self.hidden = torch.nn.Conv2d(3, 8, 1)
        self.out = torch.nn.Conv2d(8, 1, 1)
        self.slice = BilateralSlice()

    def guide(self, image: torch.Tensor) -> torch.Tensor:
        """Luminance, corrected by what the units learn: [batch, rows, columns]."""
        bent = self.out(torch.relu(self.hidden(image)))[:, 0]
        return torch.sigmoid(4 * (image.mean(1) + bent) - 2)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        return self.slice(image, self.guide(image), self.grid)


# ------------------------------------------------------------------ pictures


def tensor(picture: Any) -> torch.Tensor:
    """A picture [rows, columns, colour] as a batch of one."""
    return torch.from_numpy(np.float32(np.moveaxis(picture, -1, 0)[None]))


def blurred(picture: torch.Tensor, sigma: float) -> torch.Tensor:
    """Along all axes but batch and channel."""
    if not sigma:
        return picture
    sigmas = (0.0, 0.0) + (sigma,) * (picture.ndim - 2)
    return torch.from_numpy(gaussian_filter(picture.numpy(), sigmas, mode="nearest"))


def seen(
    photo: Array, place: Callable[[Array, Array], tuple[Array, Array]]
) -> torch.Tensor:
    """What a camera sees of a photograph of SCALE times its resolution.

    `place` takes columns and rows of the picture to those of one that is not moved.
    """
    size = photo.shape[0] // SCALE
    steps = (np.arange(FINE * size) + 0.5) / FINE - 0.5
    u, v = place(*np.meshgrid(steps, steps))
    at = (SCALE * (v + 0.5) - 0.5, SCALE * (u + 0.5) - 0.5)
    planes = [
        map_coordinates(
            spline_filter(photo[..., c]), at, mode="mirror", prefilter=False
        )
        .reshape(size, FINE, size, FINE)
        .mean((1, 3))
        for c in range(3)
    ]
    return tensor(np.stack(planes, -1))


def still(x: Array, y: Array) -> tuple[Array, Array]:
    return x, y


def psnr(picture: torch.Tensor, truth: torch.Tensor) -> float:
    """Peak signal to noise ratio in dB; pictures are in [0, 1]."""
    return -10 * math.log10(float(torch.mean((picture - truth) ** 2)))


# ------------------------------------------------------------------ training


def train(
    parameters: Any,
    rate: float,
    steps: int,
    loss: Callable[[int], torch.Tensor],
    tick: Tick,
) -> None:
    """Adam, its rate falling to a hundredth; the loss of step k is `loss(k)`."""
    optimizer = torch.optim.Adam(parameters, lr=rate)
    schedule = torch.optim.lr_scheduler.ExponentialLR(
        optimizer, 0.01 ** (1 / max(steps, 1))
    )
    for k in range(steps):
        optimizer.zero_grad()
        found = loss(k)
        found.backward()
        optimizer.step()
        schedule.step()
        tick(float(found.detach()))


def stages(pictures: tuple[torch.Tensor, ...], steps: int) -> Callable[[int], Any]:
    """What blurred pictures step k sees."""
    by_stage = [tuple(blurred(p, sigma) for p in pictures) for sigma in BLURS]
    return lambda k: by_stage[len(BLURS) * k // steps]


def turned(axes: int, *, turn: float = TURN, rigid: bool = False) -> Array:
    """The affine map to be found, [axes, axes + 1].

    It turns the last two axes of a picture, or a volume about a line through its
    corners; a rigid one does not stretch.
    """
    angle = math.radians(turn)
    if axes == 2:
        matrix = np.array(
            [[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]]
        )
    else:
        axis = np.ones(3) / math.sqrt(3)
        cross = np.cross(np.eye(3), axis)
        matrix = np.eye(3) + math.sin(angle) * cross
        matrix += (1 - math.cos(angle)) * cross @ cross
    if not rigid:
        matrix = matrix @ np.diag(1 + STRETCH * np.linspace(-1, 1, axes))
    shift = SHIFT * np.linspace(1, -0.5, axes)
    return np.concatenate((matrix, shift[:, None]), 1)


def degrees(theta: Array) -> float:
    """How far the nearest rotation turns."""
    u, _, vt = np.linalg.svd(theta[:, :-1])
    trace = float(np.trace(u @ vt))
    cosine = 0.5 * trace if len(theta) == 2 else 0.5 * (trace - 1)
    return math.degrees(math.acos(min(1.0, max(-1.0, cosine))))


def corner_error(theta: Array, truth: Array, size: int) -> float:
    """Mean distance of where two maps take the corners, in pixels."""
    axes = len(theta)
    corners = np.indices((2,) * axes).reshape(axes, -1) * 2 - 1
    moved = (theta - truth) @ np.concatenate((corners, np.ones((1, 2**axes))))
    return float(0.5 * (size - 1) * np.mean(np.linalg.norm(moved, axis=0)))


@dataclass(frozen=True)
class Found:
    """An affine map that a spatial transformer found."""

    name: str
    truth: Array
    theta: Array
    errors: list[float]
    """Of the corners, in pixels, at the start and after each step."""
    seconds: float

    def __str__(self) -> str:
        off = abs(degrees(self.theta) - degrees(self.truth))
        return (
            f"{self.name:<11}corners{self.errors[0]:8.3f} ->{self.errors[-1]:8.4f} px"
            f"   turn {degrees(self.truth):.2f} ->{off:8.4f} degrees off"
            f"   {self.seconds:6.1f} s"
        )


def register(
    loop: Loop,
    image: torch.Tensor,
    target: torch.Tensor,
    truth: Array,
    steps: int,
    tick: Tick,
) -> Found:
    """The map by which `image` becomes `target`, from the identity."""
    axes, size = len(truth), image.shape[-1]
    transformer = SpatialTransformer(loop)
    theta = torch.nn.Parameter(torch.eye(axes, axes + 1)[None])
    # What lies outside the image counts as zero: of the target, only the middle, which
    # the map leaves inside, is compared.
    margin = size // 6
    middle = (..., *(slice(margin, -margin),) * axes)
    pictures = stages((image, target), steps)
    errors = [corner_error(theta[0].detach().numpy(), truth, size)]

    def loss(k: int) -> torch.Tensor:
        image, target = pictures(k)
        return functional.mse_loss(transformer(image, theta)[middle], target[middle])

    def watch(value: float) -> None:
        errors.append(corner_error(theta[0].detach().numpy(), truth, size))
        tick(value)

    start = time.perf_counter()
    train([theta], 0.01, steps, loss, watch)
    seconds = time.perf_counter() - start
    found = theta[0].detach().double().numpy()
    return Found(loop.__name__, truth, found, errors, seconds)


def plane(photo: Array) -> tuple[torch.Tensor, torch.Tensor, Array]:
    """A photograph, the same one seen through an affine map, and the map."""
    half, truth = 0.5 * (photo.shape[0] // SCALE - 1), turned(2)

    def place(x: Array, y: Array) -> tuple[Array, Array]:
        x, y = x / half - 1, y / half - 1
        u, v = (truth[k, 0] * x + truth[k, 1] * y + truth[k, 2] for k in range(2))
        return half * (u + 1), half * (v + 1)

    return seen(photo, still), seen(photo, place), truth


def volume(size: int) -> tuple[torch.Tensor, torch.Tensor, Array]:
    """Forty Gaussian blobs, the same ones through a rigid motion, and the motion."""
    rng = np.random.default_rng(5)
    centres, weights = rng.uniform(-0.9, 0.9, (40, 3)), rng.uniform(-1, 1, 40)
    truth = turned(3, rigid=True)
    line = np.linspace(-1, 1, size)
    z, y, x = np.meshgrid(line, line, line, indexing="ij")
    at = np.stack((x, y, z, np.ones_like(x)))

    def value(u: Array) -> torch.Tensor:
        total = np.zeros(u.shape[1:])
        for centre, weight in zip(centres, weights, strict=True):
            square = ((u - centre[:, None, None, None]) ** 2).sum(0)
            total += weight * np.exp(-square / (2 * 0.15**2))
        return torch.from_numpy(np.float32(total[None, None]))

    return value(at[:3]), value(np.tensordot(truth, at, 1)), truth


# ------------------------------------------------------------------ flow


def smooth_flow(size: int) -> Callable[[Array, Array], Array]:
    """A flow [2, ...] of a few waves no shorter than a picture, at columns and rows."""
    rng = np.random.default_rng(8)
    waves = rng.uniform(-1.0, 1.0, (2, 3, 2))
    phases = rng.uniform(0, 2 * math.pi, (2, 3))

    def raw(x: Array, y: Array) -> Array:
        rows = []
        for k in range(2):
            angles = [
                2 * math.pi * (w[0] * x + w[1] * y) / size + phase
                for w, phase in zip(waves[k], phases[k], strict=True)
            ]
            rows.append(np.sum(np.cos(angles), 0))
        return np.stack(rows)

    line = np.arange(size, dtype=np.float64)
    largest = np.linalg.norm(raw(*np.meshgrid(line, line)), axis=0).max()
    return lambda x, y: FLOW / largest * raw(x, y)


@dataclass(frozen=True)
class Flow:
    """A flow that the warp found."""

    frame: Array
    truth: Array
    flow: Array
    errors: list[float]
    """End point errors in pixels, at the start and after each step."""
    seconds: float

    def __str__(self) -> str:
        return (
            f"{'warp':<11}end points{self.errors[0]:5.2f} ->{self.errors[-1]:8.4f} px"
            f"   of at most {np.linalg.norm(self.truth, axis=0).max():.1f} px"
            f"           {self.seconds:6.1f} s"
        )


def find_flow(photo: Array, steps: int, tick: Tick) -> Flow:
    """The flow by which the second frame becomes the first, from none."""
    size = photo.shape[0] // SCALE
    flow_at = smooth_flow(size)
    line = np.arange(size, dtype=np.float64)
    truth = flow_at(*np.meshgrid(line, line))

    def place(x: Array, y: Array) -> tuple[Array, Array]:
        dx, dy = flow_at(x, y)
        return x + dx, y + dy

    second, first = seen(photo, still), seen(photo, place)
    warp = Warp()
    # Where a photograph is flat anything would do: the flow bends at few places, and
    # little.
    knots = torch.nn.Parameter(torch.zeros(1, 2, 10, 10))
    margin = math.ceil(FLOW) + 1
    middle = np.s_[..., margin:-margin, margin:-margin]

    def flow() -> torch.Tensor:
        return functional.interpolate(
            knots, (size, size), mode="bicubic", align_corners=True
        )

    def error() -> float:
        off = flow().detach()[0].numpy() - truth
        return float(np.mean(np.linalg.norm(off[middle], axis=0)))

    pictures = stages((second, first), steps)
    errors = [error()]

    def loss(k: int) -> torch.Tensor:
        second, first = pictures(k)
        bends = torch.diff(knots, 2, 2).square().mean()
        bends = bends + torch.diff(knots, 2, 3).square().mean()
        error = functional.mse_loss(warp(second, flow())[middle], first[middle])
        return error + STIFFNESS * bends

    def watch(value: float) -> None:
        errors.append(error())
        tick(value)

    start = time.perf_counter()
    train([knots], 0.4, steps, loss, watch)
    seconds = time.perf_counter() - start
    frame = np.moveaxis(first[0].numpy(), 0, -1).astype(np.float64)
    return Flow(frame, truth, flow().detach()[0].numpy(), errors, seconds)


# ------------------------------------------------------------------ tone mapping


def best_affine(photo: Array, mapped: Array) -> Array:
    """The affine map of colours nearest to a tone mapping."""
    flat = np.concatenate((photo.reshape(-1, 3), np.ones((photo[..., 0].size, 1))), 1)
    solution = np.linalg.lstsq(flat, mapped.reshape(-1, 3), rcond=None)[0]
    return np.asarray((flat @ solution).reshape(photo.shape), np.float64)


def best_curves(photo: Array, mapped: Array) -> Array:
    """The nearest curve for each colour: to each of 256 levels its mean in `mapped`."""
    result = np.empty_like(photo)
    for c in range(3):
        level = np.rint(255 * photo[..., c]).astype(np.intp).ravel()
        count = np.maximum(np.bincount(level, minlength=256), 1)
        mean = np.bincount(level, mapped[..., c].ravel(), minlength=256) / count
        result[..., c] = mean[level].reshape(photo.shape[:2])
    return result


@dataclass(frozen=True)
class Tone:
    """A tone mapping that was learned; PSNR in dB, at full size."""

    photo: Array
    mapped: Array
    curves: Array
    learned: Array
    guide: Array
    psnr: dict[str, float]
    seconds: float

    @property
    def gain(self) -> float:
        """Over the best that one map for all pixels can do."""
        return self.psnr["grid"] - max(self.psnr["affine"], self.psnr["curves"])

    def __str__(self) -> str:
        p = self.psnr
        return (
            f"{'slice':<11}{p['photo']:.2f} ->{p['grid']:6.2f} dB"
            f"   best affine map {p['affine']:.2f}, best curves {p['curves']:.2f}"
            f"   {self.seconds:6.1f} s"
        )


def learn_tones(photo: Array, steps: int, tick: Tick) -> Tone:
    """Adaptive histogram equalization, from one photograph at half its size."""
    mapped = np.asarray(equalize_adapthist(photo, clip_limit=0.02), np.float64)
    large, wanted = tensor(photo), tensor(mapped)
    small, small_wanted = (functional.avg_pool2d(p, 2) for p in (large, wanted))
    with torch.random.fork_rng():
        torch.manual_seed(0)
        mapper = ToneMapper()

    def loss(k: int) -> torch.Tensor:
        return functional.mse_loss(mapper(small), small_wanted)

    start = time.perf_counter()
    train(mapper.parameters(), 0.03, steps, loss, tick)
    seconds = time.perf_counter() - start
    with torch.no_grad():
        learned, guide = mapper(large), mapper.guide(large)
    affine, curves = best_affine(photo, mapped), best_curves(photo, mapped)
    return Tone(
        photo,
        mapped,
        curves,
        np.moveaxis(learned[0].double().numpy(), 0, -1),
        guide[0].double().numpy(),
        {
            "photo": psnr(large, wanted),
            "affine": psnr(tensor(affine), wanted),
            "curves": psnr(tensor(curves), wanted),
            "grid": psnr(learned, wanted),
        },
        seconds,
    )


# ------------------------------------------------------------------ the command


def changed(new: Loop, old: Loop) -> tuple[int, int]:
    """How many lines of a loop function are not in another, and how many it has."""
    before, after = (
        [line.strip() for line in inspect.getsource(f).splitlines()] for f in (old, new)
    )
    lines = list(difflib.ndiff(before, after))
    return sum(line.startswith("+ ") for line in lines), len(after)


def checks() -> list[pyrev.GradientReport]:
    """Every gradient against differences of the plain loops."""
    return [
        pyrev.check_grad(
            pyrev.differentiable(getattr(loops, name), target="python"), *arguments
        )
        for name, arguments in loops.small_arguments().items()
    ]


@dataclass(frozen=True)
class Settings:
    """Sizes in pixels and numbers of steps."""

    size: int = 128
    solid: int = 32
    tones: int = 192
    steps: int = 120
    flow_steps: int = 300
    tone_steps: int = 200
    photo: str = "motorcycle"


QUICK = Settings(64, 16, 64, steps=60, flow_steps=60, tone_steps=60)


@dataclass(frozen=True)
class Result:
    """Everything that the figure shows."""

    image: Array
    target: Array
    maps: list[Found]
    flow: Flow
    tone: Tone

    def missed(self) -> list[str]:
        """The bars that this run did not reach."""
        bars = {
            **{
                f"{found.name}: a tenth of a pixel": found.errors[-1] < 0.1
                for found in self.maps
            },
            "warp: a tenth of the error": self.flow.errors[-1]
            < 0.1 * self.flow.errors[0],
            "slice: 3 dB more than one map for all pixels": self.tone.gain >= 3,
        }
        return [name for name, reached in bars.items() if not reached]

    def summary(self) -> str:
        """The figures, one a line."""
        missed = "missed: " + "; ".join(self.missed()) if self.missed() else "reached"
        rows = [*map(str, self.maps), str(self.flow), str(self.tone)]
        return "\n".join((*rows, f"bars       {missed}"))


def solve(settings: Settings | None = None, *, progress: bool = True) -> Result:
    """Train every layer."""
    settings = settings or Settings()
    photo = photograph(settings.photo, settings.size)
    with tqdm(
        total=(len(KERNELS) + 1) * settings.steps
        + settings.flow_steps
        + settings.tone_steps,
        desc="training",
        unit="step",
        disable=None if progress else True,
    ) as bar:

        def tick(loss: float) -> None:
            bar.set_postfix(loss=f"{loss:.2e}", refresh=False)
            bar.update()

        image, target, truth = plane(photo)
        grey, grey_target = (p.mean(1, keepdim=True) for p in (image, target))
        maps = [
            register(loop, grey, grey_target, truth, settings.steps, tick)
            for loop in KERNELS
        ]
        maps.append(
            register(loops.trilinear, *volume(settings.solid), settings.steps, tick)
        )
        flow = find_flow(photo, settings.flow_steps, tick)
        tone = learn_tones(
            photograph(settings.photo, settings.tones), settings.tone_steps, tick
        )
    before, after = (np.moveaxis(p[0].double().numpy(), 0, -1) for p in (image, target))
    return Result(before, after, maps, flow, tone)


def coloured(flow: Array) -> Array:
    """A flow as colours: its direction the hue, its length the saturation."""
    from matplotlib.colors import hsv_to_rgb

    hue = (np.arctan2(flow[1], flow[0]) / (2 * math.pi)) % 1
    length = np.minimum(np.linalg.norm(flow, axis=0) / FLOW, 1)
    return np.asarray(hsv_to_rgb(np.stack((hue, length, np.ones_like(hue)), -1)))


def draw(result: Result, path: Path) -> None:
    """Save the figure, a layer a row."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from PIL import Image

    figure = Figure(figsize=(12, 9), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(3, 4)
    flow, tone = result.flow, result.tone
    shown: tuple[tuple[Any, str, Array], ...] = (
        (axes[0, 0], "photograph", result.image),
        (axes[0, 1], f"turned by {TURN:.0f} degrees", result.target),
        (axes[1, 0], "frame", flow.frame),
        (axes[1, 1], "flow (hue: direction)", coloured(flow.truth)),
        (axes[1, 2], "flow, found", coloured(flow.flow)),
        (axes[2, 0], f"photograph: {tone.psnr['photo']:.1f} dB", tone.photo),
        (axes[2, 1], f"best curves: {tone.psnr['curves']:.1f} dB", tone.curves),
        (axes[2, 2], f"bilateral grid: {tone.psnr['grid']:.1f} dB", tone.learned),
        (axes[2, 3], "local tone mapping", tone.mapped),
    )
    for axis, title, picture in shown:
        axis.imshow(np.clip(picture, 0, 1))
        axis.set(title=title, xticks=[], yticks=[])
    both = figure.add_subplot(axes[0, 2].get_gridspec()[0, 2:])
    axes[0, 2].remove()
    axes[0, 3].remove()
    for found in result.maps:
        both.semilogy(found.errors, label=found.name)
    both.legend(title="error of the corners, pixels", fontsize=9)
    axes[1, 3].semilogy(flow.errors)
    axes[1, 3].set_title("end point error, pixels")
    for axis in (both, axes[1, 3]):
        axis.set(xlabel="step")
        axis.grid(alpha=0.3)
    # A palette keeps the file small.
    buffer = io.BytesIO()
    figure.savefig(buffer, dpi=75)
    Image.open(buffer).convert("RGB").quantize(200).save(path, optimize=True)


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python examples/layers.py",
        description=(__doc__ or "").split("\n")[0],
    )
    parser.add_argument(
        "--quick", action="store_true", help="small pictures; may miss the bars"
    )
    parser.add_argument("--output", type=Path, default=Path("layers.png"))
    options = parser.parse_args(arguments)

    start = time.perf_counter()
    reports = checks()
    print(*reports, sep="\n")
    for loop in (*KERNELS[1:], loops.trilinear, loops.warp):
        lines, of = changed(loop, loops.bilinear)
        print(f"{loop.__name__:<11}{lines} of its {of} lines are not those of bilinear")
    result = solve(QUICK if options.quick else None)
    print(result.summary())
    draw(result, options.output)
    print(f"time       {time.perf_counter() - start:.1f} s")
    print(f"figure     {options.output}")
    return 0 if all(reports) and not result.missed() else 1


if __name__ == "__main__":
    sys.exit(main())
