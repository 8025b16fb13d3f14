"""Functions of arrays that run as they are, with rules of the user's or ready ones."""

from __future__ import annotations

import gc
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import fft, linalg, ndimage, signal

import pyrev
import pyrev.dask
from pyrev import ArgumentError, UnsupportedError
from pyrev.runtime import code_cache

Function = Callable[..., Any]
TARGETS = ("python", "numba")


# -------------------------------------------------------------------- functions


def ring_vjp(u: Any, m: Any, v: Any, d_v: Any) -> Any:
    seen = np.fft.fft(d_v)
    d_u = np.fft.ifft(np.conj(np.fft.fft(m)) * seen).real
    return d_u, np.fft.ifft(np.conj(np.fft.fft(u)) * seen).real


def ring_jvp(u: Any, m: Any, v: Any, dot_u: Any, dot_m: Any) -> Any:
    moved = np.fft.fft(dot_u) * np.fft.fft(m) + np.fft.fft(u) * np.fft.fft(dot_m)
    return np.fft.ifft(moved).real


@pyrev.custom_vjp(ring_vjp, result=lambda u, m: u, jvp=ring_jvp)
def ring(u: Any, m: Any) -> Any:
    """A circular convolution."""
    return np.fft.ifft(np.fft.fft(u) * np.fft.fft(m)).real


def waves_vjp(u: Any, w: Any, v: Any, e: Any, d_v: Any, d_e: Any) -> Any:
    return w * d_v * np.cos(u) + 2 * d_e * u, np.sum(d_v * np.sin(u))


@pyrev.custom_vjp(waves_vjp, result=lambda u, w: (u, 0.0))
def waves(u: Any, w: Any) -> Any:
    """An array and a number, of an array and a number."""
    return w * np.sin(u), np.sum(u * u)


def picked_vjp(table: Any, places: Any, found: Any, d_found: Any) -> Any:
    owed = np.zeros_like(table)
    np.add.at(owed, places, d_found)
    return owed, None


@pyrev.custom_vjp(picked_vjp, result=lambda table, places: np.empty(places.shape[0]))
def picked(table: Any, places: Any) -> Any:
    """A table that is looked up."""
    return table[places]


def energy_vjp(a: Any, e: Any, d_e: Any) -> Any:
    return 2 * d_e * a


@pyrev.custom_vjp(energy_vjp, result=lambda a: 0.0)
def energy(a: Any) -> Any:
    """A number."""
    return np.sum(a * a)


def several_times(x, m):  # type: ignore[no-untyped-def]
    u = ring(x, m)
    u = ring(u, m)
    u = ring(u, u)
    return np.sum(u * u)


def in_time(x, m, n):  # type: ignore[no-untyped-def]
    u = x.copy()
    for _ in range(n):
        u = ring(u, m)
        u = u * 1.1 + np.sin(u)
    return np.sum(u * u)


def in_place(x, m, n):  # type: ignore[no-untyped-def]
    u = x.copy()
    k = m.copy()
    s = 0.0
    for t in range(n):
        v = ring(u, k)
        k[t % 5] = k[t % 5] * 2.0 + v[1]
        v[0] = v[1] * v[2]
        u[t % 5] = v[0] + u[t % 5] ** 2
        s += v[0] * v[3]
    return s + np.sum(u * k)


def changed_behind(x, m):  # type: ignore[no-untyped-def]
    v = ring(x, m)
    w = ring(m, v)
    for i in range(x.shape[0]):
        x[i] = x[i] * 2.0 + v[i]
        m[i] = m[i] + w[i] * v[i]
    y = ring(x, v)
    s = 0.0
    for i in range(x.shape[0]):
        s += y[i] * x[i] * m[i]
    return s


def handed_around(u, m, f):  # type: ignore[no-untyped-def]
    w = ring(u, f * m)
    return w, ring(w, m)


