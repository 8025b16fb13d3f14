# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Distributions, and what is picked from arrays: values, generators, derivatives."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.random import RandomState, default_rng

import pyrev

X = np.linspace(0.1, 1.0, 6)


def moved(x, rng):
    s = rng.laplace(x[0], x[1]) * x[2] + rng.logistic(x[1], 2.0)
    s += rng.gumbel(scale=x[3]) * rng.gumbel(x[0]) + rng.rayleigh(x[4])
    return s * rng.laplace() + rng.standard_cauchy() * rng.rayleigh()


def bent(x, rng):
    s = rng.lognormal(x[0], x[1]) + rng.weibull(x[2] + 1.0) * x[3]
    s += rng.pareto(x[4] + 1.0) * rng.power(x[5]) + rng.lognormal(sigma=0.5)
    return s + rng.triangular(0, x[0], 2 * x[2]) * rng.triangular(-x[1], 0.0, 3)


def on_both_sides(x, rng):
    s = 0.0
    for _ in range(8):
        s = 0.5 * s + rng.triangular(x[0], x[2], x[5])
    return s + rng.triangular(x[0], x[0], x[1]) * rng.triangular(x[0], x[1], x[1])


def shaped(x, rng):
    s = rng.gamma(2.5, x[0]) * rng.standard_gamma(0.7) + rng.beta(2.0, 3.0) * x[1]
    s += rng.chisquare(3) * x[2] + rng.standard_t(4.0) * x[3] ** 2
    return s * rng.f(3.0, 5.0) + rng.gamma(shape=3.0) * x[4]


def of_a_size(x, rng):
    s = np.sum(rng.laplace(x[0], x[1], size=3)) + np.sum(rng.weibull(x[2], (2, 2)))
    s += np.sum(rng.gamma(2.0, x[3], size=4) ** 2) + np.sum(rng.beta(2.0, 3.0, 2))
    y = rng.triangular(0.0, x[4], 3.0, size=len(x)) * x
    return s + np.sum(y) + rng.poisson(3.0, size=(2, 3))[1, 2] * x[0]


def counted(x, rng):
    s = x[0] * rng.poisson(3.0) + x[1] * rng.binomial(9, 0.3) + rng.poisson()
    s += x[2] * rng.geometric(p=0.4) + x[3] * rng.negative_binomial(3, 0.4)
    s *= x[rng.hypergeometric(2, 3, 4)]
    y = np.zeros(rng.poisson(4.0))
    for i in range(len(y)):
        y[i] = x[i % 6] * i
    return s + np.sum(y)


def branching(x, rng):
    s = 0.0
    for i in range(20):
        if rng.poisson(1.5) > 1:
            s += rng.gumbel(x[0], x[1])
        elif rng.choice(3) == 0:
            s += x[rng.choice(len(x))]
        else:
            np.random.seed(i)
            s *= np.random.laplace(x[2], 0.1)
        if rng.beta(2.0, 3.0) < 0.2:
            break
    return s


def chosen(x, rng):
    s = rng.choice(x) * rng.choice(x * x) + x[rng.choice(6)]
    s += np.sum(rng.choice(x, (2, 2))) * rng.choice([1.0, x[0], 3.0])
    y = rng.choice(x[1:5], size=3, replace=False)
    k, j = rng.choice(len(x), 2, replace=False)
    s += y[0] * y[1] * y[2] + x[k] * x[j] ** 2
    return s * rng.choice(np.array([1, 2, 3])) * rng.choice([v * v for v in x])


def chosen_by_weights(x, rng):
    s = rng.choice(x[:3], p=[0.2, 0.3, 0.5])
    p = np.zeros(3)
    for i in range(4):
        p[0], p[1] = 1.0 / (i + 2), 0.1
        p[2] = 1.0 - p[0] - p[1]
        s += x[rng.choice(3, p=p)] * x[rng.choice(3, p=p)]
    w = np.array([0.1, 0.2, 0.3, 0.2, 0.1, 0.1])
    return s * np.sum(rng.choice(x, 3, False, w)) * x[rng.choice(6, p=x / np.sum(x))]


