"""Other shapes and orders, views where NumPy has views, and arrays put together."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import pyrev
from tests.corpora.everything import on_targets
from tests.tools.oracle import check


def flattened(x, a):
    f = a.flatten()
    f[0] = 0.0
    return np.sum(f * f) * a[0, 0] + np.sum(a.ravel() * x)


def a_flat_view_that_is_written(x, a):
    b = a.copy()
    flat = b.ravel()
    flat[1] = 3.0 * flat[0]
    b[1, 0] = x[0]
    return np.sum(b**3) + flat[3] * flat[1]


def another_shape(x, a):
    b = x.reshape(2, 3) * a
    c = x.reshape((-1, 2))
    d = np.reshape(a, (3, -1))
    return np.sum(b * b) + np.sum(c * d * c) + np.sum(x.reshape(a.shape) * a)


def a_column_and_a_row(x, a):
    table = x.reshape(-1, 1) * x.reshape(1, -1)
    return np.sum(table * np.expand_dims(x, 0)) + np.sum(np.squeeze(a[:1], axis=0) ** 2)


def a_loop_over_all(x, a):
    flat = a.reshape(-1)
    s = 0.0
    for k in range(flat.shape[0]):
        s += flat[k] * x[k] * k
    return s


def a_row_in_another_shape(x, a):
    b = np.zeros((3, 2, 2))
    b[1] = x[:4].reshape(2, 2)
    flat = b[1].ravel()
    flat[0] = 7.0 * x[5]
    return np.sum(b * b) * a[0, 0]


def above_and_beside(x, a):
    s, t = np.stack((x, x * x)), np.stack([x, x[::-1]], axis=1)
    v, h = np.vstack((a, a * a)), np.hstack((a, a[::-1]))
    c = np.column_stack((x, x * 2.0))
    return (
        np.sum(s**3)
        + np.sum(t[:, 0] * t[:, 1])
        + np.sum(v**3)
        + np.sum(h[0] * h[1])
        + np.sum(c[:, 0] * c[:, 1] ** 2)
        + np.sum(np.concatenate((a, 2.0 * a), axis=1) ** 3)
    )


def turned(x, a):
    b = np.roll(a, 1, axis=0) * np.flip(a, axis=1) + np.fliplr(a) * np.flipud(a)
    t = a.transpose(1, 0)
    u = np.swapaxes(a, 0, 1) * np.transpose(a, (1, 0)) * np.moveaxis(a, 0, 1)
    return np.sum(b * b) + np.sum(t[0] ** 3) + np.sum(u[2]) * x[0]


def differences(x, a):
    return (
        np.sum(np.diff(a, axis=0) ** 2)
        + np.sum(np.diff(a) ** 3)
        + np.sum(np.diff(x, n=2) ** 2)
        + np.sum(x.cumsum() ** 2)
    )


def copies_of_parts_that_stay(x, a):
    b = np.ascontiguousarray(a.T)
    c = a[:, 1:].reshape(-1) * a.T.ravel()[:4]
    return np.sum((b @ a) ** 2) + np.sum(c * x[:4])


def a_fresh_array_of_the_library(x, a):
    m = x[:3].reshape(-1, 1) * x[3:]
    return np.sum(np.triu(m, 1).ravel() ** 2) * a[0, 0]


FORMS = [
    copies_of_parts_that_stay,
    a_fresh_array_of_the_library,
    flattened,
    a_flat_view_that_is_written,
    another_shape,
    a_column_and_a_row,
    a_loop_over_all,
    a_row_in_another_shape,
    above_and_beside,
    turned,
    differences,
]


@pytest.mark.parametrize(("plain", "target"), on_targets(FORMS, 3))
def test_derivatives(plain: Callable[..., object], target: str) -> None:
    rng = np.random.default_rng(5)
    given = {"x": rng.uniform(0.5, 1.0, 6), "a": rng.uniform(0.5, 1.0, (2, 3))}
    check(pyrev.differentiable(plain, target=target), plain, given, [], rng)


def squares(out, x):
    flat = out.reshape(-1)
    for k in range(flat.shape[0]):
        flat[k] = x[k] ** 2


@pytest.mark.parametrize("target", ["python", "numba"])
def test_an_argument_that_is_written_in_another_shape(target: str) -> None:
    f = pyrev.differentiable(squares, target=target)
    out, x = np.zeros((3, 4)), np.arange(12.0)
    _, pullback = pyrev.vjp(f, out, x)
    np.testing.assert_array_equal(out.reshape(-1), x**2)
    np.testing.assert_array_equal(pullback(out=1.0).x, 2.0 * x)
    # Of this one NumPy would make a copy, and leave it as it is.
    with pytest.raises(pyrev.ArgumentError, match="`out` in another shape"):
        f(np.zeros((4, 3)).T, x)


def test_an_argument_that_is_only_read_may_lie_as_it_likes() -> None:
    def f(a):
        return np.sum(a.ravel() * np.arange(6))

    a = np.arange(6.0).reshape(3, 2).T
    assert pyrev.differentiable(f, target="python")(a) == f(a)


@pytest.mark.parametrize("join", [np.stack, np.vstack, np.hstack, np.column_stack])
def test_what_is_put_together_has_the_dtype_of_all(join: Callable[..., object]) -> None:
    def f(x):
        return join((x, np.ones(3)))

    x = np.ones(3, np.float32)
    found = pyrev.differentiable(f, target="python").primal(x)
    assert found.dtype == np.float64


def test_elements_that_do_not_fit_the_shape_raise() -> None:
    def f(x):
        return np.sum(x.reshape(2, -1))

    with pytest.raises(ValueError):
        pyrev.differentiable(f, target="python")(np.ones(3))


def transposed_before(a):
    b = a.T * 2.0
    flat = b.ravel()
    flat[1] = 7.0 * a[0, 0]
    return b[0, 1]


def like_the_argument(a):
    b = np.zeros_like(a)
    b.reshape(-1)[1] = a[0, 0]
    return b[0, 1]


def bound_again(a):
    b = a.copy()
    for _ in range(1):
        b = b[:, 1:]
    flat = b.ravel()
    flat[0] = 9.0
    return b[0, 0]


def a_part_that_is_written(a):
    b = np.ascontiguousarray(a.T)
    a[0, 0] = 7.0
    return b[0, 0] * a[0, 1]


@pytest.mark.parametrize(
    "plain",
    [transposed_before, like_the_argument, bound_again, a_part_that_is_written],
)
def test_what_lies_in_memory_as_its_operands_do_is_not_written_flat(
    plain: Callable[..., object],
) -> None:
    with pytest.raises(pyrev.UnsupportedError, match="P209"):
        pyrev.differentiable(plain, target="python")(np.ones((2, 3)))


@pytest.mark.parametrize("target", ["python", "numba"])
def test_a_diagonal_is_a_view(target: str) -> None:
    def f(a):
        d, e = np.diagonal(a), np.diag(a)
        a[0, 0] = 5.0 * a[1, 1]
        return d[0] * e[1] + a.diagonal()[0]

    a = np.array([[1.0, 2.0], [3.0, 4.0]])
    g = pyrev.differentiable(f, target=target)
    assert g.primal(a.copy()) == f(a.copy())
    # d = 5 y, e = y, so 5 y y + 5 y
    gradient = pyrev.grad(g)(a.copy())["a"]
    np.testing.assert_allclose(gradient, [[0.0, 0.0], [0.0, 45.0]])


def corners(x, u):
    total = 0.0
    for i in range(x.shape[0] - 2):
        sides = np.array([x[i + 1] - x[i], x[i + 2] - x[i]]).T
        inverse = np.linalg.inv(sides + 3.0 * np.eye(2))
        v = np.array((u[i], 2.0 * u[i + 1]), dtype=np.float64)
        total += np.sum(inverse @ v)
    return total


def rows_of_copies(x, u):
    r = np.array([x[0], x[0]])
    r[0, 1] = 4.0
    r[1] = r[0] * u[0]
    first = x[1]
    both = np.array([first, first + 1.0])
    first[0] = 3.0
    return np.sum(r * both) * np.sum(x)


@pytest.mark.parametrize(("plain", "target"), on_targets([corners, rows_of_copies], 2))
def test_an_array_of_arrays(plain: Callable[..., object], target: str) -> None:
    rng = np.random.default_rng(5)
    given = {"x": rng.normal(size=(5, 2)), "u": rng.normal(size=(5, 2))}
    outputs = ["x"] if plain is rows_of_copies else []
    check(pyrev.differentiable(plain, target=target), plain, given, outputs, rng)


def closed_loop(A, B, Q, R, Qf, x0, horizon):
    K = np.zeros((horizon, B.shape[1], A.shape[0]))
    P = Qf
    for t in range(horizon - 1, -1, -1):
        S = R + B.T @ P @ B
        K[t] = np.linalg.solve(S, B.T @ P @ A)
        P = Q + A.T @ P @ (A - B @ K[t])
    xs = np.zeros((horizon + 1, A.shape[0]))
    us = np.zeros((horizon, B.shape[1]))
    xs[0] = x0
    cost = 0.0
    for t in range(horizon):
        us[t] = -K[t] @ xs[t]
        cost += xs[t] @ Q @ xs[t] + us[t] @ R @ us[t]
        xs[t + 1] = A @ xs[t] + B @ us[t]
    return cost + xs[-1] @ Qf @ xs[-1]


def test_of_a_row_and_a_name_the_name_is_the_matrix() -> None:
    rng = np.random.default_rng(6)
    f = pyrev.differentiable(closed_loop, target="python")
    given = {
        "A": np.eye(3) + 0.2 * rng.normal(size=(3, 3)),
        "B": rng.normal(size=(3, 2)),
        "Q": np.eye(3),
        "R": np.eye(2),
        "Qf": 2.0 * np.eye(3),
        "x0": rng.normal(size=3),
        "horizon": 3,
    }
    check(f, closed_loop, given, [], rng)
