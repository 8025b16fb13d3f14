"""Forward mode against differences of the plain functions, on every target."""

from __future__ import annotations

import copy
import math
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

import pyrev
from pyrev.api.forward import TOGETHER
from pyrev.testing.differences import derivative
from pyrev.testing.outcome import draw_cotangents, floats, outcome, run, terms, total
from tests.corpora.entry import Entry
from tests.corpora.everything import EVERY, accepted
from tests.corpora.kernels import conv2d
from tests.targets.cuda import needs, ondevice
from tests.turns import share_of


def directions(values: Any, rng: np.random.Generator) -> dict[str, Any]:
    shapes = {n: np.shape(values[n]) for n in floats(values)}
    return {n: rng.uniform(-1, 1, shape) for n, shape in shapes.items()}


def judge(entry: Entry, target: str, size: int) -> None:
    """`<w, J v>` of one call, and the values and the mutation beside it."""
    f = accepted(entry, target)
    rng = entry.generator(size)
    values = entry.make(size, np.float64, rng)
    expected = run(entry.plain, values, entry.outputs)
    weights = draw_cotangents(expected, rng)
    v = directions(values, rng)
    own = copy.deepcopy(values)
    result, moved = pyrev.jvp(f, **own, tangents=v)
    got = outcome(result, own, entry.outputs)
    for mine, theirs in zip(got.values(), expected.values(), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-11, atol=1e-11)
    returned = moved["return"] if "return" in moved else ()
    returned = returned if isinstance(returned, tuple) else (returned,)
    arrays = {n: moved.get(n, np.zeros_like(w)) for n, w in weights.written.items()}
    found = total(terms(type(got)(returned, arrays, got.structure), weights))
    slope = derivative(entry.plain, values, entry.outputs, weights, v)
    scale = max(1.0, abs(slope.value))
    assert abs(found - slope.value) <= 1e-6 * scale + 10 * slope.error, entry.name


@pytest.mark.slow
@pytest.mark.parametrize("name", share_of(EVERY, 24))
def test_the_tangent_is_right_in_python(name: str) -> None:
    judge(EVERY[name], "python", max(3, EVERY[name].least))


@pytest.mark.slow
@pytest.mark.parametrize("name", share_of(EVERY, 96))
def test_the_tangent_is_right_compiled(name: str) -> None:
    judge(EVERY[name], "numba", EVERY[name].real)


def cosines(x, k, out):
    total = 0.0
    for i in range(out.shape[0]):
        out[i] = out[i] * math.cos(k * x[i])
        total += out[i] * x[i] ** 2
    return total, x


def places() -> list[Any]:
    return [
        pytest.param("python", nullcontext, lambda a: a, id="python"),
        pytest.param("numba", nullcontext, lambda a: a, id="numba"),
        pytest.param(
            "cuda",
            ondevice.standing_in,
            ondevice.there,
            id="cuda",
            marks=needs.compiler,
        ),
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("target", "place", "there"), places())
@pytest.mark.parametrize("count", [1, 3, TOGETHER + 3])
def test_several_directions_are_each_on_its_own(
    target: str, place: Any, there: Any, count: int
) -> None:
    rng = np.random.default_rng(count)
    x, out = rng.random(5), rng.random(5)
    v = {"x": rng.random((count, 5)), "k": rng.random(count)}
    v["out"] = rng.random((count, 5))
    with place():
        f = pyrev.differentiable(cosines, target=target)
        mine = there(out.copy())
        given = {n: there(a) if a.ndim > 1 else a for n, a in v.items()}
        result, moved = pyrev.jvp(f, there(x), 0.7, mine, tangents=given)
        plain = out.copy()
        value, _ = cosines(x, 0.7, plain)
        assert float(result[0]) == pytest.approx(value, rel=1e-12)
        np.testing.assert_allclose(mine, plain, rtol=1e-12)
        assert moved["out"].shape == (count, 5)
        assert moved["return"][0].shape == (count,)
        assert moved["return"][1].shape == (count, 5)
        for k in range(count):
            one = {n: a[k] for n, a in given.items()}
            _, single = pyrev.jvp(f, there(x), 0.7, there(out.copy()), tangents=one)
            np.testing.assert_allclose(moved["out"][k], single["out"], rtol=1e-12)
            np.testing.assert_allclose(
                float(moved["return"][0][k]), float(single["return"][0]), rtol=1e-12
            )
            np.testing.assert_array_equal(moved["return"][1][k], v["x"][k])


