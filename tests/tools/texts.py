"""The generated texts of both corpora, to compare two commits.

`python -m tests.tools.texts --out before.json` on one, `--compare before.json` on the
other: what differs is printed, and there is none to print after a step of a redesign.
"""

from __future__ import annotations

import argparse
import difflib
import json
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pyrev
from tests.corpora.everything import EVERY

TARGETS = ("python", "numba", "cuda")


def of(name: str) -> dict[str, str]:
    """The adjoint's text for each target, or what was refused."""
    found = {}
    for target in TARGETS:
        try:
            function = pyrev.differentiable(EVERY[name].plain)
            found[f"{name} {target}"] = function.adjoint.source_for(target)
        except pyrev.UnsupportedError as refused:
            codes = sorted(f.code for f in refused.findings)
            found[f"{name} {target}"] = f"refused: {' '.join(codes)}\n"
    return found


def texts(jobs: int, only: str = "") -> dict[str, str]:
    """All texts by function and target."""
    names = [n for n in EVERY if only in n]
    with ProcessPoolExecutor(jobs) as pool:
        parts = pool.map(of, names, chunksize=8)
        return {key: text for part in parts for key, text in part.items()}


def main() -> int:
    """Write the texts, or compare them with those that were written."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--compare", type=Path)
    parser.add_argument("--only", default="", help="names that contain this")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    now = texts(arguments.jobs, arguments.only)
    if arguments.out:
        arguments.out.write_text(json.dumps(now, indent=1))
    if arguments.compare is None:
        print(len(now), "texts")
        return 0
    before = json.loads(arguments.compare.read_text())
    before = {k: t for k, t in before.items() if arguments.only in k.split()[0]}
    changed = [k for k in before if now.get(k) != before[k]] + [*now.keys() - before]
    for key in changed:
        old, new = before.get(key, ""), now.get(key, "")
        lines = difflib.unified_diff(old.splitlines(), new.splitlines(), key, key, n=1)
        print(*lines, sep="\n")
    print(len(now), "texts,", len(changed), "differ")
    return bool(changed)


if __name__ == "__main__":
    sys.exit(main())
