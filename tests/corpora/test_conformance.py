"""The bars: nothing wrong, at most one function in fifty refused, nothing left out."""

from __future__ import annotations

import copy
import functools
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest

import pyrev
from pyrev.ir.nodes import Alloc, assigned_scalars, walk
from pyrev.testing import (
    Cotangents,
    Values,
    changed,
    derivative,
    differences,
    draw_cotangents,
    floats,
    run,
)
from tests.corpora.conformance import ten_functions
from tests.corpora.conformance.entries import CONFORMANCE, TEN
from tests.corpora.conformance.features import BULLETS, FEATURES, features
from tests.corpora.conformance.table import REFUSED, RIGHT, WRONG, Verdict, judge
from tests.corpora.corpus import ENTRIES
from tests.corpora.entry import Entry
from tests.corpora.test_corpus import compiled_here
from tests.turns import share_of

EVERY = (*TEN, *CONFORMANCE)
BY_NAME = {entry.name: entry for entry in EVERY}
NAMES = list(BY_NAME)
TURN = [name for name in NAMES if compiled_here(name)]
SIXTEENTH = share_of(NAMES, 16)
AN_EIGHTH = share_of(NAMES, 8)

#: The functions that are refused.
REFUSALS = {"risk_of_factors"}
SHARE_REFUSED = 0.02


def bend(
    entry: Entry, arguments: Values, weights: Cotangents, direction: Values, h: float
) -> float:
    """How far the slopes on both sides of the point are apart: O(h) without a kink."""
    at = differences.along(entry.plain, arguments, entry.outputs, weights, direction)
    return abs(at(h) - 2.0 * at(0.0) + at(-h)) / h


@functools.cache
def verdict(name: str) -> Verdict:
    return judge(BY_NAME[name], "python")


# ------------------------------------------------------------------ the entries


def test_every_function_has_a_name_of_its_own() -> None:
    names = Counter(e.name for e in (*ENTRIES, *EVERY))
    assert [n for n, count in names.items() if count > 1] == []
    assert len(CONFORMANCE) >= 200


@pytest.mark.parametrize("feature", FEATURES)
def test_at_least_three_functions_use_each_feature(feature: str) -> None:
    users = [e.name for e in CONFORMANCE if feature in features(e)]
    assert len(users) >= 3, f"{feature}: {users}"


def test_the_features_are_those_of_the_bullets_once_each() -> None:
    assert len(FEATURES) == len(set(FEATURES))
    assert set(FEATURES) == {f for found in BULLETS.values() for f in found}


def test_every_entry_of_the_catalogue_has_a_function() -> None:
    found = {number for e in (*ENTRIES, *CONFORMANCE) for number in e.catalogue}
    assert set(range(1, 91)) - found == set()


def test_the_ten_functions_are_asked_where_they_were_asked() -> None:
    assert [e.name for e in TEN] == [f"k{i}" for i in range(1, 11)]
    for entry in TEN:
        arguments = entry.make(entry.real, np.float64, entry.generator(0))
        np.testing.assert_array_equal(arguments["x"], ten_functions.X)


@pytest.mark.parametrize("name", NAMES)
def test_the_arguments_keep_away_from_kinks_and_the_outputs_are_named(
    name: str,
) -> None:
    entry = BY_NAME[name]
    for size in (*entry.sizes, entry.real):
        rng = entry.generator(size)
        arguments = entry.make(size, np.float64, rng)
        own = copy.deepcopy(arguments)
        entry.plain(**own)
        assert set(changed(arguments, own)) <= set(entry.outputs)
        reference = run(entry.plain, arguments, entry.outputs)
        assert all(np.all(np.isfinite(v)) for v in reference.values())
        weights = draw_cotangents(reference, rng)
        for parameter in floats(arguments):
            shape = np.shape(arguments[parameter])
            along = rng.uniform(-1.0, 1.0, shape) / math.sqrt(math.prod(shape) + 1)
            direction = {parameter: along}
            found = derivative(
                entry.plain, arguments, entry.outputs, weights, direction
            )
            assert found.error <= 1e-6 * max(1.0, abs(found.value)), (size, parameter)
            # A kink at the very point is symmetric: differences do not show it.
            far, near = (
                bend(entry, arguments, weights, direction, h) for h in (1e-4, 1e-5)
            )
            assert near <= 0.5 * far + 1e-5 * max(1.0, abs(found.value)), parameter
    assert set(changed(arguments, own)) == set(entry.outputs)


