"""A call that keeps what its pullback needs, and a pullback that only goes back."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
import pytest

import pyrev
from pyrev.api.differentiable import Call
from pyrev.driver import units
from pyrev.driver.unit import Names, Unit
from pyrev.driver.units import Units
from pyrev.ir.nodes import written
from pyrev.testing import draw_cotangents, run
from pyrev.testing.outcome import outcome
from tests.corpora.everything import EVERY
from tests.tools.costs import differentiable
from tests.tools.interpreted import interpreted, shuffled
from tests.tools.oracle import same_bits
from tests.turns import share_of

SHARE = share_of(EVERY, 16)


def apart(f: Any, **arguments: Any) -> Any:
    """The two sweeps that `vjp` would run for this call, None if it runs the whole."""
    call = Call(pyrev.differentiable(f), (), arguments)
    call.check()
    return call.made(Units.sweeps, call.wrt(None)).apart


@pytest.mark.slow
@pytest.mark.parametrize("name", SHARE)
def test_two_sweeps_do_what_the_function_and_its_adjoint_do(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = EVERY[name]
    monkeypatch.setattr(units, "pays", lambda made, weigh: True)
    ran = set()

    def shuffled_loops(unit: Unit, sealing: Names) -> Any:
        text = unit.sealing(sealing).text if sealing else unit.text.text
        ran.add(unit.target.name)
        return interpreted(text, unit.program.name, shuffled(0))

    monkeypatch.setattr(Unit, "_function", shuffled_loops)
    size = max(3, entry.least)
    rng = entry.generator(size)
    arguments = entry.make(size, np.float64, rng)
    expected = run(entry.plain, arguments, entry.outputs)
    weights = draw_cotangents(expected, rng)
    try:
        whole = pyrev.differentiable(entry.function, target="python")
        f = differentiable(entry.function, target="numba")
        whole.adjoint.python  # noqa: B018
    except pyrev.UnsupportedError as why:
        pytest.skip(f"refused: {why}")
    _, one = pyrev.vjp(whole, **copy.deepcopy(arguments))
    own = copy.deepcopy(arguments)
    result, pullback = pyrev.vjp(f, **own)
    for value, want in zip(
        outcome(result, own, entry.outputs).values(), expected.values(), strict=True
    ):
        np.testing.assert_allclose(value, want, rtol=1e-12, atol=1e-14)
    # What the caller does with the outputs is no business of the pullback.
    results = result if isinstance(result, tuple) else (result,)
    for output in (*(own[n] for n in entry.outputs), *results):
        if isinstance(output, np.ndarray) and output.flags.writeable:
            output.fill(7)
    first, again = (
        pullback(weights.positional, cotangents=weights.written) for _ in range(2)
    )
    gradients = one(weights.positional, cotangents=weights.written)
    for parameter, value in gradients.items():
        np.testing.assert_allclose(
            first[parameter], value, rtol=1e-10, atol=1e-11, err_msg=parameter
        )
        assert same_bits(first[parameter], again[parameter])
    assert "numba" in ran


def steps(u, a, n):  # type: ignore[no-untyped-def]
    for _ in range(n):
        for i in range(1, u.shape[0]):
            u[i] = a[i] * np.sin(u[i]) + u[i - 1]


def products(u, a, out):  # type: ignore[no-untyped-def]
    for i in range(u.shape[0]):
        t = u[i] * a[i]
        out[i] = t * t


def test_what_steps_in_time_is_run_once() -> None:
    made = apart(steps, u=np.ones(4), a=np.ones(4), n=3)
    assert made.made.passed == ("u_tape",)
    assert "u_tape" in made.reverse.params
    assert "u" in written(made.forward.program.body)
    assert "u" not in written(made.reverse.program.body)


def test_what_parallel_loops_make_is_made_again() -> None:
    assert apart(products, u=np.ones(4), a=np.ones(4), out=np.ones(4)) is None


def started(u, a, n):  # type: ignore[no-untyped-def]
    top = u[0]
    for i in range(u.shape[0]):
        top = max(top, u[i])
    s = 0.0
    for k in range(n):
        for i in range(u.shape[0]):
            for j in range(a.shape[0]):
                s += np.exp(u[i] - top) * a[j] * k
    return s


def test_what_waits_has_to_be_a_good_part_of_the_work() -> None:
    u, a = np.ones(20), np.ones(30)
    assert apart(started, u=u, a=a, n=0) is not None
    assert apart(started, u=u, a=a, n=9) is None


def test_a_budget_of_memory_is_for_the_whole() -> None:
    f = pyrev.differentiable(steps, memory="1MB")
    assert apart(f, u=np.ones(4), a=np.ones(4), n=3) is None


def test_what_the_function_asserts_holds_where_it_runs_as_a_forward_sweep() -> None:
    f = EVERY["asserted_progress"].function
    assert apart(f, x=2.0) is not None
    with pytest.raises(AssertionError, match="no progress"):
        pyrev.vjp(f, math.inf)


def divided(u, n):  # type: ignore[no-untyped-def]
    for t in range(u.shape[0] - 1):
        k = 7 % (n - t)  # noqa: F841
        u[t + 1] = u[t + 1] * u[t]


def test_what_nothing_needs_still_raises() -> None:
    with pytest.raises(ZeroDivisionError):
        pyrev.vjp(divided, np.ones(4), 1)
    u = np.full(3, 2.0)
    _, pullback = pyrev.vjp(divided, u, 5)
    np.testing.assert_array_equal(pullback(u=np.array([0.0, 0.0, 1.0]))["u"], [4, 4, 4])


def test_float32_stays_float32() -> None:
    u, a = np.full(4, 0.5, np.float32), np.full(4, 2.0, np.float32)
    made = apart(steps, u=u.copy(), a=a, n=2)
    _, kept = made.run({"u": u.copy(), "a": a, "n": 2})
    assert kept["u_tape"].dtype == np.float32
    _, pullback = pyrev.vjp(steps, u, a, 2)
    assert pullback(u=np.ones(4, np.float32))["a"].dtype == np.float32


def test_explain_lists_what_a_call_keeps_for_its_pullback() -> None:
    f = pyrev.differentiable(steps)
    u, a = np.full(4, 0.5), np.full(4, 2.0)
    report = f.adjoint.report("numba", u, a, 2)
    assert report.passed == (
        "u, as the call leaves it",
        "u_tape [max(n, 0), max(u.shape[0] - 1, 0)] float64",
    )
    assert report.to_dict()["passed"] == list(report.passed)
    assert "kept by `vjp`" in f.explain("numba", u, a, 2)
    # The text for Python is the whole adjoint, and so are those of other functions.
    assert f.adjoint.report("python").passed == ()
    b, out = np.ones(4), np.ones(4)
    other = pyrev.differentiable(products).adjoint.report("numba", b, b, out)
    assert other.passed == ()


def test_explain_lists_the_forms_of_the_code_for_arguments() -> None:
    f = pyrev.differentiable(EVERY["matmul"].function)
    a, b, c = np.ones((80, 80)), np.ones((80, 80)), np.zeros((80, 80))
    report = f.adjoint.report("numba", a, b, c)
    assert any("at a time" in form for form in report.forms)
    assert all(form in f.explain("numba", a, b, c) for form in report.forms)


def peaks(flow: Any, level: float) -> Any:
    above = flow[flow > level]
    if len(above) < 2:
        return np.sum(flow[flow > 0.5 * level] ** 2)
    places = np.flatnonzero(flow > 2.0 * level)
    return np.sum(above**2) * np.sum(flow[places])


@pytest.mark.parametrize("level", [0.1, 0.8])
def test_what_one_path_records_has_a_value_on_the_other(
    level: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(units, "pays", lambda made, weigh: True)

    def plainly(unit: Unit, sealing: Names) -> Any:
        text = unit.sealing(sealing).text if sealing else unit.text.text
        return interpreted(text, unit.program.name, shuffled(0))

    monkeypatch.setattr(Unit, "_function", plainly)
    flow = np.array([0.3, 0.9, 0.05, 0.6])
    f = differentiable(peaks, target="numba")
    value, pullback = pyrev.vjp(f, flow, level)
    np.testing.assert_allclose(value, peaks(flow, level))
    whole = pyrev.differentiable(peaks, target="python")
    expected = pyrev.vjp(whole, flow, level)[1](1.0)
    np.testing.assert_allclose(pullback(1.0)["flow"], expected["flow"])