def permuted(x, rng):
    y = rng.permutation(x)
    x[0] = 5.0 * x[1]
    s = np.sum(y * x)
    for i in rng.permutation(len(x)):
        s = s * x[i] + x[i]
    half = rng.permutation(len(x))[:3]
    m = rng.permutation(np.outer(x, x))
    z = x[half]
    return s * z[0] * z[1] + m[0, 1] * m[3, 2] + rng.permutation([x[0], x[1]])[0]


def shuffled(x, rng):
    y, z, head = x * 1.0, x, x[1:4]
    rng.shuffle(y)
    rng.shuffle(z)
    rng.shuffle(head)
    m = np.outer(x, y)
    rng.shuffle(m)
    rng.shuffle(m[1])
    rng.shuffle(m.T)
    return x[0] * y[1] + x[2] * head[0] + np.sum(m[0] * y)


def in_batches(x, rng):
    order = np.arange(len(x))
    w = 1.0
    for _ in range(2):
        rng.shuffle(order)
        for s in range(0, len(x), 2):
            for k in order[s : s + 2]:
                w = w - 0.1 * (w * x[k] - x[order[0]])
    return w


def _mixed(v, rng):
    w = v * 1.0
    rng.shuffle(w)
    return w[0] * w[1]


def in_a_helper(x, rng):
    return _mixed(x, rng) * x[0] + _mixed(x[2:], rng)


CASES: list[Callable[..., Any]] = [
    *(moved, bent, on_both_sides, shaped, of_a_size, counted, branching, chosen),
    *(chosen_by_weights, permuted, shuffled, in_batches, in_a_helper),
]


def of_numpy_itself(x, n):
    np.random.seed(n)
    np.random.shuffle(x)
    s = np.random.laplace(x[0], x[1]) * np.random.poisson(3.0)
    return s + np.sum(np.random.permutation(x)[:2]) * np.random.choice(x)


@pytest.fixture(autouse=True)
def _own_state():
    """Tests leave NumPy's own generator as it was."""
    state = np.random.get_state()
    yield
    np.random.set_state(state)


def _run(f, x, rng):
    """What a call gives, the array that it may write to, and where generators stand."""
    np.random.seed(4)
    x, rng = x.copy(), copy.deepcopy(rng)
    value = f(x, rng)
    return value, x, pickle.dumps((rng, np.random.get_state(legacy=False)))


def _check(f, rng, target):
    g = pyrev.differentiable(f, target=target)
    value, written, state = _run(f, X, rng)
    for how in (g, g.primal, lambda *own: pyrev.vjp(g, *own)[0]):
        got, also_written, left = _run(how, X, rng)
        np.testing.assert_allclose(got, value, rtol=1e-13)
        np.testing.assert_array_equal(also_written, written)
        assert left == state
    steps = 1e-6 * np.eye(len(X))
    ends = [[_run(f, X + h, rng)[0] for h in (s, -s)] for s in steps]
    expected = [(a - b) / 2e-6 for a, b in ends]
    found = _run(pyrev.grad(g, wrt="x"), X, rng)[0]
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)

    def along(x, rng):
        return pyrev.jvp(g, x, rng, tangents={"x": np.ones(6)})[1]["return"]

    np.testing.assert_allclose(_run(along, X, rng)[0], np.sum(expected), rtol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize("kind", [default_rng, RandomState])
@pytest.mark.parametrize("f", CASES)
def test_values_states_and_gradients_are_those_of_cpython(f, kind, target):
    _check(f, kind(7), target)


@pytest.mark.parametrize("target", ["python", "numba"])
def test_the_generator_of_numpy_itself_is_drawn_from(target):
    _check(of_numpy_itself, 3, target)


@pytest.mark.parametrize("kind", [default_rng, RandomState])
def test_numbers_are_made_of_standard_ones_as_numpy_does(kind):
    """Same bits, save where NumPy's `exp` is not that of C: pyrev rests on it."""
    one, other = kind(1), kind(1)
    for _ in range(300):
        loc, scale = one.random(), one.random()
        assert (loc, scale) == (other.random(), other.random())
        for name in ("laplace", "logistic", "gumbel"):
            moved_ = loc + scale * getattr(other, name)()
            assert getattr(one, name)(loc, scale) == moved_
        assert one.rayleigh(scale) == scale * other.rayleigh()
        assert one.gamma(loc, scale) == scale * other.standard_gamma(loc)
        a = scale + 0.1
        assert one.weibull(a) == other.standard_exponential() ** (1.0 / a)
        bent_ = np.exp(loc + scale * other.standard_normal())
        assert one.lognormal(loc, scale) == pytest.approx(bent_, rel=1e-14)


@pytest.mark.parametrize("kind", [default_rng, RandomState])
@pytest.mark.parametrize("n", [0, 1, 2, 7, 300])
@pytest.mark.parametrize("shape", [(), (2,), (0,)])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "complex128"])
def test_what_is_put_in_order_does_not_matter_to_numpy(kind, n, shape, dtype):
    """Places are drawn alike, whatever stands there: pyrev rests on it."""
    a = np.arange(n * int(np.prod(shape)), dtype="int64").astype(dtype)
    a = a.reshape(n, *shape)
    one, two, three = (kind(3) for _ in range(3))
    order = one.permutation(n)
    np.testing.assert_array_equal(two.permutation(a), a[order])
    shuffled_ = a.copy()
    three.shuffle(shuffled_)
    np.testing.assert_array_equal(shuffled_, a[order])
    assert pickle.dumps(one) == pickle.dumps(two)
    nothing = kind(3)  # is drawn where there is nothing to be put in order
    assert pickle.dumps(three) == pickle.dumps(one if a.size else nothing)


