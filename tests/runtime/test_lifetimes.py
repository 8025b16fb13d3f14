"""What is made of a function is freed with it, in a process that runs for long."""

from __future__ import annotations

import functools
import gc
import linecache
import pickle
import sys
import textwrap
import weakref
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import pyrev
from pyrev.api.differentiable import Differentiable, as_differentiable
from pyrev.driver import plan, readings
from pyrev.runtime import code_cache as loading
from pyrev.runtime import error_boundary

X = np.array([0.5, 1.25, 2.0])


def by_grad(f: Callable[..., Any]) -> object:
    return pyrev.grad(f)(X)


def by_value_and_grad(f: Callable[..., Any]) -> object:
    return pyrev.value_and_grad(f)(X)


def by_vjp(f: Callable[..., Any]) -> object:
    return pyrev.vjp(f, X)[1](1.0)


def by_jvp(f: Callable[..., Any]) -> object:
    return pyrev.jvp(f, X, tangents={"x": X})


def by_hessian(f: Callable[..., Any]) -> object:
    return pyrev.hessian(f)(X)


def by_jacobian(f: Callable[..., Any]) -> object:
    return pyrev.jacobian(f)(X)


def by_second_order(f: Callable[..., Any]) -> object:
    return pyrev.grad(pyrev.differentiable(f, target="python").adjoint, wrt="x")


def by_decoration(f: Callable[..., Any]) -> object:
    made = pyrev.differentiable(f, target="python")
    return made(X), pyrev.grad(made)(X), made.adjoint(X, 1.0), made.explain()


WAYS = (
    by_decoration,
    by_grad,
    by_hessian,
    by_jacobian,
    by_jvp,
    by_second_order,
    by_value_and_grad,
    by_vjp,
)


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_what_was_made_of_a_lambda_is_freed_with_it(way: Callable[..., Any]) -> None:
    def make(k: float) -> Callable[..., Any]:
        return lambda x: np.sum(x * x) * k

    functions, made = [], []
    for k in range(3):
        f = make(float(k))
        way(f)
        kept = vars(f).get("__pyrev_kept__")
        functions.append(weakref.ref(f))
        made += [weakref.ref(one) for one in (kept.made.values() if kept else ())]
        del f, kept
    gc.collect()
    assert [r() for r in (*functions, *made)] == [None] * (len(functions) + len(made))


def test_of_many_decorated_lambdas_the_last_hundred_live_at_most() -> None:
    alive: weakref.WeakSet[Any] = weakref.WeakSet()
    most = 0
    for k in range(300):
        f = pyrev.differentiable(lambda x, k=k: x * x * k, target="python")
        if k % 3 == 0:
            assert pyrev.grad(f)(2.0, 3.0).x == 12.0
        alive |= {f, f.python}
        most = max(most, len(alive))
    del f
    gc.collect()
    assert most <= 2 * 100
    assert not alive


def test_what_is_made_of_a_plain_function_is_made_once() -> None:
    def f(x):  # type: ignore[no-untyped-def]
        return x * x

    assert as_differentiable(f) is as_differentiable(f)
    numba = pytest.importorskip("numba")
    assert as_differentiable(numba.njit(f)) is as_differentiable(f)


def test_a_copy_of_what_a_function_holds_is_not_taken_for_its_own() -> None:
    def f(x):  # type: ignore[no-untyped-def]
        return x * x

    pyrev.grad(f)(2.0)

    @functools.wraps(f)
    def wrapper(x):  # type: ignore[no-untyped-def]
        return f(x) * 3.0

    assert pyrev.grad(wrapper)(2.0).x == 12.0
    other = FunctionType((lambda x: x + x).__code__, {})
    vars(other).update(vars(f))
    assert pickle.loads(pickle.dumps(vars(other)))["__pyrev_kept__"] is None
    assert pyrev.grad(other)(2.0).x == 2.0


