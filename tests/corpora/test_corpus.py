"""The corpus over targets and sizes: values, mutation, gradients, and stable text."""

from __future__ import annotations

import copy
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import pyrev
from pyrev.testing import (
    changed,
    comparisons,
    derivative,
    dot_product_error,
    draw_cotangents,
    floats,
    run,
)
from tests import ROOT
from tests.corpora.corpus import ENTRIES
from tests.corpora.entry import Entry
from tests.tools.costs import differentiable
from tests.tools.oracle import check
from tests.turns import share_of

#: One function in so many is compiled in each run.
SHARES = 64

BY_NAME = {entry.name: entry for entry in ENTRIES}
NAMES = [entry.name for entry in ENTRIES]


def generator(entry: Entry, size: int) -> np.random.Generator:
    return entry.generator(size)


def prepared(entry: Entry, target: str) -> Any:
    """The differentiable function; a deferred entry may be refused, and only that."""
    try:
        f = differentiable(entry.function, target=target)
    except pyrev.UnsupportedError as refused:
        if entry.deferred:
            pytest.skip(f"refused, as allowed: {entry.deferred} ({refused.args[0]})")
        raise
    return f


def compiled_here(name: str) -> bool:
    """One part in `SHARES` is compiled per run; PYREV_FULL=1 compiles all.

    PYREV_ROTATION chooses which (CI takes the commit's number). The text that Numba
    would compile is run in CPython for a share of the entries (`test_forms`).
    """
    return bool(share_of([name], SHARES))


COMPILED = [name for name in NAMES if compiled_here(name)]
#: What is asked beside the gradient of a third of the functions in each run.
A_THIRD = share_of(NAMES, 3)

# ----------------------------------------------------------------- the oracle itself


@pytest.mark.parametrize("name", A_THIRD)
def test_the_oracle_agrees_with_itself_at_another_step(name: str) -> None:
    entry = BY_NAME[name]
    rng = generator(entry, 4)
    size = max(4, entry.least)
    arguments = entry.make(size, np.float64, rng)
    weights = draw_cotangents(run(entry.function, arguments, entry.outputs), rng)
    along = {
        n: rng.uniform(-0.2, 0.2, np.shape(arguments[n])) for n in floats(arguments)
    }
    one, two = (
        derivative(entry.function, arguments, entry.outputs, weights, along, step)
        for step in (4e-3, 1e-3)
    )
    allowed = 1e-8 * max(1.0, abs(one.value)) + 10 * (one.error + two.error)
    assert abs(one.value - two.value) <= allowed
    assert one.error <= 1e-6 * max(1.0, abs(one.value))


@pytest.mark.parametrize("name", A_THIRD)
def test_the_entry_says_which_arrays_are_written(name: str) -> None:
    entry = BY_NAME[name]
    found: set[str] = set()
    for size in (4, 9):
        arguments = entry.make(max(size, entry.least), np.float64, generator(entry, 0))
        own = copy.deepcopy(arguments)
        entry.function(**own)
        found |= set(changed(arguments, own))
    assert found == set(entry.outputs)


def test_the_oracle_finds_one_wrong_entry_in_each_way_it_looks() -> None:
    entry = BY_NAME["conv1d"]
    rng = generator(entry, 7)
    arguments = entry.make(7, np.float64, rng)
    weights = draw_cotangents(run(entry.function, arguments, entry.outputs), rng)
    d_out = weights.written["out"]
    gradients = {
        "signal": np.convolve(d_out, arguments["kernel"]),
        "kernel": np.correlate(arguments["signal"], d_out, "valid"),
        "out": d_out.copy(),
    }

    def wrong() -> list[str]:
        found = comparisons(
            entry.function,
            arguments,
            entry.outputs,
            weights,
            gradients,
            np.random.default_rng(1),
            entries=100,
            directions=1,
        )
        return [c.where for c in found if c.error > 1e-8]

    assert wrong() == []
    gradients["signal"][2] += 1e-4
    assert wrong() == ["a random direction", "signal[2]"]


# ----------------------------------------------------------------- the Python target


@pytest.mark.parametrize("name", NAMES)
def test_gradients_are_right_in_python_at_every_size(name: str) -> None:
    entry = BY_NAME[name]
    f = prepared(entry, "python")
    for size in (*entry.sizes, entry.real):
        rng = generator(entry, size)
        arguments = entry.make(size, np.float64, rng)
        small = size <= 3
        try:
            check(
                f,
                entry.function,
                arguments,
                entry.outputs,
                rng,
                entries=40 if small else 8,
            )
        except Exception as failure:
            failure.add_note(f"at size {size}")
            raise


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in A_THIRD if not BY_NAME[n].only64])
def test_gradients_are_right_in_single_precision(name: str) -> None:
    entry = BY_NAME[name]
    f = prepared(entry, "python")
    size = max(5, entry.least)
    rng = generator(entry, size)
    arguments = entry.make(size, np.float32, rng)
    check(f, entry.function, arguments, entry.outputs, rng, entries=6)


