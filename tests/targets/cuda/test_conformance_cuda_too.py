"""The other half of `test_conformance_cuda.py`, for another core, and further forms."""

from __future__ import annotations

import numpy as np
import pytest

import pyrev
from pyrev.driver.sizes import Sizes
from tests.corpora.conformance.table import REFUSED, RIGHT, judge
from tests.corpora.everything import EVERY
from tests.targets.cuda import needs, ondevice
from tests.targets.cuda.suite import NAMES, right
from tests.tools.oracle import check
from tests.turns import share_of


@pytest.mark.slow
@needs.compiler
@pytest.mark.parametrize("name", NAMES[1::2])
def test_on_the_cpu_it_is_right(name: str) -> None:
    right(name)


@pytest.mark.slow
@needs.compiler
@pytest.mark.parametrize("name", share_of(EVERY, 96))
def test_with_a_thread_for_each_owner_it_is_right(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As for arrays so large that owners alone keep a GPU busy."""
    always = Sizes.__call__

    def enough(self: Sizes, count: object, least: int) -> bool | None:
        known = always(self, count, least)  # type: ignore[arg-type]
        return True if known is not None else None

    monkeypatch.setattr(Sizes, "__call__", enough)
    entry = EVERY[name]
    with ondevice.standing_in():
        found = judge(entry, "cuda", (entry.real,))
    assert found.outcome in (RIGHT, REFUSED), found.message


@needs.compiler
@pytest.mark.parametrize("name", share_of(EVERY, 96))
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
