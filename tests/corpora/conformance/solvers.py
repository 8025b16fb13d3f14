# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
# ruff: noqa: B007
"""Linear algebra, sparse products, and solvers that run until they have converged."""

from __future__ import annotations

import math

import numpy as np

from tests.corpora.entry import Cases

case = Cases()

# ---------------------------------------------------------------- roots, fixed points


def newton_square_root(a):
    x = a
    while abs(x * x - a) > 1e-13 * a:
        x = 0.5 * (x + a / x)
    return x


case(
    newton_square_root,
    lambda n, m: dict(a=m.scalar(1.5, 3.5)),
    least=3,
    real=3,
    catalogue=(71,),
    covers=("trip count from data",),
    only64=True,
)


def newton_per_element(a, out):
    for i in range(a.shape[0]):
        x = 1.0
        for k in range(50):
            f = x * x * x + a[i] * x - 2.0
            step = f / (3.0 * x * x + a[i])
            x -= step
            if abs(step) < 1e-14:
                break
        out[i] = x


case(
    newton_per_element,
    lambda n, m: dict(a=m.positive(n), out=m(n)),
    "out",
    covers=("trip count from data",),
)


def bisection_then_secant(a, b):
    lo = 0.0
    hi = 4.0
    while hi - lo > 0.01:
        mid = 0.5 * (lo + hi)
        if mid * mid * a + mid - b > 0:
            hi = mid
        else:
            lo = mid
    x0 = lo
    x1 = hi
    f0 = x0 * x0 * a + x0 - b
    f1 = x1 * x1 * a + x1 - b
    for k in range(6):
        if f1 == f0:
            return x1
        x2 = x1 - f1 * (x1 - x0) / (f1 - f0)
        x0, f0 = x1, f1
        x1, f1 = x2, x2 * x2 * a + x2 - b
    return x1


case(
    bisection_then_secant,
    lambda n, m: dict(a=m.scalar(), b=m.scalar(1.0, 3.0)),
    least=3,
    real=3,
)


def kepler_equation(mean_anomaly, eccentricity, out):
    for i in range(mean_anomaly.shape[0]):
        e = mean_anomaly[i]
        delta = 1.0
        while abs(delta) > 1e-13:
            delta = e - eccentricity * math.sin(e) - mean_anomaly[i]
            delta /= 1.0 - eccentricity * math.cos(e)
            e -= delta
        out[i] = e


case(
    kepler_equation,
    lambda n, m: dict(
        mean_anomaly=m.positive(n), eccentricity=m.scalar(0.1, 0.4), out=m(n)
    ),
    "out",
    covers=("trip count from data",),
    only64=True,
)


def fixed_point_cosine(x, scale):
    for _ in range(500):
        new = scale * math.cos(x)
        if abs(new - x) < 1e-14:
            return new
        x = new
    return x


case(
    fixed_point_cosine,
    lambda n, m: dict(x=m.scalar(), scale=m.scalar(0.3, 0.6)),
    least=3,
    real=3,
    covers=("trip count from data",),
)


def arithmetic_geometric_mean(a, b):
    while abs(a - b) > 1e-15 * abs(a):
        a, b = 0.5 * (a + b), math.sqrt(a * b)
    return a


case(
    arithmetic_geometric_mean,
    lambda n, m: dict(a=m.scalar(1.0, 1.5), b=m.scalar(0.3, 0.8)),
    least=3,
    real=3,
    covers=("trip count from data",),
    only64=True,
)


def colebrook_friction(reynolds, roughness):
    f = np.full_like(reynolds, 0.02)
    for i in range(len(f)):
        iterations = 0
        while True:
            old = f[i]
            inner = roughness / 37.0 + 2.51 / (1e4 * reynolds[i] * math.sqrt(old))
            f[i] = 1.0 / (-2.0 * math.log10(inner)) ** 2
            iterations += 1
            if abs(f[i] - old) < 1e-14 or iterations > 100:
                break
    return f


