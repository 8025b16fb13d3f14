"""A chosen element is told by its subscripts: by every test, and where it must not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyrev

RNG = np.random.default_rng(3)
X = RNG.permutation(12) * 0.3 + 0.1
IMAGE = RNG.permutation(24).reshape(4, 6) * 0.2 - 1.0


def least(x):
    m = x[0]
    for i in range(1, x.shape[0]):
        if x[i] < m:
            m = x[i]
    return m * m


def by_max(x):
    m = x[0]
    for i in range(x.shape[0]):
        m = max(m, x[i])
    return m * m


def by_max_turned(x):
    m = x[0]
    for i in range(x.shape[0]):
        m = max(x[i], m)
    return m * m


def by_expression(x):
    m = x[0]
    for i in range(x.shape[0]):
        m = x[i] if x[i] < m else m
    return m * m


def by_expression_turned(x):
    m = x[-1]
    for i in range(x.shape[0]):
        m = m if x[i] < m else x[i]
    return m * m


def spread(x):
    low = x[0]
    high = x[0]
    for i in range(x.shape[0]):
        if x[i] < low:
            low = x[i]
        elif x[i] > high:
            high = x[i]
    return (high - low) * high


def shifted(image, out):
    """Read in several loops behind the choice, one row at a time."""
    for y in range(image.shape[0]):
        top = image[y, 0]
        for x in range(1, image.shape[1]):
            if image[y, x] > top:
                top = image[y, x]
        total = 0.0
        for x in range(image.shape[1]):
            total += np.exp(image[y, x] - top)
        for x in range(image.shape[1]):
            out[y, x] = np.exp(image[y, x] - top) / total + top


def of_columns(image, out):
    for x in range(image.shape[1]):
        worst = image[0, x]
        for y in range(image.shape[0]):
            worst = min(worst, image[y, x])
        out[0, x] = worst * worst


def of_both_axes(image, out):
    for y in range(2):
        for x in range(3):
            best = image[2 * y, 2 * x]
            for j in range(2):
                for i in range(2):
                    if image[2 * y + j, 2 * x + i] > best:
                        best = image[2 * y + j, 2 * x + i]
            out[y, x] = best * best


def until_found(x):
    """The loop ends by what it has chosen."""
    m = x[0]
    i = 0
    while i < x.shape[0] and m < 2.5:
        if x[i] > m:
            m = x[i]
        i += 1
    return m * x[2]


def by_its_place(x, order):
    """Subscripts that are data."""
    m = x[order[0]]
    for k in range(order.shape[0]):
        if x[order[k]] > m:
            m = x[order[k]]
    return m * m


def of_an_array_made_before(x):
    y = np.empty(x.shape[0])
    for i in range(x.shape[0]):
        y[i] = x[i] * x[i] - x[i]
    m = y[0]
    for i in range(x.shape[0]):
        if y[i] > m:
            m = y[i]
    return m * x[1]


def counted_by_the_user(x):
    m = x[0]
    k = 0
    for i in range(x.shape[0]):
        if x[i] > m:
            m = x[i]
            k = i
    return m * x[k] + k


# Where a position would not do, or would ask for more than the tests did.


def of_an_array_that_changes(x):
    y = x.copy()
    m = y[0]
    for i in range(y.shape[0]):
        if y[i] > m:
            m = y[i]
        y[i] = 0.5 * y[i] * m
    return m * y[3]


def overwritten_behind(x):
    y = x.copy()
    m = y[0]
    for i in range(y.shape[0]):
        if y[i] > m:
            m = y[i]
    y[3] = m * m
    return m * y[3]


def so_far(x, out):
    """Each iteration uses what is chosen by then."""
    m = x[0]
    for i in range(x.shape[0]):
        if x[i] > m:
            m = x[i]
        out[i] = m * x[i]


def from_a_number(x):
    m = 0.5
    for i in range(x.shape[0]):
        if x[i] > m:
            m = x[i]
    return m * m


def of_two_arrays(x, y):
    m = x[0]
    for i in range(x.shape[0]):
        if y[i] > m:
            m = y[i]
    return m * m


def changed_and_chosen(x):
    m = x[0]
    for i in range(x.shape[0]):
        if x[i] > m:
            m = x[i]
        m = m * 0.99
    return m


def one_before(x):
    """Not chosen by a test: the element of the iteration before."""
    total = 0.0
    last = x[0]
    for i in range(1, x.shape[0]):
        total += x[i] * last
        last = x[i]
    return total


ROOM = np.zeros((4, 6))
TOLD: dict[Callable[..., Any], tuple[Any, ...]] = {
    least: (X,),
    by_max: (X,),
    by_max_turned: (X,),
    by_expression: (X,),
    by_expression_turned: (X,),
    spread: (X,),
    shifted: (IMAGE, ROOM),
    of_columns: (IMAGE, ROOM),
    of_both_axes: (IMAGE, ROOM),
    until_found: (X,),
    by_its_place: (X, np.array([3, 7, 1, 11, 4])),
    of_an_array_made_before: (X,),
    counted_by_the_user: (X,),
}
OTHERS: dict[Callable[..., Any], tuple[Any, ...]] = {
    of_an_array_that_changes: (X,),
    overwritten_behind: (X,),
    so_far: (X, np.zeros(12)),
    from_a_number: (X,),
    of_two_arrays: (X, X[::-1].copy()),
    changed_and_chosen: (X,),
    one_before: (X,),
}


def arguments(f: Callable[..., Any]) -> list[Any]:
    return [a.copy() for a in {**TOLD, **OTHERS}[f]]


@pytest.mark.parametrize("f", [*TOLD, *OTHERS], ids=lambda f: f.__name__)
def test_gradients_are_right(f: Callable[..., Any]) -> None:
    found = pyrev.differentiable(f, target="python")
    assert pyrev.check_grad(found, *arguments(f))


@pytest.mark.parametrize("f", TOLD, ids=lambda f: f.__name__)
def test_it_is_told_by_subscripts(f: Callable[..., Any]) -> None:
    text = pyrev.differentiable(f).adjoint.source
    assert "_tape" not in text and "reversed" not in text.partition("d_x")[2]


@pytest.mark.parametrize("f", OTHERS, ids=lambda f: f.__name__)
def test_it_is_itself(f: Callable[..., Any]) -> None:
    text = pyrev.differentiable(f).adjoint.source
    assert "m_at" not in text and "last_at" not in text


@pytest.mark.slow
@pytest.mark.parametrize("f", [least, by_max, by_max_turned, spread, shifted])
def test_the_text_can_be_differentiated_again(f: Callable[..., Any]) -> None:
    values = arguments(f)
    found = pyrev.differentiable(f, target="python")
    if f is shifted:
        values += [np.ones((4, 6))]
    else:
        values += [1.0]
    assert pyrev.check_grad(pyrev.differentiable(found.adjoint), *values)


@pytest.mark.slow
@pytest.mark.parametrize(
    "f",
    [least, by_max, by_max_turned, by_expression, by_expression_turned, spread],
    ids=lambda f: f.__name__,
)
def test_of_equal_elements_it_is_the_one_that_the_compiled_tests_choose(
    f: Callable[..., Any],
) -> None:
    x = np.array([0.7, 0.2, 0.9, 0.2, 0.9, 0.7])
    texts = pyrev.differentiable(f, target="python")
    tests = pyrev.differentiable(f, target="numba")
    np.testing.assert_array_equal(pyrev.grad(texts)(x).x, pyrev.grad(tests)(x).x)


@pytest.mark.parametrize("f", [least, by_max, by_max_turned], ids=lambda f: f.__name__)
@pytest.mark.parametrize("where", [0, 2, 5])
def test_nan_is_chosen_or_not_as_python_does(f: Callable[..., Any], where: int) -> None:
    x = np.array([0.7, 0.2, 0.9, 0.4, 0.8, 0.3])
    x[where] = np.nan
    texts = pyrev.differentiable(f, target="python")
    tests = pyrev.differentiable(f, target="numba")
    np.testing.assert_array_equal(pyrev.grad(texts)(x).x, pyrev.grad(tests)(x).x)
