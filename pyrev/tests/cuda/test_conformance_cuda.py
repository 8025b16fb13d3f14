"""The corpora on the CUDA target, executed on the CPU: right where the CPU is right.

Values, mutation and gradients are judged against the undecorated function; threads that
race, subscripts that leave an array and kernels that NVIDIA's compiler refuses are
wrong, whatever comes out. All of the conformance suite runs; of the corpus, and of the
further forms (a thread for each owner, no atomics), a day runs a share, and all with
`PYREV_FULL=1`.
"""

from __future__ import annotations

import numpy as np
import pytest

import pyrev
from pyrev import pipeline
from pyrev.emit.cuda import OPTIONS
from pyrev.tests.conformance.entries import CONFORMANCE, TEN
from pyrev.tests.conformance.table import REFUSED, RIGHT, judge
from pyrev.tests.cuda import needs, nvrtc, ondevice, standin
from pyrev.tests.entry import Entry
from pyrev.tests.everything import EVERY, share_of
from pyrev.tests.oracle import check

SUITE = {e.name: e for e in (*CONFORMANCE, *TEN)}


def sizes(entry: Entry) -> tuple[int, ...]:
    return (max(2, entry.least), entry.real)


@needs.compiler
@pytest.mark.parametrize(
    "name", [*SUITE, *share_of(sorted(EVERY.keys() - SUITE.keys()), 8)]
)
def test_on_the_cpu_it_is_right(name: str) -> None:
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
    for architecture in nvrtc.ARCHITECTURES:
        nvrtc.ptx(code, (*OPTIONS, f"--gpu-architecture={architecture}"))


@needs.compiler
@pytest.mark.parametrize("name", share_of(EVERY, 32))
def test_with_a_thread_for_each_owner_it_is_right(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As for arrays so large that owners alone keep a GPU busy."""
    always = pipeline.Sizes.__call__

    def enough(self: pipeline.Sizes, count: object, least: int) -> bool | None:
        known = always(self, count, least)  # type: ignore[arg-type]
        return True if known is not None else None

    monkeypatch.setattr(pipeline.Sizes, "__call__", enough)
    entry = EVERY[name]
    with ondevice.standing_in():
        found = judge(entry, "cuda", (entry.real,))
    assert found.outcome in (RIGHT, REFUSED), found.message


@needs.compiler
@pytest.mark.parametrize("name", share_of(EVERY, 16))
def test_deterministic_it_is_right_and_has_no_atomics(name: str) -> None:
    entry = EVERY[name]
    rng = entry.generator(entry.real)
    values = entry.make(entry.real, np.float64, rng)
    with ondevice.standing_in():
        try:
            f = pyrev.differentiable(entry.plain, target="cuda", deterministic=True)
            given = {n: ondevice.there(v) for n, v in values.items()}
            text = f.adjoint.source_for("cuda", **given)
        except pyrev.UnsupportedError:
            return
        assert "atomic" not in text
        check(f, entry.plain, values, entry.outputs, rng, vjp=ondevice.vjp)
