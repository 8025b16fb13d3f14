"""What hunters of random programs share: a program of a seed, and their command."""

from __future__ import annotations

import argparse
import json
import linecache
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any


def defined(text: str, file: str) -> Callable[..., Any]:
    """The function `f` of a text, whose lines can be read as those of `file`."""
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space: dict[str, Any] = {}
    exec(compile(text, file, "exec"), space)  # noqa: S102
    made: Callable[..., Any] = space["f"]
    return made


def hunt(
    name: str,
    judged: Callable[[int], tuple[int, str, str]],
    show: Callable[[int], None],
    argv: Sequence[str],
) -> int:
    """Judge many seeds, or `show` one; 1 if a program is wrong."""
    parser = argparse.ArgumentParser(prog=f"python -m tests.tools.{name}")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args(argv)
    if options.seed is not None:
        show(options.seed)
        print(*judged(options.seed)[1:])
        return 0
    seeds = range(options.start, options.start + options.count)
    with ProcessPoolExecutor(options.jobs) as pool:
        found = list(pool.map(judged, seeds, chunksize=20))
    wrong = {seed: detail for seed, verdict, detail in found if verdict == "wrong"}
    print(json.dumps(Counter(verdict for _, verdict, _ in found)))
    print(json.dumps(wrong, indent=1))
    return int(bool(wrong))
