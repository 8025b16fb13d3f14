"""Timing of the schedules that the cost model was nearly as likely to take.

A schedule follows from a few dozen tests of sizes, "are there enough rows to share
out?", of which any answer gives right code. `tune` turns them over one by one, on the
user's own data, and keeps what is faster.
"""

from __future__ import annotations

import contextlib
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from pyrev.analysis.bounds import Variant
from pyrev.driver.arguments import Kind
from pyrev.driver.request import Request
from pyrev.driver.targets.target import Target
from pyrev.driver.unit import Swept, Unit
from pyrev.driver.units import Units
from pyrev.runtime import pool
from pyrev.runtime.code_cache import remember_tuning

ROUNDS = 5
FASTER = 0.95  # of the time so far: less is noise
MOST = 8  # schedules that are timed, of each part
LONGEST = 2.0  # seconds for the rounds of one pair

Make = Callable[[frozenset[str]], Unit]
Run = Callable[[Unit], float]


@dataclass(frozen=True, slots=True)
class Trial:
    """One schedule: the tests that were turned over, and its time beside the best."""

    part: str  # "primal", and "adjoint" or its two sweeps, "forward" and "reverse"
    flipped: tuple[str, ...]
    seconds: float
    best: float
    taken: bool

    def __str__(self) -> str:
        tests = " and ".join(f"not ({t})" for t in self.flipped)
        taken = ", taken" if self.taken else ""
        return (
            f"{self.part}: {1e3 * self.seconds:.3f} ms instead of"
            f" {1e3 * self.best:.3f} ms{taken}: as if {tests}"
        )


@dataclass(frozen=True, slots=True)
class Tuning:
    """What `tune` tried, in order."""

    trials: tuple[Trial, ...]

    def __str__(self) -> str:
        if not self.trials:
            return "there was one schedule to choose from"
        return "\n".join(map(str, self.trials))


class Checked(Protocol):
    """A call whose arguments are bound and checked."""

    values: dict[str, Any]
    units: Units
    kinds: dict[str, Kind]
    variant: Variant

    def run(self) -> Any:
        """The primal."""


def tune(call: Checked, target: Target, wrt: tuple[str, ...], progress: bool) -> Tuning:
    """Time the candidates for this call and remember the best ones on disk."""
    units, values = call.units, dict(call.values)
    request = Request(target, call.kinds, wrt, values, call.variant)

    def primal(flipped: frozenset[str]) -> Unit:
        return units.primal(request, flipped)

    def adjoint(flipped: frozenset[str]) -> Unit:
        return units.adjoint(request, flipped)

    def sweep(forward: frozenset[str], reverse: frozenset[str]) -> Swept:
        made = units.sweeps(request, (forward, reverse)).apart
        assert made is not None  # whatever is turned over
        return made

    def fresh() -> dict[str, Any]:
        return values | {n: pool.copy(values[n]) for n in units.function.written}

    parts: dict[str, Make] = {"primal": primal, "adjoint": adjoint}
    recorded: dict[str, Any] = {}
    apart = units.sweeps(request).apart
    if apart is not None:
        del parts["adjoint"]
        parts["forward"] = lambda flipped: sweep(flipped, frozenset()).forward
        parts["reverse"] = lambda flipped: sweep(frozenset(), flipped).reverse
        _, recorded = apart.run(fresh())

    call.values = fresh()
    result = call.run()
    results = result if isinstance(result, tuple) else (result,)
    outputs: dict[str | int, Any] = {n: v for n, v in call.values.items()}
    outputs |= enumerate(results)
    call.values = values

    def run(unit: Unit) -> float:
        given = fresh() | {p: _ones(outputs[of]) for p, of in unit.cotangents}
        if unit.cotangents:
            given |= recorded
        begin = time.perf_counter()
        unit.call([given[p] for p in unit.params])
        return time.perf_counter() - begin

    trials: list[Trial] = []
    with _bar(progress) as step:
        for part, make in parts.items():
            trials += _search(part, make, run, step)
    return Tuning(tuple(trials))


def _ones(output: Any) -> Any:
    if isinstance(output, np.ndarray):
        return np.ones_like(output)
    return np.float32(1.0) if isinstance(output, np.float32) else 1.0


def _search(
    part: str, make: Make, run: Run, step: Callable[[str], None]
) -> Iterator[Trial]:
    plain = best = make(frozenset())
    seen = {plain.text.text}
    flipped: tuple[str, ...] = ()
    todo = list(plain.weighed)
    tried = 0
    while todo and tried < MOST:
        test = todo.pop(0)
        step(f"{part}: {test}")
        other = make(frozenset((*flipped, test)))
        if other.text.text in seen:
            continue
        seen.add(other.text.text)
        tried += 1
        was, now = _beside(best, other, run)
        taken = now < FASTER * was
        yield Trial(part, (*flipped, test), now, was, taken)
        if taken:
            best, flipped = other, (*flipped, test)
            # Another schedule asks other questions.
            todo += [t for t in other.weighed if t not in {*plain.weighed, *todo}]
    remember_tuning(plain.text.text, plain.program.name, flipped)


def _beside(one: Unit, other: Unit, run: Run) -> tuple[float, float]:
    """The median times of two, run in turn; what both need first is not counted."""
    for unit in (one, other):
        run(unit)
    times: list[tuple[float, float]] = []
    begin = time.perf_counter()
    while len(times) < ROUNDS:
        times.append((run(one), run(other)))
        if len(times) >= 3 and time.perf_counter() - begin > LONGEST:
            break
    was, now = zip(*times, strict=True)
    return statistics.median(was), statistics.median(now)


@contextlib.contextmanager
def _bar(progress: bool) -> Iterator[Callable[[str], None]]:
    """Shows what is being tried, with tqdm where it is installed."""
    try:
        from tqdm import tqdm
    except ImportError:
        progress = False
    if not progress:
        yield lambda text: None
        return
    with tqdm(desc="tune", unit=" schedules") as bar:

        def step(text: str) -> None:
            bar.set_postfix_str(text if len(text) < 60 else f"{text[:57]}...")
            bar.update()

        yield step
