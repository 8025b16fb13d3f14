# mypy: ignore-errors
# ruff: noqa: B007
"""The ten functions as Taichi kernels.

As its manual asks for, a loop of one turn around each makes the loops inside serial,
and the tape validates the accesses to global data.
"""

from __future__ import annotations

import taichi as ti

from tests.corpora.conformance.ten_functions import IDX, N, T, X

ti.init(arch=ti.cpu, default_fp=ti.f64, log_level=ti.ERROR, debug=True)

x = ti.field(ti.f64, N, needs_grad=True)
u = ti.field(ti.f64, N, needs_grad=True)
y = ti.field(ti.f64, 3, needs_grad=True)
loss = ti.field(ti.f64, (), needs_grad=True)
idx = ti.field(ti.i32, N)


@ti.kernel
def k1():
    for _ in range(1):
        p = 1.0
        for i in range(N):
            p = p * x[i]
        loss[None] += p


@ti.kernel
def k2():
    for _ in range(1):
        s = 0.5
        for i in range(N):
            s = s + x[i]
        loss[None] += s * s


@ti.kernel
def k3():
    for _ in range(1):
        for i in range(N):
            u[i] = x[i]
        for t in range(T):
            for i in range(1, N - 1):
                u[i] = u[i] * (0.3 * u[i - 1] + 0.4 * u[i + 1])
        for i in range(N):
            loss[None] += u[i]


@ti.kernel
def k4():
    for _ in range(1):
        s = 0.0
        for i in range(N):
            for j in range(i):
                s = s + x[i] * x[j] * x[j]
        loss[None] += s


@ti.kernel
def k5():
    for _ in range(1):
        m = -1e9
        for i in range(N):
            if x[i] < 0.8:
                continue
            v = x[i] * (i + 1)
            if v > m:
                m = v
        loss[None] += m * m


@ti.kernel
def k6():
    for _ in range(1):
        v = x[0]
        while v < 10.0:
            v = v * 1.5 + 0.1 * v * v
        loss[None] += v


@ti.kernel
def k7():
    for _ in range(1):
        s = 0.0
        for i in range(N):
            s = s + x[i] * x[i] * (s + 1.0)
            if s > 6.0:
                break
        loss[None] += s


@ti.kernel
def k8():
    for _ in range(1):
        for i in range(N):
            y[idx[i]] += x[i] * x[i]


@ti.kernel
def k8_squares():
    for j in range(3):
        loss[None] += y[j] * y[j]


@ti.kernel
def k9():
    for _ in range(1):
        for i in range(N):
            u[i] = x[i]
        s = 0.0
        for i in range(N):
            s = s + u[i] * u[i]
            u[i] = 1.0
        loss[None] += s


@ti.kernel
def k10():
    for _ in range(1):
        for i in range(N):
            u[i] = x[i]
        for t in range(T):
            for i in range(N):
                u[i] = u[i] * x[i]
        for i in range(N):
            loss[None] += u[i]


KERNELS = {f.__name__: (f,) for f in (k1, k2, k3, k4, k5, k6, k7, k9, k10)}
KERNELS["k8"] = (k8, k8_squares)  # a sum is read in another kernel, its manual says


def gradient(name):
    x.from_numpy(X)
    idx.from_numpy(IDX)
    with ti.ad.Tape(loss=loss, validation=True):  # refuses overwritten values
        for kernel in KERNELS[name]:
            kernel()
    return x.grad.to_numpy()
