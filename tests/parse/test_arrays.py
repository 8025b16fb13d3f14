# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
# ruff: noqa: B007, B905, E731
"""Views, slices and whole-array expressions mean what NumPy makes of them."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyrev
from pyrev.ir.diagnostics import UnsupportedError
from pyrev.ir.text import program_text
from pyrev.parse import parse, parse_text
from tests.tools.oracle import check

CASES: dict[str, tuple[Any, Callable[..., dict[str, Any]], tuple[str, ...]]] = {}


def case(make, outputs=""):
    """The arguments of the function under it, and the arrays that it writes."""

    def keep(f):
        CASES[f.__name__] = (f, make, tuple(outputs.split()))
        return f

    return keep


def arguments(name):
    rng = np.random.default_rng(7)
    return CASES[name][1](lambda *shape: rng.standard_normal(shape) + 0.1)


@case(lambda m: dict(a=m(4, 5), i=2, out=m(5)), "out")
def row(a, i, out):
    r = a[i]
    for j in range(len(r)):
        out[j] += r[j] * r[j]


@case(lambda m: dict(u=m(6), v=m(6)), "u")
def stencil(u, v):
    u[1:-1] = 0.5 * (v[2:] * v[:-2])


@case(lambda m: dict(u=m(6)), "u")
def inplace(u):
    u[1:-1] = 0.5 * (u[2:] * u[:-2])
    w = u * 2.0 + u * u
    return np.sum(w * w)


@case(lambda m: dict(M=m(3, 4), x=m(4)))
def matvec(M, x):
    y = M[:, :] @ x
    y += M[:, 1] * x[0]
    return y


@case(lambda m: dict(a=m(4, 5)), "a")
def views(a):
    b = a[1:3, ::2]
    b *= 2.0
    c = a.T
    c[0, 1] += a[2, 2] * a[1, 1]
    d = a[::-1]
    s = 0.0
    for i in range(d.shape[0]):
        s += d[i, 0] * a[i, 1]
    return s + np.mean(d) + a[-1, -2] * a.T[-1][-1]


@case(lambda m: dict(a=m(4, 5), b=m(5)))
def bcast(a, b):
    c = a * b + a[:, 0:1][:, 0][:, None]
    return (
        np.max(c, axis=0) * np.min(c)
        + c.sum(axis=0)
        + np.mean(c, axis=1, keepdims=True)[0]
    )


@case(lambda m: dict(a=m(7), lo=1, hi=9), "a")
def rt(a, lo, hi):
    a[lo:hi] += 1.5 * a[lo:hi]
    return np.sum(a[lo - 3 : hi - 4] ** 2)


def smooth(v):
    for i in range(1, len(v) - 1):
        v[i] = 0.25 * v[i - 1] * v[i + 1] + 0.5 * v[i]


@case(lambda m: dict(a=m(4, 6)), "a")
def helped(a):
    for i in range(a.shape[0]):
        smooth(a[i])
    smooth(a[:, 2])
    smooth(a[0][1:-1])


@case(lambda m: dict(u=m(6), n=3))
def rebind(u, n):
    x = u * 1.0
    for t in range(n):
        x = x - 0.1 * x * x
    return x


@case(lambda m: dict(u0=m(8), n=4))
def heat(u0, n):
    u = u0.copy()
    for t in range(n):
        new = np.zeros_like(u)
        new[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2]) * u[1:-1]
        u = new
    return np.sum(u**2)


@case(lambda m: dict(x=m(5), y=m(5)))
def ufuncs(x, y):
    z = (
        np.where(x > y, np.sin(x), np.exp(y)) * np.maximum(x, 0.1)
        + np.abs(y)
        - np.clip(x, -0.5, 0.5)
    )
    m = x > 0
    return z.dot(x) + np.sum(np.where(m, x, y * y)) + np.prod(x) + max(y)


@case(lambda m: dict(x=m(5), a=1.5))
def create(x, a):
    k = np.array([a, 2.0, x[0]])
    w = np.arange(5) * x
    o = np.outer(k, x) + np.zeros((3, 5)) + np.ones(5)
    return o @ w + k[1] * np.linspace(0, a, 3)


@case(lambda m: dict(a=m(5), b=m(7), c=m(3, 4)))
def iters(a, b, c):
    s = 0.0
    for x in a:
        s += x * x
    for i, x in enumerate(b):
        s += i * x * x
    for x, y in zip(a, b):
        s += x * y
    for r in c:
        for v in r:
            s += v * v * v
    for j, (x, y) in enumerate(zip(reversed(a), b[1:]), 1):
        s += x * y * j
    for p, q, r, t in c:
        s += p * q * r * t
    for w in (1.0, 4.0, -1.0):
        s += w * a[0]
    for dy, dx in ((0, 1), (1, 0)):
        s += c[1 + dy, 1 + dx] ** 2
    for i, row in enumerate(c.T):
        s += np.sum(row) * i
    for k, v in zip(range(4, 0, -1), a):
        s += k * v
    return s


@case(lambda m: dict(x=m(4), n=3))
def param_rebind(x, n):
    for t in range(n):
        x = x * x * 0.5 + x
    return x


@case(lambda m: dict(x=m(4), y=m(4), n=3))
def straight(x, y, n):
    x = x * y
    z = x
    x = x + z * z
    if n > 2:
        z = x * 2.0
        s = np.sum(z)
    else:
        s = np.sum(z * z)
    return x, s


@case(lambda m: dict(x=m(4), n=3), "x")
def mutate_then(x, n):
    x[0] = x[1] * 2
    x = x * 3.0
    x[1] = 5.0
    return x


@case(lambda m: dict(A_=m(5, 5)), "A_")
def lu(A_):
    n = A_.shape[0]
    for k in range(n):
        A_[k, k] += 5.0
    for k in range(n):
        A_[k + 1 :, k] /= A_[k, k]
        A_[k + 1 :, k + 1 :] -= np.outer(A_[k + 1 :, k], A_[k, k + 1 :])


@case(lambda m: dict(Q=m(5, 4)))
def gram(Q):
    R = np.zeros((4, 4))
    V = Q.copy()
    for k in range(4):
        nrm = np.sqrt(np.sum(V[:, k] * V[:, k]))
        R[k, k] = nrm
        V[:, k] = V[:, k] / nrm
        for j in range(k + 1, 4):
            R[k, j] = np.dot(V[:, k], V[:, j])
            V[:, j] -= V[:, k] * R[k, j]
    return R


@case(lambda m: dict(A_=m(4, 4), b=m(4)))
def back(A_, b):
    n = len(b)
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        x[i] = (b[i] - A_[i, i + 1 :] @ x[i + 1 :]) / (A_[i, i] + 4.0)
    return x


@case(lambda m: dict(u=m(6, 7), n=3), "u")
def jacobi(u, n):
    for t in range(n):
        u[1:-1, 1:-1] = (
            0.25
            * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2])
            * u[1:-1, 1:-1]
        )


@case(lambda m: dict(x=m(6), w=m(3)))
def conv(x, w):
    y = np.zeros(len(x) - len(w) + 1)
    for i in range(len(y)):
        y[i] = np.sum(x[i : i + len(w)] * w)
    return y


@case(lambda m: dict(p=m(5, 3)))
def nbody(p):
    e = 0.0
    for i in range(len(p)):
        for j in range(i):
            d = p[i] - p[j]
            r = np.sqrt(d.dot(d) + 0.1)
            e += 1.0 / r
    return e


def shift_into(src, dst, gain):
    for c in range(min(src.shape[0], dst.shape[0])):
        dst[c] += gain * src[c]


@case(lambda m: dict(u=m(4), w=m(3, 4)), "w")
def g6(u, w):
    for i in range(w.shape[0]):
        shift_into(u, w[i], 0.5)


@case(lambda m: dict(u=m(5), b=m(5)), "u")
def g7(u, b):
    v = np.zeros_like(u)
    for t in range(2):
        v[1:-1] = 0.4 * (u[2:] + u[:-2])
        u, b, v = b, v, u


@case(lambda m: dict(v=m(5), n=3))
def g8(v, n):
    s = 0.0
    for i3 in range(n):
        v5 = 0.5 * np.where(v[:-1] > 0.1, v[1:], v[:-1])
        v5[i3] = v[i3] * 2
        s += np.sum(v5)
    return s


@case(lambda m: dict(x=m(5).astype(np.float32), y=m(5)))
def mixed(x, y):
    w = x * 2.0
    z = w + y
    k = np.sum(x)
    q = np.zeros(3, dtype=np.float32)
    q[:] = x[:3] * y[:3]
    return z, w, k, q, np.mean(x), x @ x


@case(lambda m: dict(k=np.arange(5), x=m(5)))
def ints(k, x):
    m = k * 2
    s = np.sum(k)
    y = x * k + s
    return np.sum(y[1:] * m[:-1]) + np.max(k)


@case(lambda m: dict(a=m(3, 4), b=m(4)), "a")
def addto(a, b):
    a += b
    a *= 2.0
    a[...] = a - b * b
    a[:, -1] = 0.0
    a[0] = b
    a[1][1:3] /= 2.0
    a[:] = a[::-1]


@case(lambda m: dict(x=m(5)))
def alias(x):
    y = x
    z = x.copy()
    z[0] = 3.0
    u = z[1:]
    u[0] *= 2
    v = u[1:]
    v *= z[0]
    w = y[::2]
    return np.dot(w, w) + z.sum() + len(v) * x[0]


def two(v):
    return v[1:], v[:-1] * 2.0


@case(lambda m: dict(x=m(6)))
def tuples(x):
    a, b = two(x)
    c, d = a + b, a * b
    p = q = c * d
    return np.sum(p * q)


@case(lambda m: dict(x=m(6), dt=0.1, n=3))
def rk4(x, dt, n):
    def rhs(u):
        r = np.empty_like(u)
        r[1:-1] = u[2:] - 2 * u[1:-1] + u[:-2]
        r[0] = 0.0
        r[-1] = 0.0
        return r - u * u

    for t in range(n):
        k1 = rhs(x)
        k2 = rhs(x + 0.5 * dt * k1)
        k3 = rhs(x + 0.5 * dt * k2)
        k4 = rhs(x + dt * k3)
        x = x + dt / 6.0 * (k1 + 2 * k2 + 2 * k3 + k4)
    return np.sum(x * x)


@case(lambda m: dict(A_=m(4, 4) + 4 * np.eye(4), b=m(4)))
def cg(A_, b):
    M = A_ @ A_.T
    x = np.zeros_like(b)
    r = b - M @ x
    p = r.copy()
    rs = r @ r
    for k in range(3):
        Ap = M @ p
        alpha = rs / (p @ Ap)
        x = x + alpha * p
        r = r - alpha * Ap
        new = r @ r
        p = r + new / rs * p
        rs = new
    return x


@case(lambda m: dict(x=m(5), c=1))
def branchy(x, c):
    y = x * 1.0
    if c > 0:
        y = y * x
    else:
        y = y + x
    if c > 5:
        y[0] = 0.0
    z = np.zeros(5)
    while np.sum(z) < 3.0:
        z = z + np.abs(y) + 0.1
    return z


@case(lambda m: dict(x=m(5)))
def neg(x):
    s = 0.0
    for i in range(-3, 0):
        r = x[i:]
        s += np.sum(r * r) * r[-1]
        for j in range(-2, 2):
            s += x[1:-1][j]
    return s


@case(lambda m: dict(X=m(6, 3), w=m(3), y=m(6), lr=0.1))
def sgd(X, w, y, lr):
    for e in range(2):
        for xi, yi in zip(X, y):
            p = 1.0 / (1.0 + np.exp(-(xi @ w)))
            w = w - lr * (p - yi) * xi
    return w


@case(lambda m: dict(x=m(4, 5)))
def softmax(x):
    m = np.max(x, axis=1, keepdims=True)
    e = np.exp(x - m)
    return e / np.sum(e, axis=1, keepdims=True)


@case(lambda m: dict(x=m(5), y=m(4), k=2))
def arranged(x, y, k):
    d = np.diff(x) * y
    c = np.cumsum(x * x)
    r = np.roll(x, k) * x
    j = np.concatenate((x, y, x[1:3] * 2))
    return (
        np.sum(d * d)
        + np.sum(c * r)
        + j @ j
        + np.linalg.norm(y)
        + np.var(x)
        + np.std(y)
    )


@case(lambda m: dict(a=m(3, 4)))
def stats(a):
    s = 0.0
    if np.any(a > 0.5):
        s += np.trace(a @ a.T)
    if np.all(a > -100):
        s += np.sum(np.var(a, axis=0) * a[1])
    i = np.argmax(a[0])
    return s * a[0, i] + a[1].std() + np.transpose(a)[1].sum()


@case(lambda m: dict(x=m(5)))
def tup(x):
    h, w = np.zeros((3, 4)).shape
    y = x[:]
    z = x[::-2]
    q = x[-2:0:-1]
    return h * w * np.sum(y) + z @ z + np.sum(q * q * q)


@case(lambda m: dict(x=m(6), y=m(6), z=m(3, 4)), "x z")
def masks(x, y, z):
    m = y > 0
    x[m] *= 2.0
    x[x < 0.0] = 0.5
    z[z > 0.2] += y[0]
    z[0][~(z[0] > 0)] = -1.0
    n = m & (x > 0.7)
    return np.sum(x * m) + np.sum(n) + np.sum(np.where(n, x, y))


@case(lambda m: dict(a=m(4, 5), n=4), "a")
def frozen(a, n):
    i = 0
    r = a[i]
    i = 1
    r[0] *= a[i, 0]
    k = 0
    s = 0.0
    while k < 3:
        q = a[k, k:]
        k += 1
        s += q[0] * np.sum(q)
        q *= 0.5
    for row in a:
        row[1:] *= row[:-1]
    return s


@case(lambda m: dict(a=m(5), b=m(5)), "a b")
def swaps(a, b):
    a[1:], b[1:] = b[:-1], a[1:]
    a, b = b, a
    a[0] = a[1] * b[2]
    b[:] = b * a


@case(lambda m: dict(a=m(4, 4)), "a")
def rowswap(a):
    for k in range(3):
        p = k + 1
        t = a[k].copy()
        a[k] = a[p]
        a[p] = t * 2.0


@case(lambda m: dict(u=m(6), n=3), "u")
def twin(u, n):
    a = u.copy()
    for t in range(n):
        b = a * a * 0.5
        b[0] = a[1]
        a = b
    u[:] = a


@case(lambda m: dict(u=m(6), n=3))
def nested(u, n):
    a = u * 1.0
    for t in range(n):
        if t > 0:
            a = a * a
        for k in range(2):
            a = a + 0.1 * u
        c = a[1:] * a[:-1]
        c = c + 1.0
        a[1:] += c
    return a


@case(lambda m: dict(u=m(6)))
def fresh_each(u):
    s = 0.0
    for i in range(1, 4):
        w = u[i:] * u[:-i]
        w = w * w
        s += np.sum(w) * w[0]
    return s


@case(lambda m: dict(alpha=0.7, beta=1.2, C=m(3, 4), A_=m(3, 5), B=m(5, 4)), "C")
def gemm(alpha, beta, C, A_, B):
    C[:] = alpha * A_ @ B + beta * C


@case(lambda m: dict(A_=m(4, 3), x=m(3)))
def atax(A_, x):
    return (A_ @ x) @ A_


@case(lambda m: dict(r=m(5)))
def durbin(r):
    y = np.empty_like(r)
    alpha = -r[0]
    beta = 1.0
    y[0] = -r[0]
    for k in range(1, r.shape[0]):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + np.dot(np.flip(r[:k]), y[:k])) / (beta + 5.0)
        y[:k] += alpha * np.flip(y[:k])
        y[k] = alpha
    return y


@case(lambda m: dict(TSTEPS=3, A_=m(8), B=m(8)), "A_ B")
def jacobi1d(TSTEPS, A_, B):
    for t in range(1, TSTEPS):
        B[1:-1] = 0.33333 * (A_[:-2] + A_[1:-1] + A_[2:]) * A_[1:-1]
        A_[1:-1] = 0.33333 * (B[:-2] + B[1:-1] + B[2:])


@case(lambda m: dict(TMAX=3, ex=m(4, 5), ey=m(4, 5), hz=m(4, 5), f=m(3)), "ex ey hz")
def fdtd(TMAX, ex, ey, hz, f):
    for t in range(TMAX):
        ey[0, :] = f[t]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])


@case(lambda m: dict(A_=np.eye(4) * 4 + 0.1 * m(4, 4)), "A_")
def cholesky(A_):
    A_[0, 0] = np.sqrt(A_[0, 0])
    for i in range(1, A_.shape[0]):
        for j in range(i):
            A_[i, j] -= np.dot(A_[i, :j], A_[j, :j])
            A_[i, j] /= A_[j, j]
        A_[i, i] -= np.dot(A_[i, :i], A_[i, :i])
        A_[i, i] = np.sqrt(A_[i, i])


@case(lambda m: dict(data=m(5, 3)))
def covariance(data):
    mean = np.mean(data, axis=0)
    data = data - mean
    M = data.shape[1]
    cov = np.zeros((M, M))
    for i in range(M):
        cov[i:M, i] = data[:, i] @ data[:, i:M] / (data.shape[0] - 1.0)
        cov[i, i:M] = cov[i:M, i]
    return cov


@case(lambda m: dict(path=np.abs(m(4, 4))), "path")
def floyd(path):
    for k in range(path.shape[0]):
        path[:] = np.minimum(path[:], path[:, k][:, None] + path[k, :])


@case(lambda m: dict(x=m(6), w=m(6, 2), b=m(2)))
def mlp(x, w, b):
    h = np.maximum(x @ w + b, 0.0)
    z = np.exp(h - h.max())
    p = z / z.sum()
    return -np.log(p[0])


@case(lambda m: dict(u=m(4, 5), v=m(4, 5)), "u")
def adi(u, v):
    for t in range(2):
        for j in range(1, u.shape[1] - 1):
            u[1:-1, j] = 0.5 * u[1:-1, j - 1] * v[1:-1, j] + u[2:, j + 1]
        u[:, 0] = u[:, -1]
    u[-1, :] += v[0]
    u[1, 1:3] -= u[2, 1:3] * 2


@case(lambda m: dict(a=m(3, 4, 5)), "a")
def threeD(a):
    a[0] = a[1] * a[2]
    a[1, :, 0] = a[0, :, 1]
    a[..., 2] *= 2.0
    b = a[:, 1:3]
    c = b.sum(axis=1)
    for m in a:
        m[0] += 1.0
    return np.sum(c * c, axis=(0, 1))


def norm2(v):
    return v @ v


def axpy(a, x, y):
    y += a * x


def residual(A_, x, b):
    return b - A_ @ x


@case(lambda m: dict(A_=np.eye(3) * 4 + m(3, 3), b=m(3)))
def richardson(A_, b):
    x = np.zeros_like(b)
    it = 0
    while norm2(residual(A_, x, b)) > 1e-3 and it < 6:
        r = residual(A_, x, b)
        axpy(0.2, r, x)
        it += 1
    return x


@case(lambda m: dict(p=m(4, 2), v=m(4, 2), dt=0.1))
def verlet(p, v, dt):
    def force(q):
        f = np.zeros(q.shape)
        for i in range(len(q)):
            for j in range(len(q)):
                if i != j:
                    d = q[j] - q[i]
                    r2 = np.sum(d**2) + 0.1
                    f[i] += d / (r2 * np.sqrt(r2))
        return f

    a = force(p)
    for t in range(2):
        p = p + v * dt + 0.5 * a * dt * dt
        new = force(p)
        v = v + 0.5 * (a + new) * dt
        a = new
    return p, v


G = np.array([0.5, 0.25, 0.1])


@case(lambda m: dict(x=m(5)))
def captured(x):
    y = np.zeros(3)
    y[:] = G * x[1:4]
    for g in G:
        y += g * x[0]
    return y @ G + np.sum(G[1:]) * x[2]


def mean_of(v, w=2.0, scale=1.0):
    return np.mean(v) * w * scale


@case(lambda m: dict(a=m(3, 4)))
def kwargs(a):
    s = 0.0
    for i in range(3):
        s += mean_of(a[i], scale=a[i, 0]) + mean_of(v=a[:, i], w=3.0)
    return s


@case(lambda m: dict(a=m(3, 4)))
def lambdas(a):
    sq = lambda v: v * v
    f = lambda u, g: g(u).sum() + g(u[0])
    s = 0.0
    for r in a:
        s += f(r, sq)
    return s


@case(lambda m: dict(x=m(5), y=m(5)))
def cond(x, y):
    s = 0.0
    for i in range(5):
        s += x[i:].sum() if x[i] > 0 else np.dot(x, y)
        t = x[i] if np.max(y) > 0 and np.min(x[: i + 1]) < 0 else 2.0 * x[0]
        s += t * t
    return s


@case(lambda m: dict(x=m(4), k=np.array([2, 0, 1])), "x")
def idx(x, k):
    for i in k:
        x[i] *= 2.0
    y = np.zeros(3)
    for j, i in enumerate(k):
        y[i] += x[j] * x[i]
    n = int(np.sum(k))
    return y * n + k


@case(lambda m: dict(a=m(4, 3)), "a")
def sort_rows(a):
    for i in range(3):
        for j in range(3 - i):
            if a[j, 0] > a[j + 1, 0]:
                t = a[j].copy()
                a[j, :] = a[j + 1, :]
                a[j + 1, :] = t
    return a[0] * a[3]


@case(lambda m: dict(x=m(8).astype(np.float32)))
def f32(x):
    y = np.zeros(8, dtype=np.float32)
    z = x.astype(np.float64) * 2.0
    y[:] = z + x
    w = np.float32(0.5) * x
    return y, z, w, np.sqrt(np.abs(x)).sum(), np.mean(w * w)


@case(lambda m: dict(u=m(5, 5), k=2))
def patch(u, k):
    s = 0.0
    for i in range(1, 4):
        for j in range(1, 4):
            p = u[i - 1 : i + k, j - 1 : j + k]
            q = p - p.mean()
            s += (q * q).sum() * p[1, 1]
    return s


@case(lambda m: dict(t=m(4)))
def loop_carried_view(t):
    acc = np.ones(2)
    for i in range(3):
        acc *= t[i : i + 2]
        acc = acc + t[i + 1]
        if i == 1:
            acc = acc * 2.0
        acc[0] += 1.0
    return acc


@case(lambda m: dict(x=m(3), y=m(4)))
def outerp(x, y):
    M = np.outer(x, y)
    M += x[:, None] * y
    N = M.T @ M
    return np.trace(N) + N[0] @ y + np.sum(M[:, ::-1] * M)


@case(lambda m: dict(x=m(6)))
def unpack(x):
    a, b, c = x[:3]
    (d, e), f = x[1:3], x[5]
    lo, hi = np.min(x), np.max(x)
    return a * b + c * d - e * f + lo * hi


@case(lambda m: dict(n=5, x=m(5)))
def grid(n, x):
    g = np.linspace(0.0, 1.0, n)
    h = g[1] - g[0]
    k = np.arange(1, n + 1) ** 2
    w = np.full(n, h)
    w[0] *= 0.5
    w[-1] *= 0.5
    return np.sum(w * x * g) + np.sum(k * x)


@case(lambda m: dict(x=m(4), y=m(4)), "y")
def alias_arg(x, y):
    def add(dst, src):
        dst += src

    add(y, x)
    add(y[1:], y[:-1])
    add(y[::2], x[::2] * y[1])
    z = y
    z *= 2.0


@case(lambda m: dict(a=m(3, 3), b=m(3), x=m(3)))
def cgr(a, b, x):
    a = 0.5 * (a + a.T)
    return b - a @ x


@case(lambda m: dict(x=m(4, 3), w=m(3), n=2))
def xw(x, w, n):
    s = x[n] @ w
    return s * x[n]


@case(lambda m: dict(k=m(4, 3), q=m(4, 3)))
def attn(k, q):
    out = np.zeros((4, 3))
    for i in range(4):
        s = k[: i + 1] @ q[i]
        p = np.exp(s - np.max(s))
        out[i] = (p / np.sum(p)) @ k[: i + 1]
    return out


@case(lambda m: dict(a=m(3, 3)))
def tr(a):
    return np.trace(a) + a[0] @ a[1]


@case(lambda m: dict(A_=m(3, 3), B=m(3, 3)))
def mm(A_, B):
    C = A_ @ B
    D = C * C + A_
    return D[0, 1] + np.sum(D[1])


@case(lambda m: dict(w=m(4, 4), k=3), "w")
def g13(w, k):
    if k == k:
        w[2:] = w[1:-1]


# ---------------------------------------------------------------- the cases


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_the_gradient_is_that_of_numpy(name):
    function, _, outputs = CASES[name]
    f = pyrev.differentiable(function, target="python")
    check(f, function, arguments(name), outputs, np.random.default_rng(3))


@pytest.mark.parametrize("name", CASES)
def test_the_printed_function_computes_what_numpy_computes(name):
    function, _, _ = CASES[name]
    mine, theirs = arguments(name), arguments(name)
    got = pyrev.differentiable(function, target="python").primal(**mine)
    expected = function(**theirs)
    same(got, expected)
    for key in mine:
        same(mine[key], theirs[key])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["stencil", "views", "helped", "masks", "mixed"])
def test_compiled_code_agrees(name):
    function, _, outputs = CASES[name]
    f = pyrev.differentiable(function, target="numba")
    check(f, function, arguments(name), outputs, np.random.default_rng(3))


def same(got, expected):
    if expected is None:
        assert got is None
        return
    if isinstance(expected, tuple):
        assert len(got) == len(expected)
        for a, b in zip(got, expected, strict=True):
            same(a, b)
        return
    if isinstance(expected, np.ndarray):
        assert got.dtype == expected.dtype
        assert got.shape == expected.shape
    np.testing.assert_allclose(
        got, expected, rtol=1e-5 if np.asarray(expected).dtype == np.float32 else 1e-12
    )


# ---------------------------------------------------------------- slices

BOUNDS = (None, -7, -3, -1, 0, 1, 2, 5, 9)


def text_of(bound):
    return "" if bound is None else str(bound)


@pytest.mark.slow
@pytest.mark.parametrize("step", [1, 2, 3, -1, -2])
def test_a_slice_selects_what_python_selects(step):
    pairs = list(itertools.product(BOUNDS, BOUNDS))
    lines = []
    for k, (lo, hi) in enumerate(pairs):
        part = f"u[{text_of(lo)}:{text_of(hi)}:{step}]"
        lines.append(f"    out[{k}] = np.sum({part} * w[: len({part})])")
    text = "def f(u, w, out):\n" + "\n".join(lines)
    namespace = {"np": np}
    exec(text, namespace)
    program = program_text(parse_text(text))
    lowered = {"np": np}
    exec(program, lowered)
    for n in (0, 1, 2, 5):
        u, w = np.arange(1.0, n + 1), 10.0 ** np.arange(n)
        mine, theirs = np.zeros(len(pairs)), np.zeros(len(pairs))
        lowered["f"](u, w, mine)
        namespace["f"](u, w, theirs)
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("step", [1, 2, -1, -2])
def test_slice_bounds_known_only_in_the_call_clip_as_pythons_do(step):
    text = f"""
