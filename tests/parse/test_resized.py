"""Arrays whose lengths change in a loop."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import pyrev
from tests.corpora.everything import on_targets
from tests.tools import resizing
from tests.tools.oracle import check
from tests.turns import TURN


def differences_of_differences(x, t):
    f = x.copy()
    s = 0.0
    while f.shape[0] > 1:
        f = f[1:] - f[:-1]
        s += f[0] ** 2 * t
    return s


def pyramid(x, t):
    level = x.copy()
    s = 0.0
    for _ in range(2):
        level = 0.5 * (level[0:-1:2] + level[1::2])
        s += np.sum(level * level)
    return s * t


def de_casteljau(x, t):
    c = x.copy()
    while c.shape[0] > 1:
        d = np.empty(c.shape[0] - 1)
        for i in range(d.shape[0]):
            d[i] = (1.0 - t) * c[i] + t * c[i + 1]
        c = d
    return c[0]


def active_set(x, t):
    s = 0.0
    for _ in range(2):
        left = x * t
        while len(left) > 2:
            left = left[left > np.min(left)]
            s += np.sum(left**3)
    return s * len(left)


def _halved(f):
    return f[::2] + f[0]


def a_helper_makes_it_shorter(x, t):
    f = x.copy()
    for _ in range(2):
        f = _halved(f)
    return np.sum(f * f) * f.shape[0] * t


def on_some_paths(x, t):
    f = x.copy()
    s = 0.0
    for k in range(4):
        if k != 1:
            f = f[1:]
        s += f[-1] * f[0] * t
    return s * np.sum(f)


def planes(x, t):
    f = x.reshape(-1, 1) * x
    s = 0.0
    for _ in range(2):
        f = f[1:, :-1] * t
        s += f[0, 0] * f.shape[0] + np.sum(f) * f.shape[1]
    return s


def length_before_and_behind(x, t):
    f = x.copy()
    s = 0.0
    for _ in range(3):
        f, n = f[1:], f.shape[0]
        m, f = f.shape[0], f[:-1] * t
        s += n * f[0] + m * f[m - 2]
    return s


def returned(x, t):
    f = x * t
    for _ in range(2):
        f = np.diff(f)
    return f


def made_in_an_inner_loop(x, t):
    s = 0.0
    for _ in range(3):
        f = x.copy()
        n = f.shape[0]
        while n > 1:
            value = np.empty(n - 1)
            for j in range(n - 1):
                value[j] = f[j] * f[j + 1]
            n = n - 1
            for j in range(value.shape[0]):
                f[j] = value[j] * t
        s += f[0]
    return s


def made_of_its_length_alone(x, t):
    y = x[:4] * t
    for _ in range(2):
        y = x[len(x) - len(y) + 1 :] * t
    s = np.sum(y * y) + len(y)
    y = x * t
    for k in range(2):
        y = np.full(len(y) - 1, x[k])
    return s + np.sum(y * y)


def other_axes(x, t):
    a = np.zeros((3, 4)) + t
    for k in range(2):
        a = np.full((a.shape[1] - 1, a.shape[0] - 1), x[k])
    return np.sum(a * a) * a.shape[0]


def two_of_one_length(x, t):
    y = x.copy()
    z = x * t
    for _ in range(2):
        y = y[1:]
        z = z[: len(y)] * y
    return np.sum(z * z)


def a_row_of_what_is_left(x, t):
    a = x.reshape(-1, 1) * x
    for _ in range(2):
        a = a[1:, 1:] * t
    return np.sum(a[0] ** 2)


def halved_by_a_loop(x, t):
    while x.shape[0] > 1:
        n = x.shape[0] // 2
        y = np.empty(n)
        for i in range(n):
            y[i] = x[2 * i] * x[2 * i + 1] * t
        x = y
    return x[0]


def halved_by_a_count(x, t):
    n = x.shape[0]
    y = x.copy()
    while n > 1:
        n = n // 2
        z = np.empty(n)
        for i in range(n):
            z[i] = y[2 * i] + t * y[2 * i + 1] ** 2
        y = z
    return y[0]


def _smoothed(x):
    return np.convolve(x, np.array([0.25, 0.5, 0.3]), mode="same")[::2]


def scales(x, t):
    level = x
    s = 0.0
    for _ in range(5):
        if level.shape[0] < 3:
            break
        s += np.var(level) * t
        level = _smoothed(level)
    return s + np.mean(np.convolve(level, np.ones(2), mode="valid"))


def merged(x, t):
    w = x * t
    while x.size > 1:
        order = np.argsort(x)
        x = x[order][1:]
        w = w[order][1:] * w[order][:-1]
    return x[0] * w[0]


def different_ones(x, t):
    for _ in range(3):
        x = np.unique(x)[1:] * t
    return np.sum(x * x)


def a_number_that_one_path_returns(x, t):
    if abs(t) < 0.2:
        return t
    for _ in range(2):
        x = x[x > t]
    return t + np.sum(x * x)


FORMS = [
    a_number_that_one_path_returns,
    halved_by_a_loop,
    halved_by_a_count,
    scales,
    merged,
    different_ones,
    made_of_its_length_alone,
    other_axes,
    two_of_one_length,
    a_row_of_what_is_left,
    length_before_and_behind,
    differences_of_differences,
    pyramid,
    de_casteljau,
    active_set,
    a_helper_makes_it_shorter,
    on_some_paths,
    planes,
    returned,
    made_in_an_inner_loop,
]


@pytest.mark.parametrize(("plain", "target"), on_targets(FORMS, 3))
def test_derivatives(plain: Callable[..., object], target: str) -> None:
    rng = np.random.default_rng(5)
    given = {"x": 0.8 + 0.1 * rng.permutation(8), "t": 0.9}
    check(pyrev.differentiable(plain, target=target), plain, given, [], rng)


@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize("at", [6, -7])
def test_an_element_beyond_the_present_length_raises(target: str, at: int) -> None:
    def f(x):
        g = x.copy()
        for _ in range(2):
            g = g[1:]
        return g[at]

    with pytest.raises(IndexError):
        pyrev.differentiable(f, target=target)(np.ones(8))


def test_an_array_that_grows_raises() -> None:
    def f(x):
        g = x[:1].copy()
        k = 0
        while k < 3:
            g = np.append(g, x[k])
            k += 1
        return np.sum(g)

    with pytest.raises(ValueError, match="grows"):
        pyrev.differentiable(f, target="python")(np.ones(4))


def test_what_keeps_its_length_is_not_counted() -> None:
    def step(u):
        m = u.shape[0]
        out = np.empty(m)
        for i in range(m):
            out[i] = 0.5 * u[i] + u[(i + 1) % m]
        return out

    def f(u):
        for _ in range(3):
            u = step(u)
        return np.sum(u * u)

    assert "length" not in pyrev.differentiable(f, target="python").primal.source


@pytest.mark.slow
def test_random_programs_are_right_or_refused() -> None:
    first = TURN % 10**6 * 40
    found = [resizing.judged(seed) for seed in range(first, first + 40)]
    assert {seed: why for seed, verdict, why in found if verdict == "wrong"} == {}
    assert sum(verdict == "right" for _, verdict, _ in found) > 20
