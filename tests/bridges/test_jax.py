# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyrev
from tests.bridges.functions import (
    arguments,
    blur,
    example,
    gathered,
    heat,
    smoothed,
)

jax = pytest.importorskip("jax", reason="JAX is not installed")
function = pytest.importorskip("pyrev.jax").function
jnp = jax.numpy
check_grads = pytest.importorskip("jax.test_util").check_grads

NAMES = list(arguments())
SHAPES: dict[str, Callable[..., Any]] = {"gathered": lambda values, index: index.shape}
TARGETS = {32: "python", 64: "numba"}  # to compile takes seconds


@contextlib.contextmanager
def x64(wanted: bool) -> Iterator[None]:
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", wanted)
    try:
        yield
    finally:
        jax.config.update("jax_enable_x64", before)


@pytest.fixture(params=[False, True], ids=["x32", "x64"])
def bits(request: pytest.FixtureRequest) -> Iterator[int]:
    with x64(request.param):
        yield 64 if request.param else 32


def varying(
    name: str, target: str = "numba"
) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """The function of the floats among the arguments, and these."""
    f, args = arguments()[name]
    bridge = function(
        pyrev.differentiable(f, target=target), result_shape=SHAPES.get(name)
    )
    places = [k for k, a in enumerate(args) if np.asarray(a).dtype.kind == "f"]

    def of_floats(*floats):
        given = list(args)
        for k, value in zip(places, floats, strict=True):
            given[k] = value
        return bridge(*given)

    return of_floats, tuple(jnp.asarray(args[k]) for k in places)


