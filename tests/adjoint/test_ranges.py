"""Partials over the whole range of their dtype, against arithmetic of many digits.

Where the true value fits into the dtype, so does ours, and to 1e-6: no square in
between overflows, no difference cancels. What is below the normal numbers may be zero.
"""

# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

import pyrev
from pyrev.ir.special import (
    special_digamma,
    special_inverse_mills,
    special_j0,
    special_j1,
    special_lgamma,
    special_log_ndtr,
)

UNARY = (
    "sqrt cbrt exp expm1 log log1p log2 log10 sin cos tan arcsin arccos arctan sinh"
    " cosh tanh arcsinh arccosh arctanh degrees radians abs square reciprocal erf erfc"
    " cubed rooted negated halved lgamma digamma sinc log_ndtr inverse_mills j0 j1"
).split()
BINARY = "arctan2 hypot divide multiply power copysign".split()


def unary(x, out):
    for i in range(x.shape[1]):
        out[0, i] = np.sqrt(x[0, i])
        out[1, i] = np.cbrt(x[1, i])
        out[2, i] = np.exp(x[2, i])
        out[3, i] = np.expm1(x[3, i])
        out[4, i] = np.log(x[4, i])
        out[5, i] = np.log1p(x[5, i])
        out[6, i] = np.log2(x[6, i])
        out[7, i] = np.log10(x[7, i])
        out[8, i] = np.sin(x[8, i])
        out[9, i] = np.cos(x[9, i])
        out[10, i] = np.tan(x[10, i])
        out[11, i] = np.arcsin(x[11, i])
        out[12, i] = np.arccos(x[12, i])
        out[13, i] = np.arctan(x[13, i])
        out[14, i] = np.sinh(x[14, i])
        out[15, i] = np.cosh(x[15, i])
        out[16, i] = np.tanh(x[16, i])
        out[17, i] = np.arcsinh(x[17, i])
        out[18, i] = np.arccosh(x[18, i])
        out[19, i] = np.arctanh(x[19, i])
        out[20, i] = np.degrees(x[20, i])
        out[21, i] = np.radians(x[21, i])
        out[22, i] = abs(x[22, i])
        out[23, i] = x[23, i] * x[23, i]
        out[24, i] = 1.0 / x[24, i]
        out[25, i] = math.erf(x[25, i])
        out[26, i] = math.erfc(x[26, i])
        out[27, i] = x[27, i] ** 3
        out[28, i] = x[28, i] ** 0.5
        out[29, i] = -x[29, i]
        out[30, i] = x[30, i] / 2
        out[31, i] = special_lgamma(x[31, i])
        out[32, i] = special_digamma(x[32, i])
        out[33, i] = np.sinc(x[33, i])
        out[34, i] = special_log_ndtr(x[34, i])
        out[35, i] = special_inverse_mills(x[35, i])
        out[36, i] = special_j0(x[36, i])
        out[37, i] = special_j1(x[37, i])


def binary(a, b, out):
    for i in range(a.shape[1]):
        out[0, i] = np.arctan2(a[0, i], b[0, i])
        out[1, i] = np.hypot(a[1, i], b[1, i])
        out[2, i] = a[2, i] / b[2, i]
        out[3, i] = a[3, i] * b[3, i]
        out[4, i] = a[4, i] ** b[4, i]
        out[5, i] = np.copysign(a[5, i], b[5, i])


def _sign(x):
    return -1 if math.copysign(1.0, x) < 0 else 1


def _sinc_slope(x):
    if abs(x) < 1e-30:
        return -(mpmath.pi**2) * x / 3
    return (mpmath.cospi(x) - mpmath.sincpi(x)) / x


def _mills(x):
    """Of the normal distribution the density over the distribution."""
    if x < -1e4:
        return -x - 1 / x + 2 / x**3
    if x > 1e3:
        return mpmath.mpf(0)
    return mpmath.npdf(x) / mpmath.ncdf(x)


def _mills_slope(x):
    return -1 + 1 / x**2 if x < -1e4 else -_mills(x) * (x + _mills(x))


def _bessel(n, x):
    """By Hankel's expansion where mpmath would need all digits of `x`."""
    if abs(x) < 1e4:
        return mpmath.besselj(n, x)
    far, four = abs(x), 4 * n * n
    p = 1 - (four - 1) * (four - 9) / (2 * (8 * far) ** 2)
    q = (four - 1) / (8 * far)
    phase = far - (2 * n + 1) * mpmath.pi / 4
    value = p * mpmath.cos(phase) - q * mpmath.sin(phase)
    sign = -1 if n and x < 0 else 1
    return sign * mpmath.sqrt(2 / (mpmath.pi * far)) * value


