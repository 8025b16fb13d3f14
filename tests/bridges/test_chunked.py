"""Calls on chunks are the calls on whole arrays: values, gradients, refusals."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyrev
from pyrev.bridges.chunked import plan
from pyrev.bridges.chunked.boxes import Box
from pyrev.bridges.chunked.phases import ChunkingError
from tests.bridges.chunked_borders import BORDERS
from tests.bridges.chunked_engine import (
    by_processes,
    by_turns,
    chunked,
    prepared,
    pulled,
)
from tests.bridges.chunked_extremes import EXTREMES
from tests.bridges.chunked_functions import CASES, Case
from tests.bridges.chunked_programs import PROGRAMS
from tests.bridges.chunked_series import SERIES
from tests.turns import its_turn

#: So many chunkings of each function in one run; all are tried where all is asked for.
COUNT = 200 if os.environ.get("PYREV_FULL") else 4
ALL = [*CASES, *PROGRAMS, *SERIES, *EXTREMES]
RUN = [c for c in ALL if not c.refused]
#: A commit runs one case in three from all sides; the nightly run has all.
TURN = [c for c in RUN if its_turn(c.name, 12)]


def arguments(case: Case, seed: int) -> dict[str, Any]:
    return case.make(np.random.default_rng(seed))


def copies(values: dict[str, Any]) -> dict[str, Any]:
    return {n: v.copy() if isinstance(v, np.ndarray) else v for n, v in values.items()}


def floats(values: dict[str, Any]) -> tuple[str, ...]:
    return tuple(
        n
        for n, v in values.items()
        if isinstance(v, float) or getattr(v, "dtype", None) == np.float64
    )


def outcome(
    f: Callable[..., Any], values: dict[str, Any], names: tuple[str, ...]
) -> dict[str, Any]:
    """What a function gives for whole arrays, by the names of a run."""
    own = copies(values)
    result = f(**own)
    row = result if isinstance(result, tuple) else (result,)
    returned = iter(row)
    return {n: own[n] if n in own else next(returned) for n in names}


@pytest.mark.parametrize("case", TURN, ids=lambda c: c.name)
def test_it_is_the_call_on_whole_arrays(case: Case) -> None:
    compare(case)


@pytest.mark.parametrize(
    "case",
    [*BORDERS, *(pytest.param(c, marks=pytest.mark.slow) for c in RUN)],
    ids=lambda c: c.name,
)
def test_it_is_that_with_copies_of_what_is_far(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan, "WIDE", (0, 0))
    compare(case, COUNT if case in BORDERS else COUNT // 2)


def compare(case: Case, count: int = COUNT) -> None:
    """Values and slopes for some chunkings, against the function in CPython."""
    rng = random.Random(case.name)
    for seed in range(count):
        values = arguments(case, seed)
        chunks = {n: chunked(values[n], axes, rng) for n, axes in case.cut.items()}
        steps = case.steps[seed % len(case.steps)]
        run = prepared(case.plain, values, chunks, steps, "python")
        wanted = outcome(case.plain, values, run.names)
        draw = np.random.default_rng(seed)
        seeds = {
            n: draw.standard_normal(np.shape(v)) if np.ndim(v) else 1.0
            for n, v in wanted.items()
        }
        wrt = floats(values)
        back = pulled(run, seeds, wrt)
        known = by_turns(run.graph, run.wanted)
        for name, value in wanted.items():
            found = run.fetch(name, run.end[name], known)
            np.testing.assert_allclose(found, value, rtol=1e-12, atol=1e-14)
            if not case.sums:
                np.testing.assert_array_equal(found, value)
        along = {n: draw.standard_normal(np.shape(values[n])) for n in wrt}
        slope = sum(
            float(np.sum(run.fetch(n, back[n], known) * along[n]))
            for n in wrt
            if n in back
        )

        h, sides = 1e-6, []
        for step in (h, -h):
            near = {
                n: v + step * along[n] if n in along else v for n, v in values.items()
            }
            given = outcome(case.plain, near, run.names)
            sides.append(sum(float(np.sum(given[n] * seeds[n])) for n in given))
        difference = (sides[0] - sides[1]) / (2 * h)
        np.testing.assert_allclose(slope, difference, rtol=2e-7, atol=1e-7)


@pytest.mark.parametrize("case", TURN, ids=lambda c: c.name)
def test_gradients_are_those_of_the_call(case: Case) -> None:
    """Each element, against the call on whole arrays, which others judge."""
    rng = random.Random(case.name + "again")
    values = arguments(case, 5)
    chunks = {n: chunked(values[n], axes, rng) for n, axes in case.cut.items()}
    run = prepared(case.plain, values, chunks, case.steps[-1], "python")
    wrt = floats(values)
    own = copies(values)
    result, pullback = pyrev.vjp(case.plain, **own, wrt=wrt)
    row = result if isinstance(result, tuple) else (result,)
    draw = np.random.default_rng(0)
    names = run.planned.results
    returned = (
        tuple(draw.standard_normal(np.shape(v)) if np.ndim(v) else 1.0 for v in row)
        if names
        else ()
    )
    written = {n: draw.standard_normal(own[n].shape) for n in run.planned.written}
    seeds: dict[str, Any] = {}
    for n, v in (*zip(names, returned, strict=True), *written.items()):
        seeds[n] = seeds.get(n, 0.0) + v
    back = pulled(run, seeds, wrt)
    known = by_turns(run.graph, run.wanted)
    seed: Any = (
        None if not names else returned if isinstance(result, tuple) else returned[0]
    )
    wanted = pullback(seed, cotangents=written)
    for name in wrt:
        found = run.fetch(name, back[name], known) if name in back else 0.0
        scale = np.abs(wanted[name]).max()
        np.testing.assert_allclose(
            found, wanted[name], rtol=1e-12, atol=1e-14 + 1e-13 * scale
        )


@pytest.mark.parametrize("case", [c for c in ALL if c.refused], ids=lambda c: c.name)
def test_what_chunks_do_not_allow_is_refused_with_the_line(case: Case) -> None:
    values = arguments(case, 0)
    rng = random.Random(1)
    chunks = {n: chunked(values[n], axes, rng) for n, axes in case.cut.items()}
    with pytest.raises(ChunkingError, match=r"chunked_\w+\.py:\d+: ") as refused:
        prepared(case.plain, values, chunks, 1, "python")
    assert case.refused in str(refused.value)
    whole = {n: tuple((k,) for k in values[n].shape) for n in case.cut}
    if "how " not in case.refused:  # then it runs in one chunk
        run = prepared(case.plain, values, whole, 1, "python")
        known = by_turns(run.graph, run.wanted)
        for name, value in outcome(case.plain, values, run.names).items():
            np.testing.assert_array_equal(run.fetch(name, run.end[name], known), value)


def digest(run: Any, back: Any, known: Any) -> str:
    found = hashlib.sha256()
    for names, state in ((run.names, run.end), (sorted(back), back)):
        for name in names:
            if name in state:
                found.update(np.asarray(run.fetch(name, state[name], known)).tobytes())
    return found.hexdigest()


def test_bits_do_not_depend_on_who_runs_what_when() -> None:
    case = next(c for c in CASES if c.name == "simulated_misfit")
    values = arguments(case, 3)
    rng = random.Random(2)
    chunks = {n: chunked(values[n], axes, rng) for n, axes in case.cut.items()}
    run = prepared(case.plain, values, chunks, 2, "python")
    back = pulled(run, {"return 0": 1.0}, ("u", "c", "d"))
    back = {n: back[n] for n in ("u", "c", "d")}
    first = digest(run, back, by_turns(run.graph, run.wanted))
    for seed in range(3):
        order = random.Random(seed)
        other = by_turns(run.graph, run.wanted, order, twice=True)
        assert digest(run, back, other) == first
    assert digest(run, back, by_processes(run.graph, run.wanted)) == first


def test_a_text_is_the_users_loops() -> None:
    case = next(c for c in CASES if c.name == "heat")
    values = arguments(case, 0)
    chunks = {n: ((4, 4, 3), (3, 4)) for n in ("u", "c")}
    run = prepared(case.plain, values, chunks, 2, "python")
    (family,), *_ = run.planned.plan.operations
    text = family.text.text
    assert "u[y, x] = v[y, x] + c[y, x] * v[y, x] * (around - 4.0 * v[y, x])" in text
    assert (
        "for y in range(max(y_first, y_from - left), min(y_end, y_to + left)):" in text
    )


def test_what_is_far_is_copied_along_both_axes_of_a_square() -> None:
    """Whose chunks say nothing about which axis is which."""
    case = next(c for c in BORDERS if c.name == "remainders")
    u = np.random.default_rng(0).random((480, 480))
    values = {"u": u, "c": 0.1 * u, "n": 2}
    chunks = {n: ((48,) * 10,) * 2 for n in ("u", "c")}
    run = prepared(case.plain, values, chunks, 1, "python")
    families = [f for o in run.planned.plan.operations for f in o]
    widest = max(
        int((box.high - box.low).prod(axis=0).max())
        for f in families
        for box in f.slice.windows.values()
    )
    assert widest == 50 * 50
    assert sum(len(f.blocks) for f in families) == 2 * (100 + 4 * 10)


@pytest.mark.parametrize("name, steps", [("heat", 1), ("heat", 3), ("convolution", 1)])
def test_a_window_that_is_too_small_is_refused(
    name: str, steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Compiled code would read what lies beside it."""

    class Short(plan.Slicer):
        def slice(self) -> Any:
            found = super().slice()
            windows = {}
            for array, box in found.windows.items():
                less = [[1]] + [[0]] * (len(box.high) - 1)
                windows[array] = Box(box.low, box.high - np.array(less))
            return dataclasses.replace(found, windows=windows)

    case = next(c for c in CASES if c.name == name)
    values = arguments(case, 0)
    chunks = {
        n: tuple((2,) * (k // 2) + (k % 2,) * (k % 2) for k in values[n].shape)
        for n in case.cut
    }
    assert prepared(case.plain, values, chunks, steps, "python")
    monkeypatch.setattr(plan, "Slicer", Short)
    with pytest.raises(ChunkingError, match="it is not seen which part of"):
        prepared(case.plain, values, chunks, steps, "numba")
