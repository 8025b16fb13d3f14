"""What it means that a function is right on the CUDA target, executed on the CPU."""

from __future__ import annotations

import zlib

from pyrev.emit.cuda import OPTIONS
from tests.corpora.conformance.entries import CONFORMANCE, TEN
from tests.corpora.conformance.table import REFUSED, RIGHT, judge
from tests.corpora.entry import Entry
from tests.corpora.everything import EVERY
from tests.targets.cuda import nvrtc, ondevice, standin
from tests.turns import FULL, TURN, share_of

SUITE = {e.name: e for e in (*CONFORMANCE, *TEN)}
#: A share of the conformance suite and of the corpus.
NAMES = [*share_of(SUITE, 8), *share_of(sorted(EVERY.keys() - SUITE.keys()), 64)]


def sizes(entry: Entry) -> tuple[int, ...]:
    return (max(2, entry.least), entry.real)


def right(name: str) -> None:
    """Assert that it is, or refused as on the CPU, and that NVRTC takes its text."""
    entry = EVERY[name]
    standin.RawModule.texts.clear()
    with ondevice.standing_in():
        found = judge(entry, "cuda", sizes(entry))
    if found.outcome == REFUSED:
        assert judge(entry, "numba", sizes(entry)).outcome == REFUSED, found.message
        return
    assert found.outcome == RIGHT, found.message
    if nvrtc.library() is not None:
        for code in standin.RawModule.texts:
            compiled(code)


def compiled(code: str) -> None:
    """Assert that NVRTC takes a text for an architecture, each day for another one."""
    known = nvrtc.ARCHITECTURES
    first = (zlib.crc32(code.encode()) + TURN) % len(known)
    for architecture in known if FULL else (known[first],):
        nvrtc.ptx(code, (*OPTIONS, f"--gpu-architecture={architecture}"))
