"""The functions that no library of some target has, beside values of many digits."""

# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import mpmath
import numpy as np
import pytest

import pyrev
from pyrev.emit.carried import definitions
from pyrev.emit.cuda import OPTIONS
from pyrev.emit.special_c import device_function
from pyrev.ir import special
from pyrev.ir.nodes import Call, Var
from pyrev.ir.primitives import PRIMITIVES
from pyrev.ir.special import SPECIAL
from pyrev.parse.functions import meaning
from tests import ROOT
from tests.targets.cuda import needs, nvrtc, ondevice, standin

EPS = float(np.finfo(float).eps)
RNG = np.random.default_rng(5)
POSITIVE = np.concatenate(
    [10.0 ** RNG.uniform(-150, 150, 60), 10.0 ** RNG.uniform(-2, 2, 300)]
)
NEGATIVE = -np.concatenate(
    [10.0 ** RNG.uniform(-150, 2, 60), RNG.uniform(0.0, 40.0, 300)]
)
BOTH = np.concatenate([POSITIVE, NEGATIVE])
#: What SciPy gives for these, in the order of the functions below.
SPECIAL_POINTS = (0.0, -0.0, -1.0, -2.0, math.inf, -math.inf, math.nan)


@dataclass(frozen=True, slots=True)
class Case:
    """One function: its value in many digits, and the unit that its error has."""

    exact: Callable[[Any], Any]
    points: np.ndarray
    #: What the value is made of: its error is a few units of that.
    scale: Callable[[float, Any], Any]
    poles: tuple[float, ...]
    most: float = 4.0


def _magnitude(_: float, value: Any) -> Any:
    return abs(value)


def _gamma(x: float, value: Any) -> Any:
    """Near the zeros of digamma, logarithms and reciprocals of this size cancel."""
    near = abs(x - round(x)) if x < 0 else 1.0
    return max(abs(value), 2 + math.log(1 + abs(x)), 1 / near if near else 0)


def _psi(n: int) -> Callable[[Any], Any]:
    return lambda x: mpmath.psi(n, x)


def _psi_scale(n: int) -> Callable[[float, Any], Any]:
    """Below zero the terms on both sides of a point cancel where `n` is even."""

    def scale(x: float, value: Any) -> Any:
        if x > 0:
            return abs(value)
        return max(abs(value), math.factorial(n) * 2 * abs(x - round(x)) ** -(n + 1))

    return scale


def polygamma_1(x):
    return special.special_polygamma(1, x)


def polygamma_2(x):
    return special.special_polygamma(2, x)


def polygamma_5(x):
    return special.special_polygamma(5, x)


def sinc_of(x):
    return np.sinc(x)


def _normal(x: float, value: Any) -> Any:
    """Far above zero one rounding of `x` is so many units of the value."""
    return abs(value) * max(1.0, x * abs(x) / 2)


def _log_ndtr(x):
    if x < -1e5:
        return -x * x / 2 - mpmath.log(-x) - mpmath.log(2 * mpmath.pi) / 2 - 1 / x**2
    if x > 100:
        return mpmath.mpf(0)
    return mpmath.log(mpmath.ncdf(x)) if x < 0 else mpmath.log1p(-mpmath.ncdf(-x))


def _mills(x):
    if x < -1e5:
        return -x - 1 / x
    return mpmath.npdf(x) / mpmath.ncdf(x) if x < 100 else mpmath.mpf(0)


def _amplitude(x: float, value: Any) -> Any:
    return max(abs(value), min(abs(x), math.sqrt(2 / (math.pi * abs(x)))))


def _bessel(n: int) -> Callable[[Any], Any]:
    """By Hankel's expansion where mpmath would need all digits of `x`."""

    def value(x):
        if abs(x) < 1e6:
            return mpmath.besselj(n, x)
        with mpmath.workdps(400):
            far, four = abs(x), mpmath.mpf(4 * n * n)
            p = 1 - (four - 1) * (four - 9) / (2 * (8 * far) ** 2)
            q = (four - 1) / (8 * far)
            phase = far - (2 * n + 1) * mpmath.pi / 4
            found = p * mpmath.cos(phase) - q * mpmath.sin(phase)
            found *= mpmath.sqrt(2 / (mpmath.pi * far))
        return -found if n and x < 0 else found

    return value