def with_gaps(x, m, n):  # type: ignore[no-untyped-def]
    known = np.ones(x.shape[0], dtype=np.int8)
    p = x.copy()
    q = m.copy()
    for i in range(p.shape[0]):
        if np.isnan(p[i]) or i == 2:
            known[i] = 0
            p[i] = 0.0
    for t in range(n):
        if t == 1:
            p, q = q, p
        p, q = handed_around(q, p, 0.5 + 0.1 * t)
        for i in range(p.shape[0]):
            p[i] = p[i] * known[i] + x[0]
    return np.sum(p * q)


def under_tests(x, m, n):  # type: ignore[no-untyped-def]
    u = x.copy()
    s = 0.0
    for t in range(n):
        if t % 2 == 1:
            v = ring(u, m)
            for i in range(u.shape[0]):
                u[i] = v[i] * v[i] + u[i]
        else:
            s += energy(u)
    if s > 1e-3:
        u = ring(u * 2.0, m)
    return s + np.sum(u)


def two_results(x, m):  # type: ignore[no-untyped-def]
    w = x[0] * m[1]
    s = 0.0
    for i in range(3):
        r, e = waves(x, w)
        w = w * e + r[i]
        s += w
    return s


def views_of_arrays(x, m):  # type: ignore[no-untyped-def]
    y = np.zeros((3, 5))
    for i in range(3):
        for j in range(5):
            y[i, j] = x[j] * (i + 1) + m[j] ** 2
    v = ring(y[:, 0], y[:, 1])
    return np.sum(ring(y[1], y[2]) * ring(x, x)) + np.sum(v) ** 2


def looked_up(x, m):  # type: ignore[no-untyped-def]
    found = picked(x, np.argsort(x))
    s = 0.0
    for i in range(m.shape[0]):
        s += found[i] * m[i] ** 2
    return s


def handed_on(u, m, f):  # type: ignore[no-untyped-def]
    return f(u, m) + 1.0


def by_helpers(x, m):  # type: ignore[no-untyped-def]
    return np.sum(handed_on(x, m, ring) * x)


def until(x, m, n):  # type: ignore[no-untyped-def]
    u = x.copy()
    t = 0
    while t < n:
        u = ring(u, m)
        if energy(u) < 1e-3:
            break
        t += 1
    return np.sum(u) * 1.5


X = np.array([0.9, 0.3, 0.6, 0.2, 1.1])
M = np.array([0.4, 0.1, 0.25, 0.3, 0.05])
CASES: list[tuple[Function, tuple[Any, ...]]] = [
    (several_times, (X, M)),
    (in_time, (X, M, 3)),
    (in_place, (X, M, 4)),
    (changed_behind, (X, M)),
    (with_gaps, (X, M, 3)),
    (under_tests, (X, M, 4)),
    (two_results, (X, M)),
    (views_of_arrays, (X, M)),
    (looked_up, (X, M)),
    (by_helpers, (X, M)),
    (until, (X, M, 3)),
]


