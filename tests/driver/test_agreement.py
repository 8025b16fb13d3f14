"""What runs is what CPython would run at each call, or the call is refused.

Texts, code, defaults, closures, helpers and captured values change behind a function
that was differentiated; every answer is compared with the plain function of that moment
and with differences of it.
"""

from __future__ import annotations

import importlib.util
import linecache
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import pytest

import pyrev
from pyrev.driver import readings
from pyrev.ir.diagnostics import ArgumentError, UnsupportedError
from tests.tools.sequences import agrees

X = np.array([0.5, 1.25, 2.0])
CELL = "<cell that runs again>"


def module(path: Path, text: str, name: str = "edited_by_a_test") -> ModuleType:
    """What a file with this text is when it is imported."""
    path.write_text(textwrap.dedent(text))
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def edit(path: Path, before: str, after: str) -> None:
    """Another text in the file, which the process does not import again."""
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after))


def cell(text: str, file: str = "") -> dict[str, Any]:
    """What a notebook cell with this text defines."""
    file = file or f"<cell {len(linecache.cache)} of a test>"
    text = textwrap.dedent(text).lstrip("\n")
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    names: dict[str, Any] = {"np": np}
    exec(compile(text, file, "exec", dont_inherit=True), names)
    return names


# -------------------------------------------------------------------- texts


NESTED = """
    import math

    def f(x):
        sq = lambda t: t * t
        def more(u, k=3.0):
            def most(v):
                return v * k
            return most(u)
        s = 0.0
        for i in range(x.shape[0]):
            s += sq(x[i]) + more(x[i])
        return s

    def make():
        alpha, beta = 2.0, 3.0
        def g(x):
            return alpha * x[0]
        def unused():
            return beta
        return g

    g = make()

    def named(x):
        return math.sin(x[0])

    both = (lambda x: x[0] * 2.0, lambda x: x[0] * 3.0)
"""


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("f", "t * t", "t * 5.0"),
        ("f", "t * t", "t + t"),
        ("f", "v * k", "v - k"),
        ("f", "lambda t: t * t", "lambda u: u * u"),
        ("f", "k=3.0", "k=3"),
        ("f", "k=3.0", "k=4.0"),
        ("f", "most(u)", "most (u)"),
        ("g", "return alpha * x", "return  beta * x"),
        ("g", "alpha, beta = 2.0, 3.0", "alpha, beta = 2.0, 3.0\n"),
        ("named", "math.sin", "math.cos"),
    ],
)
def test_a_text_whose_nested_functions_differ_is_refused(
    tmp_path: Path, name: str, before: str, after: str
) -> None:
    path = tmp_path / "edited.py"
    made = module(path, NESTED)
    edit(path, before, after)
    with pytest.raises(UnsupportedError, match="P114"):
        pyrev.grad(getattr(made, name))(X)


def test_what_stands_beside_a_function_may_be_edited(tmp_path: Path) -> None:
    path = tmp_path / "edited.py"
    made = module(path, NESTED)
    edit(path, "x[0] * 3.0", "x[0] * 5.0")
    assert agrees(made.f, X) and agrees(made.g, X)


def test_lambdas_of_one_line_are_told_apart_by_their_columns(tmp_path: Path) -> None:
    path = tmp_path / "edited.py"
    first, second = module(path, NESTED).both
    assert agrees(first, X) and agrees(second, X)
    edit(path, "2.0, lambda", "2.5, lambda")
    with pytest.raises(UnsupportedError, match="P114"):
        pyrev.grad(lambda x: first(x))(X)


def test_other_kinds_of_arguments_are_read_from_the_text_that_was_compiled(
    tmp_path: Path,
) -> None:
    path = tmp_path / "edited.py"
    made = module(path, "def f(u, v):\n    w = u * v\n    return np.sum(w * w)\n")
    made.__dict__["np"] = np
    f = pyrev.differentiable(made.f, target="python")
    assert agrees(f, X, 2.0 * X)
    edit(path, "u * v", "u + v")
    assert agrees(f, X.astype(np.float32), X.astype(np.float32))
    assert agrees(f, 2.0, 3.0)
    assert agrees(f, np.outer(X, X), np.outer(X, X))
    assert "u * v" in f.adjoint.source or "u[" in f.adjoint.source
    assert "u + v" not in f.primal.source


def test_a_helper_that_changed_does_not_need_the_file_of_its_caller(
    tmp_path: Path,
) -> None:
    path = tmp_path / "edited.py"
    made = module(path, "def h(t):\n    return t\n\ndef f(x):\n    return h(x) * x\n")
    f = pyrev.differentiable(made.f, target="python")
    assert agrees(f, 3.0)
    edit(path, "h(x) * x", "h(x) + x")
    made.h = cell("def h(t):\n    return 5.0 * t\n")["h"]
    assert agrees(f, 3.0)
    assert f(3.0) == 45.0


