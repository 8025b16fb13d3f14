"""Convolution, its transpose and pooling in 1, 2, 3 and 5 dimensions, with gradients.

    python examples/tile.py --output tile.png

The PlaidML article "Fully Automatic Differentiation for Tensor Expressions" (2018)
asks a compiler for the gradients of primitive operations, so that a new one needs its
forward pass only: any number of dimensions, every padding, stride, dilation, groups.
Here those operations are plain loops, with padding as a test of the index, and the
gradients of all operands come from the loops. `article` is the article's own example,
stride 3 and dilation 2: what it obtains with lattices ("Reduce", "Defractionalization")
is in `article.adjoint.source` a gather with a test of divisibility.

Layouts are the article's: arrays [batch, ...space, channels], kernels [...space,
channels in, channels out]. With groups, the channels on the side that is summed over
are those of one group: kernels are [..., in / groups, out] for convolutions and
[..., in, out / groups] for transposed ones. Stride and dilation are the same along
all axes; padding before is an argument for each axis, padding after is what the size
of the result leaves. `window` and `transposed_window` compute sizes.

The command prints how each loop of each adjoint runs and checks every gradient on a
case with padding, stride, dilation and groups; its exit status is 1 if one is wrong.
"""

from __future__ import annotations

import argparse
import inspect
import math
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

import pyrev

Array = NDArray[np.float64]
Padding = str | tuple[int, int]


# ------------------------------------------------------------------ the loops