def copies(args: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(np.copy(a) if isinstance(a, np.ndarray) else a for a in args)


def central(f: Function, args: tuple[Any, ...], k: int) -> Any:
    """The gradient by argument `k`, by differences of the plain function."""
    base = np.asarray(args[k], np.float64)
    found = np.zeros(base.shape)
    for place in np.ndindex(base.shape):
        sides = []
        for step in (1e-6, -1e-6):
            moved = base.copy()
            moved[place] += step
            sides.append(f(*copies((*args[:k], moved, *args[k + 1 :]))))
        found[place] = (sides[0] - sides[1]) / 2e-6
    return found


def agrees(f: Function, args: tuple[Any, ...], target: str, **options: Any) -> None:
    """Assert that the gradients by all arrays are those of differences."""
    made = pyrev.differentiable(f, target=target, **options)
    names = f.__code__.co_varnames
    wanted = {
        names[k]: central(f, args, k)
        for k, a in enumerate(args)
        if isinstance(a, np.ndarray) and a.dtype.kind == "f"
    }
    value, pullback = pyrev.vjp(made, *copies(args))
    np.testing.assert_allclose(value, f(*copies(args)), rtol=1e-12)
    arrays = {n: 0.0 for n in made._units.function.written}
    for found in (
        pullback(1.0, cotangents=arrays),
        pyrev.grad(made)(*copies(args)),
    ):
        for name, differences in wanted.items():
            np.testing.assert_allclose(
                found[name], differences, rtol=1e-6, atol=1e-6, err_msg=name
            )


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("f", "args"), CASES, ids=lambda c: getattr(c, "__name__", ""))
def test_gradients_follow_the_rules(
    f: Function, args: tuple[Any, ...], target: str
) -> None:
    agrees(f, args, target)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("f", "args"),
    [(in_time, (X, M, 4)), (in_place, (X, M, 4)), (changed_behind, (X, M))],
    ids=lambda c: getattr(c, "__name__", ""),
)
def test_states_between_calls_may_be_checkpointed(
    f: Function, args: tuple[Any, ...], target: str
) -> None:
    agrees(f, args, target, memory="1MB")


# -------------------------------------------------------------------- ready rules


def qr_of(a):  # type: ignore[no-untyped-def]
    q, r = np.linalg.qr(a)
    s = 0.0
    for i in range(q.shape[0]):
        for j in range(q.shape[1]):
            s += q[i, j] * (i - 2.0 * j) + r[min(i, 2), j] ** 2
    return s


def eigh_of(a):  # type: ignore[no-untyped-def]
    w, v = np.linalg.eigh(a + a.T)
    s = 0.0
    for i in range(w.shape[0]):
        s += w[i] ** 3 + v[i, 1] ** 2 * (i + 1.0)
    return s


def eigvalsh_of(a):  # type: ignore[no-untyped-def]
    w = np.linalg.eigvalsh(a)
    return w[0] * w[1] + w[2] ** 2


def svd_of(a):  # type: ignore[no-untyped-def]
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    t = 0.0
    for i in range(s.shape[0]):
        t += s[i] ** 3 + u[1, i] * vh[i, 0] * (i + 1.0)
    return t


def svdvals_of(a):  # type: ignore[no-untyped-def]
    s = np.linalg.svdvals(a)
    return np.sum(s)


def pinv_of(a):  # type: ignore[no-untyped-def]
    x = np.linalg.pinv(a)
    s = 0.0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            s += x[i, j] * (i + 2.0 * j)
    return s


def slogdet_of(a):  # type: ignore[no-untyped-def]
    sign, log = np.linalg.slogdet(a)
    return sign * log**2


def solve_of(a, b):  # type: ignore[no-untyped-def]
    x = linalg.solve(a, b)
    return np.sum(x * x)


def triangular_of(a, b):  # type: ignore[no-untyped-def]
    x = linalg.solve_triangular(a, b, lower=True)
    y = linalg.solve_triangular(a, x, trans=1, lower=True)
    return np.sum(y * x)


def expm_of(a):  # type: ignore[no-untyped-def]
    x = linalg.expm(a)
    s = 0.0
    for i in range(a.shape[0]):
        s += x[i, 0] * (i + 1.0) + x[1, i] ** 2
    return s


def dct_of(x, m):  # type: ignore[no-untyped-def]
    y = fft.idct(fft.dct(x) * m)
    return np.sum(y * y * y)


def fftconvolve_of(x, m):  # type: ignore[no-untyped-def]
    y = signal.fftconvolve(x, m)
    return np.sum(y * y)


def smoothed(a):  # type: ignore[no-untyped-def]
    y = ndimage.gaussian_filter(a, 0.8)
    return np.sum(y * y * a)


def convolved(a, k):  # type: ignore[no-untyped-def]
    y = ndimage.convolve(a, k)
    return np.sum(y * y * a)


