# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Random numbers of a generator among the arguments: values, state and derivatives."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyrev
from tests.tools.oracle import check

X = np.linspace(0.1, 1.0, 6)


def paths(x0, sigma, n, m, rng):
    z = rng.normal(0.0, 1.0, size=(n, m))
    s = 0.0
    for i in range(n):
        x = x0
        for j in range(m):
            x = x + sigma * x * z[i, j]
        s += x
    return s / n


def in_a_loop(mu, p, n, rng):
    s = 0.0
    for i in range(n):
        t = mu + rng.standard_normal() / np.sqrt(p)
        s += t * t
        if i % 3 == 0:
            s += np.sin(rng.normal(mu, scale=p)) * rng.normal(size=None)
    return s


def _direction(rng):
    mu = 2.0 * rng.random() - 1.0
    azimuth = 2.0 * np.pi * rng.random()
    c = (1.0 - mu**2) ** 0.5
    return mu, math.cos(azimuth) * c, math.sin(azimuth) * c


def in_a_helper(w, n, rng):
    s = 0.0
    for _ in range(n):
        x, y, z = _direction(rng)
        s += w * x * y + z * w * w
    return s


def arrays(x, n, rng):
    y = x * rng.uniform(0.5, 2.0, size=x.shape)
    for _ in range(n):
        y = y + rng.random(len(x)) * np.sin(y)
    return np.sum(y)


def uneven(x, n, rng):
    s = 0.0
    for i in range(n):
        z = rng.normal(x[i], 1.0, size=(i, 2))
        for j in range(i):
            s += z[j, 1] * x[j]
    return s


def where_the_arguments_say(x, rng):
    s = 0.0
    for i in range(len(x)):
        if x[i] > 0.4:
            s += x[i] * rng.standard_normal()
        elif i == 0 and rng.standard_normal() < 10.0:
            s -= x[i]
    return s


def until_the_arguments_say(x, rng):
    s = i = 0
    while x[i] < 0.7:
        s = s * x[i] + rng.uniform(x[i], 2.0)
        i += 2
    return s


def written_to(x, n, rng):
    for i in range(n):
        x[i] += rng.normal() * x[i]
    return np.sum(x * x)


def written_to_counts(x, n, rng):
    s = 0.0
    for i in range(n):
        x[i] = 0.5 * x[i] + 0.1
        if x[i] > 0.4:
            s += rng.normal() * x[i]
    return s


def maybe_none(s, n, rng=None):
    if rng is None:
        rng = np.random.default_rng(0)
    return n * s * rng.normal() + s**2 * rng.normal(s, s)


def chosen(s, flag, rng):
    z = rng.normal() if flag else 0.5
    z = z + (rng.normal(0, 1) if s > 100 else 1.0)
    rng.normal()
    return z * s + rng.normal()


def comprehended(x, n, rng):
    z = [rng.normal() for _ in range(n)]
    return sum(z) * x[1] + x[0]


def nested(x, n, rng):
    def draw():
        return rng.normal(x[0], 1.0)

    s = 0.0
    for i in range(n):
        s += draw() * x[i]
    return s


def two_names(x, rng):
    a = rng.random(3)
    b = a
    a[0] = x[1]
    c = rng.random(3)
    return b[0] * x[0] + c[1] * x[2] + b[2] * x[3]


def single(x, rng):
    s = x[0]
    for i in range(len(x)):
        s = s * x[i] + rng.normal() * x[i]
    return s


def changing_places(x, n, rng):
    u, v = x.copy(), np.zeros(len(x))
    for _ in range(n):
        v[:] = u + rng.normal(size=len(x)) * u
        u, v = v, u
    return np.sum(u)


def inside(p, n):
    s = 0.0
    for _ in range(n):
        s += p["rng"].normal(p["mu"], 1.0) * p["mu"]
    return s


CASES: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (paths, (1.3, 0.2, 4, 5)),
    (paths, (1.3, 0.2, 1, 0)),
    (in_a_loop, (0.3, 2.0, 7)),
    (in_a_helper, (0.7, 4)),
    (arrays, (X, 3)),
    (uneven, (X, 5)),
    (where_the_arguments_say, (X,)),
    (until_the_arguments_say, (X,)),
    (written_to, (X, 4)),
    (written_to_counts, (X, 6)),
    (maybe_none, (1.5, 2)),
    (chosen, (1.5, 1)),
    (chosen, (1.5, 0)),
    (comprehended, (X, 4)),
    (nested, (X, 4)),
    (two_names, (X,)),
    (changing_places, (X, 3)),
    (single, (X.astype(np.float32),)),
]