case(
    colebrook_friction,
    lambda n, m: dict(reynolds=m.positive(n), roughness=m.scalar(0.3, 0.6)),
    covers=("trip count from data",),
)


def power_iteration_normalised(a, v):
    value = 0.0
    for k in range(300):
        w = a @ v
        norm = math.sqrt(np.dot(w, w))
        v = w / norm
        new = v @ (a @ v)
        if abs(new - value) < 1e-15:
            break
        value = new
    return value


case(
    power_iteration_normalised,
    lambda n, m: dict(
        a=m.definite(n) + np.diag(2.0 * np.arange(n)).astype(m.dtype), v=m.positive(n)
    ),
    least=1,
    real=6,
    covers=("rebound array", "trip count from data"),
)


def gradient_descent_line_search(x, a, b):
    n = x.shape[0]
    for step in range(3):
        g = a @ x - b
        value = 0.5 * x @ (a @ x) - b @ x
        t = 1.0
        while True:
            trial = x - t * g
            if 0.5 * trial @ (a @ trial) - b @ trial <= value - 0.3 * t * (g @ g):
                break
            t *= 0.5
        x = trial
    return x[0] + x[n - 1]


case(
    gradient_descent_line_search,
    lambda n, m: dict(x=m(n), a=m.definite(n), b=m(n)),
    least=1,
    real=5,
    covers=("rebound array",),
    seed=4,
)


def golden_section(a, b):
    ratio = 0.6180339887498949
    lo, hi = -2.0, 2.0
    c = hi - ratio * (hi - lo)
    d = lo + ratio * (hi - lo)
    while hi - lo > 0.5:
        if (c - a) ** 2 + b * c < (d - a) ** 2 + b * d:
            hi = d
        else:
            lo = c
        c = hi - ratio * (hi - lo)
        d = lo + ratio * (hi - lo)
    x = 0.5 * (lo + hi)
    return (x - a) ** 2 * b


case(
    golden_section,
    lambda n, m: dict(a=m.scalar(), b=m.scalar()),
    least=3,
    real=3,
    covers=("trip count from data",),
)

# ---------------------------------------------------------------- linear systems


def conjugate_gradient(a, b, x):
    a = 0.5 * (a + a.T)
    r = b - a @ x
    p = r.copy()
    rs = r @ r
    for k in range(2 * len(b)):
        if rs < 1e-12:
            break
        ap = a @ p
        alpha = rs / (p @ ap)
        x += alpha * p
        r -= alpha * ap
        new = r @ r
        p = r + new / rs * p
        rs = new


case(
    conjugate_gradient,
    lambda n, m: dict(a=m.definite(n), b=m.positive(n), x=m(n)),
    "x",
    least=1,
    real=5,
    covers=("rebound array", "trip count from data"),
    only64=True,
)


def conjugate_gradient_loops(a, b, iterations):
    n = b.shape[0]
    x = np.zeros(n)
    r = b.copy()
    p = b.copy()
    ap = np.zeros(n)
    rs = 0.0
    for i in range(n):
        rs += r[i] * r[i]
    for k in range(iterations):
        pap = 0.0
        for i in range(n):
            ap[i] = 0.0
            for j in range(n):
                ap[i] += a[i, j] * p[j]
            pap += p[i] * ap[i]
        alpha = rs / pap
        new = 0.0
        for i in range(n):
            x[i] += alpha * p[i]
            r[i] -= alpha * ap[i]
            new += r[i] * r[i]
        for i in range(n):
            p[i] = r[i] + new / rs * p[i]
        rs = new
    return x


case(
    conjugate_gradient_loops,
    lambda n, m: dict(a=m.definite(n), b=m.positive(n), iterations=min(2, n)),
    least=1,
    real=12,
    covers=("overwrites what was read",),
    only64=True,
)


