# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
# ruff: noqa: B007
"""The entries of the project's test catalogue that the corpus does not have."""

from __future__ import annotations

import math

import numpy as np

from tests.corpora.entry import Cases

case = Cases()


def ten_equal_histograms(idx, k, out):
    for r in range(idx.shape[0]):
        out[idx[r]] += k[r]
    for r in range(idx.shape[0]):
        out[idx[r]] += k[r]
    for r in range(idx.shape[0]):
        out[idx[r]] += k[r]
    for r in range(idx.shape[0]):
        out[idx[r]] += k[r]
    for r in range(idx.shape[0]):
        out[idx[r]] += k[r]
    for r in range(idx.shape[0]):
        out[idx[r]] += k[r]
    for r in range(idx.shape[0]):
        out[idx[r]] += k[r]
    for r in range(idx.shape[0]):
        out[idx[r]] += k[r]
    for r in range(idx.shape[0]):
        out[idx[r]] += k[r]
    for r in range(idx.shape[0]):
        out[idx[r]] += k[r]


case(
    ten_equal_histograms,
    lambda n, m: dict(idx=m.indices(n, n), k=m(n), out=m(n)),
    "out",
    catalogue=(12, 13),
    covers=("index from an array",),
)


def adjoint_of_a_convolution(signal, kernel, d_out):
    d_signal = np.zeros_like(signal)
    d_kernel = np.zeros_like(kernel)
    for u in range(signal.shape[0]):
        for k in range(max(0, u - d_out.shape[0] + 1), min(kernel.shape[0], u + 1)):
            d_signal[u] += d_out[u - k] * kernel[k]
    for k in range(kernel.shape[0]):
        for x in range(d_out.shape[0]):
            d_kernel[k] += d_out[x] * signal[x + k]
    return d_signal, d_kernel


case(
    adjoint_of_a_convolution,
    lambda n, m: dict(signal=m(n + 2), kernel=m(3), d_out=m(n)),
    wide=(3,),
    real=20,
    catalogue=(20,),
    covers=("min max index",),
)


def adjoint_of_a_gather(table, idx, d_out):
    d_table = np.zeros_like(table)
    for i in range(idx.shape[0] - 1, -1, -1):
        d_table[idx[i]] += 2.0 * table[idx[i]] * d_out[i]
    return d_table


case(
    adjoint_of_a_gather,
    lambda n, m: dict(table=m(n), idx=m.indices(n, 2 * n), d_out=m(2 * n)),
    catalogue=(20, 72),
    covers=("index from an array",),
)


def index_from_unbounded_data(table, where, out):
    for i in range(where.shape[0]):
        out[i] = table[int(where[i] * 10.0)] * where[i]


case(
    index_from_unbounded_data,
    lambda n, m: dict(
        table=m(30),
        where=((m.indices(20, n) + 5.4) / 10.0).astype(m.dtype),
        out=m(n),
    ),
    "out",
    real=3,
    wrt=("table",),
    catalogue=(32,),
    covers=("index from a float",),
)


def mixed_strides(a, b, out):
    n = out.shape[0]
    for i in range(n):
        for j in range(n):
            if 2 * i == 3 * j:
                out[i] += a[i] * b[j]
            if 2 * i == 4 * j + 1:
                out[i] += a[j] * b[i] * b[i]


case(
    mixed_strides,
    lambda n, m: dict(a=m(n), b=m(n), out=m(n)),
    "out",
    wide=(6,),
    catalogue=(39,),
)


def disjoint_slices(a, steps):
    h = a.shape[0] // 2
    for t in range(steps):
        for i in range(h):
            a[h + i] = a[i] * a[i]
        for i in range(h):
            a[i] = 0.5 * a[i] + 0.1


case(
    disjoint_slices,
    lambda n, m: dict(a=m(2 * n), steps=2),
    "a",
    catalogue=(55,),
    covers=("time stepping",),
)


def linear_use_only(a, b, steps):
    for t in range(steps):
        for i in range(1, a.shape[0]):
            a[i] = 0.5 * a[i] + 0.25 * a[i - 1] - b[i]
        for i in range(1, a.shape[0]):
            b[i] = b[i] + 2.0 * a[i]


case(
    linear_use_only,
    lambda n, m: dict(a=m(n), b=m(n), steps=3),
    "a b",
    catalogue=(60,),
    covers=("time stepping", "in-place recurrence"),
)


def scatter_ignoring_outside(idx, values, out):
    for i in range(idx.shape[0]):
        k = idx[i]
        if 0 <= k < out.shape[0]:
            out[k] = values[i] * values[i]


case(
    scatter_ignoring_outside,
    lambda n, m: dict(idx=m.indices(n + 4, n) - 2, values=m.away(n), out=m(n)),
    "out",
    catalogue=(63, 64),
    covers=("index from an array",),
)


def scatter_over_old_values(idx, values, out):
    before = 0.0
    for i in range(out.shape[0]):
        before += out[i] * out[i]
    for i in range(idx.shape[0]):
        out[idx[i]] = values[i]
    after = 0.0
    for i in range(out.shape[0]):
        after += out[i] ** 3
    return before * after


