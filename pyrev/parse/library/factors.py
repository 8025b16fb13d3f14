"""Factors of matrices, powers, least squares, eigenvalues."""

from __future__ import annotations

import numpy as np

from pyrev.parse.library.entries import Count, Matrix, Number, Vector, means


@means(np.linalg.qr)
def qr(a: Matrix) -> tuple[Matrix, Matrix]:
    """Orthonormal columns and a triangle, by reflections with the signs of LAPACK
    (Golub and Van Loan, Matrix Computations, section 5.2).
    """
    m = a.shape[0]
    n = a.shape[1]
    least = min(m, n)
    u = np.empty((m, n), dtype=np.result_type(a, 1.0))
    q = np.zeros((m, least), dtype=np.result_type(a, 1.0))
    for i in range(m):
        for k in range(n):
            u[i, k] = a[i, k]
    scale = np.zeros(least, dtype=np.result_type(a, 1.0))
    for j in range(least):
        below = 0.0
        for i in range(j + 1, m):
            below += u[i, j] * u[i, j]
        if below > 0.0:
            head = u[j, j]
            length = np.sqrt(head * head + below)
            if head > 0.0:
                length = -length
            scale[j] = (length - head) / length
            for i in range(j + 1, m):
                u[i, j] /= head - length
            u[j, j] = length
            for k in range(j + 1, n):
                along = u[j, k]
                for i in range(j + 1, m):
                    along += u[i, j] * u[i, k]
                along *= scale[j]
                u[j, k] -= along
                for i in range(j + 1, m):
                    u[i, k] -= along * u[i, j]
    for k in range(least):
        q[k, k] = 1.0
    for j in range(least - 1, -1, -1):
        for k in range(least):
            along = q[j, k]
            for i in range(j + 1, m):
                along += u[i, j] * q[i, k]
            along *= scale[j]
            q[j, k] -= along
            for i in range(j + 1, m):
                q[i, k] -= along * u[i, j]
    r = np.zeros((least, n), dtype=np.result_type(a, 1.0))
    for i in range(least):
        for k in range(i, n):
            r[i, k] = u[i, k]
    return q, r


@means(np.polyfit)
def polyfit(x: Vector, y: Vector, deg: Count) -> Vector:
    """The coefficients of the polynomial that is nearest to points, the highest first;
    the columns of its system have length one.
    """
    if x.shape[0] != y.shape[0]:
        raise TypeError("expected x and y to have same length")
    if x.shape[0] <= deg:
        raise np.linalg.LinAlgError("these are fewer points than coefficients")
    n = int(deg) + 1
    a = np.ones((x.shape[0], n))
    lengths = np.zeros(n)
    for i in range(x.shape[0]):
        for k in range(n - 2, -1, -1):
            a[i, k] = a[i, k + 1] * x[i]
    for k in range(n):
        for i in range(x.shape[0]):
            lengths[k] += a[i, k] * a[i, k]
        lengths[k] = np.sqrt(lengths[k])
        for i in range(x.shape[0]):
            a[i, k] /= lengths[k]
    q, r = np.linalg.qr(a)
    made = np.zeros(n)
    for k in range(n - 1, -1, -1):
        if not abs(r[k, k]) > 1e-13 * x.shape[0]:
            raise np.linalg.LinAlgError("these points do not determine a polynomial")
        for i in range(x.shape[0]):
            made[k] += q[i, k] * y[i]
        for j in range(k + 1, n):
            made[k] -= r[k, j] * made[j]
        made[k] /= r[k, k]
    for k in range(n):
        made[k] /= lengths[k]
    return made


@means(np.linalg.matrix_power)
def matrix_power(a: Matrix, n: Count) -> Matrix:
    """The product of so many equal matrices; for a negative number give the inverse."""
    if a.shape[0] != a.shape[1]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    if n < 0:
        raise ValueError("a negative power of a matrix is one of its np.linalg.inv")
    made = np.zeros((a.shape[0], a.shape[0]), dtype=a.dtype)
    for i in range(a.shape[0]):
        made[i, i] = 1
    for _ in range(n):
        before = made.copy()
        for i in range(a.shape[0]):
            for j in range(a.shape[0]):
                made[i, j] = 0
                for k in range(a.shape[0]):
                    made[i, j] += before[i, k] * a[k, j]
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
    sign = 1.0
    logarithm = 0.0
    for j in range(n):
        pivot = j
        for i in range(j + 1, n):
            if abs(u[i, j]) > abs(u[pivot, j]):
                pivot = i
        if pivot != j:
            sign = -sign
            for k in range(n):
                kept = u[j, k]
                u[j, k] = u[pivot, k]
                u[pivot, k] = kept
        if u[j, j] == 0.0:
            sign = 0.0
            logarithm = -np.inf
        else:
            if u[j, j] < 0.0:
                sign = -sign
            logarithm += np.log(abs(u[j, j]))
            for i in range(j + 1, n):
                factor = u[i, j] / u[j, j]
                for k in range(j, n):
                    u[i, k] -= factor * u[j, k]
    return sign, logarithm


@means(np.linalg.eigvalsh)
def eigvalsh(a: Matrix) -> Vector:
    """The eigenvalues of a symmetric matrix in ascending order, of which the lower part
    is read: Jacobi's rotations (Golub and Van Loan, Matrix Computations, section 8.5).
    """
    n = a.shape[0]
    if n != a.shape[1]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    u = np.empty((n, n), dtype=np.result_type(a, 1.0))
    for i in range(n):
        for k in range(n):
            u[i, k] = a[max(i, k), min(i, k)]
    sweeps = 0
    rest = 1.0
    whole = 0.0
    while rest > 1e-32 * whole and sweeps < 60:
        for p in range(n - 1):
            for q in range(p + 1, n):
                apart = u[q, q] - u[p, p]
                twice = 2.0 * u[p, q]
                if apart != 0.0 or twice != 0.0:
                    root = np.sqrt(apart * apart + twice * twice)
                    t = twice / (apart + (root if apart >= 0.0 else -root))
                    c = 1.0 / np.sqrt(1.0 + t * t)
                    s = t * c
                    for k in range(n):
                        left = u[k, p]
                        right = u[k, q]
                        u[k, p] = c * left - s * right
                        u[k, q] = s * left + c * right
                    for k in range(n):
                        upper = u[p, k]
                        lower = u[q, k]
                        u[p, k] = c * upper - s * lower
                        u[q, k] = s * upper + c * lower
                    u[p, q] = 0.0
                    u[q, p] = 0.0
        rest = 0.0
        whole = 0.0
        for i in range(n):
            for k in range(n):
                whole += u[i, k] * u[i, k]
                if i != k:
                    rest += u[i, k] * u[i, k]
        sweeps += 1
    made = np.empty(n, dtype=np.result_type(a, 1.0))
    for i in range(n):
        made[i] = u[i, i]
    return np.sort(made)