def lu_partial_pivoting(a, b):
    n = a.shape[0]
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if abs(a[i, k]) > abs(a[p, k]):
                p = i
        if p != k:
            for j in range(n):
                a[k, j], a[p, j] = a[p, j], a[k, j]
            b[k], b[p] = b[p], b[k]
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]
            b[i] -= a[i, k] * b[k]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            b[i] -= a[i, j] * b[j]
        b[i] /= a[i, i]


case(
    lu_partial_pivoting,
    lambda n, m: dict(a=(m.dominant(n)[::-1] + 0.2 * m(n, n)).copy(), b=m(n)),
    "a b",
    least=1,
    real=6,
    covers=("swap", "index from a search", "triangular"),
    only64=True,
)


def gaussian_elimination_rows(a, b):
    n = len(b)
    for k in range(n):
        pivot = k
        for i in range(k + 1, n):
            if abs(a[i, k]) > abs(a[pivot, k]):
                pivot = i
        if pivot != k:
            row = a[k].copy()
            a[k] = a[pivot]
            a[pivot] = row
            b[k], b[pivot] = b[pivot], b[k]
        for i in range(k + 1, n):
            factor = a[i, k] / a[k, k]
            a[i, k:] -= factor * a[k, k:]
            b[i] -= factor * b[k]
    x = np.zeros(n)
    for i in reversed(range(n)):
        x[i] = (b[i] - np.dot(a[i, i + 1 :], x[i + 1 :])) / a[i, i]
    return x


case(
    gaussian_elimination_rows,
    lambda n, m: dict(a=(m.dominant(n)[::-1] + 0.2 * m(n, n)).copy(), b=m(n)),
    "a b",
    least=2,
    real=6,
    covers=("swap", "index from a search", "row view"),
    only64=True,
)


def permuted_solve(lu, pivots, b):
    n = b.shape[0]
    for k in range(n):
        p = pivots[k]
        b[k], b[p] = b[p], b[k]
    for i in range(n):
        for j in range(i):
            b[i] -= lu[i, j] * b[j]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            b[i] -= lu[i, j] * b[j]
        b[i] /= lu[i, i]


case(
    permuted_solve,
    lambda n, m: dict(lu=m.dominant(n), pivots=m.indices(n, n), b=m(n)),
    "b",
    least=2,
    real=9,
    covers=("swap", "index from an array", "triangular"),
)


def determinant(a):
    lu = a.copy()
    n = lu.shape[0]
    det = 1.0
    for k in range(n):
        det *= lu[k, k]
        for i in range(k + 1, n):
            lu[i, k] /= lu[k, k]
            for j in range(k + 1, n):
                lu[i, j] -= lu[i, k] * lu[k, j]
    return det


case(
    determinant,
    lambda n, m: dict(a=m.dominant(n)),
    real=7,
    covers=("triangular", "overwrites what was read"),
)


def givens_qr(a):
    rows, cols = a.shape
    for j in range(cols):
        for i in range(rows - 1, j, -1):
            r = math.hypot(a[i - 1, j], a[i, j])
            c = a[i - 1, j] / r
            s = -a[i, j] / r
            for k in range(j, cols):
                upper = c * a[i - 1, k] - s * a[i, k]
                a[i, k] = s * a[i - 1, k] + c * a[i, k]
                a[i - 1, k] = upper


case(
    givens_qr,
    lambda n, m: dict(a=m.positive(n + 1, n) + 2 * np.eye(n + 1, n)),
    "a",
    least=1,
    real=5,
    covers=("triangular", "overwrites what was read"),
    only64=True,
)


def householder_qr(a, b):
    rows, cols = a.shape
    for k in range(cols):
        v = a[k:, k].copy()
        sign = 1.0 if v[0] > 0 else -1.0
        v[0] += sign * np.sqrt(np.sum(v * v))
        scale = 2.0 / np.sum(v * v)
        for j in range(k, cols):
            a[k:, j] -= scale * np.dot(v, a[k:, j]) * v
        b[k:] -= scale * np.dot(v, b[k:]) * v