case(
    scatter_over_old_values,
    lambda n, m: dict(idx=m.indices(n, n), values=m(n), out=m(n)),
    "out",
    catalogue=(64,),
    covers=("index from an array",),
)


def minimum_by_index(idx, values, out):
    for i in range(idx.shape[0]):
        out[idx[i]] = min(out[idx[i]], values[i])
    total = 0.0
    for i in range(out.shape[0]):
        total += out[i] * out[i]
        out[i] = total
    return total


case(
    minimum_by_index,
    lambda n, m: dict(
        idx=m.indices(n, 2 * n), values=m.distinct(2 * n), out=m.distinct(n) + 0.05
    ),
    "out",
    catalogue=(66,),
    covers=("index from an array",),
    seed=1,
)


def product_by_index(idx, values, out):
    for i in range(idx.shape[0]):
        out[idx[i]] *= values[i]


def _some_zeros(n, m):
    values = m.away(n)
    values[:3] = 0.0
    return values


case(
    product_by_index,
    lambda n, m: dict(
        idx=m.indices(max(1, n // 2), n), values=_some_zeros(n, m), out=m(n)
    ),
    "out",
    catalogue=(65,),
    covers=("index from an array",),
)


def count_until_converged(x, y):
    n = 0
    while x * x + y * y < 4.0 and n < 30:
        x, y = x * x - y * y + 0.4, 2.0 * x * y + 0.4
        n += 1
    return x * n, y


case(
    count_until_converged,
    lambda n, m: dict(x=m.scalar(0.1, 0.3), y=m.scalar(0.1, 0.3)),
    least=3,
    real=3,
    catalogue=(71,),
    covers=("trip count from data",),
    seed=2,
)


def gather_twice(table, idx):
    rows = np.zeros(idx.shape[0])
    for i in range(idx.shape[0]):
        rows[i] = table[idx[i]] ** 2
    total = 0.0
    for i in range(idx.shape[0]):
        total += rows[idx[i] % idx.shape[0]] * rows[i]
    return total


case(
    gather_twice,
    lambda n, m: dict(table=m(n), idx=m.indices(n, n)),
    catalogue=(72,),
    covers=("index from an array", "wrapped index"),
)


def strip_mined_steps(u, steps):
    block = 4
    for outer in range(0, steps, block):
        for t in range(outer, min(outer + block, steps)):
            for i in range(u.shape[0]):
                u[i] = u[i] - 0.1 * math.sin(u[i]) * u[i - 1]


case(
    strip_mined_steps,
    lambda n, m: dict(u=m(n), steps=10),
    "u",
    catalogue=(73,),
    covers=("time stepping", "negative index"),
)


def added_three_times(a, b):
    for i in range(a.shape[0]):
        a[i] = a[i] + b[i]
    for i in range(a.shape[0]):
        a[i] = a[i] + b[i]
    for i in range(a.shape[0]):
        a[i] = a[i] + b[i]


case(
    added_three_times,
    lambda n, m: dict(a=m(n), b=m(n)),
    "a",
    catalogue=(75,),
)


def added_three_times_whole(a, b):
    a[:] = a + b
    a[:] = a + b
    a[:] = a + b


case(
    added_three_times_whole,
    lambda n, m: dict(a=m(n), b=m(n)),
    "a",
    catalogue=(75,),
    covers=("whole-array expression",),
)


def leaking_tie_counter(x, out):
    for y in range(x.shape[0] // 2):
        for z in range(x.shape[1] // 2):
            best = x[2 * y, 2 * z]
            count = 0
            for j in range(2):
                for i in range(2):
                    v = x[2 * y + j, 2 * z + i]
                    if v > best:
                        best = v
                        count = 1
                    elif v == best:
                        count += 1
            out[y, z] = best * count


case(
    leaking_tie_counter,
    lambda n, m: dict(x=m.distinct(n, n + 1), out=m(n // 2, (n + 1) // 2)),
    "out",
    wide=(4,),
    real=8,
    catalogue=(74,),
)


def loop_of_a_scaled_copy(x, b):
    loss = 0.0
    for i in range(x.shape[0]):
        loss += x[i] * b[i]
        b[i] += 100.0
    return loss


case(
    loop_of_a_scaled_copy,
    lambda n, m: dict(x=m(n), b=m(n)),
    "b",
    catalogue=(87,),
    covers=("overwrites what was read",),
)


def force_reused_between_steps(x, v, force, steps):
    for t in range(steps):
        for i in range(x.shape[0]):
            force[i] = -x[i] * x[i]
        for i in range(x.shape[0]):
            v[i] += 0.1 * force[i]
            x[i] += 0.1 * v[i] * force[i]


case(
    force_reused_between_steps,
    lambda n, m: dict(x=m(n), v=m(n), force=m(n), steps=3),
    "x v force",
    catalogue=(89,),
    covers=("time stepping",),
)