INF, NAN = math.inf, math.nan
CASES: dict[Callable[[Any], Any], Case] = {
    special.special_digamma: Case(
        mpmath.digamma, BOTH, _gamma, (-INF, INF, NAN, NAN, INF, NAN, NAN)
    ),
    **{
        f: Case(_psi(n), BOTH, _psi_scale(n), poles)
        for f, n, poles in (
            (polygamma_1, 1, (INF, INF, INF, INF, 0.0, INF, NAN)),
            (polygamma_2, 2, (-INF, -INF, -INF, -INF, -0.0, -INF, NAN)),
            (polygamma_5, 5, (INF, INF, INF, INF, 0.0, INF, NAN)),
        )
    },
    special.special_j0: Case(
        _bessel(0),
        BOTH,
        _amplitude,
        (1.0, 1.0, 0.7651976865579665, 0.22389077914123562, NAN, NAN, NAN),
    ),
    special.special_j1: Case(
        _bessel(1),
        BOTH,
        _amplitude,
        (0.0, -0.0, -0.44005058574493355, -0.5767248077568734, NAN, NAN, NAN),
    ),
    special.special_log_ndtr: Case(
        _log_ndtr,
        BOTH,
        _normal,
        (*[-0.6931471805599453] * 2, -1.8410216450092636, -3.783184333682032)
        + (-0.0, -INF, NAN),
    ),
    special.special_inverse_mills: Case(
        _mills,
        BOTH,
        _normal,
        (*[0.7978845608028654] * 2, 1.525135276160981, 2.373215532822843)
        + (0.0, INF, NAN),
    ),
    # `x` times pi is rounded, in NumPy's too: with it all digits behind the point.
    sinc_of: Case(
        mpmath.sincpi,
        BOTH,
        lambda x, value: max(abs(value), 1),
        (1.0, 1.0, 3.8981718325193755e-17, -3.8981718325193755e-17, NAN, NAN, NAN),
    ),
}


def loop(function: Callable[[Any], Any]) -> Callable[..., None]:
    def f(x, out):
        for i in range(x.shape[0]):
            out[i] = function(x[i])

    return f


def by_target(function: Any, target: str, x: np.ndarray) -> np.ndarray:
    """The function of all elements, as generated code computes it."""
    out = np.zeros_like(x)
    f = pyrev.differentiable(loop(function), target=target)
    with np.errstate(all="ignore"):
        if target == "cuda":
            with ondevice.standing_in():
                there = standin.to_device(x), standin.to_device(out)
                pyrev.vjp(f, *there)
                return np.array(there[1])
        pyrev.vjp(f, x, out)
    return out


def errors(case: Case, x: np.ndarray, found: np.ndarray) -> list[tuple[float, float]]:
    """How many units each value is off, and where."""
    out = []
    with mpmath.workdps(120):
        for at, value in zip(x.tolist(), found.tolist(), strict=True):
            true = case.exact(mpmath.mpf(at))
            if abs(true) > 1e307 or abs(true) < 1e-290:
                continue
            unit = EPS * case.scale(at, true)
            out.append((float(abs(mpmath.mpf(value) - true) / unit), at))
    return out


TARGETS = ["python", "numba", pytest.param("cuda", marks=needs.compiler)]


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_values_are_right_to_a_few_units(function: Any, target: str) -> None:
    case = CASES[function]
    found = by_target(function, target, case.points)
    off = errors(case, case.points, found)
    assert len(off) > 300
    assert max(off)[0] <= case.most, max(off)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_poles_and_infinities_are_as_scipys(function: Any, target: str) -> None:
    found = by_target(function, target, np.array(SPECIAL_POINTS))
    expected = np.array(CASES[function].poles)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)
    zero = expected == 0.0
    assert (np.signbit(found[zero]) == np.signbit(expected[zero])).all()


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS[1:])
@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_a_float32_is_computed_in_more_digits(function: Any, target: str) -> None:
    x = RNG.uniform(0.5, 9.0, 50).astype(np.float32)
    found = by_target(function, target, x)
    wide = by_target(function, "python", x.astype(np.float64))
    np.testing.assert_array_equal(found, wide.astype(np.float32))


def lgamma_of(x):
    return math.lgamma(x)


@pytest.mark.parametrize("target", TARGETS)
def test_lgamma_does_not_raise_where_that_of_math_does(target: str) -> None:
    # The user's own function is what runs in CPython: there it raises.
    lgamma = special.special_lgamma if target == "python" else lgamma_of
    x = np.array([0.0, -0.0, -1.0, -2.0, INF, -INF, 3e305, 0.5, -0.5, NAN, 1.0])
    found = by_target(lgamma, target, x)
    expected = [*[INF] * 7, 0.5723649429247001, 1.2655121234846454, NAN, 0.0]
    np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-15)


def gammas(x, out):
    for i in range(x.shape[0]):
        out[i] = math.lgamma(x[i]) * x[i]


@pytest.mark.parametrize("target", ["python", "numba"])
def test_derivatives_of_any_order_are_primitives(target: str) -> None:
    f = pyrev.differentiable(gammas, target=target)
    x = np.array([0.3, 1.7, 6.0])
    out = np.zeros(3)
    weights = np.array([1.0, 2.0, 3.0])
    tangents = {"x": np.ones(3)}
    found = pyrev.hvp(f, x, out, tangents=tangents, cotangents={"out": weights}).x
    one, two = np.array([[float(mpmath.psi(n, t)) for t in x] for n in (0, 1)])
    np.testing.assert_allclose(found, weights * (2 * one + x * two), rtol=1e-13)