A = np.random.default_rng(0).random((4, 3)) + np.eye(4, 3)
B = np.random.default_rng(1).random((3, 3)) + 2 * np.eye(3)
READY: list[tuple[Function, tuple[Any, ...]]] = [
    (qr_of, (A,)),
    (eigh_of, (B,)),
    (eigvalsh_of, (B,)),
    (svd_of, (A,)),
    (svd_of, (A.T.copy(),)),
    (svdvals_of, (A,)),
    (pinv_of, (A,)),
    (slogdet_of, (B,)),
    (solve_of, (B, X[:3].copy())),
    (triangular_of, (B, X[:3].copy())),
    (expm_of, (B,)),
    (dct_of, (X, M)),
    (fftconvolve_of, (X, M)),
    (smoothed, (A,)),
    (convolved, (A, B)),
]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("f", "args"), READY, ids=lambda c: getattr(c, "__name__", ""))
def test_functions_of_numpy_and_scipy_have_rules(
    f: Function, args: tuple[Any, ...], target: str
) -> None:
    agrees(f, args, target)


@pytest.mark.parametrize(("f", "args"), READY, ids=lambda c: getattr(c, "__name__", ""))
def test_ready_rules_are_those_of_tangents_and_of_second_order(
    f: Function, args: tuple[Any, ...]
) -> None:
    made = pyrev.differentiable(f, target="python")
    names = list(inspect.signature(f).parameters)
    rng = np.random.default_rng(0)
    for k, name in enumerate(names):
        way = rng.random(args[k].shape)
        moved = [
            [
                a + s * 1e-6 * way if n == name else a
                for n, a in zip(names, args, strict=True)
            ]
            for s in (1, -1)
        ]
        _, tangent = pyrev.jvp(made, *args, tangents={name: way})
        high, low = (f(*a) for a in moved)
        assert tangent["return"] == pytest.approx((high - low) / 2e-6, rel=1e-6)
        if f is smoothed:  # its rule says that there is none by the width
            with pytest.raises(UnsupportedError):
                pyrev.hvp(made, *args, tangents={name: way})
            continue
        found = pyrev.hvp(made, *args, tangents={name: way})[name]
        gradient = pyrev.grad(made, wrt=name)
        high, low = (gradient(*a) for a in moved)
        near = 1e-6 * abs(found).max()
        np.testing.assert_allclose(found, (high - low) / 2e-6, rtol=1e-5, atol=near)


def filtered_by(a, sigma):  # type: ignore[no-untyped-def]
    return np.sum(ndimage.gaussian_filter(a, sigma) ** 2)


def test_a_width_has_no_derivative() -> None:
    made = pyrev.differentiable(filtered_by, target="python")
    with pytest.raises(ArgumentError, match="asked for"):
        pyrev.grad(made)(A, 0.8)
    with pytest.raises(ArgumentError, match="by its width"):
        pyrev.jvp(made, A, 0.8, tangents={"sigma": 1.0})
    way = np.ones(A.shape)
    assert np.isfinite(pyrev.jvp(made, A, 0.8, tangents={"a": way})[1]["return"])


# -------------------------------------------------------------------- texts


def solved_vjp(a: Any, b: Any, x: Any, d_x: Any) -> Any:
    d_b = np.linalg.solve(a.T, d_x)
    return -np.outer(d_b, x), d_b


@pyrev.custom_vjp(solved_vjp, result=lambda a, b: b)
def solved(a: Any, b: Any) -> Any:
    """As a library of somebody's would."""
    return np.linalg.solve(a, b)


@pyrev.differentiable
def misfit(k, f, d):  # type: ignore[no-untyped-def]
    a = np.zeros((f.shape[0], f.shape[0]))
    for i in range(f.shape[0]):
        a[i, i] = 2.0 + k[i] * k[i]
    u = solved(a, f)
    s = 0.0
    for i in range(d.shape[0]):
        s += (u[i] - d[i]) ** 2
    return s