def of_text(k: int) -> Callable[..., Any]:
    """A function unlike any other."""
    text = textwrap.dedent(
        f"""
        def one_of_many(x):
            total = {k}.0
            for i in range(x.shape[0]):
                total += x[i] * x[i] * {k}.5
            return total
        """
    )
    file = f"<one of many {k}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    names: dict[str, Any] = {}
    exec(compile(text, file, "exec", dont_inherit=True), names)
    made: Callable[..., Any] = names["one_of_many"]
    return made


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> int:
    """How many things of a kind are kept, in place of hundreds."""
    for module in (plan, readings):
        monkeypatch.setattr(module, "_MOST", 3)
    return 3


def alive(kind: type) -> int:
    gc.collect()
    # `isinstance` asks a weak proxy for the class of what may be gone.
    return sum(issubclass(type(o), kind) for o in gc.get_objects())


def test_of_a_helper_that_changes_for_ever_the_last_readings_live() -> None:
    def powered(x):  # type: ignore[no-untyped-def]
        return np.sum(x * x) * helper(x[0])  # noqa: F821

    names = {"np": np, "helper": None}
    f = FunctionType(powered.__code__, names)
    g: Differentiable | None = None
    before = alive(readings.Reading)
    for k in range(12):
        names["helper"] = FunctionType((lambda t: t * t).__code__, {})
        g = g or pyrev.differentiable(f, target="python")
        assert pyrev.grad(g)(X).x[1] == 2 * X[1] * X[0] ** 2, k
    assert alive(readings.Reading) - before <= readings._KEPT


def test_of_calls_of_ever_other_sizes_the_last_plans_live(few: int) -> None:
    def total(x):  # type: ignore[no-untyped-def]
        return np.sum(x * x)

    g = pyrev.differentiable(total, target="python")
    before = alive(plan.Plan)
    for n in range(1, 12):
        assert pyrev.grad(g)(np.ones(n)).x.shape == (n,)
    assert alive(plan.Plan) - before <= few


def test_of_matrices_of_ever_other_sizes_the_last_patterns_live(few: int) -> None:
    def shifted(x, out):  # type: ignore[no-untyped-def]
        for i in range(1, x.shape[0]):
            out[i] = x[i - 1] * x[i]

    g = pyrev.differentiable(shifted, target="python")
    jacobian = pyrev.jacobian(g, wrt="x", sparse=True)
    for n in range(2, 12):
        assert jacobian(np.ones(n), np.zeros(n)).nnz == 2 * (n - 1)
    reading, _ = g._readings.now()
    assert 0 < len(reading._derived) <= few


def generated() -> int:
    return sum(name.startswith("_pyrev_one_of_many") for name in sys.modules)


def test_generated_modules_are_forgotten_with_what_runs_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(loading, "_MOST", 4)
    functions = [pyrev.differentiable(of_text(k), target="python") for k in range(12)]
    for f in functions:
        pyrev.grad(f)(X)
    assert generated() == 12  # each is still to be run
    first = functions[0]
    expected = pyrev.grad(first)(X).x
    del functions, f
    gc.collect()
    assert generated() <= 5
    assert np.array_equal(pyrev.grad(first)(X).x, expected)
    del first
    gc.collect()
    assert generated() <= 4
    assert sum("one_of_many" in file for file in error_boundary.generated) <= 4
    for k in range(12):
        linecache.cache.pop(f"<one of many {k}>", None)


@pytest.mark.slow
def test_compiled_code_is_forgotten_with_its_module(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("numba")
    from numba.core.dispatcher import Dispatcher

    def compiled() -> int:
        gc.collect()
        found = [o for o in gc.get_objects() if issubclass(type(o), Dispatcher)]
        return sum("one_of_many" in o.py_func.__name__ for o in found)

    monkeypatch.setattr(loading, "_MOST", 1)
    for k in range(3):
        f: Differentiable = pyrev.differentiable(of_text(100 + k), target="numba")
        assert np.allclose(pyrev.grad(f)(X).x, 2 * (100.5 + k) * X)
    several = compiled()
    assert several
    del f
    each = compiled()
    loading._RECENT.clear()
    assert compiled() == 0
    assert each <= several
    assert not [f for f in linecache.cache if "one_of_many_adjoint" in f]
