"""Gradients that other tools got wrong without a word, said in this language.

One module for each public thread that says what was wrong, named after the thread. The
first line of its docstring is the thread and the fault, in one sentence; `ENTRY` is the
function that shows the same thing here, with its arguments; `ORDER` is 2 where the
thread is about a second derivative. The functions are new: nothing of a thread's code
is in them.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from dataclasses import dataclass

from tests.corpora.entry import Entry

HEAD = re.compile(r"(?P<project>.+) #(?P<number>\d+): (?P<fault>.+\.)")
ADDRESSES = {
    "NVIDIA Warp": "https://github.com/NVIDIA/warp/issues/",
    "PyTorch": "https://github.com/pytorch/pytorch/issues/",
    "Enzyme.jl": "https://github.com/EnzymeAD/Enzyme.jl/issues/",
    "Genesis": "https://github.com/Genesis-Embodied-AI/genesis-world/pull/",
}
#: Threads that nobody here could read: what they say is not guessed.
UNREAD = {("Enzyme.jl", 2505)}


@dataclass(frozen=True)
class Record:
    """One thread: what was wrong there, and the function that shows it here."""

    name: str
    project: str
    number: int
    fault: str
    entry: Entry
    order: int = 1


def _records() -> tuple[Record, ...]:
    found = []
    for module in pkgutil.iter_modules(__path__):
        text = importlib.import_module(f"{__name__}.{module.name}")
        head = HEAD.fullmatch((text.__doc__ or "").splitlines()[0])
        assert head, f"the first line of {module.name} is no thread"
        project, number, fault = head.groups()
        assert f"_{number}_" in module.name, f"{module.name} is about #{number}"
        order = getattr(text, "ORDER", 1)
        found.append(
            Record(module.name, project, int(number), fault, text.ENTRY, order)
        )
    projects = list(ADDRESSES)
    return tuple(sorted(found, key=lambda r: (projects.index(r.project), r.number)))


RECORDS = _records()
