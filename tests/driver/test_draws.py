# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Random numbers that are drawn by running: kinds mixed, counts that draws decide,
seeds, and where generators stand when a run raises.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.random import RandomState, default_rng

import pyrev
from tests.tools.oracle import check

X = np.linspace(0.1, 1.0, 6)


def two_generators(x, a, b):
    s = 0.0
    for i in range(len(x)):
        s += x[i] * a.normal() + b.random() * x[i] ** 2
        if a.random() < 0.5:
            s += b.exponential(x[i])
    return s


def accepted(mu, n, rng):
    s, k = 0.0, 0
    while k < n:
        u = rng.uniform(-2, 2)
        if rng.random() < np.exp(-u * u):
            s += mu * u + mu**2
            k += 1
    return s


def of_a_random_state(x, rng):
    s = 0.0
    z = rng.randn(3)
    for i in range(3):
        k = rng.randint(len(x))
        s += x[k] * z[i] + rng.rand() * rng.uniform(x[0], 2.0)
    return s * np.sum(rng.rand(2, 3))


def seeded(x, n):
    np.random.seed(n)
    z = np.random.randn(4)
    w = np.random.randint(0, 3, size=4)
    return np.sum(x * z * w) + x * np.random.normal(x, 0.1)


def made_inside(x, seed=3):
    rng = np.random.default_rng(seed)
    s = 0.0
    for i in range(4):
        s += x * rng.normal(x, 0.1)
        if i == 2:
            rng = np.random.default_rng(i)
    return s


def made_in_a_loop(x, n):
    s = 0.0
    for i in range(n):
        rng = np.random.RandomState(i)
        s += x * rng.normal() + rng.rand() * x**2
    return s


def resampled(x, n, rng):
    s = 0.0
    for _ in range(n):
        rows = rng.integers(0, len(x), size=len(x))
        s += np.mean(x[rows]) ** 2
    return s * rng.integers(1, 6, endpoint=True)


def nobody_uses_it(x, rng):
    rng.normal(size=3)
    rng.integers(0, 5)
    z = rng.random(4)
    w = rng.normal() * x
    return w + z[2] * x**2


def written_to(x, out, rng):
    for i in range(len(out)):
        if rng.random() < 0.5:
            out[i] = x * rng.normal()
        else:
            out[i] *= x
    return np.sum(out)


def of_both_kinds_on_one_path(x, rng):
    x, y = x.copy(), rng.random(len(x))
    if y[0] > 0.6:
        return np.sum(x)
    for _ in range(len(y)):
        x[0] = x[rng.integers(1, 3)] * y[1]
    return np.sum(x * x[0])


def where_a_number_says(a, c, rng):
    if a[-1, -1] >= 0.5:
        rng.normal(c, 0.5)
    return c * a[0, 1] ** 2 + 9 // len(a)


CASES: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (two_generators, (X, default_rng(1), default_rng(2))),
    (accepted, (0.4, 5, default_rng(3))),
    (of_a_random_state, (X, RandomState(3))),
    (seeded, (1.3, 7)),
    (made_inside, (1.3,)),
    (made_in_a_loop, (1.3, 4)),
    (resampled, (X, 3, default_rng(3))),
    (nobody_uses_it, (1.3, default_rng(1))),
    (written_to, (1.2, X.copy(), default_rng(3))),
    (of_both_kinds_on_one_path, (X, default_rng(3))),
    (of_both_kinds_on_one_path, (X, default_rng(0))),
    (where_a_number_says, (np.full((2, 2), 0.7), 1.3, default_rng(3))),
    (where_a_number_says, (np.full((2, 2), 0.4), 1.3, default_rng(3))),
]


def _states(given: dict[str, Any]) -> list[str]:
    """Where all generators stand, NumPy's own with them."""
    states = [np.random.get_state(legacy=False)]
    for g in given.values():
        if isinstance(g, np.random.Generator):
            states.append(g.bit_generator.state)
        elif isinstance(g, RandomState):
            states.append(g.get_state(legacy=False))
    return [str(s) for s in states]


def _along(given):
    """A tangent for all floats that are given."""
    values = {n: np.asarray(v) for n, v in given.items()}
    return {n: np.ones(v.shape) for n, v in values.items() if v.dtype.kind == "f"}


def _named(f, args):
    return dict(zip(f.__code__.co_varnames, copy.deepcopy(args), strict=False))


@pytest.fixture(autouse=True)
def _own_state():
    """Tests leave NumPy's own generator as it was."""
    state = np.random.get_state()
    yield
    np.random.set_state(state)


@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize(("f", "args"), CASES)
def test_values_states_and_gradients_are_those_of_cpython(f, args, target):
    g = pyrev.differentiable(f, target=target)
    given = _named(f, args)
    found = []
    ways = (
        f,
        g,
        lambda **own: pyrev.vjp(g, **own)[0],
        lambda **own: pyrev.jvp(g, **own, tangents=_along(own))[0],
    )
    for call in ways:
        np.random.seed(5)
        own = copy.deepcopy(given)
        found.append((call(**own), _states(own)))
    for value, states in found[1:]:
        np.testing.assert_allclose(value, found[0][0])
        assert states == found[0][1]
    changed = ["out"] if "out" in given else []
    check(g, f, given, changed, np.random.default_rng(0))


