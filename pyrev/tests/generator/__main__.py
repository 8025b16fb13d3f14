"""Judge many generated programs; write what happened, and the seeds, to a file.

python -m pyrev.tests.generator --count 20000 --target python --jobs 2 --out r.json
python -m pyrev.tests.generator --seed 4711          # one program: text and verdict
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import os
import sys
import time
from collections import Counter
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pyrev.tests.generator.judge import REFUSED, RIGHT, judge
from pyrev.tests.generator.productions import PRODUCTIONS
from pyrev.tests.generator.shrink import shrunk
from pyrev.tests.generator.writer import generated

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


def tally(seeds: range, target: str, without: frozenset[str]) -> Tally:
    """Judge the programs of these seeds."""
    found = Tally()
    for seed in seeds:
        program = generated(seed, without)
        verdict = judge(program, target)
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
    without: frozenset[str],
    end: float = math.inf,
) -> tuple[Tally, int]:
    """Seeds from `start` on until `count` programs were judged or the time is up.

    Gives the first seed that was left, too.
    """
    total, seed = Tally(), start
    if jobs == 1:
        step = 1 if target == "numba" else CHUNK
        while total.judged < count and time.monotonic() < end:
            total.add(tally(range(seed, seed + step), target, without))
            seed += step
            progress(total, count)
        return total, seed
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, context, max_tasks_per_child=40) as pool:
        pending: list[Future[Tally]] = []
        while pending or (total.judged < count and time.monotonic() < end):
            while (
                time.monotonic() < end
                and total.judged + CHUNK * len(pending) < count
                and len(pending) < jobs
            ):
                seeds = range(seed, seed + CHUNK)
                pending.append(pool.submit(tally, seeds, target, without))
                seed += CHUNK
            if not pending:
                # The programs that said nothing are made up for.
                seeds = range(seed, seed + CHUNK)
                pending.append(pool.submit(tally, seeds, target, without))
                seed += CHUNK
            total.add(pending.pop(0).result())
            progress(total, count)
    return total, seed


def progress(total: Tally, count: int) -> None:
    if sys.stderr.isatty():
        text = f"{total.judged}/{count}, {len(total.refused)} refused"
        print(f"\r{text}, {len(total.wrong)} wrong", end="", file=sys.stderr)


def report(total: Tally, target: str, seeds: tuple[int, int], seconds: float) -> Any:
    """The results file: figures, every seed that did not come out right."""
    counts = {p: total.productions[p] for p in PRODUCTIONS}
    return {
        "target": target,
        "first seed": seeds[0],
        "seeds": seeds[1] - seeds[0],
        "judged": total.judged,
        "right": total.right,
        "refused": len(total.refused),
        "wrong": len(total.wrong),
        "rejected": dict(total.rejected.most_common()),
        "rarest production": min(counts.items(), key=lambda item: item[1]),
        "productions": counts,
        "wrong seeds": total.wrong,
        "refused seeds": total.refused,
        "symptoms": dict(
            Counter([*total.wrong.values(), *total.refused.values()]).most_common()
        ),
        "seconds": round(seconds, 1),
    }


def one(seed: int, target: str, without: frozenset[str], shrink: float) -> int:
    """Show one program, as it is or as small as it gets, and what becomes of it."""
    program = generated(seed, without)
    if shrink:
        program = shrunk(program, target, shrink)
    verdict = judge(program, target)
    print(program)
    print(json.dumps(asdict(verdict), indent=1))
    return int(verdict.wrong)


def explained(
    total: Tally, target: str, without: frozenset[str], seconds: float
) -> None:
    """Print the smallest program for each symptom."""
    seen: set[str] = set()
    for seed, symptom in {**total.wrong, **total.refused}.items():
        if symptom not in seen:
            seen.add(symptom)
            print(f"=== {symptom}")
            one(seed, target, without, seconds)


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m pyrev.tests.generator")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--start", type=int, help="first seed; default: a fresh one")
    parser.add_argument("--seed", type=int, help="show one program and its verdict")
    parser.add_argument("--shrink", type=float, default=0.0, metavar="SECONDS")
    parser.add_argument(
        "--target", default="python", choices=("python", "numba", "text")
    )
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--without", default="", help="productions, with commas")
    parser.add_argument("--seconds", type=float, default=math.inf, help="stop then")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args(argv)
    without = frozenset(p.strip() for p in options.without.split(",") if p.strip())
    if unknown := sorted(without - set(PRODUCTIONS)):
        parser.error(f"no such production: {', '.join(unknown)}")
    if options.seed is not None:
        return one(options.seed, options.target, without, options.shrink)
    start = options.start
    if start is None:
        start = int.from_bytes(os.urandom(5))
    began = time.monotonic()
    total, end = hunt(
        start,
        options.count,
        options.target,
        options.jobs,
        without,
        began + options.seconds,
    )
    found = report(total, options.target, (start, end), time.monotonic() - began)
    if options.out is not None:
        options.out.write_text(json.dumps(found, indent=1) + "\n")
    if options.shrink:
        explained(total, options.target, without, options.shrink)
    shown = dict(found)
    shown.pop("productions")
    print(json.dumps(shown, indent=1))
    return 1 if total.wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
