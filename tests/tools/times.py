"""How long the published functions take to an adjoint or a refusal, and their texts.

python -m tests.tools.times [--target python numba] [--only NAME ...] [--out FILE]
    [--texts FOLDER] [--compare FOLDER] [--jobs N] [--most SECONDS]

Each function and target is a process of its own with an empty cache folder. Printed are
CPU seconds, so that other work on the machine shows less: to the end of the first call
of the function (`call`, which with target numba is not made), from there to the text
of the adjoint (`text`; that for Numba is for the arguments of a call), and both
(`all`). What is refused ends there. Numba compiles nothing: what looks at the arguments
of a call first runs in CPython, and does not count.
With `--texts` the adjoint, or the refusal, is written to a file for each; `--compare`
says which of them are not those that another run has written.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import statistics
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

import pyrev
from pyrev.driver.unit import Unit
from pyrev.ir.diagnostics import ArgumentError
from tests.corpora.entry import Entry
from tests.corpora.published.entries import PUBLISHED

_APART = multiprocessing.get_context("fork")


@dataclass(frozen=True)
class Taken:
    """What one function took on one target, and how it ended."""

    name: str
    target: str
    outcome: str
    call: float = 0.0
    text: float = 0.0

    @property
    def all(self) -> float:
        """All CPU seconds."""
        return self.call + self.text


def measured(entry: Entry, target: str) -> tuple[Taken, str]:
    """What a function takes in this process, and the text of its adjoint or refusal."""
    arguments = entry.make(entry.real, np.float64, entry.generator(entry.real))
    compiled, call = 0.0, Unit.call

    def run(*args: Any, **kw: Any) -> Any:
        nonlocal compiled
        start = time.process_time()
        try:
            return call(*args, **kw)
        finally:
            compiled += time.process_time() - start

    if target == "numba":
        Unit.call = run  # type: ignore[method-assign]
    begin, called, outcome = time.process_time(), 0.0, "adjoint"
    try:
        f = pyrev.differentiable(entry.function, target=target)
        if target == "python":
            f(**arguments)
            called = time.process_time() - begin
            text = str(f.adjoint.source)
        else:
            try:
                text = str(f.adjoint.source_for(target, **arguments))
            except ArgumentError:  # it draws random numbers
                text = str(f.adjoint.source_for(target))
    except pyrev.UnsupportedError as refusal:
        outcome, text = "refused", f"{refusal}\n"
    except Exception:
        outcome, text = "fails", traceback.format_exc(limit=0)
    end = time.process_time() - begin - compiled
    Unit.call = call  # type: ignore[method-assign]
    return Taken(entry.name, target, outcome, called, end - called), text


def _child(answer: Connection, entry: Entry, target: str, most: int) -> None:
    """Send what `measured` gives from a process that ends after `most` CPU seconds."""
    resource.setrlimit(resource.RLIMIT_CPU, (most, most))
    warnings.simplefilter("ignore")
    if target == "numba":
        import numba

        numba.config.DISABLE_JIT = True  # type: ignore[attr-defined]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["PYREV_CACHE_DIR"] = folder
        answer.send(measured(entry, target))


def apart(entry: Entry, target: str, most: int) -> tuple[Taken, str]:
    """What `measured` gives in a process of its own."""
    here, there = _APART.Pipe(duplex=False)
    child = _APART.Process(target=_child, args=(there, entry, target, most))
    child.start()
    there.close()
    try:
        found: tuple[Taken, str] = here.recv()
    except EOFError:
        found = Taken(entry.name, target, "stopped", 0.0, float(most)), ""
    child.join()
    return found


def every(
    targets: Sequence[str], only: Sequence[str], jobs: int, most: int
) -> Iterator[tuple[Taken, str]]:
    """What every function takes on every target."""
    asked = [
        (p.entry, target, most)
        for p in PUBLISHED
        for target in targets
        if not only or p.entry.name in only
    ]
    with ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(lambda one: apart(*one), asked)


def table(taken: Sequence[Taken], worst: int = 10) -> str:
    """The worst of each target, and the median."""
    lines = []
    for target in dict.fromkeys(t.target for t in taken):
        own = sorted((t for t in taken if t.target == target), key=lambda t: -t.all)
        lines += ["", f"{target}: {len(own)} functions"]
        lines += [f"  {t.all:7.1f} s  {t.outcome:8} {t.name}" for t in own[:worst]]
        lines += [f"  {statistics.median(t.all for t in own):7.1f} s  median"]
        lines += [f"  {sum(t.all > 10 for t in own):7d}    take more than 10 s"]
    return "\n".join(lines)


def main() -> int:
    """Print the seconds; with `--compare`, return 1 where a text is another."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--target", nargs="*", default=["python", "numba"])
    parser.add_argument("--only", nargs="*", metavar="NAME", default=[])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--texts", type=Path)
    parser.add_argument("--compare", type=Path)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--most", type=int, default=300, help="CPU seconds for each")
    options = parser.parse_args()
    taken, others = [], []
    print(f"{'call':>7} {'text':>7} {'all':>7}")
    for one, text in every(options.target, options.only, options.jobs, options.most):
        taken.append(one)
        line = f"{one.call:7.2f} {one.text:7.2f} {one.all:7.2f}"
        print(f"{line}  {one.outcome:8} {one.target:6} {one.name}", flush=True)
        file = f"{one.name}.{one.target}.txt"
        if options.texts:
            options.texts.mkdir(parents=True, exist_ok=True)
            (options.texts / file).write_text(text)
        if options.compare:
            before = options.compare / file
            if not before.exists() or before.read_text() != text:
                others.append(file)
    print(table(taken))
    if options.out:
        options.out.write_text(json.dumps([asdict(t) for t in taken], indent=1))
    if options.compare:
        print("", f"{len(others)} texts differ", *others, sep="\n")
    return bool(others)


if __name__ == "__main__":
    sys.exit(main())