def f(u, w, lo, hi):
    part = u[lo:hi:{step}]
    return np.sum(part * w[: len(part)])
"""
    namespace = {"np": np}
    exec(text, namespace)
    lowered = {"np": np}
    exec(program_text(parse_text(text)), lowered)
    for n in (0, 1, 4):
        u, w = np.arange(1.0, n + 1), 10.0 ** np.arange(n)
        for lo in range(-6, 7):
            for hi in range(-6, 7):
                assert lowered["f"](u, w, lo, hi) == namespace["f"](u, w, lo, hi)


def test_a_subscript_beyond_a_slice_is_an_index_error_though_the_array_goes_on():
    def f(u, k):
        part = u[1:3]
        return part[k] * 2.0

    g = pyrev.differentiable(f, target="numba")
    u = np.arange(6.0)
    assert [g(u, k) for k in (-2, -1, 0, 1)] == [2.0, 4.0, 2.0, 4.0]
    for k in (2, -3):
        with pytest.raises(IndexError):
            g(u, k)


def test_shapes_that_do_not_fit_are_a_value_error():
    def f(u, v):
        u[1:] = v * 2.0

    g = pyrev.differentiable(f, target="numba")
    u = np.zeros(4)
    g(u, np.ones(3))
    assert u.tolist() == [0.0, 2.0, 2.0, 2.0]
    with pytest.raises(ValueError, match="different shapes"):
        g(u, np.ones(4))


def test_the_least_of_no_elements_is_a_value_error():
    g = pyrev.differentiable(lambda u: np.max(u) * 2.0, target="numba")
    assert g(np.array([1.0, 3.0])) == 6.0
    with pytest.raises(ValueError, match="without elements"):
        g(np.zeros(0))


# ---------------------------------------------------------------- text


def printed(f):
    return program_text(parse(f).program)


def test_a_row_view_reads_like_two_subscripts():
    def f(a, out):
        for i in range(a.shape[0]):
            r = a[i]
            for j in range(len(r)):
                out[j] += r[j]

    assert (
        printed(f)
        == """\
