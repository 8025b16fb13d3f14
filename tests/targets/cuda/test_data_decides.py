"""What data decides on a device: how long arrays are, and which loops run."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import pyrev
from tests.targets.cuda import needs, ondevice
from tests.tools.oracle import check

pytestmark = needs.compiler


@pytest.fixture(autouse=True)
def cupy() -> Iterator[None]:
    with ondevice.standing_in():
        yield


def eliminated(x, a):
    """The loops under a test set a scalar of each iteration."""
    u = a.copy()
    if u[0, 0] != 0.0:
        for i in range(1, u.shape[0]):
            factor = u[i, 0] / u[0, 0]
            for k in range(u.shape[1]):
                u[i, k] -= factor * u[0, k]
    return np.sum(u * u) + x[0]


def on_two_paths(x, a):
    """Both paths of an iteration set it."""
    u = a.copy()
    if u[0, 0] > 0.3:
        for i in range(1, u.shape[0]):
            if u[i, 0] > 1.0:
                factor = u[i, 0] * 0.5
            else:
                factor = u[i, 1]
            for k in range(u.shape[1]):
                u[i, k] -= factor * u[0, k]
    else:
        for i in range(u.shape[0]):
            total = 0.0
            for k in range(u.shape[1]):
                total += u[i, k]
            u[i, 0] = total
    return np.sum(u * u) + x[0]


def as_long_as_another(x, a):
    """An array as long as one that data decides, and its length is returned."""
    large = x[x > 0.8]
    scaled = np.empty(large.shape[0])
    for i in range(large.shape[0]):
        scaled[i] = large[i] * a[0, 0]
    shares = scaled / np.sum(x)
    total = 0.0
    for i in range(shares.shape[0]):
        total += shares[i] ** 2
    return total, total / (large.shape[0] + 1.0)


@pytest.mark.parametrize("n", [1, 2, 7])
@pytest.mark.parametrize("f", [eliminated, on_two_paths, as_long_as_another])
def test_it_is_right(f: Callable[..., Any], n: int, rng: np.random.Generator) -> None:
    arguments = dict(x=rng.uniform(0.5, 1.5, n), a=rng.uniform(0.5, 1.5, (n, 4)))
    found = pyrev.differentiable(f, target="cuda")
    for first in (0.9, 0.1):
        arguments["a"][0, 0] = first
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            check(found, f, arguments, (), rng, vjp=ondevice.vjp)
