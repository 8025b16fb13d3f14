from __future__ import annotations

import copy

import numpy as np
import pytest

import pyrev
from pyrev.driver import passes
from tests.corpora.everything import EVERY, accepted
from tests.schedule.strip_mine import STRIP_MINE
from tests.tools import oracle
from tests.turns import share_of

WITNESSES = ("conv1d", "cholesky", "thomas_solver")


@pytest.mark.slow
@pytest.mark.parametrize("name", [*WITNESSES, *share_of(EVERY, 24)])
def test_strips_of_loops_are_right(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = EVERY[name]
    plain = accepted(entry, "python").adjoint.source
    monkeypatch.setattr(passes, "READABLE", (*passes.READABLE, STRIP_MINE))
    monkeypatch.setattr(passes, "AFTER", [passes.well_formed, passes.proved])
    f = pyrev.differentiable(entry.plain, target="python")
    text = f.adjoint.source
    assert ("for strip" in text) == (text != plain)
    if name in WITNESSES:
        assert "for strip" in text
    size = max(10, entry.least)  # two strips
    rng = entry.generator(size)
    arguments = entry.make(size, np.float64, rng)
    oracle.check(f, entry.plain, copy.deepcopy(arguments), entry.outputs, rng)
