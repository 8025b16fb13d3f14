"""No exception leaves pyrev that is not its own, or the user's function's."""

from __future__ import annotations

import copy
import importlib.util
import pickle
import re
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import pyrev
import pyrev.scipy
from pyrev.__main__ import main
from pyrev.runtime import error_boundary
from tests.analysis.test_random_subscripts import function_of
from tests.tools.misuse import misuses

TARGETS = ("python", "numba")


def doubled(x):  # type: ignore[no-untyped-def]
    return x * 2


def itself(x):  # type: ignore[no-untyped-def]
    return x


def sines(x):  # type: ignore[no-untyped-def]
    return np.sin(x)


def part(x):  # type: ignore[no-untyped-def]
    return x[1:]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("function", [doubled, itself, sines, part])
def test_a_gradient_of_an_array_names_vjp_and_sum(
    function: Callable[..., Any], target: str
) -> None:
    f = pyrev.differentiable(function, target=target)
    x = np.ones(4)
    calls = {
        "grad": lambda: pyrev.grad(f, wrt="x")(x),
        "value_and_grad": lambda: pyrev.value_and_grad(f)(x),
        "hessian": lambda: pyrev.hessian(f, wrt="x")(x),
        "hvp": lambda: pyrev.hvp(f, x, tangents={"x": x}),
    }
    for call in calls.values():
        with pytest.raises(pyrev.ArgumentError, match=r"an array.*np\.sum.*pyrev\.vjp"):
            call()
    with pytest.raises(pyrev.ArgumentError, match="returns an array"):
        pyrev.scipy.objective(f, x, wrt="x")
    # With a cotangent, and as a number, there is a derivative.
    assert pyrev.vjp(f, x)[1](np.ones(f.python(x).shape)).x.shape == x.shape
    if function is not part:
        moved = (function(0.3 + 1e-6) - function(0.3 - 1e-6)) / 2e-6
        assert abs(pyrev.grad(f)(0.3).x - moved) < 1e-8


@pytest.mark.parametrize("target", TARGETS)
def test_a_sum_that_is_used_as_an_integer_is_one(target: str) -> None:
    def shifted(w, bits, x):  # type: ignore[no-untyped-def]
        s = np.sum(bits)
        t = 0.0
        for i in range(w.shape[0]):
            t += (w[i] >> s) * x[i] * x[i]
        return t

    f = pyrev.differentiable(shifted, target=target)
    w, bits, x = np.array([5, 9, 33]), np.array([1, 1]), np.array([1.0, 2.0, 3.0])
    assert f(w, bits, x) == shifted(w, bits, x)
    gradient = pyrev.grad(f, wrt="x")(w, bits, x)
    for k in range(3):
        moved = x.astype(complex)
        moved[k] += 1e-30j
        assert abs(shifted(w, bits, moved).imag / 1e-30 - gradient[k]) < 1e-12
    with pytest.raises(pyrev.ArgumentError, match="`bits`.*float64"):
        f(w, bits * 1.0, x)


def rule(a, r, d_r):  # type: ignore[no-untyped-def]
    return d_r / (2 * r)


@pyrev.custom_vjp(rule)
def root(a):  # type: ignore[no-untyped-def]
    return a**0.5


@pytest.mark.parametrize("target", TARGETS)
def test_a_rule_at_its_pole_is_infinite(target: str) -> None:
    f = pyrev.differentiable(lambda x: root(x), target=target)
    assert pyrev.grad(f)(0.0).x == np.inf
    assert pyrev.grad(f)(4.0).x == 0.25


scale: Any = 2


