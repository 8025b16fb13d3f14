"""Every form of the text for Numba is right, and comes: one sweep over the costs.

Each form is judged on a share of all functions, another one for each commit, wherever
it is taken; and always on its witnesses, which have to take it.
"""

from __future__ import annotations

import copy
import functools
import inspect
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import pyrev
from pyrev.driver.forms import flattened, forms_of
from pyrev.driver.request import Request
from pyrev.driver.targets import NUMBA, PYTHON
from pyrev.testing import Cotangents, Values, draw_cotangents, run
from tests.corpora.entry import Entry
from tests.corpora.everything import EVERY
from tests.corpora.workloads import WORKLOADS
from tests.tools.costs import EAGER, FORMS, Costs, Form, differentiable
from tests.tools.interpreted import (
    Recorder,
    Recording,
    RecordingNumpy,
    interpreted,
    shuffled,
)
from tests.tools.oracle import same_bits
from tests.turns import share_of

SHARES = 96
ENTRIES = EVERY | WORKLOADS
#: What is looked at in chunks before a call, where all cores are worth their start.
INSPECTED = ("gather_table", "sparse_matvec", "graph_laplacian", "gather_rows")


def cases() -> Iterator[tuple[str, str]]:
    """The forms, each with its witnesses and the functions whose turn it is."""
    for form, one in FORMS.items():
        turn = share_of((f"{name} {form}" for name in ENTRIES), SHARES)
        yield from ((form, n) for n in one.witnesses)
        yield from (
            (form, n)
            for n in (case.partition(" ")[0] for case in turn)
            if n not in one.witnesses
        )


def sizes(entry: Entry) -> set[int]:
    return {max(2, entry.least), max(entry.least, min(entry.real, 12))}


@functools.lru_cache(64)
def compiled(name: str, costs: Costs) -> pyrev.Differentiable:
    entry = ENTRIES[name]
    return differentiable(entry.plain, costs, target="numba", wrt=entry.wrt)


def text(name: str, costs: Costs, arguments: Values) -> str:
    return compiled(name, costs).adjoint.source_for("numba", **arguments)


def takes(form: Form, name: str) -> bool:
    """Is the form in what one of the sizes is compiled to?"""
    entry = ENTRIES[name]
    for size in sizes(entry):
        given = entry.make(size, np.float64, entry.generator(size))
        here = text(name, form.costs, given)
        if isinstance(form.shows, str):
            # By position: a parameter may be called `target`.
            values = inspect.signature(entry.plain).bind(**given).args
            said = compiled(name, form.costs).adjoint.explain("numba", *values)
            found = form.shows in here or form.shows in said
        else:
            found = here != text(name, form.shows, given)
        if found:
            return True
    return False


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_the_form_is_taken_by_its_witnesses(form: str) -> None:
    one = FORMS[form]
    assert len(one.witnesses) >= 3
    assert [n for n in one.witnesses if takes(one, n)] == [*one.witnesses]


@pytest.mark.slow
@pytest.mark.parametrize(("form", "name"), [*cases()])
def test_the_text_is_right_in_any_order_and_without_races(form: str, name: str) -> None:
    try:
        taken = takes(FORMS[form], name)
    except pyrev.UnsupportedError as why:
        pytest.skip(f"refused: {why.findings[0].code}")
    if not taken:
        pytest.skip("the form is not taken")
    assert_the_text_is_right(name, FORMS[form].costs)


@pytest.mark.slow
@pytest.mark.parametrize("name", share_of(EVERY, 16))
def test_the_text_is_right_whatever_its_form(name: str) -> None:
    """With all loops shared out, be there one of the forms or none."""
    try:
        assert_the_text_is_right(name, EAGER)
    except pyrev.UnsupportedError as why:
        pytest.skip(f"refused: {why.findings[0].code}")


