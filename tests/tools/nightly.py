"""All that hunts for bugs, one after the other: what takes too long for CI.

    python -m tests.tools.nightly [--list] [--only NAME ...] [--jobs N]

Hours. Every random search starts at seeds of its own for each commit (PYREV_ROTATION),
so that a bisection means something. Exits with 1 if any of them found something.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time

from tests import ROOT

#: By name: a command of `python -m`, and what is set around it.
STEPS: dict[str, tuple[str, dict[str, str]]] = {
    "tests": (
        "pytest -q -n {jobs} --dist loadfile -p no:cacheprovider",
        {"PYREV_FULL": "1"},
    ),
    "mutants": ("tests.tools.mutants --all", {}),
    "relapses": ("tests.tools.relapses", {}),
    "functions": (
        "tests.tools.generator --count 5000 --start {seed} --jobs {jobs}",
        {},
    ),
    "functions of whole arrays": (
        "tests.tools.generator --target numpy --count 900 --start {seed} --jobs {jobs}",
        {},
    ),
    "functions compiled": (
        "tests.tools.generator --target numba --count 500 --start {seed} --jobs {jobs}",
        {},
    ),
    "programs": (
        "tests.tools.generator --programs --count 5000 --start {seed} --jobs {jobs}",
        {},
    ),
    "forms": (
        "tests.tools.generator --forms --count 5000 --start {seed} --jobs {jobs}",
        {},
    ),
    "whole arrays": ("tests.tools.whole_arrays --jobs {jobs}", {}),
    "aliases": ("tests.tools.aliases --count 5000 --start {seed} --jobs {jobs}", {}),
    "rotations": (
        "tests.tools.rotations --count 3000 --start {seed} --jobs {jobs}",
        {},
    ),
    "resizing": (
        "tests.tools.resizing --count 3000 --start {seed} --jobs {jobs}",
        {},
    ),
    "sequences": ("tests.tools.sequences --count 2000 --first {seed}", {}),
    "hostile": ("tests.tools.hostile --count 5000 --first {seed}", {}),
    "misuse": ("tests.tools.misuse", {}),
    "stress": ("tests.tools.stress --seconds 300", {}),
    "coverage": ("tests.tools.coverage --jobs {jobs}", {}),
}


def command(name: str, seed: int, jobs: int) -> list[str]:
    """What a step runs."""
    words = STEPS[name][0].format(seed=seed, jobs=jobs)
    return [sys.executable, "-m", *words.split()]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--list", action="store_true", help="run nothing")
    parser.add_argument("--only", nargs="+", choices=STEPS, default=[*STEPS])
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    seed = int(os.environ.get("PYREV_ROTATION", "0")) % 10**6 * 1000
    failed = []
    for name in given.only:
        words = command(name, seed, given.jobs)
        print(f"== {name}: {' '.join(words[1:])}", flush=True)
        if given.list:
            continue
        start = time.monotonic()
        env = {**os.environ, **STEPS[name][1]}
        code = subprocess.run(words, cwd=ROOT, env=env).returncode
        print(f"== {name}: {code}, {time.monotonic() - start:.0f} s", flush=True)
        failed += [name] if code else []
    if failed:
        print(f"found something: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
