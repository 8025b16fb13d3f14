"""Prints the table: what pyrev does with each function of the corpus and this suite.

python -m tests.corpora.conformance [results.txt] [--target python|numba] [--only NAME]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.corpora.conformance import peers
from tests.corpora.conformance.entries import CONFORMANCE, TEN
from tests.corpora.conformance.table import (
    HEADER,
    REFUSED,
    RIGHT,
    WRONG,
    Verdict,
    judge,
    row,
)
from tests.corpora.corpus import ENTRIES
from tests.corpora.entry import Entry

SUITES: tuple[tuple[str, Sequence[Entry]], ...] = (
    ("the ten functions", TEN),
    ("corpus", ENTRIES),
    ("conformance", CONFORMANCE),
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.corpora.conformance")
    parser.add_argument("results", nargs="?", type=Path, help="a file to write")
    parser.add_argument("--target", choices=("python", "numba"), default="python")
    parser.add_argument("--only", metavar="NAME", help="functions with this name")
    options = parser.parse_args()

    every: dict[str, list[Verdict]] = {}
    for title, suite in SUITES:
        chosen = [e for e in suite if options.only in (None, e.name)]
        every[title] = []
        for entry in chosen:
            if sys.stderr.isatty():
                print(f"\r{title}: {entry.name:<50}", end="", file=sys.stderr)
            sizes = (max(2, entry.least), entry.real)
            compiled = options.target == "numba"
            found = judge(entry, options.target, sizes if compiled else ())
            every[title].append(found)
    if sys.stderr.isatty():
        print(file=sys.stderr)

    asked = list(peers.rows()) if options.only is None else []
    text = _table(every, options.target, asked)
    print(text, end="")
    if options.results is not None:
        options.results.write_text(text)
    wrong = any(v.outcome == WRONG for found in every.values() for v in found)
    return int(wrong)


def _table(
    every: dict[str, list[Verdict]],
    target: str,
    asked: list[tuple[str, tuple[Verdict, ...] | None]],
) -> str:
    lines = [HEADER]
    lines += [row(f"pyrev ({target}), {t}", f) for t, f in every.items() if f]
    together = [v for found in every.values() for v in found]
    lines.append(row(f"pyrev ({target}), together", together))
    sections = [("pyrev", together)]
    for title, found in asked:
        if found is None:
            lines.append(f"{title + ', the ten functions':<34}   not installed")
        else:
            lines.append(row(f"{title}, the ten functions", found))
            sections.append((title, list(found)))
    for title, verdicts in sections:
        for kind in (WRONG, REFUSED):
            chosen = [v for v in verdicts if v.outcome == kind]
            if chosen:
                lines += ["", f"{kind} ({title}):"]
                lines += [f"  {v.name}: {v.message}" for v in chosen]
    slow = sorted(together, key=lambda v: -v.seconds)[:5]
    share = sum(v.outcome == RIGHT for v in together) / max(1, len(together))
    lines += [
        "",
        f"{share:.1%} right in {sum(v.seconds for v in together):.0f} s; the slowest: "
        + ", ".join(f"{v.name} {v.seconds:.1f} s" for v in slow),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