def test_a_reloaded_module_gives_its_new_text(tmp_path: Path) -> None:
    path = tmp_path / "edited.py"
    made = module(path, "def f(x):\n    return x * x\n")
    old = pyrev.differentiable(made.f, target="python")
    assert agrees(old, 3.0)
    made = module(path, "def f(x):\n    return x * x * x\n")
    assert agrees(made.f, 3.0)
    assert pyrev.grad(made.f)(3.0).x == pytest.approx(27.0)
    assert agrees(old, 3.0)  # the old function is what it was
    assert old(3.0) == 9.0


def test_a_cell_that_ran_again_gives_its_new_text() -> None:
    first = cell("def f(x):\n    return x * x\n", CELL)["f"]
    first = pyrev.differentiable(first, target="python")
    assert agrees(first, 3.0)
    second = cell("def f(x):\n    return x + x\n", CELL)["f"]
    assert agrees(second, 3.0) and pyrev.grad(second)(3.0).x == 2.0
    assert agrees(first, 3.0)
    third = cell("def f(x):\n    return x - x\n", CELL)["f"]
    cell("def f(x):\n    return x / x\n", CELL)
    with pytest.raises(UnsupportedError, match="P114"):
        pyrev.grad(third)(3.0)


def test_futures_of_another_cell_change_no_agreement() -> None:
    text = "def f(x):\n    def h(t: float) -> float:\n        return t * t\n"
    text += "    return h(x)\n"
    file = "<cell with futures>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    import __future__

    names: dict[str, Any] = {}
    flags = __future__.annotations.compiler_flag
    exec(compile(text, file, "exec", flags=flags, dont_inherit=True), names)
    assert agrees(names["f"], 3.0)


# -------------------------------------------------------------------- function objects


def loss(x):
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i] ** 2
    return s


def other_loss(x):
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i] ** 3
    return s


def scaled(x, k=2.0, *, shift=1.0):
    return k * x * x + shift * x


def uses(x):
    return scaled(x) * x


def uses_twice(x):
    return uses(x) + x


def other(x, k, *, shift):
    return x * x * x - k * shift * x


def fresh(f: Callable[..., Any], **names: Any) -> FunctionType:
    """A copy of a function, to be changed, in a module of its own."""
    assert isinstance(f, FunctionType)
    made = FunctionType(
        f.__code__, {**f.__globals__, **names}, f.__name__, f.__defaults__
    )
    made.__kwdefaults__ = dict(f.__kwdefaults__) if f.__kwdefaults__ else None
    return made


def chained() -> tuple[FunctionType, FunctionType]:
    """`scaled`, and a function that calls it by way of another one."""
    inner = fresh(scaled)
    return inner, fresh(uses_twice, uses=fresh(uses, scaled=inner))


