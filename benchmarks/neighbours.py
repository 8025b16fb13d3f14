"""Functions beside the workloads: does a form carry over, or was it for one of them?

    python benchmarks/neighbours.py [-n 9] [--only "NAME;..."] [--out r.json]

Each neighbour changes what a form of the schedule might lean on (kernel, stride,
channels, order of axes, precision, borders, weights, where data decide) of one of the
workloads in `loops.py`, on arrays of about the same bytes. Printed is its time per
operation over that of the workload, value and gradient together, timed in turn; the
operations are those of the innermost loops of the function, multiplied out. Above 1.5
is a loss to be explained. The first call, with an empty cache, is in seconds.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

if __name__ == "__main__":  # before Numba is there
    os.environ.setdefault("PYREV_CACHE_DIR", tempfile.mkdtemp())
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import loops

import pyrev

Arguments = dict[str, Any]


def conv_strided(x, w, out):
    for n in range(out.shape[0]):
        for k in range(out.shape[1]):
            for a in range(out.shape[2]):
                for b in range(out.shape[3]):
                    for c in range(x.shape[1]):
                        for j in range(w.shape[2]):
                            for i in range(w.shape[3]):
                                out[n, k, a, b] += (
                                    x[n, c, 2 * a + j, 2 * b + i] * w[k, c, j, i]
                                )


def conv_grouped(x, w, out):
    inputs = w.shape[1]
    outputs = 4
    for n in range(out.shape[0]):
        for g in range(out.shape[1] // outputs):
            for k in range(outputs):
                for a in range(out.shape[2]):
                    for b in range(out.shape[3]):
                        for c in range(inputs):
                            for j in range(w.shape[2]):
                                for i in range(w.shape[3]):
                                    out[n, g * outputs + k, a, b] += (
                                        x[n, g * inputs + c, a + j, b + i]
                                        * w[g * outputs + k, c, j, i]
                                    )


def conv_last(x, w, out):
    for n in range(out.shape[0]):
        for a in range(out.shape[1]):
            for b in range(out.shape[2]):
                for k in range(out.shape[3]):
                    for j in range(w.shape[0]):
                        for i in range(w.shape[1]):
                            for c in range(x.shape[3]):
                                out[n, a, b, k] += x[n, a + j, b + i, c] * w[j, i, c, k]


def heat3d_periodic(u, a, out):
    for z in range(u.shape[0]):
        for y in range(u.shape[1]):
            for x in range(u.shape[2]):
                around = (
                    u[(z - 1) % u.shape[0], y, x]
                    + u[(z + 1) % u.shape[0], y, x]
                    + u[z, (y - 1) % u.shape[1], x]
                    + u[z, (y + 1) % u.shape[1], x]
                    + u[z, y, (x - 1) % u.shape[2]]
                    + u[z, y, (x + 1) % u.shape[2]]
                )
                out[z, y, x] = u[z, y, x] + a[z, y, x] * (around - 6 * u[z, y, x])


def heat3d_27(u, a, out):
    for z in range(1, u.shape[0] - 1):
        for y in range(1, u.shape[1] - 1):
            for x in range(1, u.shape[2] - 1):
                around = 0.0
                for dz in range(-1, 2):
                    for dy in range(-1, 2):
                        for dx in range(-1, 2):
                            around += u[z + dz, y + dy, x + dx]
                out[z, y, x] = u[z, y, x] + a[z, y, x] * (around - 27 * u[z, y, x])


def rd2d_reflected(u0, a, steps, out):
    for y in range(u0.shape[0]):
        for x in range(u0.shape[1]):
            out[y, x] = u0[y, x]
    u = np.empty_like(u0)
    for _ in range(steps):
        for y in range(u0.shape[0]):
            for x in range(u0.shape[1]):
                u[y, x] = out[y, x]
        for y in range(u0.shape[0]):
            for x in range(u0.shape[1]):
                up = y - 1
                if up < 0:
                    up = -up
                low = y + 1
                if low > u0.shape[0] - 1:
                    low = 2 * (u0.shape[0] - 1) - low
                left = x - 1
                if left < 0:
                    left = -left
                right = x + 1
                if right > u0.shape[1] - 1:
                    right = 2 * (u0.shape[1] - 1) - right
                around = u[up, x] + u[low, x] + u[y, left] + u[y, right]
                grown = 0.05 * u[y, x] * (1 - u[y, x])
                out[y, x] = u[y, x] + a[y, x] * (around - 4 * u[y, x]) + grown


def rd2d_periodic(u0, a, steps, out):
    height = u0.shape[0]
    width = u0.shape[1]
    for y in range(height):
        for x in range(width):
            out[y, x] = u0[y, x]
    u = np.empty_like(u0)
    for _ in range(steps):
        for y in range(height):
            for x in range(width):
                u[y, x] = out[y, x]
        for y in range(height):
            for x in range(width):
                around = (
                    u[(y - 1) % height, x]
                    + u[(y + 1) % height, x]
                    + u[y, (x - 1) % width]
                    + u[y, (x + 1) % width]
                )
                grown = 0.05 * u[y, x] * (1 - u[y, x])
                out[y, x] = u[y, x] + a[y, x] * (around - 4 * u[y, x]) + grown


def rd2d_nine(u0, a, steps, out):
    for y in range(u0.shape[0]):
        for x in range(u0.shape[1]):
            out[y, x] = u0[y, x]
    u = np.empty_like(u0)
    for _ in range(steps):
        for y in range(u0.shape[0]):
            for x in range(u0.shape[1]):
                u[y, x] = out[y, x]
        for y in range(u0.shape[0]):
            for x in range(u0.shape[1]):
                around = 0.0
                for j in range(3):
                    for i in range(3):
                        p = y + j - 1
                        q = x + i - 1
                        if 0 <= p < u0.shape[0] and 0 <= q < u0.shape[1]:
                            weight = 0.5 if j == 1 or i == 1 else 0.25
                            around += weight * (u[p, q] - u[y, x])
                grown = 0.05 * u[y, x] * (1 - u[y, x])
                out[y, x] = u[y, x] + a[y, x] * around + grown


def three_species(u0, v0, w0, steps, u, v, w):
    for y in range(u.shape[0]):
        for x in range(u.shape[1]):
            u[y, x] = u0[y, x]
            v[y, x] = v0[y, x]
            w[y, x] = w0[y, x]
    p = np.empty_like(u0)
    q = np.empty_like(u0)
    r = np.empty_like(u0)
    for _ in range(steps):
        for y in range(u.shape[0]):
            for x in range(u.shape[1]):
                p[y, x] = u[y, x]
                q[y, x] = v[y, x]
                r[y, x] = w[y, x]
        for y in range(1, u.shape[0] - 1):
            for x in range(1, u.shape[1] - 1):
                du = p[y - 1, x] + p[y + 1, x] + p[y, x - 1] + p[y, x + 1]
                dv = q[y - 1, x] + q[y + 1, x] + q[y, x - 1] + q[y, x + 1]
                dw = r[y - 1, x] + r[y + 1, x] + r[y, x - 1] + r[y, x + 1]
                eaten = p[y, x] * q[y, x]
                spread = q[y, x] * r[y, x]
                u[y, x] = p[y, x] + 0.1 * (du - 4 * p[y, x]) - 0.02 * eaten
                v[y, x] = q[y, x] + 0.1 * (dv - 4 * q[y, x]) + 0.02 * (eaten - spread)
                w[y, x] = r[y, x] + 0.1 * (dw - 4 * r[y, x]) + 0.02 * spread


def cell_normed(c, f, i, g, z1, z2, out):
    row = np.empty(c.shape[1])
    for y in range(c.shape[0]):
        total = 0.0
        for x in range(c.shape[1]):
            new = loops.sigmoid(i[y, x]) * math.tanh(g[y, x])
            if z1[x] != 0:
                row[x] = new
            elif z2[x] == 1:
                row[x] = loops.sigmoid(f[y, x]) * c[y, x] + new
            else:
                row[x] = c[y, x]
            total += row[x] * row[x]
        scale = 1.0 / math.sqrt(total / c.shape[1] + 1e-5)
        for x in range(c.shape[1]):
            out[y, x] = row[x] * scale


def gmm_diagonal(alpha, mean, scale, x):
    terms = np.zeros(mean.shape[0])
    loss = 0.0
    for p in range(x.shape[0]):
        for k in range(mean.shape[0]):
            term = alpha[k]
            for r in range(mean.shape[1]):
                y = (x[p, r] - mean[k, r]) * scale[k, r]
                term -= 0.5 * y * y
            terms[k] = term
        top = terms[0]
        for k in range(mean.shape[0]):
            top = max(top, terms[k])
        total = 0.0
        for k in range(mean.shape[0]):
            total += math.exp(terms[k] - top)
        loss += top + math.log(total)
    return loss


def stn_cubic(x, theta, out):
    height = out.shape[2]
    width = out.shape[3]
    for n in range(out.shape[0]):
        for c in range(out.shape[1]):
            for y in range(height):
                for b in range(width):
                    gx = (2 * b + 1) / width - 1
                    gy = (2 * y + 1) / height - 1
                    u = theta[n, 0, 0] * gx + theta[n, 0, 1] * gy + theta[n, 0, 2]
                    v = theta[n, 1, 0] * gx + theta[n, 1, 1] * gy + theta[n, 1, 2]
                    px = ((u + 1) * width - 1) / 2
                    py = ((v + 1) * height - 1) / 2
                    x0 = int(math.floor(px))
                    y0 = int(math.floor(py))
                    total = 0.0
                    for j in range(-1, 3):
                        for i in range(-1, 3):
                            if 0 <= y0 + j < height and 0 <= x0 + i < width:
                                s = abs(py - y0 - j)
                                t = abs(px - x0 - i)
                                if s < 1:
                                    down = (1.5 * s - 2.5) * s * s + 1
                                else:
                                    down = ((2.5 - 0.5 * s) * s - 4) * s + 2
                                if t < 1:
                                    across = (1.5 * t - 2.5) * t * t + 1
                                else:
                                    across = ((2.5 - 0.5 * t) * t - 4) * t + 2
                                total += down * across * x[n, c, y0 + j, x0 + i]
                    out[n, c, y, b] = total


def flownet_last(x, flow, out):
    for n in range(out.shape[0]):
        for y in range(out.shape[1]):
            for b in range(out.shape[2]):
                px = min(max(b + flow[n, y, b, 0], 0.0), out.shape[2] - 1.0)
                py = min(max(y + flow[n, y, b, 1], 0.0), out.shape[1] - 1.0)
                x0 = min(int(px), out.shape[2] - 2)
                y0 = min(int(py), out.shape[1] - 2)
                wx = px - x0
                wy = py - y0
                for c in range(out.shape[3]):
                    top = (1 - wx) * x[n, y0, x0, c] + wx * x[n, y0, x0 + 1, c]
                    low = (1 - wx) * x[n, y0 + 1, x0, c] + wx * x[n, y0 + 1, x0 + 1, c]
                    out[n, y, b, c] = (1 - wy) * top + wy * low


def bslice_middle(x, guide, grid, out):
    rows = grid.shape[2]
    depth = grid.shape[3]
    columns = grid.shape[4]
    for n in range(out.shape[0]):
        for y in range(out.shape[2]):
            for b in range(out.shape[3]):
                gz = guide[n, y, b] * depth - 0.5
                gy = (y + 0.5) * rows / out.shape[2] - 0.5
                gx = (b + 0.5) * columns / out.shape[3] - 0.5
                gz = min(max(gz, 0.0), depth - 1.0)
                gy = min(max(gy, 0.0), rows - 1.0)
                gx = min(max(gx, 0.0), columns - 1.0)
                z0 = min(int(gz), depth - 2)
                y0 = min(int(gy), rows - 2)
                x0 = min(int(gx), columns - 2)
                wz = gz - z0
                wy = gy - y0
                wx = gx - x0
                for k in range(3):
                    total = 0.0
                    for c in range(4):
                        coefficient = 0.0
                        for dz in range(2):
                            for dy in range(2):
                                for dx in range(2):
                                    weight = wz if dz == 1 else 1 - wz
                                    weight *= wy if dy == 1 else 1 - wy
                                    weight *= wx if dx == 1 else 1 - wx
                                    cell = grid[n, 4 * k + c, y0 + dy, z0 + dz, x0 + dx]
                                    coefficient += weight * cell
                        total += coefficient * (x[n, c, y, b] if c < 3 else 1.0)
                    out[n, k, y, b] = total


def blurs_clamped(x, k, target):
    rows = np.zeros_like(target)
    for a in range(target.shape[0]):
        for b in range(target.shape[1]):
            for i in range(k.shape[0]):
                at = min(max(b + i - 2, 0), target.shape[1] - 1)
                rows[a, b] += x[a, at] * k[i]
    both = np.zeros_like(target)
    for a in range(target.shape[0]):
        for b in range(target.shape[1]):
            for j in range(k.shape[0]):
                at = min(max(a + j - 2, 0), target.shape[0] - 1)
                both[a, b] += rows[at, b] * k[j]
    loss = 0.0
    for a in range(target.shape[0]):
        for b in range(target.shape[1]):
            loss += (both[a, b] - target[a, b]) ** 2
    return loss


@dataclass(frozen=True)
class Case:
    """A function with its arguments, and how many operations its inner loops do."""

    function: Callable[..., Any]
    arguments: Callable[[np.random.Generator], Arguments]
    operations: float
    wrt: Sequence[str] | None = None
    dtype: type = np.float32

    def make(self) -> Arguments:
        made = self.arguments(np.random.default_rng(1))
        return {
            n: v.astype(self.dtype) if isinstance(v, np.ndarray) else v
            for n, v in made.items()
        }


def _conv(
    channels: int = 16,
    kernel: int = 3,
    size: int = 130,
    dtype: type = np.float32,
    function: Callable[..., Any] = loops.conv2d,
    stride: int = 1,
    groups: int = 1,
) -> Case:
    m = (size - kernel) // stride + 1
    n = max(1, round(4 * 16 / channels))

    def make(r: np.random.Generator) -> Arguments:
        return {
            "x": r.random((n, channels, size, size)) - 0.5,
            "w": r.random((channels, channels // groups, kernel, kernel)) - 0.5,
            "out": np.zeros((n, channels, m, m)),
        }

    work = n * channels * m * m * channels // groups * kernel * kernel
    return Case(function, make, work, dtype=dtype)


def _last(channels: int = 16, kernel: int = 3) -> Case:
    m = 130 - kernel + 1

    def make(r: np.random.Generator) -> Arguments:
        return {
            "x": r.random((4, 130, 130, channels)) - 0.5,
            "w": r.random((kernel, kernel, channels, channels)) - 0.5,
            "out": np.zeros((4, m, m, channels)),
        }

    return Case(conv_last, make, 4 * m * m * channels * channels * kernel * kernel)


def _dil(channels: int = 32) -> Case:
    m = (224 - 5) // 3 + 1

    def make(r: np.random.Generator) -> Arguments:
        return {
            "x": r.random((4, 224, 224, channels)) - 0.5,
            "w": r.random((3, 3, channels, channels)) - 0.5,
            "out": np.zeros((4, m, m, channels)),
        }

    return Case(loops.dilconv, make, 4 * m * m * channels * channels * 9)


def _heat(function: Callable[..., Any], each: int, dtype: type = np.float32) -> Case:
    n = 160

    def make(r: np.random.Generator) -> Arguments:
        u, a = r.random((2, n, n, n))
        return {"u": u, "a": a * 0.1, "out": np.zeros((n, n, n))}

    return Case(function, make, n**3 * each, dtype=dtype)


def _rd(function: Callable[..., Any], each: int, dtype: type = np.float32) -> Case:
    n, steps = 512, 30

    def make(r: np.random.Generator) -> Arguments:
        u, a = r.random((2, n, n))
        return {"u0": u, "a": a * 0.1, "steps": steps, "out": np.zeros((n, n))}

    return Case(function, make, n * n * steps * each, dtype=dtype)


def _species(r: np.random.Generator) -> Arguments:
    u, v, w = r.random((3, 512, 512))
    out = {name: np.zeros((512, 512)) for name in "uvw"}
    return {"u0": u, "v0": v, "w0": w, "steps": 30, **out}


def _cell(function: Callable[..., Any], dtype: type = np.float32) -> Case:
    def make(r: np.random.Generator) -> Arguments:
        c, f, i, g = r.normal(size=(4, 1024, 1024))
        z1, z2 = (r.random((2, 1024)) < 0.5).astype(np.float64)
        out = np.zeros((1024, 1024))
        return {"c": c, "f": f, "i": i, "g": g, "z1": z1, "z2": z2, "out": out}

    return Case(function, make, 1024 * 1024 * 20, ("c", "f", "i", "g"), dtype)


def _gmm(dtype: type = np.float32, d: int = 20, count: int = 25) -> Case:
    def make(r: np.random.Generator) -> Arguments:
        return {
            "alpha": r.normal(size=count),
            "mean": r.normal(size=(count, d)),
            "icf": r.normal(size=(count, d * (d + 1) // 2)) * 0.3,
            "x": r.normal(size=(4000, d)),
        }

    work = 4000 * count * (d * (d - 1) / 2 + 4 * d + 10)
    return Case(loops.gmm, make, work, ("alpha", "mean", "icf"), dtype)


def _diagonal(r: np.random.Generator) -> Arguments:
    mean, scale = r.normal(size=(2, 25, 20))
    x = r.normal(size=(20000, 20))
    return {"alpha": r.normal(size=25), "mean": mean, "scale": scale, "x": x}


def _stn(function: Callable[..., Any], each: int, channels: int = 16) -> Case:
    def make(r: np.random.Generator) -> Arguments:
        theta = np.array([[0.9, -0.15, 0.05], [0.15, 0.9, -0.03]])
        shape = 2, channels, 256, 256
        return {
            "x": r.random(shape),
            "theta": np.stack([theta, theta * 0.95]),
            "out": np.zeros(shape),
        }

    return Case(function, make, 2 * channels * 256 * 256 * each)


def _flow(last: bool, channels: int = 64) -> Case:
    def make(r: np.random.Generator) -> Arguments:
        x, flow = r.random((2, channels, 256, 256)), r.random((2, 2, 256, 256)) * 8 - 4
        if last:
            x, flow = x.transpose(0, 2, 3, 1).copy(), flow.transpose(0, 2, 3, 1).copy()
        return {"x": x, "flow": flow, "out": np.zeros(x.shape)}

    function = flownet_last if last else loops.flownet
    return Case(function, make, 2 * channels * 256 * 256 * 12)


def _slice(middle: bool, dtype: type = np.float32) -> Case:
    def make(r: np.random.Generator) -> Arguments:
        grid = r.random((2, 12, 8, 32, 32))
        if middle:
            grid = grid.transpose(0, 1, 3, 2, 4).copy()
        return {
            "x": r.random((2, 3, 512, 512)),
            "guide": r.random((2, 512, 512)),
            "grid": grid,
            "out": np.zeros((2, 3, 512, 512)),
        }

    function = bslice_middle if middle else loops.bslice
    return Case(function, make, 2 * 512 * 512 * 12 * 8 * 2, dtype=dtype)


def _ckpt(r: np.random.Generator) -> Arguments:
    x, k = r.random((802, 1284)), r.random((3, 5))
    return {"x": x, "k": k, "target": r.random((800, 1280))}


def _ckpt5(r: np.random.Generator) -> Arguments:
    x, k = r.random((804, 1284)), r.random((5, 5))
    return {"x": x, "k": k, "target": r.random((800, 1280))}


def _blurs(r: np.random.Generator) -> Arguments:
    x, target = r.random((2, 800, 1280))
    return {"x": x, "k": r.random(5), "target": target}


F64 = np.float64
#: The workloads, at sizes of their neighbours.
BASES: dict[str, Case] = {
    "conv2d": _conv(),
    "dilconv": _dil(),
    "heat3d": _heat(loops.heat3d, 9),
    "rd2d": _rd(loops.rd2d, 11),
    "hmlstm": _cell(loops.hmlstm),
    "gmm": _gmm(),
    "stn": _stn(loops.stn, 20),
    "flownet": _flow(last=False),
    "bslice": _slice(middle=False),
    "ckpt3x5": Case(loops.ckpt, _ckpt, 800 * 1280 * 17, ("x",)),
}
#: A neighbour of which workload, and what it changes.
NEIGHBOURS: dict[str, tuple[str, Case]] = {
    "kernel 4 x 4": ("conv2d", _conv(kernel=4)),
    "kernel 5 x 5": ("conv2d", _conv(kernel=5)),
    "kernel 7 x 7": ("conv2d", _conv(kernel=7)),
    "12 channels": ("conv2d", _conv(channels=12)),
    "24 channels": ("conv2d", _conv(channels=24)),
    "3 channels": ("conv2d", _conv(channels=3)),
    "float64": ("conv2d", _conv(dtype=F64)),
    "stride 2": ("conv2d", _conv(function=conv_strided, stride=2, size=260)),
    "stride 2, float64": (
        "conv2d",
        _conv(function=conv_strided, stride=2, size=260, dtype=F64),
    ),
    "groups of 4": ("conv2d", _conv(function=conv_grouped, groups=4)),
    "channels last": ("conv2d", _last()),
    "channels last, 5 x 5": ("conv2d", _last(kernel=5)),
    "dilated, 12 channels": ("dilconv", _dil(12)),
    "dilated, 24 channels": ("dilconv", _dil(24)),
    "heat, float64": ("heat3d", _heat(loops.heat3d, 9, F64)),
    "heat, periodic": ("heat3d", _heat(heat3d_periodic, 9)),
    "heat, 27 points": ("heat3d", _heat(heat3d_27, 30)),
    "diffusion, reflected": ("rd2d", _rd(rd2d_reflected, 11)),
    "diffusion, periodic": ("rd2d", _rd(rd2d_periodic, 11)),
    "diffusion, nine points": ("rd2d", _rd(rd2d_nine, 24)),
    "diffusion, float64": ("rd2d", _rd(loops.rd2d, 11, F64)),
    "three species": ("rd2d", Case(three_species, _species, 512 * 512 * 30 * 32)),
    "cell, float64": ("hmlstm", _cell(loops.hmlstm, F64)),
    "cell, a row's norm": ("hmlstm", _cell(cell_normed)),
    "mixture, float64": ("gmm", _gmm(F64)),
    "mixture, d = 8": ("gmm", _gmm(d=8, count=40)),
    "mixture, diagonal": (
        "gmm",
        Case(gmm_diagonal, _diagonal, 20000 * 25 * 90, ("alpha", "mean", "scale")),
    ),
    "warp, bicubic": ("stn", _stn(stn_cubic, 120)),
    "warp, 3 channels": ("stn", _stn(loops.stn, 20, 3)),
    "flow, channels last": ("flownet", _flow(last=True)),
    "flow, 12 channels": ("flownet", _flow(last=False, channels=12)),
    "grid, data in the middle": ("bslice", _slice(middle=True)),
    "grid, float64": ("bslice", _slice(middle=False, dtype=F64)),
    "kernel 5 x 5 of the loss": (
        "ckpt3x5",
        Case(loops.ckpt, _ckpt5, 800 * 1280 * 27, ("x",)),
    ),
    "two blurs, clamped": (
        "ckpt3x5",
        Case(blurs_clamped, _blurs, 800 * 1280 * 12, ("x",)),
    ),
}


class Timed:
    """A case that runs: value and gradient, and how long they took."""

    def __init__(self, case: Case) -> None:
        self.case, self.given = case, case.make()
        self.f = pyrev.differentiable(case.function, target="numba")
        self.written = {n: np.ones_like(self.given[n]) for n in self._out()}
        self.seconds: list[float] = []
        start = time.perf_counter()
        self.run()
        self.first = time.perf_counter() - start
        self.run()

    def _out(self) -> list[str]:
        return [n for n in self.given if n in ("out", "u", "v", "w") and self._fills(n)]

    def _fills(self, name: str) -> bool:
        return not np.any(self.given[name])

    def run(self) -> float:
        start = time.perf_counter()
        wrt = tuple(self.case.wrt) if self.case.wrt else None
        _, pullback = pyrev.vjp(self.f, **self.given, wrt=wrt)
        pullback(None if self.written else 1.0, cotangents=self.written)
        return time.perf_counter() - start

    def per_operation(self) -> float:
        """Nanoseconds, of the median."""
        return statistics.median(self.seconds) / self.case.operations * 1e9


def compared(names: Sequence[str], rounds: int) -> dict[str, dict[str, Any]]:
    """Each neighbour beside its workload, in turn."""
    found: dict[str, dict[str, Any]] = {}
    bases: dict[str, Timed] = {}
    for name in names:
        of, case = NEIGHBOURS[name]
        base = bases.get(of) or Timed(BASES[of])
        bases = {of: base}  # one at a time: they are large
        base.seconds = []
        own = Timed(case)
        for _ in range(rounds):
            base.seconds.append(base.run())
            own.seconds.append(own.run())
        found[name] = {
            "of": of,
            "ratio": own.per_operation() / base.per_operation(),
            "ms": statistics.median(own.seconds) * 1e3,
            "base ms": statistics.median(base.seconds) * 1e3,
            "first call s": own.first,
        }
        one = found[name]
        print(
            f"{name:26} {of:8} {one['ratio']:6.2f} {one['ms']:9.1f}"
            f" {one['base ms']:9.1f} {one['first call s']:7.1f}",
            flush=True,
        )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", type=int, default=9, help="rounds (default 9)")
    parser.add_argument("--only", help="names, with semicolons between; default: all")
    parser.add_argument("--out", type=Path, help="where to write the figures as JSON")
    options = parser.parse_args()
    names = options.only.split(";") if options.only else [*NEIGHBOURS]
    print(f"{'neighbour':26} {'of':8} {'ratio':>6} {'ms':>9} {'of ms':>9} {'first':>7}")
    found = compared(names, options.n)
    ratios = [one["ratio"] for one in found.values()]
    within = sum(r <= 1.5 for r in ratios)
    print(f"{within} of {len(ratios)} within 1.5, the worst {max(ratios):.2f}")
    if options.out:
        options.out.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
