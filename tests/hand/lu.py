"""The factorisation of a matrix without pivots, in place."""


def lu(a):
    n = a.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]


def lu_adjoint(a, d_a):
    n = a.shape[0]
    a = a.copy()
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]
    d_a = d_a.copy()
    for k in range(n - 1, -1, -1):
        for i in range(k + 1, n):
            # a[i, j] -= a[i, k] * a[k, j]
            for j in range(k + 1, n):
                d_a[i, k] -= d_a[i, j] * a[k, j]
                d_a[k, j] -= d_a[i, j] * a[i, k]
            # a[i, k] /= a[k, k]
            d_a[i, k] /= a[k, k]
            d_a[k, k] -= d_a[i, k] * a[i, k]
    return d_a


def lu_tangent(a, dot_a):
    n = a.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            # by the quotient, which is there now
            dot_a[i, k] = (dot_a[i, k] - a[i, k] * dot_a[k, k]) / a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]
                dot_a[i, j] -= dot_a[i, k] * a[k, j] + a[i, k] * dot_a[k, j]


def arguments(n, rng):
    a = 0.3 * rng.uniform(-1.0, 1.0, (n, n))
    for k in range(n):
        a[k, k] += 2.0
    return {"a": a}
