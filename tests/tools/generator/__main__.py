"""Judge many generated programs; write what happened, and the seeds, to a file.

python -m tests.tools.generator --count 20000 --target python --jobs 2 --out r.json
python -m tests.tools.generator --seed 4711          # one program: text and verdict

With `--programs` whole programs of several functions are made, and judged by one exact
direction each; with `--forms` those of structures, lists, draws, masks, recursion and
the like.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import time
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.tools.generator.hunt import Source, Tally, collect_seldom, hunt
from tests.tools.generator.productions import PRODUCTIONS
from tests.tools.generator.shrink import shrunk


def report(
    total: Tally, target: str, seeds: tuple[int, int], seconds: float, source: Source
) -> Any:
    """The results file: figures, every seed that did not come out right."""
    several = source.whole or source.forms
    known = sorted(total.productions) if several else PRODUCTIONS
    counts = {p: total.productions[p] for p in known}
    return {
        "target": target,
        "first seed": seeds[0],
        "seeds": seeds[1] - seeds[0],
        "judged": total.judged,
        "right": total.right,
        "refused": len(total.refused),
        "wrong": len(total.wrong),
        "rejected": dict(total.rejected.most_common()),
        "rarest production": min(
            counts.items(), key=lambda item: item[1], default=("", 0)
        ),
        "productions": counts,
        "wrong seeds": total.wrong,
        "refused seeds": total.refused,
        "refused, in percent": round(100 * len(total.refused) / (total.judged or 1), 2),
        "symptoms": dict(
            Counter([*total.wrong.values(), *total.refused.values()]).most_common()
        ),
        "seconds": round(seconds, 1),
    }


def one(seed: int, target: str, source: Source, shrink: float) -> int:
    """Show one program, as it is or as small as it gets, and what becomes of it."""
    program = source.generated(seed)
    if shrink:
        program = shrunk(program, target, shrink, source.judge)
    verdict = source.judge(program, target)
    print(program)
    print(json.dumps(asdict(verdict), indent=1))
    return int(verdict.wrong)


def explained(total: Tally, target: str, source: Source, seconds: float) -> None:
    """Print the smallest program for each symptom."""
    seen: set[str] = set()
    for seed, symptom in {**total.wrong, **total.refused}.items():
        if symptom not in seen:
            seen.add(symptom)
            print(f"=== {symptom}")
            one(seed, target, source, seconds)


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.tools.generator")
    parser.add_argument(
        "--programs", action="store_true", help="whole programs of several functions"
    )
    parser.add_argument(
        "--forms", action="store_true", help="structures, lists, draws and the like"
    )
    parser.add_argument("--count", type=int, help="default: 300")
    parser.add_argument("--start", type=int, help="first seed; default: a fresh one")
    parser.add_argument(
        "--seed", type=int, help="show this program; with --count: the first seed"
    )
    parser.add_argument("--shrink", type=float, default=0.0, metavar="SECONDS")
    parser.add_argument(
        "--target",
        default="python",
        choices=("python", "numpy", "numba", "text", "cuda"),
    )
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--without", default="", help="productions, with commas")
    parser.add_argument(
        "--lines",
        type=float,
        default=math.inf,
        help="only programs no longer than this",
    )
    parser.add_argument("--seconds", type=float, default=math.inf, help="stop then")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args(argv)
    without = frozenset(p.strip() for p in options.without.split(",") if p.strip())
    if unknown := sorted(without - set(PRODUCTIONS)):
        parser.error(f"no such production: {', '.join(unknown)}")
    several = options.programs or options.forms
    if several and (without or options.target not in ("python", "numba")):
        parser.error(
            "--programs and --forms take no --without, and the targets python and numba"
        )
    source = Source(options.programs, without, options.forms)
    if options.seed is not None and options.count is None:
        return one(options.seed, options.target, source, options.shrink)
    start = options.seed if options.start is None else options.start
    if start is None:
        start = int.from_bytes(os.urandom(5))
    collect_seldom()
    began = time.monotonic()
    total, end = hunt(
        start,
        300 if options.count is None else options.count,
        options.target,
        options.jobs,
        source,
        began + options.seconds,
        options.lines,
    )
    seconds = time.monotonic() - began
    found = report(total, options.target, (start, end), seconds, source)
    if options.out is not None:
        options.out.write_text(json.dumps(found, indent=1) + "\n")
    if options.shrink:
        explained(total, options.target, source, options.shrink)
    shown = dict(found)
    shown.pop("productions")
    print(json.dumps(shown, indent=1))
    return 1 if total.wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