@pytest.mark.parametrize("name", ["gammaln", "digamma", "psi", "log_ndtr", "j0", "j1"])
def test_functions_of_scipy_are_known(name: str) -> None:
    functions = pytest.importorskip("scipy.special")
    function = getattr(functions, name)
    x = RNG.uniform(0.5, 9.0, 20)
    for target in ("python", "numba"):
        found = by_target(function, target, x)
        np.testing.assert_allclose(found, function(x), rtol=1e-12, atol=1e-14)


def test_whole_arrays_and_orders_of_scipys_polygamma() -> None:
    functions = pytest.importorskip("scipy.special")

    def f(x):
        return np.sum(functions.polygamma(3, x) + functions.digamma(x))

    x = RNG.uniform(0.5, 9.0, 20)
    found = pyrev.grad(pyrev.differentiable(f))(x).x
    expected = functions.polygamma(4, x) + functions.polygamma(1, x)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_polygamma_takes_a_literal_order() -> None:
    functions = pytest.importorskip("scipy.special")

    def zero(x, k):
        return functions.polygamma(0, x)

    def many(x, k):
        return functions.polygamma(21, x)

    def real(x, k):
        return functions.polygamma(1.0, x)

    def data(x, k):
        return functions.polygamma(k, x)

    def named(x, k):
        return functions.polygamma(n=1, x=x)

    for f in (zero, many, real, data, named):
        with pytest.raises(pyrev.UnsupportedError, match="a literal n from 1 to 20"):
            pyrev.vjp(pyrev.differentiable(f), 1.5, 1)


def test_pyrev_never_imports_scipy_itself() -> None:
    program = """
import sys, pyrev
from tests.ir.test_special import gammas
sys.modules.pop("scipy.special", None)
assert "special_digamma" in pyrev.differentiable(gammas).adjoint.source
assert "scipy.special" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True, cwd=ROOT)


def test_a_text_that_holds_a_primitive_is_differentiated_by_its_rule() -> None:
    namespace: dict[str, Any] = {"np": np, "math": math}
    exec(pyrev.differentiable(gammas).adjoint.source, namespace)  # noqa: S102
    again = namespace["special_digamma"]
    assert again is not special.special_digamma
    found = meaning(again)
    assert found is not None and found.body == Call("digamma", (Var("x"),))
    other = FunctionType(special.special_zeta.__code__, {}, "special_digamma")
    assert meaning(other) is None


def test_a_user_may_have_names_of_ours() -> None:
    def f(x, out):
        special_digamma = 2.0 * x[0]
        for i in range(x.shape[0]):
            out[i] = math.lgamma(x[i]) * special_digamma

    x, out = np.array([1.5, 2.5]), np.zeros(2)
    for target in ("python", "numba"):
        made = pyrev.differentiable(f, target=target)
        report = pyrev.check_grad(made, x, out)
        assert report.ok, report


def test_what_calls_a_carried_function_carries_it() -> None:
    names = [f.name for f in definitions({"special_polygamma", "tanh_float32"})]
    assert names == ["special_zeta", "special_polygamma", "exp_float32", "tanh_float32"]


def test_every_function_has_a_form_in_c_and_one_name_in_the_table() -> None:
    used = {n for p in PRIMITIVES.values() for n in (p.python, p.numba, p.c)}
    inside = {"special_zeta", "special_erfcx"}
    assert {n for n in used if n.startswith("special_")} == set(SPECIAL) - inside
    for name in SPECIAL.keys() - {"special_lgamma"}:  # C has that
        (definition,) = [f for f in definitions({name}) if f.name == name]
        assert device_function(definition).startswith(f"__device__ double {name}(")


def counted(out):
    for i in range(out.shape[0]):
        out[i] = math.lgamma(i + 1) + special.special_digamma(i + 1)


@pytest.mark.parametrize("target", TARGETS)
def test_integers_become_floats(target: str) -> None:
    out = np.zeros(6)
    f = pyrev.differentiable(counted, target=target)
    if target == "cuda":
        with ondevice.standing_in():
            there = standin.to_device(out)
            pyrev.vjp(f, there)
            out = np.array(there)
    else:
        pyrev.vjp(f, out)
    expected = [math.log(math.factorial(k)) for k in range(6)]
    expected = [a + float(mpmath.digamma(k)) for k, a in enumerate(expected, 1)]
    np.testing.assert_allclose(out, expected, rtol=1e-14)


@needs.nvidia
@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_nvidias_compiler_takes_the_kernels(function: Any) -> None:
    f = pyrev.differentiable(loop(function))
    text = f.adjoint.source_for("cuda")
    code = text.split('CODE = r"""')[1].split('"""')[0]
    (made,) = nvrtc.ARCHITECTURES[-1:]
    assert nvrtc.ptx(code, (*OPTIONS, f"--gpu-architecture={made}"))
