"""Copies of whole arrays, made again where the arrays hold something else by then."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyrev
from tests.tools.oracle import check


def once(v, b):
    for i in range(2):
        w = v.copy()
        m = w * v[0] - v
        b[i] = np.mean(m) * w[i]
    v -= 0.5
    return v * v[0]


def each_step(v, b):
    for k in range(3):
        for i in range(2):
            w = v.copy()
            w[0] = w[1] * v[0]
            m = w * v[0] - v
            b[i] += np.mean(m) * m[0]
        v -= 0.5 * b[k]
    return v * v[0]


def while_it_lasts(v, b):
    k = 0
    while v[0] > 0.05:
        for i in range(2):
            w = v.copy()
            m = w * v[0] * v
            b[i] += np.mean(m) * w[i] * w[k % 3]
        v *= 0.5
        k += 1
    return v * v[0]


def in_some_steps(v, b):
    for k in range(3):
        if k != 1:
            for i in range(2):
                w = v.copy()
                m = w * v[0] * v
                b[i] += np.mean(m) * w[i] * w[k]
        v *= 1.5
    return v * v[0]


def of_a_plane(v, b):
    plane = np.zeros((len(v), 2))
    for k in range(3):
        for j in range(2):
            plane[:, j] += v * b[j]
        for i in range(2):
            w = plane.copy()
            w[0] *= plane[1, i]
            b[i] += np.sum(w * plane)
        v *= 0.5
        plane *= v[k]
    return np.sum(plane)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize(
    "plain", [once, each_step, while_it_lasts, in_some_steps, of_a_plane]
)
def test_a_copy_is_made_again_of_what_the_array_held(
    plain: Callable[..., Any], target: str
) -> None:
    rng = np.random.default_rng(3)
    f = pyrev.differentiable(plain, target=target)
    given = {"v": rng.uniform(0.2, 1.2, 4), "b": rng.uniform(0.2, 1.2, 4)}
    check(f, plain, given, ["v", "b"], rng)


def test_it_is_made_again_from_what_is_kept() -> None:
    for plain in (each_step, while_it_lasts, in_some_steps):
        source = pyrev.differentiable(plain).adjoint.source
        assert "v_before" in source, source
    # What it held at the call is kept by the argument.
    source = pyrev.differentiable(once).adjoint.source
    assert "v_before" not in source, source
    assert source.count("w = v.copy()") == 2, source