@pytest.mark.parametrize("target", ["python", "numba"])
def test_the_global_generator_goes_on(target):
    def f(x, n):
        s = 0.0
        for _ in range(n):
            if np.random.rand() < 0.5:
                s += x * np.random.exponential(x)
            s = s + np.random.normal(x, 0.5) * x
        return s

    def value(x):
        np.random.seed(5)
        return f(x, 6)

    g = pyrev.differentiable(f, target=target)
    expected = (value(0.7 + 1e-6) - value(0.7 - 1e-6)) / 2e-6
    end = str(np.random.get_state())
    np.random.seed(5)
    assert pyrev.grad(g, wrt="x")(0.7, 6) == pytest.approx(expected, rel=1e-6)
    assert str(np.random.get_state()) == end


def raises_midway(x, out, rng):
    for i in range(len(out)):
        u = rng.random()
        out[i] = u * x
        if u > 0.8:
            raise ValueError("a large one")
    return x


def raises_by_an_argument(x, out, rng):
    s = 0.0
    for i in range(len(out)):
        s += rng.normal() * x
        if out[i] > 0.5:
            raise ValueError("a large one")
    return s


def raises_in_numpy(x, out, rng):
    return rng.normal() * x * rng.integers(len(out) - 6)


def leaves_an_array(x, out, rng):
    s = 0.0
    for _ in range(3):
        s += x * out[rng.integers(0, 20)]
    return s


@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize("how", ["call", "vjp"])
@pytest.mark.parametrize(
    "f", [raises_midway, raises_by_an_argument, raises_in_numpy, leaves_an_array]
)
def test_a_run_that_raises_leaves_all_as_cpython_does(f, how, target):
    g = pyrev.differentiable(f, target=target)
    given = {"x": 1.5, "out": X.copy(), "rng": default_rng(3)}
    plain, own = copy.deepcopy(given), copy.deepcopy(given)
    with pytest.raises((ValueError, IndexError)) as expected:
        f(**plain)
    with pytest.raises(expected.type, match=str(expected.value)):
        g(**own) if how == "call" else pyrev.vjp(g, **own)
    assert _states(own) == _states(plain)
    np.testing.assert_array_equal(own["out"], plain["out"])


@pytest.mark.parametrize("target", ["python", "numba"])
def test_derivatives_that_are_called_by_name_are_refused(target):
    g = pyrev.differentiable(seeded, target=target)
    for mode in (g.adjoint, g.tangent):
        with pytest.raises(pyrev.ArgumentError, match=r"draws .*use pyrev\.vjp"):
            mode(1.3, 7, 1.0)
    with pytest.raises(pyrev.ArgumentError, match="draws random numbers"):
        pyrev.check_grad(g, 1.3, 7)


def test_tuning_draws_nothing():
    g = pyrev.differentiable(accepted, target="numba")
    rng = default_rng(3)
    before = str(rng.bit_generator.state)
    g.tune(0.4, 5, rng, progress=False)
    assert str(rng.bit_generator.state) == before


@pytest.mark.parametrize("kind", [default_rng, RandomState])
def test_parameters_are_applied_as_numpy_does(kind):
    """Same bits, whatever the parameters: pyrev rests on it."""
    one, other = kind(1), kind(1)
    for _ in range(500):
        loc, scale = one.random(), one.random()
        assert (loc, scale) == (other.random(), other.random())
        assert one.exponential(scale) == scale * other.standard_exponential()
        assert one.normal(loc, scale) == loc + scale * other.standard_normal()
        high = loc + scale
        assert one.uniform(loc, high) == loc + (high - loc) * other.random()


def paths_of_one_kind(x, n, rng):
    total = 0.0
    first = rng.integers(1, 4)
    for _ in range(n):
        z = rng.standard_normal(3)
        total += x * z[0] * z[2] + z[1] * first
    for _ in range(n - 1):
        total += x * x * rng.random()
    return total + rng.normal(x, 2.0)


@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize("n", [0, 1, 5])
def test_what_a_loop_asks_for_again_and_again_is_drawn_at_once(n, target):
    """The same numbers, and the generator is left as it was."""
    f = pyrev.differentiable(paths_of_one_kind, target=target)
    mine, theirs = default_rng(3), default_rng(3)
    got, want = f.primal(1.5, n, mine), paths_of_one_kind(1.5, n, theirs)
    assert got == pytest.approx(want, rel=1e-12)
    assert mine.bit_generator.state == theirs.bit_generator.state
    near = [paths_of_one_kind(1.5 + h, n, default_rng(3)) for h in (-1e-6, 1e-6)]
    found = pyrev.grad(f, wrt="x")(1.5, n, default_rng(3))
    assert found == pytest.approx((near[1] - near[0]) / 2e-6, rel=1e-6)
