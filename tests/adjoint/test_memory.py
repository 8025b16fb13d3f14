# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
# ruff: noqa: B007
"""Checkpointed loops: the same bits as storing everything, within the memory asked for.

Bars of time and of resident memory are `benchmarks/memory.py`'s; here is what must hold
for every length of a loop, from no iteration to many more than states.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyrev
from pyrev.parse.directives import memory_bytes
from pyrev.schedule.costs import SHIPPED, Costs
from tests.tools.costs import EAGER, differentiable
from tests.tools.oracle import check
from tests.turns import share_of

LENGTHS = (0, 1, 2, 5, 17, 40)


def diffuse(u, c, steps):
    for t in range(steps):
        for i in range(1, u.shape[0] - 1):
            u[i] = u[i] + c[i] * u[i] * (u[i - 1] - 2 * u[i] + u[i + 1])


def marked(u, c, steps):
    for t in pyrev.checkpointed(range(1, steps, 2), slots=3):
        for i in range(1, u.shape[0] - 1):
            u[i] = u[i] + c[i] * u[i] * (u[i - 1] - u[i + 1]) + 0.001 * t


def unnumbered(u, c, steps):
    for t in pyrev.checkpointed(range(steps)):
        for i in range(1, u.shape[0]):
            u[i] = 0.5 * u[i] + c[i] * u[i - 1] * u[i]


def exchanged(u, c, steps):
    v = u.copy()
    for t in range(steps):
        for i in range(1, u.shape[0] - 1):
            v[i] = 0.4 * u[i] * u[i - 1] + c[i] * u[i + 1]
        u, v = v, u
    return u[1] * u[2]


def twice(u, c, steps):
    d = np.zeros(u.shape[0])
    for i in range(u.shape[0]):
        d[i] = c[i] * c[i]
    for t in range(steps):
        for i in range(1, u.shape[0] - 1):
            u[i] = 0.5 * u[i] + c[i] * u[i] * d[i] * (u[i - 1] + u[i + 1])
    for i in range(u.shape[0]):
        c[i] = 0.0
    for t in range(steps):
        for i in range(1, u.shape[0] - 1):
            u[i] = u[i] * 0.5 + 0.05 * u[i] * (u[i - 1] + u[i + 1])
        c[0] += u[1]


def under_a_test(u, c, steps):
    if c[0] > 0:
        for t in range(steps):
            w = np.zeros(u.shape[0])
            for i in range(1, u.shape[0] - 1):
                w[i] = u[i] * u[i - 1]
            for i in range(1, u.shape[0] - 1):
                if w[i] > 0.3:
                    u[i] += 0.01 * c[t % 3] * w[i] * u[i]
                else:
                    u[i] -= 0.01 * c[t % 3] * w[i + 1]


def settles(u, c, steps):
    error = 1.0
    while error > 1.0 / (1 + steps):
        error = 0.0
        v = u.copy()
        for i in range(1, u.shape[0] - 1):
            u[i] = 0.5 * v[i] + 0.25 * (v[i - 1] + v[i + 1]) * c[i] * v[i]
            error += (u[i] - v[i]) ** 2


def asked_for_before_a_while(u, c, steps):
    for t in pyrev.checkpointed(range(steps), slots=3):
        for i in range(1, u.shape[0] - 1):
            u[i] = u[i] + c[i] * u[i] * (u[i - 1] - u[i + 1])
    while u[1] < 2.0:
        for i in range(1, u.shape[0] - 1):
            u[i] = u[i] * u[i] * 0.5 + 1.3 - c[i] * u[i - 1]


def counted_on(u, c, steps):
    k = 0
    for t in range(steps):
        k = (k * 5 + 3) % 7
        u[k] = u[k] * (1.0 + c[t % 4]) * (0.5 if k == 3 else 0.9)


def decays(u, c, steps):
    factor = 1.0
    last = c[0]
    for t in range(steps):
        factor = factor * 0.9
        if t % 3 == 0:
            last = c[t % 8] * factor
        u[t % 8] = u[t % 8] * last + factor


def weights_overwritten(u, c, steps):
    for i in range(c.shape[0]):
        c[i] = c[i] * 2.0
    s = 0.0
    for t in range(steps):
        s += c[t % 8] * u[(t + 1) % 8]
    for i in range(c.shape[0]):
        c[i] = s


def from_the_end(u, c, steps):
    for t in pyrev.checkpointed(reversed(range(steps))):
        for i in range(1, u.shape[0]):
            u[i] = u[i] * c[i] * (t + 1) + 0.3 * u[i - 1]


def odd_from_the_end(u, c, steps):
    for t in reversed(range(1, steps, 2)):
        u[1] = u[1] * c[t % 8] + u[1] * u[1] * 0.1
        if u[1] > 3.0:
            break


def made_on_the_way(u, c, steps):
    for t in range(steps):
        if t % 3 == 0:
            rate = c[t % 8] * u[t % 8]
        if t % 2 == 0:
            for i in range(2):
                bent = u[i] * rate
                u[i] = u[i] + bent * bent
        u[(t + 1) % 8] = u[(t + 1) % 8] * rate + 0.5


def leaves_early(u, c, steps):
    size = u[0]
    for t in range(steps):
        if size > 40.0:
            break
        flux = c * u
        share = flux[1] / (1.0 + flux[2])
        for i in range(1, u.shape[0]):
            u[i] = u[i] + share * flux[i - 1] * u[i]
        size = size + u[1]


def number(x, r, steps):
    s = 0.0
    for t in range(steps):
        x = r * x * (1 - x)
        s += x * x
    return s


def arrays(steps: int) -> dict[str, Any]:
    rng = np.random.default_rng(steps)
    return {
        "u": rng.uniform(0.5, 1.0, 8),
        "c": rng.uniform(0.1, 0.2, 8),
        "steps": steps,
    }


CASES: tuple[tuple[Callable[..., Any], tuple[str, ...]], ...] = (
    (diffuse, ("u",)),
    (marked, ("u",)),
    (unnumbered, ("u",)),
    (exchanged, ("u",)),
    (twice, ("u", "c")),
    (under_a_test, ("u",)),
    (settles, ("u",)),
    (asked_for_before_a_while, ("u",)),
    (counted_on, ("u",)),
    (decays, ("u",)),
    (weights_overwritten, ("c",)),
    (from_the_end, ("u",)),
    (odd_from_the_end, ("u",)),
    (made_on_the_way, ("u",)),
    (leaves_early, ("u",)),
)


def gradients(
    f: Any, arguments: dict[str, Any], outputs: tuple[str, ...]
) -> list[np.ndarray]:
    own = copy.deepcopy(arguments)
    result, pullback = pyrev.vjp(f, **own)
    seeds = {name: np.linspace(1.0, 2.0, 8) for name in outputs}
    found = pullback(*([1.0] if result is not None else []), cotangents=seeds)
    return [np.asarray(g) for g in found.values()]


def bits(f: Any, arguments: dict[str, Any], outputs: tuple[str, ...]) -> list[bytes]:
    return [g.tobytes() for g in gradients(f, arguments, outputs)]


@pytest.mark.slow
@pytest.mark.parametrize("function, outputs", CASES, ids=[f.__name__ for f, _ in CASES])
def test_a_checkpointed_gradient_is_right_and_the_same_bits(
    function: Callable[..., Any], outputs: tuple[str, ...]
) -> None:
    bounded = pyrev.differentiable(function, target="python", memory=2000)
    free = pyrev.differentiable(function, target="python")
    for steps in LENGTHS:
        arguments = arrays(steps)
        check(bounded, function, arguments, outputs, np.random.default_rng(steps))
        assert bits(bounded, arguments, outputs) == bits(free, arguments, outputs)


def test_a_number_that_a_loop_carries_is_checkpointed() -> None:
    f = pyrev.differentiable(number, target="python", memory=200)
    for steps in LENGTHS:
        arguments = {"x": 0.4, "r": 3.1, "steps": steps}
        check(f, number, arguments, (), np.random.default_rng(steps))
    assert "checkpointed" in f.explain()


@pytest.mark.slow
@pytest.mark.parametrize("name", share_of([f.__name__ for f, _ in CASES], 4))
@pytest.mark.parametrize("costs", [EAGER, SHIPPED], ids=["eager", "shipped"])
def test_compiled_checkpoints_give_the_same_gradient(name: str, costs: Costs) -> None:
    ((function, outputs),) = ((f, o) for f, o in CASES if f.__name__ == name)
    bounded = differentiable(function, costs, memory=2000)
    free = differentiable(function, costs)
    for steps in (0, 1, 17):
        arguments = arrays(steps)
        check(bounded, function, arguments, outputs, np.random.default_rng(steps))
        one, two = (gradients(f, arguments, outputs) for f in (bounded, free))
        # Statements and their order are the same. Where a loop is small and serial,
        # LLVM contracts other products than where it is shared out.
        last_bit = 0.0 if costs is EAGER else 4 * np.finfo(np.float64).eps
        for mine, other in zip(one, two, strict=True):
            np.testing.assert_allclose(mine, other, rtol=last_bit, atol=0.0)


def test_a_budget_below_one_state_is_a_memory_error() -> None:
    f = pyrev.differentiable(diffuse, target="python", memory=100)
    arguments = arrays(5)
    _, pullback = pyrev.vjp(f, **arguments)
    with pytest.raises(MemoryError, match="100 bytes"):
        pullback(u=np.ones(8))


def test_the_loop_runs_forward_only_if_its_end_is_needed() -> None:
    text = pyrev.differentiable(marked).adjoint.source
    loops = [s.strip() for s in text.splitlines() if s.strip().startswith("for t in")]
    assert loops and loops[0].startswith("for t in reversed(")


@pytest.mark.parametrize(
    "text, value", [("1kB", 1000), ("1KiB", 1024), ("0.5 GB", 500_000_000), (7, 7)]
)
def test_memory_is_bytes_or_text(text: object, value: int) -> None:
    assert memory_bytes(text) == value


@pytest.mark.parametrize("wrong", ["much", "-1MB", "5 parsecs", 0, -3, [1]])
def test_other_amounts_of_memory_are_refused(wrong: object) -> None:
    with pytest.raises(pyrev.ArgumentError, match="memory="):
        pyrev.differentiable(diffuse, memory=wrong)  # type: ignore[arg-type]