CHANGES: dict[str, Callable[[FunctionType], None]] = {
    "code": lambda f: setattr(f, "__code__", other.__code__),
    "defaults": lambda f: setattr(f, "__defaults__", (5.0,)),
    "an integer by default": lambda f: setattr(f, "__defaults__", (2,)),
    "kwdefaults": lambda f: setattr(f, "__kwdefaults__", {"shift": 3.0}),
    "kwdefaults in place": lambda f: f.__kwdefaults__.update(shift=-4.0),  # type: ignore[union-attr]
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("target", ["python", "numba"])
def test_a_function_that_changed_is_used_as_it_is(change: str, target: str) -> None:
    f = fresh(scaled)
    g = pyrev.differentiable(f, target=target)
    assert agrees(g, 1.5)
    CHANGES[change](f)
    assert agrees(g, 1.5) and agrees(f, 1.5)
    assert agrees(g, 1.5, 0.5, shift=2.0)


@pytest.mark.parametrize("change", CHANGES)
def test_a_helper_that_changed_is_used_as_it_is(change: str) -> None:
    inner, f = chained()
    g = pyrev.differentiable(f, target="python")
    gradient, adjoint = pyrev.grad(f), g.adjoint
    assert agrees(g, 1.5)
    before = adjoint(1.5, 1.0)
    CHANGES[change](inner)
    assert agrees(g, 1.5)
    expected = pyrev.grad(lambda x: f(x))(1.5).x
    assert gradient(1.5).x == expected
    assert adjoint(1.5, 1.0) == (expected,)
    assert change.startswith("an integer") or before != (expected,)


def test_code_that_was_replaced_has_its_own_parameters() -> None:
    f = fresh(scaled)
    g = pyrev.differentiable(f, target="python")
    assert agrees(g, 1.5)
    f.__code__, f.__defaults__ = loss.__code__, None
    assert agrees(g, X)
    with pytest.raises(ArgumentError, match="too many positional"):
        g(X, 2.0)
    f.__code__ = other_loss.__code__
    assert agrees(g, X)
    value, gradient = pyrev.value_and_grad(f)(X)
    assert value == other_loss(X)
    assert gradient.x == pytest.approx(3 * X * X)


def test_a_default_that_was_added_in_place_is_taken() -> None:
    f = fresh(scaled)
    f.__kwdefaults__ = {}
    g = pyrev.differentiable(f, target="python")
    with pytest.raises(ArgumentError, match="missing"):
        g(1.5)
    f.__kwdefaults__["shift"] = 2.0
    assert agrees(g, 1.5)


def test_a_pullback_belongs_to_the_function_that_ran() -> None:
    inner, f = chained()
    for target in ("python", "numba"):
        g = pyrev.differentiable(f, target=target)
        _, pullback = pyrev.vjp(g, 1.5)
        expected = pullback(1.0).x
        inner.__defaults__ = (inner.__defaults__[0] + 1.0,)  # type: ignore[index]
        assert pullback(1.0).x == expected
        assert pyrev.grad(g)(1.5).x != expected


def test_a_method_of_a_namespace_that_was_replaced_is_used() -> None:
    space = ModuleType("space_of_a_test")
    space.h = cell("def h(t): return t * t")["h"]  # type: ignore[attr-defined]
    names = cell("def f(x): return space.h(x) * space.k")
    names["space"], space.k = space, 2.0  # type: ignore[attr-defined]
    f = pyrev.differentiable(names["f"], target="python")
    assert agrees(f, 3.0)
    space.h = cell("def h(t): return t * t * t")["h"]  # type: ignore[attr-defined]
    assert agrees(f, 3.0)
    space.k = 3  # type: ignore[attr-defined]
    assert agrees(f, 3.0)
    another = ModuleType("another")
    another.h, another.k = np.sin, np.int16(2)  # type: ignore[attr-defined]
    names["space"] = another
    assert agrees(f, 3.0)


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("def f(x): return abs(x) * x", "abs", "def h(t): return t * t"),
        ("def f(x): return np.exp(x) * x", "np", ModuleType("np")),
        ("def f(x): return math.pi * x", "math", ModuleType("math")),
        ("def f(x):\n for i in range(3): x = x * x\n return x", "range", lambda n: [1]),
        ("def f(x):\n y = np.zeros(2, dt)\n y[0] = x\n return y[0]", "dt", np.float32),
    ],
)
def test_a_name_of_the_language_that_was_rebound_is_what_it_is(
    text: str, name: str, value: Any
) -> None:
    import math

    names = cell(text)
    names |= {"math": math, "dt": np.float64}
    f = pyrev.differentiable(names["f"], target="python")
    assert agrees(f, 1.5)
    if isinstance(value, str):
        value = cell(value)["h"]
    if isinstance(value, ModuleType):
        value.exp = cell("def h(t): return t * t")["h"]  # type: ignore[attr-defined]
        value.pi = 3.0  # type: ignore[attr-defined]
    names[name] = value
    try:
        assert agrees(f, 1.5, step=1e-2 if name == "dt" else None)
    except UnsupportedError:
        assert name == "range"


def test_a_variable_around_a_function_is_what_it_is() -> None:
    def double(t):
        return 2.0 * t

    def triple(t):
        return 3.0 * t

    def make():
        helper, factor, table = double, 2, X

        def f(x):
            return helper(x) * factor * table[1]

        def put(**named):
            nonlocal helper, factor, table
            helper = named.get("helper", helper)
            factor = named.get("factor", factor)
            table = named.get("table", table)

        return f, put

    plain, put = make()
    f = pyrev.differentiable(plain, target="python")
    for named in (
        {"helper": triple},
        {"factor": 2.5},
        {"factor": 3},
        {"factor": np.float64(0.5)},
        {"table": np.arange(3)},
        {"table": np.arange(4.0) ** 2},
        {"helper": double, "factor": True},
        {"helper": pyrev.differentiable(triple)},
        {"helper": np.sin},
    ):
        put(**named)
        assert agrees(f, 1.5), named
    put(helper=lambda t, u: t)
    with pytest.raises(UnsupportedError, match="needs `u`"):
        f(1.5)
    put(helper=double)
    assert agrees(f, 1.5)


def test_a_captured_number_may_become_a_number_of_another_type() -> None:
    names = cell("def f(x): return x * C // 1 + x * C")
    for target in ("python", "numba"):
        names["C"] = 2
        f = pyrev.differentiable(names["f"], target=target)
        for value in (2, 2.5, 3, True, np.float32(1.5), np.int8(3), np.float64(2.0)):
            names["C"] = value
            step = 1e-2 if isinstance(value, np.float32) else None
            assert agrees(f, 1.3, step=step), (target, value)


