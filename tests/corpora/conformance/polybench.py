# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
# ruff: noqa: B007
"""The thirty kernels of PolyBench, as loops over arrays that are given."""

from __future__ import annotations

import math

import numpy as np

from tests.corpora.entry import Cases

case = Cases()

# ---------------------------------------------------------------- data mining


def correlation(data, corr):
    n, m = data.shape
    eps = 0.1
    mean = np.zeros(m)
    stddev = np.zeros(m)
    for j in range(m):
        for i in range(n):
            mean[j] += data[i, j]
        mean[j] /= n
    for j in range(m):
        for i in range(n):
            stddev[j] += (data[i, j] - mean[j]) * (data[i, j] - mean[j])
        stddev[j] /= n
        stddev[j] = math.sqrt(stddev[j])
        stddev[j] = 1.0 if stddev[j] <= eps else stddev[j]
    for i in range(n):
        for j in range(m):
            data[i, j] -= mean[j]
            data[i, j] /= math.sqrt(n) * stddev[j]
    for i in range(m - 1):
        corr[i, i] = 1.0
        for j in range(i + 1, m):
            corr[i, j] = 0.0
            for k in range(n):
                corr[i, j] += data[k, i] * data[k, j]
            corr[j, i] = corr[i, j]
    corr[m - 1, m - 1] = 1.0


case(
    correlation,
    lambda n, m: dict(data=m(n + 2, n), corr=m(n, n)),
    "data corr",
    least=1,
    real=8,
    covers=("triangular", "overwrites what was read"),
)


def covariance(data, cov):
    n, m = data.shape
    mean = np.zeros(m)
    for j in range(m):
        for i in range(n):
            mean[j] += data[i, j]
        mean[j] /= n
    for i in range(n):
        for j in range(m):
            data[i, j] -= mean[j]
    for i in range(m):
        for j in range(i, m):
            cov[i, j] = 0.0
            for k in range(n):
                cov[i, j] += data[k, i] * data[k, j]
            cov[i, j] /= n - 1.0
            cov[j, i] = cov[i, j]


case(
    covariance,
    lambda n, m: dict(data=m(n + 2, n), cov=m(n, n)),
    "data cov",
    real=8,
    covers=("triangular",),
)

# ---------------------------------------------------------------- BLAS and kernels


def gemm(alpha, beta, c, a, b):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            c[i, j] *= beta
        for k in range(a.shape[1]):
            for j in range(c.shape[1]):
                c[i, j] += alpha * a[i, k] * b[k, j]


case(
    gemm,
    lambda n, m: dict(
        alpha=m.scalar(), beta=m.scalar(), c=m(n, n + 1), a=m(n, 4), b=m(4, n + 1)
    ),
    "c",
    real=17,
    covers=("imperfect nest",),
)


def gemver(alpha, beta, a, u1, v1, u2, v2, w, x, y, z):
    n = a.shape[0]
    for i in range(n):
        for j in range(n):
            a[i, j] = a[i, j] + u1[i] * v1[j] + u2[i] * v2[j]
    for i in range(n):
        for j in range(n):
            x[i] = x[i] + beta * a[j, i] * y[j]
    for i in range(n):
        x[i] = x[i] + z[i]
    for i in range(n):
        for j in range(n):
            w[i] = w[i] + alpha * a[i, j] * x[j]


case(
    gemver,
    lambda n, m: dict(
        alpha=m.scalar(),
        beta=m.scalar(),
        a=m(n, n),
        u1=m(n),
        v1=m(n),
        u2=m(n),
        v2=m(n),
        w=m(n),
        x=m(n),
        y=m(n),
        z=m(n),
    ),
    "a w x",
    real=17,
)


def gesummv(alpha, beta, a, b, x, y):
    n = x.shape[0]
    tmp = np.zeros(n)
    for i in range(n):
        y[i] = 0.0
        for j in range(n):
            tmp[i] = a[i, j] * x[j] + tmp[i]
            y[i] = b[i, j] * x[j] + y[i]
        y[i] = alpha * tmp[i] + beta * y[i]