case(
    householder_qr,
    lambda n, m: dict(a=m(n + 1, n) + 2 * np.eye(n + 1, n), b=m(n + 1)),
    "a b",
    least=1,
    real=5,
    covers=("triangular",),
    only64=True,
)


def jacobi_rotation_sweep(a):
    n = a.shape[0]
    for p in range(n):
        for q in range(p + 1, n):
            theta = 0.5 * math.atan2(2.0 * a[p, q], a[q, q] - a[p, p])
            c = math.cos(theta)
            s = math.sin(theta)
            for k in range(n):
                akp = c * a[k, p] - s * a[k, q]
                akq = s * a[k, p] + c * a[k, q]
                a[k, p], a[k, q] = akp, akq
            for k in range(n):
                apk = c * a[p, k] - s * a[q, k]
                aqk = s * a[p, k] + c * a[q, k]
                a[p, k], a[q, k] = apk, aqk


case(
    jacobi_rotation_sweep,
    lambda n, m: dict(
        a=m.definite(n) + np.diag(1.0 * np.arange(n)).astype(m.dtype) ** 2
    ),
    "a",
    least=2,
    real=5,
    covers=("triangular",),
    only64=True,
)


def thomas_in_place(low, diag, up, d):
    n = len(d)
    for i in range(1, n):
        w = low[i - 1] / diag[i - 1]
        diag[i] -= w * up[i - 1]
        d[i] -= w * d[i - 1]
    d[-1] /= diag[-1]
    for i in range(n - 2, -1, -1):
        d[i] = (d[i] - up[i] * d[i + 1]) / diag[i]


case(
    thomas_in_place,
    lambda n, m: dict(
        low=0.3 * m(n - 1), diag=1.0 + m.positive(n), up=0.3 * m(n - 1), d=m(n)
    ),
    "diag d",
    least=2,
    real=25,
    covers=("negative index", "negative step", "in-place recurrence"),
)


def banded_cholesky_solve(band, b):
    n = b.shape[0]
    w = band.shape[1] - 1
    for i in range(n):
        for j in range(max(0, i - w), i):
            for k in range(max(0, i - w, j - w), j):
                band[i, i - j] -= band[i, i - k] * band[j, j - k]
            band[i, i - j] /= band[j, 0]
        for k in range(max(0, i - w), i):
            band[i, 0] -= band[i, i - k] ** 2
        band[i, 0] = math.sqrt(band[i, 0])
    for i in range(n):
        for k in range(max(0, i - w), i):
            b[i] -= band[i, i - k] * b[k]
        b[i] /= band[i, 0]


def _band(n, m):
    band = 0.3 * m(n, 3)
    band[:, 0] = 2.0 + m.positive(n)
    return band


case(
    banded_cholesky_solve,
    lambda n, m: dict(band=_band(n, m), b=m(n)),
    "band b",
    least=2,
    wide=(3,),
    real=14,
    covers=("triangular", "min max index"),
)


def inverse_by_gauss_jordan(a):
    n = a.shape[0]
    inverse = np.zeros((n, n))
    for i in range(n):
        inverse[i, i] = 1.0
    for k in range(n):
        pivot = a[k, k]
        for j in range(n):
            a[k, j] /= pivot
            inverse[k, j] /= pivot
        for i in range(n):
            if i != k:
                factor = a[i, k]
                for j in range(n):
                    a[i, j] -= factor * a[k, j]
                    inverse[i, j] -= factor * inverse[k, j]
    return inverse


case(
    inverse_by_gauss_jordan,
    lambda n, m: dict(a=m.dominant(n)),
    "a",
    least=1,
    real=6,
    covers=("overwrites what was read",),
)