def test_the_call_is_the_plain_one_and_tangents_are_left_alone() -> None:
    rng = np.random.default_rng(1)
    image, kernel, out = rng.random((7, 8)), rng.random((3, 2)), rng.random((5, 7))
    d_out = rng.random((5, 7))
    before = d_out.copy()
    expected = out.copy()
    conv2d(image, kernel, expected)
    result, moved = pyrev.jvp(conv2d, image, kernel, out, tangents={"out": d_out})
    assert result is None
    np.testing.assert_allclose(out, expected, rtol=1e-13)
    np.testing.assert_array_equal(moved.out, d_out)  # out += ...: the identity
    assert moved.out is not d_out
    np.testing.assert_array_equal(d_out, before)


def test_no_direction_at_all_is_the_call() -> None:
    out = np.zeros((5, 7))
    none = np.ones((0, 7, 8))
    args = np.ones((7, 8)), np.ones((3, 2)), out
    _, moved = pyrev.jvp(conv2d, *args, tangents={"image": none})
    assert moved.out.shape == (0, 5, 7) and (out == 6).all()


def test_dtypes_and_numbers() -> None:
    def f(x, k):
        total = 0.0
        for i in range(x.shape[0]):
            total += k * x[i]
        return total

    x = np.arange(4, dtype=np.float32)
    result, moved = pyrev.jvp(f, x, np.float32(2), tangents={"x": 1.0, "k": 1})
    assert result == 12 and moved["return"] == 8 + 6
    assert moved["return"].dtype == np.float32


def test_what_does_not_move_has_no_tangent() -> None:
    def f(x, n, out):
        for i in range(n):
            out[i] = 3.0
        return n

    out = np.zeros(2)
    result, moved = pyrev.jvp(f, np.ones(3), 2, out, tangents={"x": np.ones(3)})
    assert result == 2 and moved["return"] == 0
    np.testing.assert_array_equal(moved.out, [0, 0])


@pytest.mark.parametrize(
    ("tangents", "said"),
    [
        ({}, "no tangent was given"),
        ({"z": 1.0}, "no such parameter"),
        ({"n": 1}, "only float parameters"),
        ({"x": np.ones(4)}, r"shape \(4,\), not \(3,\)"),
        ({"x": [1.0, 2.0, 3.0]}, "is a list"),
        ({"x": np.ones((2, 3)), "k": np.ones(3)}, "several numbers of directions"),
        ({"x": np.ones((2, 3)), "k": 1.0}, "several numbers of directions"),
        ({"x": np.array(["a"] * 3)}, "dtype"),
    ],
)
def test_what_does_not_fit_is_refused(tangents: Any, said: str) -> None:
    def f(x, k, n):
        total = 0.0
        for i in range(n):
            total += k * x[i]
        return total

    with pytest.raises(pyrev.ArgumentError, match=said):
        pyrev.jvp(f, np.ones(3), 2.0, 3, tangents=tangents)


def test_an_index_outside_is_raised_before_anything_is_written() -> None:
    out = np.zeros((6, 7))
    with pytest.raises(IndexError):
        pyrev.jvp(conv2d, np.ones((7, 8)), np.ones((3, 2)), out, tangents={"out": 1.0})
    assert not out.any()


def test_the_tangent_is_source() -> None:
    f = pyrev.differentiable(conv2d)
    assert "dot_out[y, x] += (" in f.tangent.source
    assert "prange" not in f.tangent.source
    assert "njit" in f.tangent.source_for("numba")
    assert "__global__" in f.tangent.source_for("cuda")
    image, kernel, out = np.ones((7, 8)), np.ones((3, 2)), np.zeros((5, 7))
    dots = [np.ones((7, 8)), np.zeros((3, 2)), np.zeros((5, 7))]
    f.tangent(image, kernel, out, *dots)
    np.testing.assert_array_equal(dots[2], np.full((5, 7), 6.0))


# -------------------------------------------------------------------- mixed mode


def gated(c, f, z, w, out):
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            new = math.tanh(f[y, x]) * w
            if z[x] > 0.5:
                out[y, x] = new * new
            elif z[x] > 0.2:
                out[y, x] = c[y, x] / f[y, x] + new
            else:
                out[y, x] = 1.0


