"""Numba resolves an operation of given types once, and only while ours compiles."""

import math
import subprocess
import sys
from collections import Counter
from typing import Any

import numba
import numpy as np
import pytest
from numba.core import analysis, ssa, untyped_passes
from numba.core.codegen import JITCodeLibrary
from numba.core.types.functions import BaseFunction

from pyrev.runtime import code_cache, compiler
from pyrev.runtime.code_cache import load

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


@pytest.mark.slow
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


def test_a_numba_that_was_not_tested_is_left_as_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(code_cache, "TESTED_NUMBA", "0.999")
    f = load(TEXT, "untested").f
    assert f._compiler.pipeline_class is compiler.Compiler
    x, k = np.linspace(0.1, 0.9, 7), 3
    np.testing.assert_allclose(f(x, x + 1, k), plain(x, x + 1, k), rtol=1e-14)


NESTED = """
import numpy as np
from numba import njit, prange

SERIAL = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


@njit(**SERIAL)
def row(x, i):
    made = np.empty(x.shape[1])
    for j in range(x.shape[1]):
        made[j] = x[i, j] * x[i, j]
    return made.sum()


@njit(parallel=True, **SERIAL)
def rows(x, out):
    for i in prange(x.shape[0]):
        out[i] = row(x, i)


@njit(cache=True)
def f(x, out):
    rows(x, out)
    return row(x, 0)
"""


@pytest.mark.slow
def test_what_only_others_call_is_not_made_machine_code(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[str] = []
    finish = JITCodeLibrary._finalize_specific

    def noted(self: Any) -> None:
        made.append(self.name.rpartition(".")[-1])
        finish(self)  # type: ignore[no-untyped-call]

    monkeypatch.setattr(JITCodeLibrary, "_finalize_specific", noted)
    f = load(NESTED, "nested").f
    x, out = np.arange(6.0).reshape(3, 2), np.zeros(3)
    assert f(x, out) == 1.0
    np.testing.assert_array_equal(out, [1.0, 13.0, 41.0])
    assert "f" in made and not {"row", "rows"} & set(made)
    # Machine code on disk is whole: it is all that the next process has.
    code = f"""
import numpy as np
from pyrev.runtime.code_cache import load
f = load({NESTED!r}, "nested").f
out = np.zeros(3)
assert f(np.arange(6.0).reshape(3, 2), out) == 1.0 and out[2] == 41.0
assert f.stats.cache_hits and not f.stats.cache_misses
"""
    subprocess.run([sys.executable, "-c", code], check=True)


LEVELS = f"""
from numba import njit

SERIAL = {{"no_cpython_wrapper": True, "no_cfunc_wrapper": True}}


@njit(**SERIAL)
def low(x, i):
    return x[i] * 2.0


@njit(**SERIAL)
def middle(x, out):
    for i in range(x.shape[0]):
        out[i] += low(x, i)


@njit(**SERIAL)
def high(x, out):
    for k in range(3):
        middle(x, out)
    for i in range(1, x.shape[0]):
        {"; ".join(f"out[i] -= x[i - 1] * {k}.0" for k in range(40))}


@njit(cache=True)
def f(x, out):
    high(x, out)
    return x[0]
"""


def test_a_function_is_optimised_once_with_short_ones_in_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: dict[str, str] = {}
    optimise = JITCodeLibrary._optimize_final_module

    def noted(self: Any) -> None:
        optimise(self)  # type: ignore[no-untyped-call]
        name = self.name.rpartition(".")[-1]
        assert name not in made
        made[name] = str(self._final_module)

    monkeypatch.setattr(JITCodeLibrary, "_optimize_final_module", noted)
    x, out = np.arange(5.0), np.zeros(5)
    assert load(LEVELS, "levels").f(x, out) == 0.0
    np.testing.assert_array_equal(out[1:], x[1:] * 6.0 - x[:-1] * 780.0)
    made.pop("nrt", None)  # Numba's own, at the first use
    assert {*made} == {"low", "middle", "high", "f"}
    assert "3low" not in calls(made["middle"])
    # Numba would have it there, to optimise it again.
    assert "4high" in calls(made["f"])
    assert "4high" not in "".join(lines(made["f"], "define"))


def lines(text: str, word: str) -> list[str]:
    return [line for line in text.splitlines() if f"{word} " in line]


def calls(text: str) -> str:
    return "".join(lines(text, " call"))


def test_memory_that_is_missing_in_a_linked_function_is_an_error() -> None:
    f = load(NESTED.replace("np.empty(x.shape[1])", "np.empty(1 << 62)"), "big").f
    with pytest.raises((MemoryError, ValueError)):
        f(np.ones((1, 2)), np.ones(1))


LONG = """
from numba import njit, prange


@njit
def f(x, out, n):
    total = 0.0
    k = 0
    while k < n:
        a = x[k] if x[k] > 0.5 else -x[k]
        if a > 0.7:
            b = a * 2.0
            total += b
        elif a > 0.6:
            b = a
        else:
            b = total if k > 3 else 0.0
        for j in range(k):
            if j == 5:
                break
            b += x[j] if j < 4 else a
            total = total + b if b > 0.0 else total
        out[k] = b
        k += 1
    return total


@njit(parallel=True)
def g(x, out):
    for i in prange(x.shape[0]):
        a = x[i] if x[i] > 0.5 else 0.0
        for j in range(3):
            a = a + x[j] if a < 2.0 else a
        out[i] = a
"""


def test_what_is_found_of_variables_is_what_numba_finds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found: list[bool] = []
    theirs = analysis.compute_live_map

    def both(*args: Any) -> Any:
        mine = compiler._live_map(*args)
        found.append(mine == theirs(*args))
        return mine

    instead = [
        (m, n, both if n == "compute_live_map" else f) for m, n, f in compiler._INSTEAD
    ]
    monkeypatch.setattr(compiler, "_INSTEAD", tuple(instead))
    module = load(LONG, "long")
    rng = np.random.default_rng(0)
    x = rng.random(12)
    mine, own, plain = np.zeros(12), np.zeros(12), np.zeros(12)
    total = module.f(x, mine, 12)
    assert total == module.f.py_func(x, own, 12)
    np.testing.assert_array_equal(mine, own)
    module.g(x, mine)
    module.g.py_func(x, plain)
    np.testing.assert_array_equal(mine, plain)
    assert found
    assert all(found)


def test_variables_get_the_names_that_numba_gives_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The blocks that are left as they are do not mention the variable."""

    def texts(ours: bool) -> list[str]:
        made: list[str] = []
        real = ssa.reconstruct_ssa

        def noted(func_ir: Any) -> Any:
            real(func_ir)
            for label, block in func_ir.blocks.items():
                made.append(f"{label}: " + "; ".join(map(str, block.body)))
            return func_ir

        with monkeypatch.context() as patched:
            patched.setattr(untyped_passes, "reconstruct_ssa", noted)
            if not ours:
                patched.setattr(compiler, "_INSTEAD", ())
            namespace: dict[str, Any] = {}
            exec(LONG, namespace)
            for name in "f", "g":
                compiler.remember(namespace[name])
            x = np.linspace(0.1, 0.9, 12)
            namespace["f"](x, np.zeros(12), 12)
            namespace["g"](x, np.zeros(12))
        return made

    numbas = texts(False)
    assert len(numbas) > 20
    assert texts(True) == numbas
