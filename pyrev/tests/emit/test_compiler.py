"""Numba resolves an operation of given types once, and only while ours compiles."""

import math
from collections import Counter
from typing import Any

import numba
import numpy as np
import pytest
from numba.core.types.functions import BaseFunction

from pyrev.emit import compiler
from pyrev.emit.load import load

TEXT = """
import math

from numba import njit, prange


@njit
def inner(x):
    return math.sin(x) * x * 2.0 + x * 2


@njit(parallel=True)
def f(x, out, k):
    for i in prange(x.shape[0]):
        out[i] += x[i] * x[i] * k * inner(x[i]) + x[i] * x[i]
    return out
"""


def plain(x: Any, out: Any, k: int) -> Any:
    for i in range(x.shape[0]):
        inner = math.sin(x[i]) * x[i] * 2.0 + x[i] * 2
        out[i] += x[i] * x[i] * k * inner + x[i] * x[i]
    return out


def test_an_operation_is_resolved_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: Counter[Any] = Counter()
    resolve = BaseFunction.get_call_type

    def noted(self: Any, context: Any, args: Any, kws: Any) -> Any:
        if all(isinstance(a, numba.types.Number) for a in args):
            asked[self.typing_key, tuple(args)] += 1
        return resolve(self, context, args, kws)

    monkeypatch.setattr(BaseFunction, "get_call_type", noted)
    f = load(TEXT, "once").f
    x, k = np.linspace(0.1, 0.9, 7), 3
    np.testing.assert_allclose(f(x, x + 1, k), plain(x, x + 1, k), rtol=1e-14)
    f32 = x.astype(np.float32)
    np.testing.assert_allclose(f(f32, x + 1, k), plain(f32, x + 1, k), rtol=1e-6)
    products = {k: v for k, v in asked.items() if "mul" in str(k[0])}
    # Once for each of the two compilations.
    assert len(products) >= 4 and max(products.values()) <= 2, products


def test_numba_is_as_before_after_an_error() -> None:
    before = BaseFunction.get_call_type
    bad = load(TEXT.replace("math.sin(x) * x", "math.sin(x) * 'a'"), "bad").f
    with pytest.raises(numba.TypingError):
        bad(np.ones(3), np.ones(3), 2)
    assert BaseFunction.get_call_type is before


def test_functions_of_others_are_left_alone() -> None:
    own = numba.njit(lambda x: x * x)
    module = load(TEXT, "once")
    assert own._compiler.pipeline_class is compiler.Compiler
    assert module.f._compiler.pipeline_class is compiler.Remembering
    assert own(3.0) == 9.0