def f(a, out):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[j] += a[i, j]"""
    )


def test_a_slice_of_the_same_array_goes_through_a_new_one_only_if_it_overlaps():
    def f(u):
        u[1:] = 2.0 * u[1:]
        u[1:] = 2.0 * u[:-1]

    assert (
        printed(f)
        == """\
def f(u):
    for i in range(u.shape[0] - 1):
        u[i + 1] *= 2.0
    value = np.empty(max(u.shape[0] - 1, 0), dtype=u.dtype)
    for i in range(u.shape[0] - 1):
        value[i] = 2.0 * u[i]
    for i in range(u.shape[0] - 1):
        u[i + 1] = value[i]"""
    )


def test_lengths_that_are_equal_by_the_text_are_not_checked():
    def f(u, n):
        v = np.zeros(n)
        v[1:-1] = u[: n - 2] * np.ones(n)[2:]
        for i in range(u.shape[0]):
            u[i:] += 1.0
        return v

    assert printed(f).count("raise") == 1


# ---------------------------------------------------------------- what is refused


def refused(f, why):
    with pytest.raises(UnsupportedError) as caught:
        parse(f)
    assert why in str(caught.value)


def test_a_returned_part_of_the_callers_array_is_a_view_of_it():
    def f(u):
        u[0] = 3.0
        return u[:-1]

    u = np.arange(4.0)
    result = pyrev.differentiable(f, target="python")(u)
    assert result.tolist() == [3.0, 1.0, 2.0]
    assert np.shares_memory(result, u)


def test_an_integer_array_takes_no_floats_in_place():
    def f(k):
        k *= 0.5
        return k

    with pytest.raises(UnsupportedError, match="does not round in place"):
        parse(f, {"k": (1, "int64")})


def test_a_name_that_changes_its_dtype_in_a_loop_is_refused_in_that_call():
    def f(x, w, n):
        y = x[:] * 1.0
        for _ in range(n):
            y = y * w[:]
        return y

    g = pyrev.differentiable(f, target="python")
    x = np.ones(3)
    assert g.primal(x, x, 2).tolist() == [1.0, 1.0, 1.0]
    with pytest.raises(UnsupportedError, match="held float32, and float64"):
        g.primal(x.astype(np.float32), x, 2)


@pytest.mark.parametrize("target", ["python", "numba"])
def test_an_axis_of_length_one_in_this_call_only_is_a_value_error_everywhere(target):
    def f(u, p):
        return np.sum((u[:, :] + p[:, :]) * p)

    g = pyrev.differentiable(f, target=target)
    u, p = np.ones((3, 1)), np.ones((3, 2))
    with pytest.raises(ValueError, match="different shapes"):
        g(u, p)
    with pytest.raises(ValueError, match="different shapes"):
        pyrev.grad(g)(u, p)
    with pytest.raises(ValueError, match="different shapes"):
        g.adjoint(u, p, 1.0)
    assert pyrev.grad(g)(p, p).u.tolist() == p.tolist()


def _inserted(value, x):
    return np.append(np.array(value), x)


def an_array_of_a_number_is_appended(x, c):
    y = _inserted(c * 2.0, x)
    z = np.append(x, np.asarray([c, 1.0]))
    return np.sum(y * y[0]) + z[3] * c + z[-2]


@pytest.mark.parametrize("target", ["python", "numba"])
def test_what_is_appended_may_be_an_array_without_axes(target: str) -> None:
    plain = an_array_of_a_number_is_appended
    f = pyrev.differentiable(plain, target=target)
    x = np.array([0.3, 0.7, 1.1])
    check(f, plain, {"x": x, "c": 0.5}, [], np.random.default_rng(2))