def _call(f, args):
    names = f.__code__.co_varnames[: f.__code__.co_argcount]
    return dict(zip(names, (*args, np.random.default_rng(5)), strict=True))


@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize(("f", "args"), CASES)
def test_values_state_and_gradients_are_those_of_cpython(f, args, target):
    g = pyrev.differentiable(f, target=target)
    given = _call(f, args)
    plain, called, pulled, pushed = (copy.deepcopy(given) for _ in range(4))
    value = f(**plain)
    state = plain["rng"].bit_generator.state
    np.testing.assert_allclose(g(**called), value, rtol=1e-5)
    assert called["rng"].bit_generator.state == state
    _, pullback = pyrev.vjp(g, **pulled)
    gradients = pullback(1.0)
    pullback(1.0)
    assert pulled["rng"].bit_generator.state == state
    first = next(iter(gradients))
    seed = np.ones_like(given[first]) if np.ndim(given[first]) else 1.0
    _, moved = pyrev.jvp(g, **pushed, tangents={first: seed})
    assert pushed["rng"].bit_generator.state == state
    np.testing.assert_allclose(moved["return"], np.sum(gradients[first]), rtol=1e-4)
    changed = [
        n
        for n, v in given.items()
        if isinstance(v, np.ndarray) and not np.array_equal(v, plain[n])
    ]
    check(g, f, given, changed, np.random.default_rng(0))


@pytest.mark.parametrize("target", ["python", "numba"])
def test_a_generator_in_a_structure_is_drawn_from(target):
    p = {"mu": 0.7, "rng": np.random.default_rng(2)}
    g = pyrev.differentiable(inside, target=target)
    q = copy.deepcopy(p)
    (gradient,) = pyrev.grad(g)(q, 3).values()
    plain = copy.deepcopy(p)
    value = inside(plain, 3)
    assert q["rng"].bit_generator.state == plain["rng"].bit_generator.state
    assert gradient["rng"] is None
    step = 1e-6
    ends = [inside({**copy.deepcopy(p), "mu": 0.7 + h}, 3) for h in (step, -step)]
    assert gradient["mu"] == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-6)
    assert g(copy.deepcopy(p), 3) == pytest.approx(value)


@pytest.mark.parametrize("bits", [np.random.PCG64, np.random.MT19937, np.random.SFC64])
@pytest.mark.parametrize("kind", ["random", "standard_normal"])
@pytest.mark.parametrize("shape", [(), (0,), (7,), (3, 4), (2, 0, 3), (2, 3, 5)])
def test_numpy_draws_one_after_the_other(bits, kind, shape):
    """What is drawn at once is what is drawn alone, in any shape: pyrev rests on it."""
    one, other = (np.random.Generator(bits(3)) for _ in range(2))
    number = math.prod(shape)
    whole = getattr(one, kind)(shape)
    alone = [getattr(other, kind)() for _ in range(number)]
    assert np.ravel(whole).tolist() == alone
    assert str(one.bit_generator.state) == str(other.bit_generator.state)


def scaled(s, rng):
    return s * rng.normal(0.0, s)


def between(a, rng):
    return a * rng.uniform(1.0, a)


def many(n, x, rng):
    return x * np.sum(rng.normal(size=n))


@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize(
    ("f", "args"),
    [
        (scaled, (-1.0,)),
        (scaled, (-0.0,)),
        (between, (0.5,)),
        (between, (math.inf,)),
        (many, (-2, 1.0)),
    ],
)
def test_what_numpy_raises_is_raised(f, args, target):
    with pytest.raises((ValueError, OverflowError)) as plain:
        f(*args, np.random.default_rng(0))
    g = pyrev.differentiable(f, target=target)
    with pytest.raises(plain.type, match=str(plain.value)):
        g(*args, np.random.default_rng(0))


def test_modes_that_run_the_function_more_than_once_are_refused():
    for mode in (pyrev.hessian, pyrev.jacobian):
        with pytest.raises(pyrev.ArgumentError, match="draws random numbers"):
            mode(scaled)(1.0, np.random.default_rng(0))