def least_squares_normal_equations(x, y):
    p = x.shape[1]
    a = x.T @ x
    for i in range(p):
        a[i, i] += 0.1
    c = x.T @ y
    for k in range(p):
        for i in range(k + 1, p):
            f = a[i, k] / a[k, k]
            for j in range(k, p):
                a[i, j] -= f * a[k, j]
            c[i] -= f * c[k]
    for i in range(p - 1, -1, -1):
        for j in range(i + 1, p):
            c[i] -= a[i, j] * c[j]
        c[i] /= a[i, i]
    return np.sum((x @ c - y) ** 2)


case(
    least_squares_normal_equations,
    lambda n, m: dict(x=m(n + 2, 3), y=m(n + 2)),
    real=12,
)


def strassen_like_blocks(a, b, c):
    n = a.shape[0]
    size = 4
    for ii in range(0, n, size):
        for jj in range(0, n, size):
            for kk in range(0, n, size):
                for i in range(ii, min(ii + size, n)):
                    for j in range(jj, min(jj + size, n)):
                        total = 0.0
                        for k in range(kk, min(kk + size, n)):
                            total += a[i, k] * b[k, j]
                        c[i, j] += total


case(
    strassen_like_blocks,
    lambda n, m: dict(a=m(n, n), b=m(n, n), c=m(n, n)),
    "c",
    wide=(4,),
    real=10,
)


def matrix_power_by_squaring(a, exponent):
    n = a.shape[0]
    result = np.zeros((n, n))
    for i in range(n):
        result[i, i] = 1.0
    base = a.copy()
    while exponent > 0:
        if exponent & 1:
            result = result @ base
        base = base @ base
        exponent >>= 1
    return result


case(
    matrix_power_by_squaring,
    lambda n, m: dict(a=0.5 * m(n, n), exponent=5),
    real=5,
    covers=("rebound array",),
)


def matrix_exponential_series(a):
    n = a.shape[0]
    term = np.zeros((n, n))
    for i in range(n):
        term[i, i] = 1.0
    total = term.copy()
    k = 1
    while np.max(np.abs(term)) > 1e-16 and k < 40:
        term = term @ a / k
        total += term
        k += 1
    return total


case(
    matrix_exponential_series,
    lambda n, m: dict(a=m(n, n)),
    least=1,
    real=4,
    covers=("rebound array", "trip count from data"),
)

# ---------------------------------------------------------------- sparse products


def _csr(n, m, columns):
    counts = m.rng.integers(0, 3, n)
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return indptr, m.indices(columns, int(indptr[-1])), m(int(indptr[-1]))


def csr_matvec(indptr, indices, data, x):
    y = np.zeros(indptr.shape[0] - 1)
    for i in range(len(y)):
        total = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            total += data[p] * x[indices[p]]
        y[i] = total
    return y


case(
    csr_matvec,
    lambda n, m: dict(
        zip(("indptr", "indices", "data"), _csr(n, m, n + 1), strict=True),
        x=m(n + 1),
    ),
    real=25,
    covers=("bounds from data", "index from an array"),
)


def csr_transposed_matvec(indptr, indices, data, x, y):
    for i in range(indptr.shape[0] - 1):
        for p in range(indptr[i], indptr[i + 1]):
            y[indices[p]] += data[p] * x[i]


case(
    csr_transposed_matvec,
    lambda n, m: dict(
        zip(("indptr", "indices", "data"), _csr(n, m, n + 1), strict=True),
        x=m(n),
        y=m(n + 1),
    ),
    "y",
    real=25,
    covers=("bounds from data", "index from an array"),
)


def csr_slice_matvec(indptr, indices, data, x):
    n = indptr.size - 1
    y = np.empty(n)
    for i in range(n):
        row = data[indptr[i] : indptr[i + 1]]
        cols = indices[indptr[i] : indptr[i + 1]]
        total = 0.0
        for k in range(len(row)):
            total += row[k] * x[cols[k]]
        y[i] = total
    return y


case(
    csr_slice_matvec,
    lambda n, m: dict(
        zip(("indptr", "indices", "data"), _csr(n, m, n + 1), strict=True),
        x=m(n + 1),
    ),
    real=25,
    covers=("bounds from data", "index from an array", "view"),
)