@pytest.mark.parametrize("kind", [default_rng, RandomState])
@pytest.mark.parametrize("shape", [(0, 3), (4, 0), (1, 2), (3, 2, 0), (3, 2, 2)])
def test_empty_arrays_are_put_in_order_as_numpy_does(kind, shape):
    def f(x, m, rng):
        rng.shuffle(m)
        y = rng.permutation(m)
        rng.shuffle(x[:0])
        k = rng.permutation(len(x) - 9)
        return np.sum(y[: len(m)] * m) * x[0] + len(k) + rng.random()

    g = pyrev.differentiable(f)
    m = np.arange(float(np.prod(shape))).reshape(shape)
    plain, own = m.copy(), m.copy()
    one, other = kind(3), kind(3)
    assert g.primal(X, own, other) == f(X, plain, one)
    np.testing.assert_array_equal(own, plain)
    assert pickle.dumps(one) == pickle.dumps(other)


def test_a_seed_alone_seeds():
    def f(x):
        np.random.seed(3)
        return x * x

    g = pyrev.differentiable(f)
    for how in (f, g, g.primal, pyrev.grad(g, wrt="x")):
        np.random.seed(5)
        assert how(2.0) == 4.0
        drawn = np.random.random()
        np.random.seed(3)
        assert drawn == np.random.random()


def test_the_value_of_a_seed_is_refused():
    def f(x):
        return x * x, np.random.seed(3)

    with pytest.raises(pyrev.UnsupportedError, match="gives nothing"):
        pyrev.differentiable(f)(2.0)


RAISING = [
    "laplace(0.0, -a)",
    "rayleigh(-a)",
    "lognormal(0.0, -a)",
    "weibull(-a)",
    "pareto(a - 1.0)",
    "power(-a)",
    "triangular(a, 0.0, 2.0)",
    "triangular(0.0, a + 2.0, a)",
    "triangular(a, a, a)",
    "gamma(-a, a)",
    "gamma(a, -a)",
    "gamma(-a, -a)",
    "beta(a, -a)",
    "chisquare(a - 1.0)",
    "poisson(-a)",
    "binomial(3, a + 1.0)",
    "choice(int(a) - 1)",
    "choice(np.zeros(int(a) - 1))",
    "choice(3, 5, replace=False)",
    "choice(np.zeros(3), 5, replace=False)",
    "choice(3, p=[0.5, a, 0.5])",
    "choice(3, -int(a))",
    "laplace(size=-int(a))",
]