#: The derivatives in many digits, by the name of the function; None where it has none.
SLOPES: dict[str, Callable[[Any], Any]] = {
    "sqrt": lambda x: 1 / (2 * mpmath.sqrt(x)),
    "cbrt": lambda x: 1 / (3 * mpmath.cbrt(abs(x)) ** 2),
    "exp": mpmath.exp,
    "expm1": mpmath.exp,
    "log": lambda x: 1 / x,
    "log1p": lambda x: 1 / (1 + x),
    "log2": lambda x: 1 / (x * mpmath.log(2)),
    "log10": lambda x: 1 / (x * mpmath.log(10)),
    "sin": mpmath.cos,
    "cos": lambda x: -mpmath.sin(x),
    "tan": lambda x: 1 / mpmath.cos(x) ** 2,
    "arcsin": lambda x: 1 / mpmath.sqrt(1 - x * x),
    "arccos": lambda x: -1 / mpmath.sqrt(1 - x * x),
    "arctan": lambda x: 1 / (1 + x * x),
    "sinh": mpmath.cosh,
    "cosh": mpmath.sinh,
    "tanh": lambda x: mpmath.sech(x) ** 2 if abs(x) < 1e4 else mpmath.mpf(0),
    "arcsinh": lambda x: 1 / mpmath.sqrt(1 + x * x),
    "arccosh": lambda x: 1 / mpmath.sqrt(x * x - 1),
    "arctanh": lambda x: 1 / (1 - x * x),
    "degrees": lambda _: 180 / mpmath.pi,
    "radians": lambda _: mpmath.pi / 180,
    "abs": mpmath.sign,
    "square": lambda x: 2 * x,
    "reciprocal": lambda x: -1 / x**2,
    "erf": lambda x: 2 / mpmath.sqrt(mpmath.pi) * _gauss(x),
    "erfc": lambda x: -2 / mpmath.sqrt(mpmath.pi) * _gauss(x),
    "cubed": lambda x: 3 * x**2,
    "rooted": lambda x: 1 / (2 * mpmath.sqrt(x)),
    "negated": lambda _: mpmath.mpf(-1),
    "halved": lambda _: mpmath.mpf(1) / 2,
    "lgamma": mpmath.digamma,
    "digamma": lambda x: mpmath.psi(1, x),
    "sinc": _sinc_slope,
    "log_ndtr": _mills,
    "inverse_mills": _mills_slope,
    "j0": lambda x: -_bessel(1, x),
    "j1": lambda x: _bessel(0, x) - (_bessel(1, x) / x if x else 0.5),
}
PAIRS: dict[str, Callable[[Any, Any], tuple[Any, Any]]] = {
    "arctan2": lambda a, b: (b / (a * a + b * b), -a / (a * a + b * b)),
    "hypot": lambda a, b: (
        a / mpmath.sqrt(a * a + b * b),
        b / mpmath.sqrt(a * a + b * b),
    ),
    "divide": lambda a, b: (1 / b, -a / (b * b)),
    "multiply": lambda a, b: (b, a),
    "power": lambda a, b: (b * a ** (b - 1), a**b * mpmath.log(a)),
    "copysign": lambda a, b: (mpmath.mpf(_sign(a) * _sign(b)), mpmath.mpf(0)),
}
POSITIVE = {"sqrt", "log", "log2", "log10", "rooted"}
UNIT = {"arcsin", "arccos", "arctanh"}


def _gauss(x):
    return mpmath.exp(-x * x) if abs(x) < 1e3 else mpmath.mpf(0)


def _defined(name: str, x: float) -> bool:
    if name in POSITIVE:
        return x > 0
    if name in UNIT:
        return abs(x) < 1
    if name == "log1p":
        return x > -1
    if name in ("lgamma", "digamma"):
        return x > 0 or x != math.floor(x)
    if name == "arccosh":
        return x > 1
    if name in ("exp", "expm1", "sinh", "cosh"):
        return abs(x) < 1e4
    return x != 0 or name not in ("abs", "cbrt", "reciprocal")