def widened(x, out):
    for i in range(out.shape[0]):
        out[i] = math.exp(x[i // 3]) * x[i // 3]


def twice(x, a, b):
    for i in range(x.shape[0]):
        a[i] = x[i] ** 2
    for i in range(x.shape[0]):
        for _ in range(3):
            a[i] *= a[i]
        b[i] = a[i] * x[i]
    return x.shape[0]


ELEMENTWISE: list[Any] = [
    (gated, {"c": (4, 5), "f": (4, 5), "z": (5,), "w": (), "out": (4, 5)}),
    (widened, {"x": (4,), "out": (11,)}),
    (twice, {"x": (5,), "a": (5,), "b": (5,)}),
]


@pytest.mark.slow
@pytest.mark.parametrize(("target", "place", "there"), places())
@pytest.mark.parametrize(("f", "shapes"), ELEMENTWISE)
def test_partials_are_the_gradient_of_the_sum(
    f: Any, shapes: dict[str, tuple[int, ...]], target: str, place: Any, there: Any
) -> None:
    """What each output moves by is one entry of the Jacobian: its row has one."""
    rng = np.random.default_rng(2)
    values = {n: rng.uniform(0.3, 1.0, s) if s else 0.8 for n, s in shapes.items()}
    plain = {n: np.array(v) if shapes[n] else v for n, v in values.items()}
    expected = f(**plain)
    with place():
        g = pyrev.differentiable(f, target=target)
        own = {n: there(v) if shapes[n] else v for n, v in values.items()}
        result, found = pyrev.partials(g, **own)
        assert result == expected
    outputs = [n for n in shapes if n in ("out", "a", "b")]
    assert list(found) == outputs
    for name in outputs:
        np.testing.assert_allclose(own[name], plain[name], rtol=1e-12)
        assert list(found[name]) == [n for n in shapes if n not in outputs]
        for x, partial in found[name].items():
            moves = {x: np.ones(shapes[x])}
            again = {n: np.array(v) if shapes[n] else v for n, v in values.items()}
            _, moved = pyrev.jvp(f, **again, tangents=moves)
            np.testing.assert_allclose(partial, moved[name], rtol=1e-12)


def test_partials_against_differences() -> None:
    x, step = np.linspace(0.2, 1.0, 4), 1e-6
    up, down = np.zeros(11), np.zeros(11)
    widened(x + step, up)
    widened(x - step, down)
    _, found = pyrev.partials(widened, x, np.zeros(11))
    np.testing.assert_allclose(found["out"]["x"], (up - down) / (2 * step), rtol=1e-8)


def smoothed(x, out):
    for i in range(1, x.shape[0] - 1):
        out[i] = x[i - 1] + x[i + 1]


def rows(x, out):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            out[i] += x[i, j]


def looked_up(x, index, out):
    for i in range(out.shape[0]):
        out[i] = x[index[i]]


def carried(x, out):
    last = 0.0
    for i in range(x.shape[0]):
        last = x[i] * x[i]
    for i in range(x.shape[0]):
        out[i] = last


def summed(x):
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i]
    return total


def swapped(x, tmp, out):
    for i in range(x.shape[0]):
        tmp[i] = x[i]
    for i in range(x.shape[0]):
        out[i] = tmp[x.shape[0] - 1 - i] * x[i]


@pytest.mark.parametrize(
    ("f", "args", "why"),
    [
        (smoothed, (np.ones(5), np.zeros(5)), "two elements of `x`"),
        (rows, (np.ones((3, 2)), np.zeros(3)), "iterations of `j` meet"),
        (looked_up, (np.ones(3), np.array([0, 0]), np.zeros(2)), "data decides"),
        (carried, (np.ones(3), np.zeros(3)), "crosses the loops"),
        (summed, (np.ones(3),), "what is returned moves"),
        (swapped, (np.ones(3), np.zeros(3), np.zeros(3)), "no index of a loop"),
    ],
)
def test_what_is_not_elementwise_is_refused(f: Any, args: Any, why: str) -> None:
    with pytest.raises(pyrev.ArgumentError, match=why):
        pyrev.partials(f, *args)


@pytest.mark.parametrize("target", ["python", "numba"])
def test_a_number_that_is_assigned_need_not_move_at_first(target: str) -> None:
    def grown(y, rate, steps):
        for _ in range(steps):
            y = y + rate * y
        return y

    f = pyrev.differentiable(grown, target=target)
    _, moved = pyrev.jvp(f, 2.0, 0.1, 3, tangents={"rate": 1.0})
    assert moved["return"] == pytest.approx(2.0 * 3 * 1.1**2)
    _, several = pyrev.jvp(f, 2.0, 0.1, 3, tangents={"rate": np.array([1.0, 2.0])})
    np.testing.assert_allclose(several["return"], [7.26, 14.52])