MISFIT_ADJOINT = """\
def misfit_adjoint(k, f, d, d_result, solved, solved_vjp):
    a = np.zeros((f.shape[0], f.shape[0]))
    for i in range(f.shape[0]):
        a[i, i] = 2.0 + k[i] * k[i]
    u = solved(a, f)
"""
MISFIT_SWEEP = """\
    d_a_part, d_f_part = solved_vjp(a, f, u, d_u)
"""


def test_the_adjoint_calls_the_rule_by_its_name() -> None:
    text = misfit.adjoint.source
    assert MISFIT_ADJOINT in text
    assert MISFIT_SWEEP in text
    assert "pyrev" not in text


def test_a_saved_adjoint_takes_the_functions_as_arguments(tmp_path: Any) -> None:
    file = tmp_path / "saved.py"
    misfit.adjoint.save(str(file))
    found: dict[str, Any] = {}
    exec(file.read_text(), found)  # noqa: S102
    own = found["misfit_adjoint"](X, M, X, 1.0, solved, solved_vjp)
    np.testing.assert_allclose(own[0], pyrev.grad(misfit)(X, M, X).k)


def test_a_loop_with_a_call_is_serial() -> None:
    def rows(x, m, out):  # type: ignore[no-untyped-def]
        for i in range(out.shape[0]):
            v = ring(x, m)
            for j in range(out.shape[1]):
                out[i, j] = v[j] * i

    made = pyrev.differentiable(rows)
    out = np.zeros((400, 5))
    made(X, M, out)
    np.testing.assert_allclose(out[7], 7 * ring(X, M))
    text = str(made.primal.source_for("numba", X, M, out))
    assert "prange" not in text


# -------------------------------------------------------------------- other modes


def ring_twice(x, m):  # type: ignore[no-untyped-def]
    u = ring(ring(x, m), m)
    return np.sum(u * u)


@pytest.mark.parametrize("target", TARGETS)
def test_forward_mode_follows_a_rule_of_its_own(target: str) -> None:
    made = pyrev.differentiable(ring_twice, target=target)
    way = np.cos(X)
    _, moved = pyrev.jvp(made, X, M, tangents={"x": way})
    wanted = np.sum(central(ring_twice, (X, M), 0) * way)
    np.testing.assert_allclose(moved["return"], wanted, rtol=1e-6)
    report = pyrev.check_grad(made, X, M)
    assert report.ok
    assert report.dot_product_error is not None


def test_forward_mode_without_a_rule_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="no rule for forward mode"):
        pyrev.jvp(misfit, X, M, X, tangents={"k": X})
    report = pyrev.check_grad(misfit, X, M, X)
    assert report.ok
    assert report.dot_product_error is None


def curvature(f: Any, way: Any, *args: Any) -> Any:
    """Differences of the gradient by the first argument along `way`."""
    gradient = pyrev.grad(f, wrt=0)
    first, *others = args
    high, low = first + 1e-6 * way, first - 1e-6 * way
    return (gradient(high, *others) - gradient(low, *others)) / 2e-6


def test_second_order_reads_the_rule() -> None:
    way = np.cos(X)
    found = pyrev.hvp(misfit, X, M, X, tangents={"k": way}).k
    np.testing.assert_allclose(found, curvature(misfit, way, X, M, X), rtol=1e-6)


def test_second_order_reads_a_rule_of_transforms() -> None:
    way = np.cos(X)
    found = pyrev.hvp(pyrev.differentiable(ring_twice), X, M, tangents={"x": way}).x
    np.testing.assert_allclose(found, curvature(ring_twice, way, X, M), rtol=1e-6)


def fitted_vjp(a: Any, b: Any, x: Any, d_x: Any) -> Any:
    return 0, np.linalg.lstsq(a.T, d_x, rcond=None)[0]


@pyrev.custom_vjp(fitted_vjp, result=lambda a, b: a[0], check=False)
def fitted(a: Any, b: Any) -> Any:
    return np.linalg.lstsq(a, b, rcond=None)[0]


def fitted_twice(a, b):  # type: ignore[no-untyped-def]
    x = fitted(a, b)
    return np.sum(x**3)


