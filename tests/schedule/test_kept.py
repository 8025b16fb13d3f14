"""Buffers that every iteration keeps: made where they are kept, or left alone."""

from __future__ import annotations

import numpy as np
import pytest

import pyrev
from pyrev.ir.text import program_text
from pyrev.parse import parse_text
from pyrev.schedule.kept_buffers import kept_in_place

TYPES = dict.fromkeys(("u", "v", "kept", "longer", "x"), "float64") | {
    "other": "float32"
}

START = """
def f(x, n):
    u = np.zeros(len(x))
    kept = np.zeros((max(n, 0), len(x)))
    other = np.zeros((max(n, 0), len(x)), dtype=np.float32)
    longer = np.zeros((max(n, 0), len(x) + 3))
    for t in range(n):
"""
FILL = """
        for i in range(len(x)):
            u[i] = x[i]
"""
KEEP = """
        for i in range(len(x)):
            kept[t, i] = u[i]
"""
USE = """
        for i in range(len(x)):
            x[i] += u[i] * u[0]
"""
END = """
    return kept
"""


def changed(*parts: str) -> bool:
    program = parse_text("\n".join(p.strip("\n") for p in (START, *parts)))
    made = kept_in_place(program, TYPES)
    assert (program_text(made) == program_text(program)) == (made is program)
    return made is not program


def test_the_buffer_goes_where_it_is_kept() -> None:
    assert changed(FILL, KEEP, USE, END)
    assert changed(FILL, USE, KEEP, END)


LEFT = {
    "a part is not filled": (
        FILL.replace("range(len(x))", "range(1, len(x))"),
        KEEP,
        USE,
    ),
    "it is read before it is filled": (USE, FILL, KEEP),
    "it is written after it is kept": (FILL, KEEP, FILL, USE),
    "a part is kept": (FILL, KEEP.replace("range(len(x))", "range(1, len(x))"), USE),
    "it is kept elsewhere": (FILL, KEEP.replace("kept[t, i]", "kept[t, i - 1]"), USE),
    "it is kept as another number": (FILL, KEEP.replace("kept", "other"), USE),
    "it is kept at times": (
        FILL,
        "        if t > 1:" + KEEP.replace("\n", "\n    "),
        USE,
    ),
    "it is used afterwards": (FILL, KEEP, USE, "    x[0] = u[0]"),
    "what is kept is used there": (FILL, KEEP, USE, "        x[0] += kept[t, 1]"),
    "it is kept in a longer array": (
        FILL,
        KEEP.replace("kept", "longer"),
        USE.replace("u[0]", "u[int(x[0])]"),
    ),
    "the place is data": (FILL, KEEP.replace("kept[t", "kept[int(x[0])"), USE),
    "the iteration may end": (FILL, "        if x[0] > 3.0:\n            break", KEEP),
}


@pytest.mark.parametrize("name", LEFT)
def test_it_stays(name: str) -> None:
    assert not changed(*LEFT[name], END)


def test_it_stays_where_it_is_returned() -> None:
    assert not changed(FILL, KEEP, USE, END.replace("return kept", "return kept, u"))


def steps(u0, a, n, out):  # type: ignore[no-untyped-def]
    for y in range(u0.shape[0]):
        out[y] = u0[y]
    u = np.empty_like(u0)
    for _ in range(n):
        for y in range(u0.shape[0]):
            u[y] = out[y]
        for y in range(u0.shape[0]):
            out[y] = u[y] + a[y] * u[max(y - 1, 0)] * (1 - u[y])


@pytest.mark.slow
def test_the_adjoint_of_time_steps_has_one_array_for_all_states() -> None:
    f = pyrev.differentiable(steps, target="python")
    x = np.linspace(0.1, 0.9, 5)
    text = f.adjoint.source_for("python", x, x, 3, np.zeros(5))
    assert "u_before[t, y] = out_2[y]" in text
    assert " u = " not in text
    found = pyrev.check_grad(steps, x, 0.3 * x, 4, np.zeros(5))
    assert found.ok, found
