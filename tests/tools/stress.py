"""Do many threads at once, and a forked child, compute what one thread alone computes?

Sixteen Python threads call four functions and their pullbacks, as fast as they can, on
one of Numba's threading layers after the other, each in a process of its own. Every
result must have the bits of the serial run. Then the process forks, once while the
threads are still at work, and the child does the same with threads of its own.

    python -m tests.tools.stress [--seconds S] [--layer workqueue|omp|tbb ...]
"""

from __future__ import annotations

import argparse
import faulthandler
import math
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import pyrev
from tests import ROOT
from tests.tools import costs
from tests.tools.oracle import same_bits

LAYERS = ("workqueue", "omp", "tbb")
THREADS = 16
ABSENT = 77  # the exit status that says "this layer is not installed"


# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False


def stencil(u, v):
    for i in range(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            near = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
            v[i, j] = near * near * u[i, j]


def energy(a, w):
    s = 0.0
    for i in range(a.shape[0]):
        s += w[i] * math.exp(-a[i] * a[i])
    return s


def steps(x, r):
    for t in range(4):  # noqa: B007
        for i in range(1, x.shape[0]):
            x[i] = r * x[i] * (1.0 - x[i - 1])


def scatter(out, index, a):
    for i in range(a.shape[0]):
        out[index[i]] += a[i] * a[i]


@dataclass(frozen=True)
class Job:
    """A call with its pullback, and the bits that it must have."""

    function: Any
    arguments: tuple[Any, ...]
    expected: tuple[Any, ...]

    def right(self) -> bool:
        found = run(self.function, self.arguments)
        pairs = zip(found, self.expected, strict=True)
        return all(same_bits(a, b) for a, b in pairs)


def run(function: Any, arguments: Sequence[Any]) -> tuple[Any, ...]:
    """What a call returns and writes, and its gradients."""
    own = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    result, pullback = pyrev.vjp(function, *own)
    gradients = (
        pullback(1.25)
        if result is not None
        else pullback(cotangents=_ones(own, function))
    )
    return (result, *own, *gradients.values())


def _ones(arguments: Sequence[Any], function: Any) -> dict[str, Any]:
    name = {"stencil": "v", "steps": "x", "scatter": "out"}[function.python.__name__]
    shapes = dict(zip(function.python.__code__.co_varnames, arguments, strict=False))
    return {name: np.cos(np.arange(shapes[name].size)).reshape(shapes[name].shape)}


def jobs() -> tuple[Job, ...]:
    """Four functions of different kinds, each at two sizes, run once in one thread."""
    rng = np.random.default_rng(0)
    found = []
    for n in (40, 300):
        u = rng.random((n, n))
        x = rng.random(50 * n)
        index = rng.integers(0, n, 20 * n)
        calls: tuple[tuple[Callable[..., Any], tuple[Any, ...]], ...] = (
            (stencil, (u, np.zeros_like(u))),
            (energy, (x, rng.random(x.shape))),
            (steps, (rng.random(n), 3.1)),
            (scatter, (np.zeros(n), index, rng.random(20 * n))),
        )
        for function, arguments in calls:
            f = differentiable(function)
            found.append(Job(f, arguments, run(f, arguments)))
    return tuple(found)


_made: dict[Callable[..., Any], Any] = {}


def differentiable(function: Callable[..., Any]) -> Any:
    if function not in _made:
        _made[function] = costs.differentiable(function, target="numba")
    return _made[function]


@dataclass
class Crowd:
    """Threads at work until they are told to stop."""

    work: tuple[Job, ...]
    calls: int = 0
    wrong: int = 0

    def start(self) -> None:
        self.stop = threading.Event()
        self.threads = [
            threading.Thread(target=self._one, args=(k,)) for k in range(THREADS)
        ]
        for thread in self.threads:
            thread.start()

    def join(self) -> None:
        self.stop.set()
        for thread in self.threads:
            thread.join()

    def _one(self, k: int) -> None:
        while not self.stop.is_set():
            job = self.work[k % len(self.work)]
            k += 1
            self.calls += 1
            try:
                if not job.right():
                    self.wrong += 1
            except BaseException:
                self.wrong += 1
                raise


def work_for(work: tuple[Job, ...], seconds: float) -> Crowd:
    crowd = Crowd(work)
    crowd.start()
    time.sleep(seconds)
    crowd.join()
    return crowd


def forked(work: tuple[Job, ...], seconds: float) -> tuple[int, Crowd]:
    """The status of a child that does the same; the parent's threads never rest."""
    crowd = Crowd(work)
    crowd.start()
    time.sleep(min(0.5, seconds / 4))
    pid = os.fork()
    if pid == 0:
        faulthandler.dump_traceback_later(seconds + 240, exit=True)
        status = 1
        try:
            fresh = tuple(Job(j.function, j.arguments, j.expected) for j in work)
            alone = all(job.right() for job in fresh)
            found = work_for(fresh, seconds)
            status = 0 if alone and found.calls and not found.wrong else 2
        finally:
            os._exit(status)
    _, status = os.waitpid(pid, 0)
    crowd.join()
    return os.waitstatus_to_exitcode(status), crowd


def on_this_layer(seconds: float) -> int:
    """The whole exercise on the layer that NUMBA_THREADING_LAYER names."""
    from numba.np.ufunc import parallel

    asked = os.environ["NUMBA_THREADING_LAYER"]
    try:
        work = jobs()
    except pyrev.BackendError as error:
        if "threading layer" not in str(error):
            raise
        print(f"{asked}: not installed")
        return ABSENT
    layer = parallel.threading_layer()
    crowd = work_for(work, seconds)
    status, beside = forked(work, seconds)
    print(
        f"{layer}: {crowd.calls} calls from {THREADS} threads, {crowd.wrong} wrong;"
        f" beside a fork {beside.calls}, {beside.wrong} wrong;"
        f" the child ended with {status}"
    )
    wrong = crowd.wrong + beside.wrong
    return 1 if wrong or status or layer != asked else 0


def on_layer(layer: str, seconds: float) -> tuple[int, str]:
    """Exit status and output of the exercise on one layer, in a process of its own."""
    environment = {**os.environ, "NUMBA_THREADING_LAYER": layer}
    # On one core nothing runs side by side.
    environment.setdefault("NUMBA_NUM_THREADS", str(max(2, os.cpu_count() or 2)))
    command = [sys.executable, "-m", "tests.tools.stress", "--here"]
    done = subprocess.run(
        [*command, "--seconds", str(seconds)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=2 * seconds + 600,
    )
    return done.returncode, done.stdout + done.stderr


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--layer", nargs="*", default=LAYERS, choices=LAYERS)
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        return on_this_layer(options.seconds)
    failed = False
    for layer in options.layer:
        status, told = on_layer(layer, options.seconds)
        print(told.strip() or f"{layer}: died with {status}", flush=True)
        failed = failed or status not in (0, ABSENT)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