def test_second_order_of_a_rule_that_cannot_be_read_is_refused() -> None:
    made = pyrev.differentiable(fitted_twice)
    a, b = np.eye(4) + 0.1, np.arange(4.0)
    with pytest.raises(UnsupportedError):
        pyrev.hvp(made, a, b, wrt="b", tangents={"b": b})


def cube_rule_vjp(x: Any, y: Any, d_y: Any, d_x: Any, c: Any) -> Any:
    return 6 * x * d_y * c, np.zeros_like(y), 3 * x * x * c


@pyrev.custom_vjp(cube_rule_vjp, result=lambda x, y, d_y: x)
def cube_vjp(x: Any, y: Any, d_y: Any) -> Any:
    return np.asarray(3 * x * x * d_y)


@pyrev.custom_vjp(cube_vjp, result=lambda x: x)
def cube(x: Any) -> Any:
    return np.asarray(x**3)


@pyrev.differentiable
def cubes(x):  # type: ignore[no-untyped-def]
    y = cube(x)
    s = 0.0
    for i in range(x.shape[0]):
        s += y[i] * x[i]
    return s


def test_a_rule_may_have_a_rule() -> None:
    found = pyrev.hvp(cubes, X, tangents={"x": M}).x
    np.testing.assert_allclose(found, 12 * X**2 * M, rtol=1e-9)


# -------------------------------------------------------------------- what does not fit


def doubled_vjp(a: Any, r: Any, d_r: Any) -> Any:
    return 2 * d_r


def short(a: Any) -> Any:
    return 2 * a[1:]


def single(a: Any) -> Any:
    return (2 * a).astype(np.float32)


def pair(a: Any) -> Any:
    return 2 * a, 1.0


def spoiled(a: Any) -> Any:
    a[0] = 1.0
    return 2 * a


def tripled(a: Any) -> Any:
    return 3 * a


def turned(a: Any) -> Any:
    return a[::-1]


def unchanged(a: Any) -> Any:
    return a


BUFFER = np.zeros(5)


def buffered(a: Any) -> Any:
    return np.multiply(2.0, a, out=BUFFER[: a.size])


def made_of(function: Function, target: str, **options: Any) -> Function:
    """A function that calls another one, whose rule is that of twice the argument."""
    opaque = pyrev.custom_vjp(doubled_vjp, result=lambda a: a, **options)(function)

    def weighted(x):  # type: ignore[no-untyped-def]
        y = opaque(x)
        s = 0.0
        for i in range(x.shape[0]):
            s += y[i] * x[i]
        return s

    return pyrev.grad(pyrev.differentiable(weighted, target=target))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("function", "error", "says"),
    [
        (short, ArgumentError, r"`short` returned an array of shape \(4,\)"),
        (single, ArgumentError, "`single` returned float32"),
        (pair, ArgumentError, "`pair` returned 2 values"),
        (spoiled, ValueError, "read-only"),
        (turned, ArgumentError, "`turned` returned its argument, or a view of it"),
        (unchanged, ArgumentError, "`unchanged` returned its argument"),
        (tripled, ArgumentError, "`doubled_vjp` is not the derivative of `tripled`"),
    ],
    ids=lambda c: getattr(c, "__name__", ""),
)
def test_what_a_function_does_is_checked(
    function: Function, error: type[Exception], says: str, target: str
) -> None:
    with pytest.raises(error, match=says):
        made_of(function, target)(X)