def csr_nonlinear_graph(indptr, indices, data, u, steps):
    n = u.shape[0]
    for t in range(steps):
        new = u.copy()
        for i in range(n):
            for p in range(indptr[i], indptr[i + 1]):
                d = u[indices[p]] - u[i]
                new[i] += 0.1 * data[p] * d / math.sqrt(1.0 + d * d)
        for i in range(n):
            u[i] = new[i]


case(
    csr_nonlinear_graph,
    lambda n, m: dict(
        zip(("indptr", "indices", "data"), _csr(n, m, n), strict=True),
        u=m(n),
        steps=3,
    ),
    "u",
    least=1,
    real=20,
    covers=("bounds from data", "time stepping"),
)


def coo_matvec(row, col, value, x, y):
    for k in range(len(value)):
        y[row[k]] += value[k] * x[col[k]]


case(
    coo_matvec,
    lambda n, m: dict(
        row=m.indices(n, 2 * n),
        col=m.indices(n + 1, 2 * n),
        value=m(2 * n),
        x=m(n + 1),
        y=m(n),
    ),
    "y",
    real=17,
    covers=("index from an array",),
)


def ell_matvec(columns, values, x, y):
    rows, width = values.shape
    for i in range(rows):
        y[i] = 0.0
        for k in range(width):
            j = columns[i, k]
            if j >= 0:
                y[i] += values[i, k] * x[j]


case(
    ell_matvec,
    lambda n, m: dict(
        columns=m.indices(n + 2, n, 3) - 1, values=m(n, 3), x=m(n + 1), y=m(n)
    ),
    "y",
    real=17,
    covers=("index from an array",),
)


def csr_lower_solve(indptr, indices, data, diagonal, b):
    n = b.shape[0]
    for i in range(n):
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            if j >= i:
                continue
            b[i] -= data[p] * b[j]
        b[i] /= diagonal[i]


case(
    csr_lower_solve,
    lambda n, m: dict(
        zip(("indptr", "indices", "data"), _csr(n, m, n), strict=True),
        diagonal=m.positive(n),
        b=m(n),
    ),
    "b",
    least=1,
    real=20,
    covers=("bounds from data", "in-place recurrence"),
)


def page_rank(source, target, weight, damping, nodes):
    rank = np.full(nodes, 1.0 / nodes)
    for step in range(10):
        new = np.full(nodes, (1.0 - damping) / nodes)
        for e in range(source.shape[0]):
            new[target[e]] += damping * weight[e] * rank[source[e]]
        rank = new
    return rank


case(
    page_rank,
    lambda n, m: dict(
        source=m.indices(n, 2 * n),
        target=m.indices(n, 2 * n),
        weight=0.5 * m.positive(2 * n),
        damping=m.scalar(0.5, 0.9),
        nodes=n,
    ),
    least=1,
    real=9,
    covers=("index from an array", "rebound array"),
)


def finite_element_assembly(nodes, elements, k, out):
    for e in range(elements.shape[0]):
        a = elements[e, 0]
        b = elements[e, 1]
        c = elements[e, 2]
        x1, y1 = nodes[a, 0], nodes[a, 1]
        x2, y2 = nodes[b, 0], nodes[b, 1]
        x3, y3 = nodes[c, 0], nodes[c, 1]
        area = 0.5 * ((x2 - x1) * (y3 - y1) - (x3 - x1) * (y2 - y1))
        stiff = k[e] * area * area
        for i in range(3):
            for j in range(3):
                out[elements[e, i], elements[e, j]] += stiff * (1.0 + (i == j))


case(
    finite_element_assembly,
    lambda n, m: dict(
        nodes=m(n, 2), elements=m.indices(n, n, 3), k=m.positive(n), out=m(n, n)
    ),
    "out",
    real=8,
    covers=("index from an array", "bools as numbers"),
)