case(
    gesummv,
    lambda n, m: dict(
        alpha=m.scalar(), beta=m.scalar(), a=m(n, n), b=m(n, n), x=m(n), y=m(n)
    ),
    "y",
    real=17,
)


def symm(alpha, beta, c, a, b):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            temp2 = 0.0
            for k in range(i):
                c[k, j] += alpha * b[i, j] * a[i, k]
                temp2 += b[k, j] * a[i, k]
            c[i, j] = beta * c[i, j] + alpha * b[i, j] * a[i, i] + alpha * temp2


case(
    symm,
    lambda n, m: dict(
        alpha=m.scalar(), beta=m.scalar(), c=m(n, n + 1), a=m(n, n), b=m(n, n + 1)
    ),
    "c",
    real=9,
    catalogue=(78,),
    covers=("triangular",),
)


def syr2k(alpha, beta, c, a, b):
    for i in range(c.shape[0]):
        for j in range(i + 1):
            c[i, j] *= beta
        for k in range(a.shape[1]):
            for j in range(i + 1):
                c[i, j] += a[j, k] * alpha * b[i, k] + b[j, k] * alpha * a[i, k]


case(
    syr2k,
    lambda n, m: dict(
        alpha=m.scalar(), beta=m.scalar(), c=m(n, n), a=m(n, 3), b=m(n, 3)
    ),
    "c",
    real=12,
    covers=("triangular", "imperfect nest"),
)


def syrk(alpha, beta, c, a):
    for i in range(c.shape[0]):
        for j in range(i + 1):
            c[i, j] *= beta
        for k in range(a.shape[1]):
            for j in range(i + 1):
                c[i, j] += alpha * a[i, k] * a[j, k]


case(
    syrk,
    lambda n, m: dict(alpha=m.scalar(), beta=m.scalar(), c=m(n, n), a=m(n, 3)),
    "c",
    real=12,
    catalogue=(78,),
    covers=("triangular", "imperfect nest"),
)


def trmm(alpha, a, b):
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            for k in range(i + 1, b.shape[0]):
                b[i, j] += a[k, i] * b[k, j]
            b[i, j] = alpha * b[i, j]


case(
    trmm,
    lambda n, m: dict(alpha=m.scalar(), a=m(n, n), b=m(n, n + 1)),
    "b",
    real=9,
    catalogue=(78,),
    covers=("triangular",),
)