@pytest.mark.slow
@pytest.mark.parametrize("name", A_THIRD)
def test_the_gradient_of_one_parameter_alone_is_the_same(name: str) -> None:
    entry = BY_NAME[name]
    f = prepared(entry, "python")
    size = max(5, entry.least)
    arguments = entry.make(size, np.float64, generator(entry, size))
    weights = draw_cotangents(
        run(entry.function, arguments, entry.outputs), np.random.default_rng(3)
    )

    def gradients(wrt: Any) -> dict[str, Any]:
        _, pullback = pyrev.vjp(f, **copy.deepcopy(arguments), wrt=wrt)
        positional = () if weights.positional is None else (weights.positional,)
        return dict(pullback(*positional, cotangents=weights.written).items())

    every = gradients(None)
    for parameter in every:
        alone = gradients((parameter,))
        assert list(alone) == [parameter]
        np.testing.assert_allclose(
            alone[parameter], every[parameter], rtol=1e-12, atol=1e-13
        )


@pytest.mark.slow
@pytest.mark.parametrize("name", A_THIRD)
def test_the_tangent_and_the_adjoint_are_transposes(name: str) -> None:
    entry = BY_NAME[name]
    f = prepared(entry, "python")
    for size in (max(3, entry.least), max(6, entry.least)):
        rng = generator(entry, size)
        arguments = entry.make(size, np.float64, rng)
        weights = draw_cotangents(run(entry.function, arguments, entry.outputs), rng)
        _, pullback = pyrev.vjp(f, *copy.deepcopy(list(arguments.values())))
        gradients = pullback(weights.positional, cotangents=weights.written)
        assert dot_product_error(f, arguments, weights, gradients, rng) <= 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("name", A_THIRD)
def test_the_adjoint_text_alone_gives_the_gradients(name: str) -> None:
    entry = BY_NAME[name]
    f = prepared(entry, "python")
    source = f.adjoint.source
    assert source == prepared(entry, "python").adjoint.source
    module: dict[str, Any] = {}
    exec(compile(source, f"<adjoint of {name}>", "exec"), module)
    size = max(5, entry.least)
    rng = generator(entry, size)
    arguments = entry.make(size, np.float64, rng)
    weights = draw_cotangents(run(entry.function, arguments, entry.outputs), rng)
    _, pullback = pyrev.vjp(f, **copy.deepcopy(arguments))
    positional = () if weights.positional is None else (weights.positional,)
    expected = pullback(*positional, cotangents=weights.written)
    own = copy.deepcopy(arguments)
    hidden = [one.read() for one in f._units.function.parsed.captured]
    got = module[f"{name}_adjoint"](
        *own.values(), *weights.written.values(), *weights.returned, *hidden
    )
    # Before any call a parameter that is no index is taken for a float.
    names = f.adjoint._names(f._units, f._units.function.default_kinds())
    assert set(names) >= set(expected)
    for parameter, gradient in zip(names, got, strict=True):
        if parameter in expected:
            np.testing.assert_allclose(
                np.asarray(gradient),
                np.asarray(expected[parameter]),
                rtol=1e-12,
                atol=1e-13,
            )
    for parameter, value in arguments.items():
        assert np.array_equal(own[parameter], value), f"it changed `{parameter}`"


# ----------------------------------------------------------------- the Numba target


@pytest.mark.slow
@pytest.mark.parametrize("name", COMPILED)
def test_gradients_are_right_compiled(name: str) -> None:
    entry = BY_NAME[name]
    f = prepared(entry, "numba")
    for size in (max(2, entry.least), entry.real):
        rng = generator(entry, size)
        arguments = entry.make(size, np.float64, rng)
        try:
            check(f, entry.function, arguments, entry.outputs, rng, entries=6)
        except Exception as failure:
            failure.add_note(f"at size {size}")
            raise


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [n for n in COMPILED if not BY_NAME[n].only64 and BY_NAME[n].paper]
)
def test_gradients_are_right_compiled_in_single_precision(name: str) -> None:
    entry = BY_NAME[name]
    f = prepared(entry, "numba")
    size = max(6, entry.least)
    rng = generator(entry, size)
    arguments = entry.make(size, np.float32, rng)
    check(f, entry.function, arguments, entry.outputs, rng, entries=6)


# ----------------------------------------------------------------- determinism

_PRINT = """
import pyrev
from tests.corpora.corpus import ENTRIES
for entry in ENTRIES:
    try:
        f = pyrev.differentiable(entry.function)
    except pyrev.UnsupportedError:
        continue
    print(f.adjoint.source)
    print(f.explain())
"""


@pytest.mark.slow
def test_texts_do_not_depend_on_the_hash_seed() -> None:
    texts = [
        subprocess.run(
            [sys.executable, "-c", _PRINT],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert texts[0] == texts[1]
    assert texts[0].count("def ") >= len(ENTRIES) * 9 // 10
