"""Published loop functions: pyrev's primal against Numba's, gradients against primals.

    python benchmarks/published.py [--only NAME ...] [--count 40] [--rounds 9]
        [--seconds 120] [--out r.json]

The functions of `tests/corpora/published` that `numba.njit` compiles as they stand, at
the first size at which that takes a millisecond. Each is a process of its own, in which
the compiled function, pyrev's primal and a gradient (`vjp` and its pullback) take
turns, on one thread and on all; given are ratios of medians. What Numba refuses, and
what never takes a millisecond, is counted apart.
"""

from __future__ import annotations

import argparse
import copy
import json
import math
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numba
import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
import pyrev  # noqa: E402
from tests.corpora.published.entries import PUBLISHED  # noqa: E402

#: So long a call takes at least, in seconds.
_LEAST = 1e-3
#: The sizes that are tried.
_SIZES = (20, 40, 80, 160, 320, 640, 1280, 2560, 5120, 10_240, 40_960, 163_840)


def _seconds(call: Callable[..., object], arguments: dict[str, Any]) -> float:
    """One call with arguments of its own, whose making does not count."""
    own = copy.deepcopy(arguments)
    begin = time.perf_counter()
    call(**own)
    return time.perf_counter() - begin


def _seeded(f: Any, arguments: dict[str, Any]) -> Callable[..., object]:
    """`vjp` and its pullback, with cotangents of ones."""
    own = copy.deepcopy(arguments)
    result, _ = pyrev.vjp(f, **own)

    def ones(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(ones, value))
        if isinstance(value, np.ndarray):
            return np.ones_like(value, np.float64)
        return 1.0 if isinstance(value, (float, np.floating)) else None

    cotangent = None if result is None else ones(result)
    written = {
        n: np.ones_like(v)
        for n, v in own.items()
        if isinstance(v, np.ndarray)
        and v.dtype.kind == "f"
        and not np.array_equal(v, arguments[n], equal_nan=True)
    }

    def gradient(**given: Any) -> object:
        _, pullback = pyrev.vjp(f, **given)
        if written:
            return pullback(cotangent, cotangents=written)
        return pullback(cotangent)

    return gradient


def measure(name: str, rounds: int) -> dict[str, Any]:
    """The ratios of one function, or why there are none."""
    (entry,) = (p.entry for p in PUBLISHED if p.entry.name == name)
    compiled = numba.njit(entry.plain)

    def arguments(size: int) -> dict[str, Any]:
        return entry.make(size, np.float64, entry.generator(size))

    try:
        small = arguments(max(entry.real, entry.least))
        _seconds(compiled, small)
    except Exception as error:
        return {"name": name, "skipped": f"Numba: {type(error).__name__}"}
    for size in _SIZES:
        given = arguments(size)
        if sum(v.nbytes for v in given.values() if isinstance(v, np.ndarray)) > 1 << 28:
            return {"name": name, "skipped": "large before it takes long"}
        if min(_seconds(compiled, given) for _ in range(3)) >= _LEAST:
            break
    else:
        return {"name": name, "skipped": "short at every size"}
    f = pyrev.differentiable(entry.plain, target="numba")
    gradient = _seeded(f, given)
    calls = {"njit": compiled, "primal": f.primal, "gradient": gradient}
    found: dict[str, Any] = {"name": name, "size": size}
    for threads in (1, numba.config.NUMBA_NUM_THREADS):
        numba.set_num_threads(threads)
        times: dict[str, list[float]] = {label: [] for label in calls}
        for call in calls.values():
            _seconds(call, given)
        for _ in range(rounds):
            for label, call in calls.items():
                times[label].append(_seconds(call, given))
        median = {label: statistics.median(own) for label, own in times.items()}
        found[f"primal {threads}"] = median["primal"] / median["njit"]
        found[f"gradient {threads}"] = median["gradient"] / median["primal"]
        found[f"ms {threads}"] = {k: 1e3 * v for k, v in median.items()}
    return found


def _of_its_own(name: str, options: argparse.Namespace) -> dict[str, Any]:
    command = [sys.executable, __file__, "--one", name, "--rounds", str(options.rounds)]
    try:
        run = subprocess.run(
            command, capture_output=True, text=True, timeout=options.seconds, check=True
        )
    except subprocess.TimeoutExpired:
        return {"name": name, "skipped": f"over {options.seconds} s"}
    except subprocess.CalledProcessError as error:
        last = error.stderr.strip().splitlines()[-1:] or [""]
        return {"name": name, "skipped": last[0][:100]}
    made: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    return made


def _mean(ratios: Sequence[float]) -> float:
    return math.exp(statistics.fmean(map(math.log, ratios)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=())
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.one, options.rounds)))
        return
    rows: list[dict[str, Any]] = []
    skipped: list[dict[str, Any]] = []
    for p in PUBLISHED:
        if options.only and p.entry.name not in options.only:
            continue
        if len(rows) >= options.count:
            break
        one = _of_its_own(p.entry.name, options)
        (skipped if "skipped" in one else rows).append(one)
        figures = [f"{k} {v:.2f}" for k, v in one.items() if isinstance(v, float)]
        print(f"{one['name']:34}", one.get("skipped", "  ".join(figures)), flush=True)
    for label in sorted({k for r in rows for k in r if k[:2] in ("pr", "gr")}):
        ratios = [r[label] for r in rows]
        worst = max(rows, key=lambda r: r[label])
        print(
            f"{label:12} geometric mean {_mean(ratios):.2f},"
            f" median {statistics.median(ratios):.2f},"
            f" worst {worst[label]:.2f} ({worst['name']})"
        )
    print(f"{len(rows)} functions, {len(skipped)} left out")
    if options.out:
        options.out.write_text(json.dumps(rows + skipped, indent=1))


if __name__ == "__main__":
    main()