@pytest.mark.slow
@pytest.mark.parametrize("kind", [default_rng, RandomState])
@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize("call", RAISING)
def test_what_numpy_raises_is_raised(call, target, kind, tmp_path):
    several = "5, repl" in call or "-int(a)" in call
    expression = f"a * np.sum(rng.{call})" if several else f"a * rng.{call}"
    text = f"import numpy as np\n\ndef f(a, rng):\n    return {expression}\n"
    file = tmp_path / "raising.py"
    file.write_text(text)
    namespace: dict[str, Any] = {}
    exec(compile(text, str(file), "exec"), namespace)
    f = namespace["f"]
    plain, own = kind(0), kind(0)
    with pytest.raises(ValueError) as expected:
        f(1.0, plain)
    g = pyrev.differentiable(f, target=target)
    for how in (g, g.primal, lambda *given: pyrev.vjp(g, *given)):
        with pytest.raises(ValueError) as found:
            how(1.0, own)
        assert str(found.value) == str(expected.value)
    assert pickle.dumps(own) == pickle.dumps(plain)


def test_weibull_of_zero_is_refused():
    """NumPy draws nothing for it, and gives zero."""

    def f(a, rng):
        return rng.weibull(a)

    g = pyrev.differentiable(f)
    with pytest.raises(ValueError, match=r"write 0\.0"):
        g.primal(0.0, default_rng(0))


def by_shape(k, s, rng):
    return np.sum(rng.gamma(k, s, size=3)) * rng.beta(k, 2.0) + s * rng.gamma(k, s)


@pytest.mark.parametrize("target", ["python", "numba"])
def test_a_derivative_by_a_shape_is_refused_and_others_are_not(target):
    g = pyrev.differentiable(by_shape, target=target)
    assert g(2.0, 1.5, default_rng(1)) == by_shape(2.0, 1.5, default_rng(1))
    ends = [by_shape(2.0, 1.5 + h, default_rng(1)) for h in (1e-6, -1e-6)]
    expected = (ends[0] - ends[1]) / 2e-6
    for k in (2.0, 2):
        found = pyrev.grad(g, wrt="s")(k, 1.5, default_rng(1))
        assert found == pytest.approx(expected, rel=1e-6)
    for ask in (
        lambda: pyrev.grad(g)(2.0, 1.5, default_rng(1)),
        lambda: pyrev.grad(g, wrt="k")(2.0, 1.5, default_rng(1)),
        lambda: pyrev.jvp(g, 2.0, 1.5, default_rng(1), tangents={"k": 1.0}),
    ):
        with pytest.raises(pyrev.UnsupportedError, match="P306"):
            ask()


def test_a_shape_may_be_stopped():
    def f(x, rng):
        return rng.gamma(pyrev.stop_gradient(x), x)

    g = pyrev.differentiable(f)
    found = pyrev.grad(g, wrt="x")(2.0, default_rng(1))
    assert found == pytest.approx(default_rng(1).standard_gamma(2.0))


def test_a_comprehension_that_draws_behind_a_draw_is_refused():
    """Its loop would stand in front, and draw first."""

    def f(x, rng):
        return rng.random() * x + sum(rng.random() for _ in range(3))

    def before(x, rng):
        return sum(rng.random() for _ in range(3)) * x + rng.random()

    with pytest.raises(pyrev.UnsupportedError, match="write the loop out"):
        pyrev.differentiable(f).primal(2.0, default_rng(1))
    g = pyrev.differentiable(before)
    assert g.primal(2.0, default_rng(1)) == before(2.0, default_rng(1))


def _alias(x, rng):
    out = [v * v for v in x]
    same = out
    rng.shuffle(out)
    return same[0] * out[1]


def _slice(x, rng):
    out = [v * v for v in x]
    rng.shuffle(out[1:])
    return out[0] * out[1]


def _pairs(x, rng):
    pairs = [(v, v * v) for v in x]
    rng.shuffle(pairs)
    return pairs[0][1]


def _handed_on(x, rng):
    out = [v * v for v in x]
    _mixed_in_place(out, rng)
    return out[0]


def _mixed_in_place(v, rng):
    rng.shuffle(v)


def _literal(x, rng):
    out = [x[0], x[1], x[2]]
    rng.shuffle(out)
    return out[0] * x[1]


@pytest.mark.parametrize("f", [_alias, _slice, _pairs, _handed_on, _literal])
def test_a_list_that_is_shuffled_is_refused(f):
    """It is no array, other names may stand for it, and a slice of it is a copy."""
    with pytest.raises(pyrev.UnsupportedError):
        pyrev.differentiable(f).primal(X.copy(), default_rng(0))
