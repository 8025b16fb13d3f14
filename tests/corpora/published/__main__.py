"""Judges every function of this corpus, and says what refuses those that are refused.

python -m tests.corpora.published [--target python|numba] [--only NAME ...] [--part K/N]
"""

from __future__ import annotations

import argparse
import re
import sys
import warnings
from collections import Counter

from tests.corpora.conformance.table import HEADER, REFUSED, RIGHT, WRONG, judge, row
from tests.corpora.published.entries import PUBLISHED


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.corpora.published")
    parser.add_argument("--target", choices=("python", "numba"), default="python")
    parser.add_argument("--only", nargs="*", metavar="NAME", default=())
    parser.add_argument("--part", metavar="K/N", default="0/1")
    options = parser.parse_args()
    k, n = map(int, options.part.split("/"))
    chosen = [p for p in PUBLISHED if not options.only or p.entry.name in options.only]
    verdicts = {}
    for p in chosen[k::n]:
        sizes = (max(2, p.entry.least), p.entry.real)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compiled = options.target == "numba"
            found = judge(p.entry, options.target, sizes if compiled else ())
        verdicts[p.entry.name] = found
        print(f"{found.outcome:8} {found.seconds:6.1f} s  {p.field:12} {p.entry.name}")
        if found.outcome != RIGHT:
            print(f"         {found.message}", flush=True)
    every = list(verdicts.values())
    print("", HEADER, row(f"published ({options.target})", every), "", sep="\n")
    reasons: Counter[str] = Counter()
    for v in every:
        if v.outcome == REFUSED:
            codes = dict.fromkeys(re.findall(r"\b(P\d{3} [^/]*)", v.message))
            reasons.update(c.strip() for c in codes)
    for reason, count in reasons.most_common():
        print(f"{count:5}  {reason}")
    slow = sorted(every, key=lambda v: -v.seconds)[:5]
    print("slowest: " + ", ".join(f"{v.name} {v.seconds:.1f} s" for v in slow))
    return int(any(v.outcome == WRONG for v in every))


if __name__ == "__main__":
    sys.exit(main())