@pytest.mark.parametrize("target", TARGETS)
def test_results_have_memory_of_their_own(target: str) -> None:
    opaque = pyrev.custom_vjp(doubled_vjp, result=lambda a: a)(buffered)

    def twice(x):  # type: ignore[no-untyped-def]
        y = opaque(x)
        z = opaque(y)
        return np.sum(y * z)

    with pytest.raises(
        ArgumentError, match="an array that it returned before|argument"
    ):
        pyrev.grad(pyrev.differentiable(twice, target=target))(X)

    def both_vjp(a: Any, r: Any, s: Any, d_r: Any, d_s: Any) -> Any:
        return 2 * d_r + 2 * d_s

    @pyrev.custom_vjp(both_vjp, result=lambda a: (a, a))
    def both(a: Any) -> Any:
        found = 2 * a
        return found, found

    def of_both(x):  # type: ignore[no-untyped-def]
        y, z = both(x)
        y[0] = 1.0
        return np.sum(y * z)

    with pytest.raises(ArgumentError, match="two results in one memory"):
        pyrev.grad(pyrev.differentiable(of_both, target=target))(X)


def parts_vjp(a: Any, r: Any, s: Any, d_r: Any, d_s: Any) -> Any:
    return np.fft.fft(d_r - 1j * d_s).real


@pyrev.custom_vjp(parts_vjp, result=lambda a: (a, a))
def parts(a: Any) -> Any:
    found = np.fft.fft(a)
    return found.real, found.imag


def spectrum(x):  # type: ignore[no-untyped-def]
    re, im = parts(x)
    re[0] = 0.5 * x[1]
    s = 0.0
    for i in range(x.shape[0]):
        s += (i + 1) * (re[i] * re[i] + im[i] * x[i])
    return s


@pytest.mark.parametrize("target", TARGETS)
def test_parts_of_complex_numbers_lie_between_each_other(target: str) -> None:
    f = pyrev.differentiable(spectrum, target=target)
    assert pyrev.check_grad(f, X)


def test_a_rule_may_be_meant_to_differ() -> None:
    found = made_of(tripled, "python", check=False)(X)
    np.testing.assert_allclose(found.x, 3 * X + 2 * X)


def test_a_rule_must_have_the_shapes_of_the_arguments() -> None:
    def wrong_vjp(a: Any, r: Any, d_r: Any) -> Any:
        return d_r[:2]

    opaque = pyrev.custom_vjp(wrong_vjp, result=lambda a: a)(tripled)

    def total(x):  # type: ignore[no-untyped-def]
        y = opaque(x)
        return np.sum(y * x)

    with pytest.raises(ArgumentError, match="`wrong_vjp` returned an array of shape"):
        pyrev.grad(pyrev.differentiable(total))(X)


def test_options_are_checked() -> None:
    with pytest.raises(ArgumentError, match="result="):
        pyrev.custom_vjp(doubled_vjp, result=3)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="jvp"):
        pyrev.custom_vjp(doubled_vjp, jvp=doubled_vjp)


def test_gpus_do_not_run_it() -> None:
    with pytest.raises(UnsupportedError, match="`solved` runs as it is, in CPython"):
        misfit.adjoint.source_for("cuda", X, M, X)


def chunked(x, m):  # type: ignore[no-untyped-def]
    v = ring(x, m)
    s = 0.0
    for i in range(x.shape[0]):
        s += v[i] * x[i]
    return s


def test_chunks_are_no_arguments_of_it() -> None:
    array = pytest.importorskip("dask.array")
    made = pyrev.dask.distribute(chunked)
    with pytest.raises((UnsupportedError, ArgumentError)):
        made(array.from_array(np.ones(8), chunks=4), np.ones(8)).compute()


def test_float32_stays_float32() -> None:
    x, m = X.astype(np.float32), M.astype(np.float32)

    def kept_vjp(a: Any, r: Any, d_r: Any) -> Any:
        return 2 * a * d_r

    @pyrev.custom_vjp(kept_vjp, result=lambda a: a)
    def kept(a: Any) -> Any:
        return a * a

    def total(x, m):  # type: ignore[no-untyped-def]
        y = kept(x)
        s = 0.0
        for i in range(x.shape[0]):
            s += y[i] * m[i]
        return s

    for target in TARGETS:
        found = pyrev.grad(pyrev.differentiable(total, target=target))(x, m)
        assert found.x.dtype == np.float32
        np.testing.assert_allclose(found.x, 2 * x * m, rtol=1e-5)


