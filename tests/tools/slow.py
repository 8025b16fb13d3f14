"""Which tests take long, from what a run of all of them has printed.

    python -m pytest -n 2 --durations=0 --durations-min=0.5 -q > FILE
    python -m tests.tools.slow FILE [FILE ...]

writes `tests/slow.txt`, where `tests/conftest.py` reads which tests are marked `slow`
beside those that say so themselves. Of several runs the shorter time counts. A test
that none of the files has keeps its line, for a run takes only a share of these. What
the README, the pages and the examples show runs every time, and so does a share of the
whole programs.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from tests import ROOT

LIST = ROOT / "tests" / "slow.txt"
#: Seconds, of all parts of a test.
LONG = 0.2
#: What is never left out, and what a run takes a share of besides, large enough for
#: each kind of program to be seen.
_ALWAYS = (
    *("tests/test_", "tests/examples/"),
    "tests/corpora/test_programs.py::test_a_program_is_right",
    "tests/bridges/test_chunked.py::test_it_is_the_call_",
    "tests/bridges/test_chunked.py::test_gradients_are_",
    "tests/bridges/test_dask.py::test_values_and_gradients_",
)
_LINE = re.compile(r"\s*([\d.]+)s (?:call|setup|teardown) +(\S.*)")


def times(lines: Iterable[str]) -> dict[str, float]:
    """Seconds by test, from pytest's list of durations.

    >>> times(["1.50s call     a.py::test_b[x y]", "0.25s setup    a.py::test_b[x y]"])
    {'a.py::test_b[x y]': 1.75}
    """
    found: dict[str, float] = {}
    for line in lines:
        if match := _LINE.fullmatch(line.rstrip()):
            found[match[2]] = found.get(match[2], 0.0) + float(match[1])
    return found


def listed() -> frozenset[str]:
    """The tests that the list has."""
    return frozenset(LIST.read_text(encoding="utf-8").splitlines())


def updated(known: frozenset[str], runs: Sequence[dict[str, float]]) -> list[str]:
    """The list after these runs."""
    best: dict[str, float] = {}
    for run in runs:
        for name, took in run.items():
            best[name] = min(took, best.get(name, took))
    slow = {name for name, took in best.items() if took >= LONG}
    slow |= known - best.keys()
    return sorted(name for name in slow if not name.startswith(_ALWAYS))


def main(given: Sequence[str] | None = None) -> None:
    """Write the list anew."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    files: list[Path] = parser.parse_args(given).files
    runs = [times(f.read_text(encoding="utf-8").splitlines()) for f in files]
    known = listed() if LIST.exists() else frozenset[str]()
    made = updated(known, runs)
    LIST.write_text("\n".join(made) + "\n", encoding="utf-8")
    print(f"{len(made)} tests are slow, {len(known)} were")


if __name__ == "__main__":
    main()