# ------------------------------------------------------------------ the bars


@pytest.mark.parametrize("name", NAMES)
def test_the_function_is_right_or_refused(name: str) -> None:
    found = verdict(name)
    wanted = REFUSED if name in REFUSALS else RIGHT
    assert found.outcome == wanted, found.message


def test_the_ten_functions_are_all_right() -> None:
    found = [verdict(e.name) for e in TEN]
    assert {v.name: v.message for v in found if v.outcome != RIGHT} == {}


def test_at_most_one_function_in_fifty_is_refused() -> None:
    assert set(NAMES) >= REFUSALS
    assert len(REFUSALS) <= SHARE_REFUSED * len(NAMES)


@pytest.mark.slow
@pytest.mark.parametrize("name", TURN)
def test_the_compiled_function_is_right_or_refused(name: str) -> None:
    entry = BY_NAME[name]
    found = judge(entry, "numba", (max(2, entry.least), entry.real), entries=6)
    assert found.outcome != WRONG, found.message
    assert found.outcome == verdict(name).outcome, found.message


# ------------------------------------------------------------------ less memory


@pytest.mark.slow
@pytest.mark.parametrize("name", AN_EIGHTH)
def test_the_gradient_within_a_budget_of_memory_is_the_same(name: str) -> None:
    assert_the_gradient_is_the_same(name, memory="1MB")


@pytest.mark.slow
@pytest.mark.parametrize("name", SIXTEENTH)
def test_the_gradient_with_all_values_kept_is_the_same(name: str) -> None:
    assert_the_gradient_is_the_same(name, store=local_values(name))


@pytest.mark.slow
@pytest.mark.parametrize("name", SIXTEENTH)
def test_the_gradient_with_arrays_made_again_is_the_same(name: str) -> None:
    arrays = local_values(name, arrays=True)
    if not arrays:
        pytest.skip("it makes no array")
    for array in arrays:
        assert_the_gradient_is_the_same(name, recompute=array)


def local_values(name: str, arrays: bool = False) -> list[str]:
    """The local scalars and arrays of a function, or its arrays alone."""
    try:
        f = pyrev.differentiable(BY_NAME[name].function)
    except pyrev.UnsupportedError as why:
        pytest.skip(f"refused: {why}")
    body = f._units.function.program.body
    found = {s.array for s in walk(body) if isinstance(s, Alloc)}
    return sorted(found if arrays else found | set(assigned_scalars(body)))


def assert_the_gradient_is_the_same(name: str, **options: Any) -> None:
    """The gradient with these options, if it is not refused, is that without them."""
    entry = BY_NAME[name]
    try:
        free = pyrev.differentiable(entry.function, target="python")
        bounded = pyrev.differentiable(entry.function, target="python", **options)
    except pyrev.UnsupportedError as why:
        pytest.skip(f"refused: {why}")
    for size in sorted({max(3, entry.least), max(6, entry.least)}):
        rng = entry.generator(size)
        arguments = entry.make(size, np.float64, rng)
        weights = draw_cotangents(run(entry.plain, arguments, entry.outputs), rng)
        try:
            found, expected = (
                pyrev.vjp(f, **copy.deepcopy(arguments))[1](
                    weights.positional, cotangents=weights.written
                )
                for f in (bounded, free)
            )
        except pyrev.ArgumentError as why:
            if "recompute=" not in str(why):
                raise
            return
        except (pyrev.UnsupportedError, MemoryError) as why:
            pytest.skip(f"not with these options: {why}")
        for parameter, value in expected.items():
            np.testing.assert_allclose(
                found[parameter], value, rtol=1e-12, atol=1e-13, err_msg=parameter
            )


# ------------------------------------------------------------------ the judge itself


def _doubled(x: Any) -> Any:
    return 2.0 * x * x


def _squared(x: Any) -> Any:
    return x * x


def _raising(x: Any) -> Any:
    return x[0, 0]


SCALAR = Entry("_squared", _squared, lambda n, m: {"x": m.scalar()}, least=3, real=3)


def test_the_judge_tells_right_from_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    assert judge(SCALAR, "python").outcome == RIGHT
    differentiable = pyrev.differentiable
    for other in (_doubled, _raising):
        monkeypatch.setattr(
            pyrev,
            "differentiable",
            lambda f, target, other=other: differentiable(other, target=target),
        )
        assert judge(SCALAR, "python").outcome == WRONG
