# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
# ruff: noqa: B007
"""Functions that test their arguments, or give up, with an exception."""

from __future__ import annotations

import math

import numpy as np

from tests.corpora.entry import Cases

case = Cases()

OUT_OF_RANGE = "temperature out of range"


def _saturation(t):
    """Tetens' formula, as hydrologists have it."""
    if t < -50.0 or t > 60.0:
        raise ValueError(OUT_OF_RANGE)
    return 0.6108 * math.exp(17.27 * t / (t + 237.3))


def vapour_pressure_deficit(temp, humidity, out):
    n = temp.shape[0]
    if humidity.shape[0] != n or out.shape[0] != n:
        raise ValueError("temp, humidity and out must be equally long")
    for i in range(n):
        out[i] = _saturation(20.0 * temp[i]) * (1.0 - 0.5 * humidity[i])


case(
    vapour_pressure_deficit,
    lambda n, m: dict(temp=m(n), humidity=m(n), out=m(n)),
    "out",
)


def kepler_by_newton(mean, ecc):
    if ecc < 0.0 or ecc >= 1.0:
        raise ValueError("the orbit is not bound")
    e = mean
    for _ in range(50):
        step = (e - ecc * math.sin(e) - mean) / (1.0 - ecc * math.cos(e))
        e -= step
        if abs(step) < 1e-12:
            return e
    raise RuntimeError("Kepler's equation did not converge")


case(
    kepler_by_newton,
    lambda n, m: dict(mean=m.scalar(), ecc=m.scalar(0.1, 0.4)),
    real=4,
    only64=True,
)


def window_of_kind(x, kind):
    n = len(x)
    s = 0.0
    for i in range(n):
        phase = 2.0 * math.pi * i / max(n - 1, 1)
        if kind == 0:
            w = 1.0
        elif kind == 1:
            w = 0.5 - 0.5 * math.cos(phase)
        elif kind == 2:
            w = 0.54 - 0.46 * math.cos(phase)
        else:
            raise NotImplementedError("no such window")
        s += w * x[i] * x[i]
    return s


case(window_of_kind, lambda n, m: dict(x=m(n), kind=n % 3))


def barrier_price(paths, barrier, strike):
    if not barrier > 0.0:
        raise ValueError("the barrier is not positive")
    total = 0.0
    for p in range(paths.shape[0]):
        alive = True
        level = 1.0
        for t in range(paths.shape[1]):
            level *= math.exp(0.3 * paths[p, t])
            if math.isnan(level):
                raise FloatingPointError("a path is not a number")
            if level < barrier:
                alive = False
                break
        if alive:
            total += max(level - strike, 0.0)
    if paths.shape[0] == 0:
        raise ValueError("no paths")
    return total / paths.shape[0]


case(
    barrier_price,
    lambda n, m: dict(paths=m(n, 4), barrier=0.4131, strike=0.8317),
    least=1,
    real=20,
)


def thomas_with_pivots(lower, diag, upper, rhs, x):
    n = diag.shape[0]
    c = np.zeros(n)
    d = np.zeros(n)
    for i in range(n):
        pivot = diag[i]
        if i > 0:
            pivot -= lower[i] * c[i - 1]
        if pivot == 0.0:
            raise ZeroDivisionError("the matrix is singular")
        c[i] = upper[i] / pivot
        d[i] = rhs[i] / pivot
        if i > 0:
            d[i] -= lower[i] * d[i - 1] / pivot
    for i in range(n - 1, -1, -1):
        x[i] = d[i]
        if i < n - 1:
            x[i] -= c[i] * x[i + 1]


case(
    thomas_with_pivots,
    lambda n, m: dict(
        lower=0.3 * m(n), diag=2.0 + m.positive(n), upper=0.3 * m(n), rhs=m(n), x=m(n)
    ),
    "x",
    real=20,
)


def search_bracket(table, at):
    for k in range(table.shape[0] - 1):
        if at >= table[k] and at < table[k + 1]:
            break
    else:
        raise LookupError("outside of the table")
    return (at - table[k]) / (table[k + 1] - table[k])


case(
    search_bracket,
    lambda n, m: dict(table=np.cumsum(m.positive(n)), at=float(1.6 + 0.1 * n)),
    least=4,
    real=6,
)


def line_through(x, y):
    n = len(x)
    if n < 2 or len(y) != n:
        raise ValueError("two points or more are needed")
    sx, sy, sxx, sxy = 0.0, 0.0, 0.0, 0.0
    for i in range(n):
        sx += x[i]
        sy += y[i]
        sxx += x[i] * x[i]
        sxy += x[i] * y[i]
    det = n * sxx - sx * sx
    if abs(det) < 1e-12:
        raise np.linalg.LinAlgError("all points are above each other")
    slope = (n * sxy - sx * sy) / det
    return slope, (sy - slope * sx) / n


case(line_through, lambda n, m: dict(x=m.distinct(n), y=m(n)), least=2, real=30)


def scaled_columns_of_a_matrix(a):
    if a.ndim != 2:
        raise TypeError("a matrix is needed")
    out = np.empty(a.shape[1])
    for j in range(a.shape[1]):
        norm = 0.0
        for i in range(a.shape[0]):
            norm += a[i, j] * a[i, j]
        if norm == 0.0:
            message = "a column is zero"
            raise ValueError(message)
        out[j] = a[0, j] / math.sqrt(norm)
    return out


case(scaled_columns_of_a_matrix, lambda n, m: dict(a=m(n, n)), least=1, real=4)


def step_that_shrinks(x, h):
    t = 0.0
    while t < 1.0:
        k1 = -x * x
        k2 = -(x + h * k1) * (x + h * k1)
        error = abs(0.5 * h * (k2 - k1))
        if error > 0.02:
            h *= 0.5
            if h < 1e-6:
                raise OverflowError("the step is too small")
            continue
        x += 0.5 * h * (k1 + k2)
        t += h
    return x


case(
    step_that_shrinks,
    lambda n, m: dict(x=m.scalar(), h=0.3719),
    least=3,
    real=4,
)


def lagrange_weights(nodes, at):
    n = nodes.shape[0]
    total = 0.0
    for i in range(n):
        w = 1.0
        for j in range(n):
            if j == i:
                continue
            gap = nodes[i] - nodes[j]
            if gap == 0.0:
                raise ValueError(f"two nodes are equal")  # noqa: F541
            w *= (at - nodes[j]) / gap
        total += w * nodes[i] * nodes[i]
    return total


case(
    lagrange_weights,
    lambda n, m: dict(nodes=m.distinct(n), at=m.scalar()),
    real=5,
    only64=True,
)


def path_or_else(a, mode):
    if mode == 0:
        return a * a, 1.0
    if mode == 1:
        for k in range(4):
            if a > k:
                return a * k, 2.0 * a
        raise ArithmeticError("nothing is large enough")
    raise ValueError("mode must be 0 or 1")


case(path_or_else, lambda n, m: dict(a=m.scalar(), mode=n % 2), least=2, real=3)
