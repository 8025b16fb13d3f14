"""Least squares, and the logarithm of a determinant."""

from __future__ import annotations

import numpy as np

from pyrev.parse.library.entries import Count, Matrix, Number, Vector, means


@means(np.polyfit)
def polyfit(x: Vector, y: Vector, deg: Count) -> Vector:
    """The coefficients of the polynomial that is nearest to points, the highest first.

    The columns of the system, of length one, are made orthogonal one after the other,
    and the right side to each (modified Gram-Schmidt: Golub and Van Loan, Matrix
    Computations, sections 5.2.8 and 5.3.6).
    """
    n = int(deg) + 1
    m = x.shape[0]
    if n < 1:
        raise ValueError("expected deg >= 0")
    if m != y.shape[0]:
        raise TypeError("expected x and y to have same length")
    if m < n:
        raise np.linalg.LinAlgError("these are fewer points than coefficients")
    a = np.ones((m, n))
    r = np.zeros((n, n))
    left = np.empty(m)
    lengths = np.zeros(n)
    made = np.zeros(n)
    for i in range(m):
        left[i] = y[i]
        for k in range(n - 2, -1, -1):
            a[i, k] = a[i, k + 1] * x[i]
    for k in range(n):
        for i in range(m):
            lengths[k] += a[i, k] * a[i, k]
        lengths[k] = np.sqrt(lengths[k])
        for i in range(m):
            a[i, k] /= lengths[k]
    for k in range(n):
        for i in range(m):
            r[k, k] += a[i, k] * a[i, k]
        r[k, k] = np.sqrt(r[k, k])
        if not r[k, k] > 1e-13 * m:
            raise np.linalg.LinAlgError("these points do not determine a polynomial")
        for i in range(m):
            a[i, k] /= r[k, k]
        for j in range(k + 1, n):
            for i in range(m):
                r[k, j] += a[i, k] * a[i, j]
            for i in range(m):
                a[i, j] -= r[k, j] * a[i, k]
        for i in range(m):
            made[k] += a[i, k] * left[i]
        for i in range(m):
            left[i] -= made[k] * a[i, k]
    for k in range(n - 1, -1, -1):
        for j in range(k + 1, n):
            made[k] -= r[k, j] * made[j]
        made[k] /= r[k, k]
    for k in range(n):
        made[k] /= lengths[k]
    return made


@means(np.linalg.slogdet)
def slogdet(a: Matrix) -> tuple[Number, Number]:
    """The sign and the logarithm of the determinant, by elimination with partial
    pivoting.
    """
    n = a.shape[0]
    if n != a.shape[1]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    u = np.empty((n, n), dtype=np.result_type(a, 1.0))
    for i in range(n):
        for k in range(n):
            u[i, k] = a[i, k]
    found = np.zeros(2, dtype=np.result_type(a, 1.0))  # the sign, and the logarithm
    found[0] = 1.0
    for j in range(n):
        pivot = j
        for i in range(j + 1, n):
            if abs(u[i, j]) > abs(u[pivot, j]):
                pivot = i
        if pivot != j:
            found[0] = -found[0]
            for k in range(n):
                kept = u[j, k]
                u[j, k] = u[pivot, k]
                u[pivot, k] = kept
        if u[j, j] == 0.0:
            found[0] = 0.0
            found[1] = -np.inf
        else:
            if u[j, j] < 0.0:
                found[0] = -found[0]
            found[1] += np.log(abs(u[j, j]))
            for i in range(j + 1, n):
                factor = u[i, j] / u[j, j]
                for k in range(j, n):
                    u[i, k] -= factor * u[j, k]
    return found[0], found[1]
