# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Functions that call themselves: levels in place of calls, or a loop."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyrev
from pyrev.parse.rewriting.lists.sharing import effects
from tests.tools.oracle import check

X = np.array([0.3, -0.7, 1.1, -0.2])


def _cdf(x):
    if x < 0.0:
        return 1.0 - _cdf(-x)
    return 1.0 - 0.5 * math.exp(-x) * (1.0 + x * x)


def by_a_symmetry(x):
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i] * _cdf(x[i])
    return s


def _reflected(x):
    return _reflected(1.0 - x) * 0.3 if x > 0.5 else x * x


def by_a_reflection(x):
    out = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        out[i] = _reflected(x[i])
    return out


def _basis(i, p, t, knots):
    if p == 0:
        return 1.0 if knots[i] <= t < knots[i + 1] else 0.0
    value = 0.0
    left = knots[i + p] - knots[i]
    if left > 0.0:
        value += (t - knots[i]) / left * _basis(i, p - 1, t, knots)
    right = knots[i + p + 1] - knots[i + 1]
    if right > 0.0:
        value += (knots[i + p + 1] - t) / right * _basis(i + 1, p - 1, t, knots)
    return value


def spline_of_a_degree(x, p):
    knots = np.array([-2.0, -1.5, -1.0, -0.4, 0.1, 0.6, 1.2, 2.0])
    s = 0.0
    for i in range(len(x)):
        for j in range(len(knots) - p - 1):
            s += (j + 1.0) * _basis(j, p, x[i], knots) ** 2
    return s


def cubic_spline(x, knots):
    s = 0.0
    for i in range(len(x)):
        for j in range(len(knots) - 4):
            s += (j + 1.0) * _basis(j, 3, x[i], knots)
    return s


def _legendre(n, x):
    if n == 0:
        return 1.0
    elif n == 1:
        return x
    return ((2 * n - 1) * x * _legendre(n - 1, x) - (n - 1) * _legendre(n - 2, x)) / n


def of_an_order_in_the_text(x):
    s = 0.0
    for i in range(len(x)):
        s += _legendre(5, x[i]) + 0.5 * _legendre(2, x[i])
    return s


def _power(x, n):
    return 1.0 if n <= 0 else x * _power(x, n - 1)


def powers(x, n):
    s = 0.0
    for i in range(len(x)):
        s += _power(x[i], n + i)
    return s


