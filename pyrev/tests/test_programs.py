"""Whole programs: every one is right, or refused with the codes that stand here."""

from __future__ import annotations

import ast
import copy
import functools
import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyrev
from pyrev.tests import programs
from pyrev.tests.everything import share_of
from pyrev.tests.programs._judge import (
    NAMES,
    REFUSED,
    RIGHT,
    Program,
    Verdict,
    assert_right,
    judge,
    load,
    several,
)

#: What the language leaves out, by the codes of its message; the reason beside it.
REFUSALS: dict[str, tuple[str, ...]] = {
    # `enumerate` of a tuple: it numbers arrays alone.
    "xray_beer_spectrum": ("P111",),
}

#: What is wrong, dies or is refused without need, by what the program does there. An
#: entry leaves with its fault: a program that has become right fails as long as it
#: stands here.
OPEN: dict[str, str] = {
    **dict.fromkeys(
        (
            "assignment_sinkhorn",
            "cahn_hilliard",
            "conjugate_gradient_inverse",
            "graph_laplacian_diffusion",
            "gray_scott",
            "gross_pitaevskii",
            "hartree_fock_hubbard",
            "history_rollout_control",
            "matrix_exponential_markov",
            "ocean_stommel_box",
            "optical_flow",
            "pagerank_sensitivity",
            "portfolio_risk_parity",
            "reinforcement_actor_critic",
            "sparse_coding_ista",
            "restart_gmres_like",
        ),
        "a helper rebinds its array in a loop and returns it: KeyError",
    ),
    **dict.fromkeys(
        (
            "heat_double_buffer",
            "lattice_boltzmann_d2q9",
        ),
        "a helper swaps its array with a buffer and returns it: KeyError",
    ),
    **dict.fromkeys(
        ("lidar_icp_align",),
        "a helper renames its parameter, then rebinds the name: KeyError",
    ),
    **dict.fromkeys(
        (
            "adaptive_runge_kutta",
            "ping_pong_swap_on_change",
        ),
        "an array rebound on some paths of a loop: KeyError",
    ),
    **dict.fromkeys(
        (
            "early_stopping_best",
            "simulated_annealing_tour",
        ),
        "an array rebound on some paths of a loop: P206",
    ),
    **dict.fromkeys(
        (
            "auction_shading",
            "wright_fisher_diffusion",
        ),
        "a helper rebinds its parameter in a loop: P206",
    ),
    **dict.fromkeys(
        (
            "neural_ode_adjoint",
            "normalizing_flow",
        ),
        "a name that a helper gives a new array and a number: P206",
    ),
    **dict.fromkeys(
        ("navier_stokes_cavity",),
        "a helper that returns its parameter, assigned to the same name: P206",
    ),
    **dict.fromkeys(
        (
            "fista_momentum",
            "reservoir_echo_state",
        ),
        "two names of one array, both rebound in a loop: P206",
    ),
    **dict.fromkeys(
        (
            "boids_agents",
            "bundle_adjustment",
        ),
        "a helper with an early return of another array: P110",
    ),
    **dict.fromkeys(
        ("attention_loops",),
        "a rank that is only known at the call, in a helper: P202",
    ),
    **dict.fromkeys(
        ("lotka_volterra_harvest",),
        "a tuple handed to a helper: P106",
    ),
    **dict.fromkeys(
        ("groundwater_wells",),
        "a shape handed to a helper: P209",
    ),
}

#: One program in so many is compiled in each run.
SHARES = 32
FOLDER = Path(programs.__file__).parent


@functools.cache
def verdict(name: str) -> Verdict:
    return judge(name)


def same(a: Any, b: Any) -> bool:
    p, q = np.asarray(a), np.asarray(b)
    return p.dtype == q.dtype and p.shape == q.shape and p.tobytes() == q.tobytes()


# ------------------------------------------------------------------ the programs


def test_there_are_enough_programs_and_few_are_refused() -> None:
    assert len(NAMES) >= 150
    assert set(REFUSALS) <= set(NAMES)
    assert len(REFUSALS) <= 0.05 * len(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_program_is_whole(name: str) -> None:
    text = (FOLDER / f"{name}.py").read_text()
    assert 30 <= text.count("\n") <= 150
    module = ast.parse(text)
    assert ast.get_docstring(module)
    defined = {n.name for n in ast.walk(module) if isinstance(n, ast.FunctionDef)}
    assert len(defined - {"inputs"}) >= 2


@pytest.mark.parametrize("name", NAMES)
def test_the_inputs_of_a_program_are_its_parameters_and_always_the_same(
    name: str,
) -> None:
    program = load(name)
    arguments, again = program.arguments(), program.arguments()
    inspect.signature(program.function).bind(**arguments)
    assert all(same(arguments[n], again[n]) for n in arguments)
    with np.errstate(over="ignore"):  # of narrow integers
        found = program.function(**copy.deepcopy(arguments))
    assert all(np.all(np.isfinite(value)) for value in several(found))


# ------------------------------------------------------------------ the judgement


@pytest.mark.parametrize("name", NAMES)
def test_a_program_is_right_or_refused_for_a_stated_reason(
    name: str, request: pytest.FixtureRequest
) -> None:
    if name in OPEN:
        request.applymarker(pytest.mark.xfail(strict=True, reason=OPEN[name]))
    found = verdict(name)
    if name in REFUSALS:
        assert (found.outcome, found.codes) == (REFUSED, REFUSALS[name]), found
    else:
        assert found.outcome == RIGHT, f"{found.outcome}: {found.message}"


def test_the_judge_sees_a_term_that_is_missing() -> None:
    def plain(x: Any, k: float) -> Any:
        return k * x[0] * x[1]

    def lame(x: Any, k: float) -> Any:
        return k * x[0] * pyrev.stop_gradient(x[1])

    def inputs(rng: np.random.Generator) -> dict[str, Any]:
        return {"x": rng.normal(size=3), "k": 1.5}

    program = Program("plain", plain, inputs)
    assert_right(pyrev.differentiable(plain, target="python"), program)
    with pytest.raises(AssertionError, match="wrong gradients"):
        assert_right(pyrev.differentiable(lame, target="python"), program)


def test_the_judge_sees_a_result_of_another_type() -> None:
    def plain(x: Any) -> Any:
        return x * 2.0

    def wide(x: Any) -> Any:
        return x.astype(np.float64) * 2.0

    def inputs(rng: np.random.Generator) -> dict[str, Any]:
        return {"x": rng.normal(size=3).astype(np.float32)}

    program = Program("plain", plain, inputs)
    assert_right(pyrev.differentiable(plain, target="python"), program)
    with pytest.raises(AssertionError, match="float64 for float32"):
        assert_right(pyrev.differentiable(wide, target="python"), program)


def test_the_judge_excuses_no_kink() -> None:
    def plain(x: Any) -> Any:
        return np.sum(np.maximum(x, 0.0))

    def inputs(rng: np.random.Generator) -> dict[str, Any]:
        return {"x": np.array([1.0, 0.0])}

    with pytest.raises(AssertionError, match="differences"):
        assert_right(
            pyrev.differentiable(plain, target="python"),
            Program("plain", plain, inputs),
        )


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", share_of([n for n in NAMES if n not in {*REFUSALS, *OPEN}], SHARES)
)
def test_a_program_is_right_compiled(name: str) -> None:
    found = judge(name, "numba")
    assert found.outcome == RIGHT, f"{found.outcome}: {found.message}"