def gather_channels(source, weights, groups, target):
    """Channels [out] of a place from those [in] of another by [in / groups, out]."""
    inputs = weights.shape[0]
    outputs = weights.shape[1] // groups
    for co in range(target.shape[0]):
        for ci in range(inputs):
            target[co] += source[co // outputs * inputs + ci] * weights[ci, co]


def scatter_channels(source, weights, groups, target):
    """Channels [in] of a place to those [out] of another by [in, out / groups]."""
    inputs = weights.shape[0] // groups
    outputs = weights.shape[1]
    for ci in range(source.shape[0]):
        for co in range(outputs):
            target[ci // inputs * outputs + co] += source[ci] * weights[ci, co]


def conv1d(image, kernel, out, stride, dilation, groups, left):
    for n in range(out.shape[0]):
        for x in range(out.shape[1]):
            for i in range(kernel.shape[0]):
                u = stride * x + dilation * i - left
                if 0 <= u < image.shape[1]:
                    gather_channels(image[n, u], kernel[i], groups, out[n, x])


def conv2d(image, kernel, out, stride, dilation, groups, top, left):
    for n in range(out.shape[0]):
        for y in range(out.shape[1]):
            for x in range(out.shape[2]):
                for j in range(kernel.shape[0]):
                    for i in range(kernel.shape[1]):
                        v = stride * y + dilation * j - top
                        u = stride * x + dilation * i - left
                        if 0 <= v < image.shape[1] and 0 <= u < image.shape[2]:
                            gather_channels(
                                image[n, v, u], kernel[j, i], groups, out[n, y, x]
                            )


def conv3d(image, kernel, out, stride, dilation, groups, front, top, left):
    for n in range(out.shape[0]):
        for z in range(out.shape[1]):
            for y in range(out.shape[2]):
                for x in range(out.shape[3]):
                    for k in range(kernel.shape[0]):
                        for j in range(kernel.shape[1]):
                            for i in range(kernel.shape[2]):
                                w = stride * z + dilation * k - front
                                v = stride * y + dilation * j - top
                                u = stride * x + dilation * i - left
                                if (
                                    0 <= w < image.shape[1]
                                    and 0 <= v < image.shape[2]
                                    and 0 <= u < image.shape[3]
                                ):
                                    gather_channels(
                                        image[n, w, v, u],
                                        kernel[k, j, i],
                                        groups,
                                        out[n, z, y, x],
                                    )


def conv5d(image, kernel, out, stride, dilation, groups, p0, p1, p2, p3, p4):
    """Places y0 to y4 of the result, k0 to k4 of the kernel, x0 to x4 of the image."""
    for n in range(out.shape[0]):
        for y0 in range(out.shape[1]):
            for y1 in range(out.shape[2]):
                for y2 in range(out.shape[3]):
                    for y3 in range(out.shape[4]):
                        for y4 in range(out.shape[5]):
                            for k0 in range(kernel.shape[0]):
                                for k1 in range(kernel.shape[1]):
                                    for k2 in range(kernel.shape[2]):
                                        for k3 in range(kernel.shape[3]):
                                            for k4 in range(kernel.shape[4]):
                                                x0 = stride * y0 + dilation * k0 - p0
                                                x1 = stride * y1 + dilation * k1 - p1
                                                x2 = stride * y2 + dilation * k2 - p2
                                                x3 = stride * y3 + dilation * k3 - p3
                                                x4 = stride * y4 + dilation * k4 - p4
                                                if (
                                                    0 <= x0 < image.shape[1]
                                                    and 0 <= x1 < image.shape[2]
                                                    and 0 <= x2 < image.shape[3]
                                                    and 0 <= x3 < image.shape[4]
                                                    and 0 <= x4 < image.shape[5]
                                                ):
                                                    gather_channels(
                                                        image[n, x0, x1, x2, x3, x4],
                                                        kernel[k0, k1, k2, k3, k4],
                                                        groups,
                                                        out[n, y0, y1, y2, y3, y4],
                                                    )


def transposed1d(image, kernel, out, stride, dilation, groups, left):
    for n in range(image.shape[0]):
        for x in range(image.shape[1]):
            for i in range(kernel.shape[0]):
                u = stride * x + dilation * i - left
                if 0 <= u < out.shape[1]:
                    scatter_channels(image[n, x], kernel[i], groups, out[n, u])


def transposed2d(image, kernel, out, stride, dilation, groups, top, left):
    for n in range(image.shape[0]):
        for y in range(image.shape[1]):
            for x in range(image.shape[2]):
                for j in range(kernel.shape[0]):
                    for i in range(kernel.shape[1]):
                        v = stride * y + dilation * j - top
                        u = stride * x + dilation * i - left
                        if 0 <= v < out.shape[1] and 0 <= u < out.shape[2]:
                            scatter_channels(
                                image[n, y, x], kernel[j, i], groups, out[n, v, u]
                            )


def transposed3d(image, kernel, out, stride, dilation, groups, front, top, left):
    for n in range(image.shape[0]):
        for z in range(image.shape[1]):
            for y in range(image.shape[2]):
                for x in range(image.shape[3]):
                    for k in range(kernel.shape[0]):
                        for j in range(kernel.shape[1]):
                            for i in range(kernel.shape[2]):
                                w = stride * z + dilation * k - front
                                v = stride * y + dilation * j - top
                                u = stride * x + dilation * i - left
                                if (
                                    0 <= w < out.shape[1]
                                    and 0 <= v < out.shape[2]
                                    and 0 <= u < out.shape[3]
                                ):
                                    scatter_channels(
                                        image[n, z, y, x],
                                        kernel[k, j, i],
                                        groups,
                                        out[n, w, v, u],
                                    )


def transposed5d(image, kernel, out, stride, dilation, groups, p0, p1, p2, p3, p4):
    """Places y0 to y4 of the image, k0 to k4 of the kernel, x0 to x4 of the result."""
    for n in range(image.shape[0]):
        for y0 in range(image.shape[1]):
            for y1 in range(image.shape[2]):
                for y2 in range(image.shape[3]):
                    for y3 in range(image.shape[4]):
                        for y4 in range(image.shape[5]):
                            for k0 in range(kernel.shape[0]):
                                for k1 in range(kernel.shape[1]):
                                    for k2 in range(kernel.shape[2]):
                                        for k3 in range(kernel.shape[3]):
                                            for k4 in range(kernel.shape[4]):
                                                x0 = stride * y0 + dilation * k0 - p0
                                                x1 = stride * y1 + dilation * k1 - p1
                                                x2 = stride * y2 + dilation * k2 - p2
                                                x3 = stride * y3 + dilation * k3 - p3
                                                x4 = stride * y4 + dilation * k4 - p4
                                                if (
                                                    0 <= x0 < out.shape[1]
                                                    and 0 <= x1 < out.shape[2]
                                                    and 0 <= x2 < out.shape[3]
                                                    and 0 <= x3 < out.shape[4]
                                                    and 0 <= x4 < out.shape[5]
                                                ):
                                                    scatter_channels(
                                                        image[n, y0, y1, y2, y3, y4],
                                                        kernel[k0, k1, k2, k3, k4],
                                                        groups,
                                                        out[n, x0, x1, x2, x3, x4],
                                                    )


def max_pool1d(image, out, width, stride, dilation, left):
    """The largest of each window, -inf where all of it is padding.

    Among equal ones the first has the whole gradient, as `max` keeps it.
    """
    for n in range(out.shape[0]):
        for x in range(out.shape[1]):
            for c in range(out.shape[2]):
                best = -math.inf
                for i in range(width):
                    u = stride * x + dilation * i - left
                    if 0 <= u < image.shape[1]:
                        best = max(best, image[n, u, c])
                out[n, x, c] = best


def max_pool2d(image, out, width, stride, dilation, top, left):
    for n in range(out.shape[0]):
        for y in range(out.shape[1]):
            for x in range(out.shape[2]):
                for c in range(out.shape[3]):
                    best = -math.inf
                    for j in range(width):
                        for i in range(width):
                            v = stride * y + dilation * j - top
                            u = stride * x + dilation * i - left
                            if 0 <= v < image.shape[1] and 0 <= u < image.shape[2]:
                                best = max(best, image[n, v, u, c])
                    out[n, y, x, c] = best


def max_pool3d(image, out, width, stride, dilation, front, top, left):
    for n in range(out.shape[0]):
        for z in range(out.shape[1]):
            for y in range(out.shape[2]):
                for x in range(out.shape[3]):
                    for c in range(out.shape[4]):
                        best = -math.inf
                        for k in range(width):
                            for j in range(width):
                                for i in range(width):
                                    w = stride * z + dilation * k - front
                                    v = stride * y + dilation * j - top
                                    u = stride * x + dilation * i - left
                                    if (
                                        0 <= w < image.shape[1]
                                        and 0 <= v < image.shape[2]
                                        and 0 <= u < image.shape[3]
                                    ):
                                        best = max(best, image[n, w, v, u, c])
                        out[n, z, y, x, c] = best


def max_pool5d(image, out, width, stride, dilation, p0, p1, p2, p3, p4):
    """Places y0 to y4 of the result, k0 to k4 of the window, x0 to x4 of the image."""
    for n in range(out.shape[0]):
        for y0 in range(out.shape[1]):
            for y1 in range(out.shape[2]):
                for y2 in range(out.shape[3]):
                    for y3 in range(out.shape[4]):
                        for y4 in range(out.shape[5]):
                            for c in range(out.shape[6]):
                                best = -math.inf
                                for k0 in range(width):
                                    for k1 in range(width):
                                        for k2 in range(width):
                                            for k3 in range(width):
                                                for k4 in range(width):
                                                    x0 = (
                                                        stride * y0 + dilation * k0 - p0
                                                    )
                                                    x1 = (
                                                        stride * y1 + dilation * k1 - p1
                                                    )
                                                    x2 = (
                                                        stride * y2 + dilation * k2 - p2
                                                    )
                                                    x3 = (
                                                        stride * y3 + dilation * k3 - p3
                                                    )
                                                    x4 = (
                                                        stride * y4 + dilation * k4 - p4
                                                    )
                                                    if (
                                                        0 <= x0 < image.shape[1]
                                                        and 0 <= x1 < image.shape[2]
                                                        and 0 <= x2 < image.shape[3]
                                                        and 0 <= x3 < image.shape[4]
                                                        and 0 <= x4 < image.shape[5]
                                                    ):
                                                        best = max(
                                                            best,
                                                            image[
                                                                n, x0, x1, x2, x3, x4, c
                                                            ],
                                                        )
                                out[n, y0, y1, y2, y3, y4, c] = best


def correlate2d(image, kernel, out, top, left):
    """Stride and dilation 1, one image, no groups."""
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            for co in range(out.shape[2]):
                for j in range(kernel.shape[0]):
                    for i in range(kernel.shape[1]):
                        v = y + j - top
                        u = x + i - left
                        if 0 <= v < image.shape[0] and 0 <= u < image.shape[1]:
                            for ci in range(kernel.shape[2]):
                                out[y, x, co] += image[v, u, ci] * kernel[j, i, ci, co]


def article(image, kernel, out):
    """The article's convolution, stride 3 and dilation 2, of one image."""
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            for co in range(out.shape[2]):
                for j in range(kernel.shape[0]):
                    for i in range(kernel.shape[1]):
                        for ci in range(kernel.shape[2]):
                            out[y, x, co] += (
                                image[3 * y + 2 * j, 3 * x + 2 * i, ci]
                                * kernel[j, i, ci, co]
                            )


def average_output(image, kernel):
    """The mean of the article's convolution: what its listing differentiates."""
    batch = image.shape[0]
    height = image.shape[1] // 3
    width = image.shape[2] // 3
    total = 0.0
    for n in range(batch):
        for y in range(height):
            for x in range(width):
                for co in range(kernel.shape[3]):
                    for j in range(kernel.shape[0]):
                        for i in range(kernel.shape[1]):
                            for ci in range(kernel.shape[2]):
                                total += (
                                    image[n, 3 * y + 2 * j, 3 * x + 2 * i, ci]
                                    * kernel[j, i, ci, co]
                                )
    return total / (batch * height * width * kernel.shape[3])


def matmul(a, b, out):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            for k in range(a.shape[1]):
                out[i, j] += a[i, k] * b[k, j]


def softmax(x, out):
    """Over the last axis of [batch, classes]."""
    for n in range(x.shape[0]):
        top = x[n, 0]
        for c in range(1, x.shape[1]):
            top = max(top, x[n, c])
        total = 0.0
        for c in range(x.shape[1]):
            total += math.exp(x[n, c] - top)
        for c in range(x.shape[1]):
            out[n, c] = math.exp(x[n, c] - top) / total


def batch_norm(image, gain, shift, out, epsilon):
    """Each channel of [batch, y, x, channels] to mean `shift`, deviation `gain`."""
    count = image.shape[0] * image.shape[1] * image.shape[2]
    for c in range(image.shape[3]):
        mean = 0.0
        for n in range(image.shape[0]):
            for y in range(image.shape[1]):
                for x in range(image.shape[2]):
                    mean += image[n, y, x, c] / count
        variance = 0.0
        for n in range(image.shape[0]):
            for y in range(image.shape[1]):
                for x in range(image.shape[2]):
                    variance += (image[n, y, x, c] - mean) ** 2 / count
        scale = gain[c] / math.sqrt(variance + epsilon)
        for n in range(image.shape[0]):
            for y in range(image.shape[1]):
                for x in range(image.shape[2]):
                    out[n, y, x, c] = scale * (image[n, y, x, c] - mean) + shift[c]


# ------------------------------------------------------------------ sizes and calls

CONVOLUTIONS: dict[int, Callable[..., None]] = {1: conv1d, 2: conv2d}
CONVOLUTIONS |= {3: conv3d, 5: conv5d}
TRANSPOSED: dict[int, Callable[..., None]] = {1: transposed1d, 2: transposed2d}
TRANSPOSED |= {3: transposed3d, 5: transposed5d}
POOLS: dict[int, Callable[..., None]] = {1: max_pool1d, 2: max_pool2d}
POOLS |= {3: max_pool3d, 5: max_pool5d}


def window(
    size: int,
    width: int,
    stride: int = 1,
    dilation: int = 1,
    padding: Padding = "valid",
) -> tuple[int, int]:
    """The size of the result along an axis, and the padding before.

    "valid" has no padding; "same" gives `ceil(size / stride)` results, with what
    padding that needs shared out, the odd one after; a pair is the padding before and
    after.
    """
    reach = dilation * (width - 1) + 1
    if padding == "same":
        results = -(-size // stride)
        return results, max(0, (results - 1) * stride + reach - size) // 2
    before, after = (0, 0) if padding == "valid" else _pair(padding)
    padded = size + before + after
    if padded < reach:
        raise ValueError(
            f"a window that reaches over {reach} does not fit into {padded}"
        )
    return (padded - reach) // stride + 1, before


def transposed_window(
    size: int,
    width: int,
    stride: int = 1,
    dilation: int = 1,
    padding: Padding = "valid",
) -> tuple[int, int]:
    """As `window`, for transposed convolutions: the padding is cut off the result.

    "same" gives `stride * size` results.
    """
    reach = dilation * (width - 1) + 1
    full = (size - 1) * stride + reach
    if padding == "same":
        return stride * size, max(0, full - stride * size) // 2
    before, after = (0, 0) if padding == "valid" else _pair(padding)
    if full <= before + after:
        raise ValueError(f"no result is left of {full} without {before} and {after}")
    return full - before - after, before


def _pair(padding: Padding) -> tuple[int, int]:
    if isinstance(padding, str) or len(padding) != 2 or min(padding) < 0:
        raise ValueError(
            f'padding is "valid", "same" or (before, after), not {padding!r}'
        )
    return padding


@dataclass(frozen=True)
class Case:
    """A loop function with arguments for it."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    padding: Padding = "valid"


def convolution(
    image: Array,
    kernel: Array,
    *,
    stride: int = 1,
    dilation: int = 1,
    groups: int = 1,
    padding: Padding = "valid",
) -> Case:
    """The convolution of image [batch, ...space, in] and kernel [...space, in, out]."""
    space = list(zip(image.shape[1:-1], kernel.shape[:-2], strict=True))
    found = [window(s, k, stride, dilation, padding) for s, k in space]
    out = np.zeros((len(image), *(size for size, _ in found), kernel.shape[-1]))
    before = [p for _, p in found]
    arguments = (image, kernel, out, stride, dilation, groups, *before)
    return Case(CONVOLUTIONS[len(space)], arguments, padding)


def transposed(
    image: Array,
    kernel: Array,
    *,
    stride: int = 1,
    dilation: int = 1,
    groups: int = 1,
    padding: Padding = "valid",
) -> Case:
    """The transposed convolution of image [batch, ...space, in]."""
    space = list(zip(image.shape[1:-1], kernel.shape[:-2], strict=True))
    found = [transposed_window(s, k, stride, dilation, padding) for s, k in space]
    channels = groups * kernel.shape[-1]
    out = np.zeros((len(image), *(size for size, _ in found), channels))
    before = [p for _, p in found]
    arguments = (image, kernel, out, stride, dilation, groups, *before)
    return Case(TRANSPOSED[len(space)], arguments, padding)


def max_pool(
    image: Array,
    width: int,
    *,
    stride: int = 1,
    dilation: int = 1,
    padding: Padding = "valid",
) -> Case:
    """The largest values of windows `width` wide along every axis of space."""
    space = image.shape[1:-1]
    found = [window(s, width, stride, dilation, padding) for s in space]
    out = np.zeros((len(image), *(size for size, _ in found), image.shape[-1]))
    before = [p for _, p in found]
    arguments = (image, out, width, stride, dilation, *before)
    return Case(POOLS[len(space)], arguments, padding)


def distinct(rng: np.random.Generator, shape: Sequence[int]) -> Array:
    """Random values no two of which are closer than 0.01: no ties."""
    order = rng.permutation(math.prod(shape)).astype(np.float64)
    return 0.01 * order.reshape(shape)


def small_cases() -> list[Case]:
    """Each function once, on a small input: stride, dilation, groups, padding."""
    rng = np.random.default_rng(0)
    r = rng.random
    shapes = {1: (7,), 2: (6, 5), 3: (5, 4, 4), 5: (3, 2, 3, 2, 2)}
    kernels = {1: (3,), 2: (3, 2), 3: (2, 3, 2), 5: (2, 1, 2, 2, 1)}
    cases = []
    for dims, space in shapes.items():
        image, taps = r((2, *space, 4)), kernels[dims]
        how: dict[str, Any] = {"stride": 2, "dilation": 2, "padding": "same"}
        cases.append(convolution(image, r((*taps, 2, 2)), groups=2, **how))
    for dims, space in shapes.items():
        image, taps = r((1, *(-(-s // 2) for s in space), 4)), kernels[dims]
        how = {"stride": 2, "dilation": 1, "padding": "same"}
        cases.append(transposed(image, r((*taps, 4, 1)), groups=2, **how))
    for space in shapes.values():
        cases.append(
            max_pool(distinct(rng, (2, *space, 2)), 2, stride=2, padding=(1, 1))
        )
    single, weights = r((6, 5, 2)), r((3, 2, 2, 3))
    (height, top), (width, left) = (
        window(6, 3, padding="same"),
        window(5, 2, padding="same"),
    )
    cases += [
        Case(
            correlate2d,
            (single, weights, np.zeros((height, width, 3)), top, left),
            "same",
        ),
        Case(article, (r((9, 8, 2)), r((2, 2, 2, 3)), np.zeros((3, 2, 3)))),
        Case(average_output, (r((2, 9, 9, 2)), r((2, 2, 2, 3)))),
        Case(matmul, (r((3, 4)), r((4, 2)), np.zeros((3, 2)))),
        Case(softmax, (distinct(rng, (3, 4)), np.zeros((3, 4)))),
        Case(batch_norm, (r((2, 3, 2, 2)), r(2), r(2), np.zeros((2, 3, 2, 2)), 1e-3)),
    ]
    return cases


# ------------------------------------------------------------------ the command


@dataclass(frozen=True)
class Row:
    """How one loop of an adjoint treats one array; are the gradients right."""

    function: str
    array: str
    loop: str
    kind: str
    parallel: bool
    reason: str
    right: bool

    def __str__(self) -> str:
        parallel = "parallel" if self.parallel else "serial"
        right = "right" if self.right else "WRONG"
        return (
            f"{self.function:<15}{self.array:<11}{self.loop:<5}{self.kind:<11}"
            f"{parallel:<10}{right:<7}{self.reason}"
        )


def survey(cases: Sequence[Case], *, progress: bool = True) -> list[Row]:
    """The adjoint of every function: kinds of loops, gradients against differences."""
    rows = []
    for case in tqdm(
        cases,
        desc="adjoints",
        unit="function",
        disable=None if progress else True,
    ):
        f = pyrev.differentiable(case.function, target="python")
        right = bool(pyrev.check_grad(f, *case.arguments))
        name = case.function.__name__
        parameters = inspect.signature(case.function).parameters
        for d in f.adjoint.report().loops:
            if d.array.removeprefix("d_") in parameters:
                rows.append(
                    Row(name, d.array, d.loop, d.kind, bool(d.proof), d.reason, right)
                )
    return rows


@dataclass(frozen=True)
class Timing:
    """Medians in milliseconds; the first gradient, compiled or loaded, in seconds."""

    name: str
    first: float
    forward: float
    backward: float
    products: int

    def __str__(self) -> str:
        giga = self.products / 1e6  # 10^9 a second are 10^6 a millisecond
        return (
            f"{self.name:<26}first gradient {self.first:5.1f} s"
            f"   forward {self.forward:7.1f} ms"
            f" ({giga / self.forward:.2f} G products/s)"
            f"   backward {self.backward:7.1f} ms ({2 * giga / self.backward:.2f})"
        )


def timed(name: str, case: Case, rounds: int = 5) -> Timing:
    """Function and pullback, compiled, on all cores."""
    image, kernel, out, *rest = case.arguments
    f = pyrev.differentiable(case.function, target="numba")
    start = time.perf_counter()
    _, pullback = pyrev.vjp(f, image, kernel, out, *rest)
    cotangent = np.ones_like(out)
    pullback(out=cotangent)
    first = time.perf_counter() - start
    forward, backward = [], []
    for _ in range(rounds):
        start = time.perf_counter()
        f(image, kernel, out, *rest)
        middle = time.perf_counter()
        pullback(out=cotangent)
        forward.append(middle - start)
        backward.append(time.perf_counter() - middle)
    products = out.size * math.prod(kernel.shape[:-1])
    ahead, back = (1e3 * statistics.median(t) for t in (forward, backward))
    return Timing(name, first, ahead, back, products)


def timings() -> list[Timing]:
    """One convolution of middle size in 2 and one in 3 dimensions."""
    r = np.random.default_rng(1).random
    how: dict[str, Any] = {"stride": 2, "dilation": 1, "padding": "same"}
    plane = convolution(r((2, 96, 96, 16)), r((3, 3, 16, 16)), **how)
    volume = convolution(r((2, 24, 24, 24, 8)), r((3, 3, 3, 8, 8)), **how)
    return [
        timed("2 x 96 x 96 x 16, 3 x 3", plane),
        timed("2 x 24^3 x 8, 3 x 3 x 3", volume),
    ]


def reach(
    size: int, width: int, stride: int, dilation: int, padding: Padding
) -> NDArray[np.bool_]:
    """Which inputs [result, input] the gradient of each result of a convolution has."""
    case = convolution(
        np.ones((1, size, 1)),
        np.ones((width, 1, 1)),
        stride=stride,
        dilation=dilation,
        padding=padding,
    )
    f = pyrev.differentiable(case.function, target="python")
    out = case.arguments[2]
    _, pullback = pyrev.vjp(f, *case.arguments, wrt="image")
    rows = []
    for x in range(out.shape[1]):
        seed = np.zeros_like(out)
        seed[0, x, 0] = 1.0
        rows.append(pullback(out=seed).image[0, :, 0] != 0)
    return np.array(rows)


@dataclass(frozen=True)
class Cascade:
    """A photograph, four features of it, their maxima, and the gradient of these."""

    photo: Array
    features: Array
    pooled: Array
    gradient: Array


def cascade(size: int = 128) -> Cascade:
    """Edges by a strided convolution, maxima of windows, and the gradient of their sum.

    The pullback of pooling goes to the largest value of each window alone; that of the
    convolution spreads it over the pixels that made it.
    """
    from skimage.data import camera

    photo = np.asarray(camera(), np.float64) / 255
    photo = photo[60 : 60 + 2 * size, 130 : 130 + 2 * size]
    photo = photo.reshape(size, 2, size, 2).mean((1, 3))
    t = np.linspace(-1.5, 1.5, 5)
    step = np.outer(np.exp(-(t**2)), t * np.exp(-(t**2)))
    kernel = np.stack([step, step.T, -step, -step.T], -1)[:, :, None, :]
    conv = convolution(photo[None, :, :, None], kernel, stride=2)
    f = pyrev.differentiable(conv.function, target="python")
    _, back = pyrev.vjp(f, *conv.arguments, wrt="image")
    features = conv.arguments[2]
    pool = max_pool(features, 4, stride=4, padding="same")
    g = pyrev.differentiable(pool.function, target="python")
    _, unpool = pyrev.vjp(g, *pool.arguments, wrt="image")
    pooled = pool.arguments[1]
    gradient = back(out=unpool(out=pooled).image).image
    return Cascade(photo, features[0], pooled[0], gradient[0, :, :, 0])


def draw(shown: Cascade, path: Path) -> None:
    """Save the figure: who reads what, and a convolution and a pooling backwards."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 6.6), layout="constrained")
    FigureCanvasAgg(figure)
    parts: Any = figure.subfigures(2, 1, height_ratios=(1, 1.35))
    top, bottom = parts
    diagrams: tuple[tuple[str, tuple[int, int, int, int, Padding]], ...] = (
        ("stride 1, padding same", (11, 3, 1, 1, "same")),
        ("stride 3, dilation 2, valid (the article)", (11, 3, 3, 2, "valid")),
        ("stride 2, dilation 2, padding (3, 1)", (11, 3, 2, 2, (3, 1))),
    )
    for axis, (title, arguments) in zip(top.subplots(1, 3), diagrams, strict=True):
        _diagram(axis, title, reach(*arguments), arguments[2])
    axes = bottom.subplots(1, 4)
    images = (
        ("photograph", shown.photo, "gray"),
        ("features: 5 x 5, stride 2", shown.features.max(-1), "gray"),
        ("largest of 4 x 4, stride 4", shown.pooled.max(-1), "gray"),
        ("gradient of the sum of squares / 2", shown.gradient, "RdBu"),
    )
    for axis, (title, image, colours) in zip(axes, images, strict=True):
        limits = {}
        if colours == "RdBu":
            most = float(np.percentile(np.abs(image), 99.5))
            limits = {"vmin": -most, "vmax": most}
        axis.imshow(image, cmap=colours, **limits)
        axis.set(title=title, xticks=[], yticks=[])
    figure.savefig(path, dpi=80)


def _diagram(axis: Any, title: str, reached: NDArray[np.bool_], stride: int) -> None:
    """Results above, inputs below, a line for every product that joins two."""
    results, inputs = reached.shape
    where = (
        np.linspace(0, inputs - 1, results + 2)[1:-1]
        if results > 1
        else np.array([inputs / 2])
    )
    where = where if results < inputs else np.arange(inputs)
    for x, u in np.argwhere(reached):
        axis.plot((where[x], u), (1, 0), color=f"C{u % stride}", lw=1.2, zorder=1)
    read = np.any(reached, axis=0).tolist()
    axis.scatter(where, np.ones(results), s=70, color="black", zorder=2)
    for u in range(inputs):
        face = f"C{u % stride}" if read[u] else "white"
        axis.scatter(u, 0, s=70, color=face, edgecolor=f"C{u % stride}", zorder=2)
    axis.set(title=title, xticks=[], yticks=[0, 1], ylim=(-0.25, 1.25))
    axis.set_yticklabels(["d_image", "d_out"])
    axis.spines[:].set_visible(False)


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python examples/tile.py",
        description=(__doc__ or "").split("\n")[0],
    )
    parser.add_argument("--output", type=Path, default=Path("tile.png"))
    options = parser.parse_args(arguments)

    start = time.perf_counter()
    print(pyrev.differentiable(article).adjoint.source)
    rows = survey(small_cases())
    print(
        f"{'function':<15}{'array':<11}{'loop':<5}{'kind':<11}{'runs':<10}{'check':<7}why"
    )
    print(*rows, sep="\n")
    print(*timings(), sep="\n")
    draw(cascade(), options.output)
    wrong = sorted({row.function for row in rows if not row.right})
    checked = len({row.function for row in rows})
    print(f"gradients          {checked - len(wrong)} of {checked} functions right")
    print(f"time               {time.perf_counter() - start:.1f} s")
    print(f"figure             {options.output}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