def _fast_power(x, n, so_far):
    if n == 0:
        return so_far
    if n % 2 == 1:
        return _fast_power(x * x, n // 2, so_far=so_far * x)
    return _fast_power(x * x, n // 2, so_far)


def by_tails(x, n):
    s = 0.0
    for i in range(len(x)):
        s += _fast_power(x[i], n + i, 1.0)
    return s


def _horner(c, k, t, so_far):
    if k < 0:
        return so_far
    new = so_far * t + c[k]
    return _horner(c, k - 1, t, new)


def polynomial(x, t):
    return _horner(x, len(x) - 1, t, 0.0)


def _converged(x, a, k):
    new = 0.5 * (x + a / x)
    if abs(new - x) < 1e-12 or k > 50:
        return new, k
    return _converged(new, a, k + 1)


def until_it_is_near(x):
    s = 0.0
    for i in range(len(x)):
        root, n = _converged(1.0, abs(x[i]) + 0.1, 0)
        s += root * x[i]
    return s


def _falling(x, k):
    return 1.0 if k == 0 else x * _rising(x - 1.0, k - 1)


def _rising(x, k):
    return 1.0 if k == 0 else x * _falling(x + 0.5, k - 1)


def one_calls_the_other(x, k):
    s = 0.0
    for i in range(len(x)):
        s += _falling(x[i], k)
    return s


def defined_inside(x, n):
    def term(k, t):
        if k == 0:
            return t
        return math.sin(term(k - 1, t * 0.9))

    s = 0.0
    for i in range(len(x)):
        s += term(n, x[i])
    return s


def _smooth(x, n):
    if n == 0:
        return x
    y = x.copy()
    y[1:-1] = 0.5 * x[1:-1] + 0.25 * (x[2:] + x[:-2])
    return _smooth(y, n - 1)


def arrays_in_a_text(x):
    return _smooth(x * 2.0, 3)


def _fill(out, x, k):
    if k < len(x):
        out[k] = x[k] * x[k]
        _fill(out, x, k + 1)


def writes_to_an_argument(x):
    out = np.zeros(len(x))
    _fill(out, x, 0)
    return out


CASES: dict[Callable[..., Any], dict[str, Any]] = {
    by_a_symmetry: {},
    by_a_reflection: {},
    spline_of_a_degree: {"p": 2},
    cubic_spline: {"knots": np.array([-2.0, -1.5, -1.0, -0.4, 0.1, 0.6, 1.2, 2.0])},
    of_an_order_in_the_text: {},
    powers: {"n": 3},
    by_tails: {"n": 5},
    polynomial: {"t": 0.4},
    until_it_is_near: {},
    one_calls_the_other: {"k": 5},
    defined_inside: {"n": 4},
    arrays_in_a_text: {},
    writes_to_an_argument: {},
}


@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize("plain", CASES, ids=lambda f: f.__name__)
def test_a_function_that_calls_itself(
    plain: Callable[..., Any], target: str, rng: np.random.Generator
) -> None:
    f = pyrev.differentiable(plain, target=target)
    check(f, plain, {"x": X.copy(), **CASES[plain]}, [], rng)


def deep(x, n):
    return x[0] * _power(x[1], n)


def endless(x, a):
    return x[0] * _powers_of_nothing(x[1], a)


def _powers_of_nothing(x, a):
    if x > 9.0:
        return x
    return _powers_of_nothing(x * a, a)


@pytest.mark.parametrize("target", ["python", "numba"])
def test_a_run_that_goes_deeper_than_the_text_raises_and_has_no_gradient(
    target: str,
) -> None:
    f = pyrev.differentiable(deep, target=target)
    x = np.array([0.7, 1.1])
    gradient = pyrev.grad(f)(x, 7)["x"]
    assert np.allclose(gradient, [1.1**7, 0.7 * 7 * 1.1**6], rtol=1e-14)
    for call in (f, pyrev.grad(f), pyrev.hessian(f), pyrev.jacobian(f)):
        with pytest.raises(RecursionError, match="more than 8 levels deep"):
            call(x, 8)
    with pytest.raises(RecursionError, match="more than 8 levels deep"):
        pyrev.jvp(f, x, 8, tangents={"x": np.ones(2)})


def linear(x, n):
    s = 0.0
    for i in range(len(x)):
        s += _scaled(x[i], n)
    return s


def _scaled(x, n):
    return x if n == 0 else 2.0 * _scaled(x, n - 1)


def loaded(path):
    """The module that was saved there."""
    space: dict[str, Any] = {"__name__": "saved"}
    exec(compile(path.read_text(), str(path), "exec"), space)
    return space


# The adjoint of a linear function reads no value of it, so that nothing but the test
# makes its text run forward.
@pytest.mark.parametrize("plain", [deep, linear], ids=lambda f: f.__name__)
def test_whatever_was_derived_raises_where_the_run_goes_deeper(plain, tmp_path) -> None:
    f = pyrev.differentiable(plain, target="python")
    adjoint, tangent = f.adjoint.python, f.tangent.python
    again = pyrev.differentiable(adjoint, target="python")
    name = plain.__name__
    # Subscripts of `deep` are tested before a call, which a module for Numba can't.
    targets = ("python", "numba" if plain is linear else "python")
    texts = [f.adjoint.save(tmp_path / f"for_{t}.py", t) for t in targets]
    x, ones = np.array([0.7, 1.1]), np.ones(2)
    calls = {
        "adjoint": lambda n: f.adjoint(x, n, 1.0),
        "text of the adjoint": lambda n: adjoint(x, n, 1.0),
        "saved": lambda n: loaded(texts[0])[f"{name}_adjoint"](x, n, 1.0),
        "saved, perhaps for Numba": lambda n: loaded(texts[1])[f"{name}_adjoint"](
            x, n, 1.0
        ),
        "adjoint as a function": lambda n: again(x, n, 1.0),
        "its adjoint": lambda n: again.adjoint(x, n, 1.0, ones, 0.0),
        "text of it": lambda n: again.adjoint.python(x, n, 1.0, ones, 0.0),
        "primal": lambda n: f.primal(x, n),
        "text of the primal": lambda n: f.primal.python(x, n),
        "text of the tangent": lambda n: tangent(x, n, ones, 0.0),
        "value and gradient": lambda n: pyrev.value_and_grad(f)(x, n),
        "pullback": lambda n: pyrev.vjp(f, x, n),
        "tangents": lambda n: pyrev.jvp(f, x, n, tangents={"x": ones}),
        "second order": lambda n: pyrev.hvp(f, x, n, tangents={"x": ones}),
    }
    for what, call in calls.items():
        call(7)
        with pytest.raises(RecursionError, match="more than 8 levels deep"):
            pytest.fail(f"{what}: {call(8)}")


@pytest.mark.parametrize("target", ["python", "numba"])
def test_a_loop_that_was_a_recursion_without_end_raises(target: str) -> None:
    f = pyrev.differentiable(endless, target=target)
    x = np.array([0.7, 1.1])
    n = np.ceil(np.log(9.0 / 1.1) / np.log(1.5))
    gradient = pyrev.grad(f)(x, 1.5)["x"]
    assert np.allclose(gradient, [1.1 * 1.5**n, 0.7 * 1.5**n], rtol=1e-12)
    for call in (f, pyrev.grad(f)):
        with pytest.raises(RecursionError, match="more than 100000 times"):
            call(x, 0.5)


def test_the_function_itself_calls_itself_by_its_name(
    rng: np.random.Generator,
) -> None:
    @pyrev.differentiable(target="python")
    def itself(x):
        return itself(-x) * 0.5 if x < 0.0 else x * x

    def plain(x):
        return plain(-x) * 0.5 if x < 0.0 else x * x

    for x in (-0.4, 0.7):
        check(itself, plain, {"x": x}, [], rng)


def _unbound(x, n):
    if n < 2:
        y = x
    if n == 3:
        return y
    return _unbound(x * 2.0, n + 1)


def reads_what_another_level_bound(x, n):
    return _unbound(x[0], n)


def test_each_level_has_locals_of_its_own() -> None:
    f = pyrev.differentiable(reads_what_another_level_bound, target="numba")
    for call in (reads_what_another_level_bound, f, pyrev.grad(f)):
        with pytest.raises(UnboundLocalError):
            call(X, 1)


def _counted(x, k):
    return x if k == 500 else 1.0 + _counted(x, k + 1)


def deeper_than_text_can_be(x):
    return _counted(x[0], 0)


def test_a_recursion_too_deep_for_the_text_is_refused() -> None:
    with pytest.raises(pyrev.UnsupportedError) as caught:
        pyrev.differentiable(deeper_than_text_can_be, target="python")
    assert {f.code for f in caught.value.findings} == {"P109"}


def _halved(a, b):
    return a if abs(b - a) < 0.2 else _halved(0.5 * (a + b), b)


def _marked(a, b):
    a[0] = 1.0
    return b if b[0] > 0.0 else _marked(b, a)


def test_what_calls_itself_in_what_it_returns_is_looked_at_once() -> None:
    halved, marked = effects(_halved), effects(_marked)
    assert halved and halved[0] == {"a", "b"}
    assert marked == ({"a", "b"}, {"a", "b"})
