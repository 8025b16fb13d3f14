"""Decides of each function whether a tool is right, refuses it, or is wrong.

Right means: at every size the values, the mutation and every gradient agree with the
undecorated function in CPython (`oracle.check`). Refused means `UnsupportedError`, at
decoration or at a call. All else is wrong: a wrong number and an unexpected exception.
"""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

import pyrev
from pyrev.schedule.costs import Costs
from tests.corpora.entry import Entry
from tests.targets.cuda import ondevice
from tests.tools.costs import EAGER, differentiable
from tests.tools.oracle import check

RIGHT, REFUSED, WRONG = "right", "refused", "wrong"


@dataclass(frozen=True)
class Verdict:
    """What became of one function; `message` says why, unless it is right."""

    name: str
    outcome: str
    message: str = ""
    seconds: float = 0.0


def judge(
    entry: Entry,
    target: str,
    sizes: Sequence[int] = (),
    *,
    entries: int = 8,
    costs: Costs = EAGER,
) -> Verdict:
    """The verdict on one function, checked at all its sizes or at the given ones."""
    started = time.perf_counter()
    outcome, message = _judge(entry, target, sizes, entries, costs)
    return Verdict(entry.name, outcome, message, time.perf_counter() - started)


def _judge(
    entry: Entry, target: str, sizes: Sequence[int], entries: int, costs: Costs
) -> tuple[str, str]:
    try:
        f = differentiable(entry.function, costs, target=target)
    except pyrev.UnsupportedError as refusal:
        return REFUSED, _first(refusal)
    except Exception as failure:
        return WRONG, f"at decoration: {_first(failure)}"
    for size in sizes or (*entry.sizes, entry.real):
        rng = entry.generator(size)
        arguments = entry.make(size, np.float64, rng)
        few = 40 if size <= 3 else entries
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                check(
                    f,
                    entry.plain,
                    arguments,
                    entry.outputs,
                    rng,
                    entries=few,
                    vjp=ondevice.vjp if target == "cuda" else pyrev.vjp,
                )
        except pyrev.UnsupportedError as refusal:
            return REFUSED, f"at size {size}: {_first(refusal)}"
        except Exception as failure:
            return WRONG, f"at size {size}: {_first(failure)}"
    return RIGHT, ""


def _first(failure: Exception) -> str:
    """The message of an error without folders and the lines of source that it shows."""
    text = re.sub(r"\S*/(\w+\.py:\d)", r"\1", str(failure))
    lines = [line.strip() for line in text.splitlines()]
    shown = [line for line in lines if line and "|" not in line]
    return f"{type(failure).__name__}: {' / '.join(shown[:3])}"


def row(title: str, verdicts: Iterable[Verdict]) -> str:
    """One line of the table."""
    outcomes = [v.outcome for v in verdicts]
    numbers = (outcomes.count(kind) for kind in (RIGHT, REFUSED, WRONG))
    return f"{title:<34}{len(outcomes):>6}" + "".join(f"{n:>9}" for n in numbers)


HEADER = f"{'':<34}{'of':>6}{RIGHT:>9}{REFUSED:>9}{WRONG:>9}"
