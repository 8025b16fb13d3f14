"""Prints the table: what becomes of each program.

python -m tests.corpora.programs [NAME ...] [--target python|numba] [--all]
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile

from tests.corpora.programs._judge import (
    DIED,
    NAMES,
    REFUSED,
    RIGHT,
    WRONG,
    judge,
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.corpora.programs")
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these")
    parser.add_argument("--target", choices=("python", "numba"), default="python")
    parser.add_argument("--all", action="store_true", help="print what is right too")
    options = parser.parse_args()
    os.environ.setdefault("PYREV_CACHE_DIR", tempfile.mkdtemp(prefix="pyrev-"))

    verdicts = []
    for name in options.names or NAMES:
        verdicts.append(judge(name, options.target))
        last = verdicts[-1]
        if last.outcome != RIGHT or options.all:
            codes = "".join(f" {c}" for c in last.codes)
            said = f": {last.message}" if last.message else ""
            print(f"{last.outcome:<8}{name} ({last.seconds:.1f} s){codes}{said}")
    kinds = (RIGHT, REFUSED, WRONG, DIED)
    counts = [sum(v.outcome == kind for v in verdicts) for kind in kinds]
    print(f"{'':<24}{'of':>6}" + "".join(f"{kind:>9}" for kind in kinds))
    print(
        f"{f'programs ({options.target})':<24}{len(verdicts):>6}"
        + "".join(f"{n:>9}" for n in counts)
    )
    print(
        f"{counts[0] / max(1, len(verdicts)):.1%} right in "
        f"{sum(v.seconds for v in verdicts):.0f} s"
    )
    return int(counts[2] + counts[3] > 0)


if __name__ == "__main__":
    sys.exit(main())