def test_a_captured_value_that_is_none_any_more_is_refused() -> None:
    names = cell("def f(x): return x * C")
    names["C"] = 2.0
    f = pyrev.differentiable(names["f"], target="python")
    assert agrees(f, 1.5)
    for value in ("two", None, np.sin, [1.0]):
        names["C"] = value
        with pytest.raises(UnsupportedError, match="P113"):
            f(1.5)
    del names["C"]
    with pytest.raises(UnsupportedError, match="`C` is not defined"):
        pyrev.grad(f)(1.5)
    names["C"] = 3.0
    assert agrees(f, 1.5)


def test_numbas_functions_are_followed() -> None:
    numba = pytest.importorskip("numba")
    names = cell("def f(x): return h(x) * x")
    names["h"] = numba.njit(cell("def h(t): return t * t")["h"])
    f = pyrev.differentiable(names["f"], target="python")
    assert agrees(f, 1.5)
    names["h"] = numba.njit(cell("def h(t): return t + t")["h"])
    assert agrees(f, 1.5)


def test_derivatives_of_all_kinds_follow_a_helper_that_changed() -> None:
    names = cell(
        """
        def f(x, y):
            for i in range(x.shape[0]):
                y[i] = h(x, i)
        def total(x):
            s = 0.0
            for i in range(x.shape[0]):
                s += h(x, i) ** 2
            return s
        """
    )
    one = cell("def h(x, i): return x[i] * x[i]")["h"]
    two = cell("def h(x, i): return x[i] * x[(i + 1) % x.shape[0]]")["h"]
    names["h"] = one
    f = pyrev.differentiable(names["f"], target="python")
    total = pyrev.differentiable(names["total"], target="python")
    made = (
        pyrev.jacobian(f, wrt="x"),
        pyrev.jacobian(f, wrt="x", sparse=True),
        pyrev.hessian(total, wrt="x"),
        pyrev.hessian(total, wrt="x", sparse=True),
    )
    for helper in (one, two, one):
        names["h"] = helper
        fresh_f = pyrev.differentiable(fresh(names["f"], h=helper), target="python")
        other = pyrev.differentiable(fresh(names["total"], h=helper), target="python")
        afresh = (
            pyrev.jacobian(fresh_f, wrt="x"),
            pyrev.jacobian(fresh_f, wrt="x", sparse=True),
            pyrev.hessian(other, wrt="x"),
            pyrev.hessian(other, wrt="x", sparse=True),
        )
        y = np.zeros(3)
        for k, (held, new) in enumerate(zip(made, afresh, strict=True)):
            given = (X, y) if k < 2 else (X,)
            found, expected = held(*given), new(*given)
            if k % 2:
                found, expected = found.toarray(), expected.toarray()
            assert np.array_equal(found, expected), k
        v = np.ones(3)
        assert np.array_equal(
            pyrev.hvp(total, X, tangents={"x": v}).x,
            pyrev.hvp(other, X, tangents={"x": v}).x,
        )


def test_a_rule_is_compared_again_when_what_it_belongs_to_has_changed() -> None:
    def rule(a, r, dr):
        return dr * 2.0 * a

    @pyrev.custom_vjp(rule)
    def square(a):
        return a * a

    def f(x):
        return square(x) * x

    g = pyrev.differentiable(f, target="python")
    assert agrees(g, 1.5)
    square.__code__ = cell("def square(a): return a * a * a")["square"].__code__
    for _ in range(3):
        with pytest.raises(ArgumentError, match="is not the derivative"):
            pyrev.grad(g)(1.5)


# -------------------------------------------------------------------- readings


def test_what_is_changed_back_is_not_read_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    inner, f = chained()
    g = pyrev.differentiable(f, target="python")
    assert agrees(g, 1.5)
    first = inner.__code__
    CHANGES["code"](inner)
    second = inner.__code__
    assert agrees(g, 1.5)
    monkeypatch.setattr(readings, "parse", None)
    for code in (first, second, first):
        inner.__code__ = code
        assert agrees(g, 1.5)


def test_what_is_another_object_at_each_look_is_refused() -> None:
    space = ModuleType("space_of_a_test")
    made = cell("def h(t): return t * t")["h"]
    space.__getattr__ = lambda name: fresh(made)  # type: ignore[method-assign]
    names = cell("def f(x): return space.h(x)")
    names["space"] = space
    f = pyrev.differentiable(names["f"], target="python")
    with pytest.raises(UnsupportedError, match="each time that it is looked at"):
        f(1.5)


@pytest.fixture(autouse=True)
def _no_cells_are_left() -> Iterator[None]:
    known = set(linecache.cache)
    yield
    for file in set(linecache.cache) - known:
        del linecache.cache[file]
    sys.modules.pop("edited_by_a_test", None)
