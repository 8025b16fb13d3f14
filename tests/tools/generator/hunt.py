"""Judge ranges of seeds, in one process or several, and tally what became of them."""

from __future__ import annotations

import gc
import math
import multiprocessing
import sys
import time
from collections import Counter
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, field

from tests.tools.generator import judge, writer
from tests.tools.generator.forms import judge as formed
from tests.tools.generator.forms import writer as forms
from tests.tools.generator.judge import REFUSED, RIGHT, Verdict
from tests.tools.generator.program import Generated
from tests.tools.generator.programs import judge as several
from tests.tools.generator.programs import writer as programs

CHUNK = 25


@dataclass
class Tally:
    """What became of a range of seeds."""

    judged: int = 0
    right: int = 0
    refused: dict[int, str] = field(default_factory=dict)
    wrong: dict[int, str] = field(default_factory=dict)
    rejected: Counter[str] = field(default_factory=Counter)
    productions: Counter[str] = field(default_factory=Counter)

    def add(self, other: Tally) -> None:
        known = {*self.wrong.values(), *self.refused.values()}
        for seed, symptom in {**other.wrong, **other.refused}.items():
            if symptom not in known:
                known.add(symptom)
                print(f"seed {seed}: {symptom}", file=sys.stderr, flush=True)
        self.judged += other.judged
        self.right += other.right
        self.refused |= other.refused
        self.wrong |= other.wrong
        self.rejected += other.rejected
        self.productions += other.productions


@dataclass(frozen=True, slots=True)
class Source:
    """What is made of a seed, and who judges it: one function, a whole program, or one
    of the forms that the others do not write.
    """

    whole: bool = False
    without: frozenset[str] = frozenset()
    forms: bool = False

    def generated(self, seed: int) -> Generated:
        if self.forms:
            return forms.generated(seed)
        if self.whole:
            return programs.generated(seed)
        return writer.generated(seed, self.without)

    def judge(self, program: Generated, target: str) -> Verdict:
        if self.forms:
            return formed.judge(program, target)
        return (several if self.whole else judge).judge(program, target)


def collect_seldom() -> None:
    """Let this process look for garbage once for fifty times it did.

    Programs leave little of it, and what pyrev and NumPy hold is looked through each
    time: that took a sixth of the time of a hunt.
    """
    gc.freeze()
    gc.set_threshold(35_000, 10, 10)


def tally(seeds: range, target: str, source: Source, lines: float = math.inf) -> Tally:
    """Judge the programs of these seeds that have no more `lines`."""
    found = Tally()
    for seed in seeds:
        program = source.generated(seed)
        if len(program.source.splitlines()) > lines:
            found.rejected["longer"] += 1
            continue
        verdict = source.judge(program, target)
        if not verdict.counts:
            found.rejected[verdict.kind] += 1
            continue
        found.judged += 1
        if verdict.kind == RIGHT:
            found.right += 1
            found.productions.update(program.productions)
            found.productions["zero-size"] += verdict.zero
            found.productions["other sizes"] += verdict.other
        elif verdict.kind == REFUSED:
            found.refused[seed] = verdict.symptom
        else:
            found.wrong[seed] = verdict.symptom
    return found


def hunt(
    start: int,
    count: int,
    target: str,
    jobs: int,
    source: Source,
    end: float = math.inf,
    lines: float = math.inf,
) -> tuple[Tally, int]:
    """Seeds from `start` on until `count` programs were judged or the time is up.

    Gives the first seed that was left, too.
    """
    total, seed = Tally(), start
    # Compiled code is never unloaded: a process holds it until it ends.
    if jobs == 1 and target != "numba":
        while total.judged < count and time.monotonic() < end:
            total.add(tally(range(seed, seed + CHUNK), target, source, lines))
            seed += CHUNK
            progress(total, count)
        return total, seed
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(
        jobs, context, collect_seldom, max_tasks_per_child=40
    ) as pool:
        pending: list[Future[Tally]] = []
        while pending or (total.judged < count and time.monotonic() < end):
            while (
                time.monotonic() < end
                and total.judged + CHUNK * len(pending) < count
                and len(pending) < jobs
            ):
                seeds = range(seed, seed + CHUNK)
                pending.append(pool.submit(tally, seeds, target, source, lines))
                seed += CHUNK
            if not pending:
                # The programs that said nothing are made up for.
                seeds = range(seed, seed + CHUNK)
                pending.append(pool.submit(tally, seeds, target, source, lines))
                seed += CHUNK
            total.add(pending.pop(0).result())
            progress(total, count)
    return total, seed


def progress(total: Tally, count: int) -> None:
    if sys.stderr.isatty():
        text = f"{total.judged}/{count}, {len(total.refused)} refused"
        print(f"\r{text}, {len(total.wrong)} wrong", end="", file=sys.stderr)
