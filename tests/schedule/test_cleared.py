"""Zeros that every iteration leaves are written where it begins, if nobody can tell."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyrev
from pyrev.ir.text import block_text
from pyrev.parse import parse_block
from pyrev.schedule.rows.cleared import cleared

TURNED = """\
v = np.zeros(a.shape[0])
for t in range(n):
    for x in range(a.shape[0]):
        v[x] += a[x] * b[t]
    for x in range(a.shape[0]):
        c[x] += v[x]
        v[x] = 0.0
"""

EXPECTED = """\
v = np.empty(a.shape)
for t in range(n):
    for x in range(a.shape[0]):
        v[x] = 0.0
    for x in range(a.shape[0]):
        v[x] += a[x] * b[t]
    for x in range(a.shape[0]):
        c[x] += v[x]
"""

STAYS = {
    "it is read behind": f"{TURNED}c[0] += v[1]\n",
    "it is measured by what returns it": f"{TURNED}return v\n",
    "the range reads it": TURNED.replace("range(n)", "range(int(v[0]) + 2)"),
    "not all of it": TURNED.replace(
        "    for x in range(a.shape[0]):\n        c[x]",
        "    for x in range(a.shape[0] - 1):\n        c[x]",
    ),
    "not zero": TURNED.replace("v[x] = 0.0", "v[x] = 1.0"),
    "not always": TURNED.replace(
        "        v[x] = 0.0", "        if b[t] > 0:\n            v[x] = 0.0"
    ),
    "read once more": TURNED.replace(
        "        v[x] = 0.0", "        v[x] = 0.0\n        c[x] += v[0]"
    ),
    "ones before": TURNED.replace("np.zeros", "np.ones"),
    "a test reads it": """\
v = np.zeros(a.shape[0])
while v[0] < 0.5 and n > k:
    for x in range(a.shape[0]):
        v[x] += a[x] * b[k]
    for x in range(a.shape[0]):
        c[x] += v[x]
        v[x] = 0.0
    k += 1
""",
    "its index is a number that is read": """\
v = np.zeros(a.shape[0])
for t in range(n):
    x = 2 * t
    for y in range(a.shape[0]):
        v[y] += a[y] * x
    for x in range(a.shape[0]):
        c[x] += v[x]
        v[x] = 0.0
""",
}


def text_of(text: str) -> str:
    return block_text(cleared(parse_block(text))).strip("\n")


def test_zeros_are_written_where_an_iteration_begins() -> None:
    assert text_of(TURNED) == EXPECTED.strip("\n")


@pytest.mark.parametrize("name", STAYS)
def test_zeros_stay_where_they_are(name: str) -> None:
    text = STAYS[name]
    assert text_of(text) == block_text(parse_block(text)).strip("\n")


def summed_until(r, x, n):
    k = 0
    s = 0.0
    while r[0] < 0.5 and k < n:
        for i in range(x.shape[0]):
            if not np.isnan(x[i]):
                r[i] += x[i] * (k + 1)
        for i in range(x.shape[0]):
            s += r[i] * r[i]
            r[i] = 0.0
        k += 1
    return s


def asked_between_iterations(x, n):
    r = np.zeros(x.shape[0])
    return summed_until(r, x, n)


def ranges_of_its_own_elements(x, n):
    r = np.zeros((x.shape[0], 4))
    s = 0.0
    for t in range(n):
        for j in range(int(r[0, 0]) + 2):
            for i in range(x.shape[0]):
                r[i, j] += x[i] * x[j]
        for i in range(x.shape[0]):
            for j in range(4):
                s += r[i, j] ** 2 * (t + 1)
                r[i, j] = 0.0
    return s


@pytest.mark.slow
@pytest.mark.parametrize("n", [0, 1, 3])
@pytest.mark.parametrize(
    "plain", [asked_between_iterations, ranges_of_its_own_elements]
)
def test_programs_that_clear_an_array_are_right(plain: Any, n: int) -> None:
    x = np.array([0.3, 0.7, 0.2, 0.9])
    f = pyrev.differentiable(plain, target="numba")
    assert f.primal(x, n) == pytest.approx(plain(x, n), rel=1e-12)
    step = 1e-6 * np.eye(4)
    slopes = [(plain(x + e, n) - plain(x - e, n)) / 2e-6 for e in step]
    np.testing.assert_allclose(pyrev.grad(f)(x, n)["x"], slopes, rtol=1e-6, atol=1e-7)