def _points(dtype: type) -> np.ndarray:
    """Numbers of all magnitudes that the dtype has, its ends included."""
    info = np.finfo(dtype)
    most = 300 if dtype is np.float64 else 38
    powers = [float(f"1e{k}") for k in (*range(-most, most + 1, most // 19), 38, -38)]
    near = [1 + k * info.eps for k in (-1001, -77, -5, -1, 1, 5, 77, 1001)]
    some = [0.25, 0.75, 1.5, 3.0, 7.0, 0.9999999, 1.0000002, *map(float, near)]
    deep = [info.smallest_subnormal, 7 * info.smallest_subnormal, info.tiny, info.max]
    found = [*powers, *some, *map(float, deep)]
    return np.array([0.0, -0.0, *found, *(-x for x in found)], dtype)


def _judge(name: str, at: Any, found: float, true: Any, dtype: type) -> str | None:
    info = np.finfo(dtype)
    if abs(true) > mpmath.mpf(float(info.max)):
        return None
    error = abs(mpmath.mpf(found) - true) if math.isfinite(found) else mpmath.inf
    if error <= mpmath.mpf("1e-6") * abs(true) or max(abs(true), error) < info.tiny:
        return None
    return f"{name} at {at}: {found} for {mpmath.nstr(true, 12)}"


def _slopes(f, inputs, count, target) -> Any:
    """The gradients of each row of the output, each with inputs of its own."""
    own = [np.tile(x, (count, 1)) for x in inputs]
    out = np.zeros_like(own[0])
    made = pyrev.differentiable(f, target=target)
    with np.errstate(all="ignore"):
        _, pullback = pyrev.vjp(made, *own, out)
    return pullback(out=np.ones_like(out))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("target", ["python", "numba"])
def test_partials_are_right_wherever_they_fit(dtype: type, target: str) -> None:
    x = _points(dtype)
    wrong = []
    with mpmath.workdps(700):
        rows = _slopes(unary, (x,), len(UNARY), target).x
        for name, row in zip(UNARY, rows.tolist(), strict=True):
            for at, found in zip(x.tolist(), row, strict=True):
                if _defined(name, at) and not _rounded(name, at, dtype):
                    true = SLOPES[name](mpmath.mpf(at))
                    wrong.append(_judge(name, at, found, true, dtype))
    assert not [w for w in wrong if w]


def _rounded(name: str, x: float, dtype: type) -> bool:
    """Where one rounding of `dtype` moves the slope by more than 1e-6.

    That of `tanh` is made of its result, that of `erf` of the square of `x`.
    """
    if name == "tanh":
        return abs(x) > (1.5 if dtype is np.float32 else 7)
    if name == "sinc":  # of the product of `x` and pi
        return abs(x) > (1 if dtype is np.float32 else 1e8)
    if name == "inverse_mills" and dtype is np.float32 and -10 < x < -3:
        return True
    gauss = ("erf", "erfc", "log_ndtr", "inverse_mills")
    return dtype is np.float32 and name in gauss and abs(x) > 5 and x > -10


def _mild(a: float, b: float, dtype: type) -> bool:
    """Where one rounding of ``b - 1`` moves ``a ** (b - 1)`` by less than 1e-6."""
    far = abs(math.log(a)) if a >= np.finfo(dtype).tiny else math.inf
    return abs(b) * far < 80 and far * np.finfo(dtype).eps < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("target", ["python", "numba"])
def test_partials_of_two_numbers_are_right_wherever_they_fit(
    dtype: type, target: str
) -> None:
    points = _points(dtype)[::3]
    a, b = (m.ravel() for m in np.meshgrid(points, points))
    wrong = []
    with mpmath.workdps(60):
        rows = _slopes(binary, (a, b), len(BINARY), target)
        for name, d_a, d_b in zip(BINARY, rows.a, rows.b, strict=True):
            found = zip(a.tolist(), b.tolist(), d_a, d_b, strict=True)
            for p, q, d_p, d_q in found:
                if p == 0 or q == 0:
                    if name in ("divide", "power", "copysign") or p == q:
                        continue
                if name == "power" and not _mild(p, q, dtype):
                    continue
                true = PAIRS[name](mpmath.mpf(p), mpmath.mpf(q))
                wrong.append(_judge(f"{name} a", (p, q), float(d_p), true[0], dtype))
                wrong.append(_judge(f"{name} b", (p, q), float(d_q), true[1], dtype))
    assert not [w for w in wrong if w]