@pytest.mark.parametrize("jit", [False, True], ids=["", "jit"])
@pytest.mark.parametrize("name", NAMES)
def test_it_gives_what_the_plain_function_gives(
    name: str, jit: bool, bits: int
) -> None:
    f, args = arguments()[name]
    of_floats, floats = varying(name, TARGETS[bits])
    before = [np.array(a) for a in floats]
    found = (jax.jit(of_floats) if jit else of_floats)(*floats)
    for a, b in zip(floats, before, strict=True):
        assert np.array_equal(a, b)
    given = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    expected = f(*given)
    if expected is None:
        expected = given[-1]  # written by now
    several = isinstance(expected, tuple)
    pairs = zip(found, expected, strict=True) if several else [(found, expected)]
    for a, b in pairs:
        assert a.dtype == f"float{bits}"
        np.testing.assert_allclose(a, b, rtol=1e-13 if bits == 64 else 1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_check_grads_passes(name: str, bits: int) -> None:
    of_floats, floats = varying(name, TARGETS[bits])
    check_grads(of_floats, floats, order=1, modes=["rev"])
    check_grads(jax.jit(of_floats), floats, order=1, modes=["rev"])


@pytest.mark.parametrize("name", NAMES)
def test_check_grads_passes_for_the_second_derivative(name: str) -> None:
    with x64(True):
        of_floats, floats = varying(name, "python")
        check_grads(jax.jit(of_floats), floats, order=2, modes=["rev"])


def test_the_third_derivative_is_that_of_the_formula() -> None:
    def quartic(x):
        return x**4

    f = function(pyrev.differentiable(quartic, target="python"))
    third = jax.grad(jax.grad(jax.grad(f)))
    assert float(third(0.5)) == pytest.approx(12.0)
    assert float(jax.jit(third)(0.5)) == pytest.approx(12.0)


def test_gradients_are_those_of_jax() -> None:
    def by_hand(image, kernel, out):
        parts = [
            image[j : j + 4, i : i + 4] * kernel[j, i]
            for j in range(2)
            for i in range(3)
        ]
        return (out + sum(parts)) ** 2

    with x64(True):
        given = tuple(map(jnp.asarray, arguments()["blur"][1]))
        f = function(blur)
        found = jax.grad(lambda *a: (f(*a) ** 2).sum(), argnums=(0, 1, 2))(*given)
        expected = jax.grad(lambda *a: by_hand(*a).sum(), argnums=(0, 1, 2))(*given)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_only_what_is_asked_for_is_differentiated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from pyrev.bridges import pure

    asked = []
    original = pure.pulled

    def noted(call, wrt, hold):
        asked.append(wrt)
        return original(call, wrt, hold)

    monkeypatch.setattr(pure, "pulled", noted)
    image, kernel, out = map(jnp.asarray, arguments()["blur"][1])
    interpreted = pyrev.differentiable(blur, target="python")

    def loss(**options):
        f = function(interpreted, **options)
        return jax.jit(lambda k, i: f(i, k, out).sum())

    loss()(kernel, image).block_until_ready()
    assert asked == []
    jax.grad(loss())(kernel, image).block_until_ready()
    assert asked == [("kernel",)]
    g = jax.grad(loss(wrt="image"))(kernel, image)
    assert asked == [("kernel",)] and not g.any()


def test_outputs_are_chosen_by_name() -> None:
    given = [jnp.asarray(a) if np.ndim(a) else a for a in arguments()["smoothed"][1]]
    total, out = function(smoothed)(*given)
    assert jnp.array_equal(function(smoothed, outputs="out")(*given), out)
    last, (first, second) = function(smoothed, outputs=("out", "return"))(*given)
    assert jnp.array_equal(last, out) and jnp.array_equal(second, out)
    assert first == total


def test_numbers_may_be_traced_or_not() -> None:
    start, c, steps = arguments()["heat"][1]
    f = function(heat)
    expected = f(jnp.asarray(start), c, steps)
    assert jax.jit(f)(start, c, steps) == pytest.approx(float(expected), rel=1e-5)
    fixed = jax.jit(f, static_argnums=(1, 2))
    assert fixed(start, c, steps) == expected
    assert jax.grad(f, argnums=1)(start, c, steps).shape == ()


def test_integer_results_have_no_gradient() -> None:
    def counted(x, hits):
        total = 0.0
        for i in range(x.shape[0]):
            if x[i] > 0.0:
                hits[i] += 1
                total += x[i] * x[i]
        return total

    f = function(counted, outputs=("return", "hits"))
    x, hits = jnp.array([1.0, -1.0, 3.0]), jnp.zeros(3, jnp.int32)
    (_, found), g = jax.value_and_grad(f, has_aux=True)(x, hits)
    assert found.tolist() == [1, 0, 1] and g.tolist() == [2.0, 0.0, 6.0]


def test_it_stands_in_vmap_and_scan() -> None:
    image, kernel, out = map(jnp.asarray, arguments()["blur"][1])
    f = function(pyrev.differentiable(blur, target="python"))

    def loss(kernel):
        return (f(image, kernel, out) ** 2).sum()

    several = jnp.stack([kernel, 2 * kernel])
    found = jax.jit(jax.vmap(jax.grad(loss)))(several)
    np.testing.assert_allclose(found[1], jax.grad(loss)(2 * kernel), rtol=1e-5)

    def steps(kernel):
        def step(out, _):
            padded = jnp.pad(out, ((0, 1), (0, 2)))
            return f(padded, kernel, jnp.zeros_like(out)), None

        return jax.lax.scan(step, out, None, length=3)[0].sum()

    check_grads(jax.jit(steps), (kernel,), order=1, modes=["rev"])


def test_reverse_over_reverse_is_the_hessian() -> None:
    start, c, steps = arguments()["heat"][1]
    interpreted = pyrev.differentiable(heat, target="python")
    with x64(True):
        f = function(interpreted)
        found = jax.jacrev(jax.grad(lambda u: f(u, c, steps)))(jnp.asarray(start))
    np.testing.assert_allclose(found, found.T, rtol=1e-10)

    def gradient(u):
        return pyrev.grad(interpreted, wrt="start")(u, c, steps)

    differences = [
        (gradient(start + 1e-6 * e) - gradient(start - 1e-6 * e)) / 2e-6
        for e in np.eye(6)
    ]
    np.testing.assert_allclose(found, differences, rtol=1e-6, atol=1e-8)


def test_an_array_that_the_function_makes_needs_its_shape() -> None:
    values, index = map(jnp.asarray, arguments()["gathered"][1])
    with pytest.raises(pyrev.ArgumentError, match="result_shape=lambda values, index"):
        function(gathered)(values, index)
    wrong = function(gathered, result_shape=lambda values, index: (7,))
    with pytest.raises(jax.errors.JaxRuntimeError, match=r"`result_shape` says \(7,\)"):
        wrong(values, index)

    def both(x, k):
        return x[k:] + 1.0, 2.0 * x[0]

    f = function(both, result_shape=lambda x, k: ((x.shape[0] - k,), ()))
    part, number = jax.jit(f, static_argnums=1)(values, 1)
    assert part.shape == (3,) and number.shape == ()


def test_what_does_not_fit_is_refused() -> None:
    image, kernel, out = map(jnp.asarray, arguments()["blur"][1])
    f = function(blur)
    for args, match in (
        ((image.astype(jnp.bfloat16), kernel, out), "bfloat16"),
        ((image + 0j, kernel, out), "complex64"),
        ((image[0], kernel, out), "subscripts"),
        ((image, kernel), "missing"),
        ((image, kernel, [1.0]), "list"),
    ):
        with pytest.raises(pyrev.ArgumentError, match=match):
            f(*args)
        with pytest.raises(pyrev.ArgumentError, match=match):
            jax.jit(lambda args=args: f(*args))()
    with pytest.raises(pyrev.ArgumentError, match="does not write `kernel`"):
        function(blur, outputs="kernel")(image, kernel, out)
    with pytest.raises(pyrev.ArgumentError, match="only float parameters"):
        function(gathered, wrt="index")(*map(jnp.asarray, arguments()["gathered"][1]))


@pytest.mark.parametrize("jit", [False, True], ids=["", "jit"])
def test_an_index_outside_is_an_error_of_jax(jit: bool) -> None:
    values, index = map(jnp.asarray, arguments()["gathered"][1])
    f = function(gathered, result_shape=SHAPES["gathered"])
    with pytest.raises(jax.errors.JaxRuntimeError, match="IndexError"):
        (jax.jit(f) if jit else f)(values, index + 1).block_until_ready()


def test_forward_mode_is_refused() -> None:
    start, c, steps = arguments()["heat"][1]
    start = jnp.asarray(start)
    with pytest.raises(TypeError, match="forward-mode"):
        jax.jvp(lambda u: function(heat)(u, c, steps), (start,), (start,))


def test_the_examples_of_the_page_run(tmp_path: Path) -> None:
    names = example("JAX", tmp_path)
    start, found = names["start"], names["gradient"]
    expected = pyrev.grad(names["heat"], wrt="start")(np.asarray(start, float), 0.1, 50)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