@pyrev.differentiable
def inner(u):  # type: ignore[no-untyped-def]
    s = 0.0
    for i in range(u.shape[0]):
        s += u[i] ** 3
    return s


def nested_vjp(u: Any, s: Any, d_s: Any) -> Any:
    return d_s * pyrev.grad(inner)(u).u


@pyrev.custom_vjp(nested_vjp, result=lambda u: 0.0)
def nested(u: Any) -> Any:
    return inner(u)


def outer(x, m):  # type: ignore[no-untyped-def]
    return nested(x * m) ** 2


def test_compiled_functions_may_be_called_from_it() -> None:
    agrees(outer, (X, M), "numba")


def widened(a, width):  # type: ignore[no-untyped-def]
    y = ndimage.gaussian_filter(a, width)
    return np.sum(y * y)


@pytest.mark.parametrize("target", TARGETS)
def test_what_has_no_derivative_cannot_be_asked_for(target: str) -> None:
    made = pyrev.differentiable(widened, target=target)
    found = pyrev.grad(made, wrt="a")(X, 0.8)
    np.testing.assert_allclose(found, central(widened, (X, 0.8), 0), rtol=1e-6)
    with pytest.raises(ArgumentError, match="that derivative is asked for"):
        pyrev.grad(made)(X, 0.8)


def spread_vjp(x, n, y, d_y):
    return np.full(x.shape, d_y.sum()), 0


@pyrev.custom_vjp(
    spread_vjp,
    result=lambda x, n: np.empty(n) if x.ndim == 1 else np.empty((x.shape[0], n)),
)
def spread(x, n):
    return np.full(n if x.ndim == 1 else (x.shape[0], n), x.sum())


def spread_out(x):
    y = spread(x, 4)
    return np.sum(y**3)


@pytest.mark.parametrize("target", ["python", "numba"])
def test_what_a_result_is_like_may_depend_on_the_axes(target: str) -> None:
    f = pyrev.differentiable(spread_out, target=target)
    for x in (np.arange(6.0) / 6.0, np.arange(6.0).reshape(2, 3) / 6.0):
        assert f(x) == pytest.approx(spread_out(x), rel=1e-14)
        assert pyrev.check_grad(f, x).ok


def test_compiled_code_takes_no_array_for_another() -> None:
    from pyrev.runtime.opaque import with_sizes

    x = np.zeros((2, 3))
    assert with_sizes(x, 2, 3) is x
    for sizes in ((6,), (3, 2), (2, 3, 1)):
        with pytest.raises(pyrev.InternalError, match="taken for"):
            with_sizes(x, *sizes)
    text = str(pyrev.differentiable(spread_out).primal.source_for("numba", np.zeros(3)))
    assert "with_sizes(" in text


def scaled_vjp(x, c, y, d_y):
    return d_y * c, 0.0


@pyrev.custom_vjp(scaled_vjp, result=lambda x, c: x, check=False)
def scaled_by(x, c):
    return x * c


def scaled_in_turns(x):
    u = x.copy()
    for _ in range(4):
        u = scaled_by(u * u, 2.0)
        u = u * u * 0.3
        u = scaled_by(u * u, 1.5)
    return np.sum(u)


@pytest.mark.parametrize("target", ["python", "numba"])
def test_what_nobody_reads_takes_no_counters_name(target: str) -> None:
    f = pyrev.differentiable(scaled_in_turns, target=target)
    assert pyrev.check_grad(f, np.array([0.3, 0.5, 0.7])).ok


def test_a_function_may_be_made_again_after_it_was_forgotten() -> None:
    found = []
    for _ in range(3):
        f = pyrev.differentiable(spread_out, target="numba")
        found.append(f(np.arange(6.0)))
        del f
        code_cache._RECENT.clear()  # as if there had been many others
        gc.collect()
    assert found == [spread_out(np.arange(6.0))] * 3
