# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Functions that mean nothing for the ranks that are tried wait for a call."""

from __future__ import annotations

import numpy as np
import pytest

import pyrev
from tests.corpora.published.physics_more import crank_nicolson_packet
from tests.tools.oracle import check

GIVEN = {
    "x": np.linspace(-1.0, 1.0, 5),
    "potential": np.array([0.3, 0.1, 0.2, 0.4, 0.1]),
    "k0": 1.5,
    "width": 0.4,
    "dt": 0.1,
    "steps": 2,
}


@pytest.mark.slow
def test_a_function_of_many_parameters_is_read_at_its_first_call() -> None:
    f = pyrev.differentiable(crank_nicolson_packet, target="python")
    with pytest.raises(pyrev.UnsupportedError, match="P201"):
        f.adjoint.source  # noqa: B018
    check(f, crank_nicolson_packet, GIVEN, (), np.random.default_rng(1))
    # What was read for these arguments is not taken for others.
    with pytest.raises((pyrev.UnsupportedError, pyrev.ArgumentError)):
        f(**(GIVEN | {"x": np.ones((2, 3))}))


def test_a_function_of_few_parameters_does_not_wait() -> None:
    def plain(x, n):
        for _ in range(n):
            x = np.zeros(3) if n > 2 else 1.0
        return x

    with pytest.raises(pyrev.UnsupportedError):
        pyrev.differentiable(plain)