def two_mm(alpha, beta, a, b, c, d):
    tmp = np.zeros((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                tmp[i, j] += alpha * a[i, k] * b[k, j]
    for i in range(d.shape[0]):
        for j in range(d.shape[1]):
            d[i, j] *= beta
            for k in range(tmp.shape[1]):
                d[i, j] += tmp[i, k] * c[k, j]


case(
    two_mm,
    lambda n, m: dict(
        alpha=m.scalar(),
        beta=m.scalar(),
        a=m(n, 3),
        b=m(3, n + 1),
        c=m(n + 1, 2),
        d=m(n, 2),
    ),
    "d",
    real=12,
)


def three_mm(a, b, c, d, g):
    e = np.zeros((a.shape[0], b.shape[1]))
    f = np.zeros((c.shape[0], d.shape[1]))
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                e[i, j] += a[i, k] * b[k, j]
    for i in range(c.shape[0]):
        for j in range(d.shape[1]):
            for k in range(c.shape[1]):
                f[i, j] += c[i, k] * d[k, j]
    for i in range(e.shape[0]):
        for j in range(f.shape[1]):
            g[i, j] = 0.0
            for k in range(e.shape[1]):
                g[i, j] += e[i, k] * f[k, j]


case(
    three_mm,
    lambda n, m: dict(a=m(n, 2), b=m(2, n + 1), c=m(n + 1, 3), d=m(3, n), g=m(n, n)),
    "g",
    real=10,
)


def atax(a, x, y):
    tmp = np.zeros(a.shape[0])
    for j in range(a.shape[1]):
        y[j] = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            tmp[i] = tmp[i] + a[i, j] * x[j]
        for j in range(a.shape[1]):
            y[j] = y[j] + a[i, j] * tmp[i]


case(
    atax,
    lambda n, m: dict(a=m(n, n + 2), x=m(n + 2), y=m(n + 2)),
    "y",
    real=17,
    covers=("imperfect nest",),
)


def bicg(a, s, q, p, r):
    for i in range(a.shape[1]):
        s[i] = 0.0
    for i in range(a.shape[0]):
        q[i] = 0.0
        for j in range(a.shape[1]):
            s[j] = s[j] + r[i] * a[i, j]
            q[i] = q[i] + a[i, j] * p[j]


case(
    bicg,
    lambda n, m: dict(a=m(n, n + 1), s=m(n + 1), q=m(n), p=m(n + 1), r=m(n)),
    "s q",
    real=17,
)


def doitgen(a, c4):
    acc = np.zeros(a.shape[2])
    for r in range(a.shape[0]):
        for q in range(a.shape[1]):
            for p in range(a.shape[2]):
                acc[p] = 0.0
                for s in range(a.shape[2]):
                    acc[p] += a[r, q, s] * c4[s, p]
            for p in range(a.shape[2]):
                a[r, q, p] = acc[p]


case(
    doitgen,
    lambda n, m: dict(a=m(n, 3, n + 1), c4=m(n + 1, n + 1)),
    "a",
    real=6,
    covers=("imperfect nest", "overwrites what was read"),
)


def mvt(a, x1, x2, y1, y2):
    n = a.shape[0]
    for i in range(n):
        for j in range(n):
            x1[i] = x1[i] + a[i, j] * y1[j]
    for i in range(n):
        for j in range(n):
            x2[i] = x2[i] + a[j, i] * y2[j]


case(
    mvt,
    lambda n, m: dict(a=m(n, n), x1=m(n), x2=m(n), y1=m(n), y2=m(n)),
    "x1 x2",
    real=17,
)

# ---------------------------------------------------------------- solvers


def cholesky_polybench(a):
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            for k in range(j):
                a[i, j] -= a[i, k] * a[j, k]
            a[i, j] /= a[j, j]
        for k in range(i):
            a[i, i] -= a[i, k] * a[i, k]
        a[i, i] = math.sqrt(a[i, i])


case(
    cholesky_polybench,
    lambda n, m: dict(a=m.definite(n)),
    "a",
    least=1,
    real=9,
    catalogue=(78,),
    covers=("triangular", "overwrites what was read"),
)


def durbin(r, y):
    n = r.shape[0]
    z = np.zeros(n)
    y[0] = -r[0]
    beta = 1.0
    alpha = -r[0]
    for k in range(1, n):
        beta = (1 - alpha * alpha) * beta
        total = 0.0
        for i in range(k):
            total += r[k - i - 1] * y[i]
        alpha = -(r[k] + total) / beta
        for i in range(k):
            z[i] = y[i] + alpha * y[k - i - 1]
        for i in range(k):
            y[i] = z[i]
        y[k] = alpha


case(
    durbin,
    lambda n, m: dict(r=0.3 * m(n), y=m(n)),
    "y",
    least=1,
    real=12,
    catalogue=(80,),
    covers=("triangular", "overwrites what was read"),
)


def gramschmidt(a, r, q):
    for k in range(a.shape[1]):
        nrm = 0.0
        for i in range(a.shape[0]):
            nrm += a[i, k] * a[i, k]
        r[k, k] = math.sqrt(nrm)
        for i in range(a.shape[0]):
            q[i, k] = a[i, k] / r[k, k]
        for j in range(k + 1, a.shape[1]):
            r[k, j] = 0.0
            for i in range(a.shape[0]):
                r[k, j] += q[i, k] * a[i, j]
            for i in range(a.shape[0]):
                a[i, j] = a[i, j] - q[i, k] * r[k, j]


case(
    gramschmidt,
    lambda n, m: dict(a=m(n + 2, n) + np.eye(n + 2, n), r=m(n, n), q=m(n + 2, n)),
    "a r q",
    least=2,
    real=7,
    catalogue=(80,),
    covers=("triangular", "overwrites what was read"),
    only64=True,
)


def lu(a):
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            for k in range(j):
                a[i, j] -= a[i, k] * a[k, j]
            a[i, j] /= a[j, j]
        for j in range(i, n):
            for k in range(i):
                a[i, j] -= a[i, k] * a[k, j]


case(
    lu,
    lambda n, m: dict(a=m.dominant(n)),
    "a",
    least=2,
    real=9,
    catalogue=(78,),
    covers=("triangular", "overwrites what was read"),
)


def ludcmp(a, b, x, y):
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            w = a[i, j]
            for k in range(j):
                w -= a[i, k] * a[k, j]
            a[i, j] = w / a[j, j]
        for j in range(i, n):
            w = a[i, j]
            for k in range(i):
                w -= a[i, k] * a[k, j]
            a[i, j] = w
    for i in range(n):
        w = b[i]
        for j in range(i):
            w -= a[i, j] * y[j]
        y[i] = w
    for i in range(n - 1, -1, -1):
        w = y[i]
        for j in range(i + 1, n):
            w -= a[i, j] * x[j]
        x[i] = w / a[i, i]


case(
    ludcmp,
    lambda n, m: dict(a=m.dominant(n), b=m(n), x=m(n), y=m(n)),
    "a x y",
    least=2,
    real=8,
    catalogue=(78,),
    covers=("triangular",),
)


def trisolv(low, x, b):
    for i in range(x.shape[0]):
        x[i] = b[i]
        for j in range(i):
            x[i] -= low[i, j] * x[j]
        x[i] = x[i] / low[i, i]


case(
    trisolv,
    lambda n, m: dict(low=m.dominant(n), x=m(n), b=m(n)),
    "x",
    real=17,
    catalogue=(78,),
    covers=("triangular",),
)

# ---------------------------------------------------------------- medley


def deriche(img_in, img_out, alpha):
    w, h = img_in.shape
    y1 = np.zeros((w, h))
    y2 = np.zeros((w, h))
    k = (1.0 - math.exp(-alpha)) * (1.0 - math.exp(-alpha))
    k = k / (1.0 + 2.0 * alpha * math.exp(-alpha) - math.exp(2.0 * alpha))
    a1 = k
    a5 = k
    a2 = k * math.exp(-alpha) * (alpha - 1.0)
    a6 = a2
    a3 = k * math.exp(-alpha) * (alpha + 1.0)
    a7 = a3
    a4 = -k * math.exp(-2.0 * alpha)
    a8 = a4
    b1 = 2.0 ** (-alpha)
    b2 = -math.exp(-2.0 * alpha)
    c1 = c2 = 1.0
    for i in range(w):
        ym1 = 0.0
        ym2 = 0.0
        xm1 = 0.0
        for j in range(h):
            y1[i, j] = a1 * img_in[i, j] + a2 * xm1 + b1 * ym1 + b2 * ym2
            xm1 = img_in[i, j]
            ym2 = ym1
            ym1 = y1[i, j]
    for i in range(w):
        yp1 = 0.0
        yp2 = 0.0
        xp1 = 0.0
        xp2 = 0.0
        for j in range(h - 1, -1, -1):
            y2[i, j] = a3 * xp1 + a4 * xp2 + b1 * yp1 + b2 * yp2
            xp2 = xp1
            xp1 = img_in[i, j]
            yp2 = yp1
            yp1 = y2[i, j]
    for i in range(w):
        for j in range(h):
            img_out[i, j] = c1 * (y1[i, j] + y2[i, j])
    for j in range(h):
        tm1 = 0.0
        ym1 = 0.0
        ym2 = 0.0
        for i in range(w):
            y1[i, j] = a5 * img_out[i, j] + a6 * tm1 + b1 * ym1 + b2 * ym2
            tm1 = img_out[i, j]
            ym2 = ym1
            ym1 = y1[i, j]
    for j in range(h):
        tp1 = 0.0
        tp2 = 0.0
        yp1 = 0.0
        yp2 = 0.0
        for i in range(w - 1, -1, -1):
            y2[i, j] = a7 * tp1 + a8 * tp2 + b1 * yp1 + b2 * yp2
            tp2 = tp1
            tp1 = img_out[i, j]
            yp2 = yp1
            yp1 = y2[i, j]
    for i in range(w):
        for j in range(h):
            img_out[i, j] = c2 * (y1[i, j] + y2[i, j])


case(
    deriche,
    lambda n, m: dict(
        img_in=m(n, n + 1), img_out=m(n, n + 1), alpha=m.scalar(0.5, 1.0)
    ),
    "img_out",
    real=10,
    catalogue=(80,),
    heavy=True,
)


def floyd_warshall(path):
    n = path.shape[0]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                path[i, j] = min(path[i, j], path[i, k] + path[k, j])


case(
    floyd_warshall,
    lambda n, m: dict(path=m.positive(n, n)),
    "path",
    real=5,
    covers=("overwrites what was read",),
)


def nussinov(pair, table):
    n = table.shape[0]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            if j - 1 >= 0:
                table[i, j] = max(table[i, j], table[i, j - 1])
            if i + 1 < n:
                table[i, j] = max(table[i, j], table[i + 1, j])
            if j - 1 >= 0 and i + 1 < n:
                if i < j - 1:
                    table[i, j] = max(table[i, j], table[i + 1, j - 1] + pair[i, j])
                else:
                    table[i, j] = max(table[i, j], table[i + 1, j - 1])
            for k in range(i + 1, j):
                table[i, j] = max(table[i, j], table[i, k] + table[k + 1, j])


case(
    nussinov,
    lambda n, m: dict(pair=m.distinct(n, n), table=0.1 * m.distinct(n, n)),
    "table",
    real=7,
    covers=("triangular",),
)

# ---------------------------------------------------------------- stencils


def adi(u, tsteps):
    n = u.shape[0]
    v = np.zeros((n, n))
    p = np.zeros((n, n))
    q = np.zeros((n, n))
    dx = 1.0 / n
    dy = 1.0 / n
    dt = 1.0 / tsteps
    mul1 = 2.0 * dt / (dx * dx)
    mul2 = 1.0 * dt / (dy * dy)
    a = -mul1 / 2.0
    b = 1.0 + mul1
    c = a
    d = -mul2 / 2.0
    e = 1.0 + mul2
    f = d
    for t in range(1, tsteps + 1):
        for i in range(1, n - 1):
            v[0, i] = 1.0
            p[i, 0] = 0.0
            q[i, 0] = v[0, i]
            for j in range(1, n - 1):
                p[i, j] = -c / (a * p[i, j - 1] + b)
                q[i, j] = (
                    -d * u[j, i - 1]
                    + (1.0 + 2.0 * d) * u[j, i]
                    - f * u[j, i + 1]
                    - a * q[i, j - 1]
                ) / (a * p[i, j - 1] + b)
            v[n - 1, i] = 1.0
            for j in range(n - 2, 0, -1):
                v[j, i] = p[i, j] * v[j + 1, i] + q[i, j]
        for i in range(1, n - 1):
            u[i, 0] = 1.0
            p[i, 0] = 0.0
            q[i, 0] = u[i, 0]
            for j in range(1, n - 1):
                p[i, j] = -f / (d * p[i, j - 1] + e)
                q[i, j] = (
                    -a * v[i - 1, j]
                    + (1.0 + 2.0 * a) * v[i, j]
                    - c * v[i + 1, j]
                    - d * q[i, j - 1]
                ) / (d * p[i, j - 1] + e)
            u[i, n - 1] = 1.0
            for j in range(n - 2, 0, -1):
                u[i, j] = p[i, j] * u[i, j + 1] + q[i, j]


case(
    adi,
    lambda n, m: dict(u=m(n, n), tsteps=2),
    "u",
    least=3,
    wide=(4,),
    real=8,
    catalogue=(80,),
    covers=("time stepping",),
    heavy=True,
    only64=True,
)


def fdtd_2d_polybench(ex, ey, hz, fict):
    nx, ny = hz.shape
    for t in range(fict.shape[0]):
        for j in range(ny):
            ey[0, j] = fict[t]
        for i in range(1, nx):
            for j in range(ny):
                ey[i, j] = ey[i, j] - 0.5 * (hz[i, j] - hz[i - 1, j])
        for i in range(nx):
            for j in range(1, ny):
                ex[i, j] = ex[i, j] - 0.5 * (hz[i, j] - hz[i, j - 1])
        for i in range(nx - 1):
            for j in range(ny - 1):
                hz[i, j] = hz[i, j] - 0.7 * (
                    ex[i, j + 1] - ex[i, j] + ey[i + 1, j] - ey[i, j]
                )


case(
    fdtd_2d_polybench,
    lambda n, m: dict(ex=m(n, n), ey=m(n, n), hz=m(n, n), fict=m(3)),
    "ex ey hz",
    least=2,
    real=10,
    catalogue=(79,),
    covers=("time stepping",),
    heavy=True,
)


def heat_3d(a, b, tsteps):
    n = a.shape[0]
    for t in range(tsteps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                for k in range(1, n - 1):
                    b[i, j, k] = (
                        0.125 * (a[i + 1, j, k] - 2.0 * a[i, j, k] + a[i - 1, j, k])
                        + 0.125 * (a[i, j + 1, k] - 2.0 * a[i, j, k] + a[i, j - 1, k])
                        + 0.125 * (a[i, j, k + 1] - 2.0 * a[i, j, k] + a[i, j, k - 1])
                        + a[i, j, k]
                    )
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                for k in range(1, n - 1):
                    a[i, j, k] = (
                        0.125 * (b[i + 1, j, k] - 2.0 * b[i, j, k] + b[i - 1, j, k])
                        + 0.125 * (b[i, j + 1, k] - 2.0 * b[i, j, k] + b[i, j - 1, k])
                        + 0.125 * (b[i, j, k + 1] - 2.0 * b[i, j, k] + b[i, j, k - 1])
                        + b[i, j, k]
                    )


case(
    heat_3d,
    lambda n, m: dict(a=m(n, n, n), b=m(n, n, n), tsteps=2),
    "a b",
    least=1,
    real=6,
    catalogue=(79,),
    covers=("time stepping",),
    heavy=True,
)


def jacobi_1d(a, b, tsteps):
    n = a.shape[0]
    for t in range(tsteps):
        for i in range(1, n - 1):
            b[i] = 0.33333 * (a[i - 1] + a[i] + a[i + 1])
        for i in range(1, n - 1):
            a[i] = 0.33333 * (b[i - 1] + b[i] + b[i + 1])


case(
    jacobi_1d,
    lambda n, m: dict(a=m(n), b=m(n), tsteps=4),
    "a b",
    real=40,
    wide=(3,),
    catalogue=(79,),
    covers=("time stepping",),
)


def jacobi_2d(a, b, tsteps):
    n = a.shape[0]
    for t in range(tsteps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                b[i, j] = 0.2 * (
                    a[i, j] + a[i, j - 1] + a[i, 1 + j] + a[1 + i, j] + a[i - 1, j]
                )
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                a[i, j] = 0.2 * (
                    b[i, j] + b[i, j - 1] + b[i, 1 + j] + b[1 + i, j] + b[i - 1, j]
                )


case(
    jacobi_2d,
    lambda n, m: dict(a=m(n, n), b=m(n, n), tsteps=3),
    "a b",
    real=12,
    wide=(3,),
    catalogue=(79,),
    covers=("time stepping",),
)


def seidel_2d(a, tsteps):
    n = a.shape[0]
    for t in range(tsteps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                a[i, j] = (
                    a[i - 1, j - 1]
                    + a[i - 1, j]
                    + a[i - 1, j + 1]
                    + a[i, j - 1]
                    + a[i, j]
                    + a[i, j + 1]
                    + a[i + 1, j - 1]
                    + a[i + 1, j]
                    + a[i + 1, j + 1]
                ) / 9.0


case(
    seidel_2d,
    lambda n, m: dict(a=m(n, n), tsteps=2),
    "a",
    real=10,
    wide=(3,),
    catalogue=(77,),
    covers=("time stepping", "overwrites what was read"),
)
