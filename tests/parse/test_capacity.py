"""Arrays that get longer, in loops and on one path of several, and how much room."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyrev
from tests.tools.oracle import check

X = np.array([0.3, 0.7, 0.2, 0.9])


def one_more_in_each_turn(x):
    out = np.array([0.0])
    for i in range(len(x)):
        out = np.append(out, out[-1] + x[i] * x[i])
    return out


def one_more_in_some_turns(x):
    out = np.empty(0)
    for i in range(len(x)):
        if x[i] > 0.25:
            out = np.append(out, x[i] * x[i])
    return out


def padded(x, n):
    if len(x) < n:
        x = np.concatenate((x, np.zeros(n - len(x))))
    s = 0.0
    for i in range(n):
        s += x[i] * x[i] * i
    return s


def twice_as_long_on_one_path(x, c):
    if c > 0:
        y = 2.0 * x
    else:
        y = np.concatenate((x, -x * x))
    s = 0.0
    for i in range(len(y)):
        s += y[i] * y[i] * i
    return s


def of_three_lengths(x, c):
    if c > 0:
        y = np.zeros(3)
        y[:] = x[:3] * 2
    elif c > -1:
        y = np.zeros(5)
        y[:4] = x * x
    else:
        y = x[1:] * x[:-1]
    return y * y


def returned_in_two_lengths(x, c):
    if c > 0:
        return 2.0 * x
    return np.concatenate((x, -x * x))


def longer_and_shorter(x, v, n):
    for _ in range(n):
        for j in range(2):
            x = np.concatenate((x, v * x[-1] * (j + 1)))
        x = x[1:]
    return x


def anew_in_each_turn(x, m):
    total = 0.0
    for i in range(len(x)):
        row = np.zeros(1)
        for j in range(m):
            row = np.append(row, x[i] * row[-1] + x[j])
        total += row[-1] * row[0] + np.sum(row * row)
    return total


def prediction_filter(frame, order):
    filter_ = np.array([1.0])
    forward, backward = frame[1:], frame[:-1]
    for _ in range(order):
        k = -2.0 * np.sum(forward * backward) / np.sum(forward**2 + backward**2)
        extended = np.append(filter_, 0.0)
        filter_ = extended + k * extended[::-1]
        kept = forward
        forward = (forward + k * backward)[1:]
        backward = (backward + k * kept)[:-1]
    return filter_


def kept_of_some(x, c):
    if len(x) < 2:
        return np.zeros(0)
    out = []
    for v in x:
        if v > c:
            out.append(v * v)
    return np.array(out)


def selected_or_nothing(x, c):
    if c > 5.0:
        return np.zeros(0)
    return x[x > c] * 2.0


def kept_of_some_in_turns(x, c):
    total = 0.0
    for turn in range(3):
        kept = kept_of_some(x, c + 0.2 * turn)
        for k in range(len(kept)):
            total += kept[k] * (k + 1 + turn)
    return total


def rows_up_to_a_counter(x, c):
    if c > 5.0:
        return np.ones((0, 2))
    n = 0
    for v in x:
        if v > c:
            n += 1
    out = np.zeros((n + 1, 2))
    m = 0
    for i in range(len(x)):
        if x[i] > c:
            out[m, 0], out[m, 1] = x[i], x[i] ** 2
            m += 1
    return out


def differences_of_pairs(x, c):
    if c > 5.0:
        return np.zeros(len(x))
    count = 0
    for i in range(len(x)):
        for j in range(i):
            if x[i] - x[j] > c:
                count += 2
    out = np.zeros(count)
    k = 0
    for i in range(len(x)):
        for j in range(i):
            if x[i] - x[j] > c:
                out[k], out[k + 1] = x[i] - x[j], x[i] * x[j]
                k += 2
    return out


def up_to_a_counter_that_goes_back(x, c):
    total = 0.0
    for w in range(1, 3):
        n = 0
        kept = np.zeros(len(x))
        for i in range(len(x) - w):
            if x[i] * x[i + w] > c:
                kept[n] = x[i] * x[i + w]
                n += 1
                if n > 2:
                    n -= 1
        y = kept[:n]
        if len(y) > 1:
            y = y[1:] - y[:-1]
        else:
            y = np.zeros(0)
        total += np.sum(y * y) + len(y)
    return total


def of_as_many_as_are_positive(x, c):
    n = np.sum(x > c)
    if n < 1:
        return np.ones(3)
    return (x * x)[: n - 1]


CALLS: list[tuple[Callable[..., Any], dict[str, Any]]] = [
    (one_more_in_each_turn, {}),
    (one_more_in_some_turns, {}),
    (padded, {"n": 6}),
    (padded, {"n": 2}),
    (twice_as_long_on_one_path, {"c": 1}),
    (twice_as_long_on_one_path, {"c": -1}),
    (of_three_lengths, {"c": 1}),
    (of_three_lengths, {"c": 0}),
    (of_three_lengths, {"c": -1}),
    (returned_in_two_lengths, {"c": 1}),
    (returned_in_two_lengths, {"c": -1}),
    (longer_and_shorter, {"v": X[:2] + 1.0, "n": 3}),
    (longer_and_shorter, {"v": X[:1] + 1.0, "n": 0}),
    (anew_in_each_turn, {"m": 3}),
    (prediction_filter, {"order": 2}),
    *(
        (f, {"c": c})
        for f in (
            kept_of_some,
            selected_or_nothing,
            kept_of_some_in_turns,
            rows_up_to_a_counter,
            differences_of_pairs,
            up_to_a_counter_that_goes_back,
            of_as_many_as_are_positive,
        )
        for c in (0.25, -1.0, 6.0)
    ),
]


@pytest.mark.parametrize(
    "target", ["python", pytest.param("numba", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("number", range(len(CALLS)))
def test_derivatives(number: int, target: str) -> None:
    plain, given = CALLS[number]
    first = "frame" if plain is prediction_filter else "x"
    f = pyrev.differentiable(plain, target=target)
    check(f, plain, {first: X.copy(), **given}, [], np.random.default_rng(number))


def test_there_is_room_and_no_test_of_it() -> None:
    text = pyrev.differentiable(one_more_in_each_turn).primal.source
    assert "out = np.empty(x.shape[0] + 1)" in text
    assert "grows" not in text


def of_a_size_on_one_path(x, n):
    y = x * x
    if n < 3:
        y = np.zeros(n)
    else:
        y = np.concatenate((y, x))
    return np.sum(y) + len(y)


@pytest.mark.parametrize("target", ["python", "numba"])
def test_a_negative_size_raises(target: str) -> None:
    f = pyrev.differentiable(of_a_size_on_one_path, target=target)
    assert np.allclose(f.adjoint(X, 3, 1.0)[0], 2 * X + 1)
    assert np.array_equal(f.adjoint(X, 0, 1.0)[0], 0 * X)
    with pytest.raises(ValueError, match="negative dimensions"):
        f.adjoint(X, -1, 1.0)


def doubled_in_each_turn(x, n):
    for _ in range(n):
        x = np.concatenate((x, x * 2.0))
    return x


def a_size_that_is_none_on_another_path(x, n):
    if n < 3:
        y = np.ones(3 - n)
    else:
        y = np.zeros(5 - n)
    return np.sum(y) * x[0]


def test_only_the_size_of_the_path_counts() -> None:
    f = pyrev.differentiable(a_size_that_is_none_on_another_path, target="python")
    for n in (-4, 0, 2, 3, 5):
        expected = a_size_that_is_none_on_another_path(X, n)
        assert f.adjoint(X, n, 1.0)[0][0] * X[0] == expected
    with pytest.raises(ValueError, match="negative dimensions"):
        f.adjoint(X, 6, 1.0)


def test_there_is_room_for_what_data_decides() -> None:
    for plain in (kept_of_some, selected_or_nothing):
        text = pyrev.differentiable(plain).primal.source
        assert "result = np.empty(x.shape)" in text
        assert "grows" not in text


def test_room_that_is_not_known_is_checked() -> None:
    f = pyrev.differentiable(doubled_in_each_turn, target="python")
    assert np.array_equal(f.adjoint(X, 0, X)[0], X)
    with pytest.raises(ValueError, match="grows"):
        f.adjoint(X, 1, np.ones(8))