def assert_the_text_is_right(name: str, costs: Costs) -> None:
    """Its gradients are those of the readable adjoint, the same bits in any order of
    parallel iterations, and no two of these meet.
    """
    entry = ENTRIES[name]
    readable = pyrev.differentiable(entry.plain, target="python", wrt=entry.wrt)
    for size in sizes(entry):
        rng = entry.generator(size)
        arguments = entry.make(size, np.float64, rng)
        weights = draw_cotangents(run(entry.plain, arguments, entry.outputs), rng)
        _, pullback = pyrev.vjp(readable, **copy.deepcopy(arguments))
        expected = pullback(weights.positional, cotangents=weights.written)
        made = text(name, costs, arguments)
        function = re.findall(r"^def (\w+_adjoint)\(", made, re.MULTILINE)[-1]

        def given(
            arguments: dict[str, Any] = arguments, weights: Cotangents = weights
        ) -> list[Any]:
            captured = [c.read() for c in readable._units.function.parsed.captured]
            bound = inspect.signature(entry.plain).bind(**arguments)
            bound.apply_defaults()
            cotangents = (*weights.written.values(), *weights.returned)
            own = [v for v in bound.args if v is not None]
            return copy.deepcopy([*own, *cotangents, *captured])

        # Lanes that are left over compute with whatever is there, as compiled code may.
        with np.errstate(all="ignore"):
            one, other = (
                interpreted(made, function, shuffled(seed))(*given()) for seed in (0, 1)
            )
            recorder = Recorder()
            watched = [
                Recording(recorder, v) if isinstance(v, np.ndarray) else v
                for v in given()
            ]
            recording = RecordingNumpy(recorder)
            interpreted(made, function, recorder.turns, recording)(*watched)
        for parameter, a, b in zip(expected, one, other, strict=True):
            assert same_bits(a, b), f"the order of iterations matters to {parameter}"
            np.testing.assert_allclose(
                np.asarray(a), expected[parameter], rtol=1e-10, atol=1e-11
            )
        assert recorder.races() == []


# ------------------------------------------------------------------ before a call


@functools.lru_cache(64)
def inspected(name: str) -> tuple[list[str], list[Any]] | None:
    """The texts that look at data, for CPython and for all cores, and their arguments.

    None where sizes leave nothing in doubt.
    """
    entry = ENTRIES[name]
    values = entry.make(max(6, entry.least), np.float64, entry.generator(6))
    bound = inspect.signature(entry.plain).bind(**values)
    bound.apply_defaults()
    forms = forms_of(bound.arguments, {}, {})
    reading, captured = compiled(name, EAGER)._readings.now(forms)
    values = flattened(bound.arguments, reading.leaves, forms.shapes)[0] | captured
    units = reading.units.fitting(values)
    kinds = units.function.kinds(values)
    sized, doubts = units.inspection.sized(kinds, values)
    if not doubts:
        return None
    made = [
        units.inspection._inspector(Request(target, kinds, (), values, sized))
        for target in (PYTHON, NUMBA)
    ]
    return [unit.text.text for unit in made], [values[p] for p in made[0].params]


def looks_in_chunks(name: str) -> bool:
    found = inspected(name)
    return found is not None and "for chunk in prange(32)" in found[0][1]


def test_data_is_looked_at_in_chunks_by_its_witnesses() -> None:
    assert [n for n in INSPECTED if looks_in_chunks(n)] == [*INSPECTED]


@pytest.mark.parametrize("name", sorted({*INSPECTED, *share_of(EVERY, SHARES)}))
def test_chunks_find_in_data_what_one_loop_finds(name: str) -> None:
    try:
        taken = looks_in_chunks(name)
    except pyrev.UnsupportedError as why:
        pytest.skip(f"refused: {why.findings[0].code}")
    if not taken:
        pytest.skip("nothing is looked at in chunks")
    found = inspected(name)
    assert found is not None
    (plain, chunks), values = found
    function = re.findall(r"^def (\w+)\(", plain, re.MULTILINE)[-1]
    for wrong in (False, True):
        given = copy.deepcopy(values)
        tables = [a for a in given if getattr(a, "dtype", np.dtype(float)).kind == "i"]
        if wrong:  # the last element of each table leaves every array
            for table in (t for t in tables if t.size):
                # Small enough that a size it decides still fits into memory.
                table.reshape(-1)[-1] = min(np.iinfo(table.dtype).max // 4, 10_000)
        with np.errstate(all="ignore"):
            expected = interpreted(plain, function, shuffled(0))(*given)
            got = [
                interpreted(chunks, function, shuffled(seed))(*given) for seed in (0, 1)
            ]
        assert got[0] == got[1]
        assert got[0][0] == expected[0]
        assert expected[0] or got[0] == expected
        assert bool(expected[0]) == wrong or name not in INSPECTED
