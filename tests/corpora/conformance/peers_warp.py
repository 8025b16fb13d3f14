# mypy: ignore-errors
# ruff: noqa: B007
"""The ten functions as NVIDIA Warp kernels: one thread, sizes read from the arrays."""

from __future__ import annotations

import numpy as np
import warp as wp

from tests.corpora.conformance.ten_functions import IDX, T, X

wp.config.quiet = True
wp.config.verbose_warnings = False
wp.init()

VECTOR = wp.array(dtype=wp.float64)
INDICES = wp.array(dtype=wp.int32)


@wp.kernel
def k1(x: VECTOR, u: VECTOR, y: VECTOR, idx: INDICES, steps: int, out: VECTOR):
    p = wp.float64(1.0)
    for i in range(x.shape[0]):
        p = p * x[i]
    out[0] = p


@wp.kernel
def k2(x: VECTOR, u: VECTOR, y: VECTOR, idx: INDICES, steps: int, out: VECTOR):
    s = wp.float64(0.5)
    for i in range(x.shape[0]):
        s = s + x[i]
    out[0] = s * s


@wp.kernel
def k3(x: VECTOR, u: VECTOR, y: VECTOR, idx: INDICES, steps: int, out: VECTOR):
    n = x.shape[0]
    for i in range(n):
        u[i] = x[i]
    for t in range(steps):
        for i in range(1, n - 1):
            u[i] = u[i] * (wp.float64(0.3) * u[i - 1] + wp.float64(0.4) * u[i + 1])
    s = wp.float64(0.0)
    for i in range(n):
        s = s + u[i]
    out[0] = s


@wp.kernel
def k4(x: VECTOR, u: VECTOR, y: VECTOR, idx: INDICES, steps: int, out: VECTOR):
    s = wp.float64(0.0)
    for i in range(x.shape[0]):
        for j in range(i):
            s = s + x[i] * x[j] * x[j]
    out[0] = s


@wp.kernel
def k5(x: VECTOR, u: VECTOR, y: VECTOR, idx: INDICES, steps: int, out: VECTOR):
    m = wp.float64(-1e9)
    for i in range(x.shape[0]):
        if x[i] < wp.float64(0.8):
            continue
        v = x[i] * wp.float64(i + 1)
        if v > m:
            m = v
    out[0] = m * m


@wp.kernel
def k6(x: VECTOR, u: VECTOR, y: VECTOR, idx: INDICES, steps: int, out: VECTOR):
    v = x[0]
    while v < wp.float64(10.0):
        v = v * wp.float64(1.5) + wp.float64(0.1) * v * v
    out[0] = v


@wp.kernel
def k7(x: VECTOR, u: VECTOR, y: VECTOR, idx: INDICES, steps: int, out: VECTOR):
    s = wp.float64(0.0)
    for i in range(x.shape[0]):
        s = s + x[i] * x[i] * (s + wp.float64(1.0))
        if s > wp.float64(6.0):
            break
    out[0] = s


@wp.kernel
def k8(x: VECTOR, u: VECTOR, y: VECTOR, idx: INDICES, steps: int, out: VECTOR):
    for i in range(x.shape[0]):
        y[idx[i]] = y[idx[i]] + x[i] * x[i]
    s = wp.float64(0.0)
    for j in range(y.shape[0]):
        s = s + y[j] * y[j]
    out[0] = s


@wp.kernel
def k9(x: VECTOR, u: VECTOR, y: VECTOR, idx: INDICES, steps: int, out: VECTOR):
    for i in range(x.shape[0]):
        u[i] = x[i]
    s = wp.float64(0.0)
    for i in range(x.shape[0]):
        s = s + u[i] * u[i]
        u[i] = wp.float64(1.0)
    out[0] = s


@wp.kernel
def k10(x: VECTOR, u: VECTOR, y: VECTOR, idx: INDICES, steps: int, out: VECTOR):
    for i in range(x.shape[0]):
        u[i] = x[i]
    for t in range(steps):
        for i in range(x.shape[0]):
            u[i] = u[i] * x[i]
    s = wp.float64(0.0)
    for i in range(x.shape[0]):
        s = s + u[i]
    out[0] = s


KERNELS = {k.key: k for k in (k1, k2, k3, k4, k5, k6, k7, k8, k9, k10)}


def gradient(name):
    def array(values):
        return wp.array(values, dtype=wp.float64, requires_grad=True, device="cpu")

    x, u, y, out = (array(v) for v in (X, 0.0 * X, np.zeros(3), np.zeros(1)))
    idx = wp.array(IDX, dtype=wp.int32, device="cpu")
    tape = wp.Tape()
    with tape:
        wp.launch(
            KERNELS[name], dim=1, inputs=[x, u, y, idx, T], outputs=[out], device="cpu"
        )
    tape.backward(grads={out: wp.ones_like(out)})
    return x.grad.numpy()
