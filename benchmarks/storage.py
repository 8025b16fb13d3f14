"""Where an intermediate array lives: the choice that is made beside the forced ones.

    python benchmarks/storage.py [--rounds 15] [--small] [--out r.json]

The example of Li et al. (SIGGRAPH 2018), section 4.3: the squared error of a
convolution by 1x5 and by 3x5, its gradient with respect to the image. `convolved` is
kept whole (`store`), made again wherever an element is read (`recompute`), or held a
row at a time (written out as such). Timed in turn, medians in ms; the gradients are
compared first.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import loops
import workloads

import pyrev

BAR = 1.15


def by_row(x, k, target):
    loss = 0.0
    for a in range(target.shape[0]):
        convolved = np.zeros(target.shape[1], dtype=target.dtype)
        for b in range(target.shape[1]):
            for j in range(k.shape[0]):
                for i in range(k.shape[1]):
                    convolved[b] += x[a + j, b + i] * k[j, i]
        for b in range(target.shape[1]):
            loss += (convolved[b] - target[a, b]) ** 2
    return loss


def forms() -> dict[str, Callable[..., Any]]:
    made = {
        "automatic": pyrev.differentiable(loops.ckpt),
        "whole": pyrev.differentiable(loops.ckpt, store="convolved"),
        "inline": pyrev.differentiable(loops.ckpt, recompute="convolved"),
        "by row": pyrev.differentiable(by_row),
    }
    return {name: pyrev.grad(f, wrt="x") for name, f in made.items()}


def measure(name: str, small: bool, rounds: int) -> dict[str, float]:
    given = workloads.load(name).inputs(small)
    arguments = given["x"], given["k"], given["target"]
    found = forms()
    first = {form: gradient(*arguments) for form, gradient in found.items()}
    scale = float(np.max(np.abs(first["whole"])))
    for form, gradient in first.items():
        error = float(np.max(np.abs(gradient - first["whole"]))) / scale
        if error > 1e-4:
            raise SystemExit(f"{name}, {form}: differs by {error:.1e}")
    del first
    times: dict[str, list[float]] = {form: [] for form in found}
    for _ in range(rounds):
        for form, gradient in found.items():
            begin = time.perf_counter()
            gradient(*arguments)
            times[form].append(1e3 * (time.perf_counter() - begin))
    return {form: statistics.median(t) for form, t in times.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--small", action="store_true", help="small sizes, to try it")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    results = {}
    for name in ("ckpt1x5", "ckpt3x5"):
        times = measure(name, options.small, options.rounds)
        best = min(t for form, t in times.items() if form != "automatic")
        ratio = times["automatic"] / best
        text = "  ".join(f"{form} {t:.2f} ms" for form, t in times.items())
        print(f"{name}: {text}  automatic / best forced {ratio:.2f} (bar {BAR})")
        results[name] = {**times, "ratio": ratio}
    if options.out is not None:
        options.out.write_text(json.dumps(results, indent=1))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
