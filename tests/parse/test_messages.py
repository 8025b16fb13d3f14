"""Exceptions whose messages have numbers of the run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyrev

X = np.array([0.3, 0.7, 0.2, 0.9])
TAG = "here"


def of_arguments(x, n):
    if n > x.shape[0]:
        raise ValueError(f"n = {n} is beyond {x.shape[0]} {{of}} {x.shape}")
    return np.sum(x[:n] ** 2)


def of_elements(x):
    s = 0.0
    for i in range(len(x)):
        if x[i] < 0:
            raise ValueError(f"x[{i}] = {x[i]:.3f} of {len(x)} is negative: {x[i]}")
        s += np.sqrt(x[i])
    return s


def of_local_numbers(x, t):
    n = 3
    n = n + len(x)
    s = 0.0
    for k in range(n):
        s += x[k % len(x)] * t
        if s > 2.0:
            raise ArithmeticError(
                "step " + str(k) + " of " + str(n) + ": " + str(s) + " " + TAG
            )
    return s


def _squared(v, i):
    if v < 0:
        raise IndexError("bad {} at {:d}".format(v, i))  # noqa: UP032
    return v * v


def of_a_helper(x):
    out = np.empty_like(x)
    for i in range(len(x)):
        out[i] = _squared(x[i], i)
    return out


def of_a_truth_value(x, flag):
    if flag and x[0] > 0.0:
        raise ValueError(f"flag is {flag}")
    return x[0]


def of_shapes(a, b):
    if a.shape != b.shape:
        raise ValueError(f"shapes {a.shape} and {b.shape} differ by {a.shape[0] - 1}")
    return np.sum(a * b)


CALLS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (of_arguments, (X, 7)),
    (of_arguments, (X, 2)),
    (of_elements, (X,)),
    (of_elements, (X - 0.25,)),
    (of_elements, ((X - 0.25).astype(np.float32),)),
    (of_local_numbers, (X, 1.0)),
    (of_local_numbers, (X, 0.01)),
    (of_local_numbers, (X, 3)),
    (of_a_helper, (X,)),
    (of_a_helper, (X - 0.5,)),
    (of_a_truth_value, (X, True)),
    (of_a_truth_value, (X, False)),
    (of_shapes, (np.ones((2, 3)), np.ones((2, 4)))),
]


def _outcome(run: Callable[..., Any], given: tuple[Any, ...]) -> tuple[Any, str]:
    try:
        run(*[g.copy() if isinstance(g, np.ndarray) else g for g in given])
    except (ValueError, ArithmeticError, IndexError) as error:
        return type(error), str(error)
    return None, ""


@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize("number", range(len(CALLS)))
def test_the_exception_is_that_of_cpython(number: int, target: str) -> None:
    plain, given = CALLS[number]
    f = pyrev.differentiable(plain, target=target)
    expected = _outcome(plain, given)
    assert _outcome(f, given) == expected
    assert _outcome(lambda *a: pyrev.vjp(f, *a), given) == expected


def test_the_exported_text_raises_it() -> None:
    namespace: dict[str, Any] = {}
    text = pyrev.differentiable(of_elements).primal.source_for("python", X)
    exec(text, namespace)
    assert _outcome(namespace["of_elements"], (-X,)) == _outcome(of_elements, (-X,))


@pytest.mark.parametrize("target", ["python", "numba"])
def test_the_first_iteration_that_raises_counts(target: str) -> None:
    n = 50_000
    x = np.ones(n)
    x[[17, 30, n - 2]] = -1.0
    f = pyrev.differentiable(of_elements, target=target)
    with pytest.raises(ValueError, match=r"x\[17\]"):
        pyrev.vjp(f, x)


def an_array(x):
    if x[0] < 0:
        raise ValueError(f"x is {x}")
    return x[0]


def an_element_that_is_not_tested(x, k):
    if k > 2:
        raise ValueError(f"x[k] is {x[k]}")
    return x[0]


def two_arguments(x, k):
    if k > 2:
        raise ValueError("k", k)
    return x[0]


def another_conversion(x, k):
    if k > 2:
        raise ValueError(f"{k!r}")
    return x[0]


@pytest.mark.parametrize(
    "plain",
    [an_array, an_element_that_is_not_tested, two_arguments, another_conversion],
)
def test_other_values_are_refused(plain: Any) -> None:
    with pytest.raises(pyrev.UnsupportedError) as caught:
        pyrev.differentiable(plain).adjoint.source  # noqa: B018
    assert {f.code for f in caught.value.findings} <= {"P102", "P201"}
