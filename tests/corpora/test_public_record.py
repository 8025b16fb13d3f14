"""The public record of wrong gradients: none of them is wrong here.

Each function is judged in CPython, by its values, both modes and, where the thread is
about second derivatives, those too, against differences of the undecorated function.
The table in the documentation says what came out.
"""

from __future__ import annotations

import copy
import functools
from typing import Any

import numpy as np
import pytest

import pyrev
from pyrev.testing.differences import central, moved
from pyrev.testing.outcome import draw_cotangents, floats, run
from tests import ROOT
from tests.api.test_forward import directions
from tests.api.test_forward import judge as judge_forward
from tests.corpora.conformance.table import REFUSED, RIGHT, WRONG, judge
from tests.corpora.public_record import ADDRESSES, RECORDS, UNREAD, Record
from tests.tools.oracle import same_bits
from tests.turns import share_of

PAGE = ROOT / "docs" / "public_record.md"
BY_NAME = {record.name: record for record in RECORDS}
NAMES = list(BY_NAME)
A_QUARTER = share_of(NAMES, 4)
SECOND = [name for name, record in BY_NAME.items() if record.order == 2]


@functools.cache
def verdict(name: str) -> str:
    """What the table says of a record: the verdict, with the code of a refusal."""
    found = judge(BY_NAME[name].entry, "python")
    assert found.outcome != WRONG, found.message
    if found.outcome == RIGHT:
        return RIGHT
    try:
        pyrev.differentiable(BY_NAME[name].entry.function)
    except pyrev.UnsupportedError as refusal:
        return f"{REFUSED} ({refusal.findings[0].code})"
    raise AssertionError(f"refused at the call: {found.message}")


def sizes(record: Record) -> tuple[int, ...]:
    return max(2, record.entry.least), record.entry.real


# ------------------------------------------------------------------ every record


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_what_was_wrong_elsewhere_is_right_or_refused(name: str) -> None:
    verdict(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_its_tangent_is_right(name: str) -> None:
    for size in sizes(BY_NAME[name]):
        judge_forward(BY_NAME[name].entry, "python", size)


@pytest.mark.slow
@pytest.mark.parametrize("name", A_QUARTER)
def test_compiled_it_is_the_same(name: str) -> None:
    record = BY_NAME[name]
    found = judge(record.entry, "numba", sizes(record), entries=6)
    assert found.outcome != WRONG, found.message
    assert verdict(name).startswith(found.outcome)
    if found.outcome == RIGHT:
        judge_forward(record.entry, "numba", record.entry.real)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_later_gradients_leave_earlier_ones_alone(name: str) -> None:
    entry = BY_NAME[name].entry
    if verdict(name) != RIGHT:
        pytest.skip("refused")
    f = pyrev.differentiable(entry.function, target="python")
    rng = entry.generator(entry.real)
    arguments = entry.make(entry.real, np.float64, rng)
    result = run(entry.plain, arguments, entry.outputs)
    one, other = draw_cotangents(result, rng), draw_cotangents(result, rng)
    _, pullback = pyrev.vjp(f, **copy.deepcopy(arguments))
    first = pullback(one.positional, cotangents=one.written)
    kept = copy.deepcopy(dict(first.items()))
    second = pullback(other.positional, cotangents=other.written)
    into = {
        n: np.array(g) for n, g in kept.items() if isinstance(arguments[n], np.ndarray)
    }
    pullback(other.positional, cotangents=other.written, into=into)
    for parameter, gradient in kept.items():
        assert same_bits(first[parameter], gradient), parameter
    for parameter, gradient in into.items():
        expected = kept[parameter] + second[parameter]
        np.testing.assert_allclose(gradient, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", SECOND)
def test_its_second_derivatives_are_right_in_every_order_of_modes(name: str) -> None:
    entry = BY_NAME[name].entry
    for size in range(max(1, entry.least), entry.real + 1):
        rng = entry.generator(size)
        arguments = entry.make(size, np.float64, rng)
        v, w = directions(arguments, rng), directions(arguments, rng)

        def slope(
            t: float, arguments: Any = arguments, v: Any = v, w: Any = w
        ) -> float:
            there = moved(arguments, v, t)
            return central(lambda s: entry.plain(**moved(there, w, s)), 4e-3).value

        expected = central(slope, 4e-3)
        for ways, found in second(entry.function, arguments, v, w).items():
            assert found == pytest.approx(expected.value, rel=1e-7, abs=1e-8), ways


def second(function: Any, arguments: Any, v: Any, w: Any) -> dict[str, float]:
    """The derivative along `v` of that along `w`, by either mode of either mode."""
    f = pyrev.differentiable(function, target="python")
    names = floats(arguments)

    def dot(gradient: Any, direction: Any) -> float:
        return float(sum(np.sum(gradient[n] * direction[n]) for n in names))

    found = {"forward over reverse": dot(pyrev.hvp(f, **arguments, tangents=v), w)}
    adjoint = pyrev.differentiable(f.adjoint, target="python")
    _, pullback = pyrev.vjp(adjoint, *arguments.values(), 1.0)
    pulled = pullback(tuple(w[n] for n in names))
    found["reverse over reverse"] = dot(pulled, v)
    tangent = pyrev.differentiable(f.tangent, target="python")
    given = {**arguments, **{f"dot_{n}": w[n] for n in names}}
    _, pushed = pyrev.jvp(tangent, **given, tangents=v)
    found["forward over forward"] = float(pushed["return"][-1])
    return found


# ------------------------------------------------------------------ the table


def test_most_of_the_record_is_said_here() -> None:
    assert len(RECORDS) + len(UNREAD) == 21
    assert len(RECORDS) >= 15


def rows() -> str:
    """The table of the page, from the modules and the verdicts."""
    found = {
        (r.project, r.number): (r.fault.rstrip("."), verdict(r.name)) for r in RECORDS
    }
    for thread in UNREAD:
        found[thread] = ("thread not available to us", "not judged")
    projects = list(ADDRESSES)
    lines = ["| thread | what was wrong there | here |", "|---|---|---|"]
    for project, number in sorted(found, key=lambda t: (projects.index(t[0]), t[1])):
        fault, ours = found[project, number]
        link = f"[{project} #{number}]({ADDRESSES[project]}{number})"
        lines.append(f"| {link} | {fault} | {ours} |")
    return "\n".join(lines) + "\n"


def test_the_table_says_what_was_found(request: pytest.FixtureRequest) -> None:
    page = PAGE.read_text(encoding="utf-8")
    start = page.index("| thread |")
    shown, rest, tail = page[start:].partition("\n\n")
    table = rows()
    if request.config.getoption("--update-golden"):
        whole = page[:start] + table.rstrip("\n") + rest + tail
        PAGE.write_text(whole, encoding="utf-8")
        shown = table
    assert shown.rstrip("\n") + "\n" == table