@pytest.mark.parametrize("target", TARGETS)
def test_a_captured_integer_may_become_a_float(
    target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def floors(x):  # type: ignore[no-untyped-def]
        return x * scale // 1 + x * scale

    f = pyrev.differentiable(floors, target=target)
    for value in (2, 2.5, 3, np.float32(0.5)):
        monkeypatch.setattr(sys.modules[__name__], "scale", value)
        assert f(1.5) == floors(1.5)
        assert pyrev.grad(f)(1.5).x == float(value)
    monkeypatch.delattr(sys.modules[__name__], "scale")
    with pytest.raises(pyrev.UnsupportedError, match="`scale` is not defined"):
        f(1.5)


@pyrev.differentiable
def at_the_top(x):  # type: ignore[no-untyped-def]
    return x * x


decorated = pyrev.differentiable(doubled, target="python")


@pytest.mark.slow
def test_functions_are_pickled_by_reference() -> None:
    assert pickle.loads(pickle.dumps(at_the_top)) is at_the_top
    again = pickle.loads(pickle.dumps(decorated))
    assert again.python is doubled and again.target == "python"
    assert copy.deepcopy(at_the_top) is at_the_top
    script = (
        "import pickle, sys; print(pickle.loads(sys.stdin.buffer.read())(1.0)['x'])"
    )
    pullback = pyrev.vjp(at_the_top, 3.0)[1]
    done = subprocess.run(
        [sys.executable, "-c", script],
        input=pickle.dumps(pullback),
        capture_output=True,
    )
    assert done.stdout == b"6.0\n", done.stderr


def loaded(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def weighted(a, b):  # type: ignore[no-untyped-def]
    return np.sum(a * b)


@pytest.mark.parametrize("target", TARGETS)
def test_a_saved_module_is_for_the_axes_it_was_made_for(
    target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    f = pyrev.differentiable(weighted)
    numbers = loaded(f.adjoint.save(tmp_path / "numbers.py", target))
    assert numbers.weighted_adjoint(3.0, 2.0, 1.0) == (2.0, 3.0)
    with pytest.raises(TypeError, match="saved for a number `a`"):
        numbers.weighted_adjoint(np.arange(3.0), 2.0, 1.0)
    arrays = loaded(f.adjoint.save(tmp_path / "arrays.py", target, np.ones(3), 2.0))
    d_a, d_b = arrays.weighted_adjoint(np.arange(3.0), 2.0, 1.0)
    assert d_a.tolist() == [2.0, 2.0, 2.0] and d_b == 3.0
    with pytest.raises(pyrev.ArgumentError, match="can't be written"):
        f.adjoint.save(tmp_path / "none" / "a.py")


@pytest.mark.parametrize("target", TARGETS)
def test_what_happens_to_the_compiler_is_an_internal_error(
    target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    f = pyrev.differentiable(lambda x: x * x, target=target)
    where, what = {
        "python": ("targets.python", "emit_python"),
        "numba": ("units", "chosen"),
    }[target]
    monkeypatch.setattr(f"pyrev.driver.{where}.{what}", {}.__getitem__)
    place = re.escape(f"pyrev/driver/{where.replace('.', '/')}.py")
    with pytest.raises(pyrev.InternalError, match="Error.*\n.*report") as caught:
        pyrev.vjp(f, 1.0)[1](1.0)
    assert isinstance(caught.value.__cause__, (KeyError, TypeError))
    with pytest.raises(pyrev.InternalError, match=place):
        pyrev.grad(f)(1.0)


@pytest.mark.parametrize(
    ("target", "instead", "error"),
    [
        ("numba", "None", "TypingError"),
        ("python", "nowhere", "NameError"),
        ("python", "np.nowhere", "AttributeError"),
        ("python", "{}[x]", "KeyError"),
    ],
)
def test_a_generated_text_that_is_wrong_is_an_internal_error(
    target: str, instead: str, error: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyrev.runtime import code_cache

    real = code_cache.loaded
    module = {"python": "target"}.get(target, target)

    def wrong(text: str, name: str) -> code_cache.Loaded:
        assert "sin(x)" in text
        return real(text.replace("sin(x)", f"sin({instead})"), name)

    monkeypatch.setattr(f"pyrev.driver.targets.{module}.loaded", wrong)
    f = pyrev.differentiable(lambda x: np.cos(x), target=target)  # type: ignore[call-overload]
    with pytest.raises(pyrev.InternalError, match=error):
        pyrev.grad(f)(1.0)


def test_what_libraries_raise_for_pyrev_is_an_internal_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    f = pyrev.differentiable(lambda x: x * x, target="python")
    for call in (np.linalg.norm, statistics.variance):
        monkeypatch.setattr("pyrev.driver.plan.sizes_of", call)
        with pytest.raises(pyrev.InternalError):
            f(1.0)


def integer_division(x, n):  # type: ignore[no-untyped-def]
    return x * (7 // n)


RAISING = """
def f(x, n):
    assert n > 0
    for _ in range(0, 3, n - 1):
        x = x * 2.0
    return x
"""


def unbound(x, n):  # type: ignore[no-untyped-def]
    if n > 0:
        y = x
    return y * x


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("function", "n", "error"),
    [
        (integer_division, 0, ZeroDivisionError),
        (function_of(RAISING), 0, AssertionError),
        (function_of(RAISING), 1, ValueError),
        (unbound, 0, UnboundLocalError),
    ],
)
def test_what_the_function_raises_in_cpython_passes(
    function: Callable[..., Any], n: int, error: type[Exception], target: str
) -> None:
    f = pyrev.differentiable(function, target=target)
    calls = (function, f, pyrev.grad(f), lambda x, n: pyrev.vjp(f, x, n))
    for call in calls:
        with pytest.raises(error) as caught:
            call(1.0, n)
        assert type(caught.value) is error


def callback(d: float) -> None:
    raise LookupError(d)


def test_what_a_callback_raises_passes() -> None:
    f = pyrev.differentiable(lambda x: pyrev.probe(x, callback) * x, target="python")
    with pytest.raises(LookupError):
        pyrev.grad(f)(1.0)


def test_warnings_that_are_made_errors_stay_warnings() -> None:
    @error_boundary.guarded
    def warns() -> None:
        raise RuntimeWarning("said")

    with pytest.raises(RuntimeWarning):
        warns()


NESTED = {
    "operations": "    return " + " + ".join(f"x * {k}.5" for k in range(700)),
    "powers": "    return " + " ** ".join(["x"] * 100),
    "signs": "    return " + "-" * 301 + "x",
    "maxima": "    return max(" + ", ".join(f"x * {k}.5" for k in range(40)) + ")",
    "tests": "    return x * x if " + " and ".join(["x < 2"] * 200) + " else x",
    "choices": "    return "
    + " else ".join(f"x * {k}.0 if x > {99 - k}.5" for k in range(99))
    + " else x * x",
    "branches": "    s = x\n"
    + "".join("    " + " " * k + f"if x < {k + 2}:\n" for k in range(90))
    + "    "
    + " " * 90
    + "s = x * x\n    return s",
    "statements": "    s = x\n"
    + "".join(f"    s = s * 0.999 + {k / 1000} * x\n" for k in range(200))
    + "    return s",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", NESTED)
def test_what_is_nested_deep_is_differentiated(name: str) -> None:
    function = function_of(f"def f(x):\n{NESTED[name]}\n")
    f = pyrev.differentiable(function, target="python")
    h = 1e-6
    moved = (function(1.1 + h) - function(1.1 - h)) / (2 * h)
    np.testing.assert_allclose(pyrev.grad(f)(1.1).x, moved, rtol=1e-6)
    _, tangent = pyrev.jvp(f, 1.1, tangents={"x": 1.0})
    np.testing.assert_allclose(tangent["return"], moved, rtol=1e-6)


@pytest.mark.slow
def test_seven_hundred_terms_compile_in_every_mode() -> None:
    function = function_of(f"def f(x):\n{NESTED['operations']}\n")
    f = pyrev.differentiable(function, target="numba")
    exact = sum(k + 0.5 for k in range(700))
    assert f(2.0) == function(2.0)
    assert pyrev.grad(f)(1.0).x == exact
    assert pyrev.hvp(f, 1.0, tangents={"x": 1.0}).x == 0.0


@pytest.mark.slow
def test_no_argument_of_a_wrong_type_gives_an_error_that_says_nothing() -> None:
    count, found = misuses("python")
    assert count > 4000
    assert not found, "\n".join(f"{m.call}: {m.given}: {m.error}" for m in found)


GOOD = """
def f(x, out):
    for i in range(out.shape[0]):
        out[i] = x[i] * x[i]

def refused(x):
    return {x: 1}

def raises(x):
    assert x > 100.0
    return x

number = 3
"""
FILES = {
    "good": GOOD,
    "syntax": "def f(x:\n",
    "imports": "import nowhere_at_all\n",
    "divides": "1 / 0\n",
    "exits": "import sys\nsys.exit(3)\n",
}
MISTAKES = {
    "show good.py:refused": "P106",
    "check good.py:raises": "AssertionError .good.py:10.",
    "show good.py:number": "P114",
    "show good.py:nothing": "no function 'nothing'",
    "show none.py:f": "no file none.py",
    "show nowhere:f": "no module 'nowhere'",
    "show .x:f": "cannot be imported",
    "show good": "write module:function",
    "show syntax.py:f": "SyntaxError.*syntax.py:1",
    "show imports.py:f": "nowhere_at_all",
    "show divides.py:f": "ZeroDivisionError.*divides.py:1",
    "show exits.py:f": "SystemExit",
    "save good.py:f -o none/a.py": "can't be written",
}


@pytest.mark.parametrize("command", MISTAKES)
def test_the_command_line_shows_no_traceback_for_a_mistake(
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    import re

    for name, text in FILES.items():
        (tmp_path / f"{name}.py").write_text(text)
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    assert main(command.split()) == 2
    said = capsys.readouterr().err
    assert re.search(MISTAKES[command], said), said
    assert "Traceback" not in said


def test_the_command_line_refuses_sizes_that_are_none(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        main(["check", "good.py:f", "--size", "0"])
    assert "0 is less than 1" in capsys.readouterr().err
