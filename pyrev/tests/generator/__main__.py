"""Judge many generated programs; write what happened, and the seeds, to a file.

python -m pyrev.tests.generator --count 20000 --target python --jobs 2 --out r.json
python -m pyrev.tests.generator --seed 4711          # one program: text and verdict
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

from pyrev.tests.generator.hunt import Tally, hunt
from pyrev.tests.generator.judge import judge
from pyrev.tests.generator.productions import PRODUCTIONS
from pyrev.tests.generator.shrink import shrunk
from pyrev.tests.generator.writer import generated


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
        "--target", default="python", choices=("python", "numba", "text", "cuda")
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
        options.lines,
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
