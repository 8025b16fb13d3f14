"""Names and signs of the readable text: what a person would not write twice."""

from __future__ import annotations

import numpy as np

import pyrev


def smallest_of_three(x, gamma):
    total = np.exp(-x[0] / gamma) + np.exp(-x[1] / gamma)
    least = x[0] - gamma * np.log(total)
    return least * x[2]


def quotients(x, y, out):
    for i in range(x.shape[0]):
        out[i] = (1 - x[i]) * np.log(x[i] / y[i])


def crossing(prices, rate):
    s = prices[0]
    gain = 0.0
    for t in range(1, prices.shape[0]):
        s = rate * prices[t] + (1 - rate) * s
        gain -= (1 - s) * np.log(s)
    return gain


def held_position(prices, rate):
    s = prices[0]
    gain = position = 0.0
    for t in range(1, prices.shape[0]):
        gain += position * prices[t]
        s = rate * prices[t] + (1 - rate) * s
        position = np.tanh(s)
    return gain


def filtered(x, b, a):
    x1 = y1 = 0.0
    total = 0.0
    for n in range(x.shape[0]):
        y = b * x[n] + x1 - a * y1 * y1
        x1 = x[n]
        y1 = y
        total += y * y
    return total


RNG = np.random.default_rng(3)
X, Y = RNG.uniform(0.3, 0.9, 6), RNG.uniform(0.3, 0.9, 6)
CASES = {
    smallest_of_three: (X[:3], 0.6),
    quotients: (X, Y, np.zeros(6)),
    crossing: (X, 0.3),
    held_position: (X, 0.3),
    filtered: (X, 0.7, 0.2),
}


def test_gradients_are_right() -> None:
    for f, arguments in CASES.items():
        assert pyrev.check_grad(pyrev.differentiable(f), *arguments).ok, f


def test_signs_cancel_or_stand_before_the_line() -> None:
    for f in CASES:
        text = pyrev.differentiable(f).adjoint.source
        assert "+= -" not in text and "-= -" not in text, text
        assert "--" not in text and "-(-" not in text, text


def test_scalars_that_are_set_in_one_line_stay_in_one() -> None:
    text = pyrev.differentiable(filtered).adjoint.source
    assert "    x1 = y1 = 0.0\n" in text


def test_one_test_for_a_cotangent_and_for_what_it_becomes() -> None:
    text = pyrev.differentiable(held_position).adjoint.source
    assert text.count("if d_s != 0.0:") == 1, text
    assert "            d_s *= 1 - rate\n" in text, text


def two_terms(x):
    both = x[0] + x[1]
    one = both * both
    other = both + one
    return one * other


def test_what_has_another_name_at_once_has_it_from_the_start() -> None:
    text = pyrev.differentiable(smallest_of_three).adjoint.source
    lines = [line.strip() for line in text.splitlines()]
    for line, behind in zip(lines, lines[1:], strict=False):
        name = line.partition(" = ")[0]
        assert not (name.startswith("d_v") and behind.endswith(f" = {name}")), text
    assert pyrev.check_grad(pyrev.differentiable(two_terms), X[:2]).ok
